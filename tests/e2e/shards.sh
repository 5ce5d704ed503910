#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# Replay as a fleet does it: one shard is a plain replay, no cycle passes its budget, the market
# loses nothing where a fixed split does, and the figures say how the shards were set.
. "$SRC/tests/lib/e2e.sh"

# sites that change at different rates: what a fixed split cannot know
expect 0 $f world w.cdxj --sites 24 --dirs 5 --pages 8 --steps 20 --rate 0.002 --burst 0.01 --site-spread 1.5
common="--budget 2% --seeds 2 --no-time"
for p in tide auto frequency oldest oracle; do
	expect 0 $f replay w.cdxj $common --policy $p --csv
	mv out plain
	expect 0 $f replay w.cdxj $common --policy $p --csv --shards 1
	cmp -s plain out || fail "$p: one shard is not a plain replay"
done

expect 0 $f replay w.cdxj $common --policy tide --policy random --shards 6 --loaded 2 --shard-by host --json
is 'shards' "{'count': 6, 'loaded': 2, 'by': 'host', 'split': 'market'}"
is '{c["downloads"] for r in runs for c in r["cycles"]} == {budget}' True
# whose scores are true loses nothing by the market, and much by a fixed split
for set in "" "--shards 6 --shard-by host" "--shards 6 --shard-by host --split fixed"; do
	expect 0 $f replay w.cdxj $common --policy oracle $set --json
	is 'max(c["downloads"] for r in runs for c in r["cycles"]) <= budget' True
	python3 -c 'import json; print(json.load(open("out"))["runs"][0]["mean"]["change_ratio"])' >>ratios
done
python3 - <<'PY' || fail "one shard, market, fixed split: $(tr '\n' ' ' <ratios)"
one, market, fixed = map(float, open("ratios"))
assert abs(market - one) < .02 * one and fixed < .95 * one
PY

# where sites differ much the council of all shards decides as that of one plan does (with 40 seeds
# freshness is .0105 lower, standard error .0019)
$f --quiet world differ.cdxj --sites 24 --dirs 5 --pages 8 --steps 20 --site-spread 2 --seed 2
for set in "" "--shards 6 --shard-by host"; do
	expect 0 $f replay differ.cdxj --budget 20% --seeds 16 --policy tide $set --json
	python3 -c 'import json; m = json.load(open("out"))["runs"][0]["mean"]; print(m["change_ratio"], m["freshness"])' >>differ
done
python3 - <<'PY' || fail "one shard, market: $(tr '\n' ' ' <differ)"
one, market = ([float(x) for x in line.split()] for line in open("differ"))
assert abs(market[0] - one[0]) < .04 and market[1] > one[1] - .015
PY

expect 0 $f replay w.cdxj $common --policy random --shards 6 --split fixed
grep -q '; 6 shards by domain, the budget split by pages$' out || fail "the table does not say how shards were set"
expect 0 $f replay w.cdxj $common --policy tide --shards 6 --max-age 20 --fail 10% --json
is 'max(c["downloads"] for r in runs for c in r["cycles"]) <= budget' True
expect 2 $f replay w.cdxj --loaded 2
expect 2 $f replay w.cdxj --shards 4 --shard-by host --site-share 10%
