#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# `freshet cluster` on a made-up trace and on a repository made of it: planted
# groups are found, the curve bends where it must, bad input is told apart.
. "$SRC/tests/lib/e2e.sh"
mkdir -p trace
printf 'alpha\nbeta\ngamma\ndelta\nepsilon\nzeta\n' > trace/words.txt
# 3 kinds of pages on 2 sites: each kind has two words of its own
python3 - > trace/t.cdxj <<'PY'
import json
lines = []
for host in ("a", "b"):
    for i in range(30):
        kind = i % 3
        url = f"http://{host}.example/{['news','docs','shop'][kind]}/p{i}.html"
        surt = f"example,{host})/{['news','docs','shop'][kind]}/p{i}.html"
        for day in range(1, 5):
            # news change every day, docs never, shop once
            version = day if kind == 0 else 1 if kind == 1 else 1 + (day > 2)
            lines.append(f"{surt} 202301{day:02d}000000 " + json.dumps({
                "url": url, "mime": "text/html", "status": "200",
                "digest": f"D{kind}{i}v{version}{host}", "length": "100", "text": 50 + i,
                "words": 10 + i, "images": kind, "tables": 0, "emails": 0, "outlinks": 1,
                "terms": f"{2*kind}:{3+i%2} {2*kind+1}:2", "links": ""}))
print("\n".join(sorted(lines)))
PY
"$FRESHET" cluster trace/t.cdxj --features content --k 3 --json > content.json
python3 - <<'PY'
import json
d = json.load(open("content.json"))
assert d["schema"] == "freshet.cluster/1" and d["k"] == 3 and d["pages"] == 60, d
assert [c["pages"] for c in d["clusters"]] == [20, 20, 20]
assert d["cosine"] > 0.9
words = sorted(tuple(sorted(t[0] for t in c["stands_out"][:2])) for c in d["clusters"])
assert words == [("alpha", "beta"), ("delta", "gamma"), ("epsilon", "zeta")], words
for c in d["clusters"]:
    assert c["sites"] == 2 and c["largest_sites"][0][1] == 10, c
    assert len(c["near"]) == 2
    kind = c["stands_out"][0][0]
    want = {"alpha": 3 / 3 * 30, "beta": 30, "gamma": 0, "delta": 0,
            "epsilon": 10, "zeta": 10}[kind]
    assert abs(c["changes_30d"] - want) < 0.01, (kind, c["changes_30d"])
PY
# six features, each of them, and more clusters than pages
for set in url content url+content static dynamic combined; do
	"$FRESHET" cluster trace/t.cdxj --features "$set" --k 500 --json > "set.json"
	python3 -c "
import json
d = json.load(open('set.json'))
assert sum(c['pages'] for c in d['clusters']) == 60 and 1 <= d['k'] <= 60
assert 0 < d['cosine'] < 1.000001"
done
"$FRESHET" cluster trace/t.cdxj --features content --choose-k --folds 5 --json > curve.json
python3 -c "
import json
d = json.load(open('curve.json'))
assert d['knee'] == 3 and d['doubling'] == 3, d
ks = [p['k'] for p in d['curve']]
assert ks == sorted(ks) and all(p['cosine'] <= 1.000001 and p['cosine_se'] >= 0 for p in d['curve'])"
# the same from a repository, and the same twice
"$FRESHET" --quiet init repo
"$FRESHET" --quiet -C repo import trace/t.cdxj
"$FRESHET" -C repo cluster --features content --k 3 --words trace/words.txt > a.txt
"$FRESHET" -C repo cluster --features content --k 3 --words trace/words.txt > b.txt
cmp a.txt b.txt
grep -q '60 pages in 3 clusters' a.txt
grep -q 'alpha beta\|beta alpha' a.txt
# some pages of it, by chance: no others count, what links say is of all, and the rest stays
"$FRESHET" -C repo cluster --features content --k 3 --words trace/words.txt --sample 60 > b.txt
cmp a.txt b.txt
"$FRESHET" -C repo cluster --features content --k 3 --words trace/words.txt --sample 0 > b.txt
cmp a.txt b.txt
"$FRESHET" -C repo cluster --features content --k 3 --sample 30 > some.txt
grep -q '^30 pages, chosen of 60 by chance, in 3 clusters' some.txt
for n in 0 30; do
	"$FRESHET" -C repo cluster --features content --k 3 --sample $n --json > some$n.json
done
python3 -c "
import json
every, some = [json.load(open('some%d.json' % n)) for n in (0, 30)]
assert (every['pages'], every['of_pages']) == (60, 60), every
assert (some['pages'], some['of_pages']) == (30, 60), some
assert sum(c['pages'] for c in some['clusters']) == 30
# all pages of a kind change alike: three rates, by words
rates = lambda d: {tuple(sorted(t[0] for t in c['stands_out'][:2])): round(c['changes_30d'], 6) for c in d['clusters']}
assert rates(some) == rates(every) and len(set(rates(every).values())) == 3, (rates(some), rates(every))"
# policies that cluster, on the trace and on the repository
"$FRESHET" replay trace/t.cdxj --cycle 1d --budget 20% --seeds 2 --policy cluster:k=3 \
	--policy neighbour:by=cluster,k=3 --json > /dev/null
"$FRESHET" -C repo plan --budget 10 --policy cluster:k=3 --format urls > plan.txt
[ "$(sort -u plan.txt | wc -l)" = 10 ]
# input that is none
! "$FRESHET" cluster missing.cdxj 2> err.txt || exit 1
grep -q missing.cdxj err.txt
! "$FRESHET" cluster trace/t.cdxj --words missing.txt 2> err.txt || exit 1
grep -q missing.txt err.txt
rc=0; "$FRESHET" cluster trace/t.cdxj --k 0 2> err.txt || rc=$?
[ "$rc" = 2 ]
