#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Other crawlers: a small one in Python asks, fetches and tells, two of them at the same time;
# whose cycle it is; a made-up history through ask and tell, against its replay.
# Twice.
. "$SRC/tests/lib/e2e.sh"

cat > web.py <<'PY'
from origin import *
def answer(q):
    open("log", "a").write(q.path + "\n")
    if q.path.startswith("/gone"): return 404, b""
    body = ("<p>%s %s" % (q.path, open("version").read() if "news" in q.path else "")).encode()
    tag = '"%d"' % (hash(body) & 0xffff)
    if q.headers.get("If-None-Match") == tag: return 304, b""
    return 200, body, [("ETag", tag)]
serve(answer)
PY
cat > crawler.py <<'PY'
import hashlib, json, subprocess, sys, urllib.error, urllib.request
freshet, now, name = sys.argv[1:4]
def run(*a, **k): return subprocess.run([freshet, "-C", "r", *a, "--now", now], check=True, stdout=subprocess.PIPE, text=True, **k).stdout
statuses = []
while True:
    got = [json.loads(l) for l in run("ask", "--count", "4", "--client", name, "--delay", "0", "--budget", "20", "--policy", "oldest").splitlines()]
    if "done" in got[0]: break
    if "wait" in got[0]: continue
    told = []
    for o in got:
        q = urllib.request.Request(o["url"], headers={"If-None-Match": o["etag"]} if o["etag"] else {})
        t = {"lease": o["lease"], "requests": 1}
        try:
            with urllib.request.urlopen(q) as r: t.update(status=r.status, etag=r.headers["ETag"], digest=hashlib.sha1(r.read()).hexdigest())
        except urllib.error.HTTPError as e: t["status"] = e.code
        statuses.append(t["status"]); told.append(t)
    run("tell", "-", input="".join(json.dumps(t) + "\n" for t in told))
print(*statuses)
PY
echo 1 > version
export PYTHONHASHSEED=0
start_origin web.py
$f init r 2> /dev/null
for i in $(seq 16); do echo "$url/page/$i"; done > urls
for i in 1 2 3; do echo "$url/news/$i"; done >> urls
echo "$url/gone/1" >> urls
$f -C r import urls > /dev/null

# two crawlers side by side: no page twice, and the budget is kept
crawl() { # TIME
	: > log
	python3 crawler.py "$f" "$1" alpha > a 2> err.a & a=$!
	python3 crawler.py "$f" "$1" beta > b 2> err.b || fail "beta: $(cat err.b)"
	wait $a || fail "alpha: $(cat err.a)"
	[ "$(sort log | uniq -d | wc -l)" = 0 ] || fail "a page was fetched twice: $(sort log | uniq -d)"
	[ "$(wc -l < log)" = 20 ] || fail "$(wc -l < log) requests, of a budget of 20"
}
crawl 20260101000000
expect 0 $f -C r end --json --now 20260101010000
is downloads 20; is new 19; is failed 1; is overspent 0

# the validators come back: what did not change is 304
echo 2 > version
crawl 20260201000000
[ "$(cat a b | tr ' ' '\n' | grep -c 304)" = 16 ] || fail "not 16 of 304: $(cat a b)"

# whose cycle: a crawl does not go on with one of others, and the other way round
web="--allow-net 127.0.0.0/8 --delay 0 --contact test@example.org"
expect 2 $f -C r cycle $web --now 20260201000100
grep -q 'freshet end' err || fail "cycle does not say what to do"
expect 2 $f -C r live --allow-net 127.0.0.0/8 --contact test@example.org --now 20260201000100
grep -q 'freshet end' err && ! grep -q -- --new err || fail "live tells of an option that it has not: $(cat err)"
expect 0 $f -C r end --json --now 20260201000200
is changed 3; is same 16; is cycle 2
expect 2 $f -C r end
grep -q 'freshet ask' err || fail "end does not say what to do"
expect 0 $f -C r ask --count 1 --now 20260301000000
expect 0 $f -C r cycle $web --new --budget 3 --now 20260302000000 --json
is cycle 4; is downloads 3
expect 0 $f -C r check

# bad lines are named, good ones kept; told twice does no harm; a page goes back
expect 0 $f -C r ask --count 2 --delay 0 --budget 5 --policy oldest --now 20260401000000 --json
is 'len(offers)' 2; is begun True; is budget 5; is 'offers[0]["lease"]' 5-1; is done False
printf '%s\n' '{"lease":"5-1","outcome":"same"}' '{"lease":"5-2","release":true}' '{"lease":"5-9","outcome":"same"}' \
	'{"lease":"x","outcome":"same"}' '{"outcome":"same"}' '{"lease":"5-1","etag":"a\u000ab","outcome":"same"}' \
	'{"lease":"5-1","links":3,"outcome":"same"}' '{"lease":"5-1","outcome":"same","requests":1001}' > lines
