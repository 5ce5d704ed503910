#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `freshet cycle` and `run` against a server on loopback: reports, archive,
# conditional requests, gone with confirmations, robots, exit statuses, signals.
. "$SRC/tests/lib/e2e.sh"

cat > web.py <<'PY'
import time
from origin import *
def answer(q):
    told, path = state(), q.path
    note(path + " " + str(q.headers.get("If-None-Match")) + " " + q.headers["User-Agent"])
    if "slow" in told: time.sleep(0.05)
    if path == "/hang" and "hang" in told: time.sleep(5)
    status, body, headers, tag = 200, ("page " + path).encode(), [], '"v1"'
    if path == "/robots.txt": body = b"User-agent: *\nDisallow: /secret\n"
    elif path == "/2" and "changed" in told: body, tag = b"another page", '"v2"'
    elif path == "/3" and "dead" in told: status, body = 404, b"gone"
    elif path == "/4": status, body, headers = 302, b"", [("Location", "/5")]
    if status == 200 and q.headers.get("If-None-Match") == tag: status, body = 304, b""
    return status, body, headers + [("ETag", tag)]
serve(answer)
PY
echo start > state
start_origin web.py


"$FRESHET" init r 2> /dev/null
for i in 1 2 3 4 secret; do echo "$url/$i"; done > urls
"$FRESHET" -C r import urls > /dev/null
cycle="$FRESHET -C r cycle --budget 100 --delay 0 --json"

# whom to ask must be said; loopback is closed unless opened
expect 2 $cycle
grep -q 'set contact' err
"$FRESHET" -C r set contact mailto:test@example.org
expect 4 $cycle --now 20230101
is blocked 5
grep -q 'allow-net' err
[ ! -s log ]

# the first cycle: four pages and a redirect, one forbidden
allow="--allow-net 127.0.0.1/32"
expect 0 $cycle $allow --now 20230102
is new 4; is downloads 5; is blocked 1; is robots_requests 1; is complete True
grep -q 'freshet/.* (+mailto:test@example.org)' log
! grep secret log || exit 1

# nothing changed: three 304 and an equal body behind the redirect
: > log
expect 0 $cycle $allow --now 20230103
is same 4; is changed 0; is not_modified 3
[ "$(grep -c '"v1"' log)" = 3 ]

# a change is seen; one 404 is not believed, the second is
echo changed dead > state
expect 0 $cycle $allow --now 20230104
is changed 1; is gone 0; is failed 1; is same 2
expect 0 $cycle $allow --now 20230105
is gone 1; is changed 0
expect 0 $cycle $allow --now 20230106
is gone 0; is same 3

# the archive holds it all, readable by another program
python3 - r/warc <<'PY'
import gzip, os, sys
kinds = {}
for name in os.listdir(sys.argv[1]):
    assert name.endswith(".warc.gz"), name
    for line in gzip.open(os.path.join(sys.argv[1], name)):
        if line.startswith(b"WARC-Type:"):
            k = line.split()[1].decode(); kinds[k] = kinds.get(k, 0) + 1
assert kinds["response"] == 4 + 1 + 2 + 5, kinds        # new, changed, 404 twice; a redirect each time
assert kinds["revisit"] == 4 + 2 + 3 + 3, kinds
assert kinds["request"] == kinds["response"] + kinds["revisit"], kinds
PY

# the archive says by which rule it was made
expect 0 $cycle $allow --now 2023010612 --ignore-robots
python3 - r/warc <<'PY'
import gzip, os, sys
rules = [[l for l in gzip.open(os.path.join(sys.argv[1], n)) if l.startswith(b"robots: ")] for n in sorted(os.listdir(sys.argv[1]))]
assert rules[:-1] == [[b"robots: obey\r\n"]] * (len(rules) - 1) and rules[-1] == [b"robots: ignore\r\n"], rules
PY

# redirects count: a budget of 2 is two requests
: > log
expect 0 $cycle $allow --now 20230107 --budget 2 --policy oldest
is downloads 2
[ "$(grep -vc robots.txt log)" = 2 ]

# SIGINT: what is in flight is kept, the next start goes on and ends the cycle
"$FRESHET" init s 2> /dev/null
for i in $(seq 100 160); do echo "$url/$i"; done > urls
"$FRESHET" -C s import urls > /dev/null
"$FRESHET" -C s set contact https://example.org/bot > /dev/null
echo slow > state
: > log
"$FRESHET" -C s cycle --budget 100% --delay 0 --json $allow > out 2> err & pid=$!
for i in $(seq 200); do [ "$(wc -l < log)" -ge 10 ] && break; sleep 0.05; done
kill -INT $pid
got=0; wait $pid || got=$?
[ $got = 130 ] || { echo "exit $got after SIGINT"; cat out err; exit 1; }
is complete False
kept=$(field new)
[ "$kept" -gt 0 ]; [ "$kept" -lt 61 ]
echo fast > state
expect 0 "$FRESHET" -C s cycle --budget 100% --delay 0 --aim age --json $allow
is resumed True; is complete True; is new 61; is downloads 61; is aim freshness  # its own aim
[ "$(grep -v robots.txt log | sort | uniq -d | wc -l)" = 0 ]    # no page twice

# a second SIGINT leaves at once; what was answered is kept, what was under way has lapsed
"$FRESHET" init q 2> /dev/null
for i in $(seq 300 320); do echo "$url/$i"; done > urls
echo "$url/hang" >> urls
"$FRESHET" -C q import urls > /dev/null
"$FRESHET" -C q set contact https://example.org/bot > /dev/null
echo hang > state
: > log
"$FRESHET" -C q cycle --budget 100% --policy round-robin --delay 0 --json $allow > out 2> err & pid=$!
for i in $(seq 200); do grep -q hang log && break; sleep 0.05; done
kill -INT $pid; sleep 0.3; kill -0 $pid         # it waits for the answer in flight
kill -INT $pid
for i in $(seq 60); do kill -0 $pid 2> /dev/null || break; sleep 0.05; done
! kill -0 $pid 2> /dev/null || { echo "still running"; exit 1; }
got=0; wait $pid || got=$?
[ $got = 130 ] || { echo "exit $got after the second SIGINT"; exit 1; }
grep -q 'waiting for 1 answer under way; Ctrl-C once more stops at once' err || fail "$(cat err)"
echo fast > state
expect 0 "$FRESHET" -C q cycle --budget 100% --delay 0 --json $allow
is complete True; is new 21; is blocked 1; is downloads 22
[ "$(field reasons)" = "{'lapsed': 1}" ] || fail "reasons: $(field reasons)"
grep -q 'going on with cycle 1, .* of its 22 requests are left' err || fail "$(cat err)"
grep -q '1 page was under way' err || fail "nothing of the page that lapsed: $(cat err)"
[ "$(grep -v robots.txt log | sort | uniq -d | wc -l)" = 0 ]

# cycles in a row, the engine's clock moved by --every
expect 0 "$FRESHET" -C s run --every 1d --cycles 3 --now 20240101 --budget 10 --delay 0 $allow
[ "$("$FRESHET" -C s status --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["cycles"])')" = 4 ]
echo ok
