#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pages that fail or are blocked are seen everywhere, with status and cause, and no page
# that has an answer is called failing.  The server's behaviour is the oracle.
. "$SRC/tests/lib/e2e.sh"

cat > web.py <<'PY'
from origin import *
def answer(q):
    if q.path == "/robots.txt": return 200, b"User-agent: *\nDisallow: /secret\n"
    status = {"/forbidden": 403, "/broken": 500, "/gone": 404}.get(q.path, 200)
    if q.path == "/mended" and open("mended").read() != "yes\n": status = 502
    return status, q.path.encode()
serve(answer)
PY
echo no >mended
start_origin web.py
web="--allow-net 127.0.0.0/8 --delay 0 --contact test@example.org --budget 100%"
$f init r 2>err
for p in a forbidden broken gone secret mended; do echo "$url/$p"; done | $f -C r add - >out
$f -C r add http://nobody.invalid/x >out
expect 0 $f -C r cycle $web --now 2030-01-01
expect 0 $f -C r status --failing --json --now 2030-01-01
is 'len(failing["pages"])' 6
# how long they rest: a day, four if forbidden or without an address, a quarter more or
# less; what robots.txt forbids costs nothing and does not rest
python3 - <<'PY' || fail "how long pages rest"
import datetime, json
rests = {}
for p in json.load(open("out"))["failing"]["pages"]:
    if "rests_until" in p:
        when = lambda k: datetime.datetime.fromisoformat(p[k][:-1])
        rests[p["url"].split("/")[3]] = (when("rests_until") - when("last")).total_seconds() / 86400
days = {"forbidden": 4, "x": 4, "broken": 1, "mended": 1}
assert set(rests) >= set(days) and "secret" not in rests, rests
assert all(.75 * d <= rests[k] <= 1.25 * d for k, d in days.items()), rests
PY
expect 0 $f -C r explain "$url/forbidden" --now 2030-01-02
grep -q '^verdict .* rests$' out || fail "explain of a page that rests"
grep -q '^failing .*; rests until 2030-01-0[4-6]T' out || fail "explain does not say until when"
expect 0 $f -C r explain "$url/forbidden" --now 2030-02-01 --budget 100%
! grep -q 'rests' out || fail "explain of a page whose rest is over"
expect 0 $f -C r status --failing --now 2030-02-01
! grep -q '^failed.*2030-01-0[2-9]' out || fail "rests that are over are shown"
echo yes >mended
# pages that fail may be left alone for months, and come back a few at a time
for month in 2030-{06,12} 203{1,2,3,4,5,6}-{06,12}; do
	expect 0 $f -C r cycle $web --now $month-01
	$f -C r show "$url/mended" | grep -q '^failing' || $f -C r show "$url/gone" | grep -q 'state *here' || break
done

# status --failing: what fails, why, since when, how often; the page that was mended and
# the one that is gone are not there
expect 0 $f -C r status --failing --json
is 'sorted((p["url"].split("/")[3], p["outcome"], p["cause"], p.get("status", 0)) for p in failing["pages"])' \
	"[('broken', 'failed', 'status', 500), ('forbidden', 'failed', 'status', 403), ('secret', 'blocked', 'robots', 0), ('x', 'failed', 'dns', 0)]"
is '{p["since"] for p in failing["pages"]}' "{'2030-01-01T00:00:00Z'}"
is '[(s["site"].split(":")[0], s["pages"], s["failing"], s["failed"], s["blocked"], s["cause"], s["of_cause"]) for s in failing["sites"]]' \
	"[('127.0.0.1', 6, 3, 2, 1, 'status', 2), ('nobody.invalid', 1, 1, 1, 0, 'dns', 1)]"
expect 0 $f -C r status --failing
grep -q "^failed 403  *2030-01-01T00:00 .*$url/forbidden$" out || fail "status --failing"
grep -q "^blocked robots  *2030-01-01T00:00 .*$url/secret$" out || fail "status --failing"
! grep -q "/mended\|/gone\|/a$" out || fail "status --failing lists what does not fail"
expect 0 $f -C r status
grep -q 'status --failing' out || fail "status does not say where to look"
expect 2 $f -C r status --failing --sites

# one page
expect 0 $f -C r show "$url/secret"
grep -q '^visits .* [0-9]* blocked$' out && grep -q '^failing  *blocked robots: robots.txt forbids' out || fail "show of a blocked page"
expect 0 $f -C r show "$url/forbidden"
grep -q '^failing  *failed 403: .* since 2030-01-01T00:00:00Z' out || fail "show of a page that fails"
expect 0 $f -C r show "$url/mended" --json
is 'failing' None
is 'failed' 1
expect 0 $f -C r show "$url/a"
! grep -q 'failing\|blocked' out || fail "show of a good page"
expect 0 $f -C r explain "$url/secret"
grep -q '^failing  *blocked robots' out || fail "explain of a blocked page"
expect 0 $f -C r explain "$url/secret" --json
is 'failing["cause"]' robots

# visits
expect 0 $f -C r log --visits
grep -q "visited  failed 403 .*/forbidden$" out || fail "log --visits: a status"
grep -q "visited  blocked robots .*/secret$" out || fail "log --visits: a block"
grep -q "visited  failed dns .*nobody.invalid/x$" out || fail "log --visits: a cause"
expect 0 $f -C r log --visits --json
is 'sorted({(v["outcome"], v["cause"], v["status"]) for c in cycles for v in c["visits"] if "cause" in v})' \
	"[('blocked', 'robots', 0), ('failed', 'dns', 0), ('failed', 'status', 403), ('failed', 'status', 404), ('failed', 'status', 500), ('failed', 'status', 502)]"
expect 0 $f -C r export visits
grep -q '/secret","cycle":1,.*"outcome":"blocked","cause":"robots"' out || fail "export visits: a block"
grep -q '/broken","cycle":1,.*"outcome":"failed","status":500,"cause":"status"' out || fail "export visits: a failure"

# by site, blocked is not failed
expect 0 $f -C r status --sites --json
for outcome in failed blocked; do
	is 'sum(s["'$outcome'"] for s in by_site)' "$($f -C r export visits | grep -c "\"outcome\":\"$outcome\"")"
done

# a report has a part for them
expect 0 $f -C r report --out r.html
grep -q '4 pages were without an answer' out || fail "what the report says"
grep -q '"failing":{"n_sites":2,"n_pages":4,' r.html || fail "the report's document"

# told by another crawler
printf '%s\n' '{"url":"http://t.example/1","outcome":"failed","cause":"timeout"}' \
	'{"url":"http://t.example/2","outcome":"failed","cause":"the cat"}' >told
expect 0 $f -C r tell told --add
expect 0 $f -C r status --failing --json
is 'sorted(p["cause"] for p in failing["pages"] if "t.example" in p["url"])' "['other', 'timeout']"

# every cause is in the documentation
for cause in $(sed -n 's/^CAUSE([A-Z_]*, *[0-9]*, *"\([a-z-]*\)".*/\1/p' "$SRC/src/base/cause.def"); do
	sed -n '/^## Causes/,/^## /p' "$SRC/docs/formats.md" | grep -q "^|.*\`$cause\`.*|" || fail "docs/formats.md: no cause $cause"
	documented=yes
done
[ "$documented" = yes ] || fail "no cause was found in cause.def"
