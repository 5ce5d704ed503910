#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# Every test of the orders of LiveRank in a world where sites, directories and pages have died,
# against the paper's definitions written a second time: PageRank by plain iteration from the
# living and the dead of the sample, activity of sites, walks step by step; ties by PageRank.
. "$SRC/tests/lib/e2e.sh"

cat >check.py <<'PY'
import collections, json, math, os, subprocess, urllib.parse

FRESHET, Z, SEEDS = os.environ["FRESHET"], 40, 2


def run(*args):
    return subprocess.run([FRESHET, "--quiet", *args], stdout=subprocess.PIPE, check=True,
                          text=True).stdout


run("world", "w.cdxj", "--sites", "9", "--dirs", "5", "--pages", "4", "--steps", "1", "--links", "2",
    "--rate", "0", "--burst", "0", "--death", "0", "--site-dies", ".3", "--dir-dies", ".3",
    "--page-dies", ".2")
links = {}
for line in open("w.cdxj"):
    capture = json.loads(line.split(" ", 2)[2])
    if "links" in capture:
        links[capture["url"]] = {urllib.parse.urljoin(capture["url"], l)
                                 for l in capture["links"].split()} - {capture["url"]}
pages = sorted(links)
links = {u: t & set(pages) for u, t in links.items()}
site = {u: urllib.parse.urlsplit(u).hostname for u in pages}
degree = collections.Counter(v for t in links.values() for v in t)


def pagerank(teleport):
    """Y = .85 Y A + .15 X, what pages without links have being lost."""
    rank = dict(teleport)
    for _ in range(150):
        new = {u: .15 * teleport.get(u, 0) for u in pages}
        for u in pages:
            for v in links[u]:
                new[v] += .85 * rank.get(u, 0) / len(links[u])
        rank = new
    return rank


def even(some):
    return {u: 1 / len(some) for u in some}


plain = pagerank(even(pages))


def descending(order, *keys):
    """Each key of the first page at least that of the next, the later ones among equals."""
    for a, b in zip(order, order[1:]):
        for key in keys:
            x, y = key(a), key(b)
            if not math.isclose(x, y, rel_tol=1e-5, abs_tol=1e-12):
                assert x > y, (a, b, x, y)
                break


def check_sample(sample, by, spread):
    key = {"pagerank": plain.get, "indegree": degree.__getitem__}.get(by)
    assert len(sample) == Z
    if key and not spread:
        descending(sample, key)
        rest = [key(u) for u in pages if u not in sample]
        assert min(map(key, sample)) >= max(rest) * (1 - 1e-5)
    for i, u in enumerate(sample if spread else []):
        assert not any(v in links[u] or u in links[v] for v in sample[:i])


def check_sites(order, alive):
    """t tests of each site of at least t pages, the t that z has room for; then by activity."""
    size = collections.Counter(site.values())
    t = 0
    while (t + 1) * sum(n > t for n in size.values()) <= Z:
        t += 1
    tests = collections.Counter(site[u] for u in order[:t * sum(n >= t for n in size.values())])
    assert t > 1 and tests == {s: t for s, n in size.items() if n >= t}
    n = sum(tests.values())
    living = collections.Counter(site[u] for u in order[:n] if alive[u])
    descending(order[n:], lambda u: living[site[u]] / t if tests[site[u]] else -1)


def check_walk(order, alive, kind):
    """BFS: what a living page links to waits together, in whatever order."""
    waiting, queued, live, tested = collections.deque(), set(), collections.Counter(), set(order[:Z])

    def learn(u):
        if alive[u]:
            live.update(links[u])
            waiting.append(links[u] - queued - tested)
            queued.update(links[u])

    for u in order[:Z]:
        learn(u)
    for u in order[Z:]:
        left = [v for v in pages if v not in tested]
        while waiting and not waiting[0] - tested:
            waiting.popleft()
        if kind == "bfs" and waiting:
            assert u in waiting[0], u
        else:
            most = max(live[v] for v in left) if kind != "bfs" else 0
            assert kind == "bfs" or live[u] == most, (u, live[u], most)
            assert plain[u] >= (1 - 1e-5) * max(plain[v] for v in left
                                                if kind == "bfs" or live[v] == most)
        tested.add(u)
        learn(u)


def check(case, order, alive):
    kind, sample = case["order"], order[:Z]
    if kind == "pagerank":
        return descending(order, plain.get)
    if kind == "indegree":
        return descending(order, degree.__getitem__, plain.get)
    if kind == "site":
        return check_sites(order, alive)
    check_sample(sample, case.get("by"), case.get("spread"))
    if kind in ("bfs", "alive-indegree"):
        return check_walk(order, alive, kind)
    good = [u for u in sample if alive[u]]
    plus, minus = pagerank(even(good)), pagerank(even([u for u in sample if not alive[u]]))
    least = min(x for x in minus.values() if x > 0)
    score = plus if kind == "alive" else {u: plus[u] / (minus[u] or least) for u in pages}
    descending(order[Z:], score.get, plain.get)


cases = [{"order": o} for o in ("pagerank", "indegree", "alive", "alive-dead", "site", "bfs",
                                "alive-indegree")]
cases += [{"order": "alive-dead", "by": "pagerank"}, {"order": "alive", "by": "indegree"},
          {"order": "alive-dead", "spread": 1}]
specs = ["liverank:sample=%d,%s" % (Z, ",".join("%s=%s" % i for i in c.items())) for c in cases]
replayed = json.loads(run("replay", "w.cdxj", "--goal", "alive", "--cycle", "2w", "--budget", "100%",
                          "--seeds", str(SEEDS), "--visits", "v.jsonl", "--json",
                          *[x for s in specs for x in ("--policy", s)]))
visits = collections.defaultdict(list)
for v in map(json.loads, open("v.jsonl")):
    visits[v["policy"], v["seed"]].append(v)
assert len(visits) == len(specs) * SEEDS
for spec, case in zip(specs, cases):
    costs = []
    for (policy, _), seen in visits.items():
        if policy != spec:
            continue
        order, alive = [v["url"] for v in seen], {v["url"]: v["hit"] for v in seen}
        assert sorted(order) == pages, spec
        try:
            check(case, order, alive)
        except AssertionError as e:
            raise SystemExit("%s: %s" % (spec, e))
        found, half = 0, sum(alive.values()) / 2
        for i, u in enumerate(order, 1):
            found += alive[u]
            if found >= half:
                costs.append(i / found)
                break
    cost = dict(next(r for r in replayed["runs"] if r["policy"] == spec)["cost"])
    assert math.isclose(cost[.5], sum(costs) / len(costs), rel_tol=1e-6), (spec, cost[.5], costs)
PY
python3 check.py
