#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `freshet live` against a server on loopback: the list in three formats, the keys of
# its JSON, soft 404s, redirects once, budget, SIGINT and going on, parts, graphs.
. "$SRC/tests/lib/e2e.sh"

cat > web.py <<'PY'
import os, time
from origin import *
def answer(q):
    note(q.command + " " + q.path)
    if os.path.exists("slow"): time.sleep(0.02)
    n = int(q.path.rsplit("/p", 1)[1]) if "/p" in q.path else -1
    if q.path.startswith("/a/") and n >= 0: return 200, b"<title>x</title> words of page %d, %d" % (n, n * n)
    if q.path.startswith("/m/") and n >= 0: return 301, b"no", [("Location", "/a/p%d" % (900 + n % 5))]
    if q.path.startswith("/s/") and n >= 0: return 200, b"<title>Page not found</title> sorry"
    if q.path.startswith("/w/"): return 200, b"<p>welcome to our new site, enjoy it"
    return 404, b"no"
serve(answer)
PY
start_origin web.py
# 120 alive, 20 that moved to 5 places, 100 dead, 40 soft by phrase, 40 soft by sibling
{ for i in $(seq 120); do echo "$url/a/p$i"; done
  for i in $(seq 20); do echo "$url/m/p$i"; done
  for i in $(seq 100); do echo "$url/gone/p$i"; done
  for i in $(seq 40); do echo "$url/s/p$i"; echo "$url/w/p$i"; done; } > urls

py() { python3 -c "import json; d = json.load(open('out')); $1"; }
options="--contact mailto:t@example.org --allow-net 127.0.0.1/32 --delay 0 --now 20240101"

expect 2 "$FRESHET" -C r live urls                      # whom to ask must be said
expect 5 "$FRESHET" -C none live $options               # no files and no repository
expect 2 "$FRESHET" -C r live $options --part 1/2       # auto cannot be dealt
expect 2 "$FRESHET" -C r live $options --order bfs --part 1/2

# everything: exactly the living, each place once
expect 0 "$FRESHET" -C all live urls $options --target 0 --json -o alive.txt
py 'assert d["schema"] == "freshet.live/1" and d["alive"] == 125 and d["dead"] == 180, d
assert d["soft_404"] == 80 and d["estimated_alive"] == [140] * 3 and d["target"] == 0, d
assert d["statuses"]["redirect"] == 20 and d["redirect_targets"] == 5 and d["statuses"]["404"] == 100
assert abs(d["cost"] - d["requests"] / 125) < 1e-6 and d["requests"] > d["page_requests"]'
{ seq -f "$url/a/p%.0f" 120; seq -f "$url/a/p%.0f" 900 904; } | sort > want
sort alive.txt | diff want - || exit 1
grep -q '^HEAD' log
# going on with what is done costs nothing; the list in other formats
: > log
expect 0 "$FRESHET" -C all live $options --target 0 --format jsonl
[ ! -s log ]
python3 -c 'import json; r = [json.loads(l) for l in open("out")]; assert len(r) == 125
assert sum("from" in x for x in r) == 5 and all(x["time"].startswith("2024-01-01") for x in r)'
grep -q '404 *100' err
expect 0 "$FRESHET" -C all live $options --target 0 --format cdxj -o alive.cdxj
LC_ALL=C sort -c alive.cdxj; [ "$(wc -l < alive.cdxj)" = 130 ]
"$FRESHET" init c 2> /dev/null; "$FRESHET" -C c import alive.cdxj | grep -q '130 captures'

# a target: at least the share of all, no soft 404, fewer tests than the list has
expect 0 "$FRESHET" -C t live urls $options --target 0.5 --json -o alive.txt
py 'assert d["alive"] >= 0.5 * 125 and d["tested"] < 320 and d["reached"], d
low, x, high = d["estimated_alive"]; assert low <= 140 <= high or high >= 125, d'
! grep -E '/(s|w|gone)/' alive.txt || exit 1

# a budget counts requests for pages; HEAD can be left out
: > log
expect 0 "$FRESHET" -C b live urls $options --budget 40 --method get --order random --json
py 'assert d["page_requests"] <= 40 and d["page_requests"] >= 38 and d["estimated_alive"], d'
! grep '^HEAD' log || exit 1

# SIGINT: kept, gone on with, no page asked for twice by the same method
touch slow; : > log
"$FRESHET" -C i live urls $options --target 0 --json > out 2> err & pid=$!
for i in $(seq 200); do [ "$(wc -l < log)" -ge 30 ] && break; sleep 0.05; done
kill -INT $pid; got=0; wait $pid || got=$?
[ $got = 130 ] || { echo "exit $got after SIGINT"; cat out err; exit 1; }
py 'assert not d["complete"] and 0 < d["tested"] < 320, d'
rm slow
expect 2 "$FRESHET" -C i cycle $options                 # first that one must end
expect 0 "$FRESHET" -C i live $options --target 0 --json; grep -q "went on with run" err
py 'assert d["resumed"] and d["complete"] and d["alive"] == 125 and d["tested"] == 320, d'

# two crawlers share an order
expect 0 "$FRESHET" -C p1 live urls $options --target 0 --order pagerank --part 1/2 -o one
expect 0 "$FRESHET" -C p2 live urls $options --target 0 --order pagerank --part 2/2 -o two
grep -v '/a/p90[0-4]' one > 1; grep -v '/a/p90[0-4]' two > 2
[ "$(sort 1 2 | uniq -d | wc -l)" = 0 ]; [ "$(cat 1 2 | wc -l)" = 120 ]

# a graph is a list with links
{ for i in $(seq 2 60); do printf '%s/a/p1 %s/a/p%d\n' "$url" "$url" "$i"; done; } > links
expect 0 "$FRESHET" -C g live links $options --target 0 --order bfs --json
py 'assert d["alive"] == 60 and d["pages"] == 60, d'
echo ok
