#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# freshet rank: every kind of graph file, PageRank against hand-worked values,
# LiveRank on a graph whose costs can be told beforehand, errors and exit codes.
. "$SRC/tests/lib/e2e.sh"

# 0 -> 1 2, 1 -> 2, 2 -> 0, 3 -> 2: the textbook's four pages
printf '# four pages\n0 1\n0\t2\n1 2\n2 0\n3 2\n3 2\n' >four.txt
$f rank four.txt --pagerank ranks.tsv --top 2 --json >out
python3 - out ranks.tsv <<'P'
import json, sys
d = json.load(open(sys.argv[1])); g = d["graph"]
assert d["schema"] == "freshet.rank/1" and (g["nodes"], g["links"]) == (4, 5), d
assert d["alive"] is None and d["orders"] == [] and d["pagerank"]["residual"] <= 1e-9
r = [float(l.split("\t")[1]) for l in open(sys.argv[2])]
x = [.25] * 4                                   # power iteration, by hand
for _ in range(200):
    x = [.0375 + .85 * x[2], .0375 + .85 * x[0] / 2, .0375 + .85 * (x[0] / 2 + x[1] + x[3]), .0375]
assert max(abs(a - b) for a, b in zip(r, x)) < 1e-8, (r, x)
assert [t[0] for t in d["top"]] == [2, 0], d["top"]
P

# the same graph by name, compressed, saved, mapped, and written back
awk '!/#/ { print "http://h/" $1, "http://h/" $2 }' four.txt | gzip >four.gz
$f rank four.gz --save four.saved --links back.tsv >text
grep -q '^links  *5$' text || fail "$(cat text)"
[ "$(wc -l <back.tsv)" = 5 ] || fail "link list: $(cat back.tsv)"
$f rank four.saved --json | python3 -c 'import json,sys; d=json.load(sys.stdin)["graph"]; assert (d["nodes"], d["links"]) == (4, 5)'
printf 'x' | dd of=four.saved bs=1 seek=70 conv=notrunc 2>/dev/null
code $f rank four.saved; [ $rc = 3 ] || fail "damaged graph: exit $rc"
grep -q 'four.saved.*build it again' err || fail "damaged graph said: $(cat err)"

# a graph that cannot be laid out in the memory there is: read in the order of its file, the same ranks
printf '0 1\n0 2\n1 2\n2 0\n3 2\n999999 0\n' >wide.txt
$f rank wide.txt --save wide.saved --top 4 --json >wide.json 2>err
if grep -q 'order of its file' err; then fail "there was room: $(cat err)"; fi
$f rank wide.saved --pagerank wide.tsv >/dev/null
OMP_NUM_THREADS=1 $f rank wide.saved --pagerank wide.one >/dev/null
cmp wide.tsv wide.one || fail "ranks written by one thread and by two differ"
cut -f1 wide.tsv | cmp - <(seq 0 999999) || fail "ranks are not in the order of the nodes"
code sh -c "ulimit -d 40000; OMP_NUM_THREADS=1 exec $f rank wide.saved --top 4 --json"
[ $rc = 0 ] && grep -q 'order of its file' err || fail "little memory: exit $rc: $(cat err)"
python3 - out wide.json <<'P'
import json, sys
a, b = (json.load(open(p)) for p in sys.argv[1:])
assert a["graph"] == b["graph"] and a["graph"]["nodes"] == 1000000 and a["pagerank"]["residual"] <= 1e-9
assert [t[0] for t in a["top"]] == [t[0] for t in b["top"]], (a["top"], b["top"])
assert all(abs(s[1] - t[1]) < 2e-8 for s, t in zip(a["top"], b["top"])), (a["top"], b["top"])
P

# links of an adjacency file are read as on the page, in any spelling; so are URLs of a truth
printf 'http://H.example/d/x\t1\ty ../z //h.example/w ?q http://h.example:80/d/%%79 mailto:x /nowhere\r\n' >rel.tsv
printf 'http://h.example/%s\t0\r\n' d/y z w 'd/x?q' >>rel.tsv
printf 'HTTP://h.example/d/../z\n' >rel.truth
$f rank rel.tsv --truth rel.truth --links rel.links --json >out 2>err
grep -q '"nodes":5,"links":4,.*"alive":1,' out || fail "relative links: $(cat out err)"
[ "$(cut -f2 rel.links | sort | tr '\n' ' ')" = "http://h.example/d/x?q http://h.example/d/y http://h.example/w http://h.example/z " ] ||
	fail "relative links: $(cat rel.links)"
