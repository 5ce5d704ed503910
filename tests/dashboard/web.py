# SPDX-License-Identifier: Apache-2.0
"""A small living web for the dashboard's tests: five hosts of loopback, one port.

The file `state` has the day, and how many seconds host 5 takes for an answer, so that a cycle
takes some time.  Pages change at their own pace; host 4 fails.  Titles and URLs of host 3 try
to be markup.
"""
import random, sys, time, urllib.parse

from origin import serve, state

HOSTS = ["127.0.1.%d" % i for i in range(1, 6)]
PAGES = 24
HOSTILE = [
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "' onmouseover='alert(1)' \" autofocus onfocus=\"alert(1)",
    "\u202eesrever \u2066bidi\u2069 \u200e\u200f marks \u202d",
    "nul \x01\x02\x1b[31m bell\x07 tab\t end",
    "{{title}} ${alert(1)} javascript:alert(1)",
    "verylong" * 120,
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u4f60\u597d \U0001f30a",
]
PATHS = ["/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/%22onload=%22alert(1)", "/%E2%80%AEesrever",
         "/a'b%27c", "/" + "long-" * 150, "/?q=%3Cimg+src=x+onerror=alert(1)%3E&x=%0A%00", "/%25%2e%2e%2F", "/(paren)[bracket]"]
WORDS = ("river flood meadow bridge ferry harvest market weather council library school "
         "garden winter summer notice opening closing new old report letter people").split()


def page(host, i, version):
    r = random.Random("%s %d" % (host, i))
    lines = [" ".join(r.choice(WORDS) for _ in range(12)) + "." for _ in range(8)]
    for v in range(1, version + 1):
        r = random.Random("%s %d %d" % (host, i, v))
        lines[r.randrange(len(lines))] = "News of version %d: " % v + " ".join(r.choice(WORDS) for _ in range(8)) + "."
    title = HOSTILE[i % len(HOSTILE)] if host == 3 else "Page %d of the %s" % (i, WORDS[i % len(WORDS)])
    escape = lambda s: s.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return ("<!doctype html><meta charset=utf-8><title>%s</title><h1>%s</h1>\n%s\n" %
            (escape(title), escape(title), "\n".join("<p>%s</p>" % l for l in lines))).encode()


def path(host, i):
    if host == 3:
        return PATHS[i % len(PATHS)] + ("" if i < len(PATHS) else "%s%d" % ("&n=" if "?" in PATHS[i % len(PATHS)] else "-", i))
    return "/d%d/p%d.html" % (i % 4, i)


def urls(port):
    return ["http://%s:%s%s" % (h, port, path(n, i)) for n, h in enumerate(HOSTS, 1) for i in range(PAGES)]


def answer(q):
    day, slow = state()
    day = int(day)
    host = HOSTS.index(q.connection.getsockname()[0]) + 1
    if q.path == "/robots.txt":
        return 404, b""
    known = {urllib.parse.unquote(path(host, i)): i for i in range(PAGES)}
    i = known.get(urllib.parse.unquote(q.path))
    if i is None:
        return 404, b"gone"
    if host == 4 and day > 3 and i % 2:
        return (500, b"trouble") if i % 4 == 1 else (403, b"no")
    if host == 5:
        time.sleep(float(slow))
    if host == 2 and i == 7 and day > 5:
        return 404, b"gone"
    every = 1 + i % 7 if host != 2 else 2 + 3 * i
    return 200, page(host, i, day // every)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print("\n".join(urls(sys.argv[1])))
    else:
        serve(answer, *HOSTS)
