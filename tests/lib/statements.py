#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program says to PostgreSQL, statement by statement; and its death at one of them.

    statements.py SERVER HERE

Listens on a socket in the folder HERE and passes all on to the server whose socket is in the
folder SERVER.  HERE/said gets the text of each statement that is run, a line each.  HERE/ready
says that it listens.  Ends with its standard input.

A file HERE/kill, "PID N before|after": at the Nth message from then on that does something (a
query, a run of a prepared one, rows of a COPY, the end of a pipeline) the process is killed, before
the server has it, or when it has it and the answer is lost.  HERE/killed then has the message.
"""
import os, signal, socket, struct, sys, threading

server, here = sys.argv[1:3]
name, lock, order = "/.s.PGSQL.5432", threading.Lock(), None


def exactly(s, n):
    data = b""
    while len(data) < n:
        piece = s.recv(n - len(data))
        if not piece: raise OSError("closed")
        data += piece
    return data


def text_of(kind, body, known):
    """What is run by this message; None: nothing yet."""
    if kind == b"Q": return body[:-1]
    if kind == b"P":
        at = body.index(b"\0")
        known[body[:at]] = body[at + 1:body.index(b"\0", at + 1)]
    if kind == b"B": known["bound"] = known.get(body[body.index(b"\0") + 1:].split(b"\0")[0], b"?")
    return {b"E": known.get("bound"), b"S": b"(sync)", b"d": b"(copy)", b"c": b"(copied)"}.get(kind)


def order_now():
    """The order to kill, counted down; with the lock."""
    global order
    try:
        words = open(here + "/kill").read().split()
        os.remove(here + "/kill")
        order = [int(words[0]), int(words[1]), words[2]]
    except OSError: pass
    if order: order[1] -= 1
    return order and order[1] == 0


def die(text):
    with open(here + "/killed.new", "wb") as f: f.write(text)
    os.rename(here + "/killed.new", here + "/killed")
    os.kill(order[0], signal.SIGKILL)


class Wire:
    def __init__(self, client):
        self.client, self.server, self.deaf = client, socket.socket(socket.AF_UNIX), False
        self.answered = threading.Event()
        self.server.connect(server + name)
        for run in self.up, self.down: threading.Thread(target=self.guarded, args=(run,), daemon=True).start()

    def guarded(self, run):
        try: run()
        except OSError: pass
        for s in self.client, self.server:
            try: s.shutdown(socket.SHUT_RDWR)
            except OSError: pass

    def up(self):
        known = {}
        while True:     # until the client has said who it is
            head = exactly(self.client, 4)
            size, = struct.unpack("!I", head)
            body = exactly(self.client, size - 4)
            if body[:4] not in (struct.pack("!I", 80877103), struct.pack("!I", 80877104)): break
            self.client.sendall(b"N")   # no TLS, no GSS
        self.server.sendall(head + body)
        while True:
            head = exactly(self.client, 5)
            body = exactly(self.client, struct.unpack("!I", head[1:])[0] - 4)
            text = text_of(head[:1], body, known)
            if text is not None:
                text = b" ".join(text.split())
                with lock:
                    said.write(text + b"\n")
                    now = order_now()
                    if now and order[2] == "before":
                        die(text)
                        raise OSError("killed")
                    self.deaf = bool(now)
            self.server.sendall(head + body)
            if self.deaf:
                die(text)
                self.answered.wait(1)   # the server does what it was told
                raise OSError("killed")

    def down(self):
        while piece := self.server.recv(65536):
            if self.deaf: self.answered.set()
            else: self.client.sendall(piece)


said = open(here + "/said", "wb", buffering=0)
door = socket.socket(socket.AF_UNIX)
door.bind(here + name)
os.chmod(here + name, 0o777)
door.listen(100)
open(here + "/ready", "w").close()
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
while True:
    Wire(door.accept()[0])
