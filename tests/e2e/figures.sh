#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# `freshet replay --figures`: every table and figure of the four papers, and ours, out
# of a small made world, as text, JSON and SVG; numbers agree with plain replay.
. "$SRC/tests/lib/e2e.sh"
f() { "$FRESHET" replay "$@"; }

# a world whose records also tell words and tag structure
"$FRESHET" world plain.cdxj --sites 3 --steps 60
python3 - <<'PY'
import json, zlib
with open("plain.cdxj") as src, open("world.cdxj", "w") as out:
    for line in src:
        key, time, text = line.split(" ", 2)
        d = json.loads(text)
        if d["status"] == "200":
            h = zlib.crc32((key + d["digest"]).encode())
            d["tags"] = "T%d" % (h % 3)
            d["terms"] = " ".join("%d:%d" % (t, 1 + (h >> t) % 3) for t in sorted({h % 11, h % 7, h % 5, 12 + h % 3}))
            d["words"] = 40
        out.write("%s %s %s\n" % (key, time, json.dumps(d)))
PY
for s in 0 1 2 3 4 5 6 7 8 9; do for p in 0 1 2 3 4 5 6 7 8 9; do
	printf 'http://s%s.example/p%s\t%s\t/p%s /p0\n' $s $p $((s % 3 == 1)) $(((p + 1) % 10))
done; done >old.tsv

f world.cdxj --figures paper1 --seeds 2 --svg svg --json >p1.json
f world.cdxj --figures paper2 --seeds 1 --svg svg --json >p2.json
f world.cdxj --figures paper3 --seeds 2 --svg svg --json >p3.json
f old.tsv --figures paper4 --seeds 2 --svg svg --json >p4.json
f world.cdxj --figures beyond --seeds 2 --svg svg --json >p5.json
python3 - <<'PY'
import json, math, os, xml.etree.ElementTree as xml
wanted = {"paper1": "table1 fig4 fig5 fig6 fig7a fig7b fig8 fig9",
          "paper2": "fig1 fig2 fig3 fig4a fig4b fig4c table2 table3",
          "paper3": "fig1 fig2 fig3", "paper4": "fig1 fig2 fig3 fig4 fig5 fig6",
          "beyond": "fig1 fig2 fig3 fig4"}
for n, paper in enumerate(wanted):
    d = json.load(open("p%d.json" % (n + 1)))
    assert d["schema"] == "freshet.figures/1" and d["paper"] == paper
    assert [g["figure"] for g in d["figures"]] == wanted[paper].split(), d["paper"]
    for g in d["figures"]:
        assert g["series"] and g["x"] and g["title"] and g["caption"], g["figure"]
        for s in g["series"]:
            assert s["label"] and len(s["y"]) == len(g["x"]) == len(s["se"]), (g["figure"], s["label"])
            assert any(y is not None for y in s["y"]), (g["figure"], s["label"])
        path = "svg/%s-%s.svg" % (paper, g["figure"])
        root = xml.parse(path).getroot()
        assert root.tag.endswith("}svg") and os.path.getsize(path) < 60000, path
        text = "".join(root.itertext())
        assert g["title"] in text and all(s["label"] in text for s in g["series"]), path
        assert "nan" not in open(path).read().lower().replace("dominant", ""), path
fig = {g["figure"]: g for g in json.load(open("p1.json"))["figures"]}
t = {s["label"]: s["y"] for s in fig["table1"]["series"]}
lines = [json.loads(l.split(" ", 2)[2]) for l in open("world.cdxj")]
assert t["sites"] == [3, 3] and t["pages"][0] == len({l["url"] for l in lines}), t
assert t["captures"][0] == len(lines)
depth = [0] * 11
for url in {l["url"] for l in lines}:
    depth[min(10, url.split("://")[1].count("/") - 1)] += 1
assert all(abs(a - b / sum(depth)) < 1e-8 for a, b in zip(fig["fig4"]["series"][0]["y"], depth))
assert fig["fig5"]["x"] == list(range(-6, 9)) and len(fig["fig7a"]["series"]) == 9
cb = [s for s in fig["fig5"]["series"] if s["label"].startswith("CB")][0]
assert cb["y"][:6] == [None] * 6 and None not in cb["y"][6:]        # clusters have no negative d
cost = {g["figure"]: g for g in json.load(open("p4.json"))["figures"]}
assert [round(x, 2) for x in cost["fig2"]["x"]][::9] == [.05, .5, .95]
alive = cost["fig1"]["series"][0]["y"]
assert abs(sum(alive) / 10 - .3) < 1e-9, alive                       # 3 sites of 10 live
PY

