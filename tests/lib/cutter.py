#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A bad network between a program and PostgreSQL.

    cutter.py SERVER HERE SEED CUTS BYTES

Listens on a socket in the folder HERE and passes all on to the server whose socket is in the
folder SERVER.  Each connection is cut after a random number of bytes, BYTES at most, in
whichever direction they go: the bytes of the last piece are lost in part.  It begins with the
first connection made when there is a file HERE/bad, and after CUTS cuts it leaves connections
alone.  HERE/cuts has the number so far; HERE/ready says that it listens.  Ends with its
standard input.

While there is a file HERE/hold-up, nothing gets through to the server; HERE/hold-down: nothing
comes back.  What was held goes on when the file is gone, as it does when a network heals.
"""
import os, random, socket, sys, threading, time

server, here, seed, cuts, most = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
draw = random.Random(seed)
lock = threading.Lock()
done = 0
name = "/.s.PGSQL.5432"


class Wire:
    def __init__(self, client):
        global done
        self.client, self.server = client, socket.socket(socket.AF_UNIX)
        with lock:
            # short ones, too: a cut while the connection is made, or in the first statement
            bad = done < cuts and os.path.exists(here + "/bad")
            self.left = int(most ** (0.4 + 0.6 * draw.random())) if bad else None
        try:
            self.server.connect(server + name)
        except OSError:         # the server is away
            client.close()
            return
        for a, b, way in (self.client, self.server, "up"), (self.server, self.client, "down"):
            threading.Thread(target=self.pump, args=(a, b, here + "/hold-" + way), daemon=True).start()

    def pump(self, a, b, hold):
        global done
        try:
            while piece := a.recv(65536):
                while os.path.exists(hold): time.sleep(0.02)
                with lock:
                    if self.left is not None:
                        piece, self.left = piece[:self.left], self.left - len(piece)
                b.sendall(piece)
                if self.left is not None and self.left <= 0:
                    with lock:
                        if self.left > -1 << 60:
                            self.left = -1 << 60
                            done += 1
                            with open(here + "/cuts.new", "w") as f: f.write("%d\n" % done)
                            os.rename(here + "/cuts.new", here + "/cuts")
                    break
        except OSError:
            pass
        for s in a, b:
            try: s.shutdown(socket.SHUT_RDWR)
            except OSError: pass


door = socket.socket(socket.AF_UNIX)
door.bind(here + name)
os.chmod(here + name, 0o777)
door.listen(100)
open(here + "/cuts", "w").write("0\n")
open(here + "/ready", "w").close()
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
while True:
    Wire(door.accept()[0])
