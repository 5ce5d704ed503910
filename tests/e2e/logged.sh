#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# Off-policy estimates of a repository's own log: plan at random, tell outcomes that
# are known, ask how other policies would have done, and where that cannot be told.
. "$SRC/tests/lib/e2e.sh"
f="$FRESHET --quiet"

# 600 pages; in every cycle those of dir1 have changed, the others have not
for i in $(seq 1 600); do echo "http://a.example/dir$((i % 3))/p$i.html"; done >urls.txt
$f init r >/dev/null 2>&1
$f -C r import urls.txt >/dev/null 2>&1
outcomes() {
	python3 -c '
import json, sys
for l in sys.stdin:
    p = json.loads(l)
    o = {"url": p["url"], "outcome": "changed" if "/dir1/" in p["url"] else "same", "reason": p["reason"]}
    if sys.argv[1] == "yes":
        o["probability"] = p["probability"]
    print(json.dumps(o))' "$1"
}
for c in 1 2 3 4; do
	$f -C r plan --budget 150 --policy random --seed $c --format jsonl | outcomes yes >o.jsonl
	$f -C r tell o.jsonl >/dev/null
done
$f replay r --logged --policy random --policy round-robin --policy site --seeds 4 --json >e.json
python3 - <<'PY'
import json
d = json.load(open("e.json"))
assert d["logged"]["cycles"] == 4 and d["logged"]["visits"] == 600, d["logged"]
assert d["logged"]["with_probability"] == 600
r = {x["policy"]: x for x in d["runs"]}
# a third of the pages changes: a policy that looks at none of it finds a third
for p in ("random", "round-robin"):
    assert not r[p]["refused"] and r[p]["low"] <= 1 / 3 <= r[p]["high"], r[p]
    assert r[p]["high"] - r[p]["low"] < 0.25, r[p]
assert r["site"]["refused"] and "rounds" in r["site"]["why"], r["site"]
assert r["site"]["change_ratio"] is None
PY
$f replay r --logged --policy site | grep -q '^site: cannot be told' || fail "no reason in the table"

# the same outcomes without probabilities: nothing can be told
$f init s >/dev/null 2>&1
$f -C s import urls.txt >/dev/null 2>&1
$f -C s plan --budget 150 --policy random --format jsonl | outcomes no >o.jsonl
$f -C s tell o.jsonl >/dev/null
$f replay s --logged --policy random | grep -q 'logged without probabilities' || fail refusal

# wrong use is said
rc=0; $f replay r s --logged 2>/dev/null || rc=$?
[ $rc = 2 ] || fail "two repositories"
rc=0; $f replay r --logged --goal alive 2>/dev/null || rc=$?
[ $rc = 2 ] || fail "goal alive"
rc=0; $f replay nowhere --logged >/dev/null 2>&1 || rc=$?
[ $rc != 0 ] || fail "no repository"