expect 0 $f -C r tell lines --json --now 20260401000100
is told 1; is released 1; is malformed 6; is repeated 0
expect 0 $f -C r tell lines --json --now 20260401000200
is told 0; is released 0; is repeated 2
expect 0 $f -C r ask --count 9 --now 20260401000300 --delay 0 --format urls
[ "$(wc -l < out)" = 4 ] || fail "$(wc -l < out) of 4 requests are left"
expect 2 $f -C r ask --count 0
expect 0 $f -C r ask --count 1 --new --now 20260401000400
expect 0 $f -C r plan --format jsonl --now 20260501000000
head -1 out | python3 -c 'import json,sys; o = json.load(sys.stdin); assert {"url", "given", "etag", "last_modified", "last_visit", "score", "probability", "reason"} <= set(o), o'

# offers carry the URL as it was given, by list, index, archive, command or outcome, and what our own cycles read of robots.txt
expect 0 $f init g
printf 'HTTP://List.example:80/a/../b#x\nhttp://plain.example/\n{"url":"http://JSON.example"}\n' > odd
printf 'example,index)/ 20250101000000 {"url":"http://Index.example","status":"200","digest":"d"}\n' > odd.cdxj
printf 'WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://Warc.example\r\nWARC-Date: 2025-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi\r\n\r\n' > odd.warc
expect 0 $f -C g import odd odd.cdxj odd.warc
expect 0 $f -C g add Add.example
echo '{"url":"http://Told.example","status":200}' | $f -C g tell --add - > /dev/null
expect 0 $f -C g ask --budget 100% --delay 0
cat > given.py <<'PY'
import json, sys
want = {"http://list.example/b": "HTTP://List.example:80/a/../b#x", "http://plain.example/": "http://plain.example/", "http://json.example/": "http://JSON.example",
        "http://index.example/": "http://Index.example", "http://warc.example/": "http://Warc.example", "http://add.example/": "Add.example", "http://told.example/": "http://Told.example"}
got = {o["url"]: o["given"] for o in map(json.loads, sys.stdin)}
assert got == want, got
PY
python3 given.py < out || fail "ask: given"
$f -C g end > /dev/null
$f -C g plan --budget 100% --format jsonl 2> /dev/null | python3 given.py || fail "plan: given"
expect 0 $f -C r ask --new --count 1 --agent other --now 20260501000000
python3 -c 'import json; o = json.loads(open("out").readline()); assert o["robots"] == "allowed" and o["robots_read"] == "20260302000000", o' || fail "robots of an offer"

# failures for several reasons are not counted as one
n=0
for said in '"status":503' '"outcome":"failed","cause":"timeout"' '"outcome":"failed","cause":"timeout"'; do
	n=$((n + 1)); echo "{\"url\":\"http://list.example/b\",$said}" | $f -C g tell - --now 2027010${n}000000 > /dev/null
done
expect 0 $f -C g show http://list.example/b
grep -q '^failing  *failed timeout: .*; 2 of 3 visits in a row that failed or were blocked since 2027-01-01T00:00:00Z, last 2027-01-03T00:00:00Z$' out || fail "show: $(grep failing out)"

# killed in the middle of a call, again and again: what was handed out is known, and no more
expect 0 $f -C r ask --count 1 --new --budget 15 --policy oldest --client kate --delay 0 --now 20260601000000
for i in 1 2 3 4 5 6 7 8; do
	$f -C r ask --count $i --client kate --delay 0 --now 20260601000001 > /dev/null 2> /dev/null & pid=$!
	sleep 0.0$i; kill -9 $pid 2> /dev/null || true; wait $pid 2> /dev/null || true
done
expect 0 $f -C r ask --count 99 --client kate --delay 0 --now 20260601000002
[ "$(wc -l < out)" = 15 ] || fail "$(wc -l < out) pages, of a budget of 15"
[ "$(grep -o '"url":"[^"]*"' out | sort -u | wc -l)" = 15 ] || fail "a page was given twice"
sed 's/,"url".*/,"outcome":"same"}/' out > lines
for i in 1 2 3 4 5 6; do                # so is a tell: all of it is kept, or nothing
	$f -C r tell lines --now 20260601000003 > /dev/null 2> /dev/null & pid=$!
	sleep 0.0$i; kill -9 $pid 2> /dev/null || true; wait $pid 2> /dev/null || true
done
expect 0 $f -C r tell lines --json --now 20260601000003
is 'told + repeated' 15; is 'told * repeated' 0
expect 0 $f -C r ask --count 9 --client kate --now 20260601000004
grep -qx '{"done":true}' out || fail "not done"
expect 0 $f -C r end --json --now 20260601000005
is downloads 15
expect 0 $f -C r check

case $BUILD in *-san) exit 0 ;; esac     # figures
# a made-up history, asked and told in batches, finds what replay promises
$f world w.cdxj.gz --sites 4 --dirs 6 --steps 14 2> /dev/null > /dev/null
"$SRC/scripts/trial-clients" w.cdxj.gz --freshet "$f" --every 1w --budget 10% --cycles 5 --count 30 > trial 2>&1 || fail "trial: $(cat trial)"
"$SRC/scripts/trial-clients" w.cdxj.gz --freshet "$f" --every 1w --budget 10% --cycles 5 --count 30 --late 0.2 --least 0.95 > trial 2>&1 ||
	fail "trial, late: $(cat trial)"
