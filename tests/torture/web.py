# SPDX-License-Identifier: Apache-2.0
"""The web that tests/torture/torture.py crawls; started by start_origin of tests/lib/e2e.sh."""
from origin import *


def answer(q):
    if q.path == "/robots.txt":
        return 404, b""
    return 200, b"<title>t</title><p>page %s version %s %s" % (q.path.encode(), open("state").read().encode(), b"filler " * 50)


serve(answer)
