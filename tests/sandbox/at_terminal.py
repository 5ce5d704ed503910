# SPDX-License-Identifier: Apache-2.0
"""Runs a program at a terminal of its own, which it could type into; its output is ours.

  at_terminal.py LIBRARIES PROGRAM...     LIBRARIES: loaded into it first, and not into us
"""
import os, pty, sys

pid, master = pty.fork()
if pid == 0:
    os.environ["LD_PRELOAD"] = sys.argv[1]
    os.execv(sys.argv[2], sys.argv[2:])
said = b""
try:
    while part := os.read(master, 4096):
        said += part
except OSError:                         # the other end is closed
    pass
print(said.decode().replace("\r", ""))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
