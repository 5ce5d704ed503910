#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# `freshet replay`: same bytes whatever the threads, sweeps, JSON and CSV that
# parse and agree, measures of a trace worked out by hand, errors.
. "$SRC/tests/lib/e2e.sh"

"$FRESHET" world world.cdxj --sites 3 --steps 12
"$FRESHET" world again.cdxj --sites 3 --steps 12
cmp world.cdxj again.cdxj || fail "the same seed makes another world"
LC_ALL=C sort world.cdxj > sorted.cdxj
gzip -kf sorted.cdxj

# same seed, same bytes, for every number of threads, input order and packing
P="--policy random --policy site --policy neighbour:by=link,d=2 --policy frequency --policy oracle"
for form in --json --csv ""; do
	"$FRESHET" replay world.cdxj $P --seeds 3 --no-time --threads 1 $form > one
	"$FRESHET" replay world.cdxj $P --seeds 3 --no-time --threads 2 $form > two
	cmp one two || fail "threads change the output ($form)"
	"$FRESHET" replay sorted.cdxj.gz $P --seeds 3 --no-time $form > packed
	cmp one packed || fail "order and packing of the input change the output ($form)"
	"$FRESHET" replay world.cdxj $P --seeds 3 --no-time --seed 9 $form > other
	! cmp -s one other || fail "the seed changes nothing ($form)"
done

# JSON has the keys of the contract and agrees with CSV
"$FRESHET" replay world.cdxj --policy random --policy 'neighbour:by=dir,d=-1..1' --seeds 1 --end 20220618 \
	--budget 5% --json > r.json
"$FRESHET" replay world.cdxj --policy random --policy 'neighbour:by=dir,d=-1..1' --seeds 1 --end 20220618 \
	--budget 5% --csv > r.csv
python3 - <<'PY'
import csv, json, math
d = json.load(open("r.json"))
assert d["schema"] == "freshet.replay/1"
for k in ("pages", "repository", "sites", "captures", "start", "end"):
    assert k in d["trace"], k
assert d["trace"]["sites"] == 3 and d["cycle_seconds"] == 14 * 86400
assert d["seeds"] == 1 and d["budget"] == max(1, int(d["trace"]["repository"] * .05 + .5))
names = [r["policy"] for r in d["runs"]]
assert names == ["random"] + ["neighbour:by=dir,d=%d" % i for i in (-1, 0, 1)], names
rows = list(csv.DictReader(open("r.csv")))
assert len(rows) == 4 * 12 and {r["seed"] for r in rows} == {"1"}
at = 0
for r in d["runs"]:
    for k in ("change_ratio", "change_ratio_se", "change_ratio_cycle", "weighted_change_ratio",
              "freshness", "age_days", "max_unvisited_days"):
        assert math.isfinite(r["mean"][k]), k
    assert set(r["seconds"]) == {"plan", "total"}
    assert len(r["cycles"]) == 12
    for i, c in enumerate(r["cycles"]):
        assert c["cycle"] == i + 1 and c["downloads"] == d["budget"]
        assert abs(c["change_ratio"] - c["changed"] / c["downloads"]) < 1e-6
        assert 0 <= c["freshness"] <= 1
        row = rows[at]; at += 1
        assert row["policy"] == r["policy"] and int(row["changed"]) == c["changed"]
        assert abs(float(row["freshness"]) - c["freshness"]) < 1e-5
    mean = sum(c["change_ratio"] for c in r["cycles"]) / 12
    assert abs(mean - r["mean"]["change_ratio"]) < 1e-6
PY

# one seed has no standard error, which is not an error of 0
"$FRESHET" replay world.cdxj --policy random --seeds 1 > one
grep -Eq '^random +[01][.][0-9]{4} +- ' one || fail "the error of one seed: $(cat one)"

# by site: told again from the trace and the visits, with dictionaries
"$FRESHET" replay world.cdxj --policy random --policy tide --policy oracle --aim changes --seeds 2 --budget 5% --json --by-site \
	--visits v.jsonl > b.json
"$FRESHET" replay world.cdxj --policy random --policy tide --policy oracle --aim changes --seeds 2 --budget 5% --by-site --no-time > b.txt
python3 - <<'PY'
import collections, json
from urllib.parse import urlsplit
d, pages = json.load(open("b.json")), {}
for l in open("world.cdxj"):
    _, t, j = l.split(" ", 2)
    j = json.loads(j)
    pages.setdefault(j["url"], []).append((t, "gone" if j["status"] == "404" else j["digest"]))
host = lambda u: urlsplit(u).netloc
start, end = d["trace"]["start"], d["trace"]["end"]
def at(url, t):
    return ([s for w, s in sorted(pages[url]) if w <= t] or [None])[-1]