$f init rel 2>/dev/null; $f -C rel import rel.tsv >/dev/null; $f -C rel rank --json | grep -q '"nodes":5,"links":4,' || fail "relative links, imported"

# one living site of ten pages in a ring, and nine dead ones
for s in 0 1 2 3 4 5 6 7 8 9; do for p in 0 1 2 3 4 5 6 7 8 9; do
	printf 'http://s%s.example/p%s\t%s\t/p%s http://elsewhere.example/\n' $s $p $((s == 4)) $(((p + 1) % 10))
done; done >old.tsv
$f rank old.tsv --seeds 20 --order random --order oracle --order site:sample=10 --order bfs:sample=5 --order alive:sample=20 --json >out
python3 - out <<'P'
import json, sys
d = json.load(open(sys.argv[1])); o = {x["order"]: dict(map(tuple, x["cost"])) for x in d["orders"]}
assert d["alive"] == 10 and d["graph"]["links"] == 100, d
at = lambda s, a: min((abs(k - a), v) for k, v in o[s].items())[1]
assert abs(at("oracle", .5) - 1) < 1e-9, o["oracle"]
assert 6 < at("random", .5) < 14, o["random"]   # 100 pages, 10 alive: about 10
assert abs(at("site:sample=10", .9) - 18 / 9) < .2, o["site:sample=10"]  # ten tests, one alive; then the site
assert at("alive:sample=20", .5) < at("random", .5) and at("bfs:sample=5", .5) < at("random", .5)
assert all(len(x["cost"]) == 19 == len(x["cost_se"]) for x in d["orders"])
P
cut -f1,2 old.tsv >truth.tsv; awk -F'\t' '$2 == 1 { print $1 }' old.tsv >later.txt
awk '!/#/ { print }' four.txt >ids.txt; printf '0\t1\n3\t0\n' >ids.truth
$f rank old.tsv --truth later.txt --order oracle --json | grep -q '"alive":10' || fail "later list"
$f rank old.tsv --truth truth.tsv --order oracle --json | grep -q '"alive":10' || fail "truth file"
$f rank ids.txt --truth ids.truth | grep -q '^alive  *1$' || fail "truth by number"

code $f rank four.txt --order bfs; [ $rc = 2 ] || fail "order without truth: exit $rc"
code $f rank old.tsv --order nosuch; [ $rc = 2 ] || fail "unknown order: exit $rc"
code $f rank old.tsv --order bfs:by=luck; [ $rc = 2 ] || fail "bad key: exit $rc"
code $f rank missing.txt; [ $rc = 3 ] || fail "missing file: exit $rc"
printf '0 1\n2\n' >bad.txt; code $f rank bad.txt; [ $rc = 3 ] || fail "bad line: exit $rc"
grep -q 'bad.txt: line 2' err || fail "bad line said: $(cat err)"
printf 'nodes=9\narcs=9\n' >cut.properties; : >cut.graph
code $f rank cut; [ $rc = 3 ] || fail "empty BVGraph: exit $rc"

# the links of a repository: the newest copies say where they go
printf 'example,a)/ 20240101000000 {"url":"http://a.example/","status":"200","digest":"A","links":"/b /c"}\n' >trace.cdxj
printf 'example,a)/ 20240201000000 {"url":"http://a.example/","status":"200","digest":"D","links":"/b"}\n' >>trace.cdxj
printf 'example,a)/b 20240101000000 {"url":"http://a.example/b","status":"200","digest":"B","links":"/ /c"}\n' >>trace.cdxj
printf 'example,a)/c 20240101000000 {"url":"http://a.example/c","status":"200","digest":"C"}\n' >>trace.cdxj
$f init repo 2>/dev/null; $f -C repo import trace.cdxj >/dev/null 2>&1
$f -C repo rank --links repo.tsv --top 1 >text || fail "rank of a repository"
[ "$(sort repo.tsv | tr '\t\n' '  ')" = "http://a.example/ http://a.example/b http://a.example/b http://a.example/ http://a.example/b http://a.example/c " ] ||
	fail "links of the repository: $(cat repo.tsv)"
grep -q '^links  *3$' text || fail "$(cat text)"
code $f -C nowhere rank; [ $rc != 0 ] || fail "no repository, no file"

if [ -n "${FRESHET_DATA:-}" ]; then
	$f rank "$FRESHET_DATA/graphs/cnr-2000" --json | python3 -c 'import json,sys
d = json.load(sys.stdin); assert (d["graph"]["nodes"], d["graph"]["links"]) == (325557, 3216152), d["graph"]
assert d["pagerank"]["residual"] <= 1e-9'
fi
