#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `import cdx+http://...` from servers that page as pywb and Common Crawl do (showNumPages, page), as
# the Internet Archive does (showResumeKey, resumeKey; lines and JSON rows), or not at all (pywb over
# plain files, OutbackCDX): the same captures each time.  Killed with -9 it goes on where it was.
# Servers that refuse, lie, never end or are in a network that is not ours to ask, are left.
. "$SRC/tests/lib/e2e.sh"

cat > server.py <<'PY'
import json, sys, time, urllib.parse
from origin import note, serve, state

N = 11000
def line(k):
    return {"urlkey": "example,site%d)/p%d" % (k % 9, k), "timestamp": "2023%02d%02d%06d" % (k % 12 + 1, k % 28 + 1, k % 60),
            "url": "http://site%d.example/p%d" % (k % 9, k // 2), "mime": "text/html", "status": "200",
            "digest": "%032d" % (k % 5000), "length": "500", "offset": str(k), "filename": "/etc/passwd"}
def cdxj(k):
    l = line(k); key = l.pop("urlkey"); ts = l.pop("timestamp")
    return "%s %s %s\n" % (key, ts, json.dumps(l))
def cdx11(k):
    l = line(k)
    return "%s %s %s %s %s %s - - %s %s %s\n" % tuple(l[x] for x in ("urlkey", "timestamp", "url", "mime", "status", "digest", "length", "offset", "filename"))
def row(k):
    l = line(k)
    return [l[x] for x in ("urlkey", "timestamp", "url", "mime", "status", "digest", "length")]

def answer(q):
    u = urllib.parse.urlsplit(q.path)
    a = dict(urllib.parse.parse_qsl(u.query, keep_blank_values=True))
    kind = u.path.strip("/")
    note(q.path)
    if q.path == "/robots.txt":
        return 200, b"User-agent: *\nDisallow: /\n"
    text = [("Content-Type", "text/plain")]
    now = state()
    if kind in ("pywb", "slow"):                        # a ZipNum cluster
        pages, size = 25, N // 25
        if "showNumPages" in a:
            return 200, json.dumps({"pages": pages, "pageSize": 5, "blocks": 100}).encode(), text
        p = int(a["page"])
        if kind == "slow" and p == 12 and now[0] == "hang":
            time.sleep(600)
        return 200, "".join(map(cdxj, range(p * size, p * size + size))).encode(), text
    if kind in ("ia", "iajson"):
        if "showNumPages" in a:
            return 404, b"no such parameter", text
        limit, at = int(a.get("limit", N)), int(a.get("resumeKey", "com,x) 0").split(" ")[-1])
        end = min(N, at + limit)
        key = urllib.parse.quote_plus("com,x) %d" % end)
        if kind == "ia":
            body = "".join(map(cdx11, range(at, end))) + ("\n%s\n" % key if end < N else "")
        else:
            rows = [["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]] + list(map(row, range(at, end)))
            body = "[" + ",\n".join(map(json.dumps, rows + ([[], [key]] if end < N else []))) + "]\n"
        return 200, body.encode(), text
    if kind == "outback":                               # knows `limit`, no pages, no keys
        return 200, "".join(map(cdx11, range(min(N, int(a.get("limit", N)))))).encode(), text
    if kind == "few":
        return 200, "".join(map(cdxj, range(min(7, int(a.get("limit", N)))))).encode(), text
    if kind == "none":
        return 200, b"", text
    if kind == "busy":
        if open("busy").read() == "1":
            open("busy", "w").write("0")
            return 503, b"", [("Retry-After", "1")]
        return 200, cdxj(1).encode(), text
    if kind == "circle":
        return 404 if "showNumPages" in a else 200, (cdxj(3) + "\nsame+key\n").encode(), text
    if kind == "html":
        return 200, b"<html><body>Sign in</body></html>"
    if kind == "many":
        return 200, b"999999999", text
    if kind == "broken":
        return 500, b"", text
    if kind == "half":
        return 200, (cdxj(1) + "this is no line of an index at all\n" + cdxj(2)).encode(), text
    return 404, b""

serve(answer)
PY
echo - > state; echo 1 > busy; printf 1 > busy
start_origin server.py
new() { rm -rf r; "$f" --quiet init r; "$f" --quiet -C r set contact a@example.org; "$f" --quiet -C r set delay 0; "$f" --quiet -C r set allow-net 127.0.0.0/8; }
imp() { expect "$1" "$f" -C r --json import "cdx+$url/$2"; }
lines() { "$f" --quiet -C r export cdxj | python3 -c '
import json, sys
for l in sys.stdin:
    a, b, j = l.split(" ", 2); j = json.loads(j); assert "filename" not in j, l
    print(a, b, j["url"], j["digest"])'; }

new; imp 0 "pywb?url=example/*"; is "r['captures']" 11000; is "r['malformed']" 0; lines > want
[ "$(grep -c page= log)" = 25 ] || fail "not 25 pages"
grep -q robots log && fail "robots.txt was asked for"
imp 0 "pywb?url=example/*"; is "r['captures']" 0; is "r['doubles']" 11000
for kind in ia iajson outback; do
	new; : > log; imp 0 "$kind?url=example/*"; is "r['captures']" 11000; is "r['malformed']" 0
	lines > got; cmp got want
done
grep -q "limit=10000" log && grep -vq limit log || fail "the server without pages was not asked at once: $(cat log)"
new; imp 0 "few?url=x"; is "r['captures']" 7
imp 0 "none?url=x"; is "r['captures']" 0
new; imp 0 "ia?url=x&limit=5"; is "r['captures']" 5                     # the user's own limit holds
new; imp 0 "busy?url=x"; is "r['captures']" 1                           # Retry-After
new; imp 0 "half?url=x&limit=9"; is "r['captures']" 2; is "r['malformed']" 1

# killed at page 12: what was read is there, and the rest comes without the first pages again
new; echo hang > state; : > log
"$f" --quiet -C r import "cdx+$url/slow?url=x" > killed 2>&1 & p=$!
for i in $(seq 3000); do grep -q "page=12" log && break; sleep 0.02; done
kill -9 $p; wait $p || true
echo - > state; : > log
imp 0 "slow?url=x"; is "r['captures']" 5720
grep -q "page=11" log && fail "page 11 was asked for again"
lines > got; cmp got want

new
imp 3 "circle?url=x"; grep -q "same key" err || fail "$(cat err)"
imp 3 "html?url=x"; grep -q "no index" err || fail "$(cat err)"
code "$f" -C r import "cdx+$url/many?url=x"; [ "$rc" != 0 ] && grep -q "pages" err || fail "$(cat err)"
code "$f" -C r import "cdx+$url/broken?url=x"; [ "$rc" != 0 ] && grep -q 500 err || fail "$(cat err)"
"$f" --quiet -C r unset allow-net 2> /dev/null || "$f" --quiet -C r set allow-net 10.0.0.0/8
: > log; code "$f" -C r import "cdx+$url/few?url=x"; [ "$rc" != 0 ] || fail "the gate let it through"
[ ! -s log ] || fail "the gate let it through: $(cat log)"
rm -rf r; "$f" --quiet init r; code "$f" -C r import "cdx+$url/few?url=x"; grep -q "set contact" err || fail "without a contact: $(cat err)"