here = [u for u in pages if at(u, start) not in (None, "gone")]
want = collections.defaultdict(lambda: [0, 0])
for u in here:
    states = [at(u, start)] + [s for w, s in sorted(pages[u]) if start < w <= end]
    want[host(u)][0] += 1
    want[host(u)][1] += sum(a != b for a, b in zip(states, states[1:]))
visits = [json.loads(l) for l in open("v.jsonl")]
digits = lambda t: "".join(c for c in t if c.isdigit())[:14]
for run in d["runs"]:
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])       # downloads, changed, copies, fresh
    for seed in {v["seed"] for v in visits}:
        copy = {u: at(u, start) for u in here}
        mine = collections.defaultdict(list)
        for v in visits:
            if v["policy"] == run["policy"] and v["seed"] == seed:
                mine[v["cycle"]].append(v["url"])
        for c in run["cycles"]:
            for u in mine[c["cycle"]]:
                live = at(u, c["time"])
                sums[host(u)][0] += 1
                sums[host(u)][1] += copy[u] != live
                copy[u] = live
                if live == "gone":
                    del copy[u]
            for u in copy:
                sums[host(u)][2] += 1
                sums[host(u)][3] += copy[u] == at(u, c["time"])
    assert len(run["sites"]) == 3 and [s["pages"] for s in run["sites"]] == sorted((p for p, _ in want.values()), reverse=True)
    for s in run["sites"]:
        n, changed, copies, fresh = sums[s["site"]]
        assert [s["pages"], s["changes"]] == want[s["site"]], (s, want)
        assert s["downloads"] == n / 2 and s["changed"] == changed / 2, (s, n, changed)
        assert abs(s["change_ratio"] - changed / n) < 1e-6 and abs(s["freshness"] - fresh / copies) < 1e-6, s
assert all("sites" not in r for r in json.load(open("r.json"))["runs"])
text = open("b.txt").read()
assert "By site, tide:" in text and " more" not in text, text
PY
"$FRESHET" world many.cdxj --sites 40 --dirs 2 --steps 4 2>/dev/null
"$FRESHET" replay many.cdxj --policy random --seeds 1 --by-site | grep -q '^and 15 more; --json has all$' || fail "sites beyond the table"

# several policies in one word
"$FRESHET" replay world.cdxj --policy random,neighbour:by=dir,d=0..1,site:sample=5,tide --seeds 1 --json > list.json
python3 -c 'import json; assert [r["policy"] for r in json.load(open("list.json"))["runs"]] == ["random", "neighbour:by=dir,d=0", "neighbour:by=dir,d=1", "site:sample=5", "tide"]'

# the star is against the best that does not know the future, and the legend says so
"$FRESHET" world star.cdxj --sites 10 --steps 30 --burst 0.1 2>/dev/null
"$FRESHET" replay star.cdxj --policy random --policy tide --policy oracle --seeds 1 --no-time > star.txt
grep -q '^random .*\*$' star.txt && ! grep -q '^\(oracle\|tide\) .*\*' star.txt || fail "stars: $(cat star.txt)"
grep -q '^\* differs from tide, the best that does not know the future' star.txt || fail "legend: $(cat star.txt)"
"$FRESHET" replay star.cdxj --policy random --policy tide --seeds 1 --no-time | grep -q '^\* differs from tide, the best, by' || fail "legend without oracle"

# sweeps: one document for each cycle length and budget
"$FRESHET" replay world.cdxj --policy random --seeds 1 --cycle 2w,4w --end 20220618 --budget 1%,2%,5% --json > s.json
"$FRESHET" replay world.cdxj --policy random --seeds 1 --cycle 2w,4w --end 20220618 --budget 1%,2%,5% --csv > s.csv
python3 - <<'PY'
import csv, json
text, docs, at = open("s.json").read(), [], 0
while text[at:].strip():
    d, end = json.JSONDecoder().raw_decode(text[at:].lstrip())
    at += len(text[at:]) - len(text[at:].lstrip()) + end
    docs.append(d)
