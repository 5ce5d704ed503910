#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# freshet rank --order evidence: its costs are those of the tests that a replay of the same
# crawl writes down, counted here by hand; worlds whose costs are known; links alone where
# there are no URLs.
. "$SRC/tests/lib/e2e.sh"

cat >check.py <<'PY'
import json, math, os, random, subprocess, sys

FRESHET, SRC, SEEDS = os.environ["FRESHET"], os.environ["SRC"], 3
ALPHAS = [round(.05 * i, 2) for i in range(1, 20)]


def run(*args):
    return subprocess.run([FRESHET, "--quiet", *args], stdout=subprocess.PIPE, check=True,
                          text=True).stdout


def rank(*args):
    d = json.loads(run("rank", *args, "--seeds", str(SEEDS), "--json"))
    assert d["schema"] == "freshet.rank/1"
    for o in d["orders"]:
        assert len(o["cost"]) == 19 == len(o["cost_se"])
        assert all(abs(a - b[0]) < 1e-9 for a, b in zip(ALPHAS, o["cost"]))
    return {o["order"]: [c[1] for c in o["cost"]] for o in d["orders"]}


def cost(hits, n_alive):
    """Tests until a share of the living is found, over that share of their number."""
    ret = []
    for a in ALPHAS:
        found, i = 0, 0
        while found < a * n_alive - 1e-9:
            found += hits[i]
            i += 1
        ret.append(i / (a * n_alive))
    return ret


def close(a, b):
    return all(math.isclose(x, y, rel_tol=1e-7) for x, y in zip(a, b))


# 600 pages in 12 directories of 3 sites; in a living directory nine of ten live, else one
random.seed(4)
pages = {"http://s%d.example/d%02d/p%02d.html" % (d % 3, d, p): int(random.random() < (.9 if d % 3 == d % 2 else .1))
         for d in range(12) for p in range(50)}
urls = sorted(pages)
links = {u: random.sample(urls, 3) + [u.replace("/p", "/p", 1)[:-7] + "%02d.html" % random.randrange(50)] for u in urls}
with open("old.tsv", "w") as f:
    f.writelines("%s\t%d\t%s http://outside.example/\n" % (u, pages[u], " ".join(links[u])) for u in urls)

# the tests of a replay of the same crawl, one by one
specs = ["evidence", "evidence:nourl=1", "evidence:nolinks=1,sample=0.05"]
with open("old.cdxj", "w") as f:
    subprocess.run([SRC + "/scripts/live-to-cdxj", "old.tsv"], stdout=f, check=True)
run("replay", "old.cdxj", "--goal", "alive", "--cycle", "1d", "--budget", "100%", "--seeds", str(SEEDS),
    "--visits", "v.jsonl", *[x for s in specs for x in ("--policy", s)])
hits = {}
for line in open("v.jsonl"):
    v = json.loads(line)
    hits.setdefault((v["policy"], v["seed"]), []).append(pages[v["url"]])
got = rank("old.tsv", *[x for s in specs + ["random", "alive-dead"] for x in ("--order", s)])
for s in specs:
    runs = [cost(h, sum(pages.values())) for (policy, _), h in hits.items() if policy == s]
    assert len(runs) == SEEDS and all(len(h) == len(pages) for h in hits.values())
    assert close(got[s], [sum(c) / SEEDS for c in zip(*runs)]), (s, got[s], runs)
assert list(got) == specs + ["random", "alive-dead"]
assert got["evidence"][9] < 1.3 < got["random"][9], got

# graph and truth in two files are the same crawl; threads do not matter
with open("links.txt", "w") as f:
    f.writelines("%s %s\n" % (u, v) for u in urls for v in links[u])
with open("truth.tsv", "w") as f:
    f.writelines("%s\t%d\n" % (u, pages[u]) for u in urls)
assert close(rank("links.txt", "--truth", "truth.tsv", "--order", "evidence", "--threads", "2")["evidence"],
             got["evidence"])

# numbers instead of URLs: links alone, as with nourl
number = {u: i for i, u in enumerate(urls)}
with open("ids.txt", "w") as f:
    f.writelines("%d %d\n" % (number[u], number[v]) for u in urls for v in links[u])
with open("ids.truth", "w") as f:
    f.writelines("%d\t%d\n" % (number[u], pages[u]) for u in urls)
ids = rank("ids.txt", "--truth", "ids.truth", "--order", "evidence", "--order", "evidence:nofit=1")
assert close(ids["evidence"], got["evidence:nourl=1"]), (ids, got)
assert ids["evidence:nofit=1"] != ids["evidence"]
run("rank", "ids.txt", "--save", "ids.graph")
assert rank("ids.graph", "--truth", "ids.truth", "--order", "evidence")["evidence"] == ids["evidence"]

# where all live every test finds one; where none does there is no cost
alive = lambda name, a: open(name, "w").writelines("%s\t%d\n" % (u, a) for u in urls[:100])
alive("all.tsv", 1), alive("none.tsv", 0)
assert close(rank("all.tsv", "--order", "evidence")["evidence"], [1.0] * 19)
assert rank("none.tsv", "--order", "evidence")["evidence"] == [None] * 19
PY
python3 check.py || fail "costs of evidence"

code $f rank links.txt --order evidence; [ $rc = 2 ] && grep -q 'truth' err || fail "no truth: $rc, $(cat err)"
code $f rank old.tsv --order evidence:luck=1; [ $rc = 2 ] && grep -q "no parameter 'luck'" err || fail "bad key: $rc, $(cat err)"
code $f rank old.tsv --order evidences; [ $rc = 2 ] && grep -q 'oracle|evidence' err || fail "bad name: $rc, $(cat err)"
printf 'http://a.example/ http://a.example/b\nhttp://a.example/ b\n' >mixed.txt; printf 'http://a.example/b\t1\n' >b.truth
code $f rank mixed.txt --truth b.truth --order evidence; [ $rc = 2 ] && grep -q '`b` is no URL' err || fail "no URL: $rc, $(cat err)"
printf 'http://a.example http://a.example/b\nhttp://a.example/ http://a.example/b\n' >twice.txt
code $f rank twice.txt --truth b.truth --order evidence; [ $rc = 2 ] && grep -q '1 of 3 nodes are other spellings' err || fail "spellings: $rc, $(cat err)"
$f rank old.tsv --order evidence --order random --report r.html >/dev/null && grep -q 'evidence is cheapest' r.html || fail "report"
