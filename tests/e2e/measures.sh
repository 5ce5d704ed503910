#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# The measures of `replay`, cycle by cycle, from the trace and the list of visits alone, by a second
# implementation: both readings of ChangeRatio, by PageRank too, freshness before and after, age of
# stale copies, the longest unvisited, what was found late, NDCG.
. "$SRC/tests/lib/e2e.sh"

cat >check.py <<'PY'
import bisect, calendar, collections, json, math, os, subprocess, time, urllib.parse

FRESHET, STEP = os.environ["FRESHET"], 14 * 86400


def run(*args):
    return subprocess.run([FRESHET, "--quiet", *args], stdout=subprocess.PIPE, check=True,
                          text=True).stdout


def seconds(digits):
    return calendar.timegm(time.strptime(digits, "%Y%m%d%H%M%S"))


run("world", "w.cdxj", "--sites", "6", "--dirs", "6", "--pages", "5", "--steps", "16", "--death", ".01")
history, links = collections.defaultdict(list), {}      # (time, digest or None: gone)
for line in open("w.cdxj"):
    _, when, text = line.split(" ", 2)
    capture = json.loads(text)
    u = capture["url"]
    history[u].append((seconds(when), capture.get("digest") if capture["status"] == "200" else None))
    links.setdefault(u, {urllib.parse.urljoin(u, l) for l in capture.get("links", "").split()} - {u})
pages = sorted(history)
links = {u: links[u] & set(pages) for u in pages}
rank = {u: 1 / len(pages) for u in pages}
for _ in range(120):
    new = {u: .15 / len(pages) for u in pages}
    for u in pages:
        for v in links[u] or pages:
            new[v] += .85 * rank[u] / len(links[u] or pages)
    rank = new


def live(u, t):
    """Its state at a time, as (place in its history, digest)."""
    at = bisect.bisect_right([c[0] for c in history[u]], t) - 1
    return at, history[u][at][1]


def stale_since(u, copy, t):
    """When our copy, that of place `copy`, first became untrue."""
    at, _ = live(u, t)
    return next(history[u][k][0] for k in range(copy + 1, at + 1)
                if history[u][k][1] != history[u][copy][1])


def check(name, got, want):
    if not math.isclose(got, want, rel_tol=1e-5, abs_tol=1e-6):
        raise SystemExit("%s: %.7g, not %.7g" % (name, got, want))


def measure(run_, visits):
    copy, here = {u: 0 for u in pages}, set(pages)
    seen = {u: run_["start"] for u in pages}
    for number, m in enumerate(run_["cycles"], 1):
        t = seconds(m["time"])
        told = visits[number]
        stale = {u for u in here if history[u][copy[u]][1] != live(u, t)[1]}
        moved = {u for u in here if live(u, t - STEP)[1] != live(u, t)[1]}
        name = "%s, cycle %d: " % (run_["policy"], number)
        urls = [v["url"] for v in told]
        assert len(urls) == len(set(urls)) and set(urls) <= here, name
        check(name + "before", m["freshness_before"], 1 - len(stale) / len(here))
        check(name + "ChangeRatio", m["change_ratio"], sum(u in stale for u in urls) / len(urls))
        check(name + "cycle", m["change_ratio_cycle"], sum(u in moved for u in urls) / len(urls))
        check(name + "weighted", m["weighted_change_ratio"],
              sum(rank[u] * len(pages) for u in urls if u in stale) / len(urls))
        gain = sum(1 / math.log2(i + 2) for i, u in enumerate(urls) if u in stale)
        most = sum(1 / math.log2(i + 2) for i in range(min(len(urls), len(stale))))
        check(name + "NDCG", m["ndcg"], gain / most if most else 1)
        check(name + "late", m["late"], sum(stale_since(u, copy[u], t) <= t - STEP
                                            for u in urls if u in stale))
        for v in told:
            u = v["url"]
            assert v["hit"] == (u in stale), name + u
            copy[u], seen[u] = live(u, t)[0], t
            assert (v["outcome"] == "gone") == (live(u, t)[1] is None), name + u
            if v["outcome"] == "gone":
                here.discard(u)
        stale = [u for u in here if history[u][copy[u]][1] != live(u, t)[1]]
        check(name + "freshness", m["freshness"], 1 - len(stale) / len(here))
        check(name + "weighted freshness", m["weighted_freshness"],
              1 - sum(rank[u] for u in stale) / sum(rank[u] for u in here))
        ages = [t - stale_since(u, copy[u], t) for u in stale]
        check(name + "age", m["age_days"], sum(ages) / len(ages) / 86400 if ages else 0)
        check(name + "unvisited", m["max_unvisited_days"], max(t - seen[u] for u in here) / 86400)


specs = ["random", "oldest", "site", "frequency", "neighbour", "tide", "oracle"]
doc = json.loads(run("replay", "w.cdxj", "--cycle", "2w", "--budget", "10%", "--seeds", "1", "--visits",
                     "v.jsonl", "--json", *[x for s in specs for x in ("--policy", s)]))
visits = collections.defaultdict(lambda: collections.defaultdict(list))
for v in map(json.loads, open("v.jsonl")):
    visits[v["policy"]][v["cycle"]].append(v)
assert [r["policy"] for r in doc["runs"]] == specs
for r in doc["runs"]:
    assert len(r["cycles"]) >= 15
    measure(dict(r, start=seconds(doc["trace"]["start"])), visits[r["policy"]])
PY
python3 check.py
