#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# Every visit of `neighbour` in a made-up world, against Algorithms 1 and 2 of Tan et al. written a
# second time: which pages follow a sample (by tokens of the URLs, Eq. 2; by the links, Eq. 1),
# when they do (phi, Eqs. 3 to 8, PageRank by plain iteration), and with which probability.
. "$SRC/tests/lib/e2e.sh"

cat >check.py <<'PY'
import collections, functools, json, math, os, subprocess, urllib.parse

FRESHET, BUDGET, SEEDS = os.environ["FRESHET"], 60, 3


def run(*args):
    subprocess.run([FRESHET, "--quiet", *args], stdout=subprocess.DEVNULL, check=True)


run("world", "w.cdxj", "--sites", "6", "--dirs", "8", "--pages", "4", "--steps", "14", "--links",
    "3", "--rate", ".06", "--death", ".002")
links = {}
for line in open("w.cdxj"):
    capture = json.loads(line.split(" ", 2)[2])
    if capture["url"] not in links:
        links[capture["url"]] = {urllib.parse.urljoin(capture["url"], l)
                                 for l in capture["links"].split()} - {capture["url"]}
pages = set(links)
links = {u: t & pages for u, t in links.items()}
site = {u: urllib.parse.urlsplit(u).hostname for u in pages}
out = {u: {v for v in t if site[v] == site[u]} for u, t in links.items()}
back = {u: {v for v in pages if u in out[v]} for u in pages}


@functools.cache
def folders(u):
    return [site[u]] + urllib.parse.urlsplit(u).path.split("/")[1:-1]


def dir_distance(u, v, cousins):
    """Positive is up, negative down; None: not at all."""
    a, b = folders(u), folders(v)
    c = 0
    while c < min(len(a), len(b)) and a[c] == b[c]:
        c += 1
    if not c:
        return None
    steps = len(a) - c + len(b) - c
    if c < min(len(a), len(b)):                 # beside
        return steps if cousins and len(b) <= len(a) else None
    return steps if len(b) <= len(a) else -steps


@functools.cache
def by_dir(u, d, cousins):
    near = {v: dir_distance(u, v, cousins) for v in pages - {u}}
    return {v for v, x in near.items() if x is not None and min(d, 0) <= x <= max(d, 0)}


@functools.cache
def by_link(u, d, _):
    found = {v for parent in back[u] for v in out[parent]}
    edge = {u}
    walked = {u}
    for _ in range(abs(d)):
        edge = {v for w in edge for v in (out if d > 0 else back)[w]} - walked
        walked |= edge
    return (found | walked) - {u}


def pagerank_of_ten():
    rank = {u: 1 / len(pages) for u in pages}
    for _ in range(100):
        new = {u: .15 / len(pages) for u in pages}
        for u in pages:
            for v in links[u] or pages:
                new[v] += .85 * rank[u] / len(links[u] or pages)
        rank = new
    low, high = min(rank.values()), max(rank.values())
    return {u: 10 * math.log(x / low) / math.log(high / low) for u, x in rank.items()}


ten = pagerank_of_ten()


class Play:
    """One policy and seed: what each page was seen to do, what is left of the cycle."""

    def __init__(self, by, d, phi, cousins=False, count="cycles", trigger="any"):
        self.near = by_dir if by == "dir" else by_link
        self.d, self.phi, self.cousins, self.count, self.trigger = d, phi, cousins, count, trigger
        self.history, self.gone = collections.defaultdict(list), set()
        self.expected = self.variance = self.triggered = 0.
        self.cycle = 0

    def probability(self, u, hit):
        if self.phi == "changed":
            return float(hit)
        if self.phi in ("always", "never"):
            return float(self.phi == "always")
        if self.trigger == "changed" and not hit:
            return 0.
        if self.phi == "pagerank":
            return (round(ten[u]) + 1) / 11
        seen = self.history[u]                  # (cycle, changed), this one among them
        n = len(seen) if self.count == "visits" else self.cycle
        at = {c if self.count == "cycles" else i: x for i, (c, x) in enumerate(seen, 1)}
        weight = lambda i: 1 / n if self.phi == "history" else 2 * i / (n * (n + 1))
        return -math.expm1(-sum(weight(i) * x for i, x in at.items()))

    def play(self, visits):
        """The visits of one cycle."""
        self.cycle += 1
        done, at = set(), 0
        while at < len(visits) and visits[at]["reason"] == "sample":
            sample = visits[at]
            u = sample["url"]
            assert u not in done | self.gone, u
            done.add(u)
            self.note(sample)
            phi, at = self.probability(u, sample["hit"]), at + 1
            want = self.near(u, self.d, self.cousins) - done - self.gone
            got = []
            while at < len(visits) and visits[at]["reason"] == "neighbour":
                got.append(visits[at])
                at += 1
            names = {v["url"] for v in got}
            assert names <= want and len(names) == len(got), (u, names - want)
            if at < len(visits) and got:        # not cut short by the budget
                assert names == want, (u, want - names)
            for v in got:
                assert math.isclose(v["score"], phi, rel_tol=1e-5), (u, v["score"], phi)
                done.add(v["url"])
            if want and at - len(got) < len(visits):
                self.triggered += bool(got)
                self.expected += phi
                self.variance += phi * (1 - phi)
            for v in got:
                self.note(v)
        assert all(v["reason"] == "fill" for v in visits[at:])

    def note(self, v):
        self.history[v["url"]].append((self.cycle, v["hit"]))
        if v["outcome"] == "gone":
            self.gone.add(v["url"])

    def judge(self):
        """Chance decides as often as phi says."""
        if abs(self.triggered - self.expected) > 4 * math.sqrt(self.variance) + 1e-6:
            raise SystemExit("%g followed, %g expected" % (self.triggered, self.expected))


cases = [dict(by="dir", d=d, phi="changed") for d in (-2, -1, 0, 1, 3)]
cases += [dict(by="dir", d=d, phi="changed", cousins=True) for d in (2, 3)]
cases += [dict(by="link", d=d, phi="changed") for d in (-3, -1, 0, 1, 2)]
cases += [dict(by="dir", d=0, phi=phi, count=count) for phi in ("history", "weighted")
          for count in ("cycles", "visits")]
cases += [dict(by="dir", d=1, phi="weighted", trigger="changed"), dict(by="link", d=1, phi="pagerank"),
          dict(by="dir", d=0, phi="pagerank", trigger="changed"), dict(by="dir", d=0, phi="always"),
          dict(by="dir", d=0, phi="never")]
specs = ["neighbour:" + ",".join("%s=%s" % (k, int(v) if v is True else v) for k, v in c.items())
         for c in cases]
run("replay", "w.cdxj", "--budget", str(BUDGET), "--seeds", str(SEEDS), "--visits", "v.jsonl",
    *[x for s in specs for x in ("--policy", s)])
cycles = collections.defaultdict(list)
for v in map(json.loads, open("v.jsonl")):
    cycles[v["policy"], v["seed"], v["cycle"]].append(v)
for spec, case in zip(specs, cases):
    total = 0.
    for seed in {k[1] for k in cycles if k[0] == spec}:
        play = Play(**case)
        for key in sorted(k for k in cycles if k[:2] == (spec, seed)):
            assert len(cycles[key]) == BUDGET, key
            play.play(cycles[key])
        play.judge()
        total += play.triggered
    assert (total > 10) == (case["phi"] != "never"), (spec, total)
PY
python3 check.py
