#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# Cluster-level sampling with one cluster, of which all pages are members: how many samples the
# t-test asks for, which (the same from cycle to cycle, as long as they live), and the score of the
# cluster, under the four weights of Tan et al. 2007b; from the list of visits, a second time.
. "$SRC/tests/lib/e2e.sh"

cat >check.py <<'PY'
import collections, functools, json, math, os, subprocess

FRESHET, BUDGET, DELTA = os.environ["FRESHET"], 60, .07


def run(*args):
    subprocess.run([FRESHET, "--quiet", *args], stdout=subprocess.DEVNULL, check=True)


@functools.cache
def quantile(nu):
    """t below which 90 % lie: Simpson's rule and bisection."""
    log_c = math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2) - math.log(nu * math.pi) / 2
    density = lambda x: math.exp(log_c - (nu + 1) / 2 * math.log1p(x * x / nu))

    def above_half(x, n=400):
        h = x / n
        return h / 3 * (density(0) + density(x) +
                        sum((4 if i % 2 else 2) * density(i * h) for i in range(1, n)))
    low, high = 0., 20.
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if above_half(middle) < .4 else (low, middle)
    return low


def frequency(seen, n, weights):
    """seen: cycles in which a change was seen."""
    weight = {"non": lambda i: 1 / n, "short": lambda i: float(i == n),
              "arith": lambda i: 2 * i / (n * (n + 1)),
              "geo": lambda i: 2 ** (i - 1) / (2 ** n - 1)}[weights]
    return sum(weight(i) for i in seen)


def enough(values):
    n = len(values)
    if n < 5:
        return False
    mean = sum(values) / n
    s = math.sqrt(sum((x - mean) ** 2 for x in values) / (n - 1))
    return quantile(n - 1) * s / math.sqrt(n) <= DELTA


run("world", "w.cdxj", "--sites", "8", "--dirs", "6", "--pages", "5", "--steps", "12", "--rate", ".15",
    "--death", ".005")
kinds = ["non", "short", "arith", "geo"]
specs = ["cluster:k=1,features=url,delta=%g,weights=%s" % (DELTA, w) for w in kinds]
run("replay", "w.cdxj", "--budget", str(BUDGET), "--seeds", "2", "--visits", "v.jsonl",
    *[x for s in specs for x in ("--policy", s)])
cycles = collections.defaultdict(list)
for v in map(json.loads, open("v.jsonl")):
    cycles[v["policy"], v["seed"], v["cycle"]].append(v)
ends = collections.Counter()
for spec, weights in zip(specs, kinds):
    for seed in {k[1] for k in cycles if k[0] == spec}:
        changed, gone, order = collections.defaultdict(list), set(), []
        for _, _, cycle in sorted(k for k in cycles if k[:2] == (spec, seed)):
            visits = cycles[spec, seed, cycle]
            assert len(visits) == BUDGET
            values, samples = [], [v for v in visits if v["reason"] == "sample"]
            for v in visits:
                if v["hit"]:
                    changed[v["url"]].append(cycle)
            for i, v in enumerate(samples):
                assert not enough(values), (spec, cycle, i)
                values.append(frequency(changed[v["url"]], cycle, weights))
            if len(samples) < BUDGET:
                assert enough(values), (spec, cycle, len(samples))
            ends[len(samples) == BUDGET] += 1
            names = [v["url"] for v in samples]
            known = [u for u in order if u not in gone]
            assert names[:len(known)] == known[:len(names)], (spec, cycle)
            order = names + [u for u in known if u not in names]
            score = sum(-math.expm1(-x) for x in values) / len(values)
            for v in visits[len(samples):]:
                assert v["reason"] == "group" and math.isclose(v["score"], score, rel_tol=1e-4,
                                                               abs_tol=1e-6), (spec, cycle, v, score)
            gone.update(v["url"] for v in visits if v["outcome"] == "gone")
assert ends[True] > 3 and ends[False] > 20, ends
PY
python3 check.py
