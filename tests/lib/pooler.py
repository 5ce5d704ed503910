#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A pooler of connections to PostgreSQL, as pgbouncer is one, on unix sockets.

    pooler.py SERVER HERE session|transaction

Listens on a socket in the folder HERE.  session: each client has a connection to the server of
its own.  transaction: clients share one; a client has it until its transaction is over.  As a
pooler does, it tells clients a process number of its own.  HERE/ready says that it listens.
Ends with its standard input.
"""
import os, socket, struct, sys, threading

server, here, mode = sys.argv[1:4]
name = "/.s.PGSQL.5432"


def exactly(s, n):
    data = b""
    while len(data) < n:
        piece = s.recv(n - len(data))
        if not piece: raise OSError("closed")
        data += piece
    return data


def message(s):
    head = exactly(s, 5)
    return head + exactly(s, struct.unpack("!I", head[1:])[0] - 4)


def connect(startup):
    """A connection that is ready, and what the server said until then."""
    s = socket.socket(socket.AF_UNIX)
    s.connect(server + name)
    s.sendall(startup)
    said = []
    while not said or said[-1][:1] != b"Z": said.append(message(s))
    return s, said


shared, lock = None, threading.Lock()


def serve(client):
    global shared
    try:
        while True:
            size = struct.unpack("!I", exactly(client, 4))[0]
            startup = struct.pack("!I", size) + exactly(client, size - 4)
            if startup[4:8] not in (struct.pack("!I", 80877103), struct.pack("!I", 80877104)): break
            client.sendall(b"N")        # no TLS, no GSS
        with lock:
            if mode == "session" or not shared: made = connect(startup)
            if mode == "transaction": shared = shared or made
        back, said = shared or made
        for m in said:
            client.sendall(b"K" + struct.pack("!III", 12, 4242, 1) if m[:1] == b"K" else m)
        while True:
            m = message(client)
            if m[:1] == b"X": break
            with lock if mode == "transaction" else threading.Lock():
                over = False
                while not over:
                    back.sendall(m)
                    if m[:1] in b"QScf":        # a query, the end of a pipeline or of a COPY: answers follow
                        answer = message(back)
                        while answer[:1] not in b"ZG":
                            client.sendall(answer)
                            answer = message(back)
                        client.sendall(answer)
                        over = answer[:1] == b"Z" and answer[5:6] == b"I"
                    if not over: m = message(client)
    except OSError:
        pass
    client.close()


door = socket.socket(socket.AF_UNIX)
door.bind(here + name)
os.chmod(here + name, 0o777)
door.listen(100)
open(here + "/ready", "w").close()
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
while True:
    threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()