# the same numbers as plain replay gives
f world.cdxj --cycle 8w --budget 8.3% --observe cycle --seeds 2 --policy neighbour:by=dir,d=2 --json >plain.json
f world.cdxj --cycle 2w --budget 5% --seeds 2 --policy tide --aim changes --json >tide.json
f world.cdxj --cycle 2w --budget 8.3% --observe cycle --seeds 1 --policy random --json >cycles.json
f world.cdxj --figures paper1:fig9 --seeds 1 --json >one.json
f world.cdxj --cycle 2w --budget 8.3% --end 20221203 --seeds 1 --search --policy cluster:weights=geo --policy site --json >search.json
python3 - <<'PY'
import json
fig = {g["figure"]: g for g in json.load(open("p5.json"))["figures"]}
mean = json.load(open("tide.json"))["runs"][0]["mean"]
assert fig["fig1"]["x"] == [1, 2, 5, 8.3] and fig["fig1"]["series"][0]["label"] == "tide"
assert abs(fig["fig1"]["series"][0]["y"][2] - mean["change_ratio"]) < 1e-8
assert abs(fig["fig2"]["series"][0]["y"][2] - mean["freshness"]) < 1e-8
fig = {g["figure"]: g for g in json.load(open("p1.json"))["figures"]}
mean = json.load(open("plain.json"))["runs"][0]["mean"]
db = fig["fig5"]["series"][1]
assert abs(db["y"][8] - mean["change_ratio_cycle"]) < 1e-8, (db, mean)
assert abs(db["se"][8] - mean["change_ratio_cycle_se"]) < 1e-8
one = json.load(open("one.json"))["figures"]
assert [g["figure"] for g in one] == ["fig9"] and one[0]["series"][0]["se"][0] is None  # one seed has no error
cycles = json.load(open("cycles.json"))["runs"][0]["cycles"]
assert len(one[0]["x"]) == len(cycles) > 50
for a, c in zip(one[0]["series"][0]["y"], cycles):
    assert abs(a - c["change_ratio_cycle"]) < 1e-8
d = json.load(open("search.json"))
t = {m: v for a, b, m, v in d["t_table"]}
fig = {g["figure"]: g for g in json.load(open("p2.json"))["figures"]}
for name, measure in (("table2", "freshness_at_k"), ("table3", "map_at_k")):
    x = fig[name]
    sls = [s for s in x["series"] if s["label"] == "SLS"][0]["y"][x["x"].index("CLS-gad")]
    assert abs(sls - t[measure]) < 1e-6, (name, sls, t)
assert abs(fig["fig4c"]["series"][3]["y"][0] - d["runs"][0]["cycles"][0]["map_at_k"]) < 1e-8
PY

# text: a title and a table for each; equal seeds give equal bytes on any threads
f world.cdxj --figures paper3 --seeds 2 --threads 1 >one.txt
f world.cdxj --figures paper3 --seeds 2 --threads 2 --svg again >two.txt
cmp one.txt two.txt || fail "threads change the figures"
cmp svg/paper3-fig1.svg again/paper3-fig1.svg || fail "threads change the drawings"
[ "$(grep -c '^paper3, fig' one.txt)" = 3 ] || fail "titles: $(cat one.txt)"
if command -v xmllint >/dev/null; then xmllint --noout svg/*.svg; fi

status() { rc=0; "$FRESHET" "$@" >/dev/null 2>msg || rc=$?; echo $rc; }
[ "$(status replay world.cdxj --figures paper5)" = 2 ] && grep -q paper4 msg || fail "paper5: $(cat msg)"
[ "$(status replay world.cdxj --figures paper1:fig3)" = 2 ] && grep -q 'fig5' msg || fail "fig3: $(cat msg)"
[ "$(status replay world.cdxj --figures paper1 --budget 2%)" = 2 ] && grep -q -- --budget msg || fail "budget: $(cat msg)"
[ "$(status replay world.cdxj --svg x)" = 2 ] && grep -q -- --figures msg || fail "svg alone: $(cat msg)"
[ "$(status replay plain.cdxj --figures paper3)" = 2 ] && grep -q 'detect bytes' msg || fail "no tags: $(cat msg)"
[ "$(status replay plain.cdxj --figures paper2:fig4a)" = 2 ] && grep -q 'words' msg || fail "no words: $(cat msg)"
[ "$(status replay old.tsv --figures paper4 --svg /dev/null/x)" = 3 ] || fail "bad folder: $(cat msg)"
