#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# Aims and weights: where they are said, what is measured, and that weights given in every way are kept and used.
. "$SRC/tests/lib/e2e.sh"

"$FRESHET" --quiet init crawl
printf 'http://a.example/x 2.5\nhttp://a.example/y\nhttp://a.example/z\t7\nhttp://a.example/x 3\n' > list
printf '{"weight":3,"url":"http://a.example/j"}\n{"url":"http://a.example/n","weight":-1}\n' > list.jsonl
"$FRESHET" -C crawl import list list.jsonl > out 2> err || fail "import: $(cat err)"
grep -q 'weight is no number' err || fail "a weight below 0 is taken"
"$FRESHET" -C crawl add --weight 4 http://a.example/y http://a.example/new > out
printf '{"url":"http://a.example/k","outcome":"same","weight":9}\n' | "$FRESHET" -C crawl tell --add - > out
"$FRESHET" -C crawl export pages > pages.jsonl
python3 - <<'PY' || fail "weights are not kept"
import json
have = {p["url"].rsplit("/", 1)[1]: p.get("weight", 1) for p in map(json.loads, open("pages.jsonl"))}
assert have == {"x": 3, "y": 4, "z": 7, "j": 3, "new": 4, "k": 9}, have
PY
"$FRESHET" --quiet init copy
"$FRESHET" -C copy import pages.jsonl > out
"$FRESHET" -C copy export pages | grep -c '"weight":4' | grep -qx 2 || fail "an exported list loses weights"

# the aim is named
"$FRESHET" -C copy plan --weight given --budget 1 --json > plan.json
python3 - <<'PY' || fail "plan: $(cat plan.json)"
import json
p = json.load(open("plan.json"))
assert p["aim"] == "freshness" and p["weight"] == "given", p
PY
"$FRESHET" -C copy status | grep -q '^aim *freshness$' || fail "status names no aim"
"$FRESHET" -C copy set aim age
"$FRESHET" -C copy status --json | grep -q '"aim":"age"' || fail "status names another aim"
"$FRESHET" -C copy explain http://a.example/x | grep -q '^aim *age$' || fail "explain names no aim"
"$FRESHET" -C copy set aim truth 2> err && fail "an aim that there is not"

# replay: the measure of the aim first, and policies in its order
"$FRESHET" --quiet world world.cdxj --sites 5 --dirs 4 --pages 5 --steps 20
for aim in changes:ChangeRatio freshness:'over time' age:'age all d'; do
	"$FRESHET" replay world.cdxj --policy random,round-robin,oracle:aim=freshness --seeds 2 --aim "${aim%%:*}" > table
	grep -q "aim ${aim%%:*}" table || fail "table: $(cat table)"
	grep -Eq "^policy +${aim#*:} " table || fail "table: $(cat table)"
done
"$FRESHET" replay world.cdxj --policy random,oracle,oracle:aim=freshness,oracle:aim=age --cycle 1w,2w --seeds 2 --json > replay.json
python3 - <<'PY' || fail "replay.json"
import json
for line in open("replay.json"):
    d = json.loads(line)
    m = {r["policy"]: r["mean"] for r in d["runs"]}
    assert d["aim"] == "freshness" and d["weight"] == "none"
    assert m["oracle:aim=freshness"]["freshness_time"] >= m["oracle"]["freshness_time"] - .002 > m["random"]["freshness_time"]
    assert m["oracle:aim=age"]["age_time_days"] <= m["oracle"]["age_time_days"] + .01 < m["random"]["age_time_days"]
PY
"$FRESHET" replay world.cdxj --policy random --weight given 2> err && fail "weights from nowhere"
grep -q 'only repositories' err || fail "$(cat err)"