assert [d["cycle_seconds"] // 604800 for d in docs] == [2, 2, 2, 4, 4, 4]
assert len({d["budget"] for d in docs}) == 3
rows = list(csv.DictReader(open("s.csv")))          # one header
assert len(rows) == 3 * 12 + 3 * 6
PY

# a trace by hand: a changes, b stays, c goes, j appears
cat > hand.cdxj <<'CDXJ'
example,t)/a 20220101000000 {"url": "http://t.example/a", "status": "200", "digest": "A0"}
example,t)/a 20220105000000 {"url": "http://t.example/a", "status": "200", "digest": "A1"}
example,t)/b 20220101000000 {"url": "http://t.example/b", "status": "200", "digest": "B0"}
example,t)/c 20220101000000 {"url": "http://t.example/c", "status": "200", "digest": "C0"}
example,t)/c 20220112000000 {"url": "http://t.example/c", "status": "404"}
example,t)/j 20220113000000 {"url": "http://t.example/j", "status": "200", "digest": "J0"}
example,t)/j 20220122000000 {"url": "http://t.example/j", "status": "200", "digest": "J1"}
example,t)/j 20220131000000 {"url": "http://t.example/j", "status": "200", "digest": "J1"}
CDXJ
"$FRESHET" replay hand.cdxj --cycle 10d --budget 100% --seeds 1 --policy random --json > h.json
"$FRESHET" replay hand.cdxj --cycle 10d --budget 100% --seeds 1 --policy random --join --json > j.json
python3 - <<'PY'
import json
c = json.load(open("h.json"))["runs"][0]["cycles"]
assert [(x["downloads"], x["changed"], x["gone"], x["pages"]) for x in c] == \
    [(3, 1, 0, 3), (3, 1, 1, 2), (2, 0, 0, 2)], c
assert all(x["freshness"] == 1 for x in c)
c = json.load(open("j.json"))["runs"][0]["cycles"]
assert [(x["downloads"], x["changed"], x["pages"]) for x in c] == [(3, 1, 3), (3, 1, 3), (3, 1, 3)], c
PY

# a guarantee that holds, and one that cannot
"$FRESHET" replay world.cdxj --policy random --budget 20% --max-age 10w --seeds 2 --json > g.json
python3 -c '
import json
m = json.load(open("g.json"))["runs"][0]["mean"]["max_unvisited_days"]
assert m <= 70, m'
[ "$(for b in 5% 100%; do "$FRESHET" replay world.cdxj --policy random --budget $b --max-age 2 --seeds 1 --json; done | grep -o '"guarantee_broken":[a-z]*' | tr '\n' ' ')" = \
	'"guarantee_broken":true "guarantee_broken":false ' ] || { echo "guarantee_broken is missing"; exit 1; }
"$FRESHET" replay world.cdxj --policy random --budget 5% --max-age 2 --seeds 1 | grep -q 'cannot keep' ||
	fail "a guarantee that cannot be kept is not reported"

# what is wrong is said, with status 2 (usage) or 3 (file)
status() { rc=0; "$FRESHET" "$@" >/dev/null 2>msg || rc=$?; echo $rc; }
[ "$(status replay world.cdxj --policy nonsense)" = 2 ] || fail "unknown policy: $(cat msg)"
grep -q nonsense msg
[ "$(status replay world.cdxj --policy neighbour:d=9)" = 2 ] || fail "d=9 is out of range"
[ "$(status replay world.cdxj --policy neighbour:d=3..1)" = 2 ] || fail "empty range"
[ "$(status replay world.cdxj --cycle soon)" = 2 ] || fail "bad cycle"
[ "$(status replay world.cdxj --budget many)" = 2 ] || fail "bad budget"
[ "$(status replay world.cdxj --max-age 1d)" = 2 ] || fail "max-age below a cycle"
[ "$(status replay no-such-file.cdxj)" = 3 ] || fail "missing file"
head -n 1 hand.cdxj > day.cdxj
[ "$(status replay day.cdxj)" = 2 ] && grep -q 'captures over days' msg || fail "one day: $(cat msg)"

# below a budget that reaches every page auto is tide, run for run (docs/results/beyond-tables.md)
for observe in local cycle; do
	"$FRESHET" replay world.cdxj --policy auto --policy tide --seeds 3 --budget 2%,8.3% --observe $observe --csv --no-time > auto.csv
	grep '"auto"' auto.csv | sed 's/"auto"//' > auto.rows
	grep '"tide"' auto.csv | sed 's/"tide"//' > tide.rows
	[ -s auto.rows ] && cmp auto.rows tide.rows || fail "auto is not tide"
done

# runs that begin alike share their groups of pages: together they give what each gives alone
for p in neighbour:by=cluster,k=5 neighbour:by=cluster,k=5,d=1 cluster:features=url,k=5 cluster:k=5; do
	for b in 5% 10%; do
		"$FRESHET" replay world.cdxj --policy $p --seeds 2 --budget $b --csv --no-time | grep -v '^cycle_seconds'
	done
done | LC_ALL=C sort > alone.csv
"$FRESHET" replay world.cdxj --policy neighbour:by=cluster,k=5 --policy neighbour:by=cluster,k=5,d=1 --policy cluster:features=url,k=5 \
	--policy cluster:k=5 --seeds 2 --budget 5%,10% --csv --no-time | grep -v '^cycle_seconds' | LC_ALL=C sort > together.csv
[ -s alone.csv ] && cmp alone.csv together.csv || fail "sharing groups changes runs"
