#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# The demo, short: a living web on loopback, every policy with the same requests,
# nothing left behind.
. "$SRC/tests/lib/e2e.sh"
mkdir own; export TMPDIR="$PWD/own"
"$FRESHET" demo --cycles 6 --json >out
python3 - <<'P'
import json
d = json.load(open("out")); runs = {r["policy"]: r for r in d["runs"]}
assert d["schema"] == "freshet.demo/1" and d["pages"] > 100
assert {"random", "round-robin", "automaton", "tide (aim changes)", "tide (aim freshness)"} <= set(runs), runs
n = [r["downloads"] for r in runs.values()]
assert min(n) > 100 and max(n) <= 6 * (d["pages"] * 6 // 100 + 1), n      # nobody spends more
assert all(0 < r["freshness"] <= 1 for r in runs.values())
P
[ -z "$(ls own)" ]

# a signal in the middle: nothing is left, no half report
"$FRESHET" demo --keep kept >out 2>err & demo=$!
for i in $(seq 100); do [ -n "$(ls own)" ] && break; sleep 0.05; done
kill -TERM $demo; rc=0; wait $demo || rc=$?
[ $rc = 130 ]; grep -q 'nothing is left behind' err
[ -z "$(ls own)" ]; [ ! -e freshet-demo.html ]; [ ! -e kept ]

# to the end: verdict, where the report is, the repository that is kept, three commands to go on with
"$FRESHET" demo --cycles 5 --keep kept >out
[ -z "$(ls own)" ]; "$FRESHET" -C kept status >status; grep -q '^cycles *6$' status
grep -q '^  freshet -C kept serve$' out
"$FRESHET" demo --cycles 5 --keep kept >again 2>err && fail "a folder that is there was used" || [ $? = 3 ]
"$FRESHET" -C kept check >/dev/null
grep -q 'With the same requests, .* kept the freshest copies.* found the most changes' out
[ -s freshet-demo.html ]; grep -q "for a browser: $(pwd -P)/freshet-demo.html" out
[ "$(grep -c '^  freshet ' out)" = 5 ]

# as a fleet: two workers, four shards, one budget, a PostgreSQL of its own that goes with it
"$FRESHET" demo --workers 2 --cycles 5 --json >out
python3 - <<'P'
import json
d = json.load(open("out"))
one, fleet = d["runs"][1:]
assert one["policy"] == "tide (aim freshness)" and fleet["policy"] == "tide, 2 workers" and "workers" not in one, d["runs"]
assert fleet["workers"] == 2 and fleet["shards"] == 4, fleet
assert all(c["downloads"] <= d["budget"] for c in fleet["cycles"]), fleet
assert one["downloads"] - 5 <= fleet["downloads"] <= one["downloads"] and 0 < fleet["freshness"] <= 1, (one, fleet)
P
[ -z "$(ls own)" ]
rc=0; "$FRESHET" demo --workers 2 --store sqlite:own/x 2>err || rc=$?
[ $rc = 2 ]; grep -q 'a fleet needs PostgreSQL' err; [ -z "$(ls own)" ]
