# SPDX-License-Identifier: Apache-2.0
"""The web that the foreign judges see a crawl of: pages that change, that stay (and are asked
conditionally), that are compressed, that redirect, that end.  The file `state` has the turn."""
import gzip, re
from origin import serve, state


def answer(q):
    turn = state()[0]
    if q.path == "/robots.txt":
        return 404, b""
    k = int(re.sub(r"\D", "", q.path) or 0)
    page = lambda t: ("<!DOCTYPE html><html><head><meta charset=utf-8><title>Seite %d é</title><style>.x{color:red}</style></head>"
                      "<body><h1>Page %d</h1><p class=x>turn %s: Grüße, 漢字 &amp; more</p><ul><li><a href='/p%d'>next</a></ul></body></html>"
                      % (k, k, t, k + 1)).encode()
    if q.path.startswith("/moved"):
        return 302, b"", [("Location", "/p1")]
    if q.path.startswith("/gone"):
        return (200, page("1")) if turn == "1" else (404, b"gone")
    if k % 3 == 0:                              # stays, and has a validator
        if q.headers.get("If-None-Match") == '"e%d"' % k:
            return 304, b"", [("ETag", '"e%d"' % k)]
        return 200, page("always"), [("ETag", '"e%d"' % k)]
    if k % 3 == 1:                              # changes
        return 200, page(turn)
    body = gzip.compress(page("packed"), mtime=0)  # stays, compressed, without a validator
    return 200, body, [("Content-Encoding", "gzip")]


serve(answer)
