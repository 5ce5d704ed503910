#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# The scores of `plan` after visits told by another crawler, against a second implementation of
# the policies that have a closed form, written from the papers and not from the code:
# Cho & Garcia-Molina, the censored likelihood, LambdaCrawl and Azar et al., Nutch, StormCrawler,
# the knapsack game. Intervals are uneven, the state comes back from the store each time.
. "$SRC/tests/lib/e2e.sh"

cat >check.py <<'PY'
import datetime, json, math, os, random, subprocess

FRESHET, DAY, N, R, T = os.environ["FRESHET"], 86400, 30, 6, 14
random.seed(5)


def run(*args, text=None):
    return subprocess.run([FRESHET, "--quiet", *args], stdout=subprocess.PIPE, check=True,
                          text=True, input=text).stdout


def at(day):
    return (datetime.datetime(2030, 1, 1) + datetime.timedelta(days=day)).strftime("%Y%m%d%H%M%S")


def tell(day, outcomes):
    run("-C", "r", "tell", "-", "--now", at(day), text="".join(
        json.dumps({"url": u, "outcome": "changed" if c else "same", "reason": "chance"}) + "\n"
        for u, c in outcomes))


urls = ["http://h%d.example/d%d/p%d" % (i % 3, i % 5, i) for i in range(N)]
rate = {u: random.choice([.02, .1, .5]) for u in urls}
run("init", "r")
run("-C", "r", "import", "-", text="\n".join(urls) + "\n")
cycles = [(0, [(u, False) for u in urls])]      # day, outcomes; all are visited on day 0
last, today = {u: 0 for u in urls}, 0
for _ in range(T):
    today += random.choice([1, 1, 2, 3])
    some = random.sample(urls, R)
    cycles.append((today, [(u, random.random() < -math.expm1(-rate[u] * (today - last[u])))
                           for u in some]))
    last.update({u: today for u in some})
for day, outcomes in cycles:
    tell(day, outcomes)
today += 1
now = len(cycles) + 1                           # the cycle that is planned


def visits(u):
    """(cycle, day, cycles since, days since, changed); the first is one cycle of a day."""
    c0, d0, out = 0, -1, []
    for c, (day, outcomes) in enumerate(cycles, 1):
        for v, changed in outcomes:
            if v == u:
                out.append((c, day, c - c0, day - d0, changed))
                c0, d0 = c, day
    return out


def root(changed, quiet, low=.0005, high=7.):
    """Of sum t/(e^rt - 1) = quiet, by bisection."""
    left = lambda r: sum(t / math.expm1(r * t) for t in changed) - quiet
    if left(low) <= 0:
        return low
    if left(high) >= 0:
        return high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if left(middle) > 0 else (low, middle)
    return low


def age(u):
    return now - visits(u)[-1][0]


def cho(u):
    v = visits(u)
    n, x, mean = len(v), sum(e[4] for e in v), sum(e[2] for e in v) / len(v)
    return -math.log((n - x + .5) / (n + .5)) / mean * age(u)


def naive(u):
    v = visits(u)
    return sum(e[4] for e in v) / sum(e[2] for e in v) * age(u)


def mle(u):
    v = visits(u)
    return root([e[2] for e in v if e[4]], sum(e[2] for e in v if not e[4])) * age(u)


def nutch(u):
    interval, modified, wait = 30., None, 30.
    for _, day, _, _, changed in visits(u):
        interval *= .8 if changed else 1.4
        modified = day if changed else modified
        delta = day - modified if modified is not None else 0
        interval = min(max(interval, delta, 60 / DAY), 365)
        wait = min(interval - .3 * delta, 90)
    return (today - visits(u)[-1][1]) / wait


def stormcrawler(u):
    interval = 1.
    for v in visits(u):
        interval = .5 * interval + .5 / 24 if v[4] else min(1.5 * interval, 14)
    return (today - visits(u)[-1][1]) / interval


def lambda_credits(spend):
    """spend(rates, budget): visits of each page; a visit costs one credit."""
    credit, r = {u: 0. for u in urls}, {u: math.log(2) / .5 for u in urls}
    by_page = {u: visits(u) for u in urls}
    for c, (day, outcomes) in enumerate(cycles + [(today, [])], 1):
        for u, f in spend(r, len(outcomes) or N).items():
            credit[u] += f
        for u, _ in outcomes:
            v = [e for e in by_page[u] if e[0] <= c]
            credit[u] -= 1
            r[u] = root([.5] + [e[3] for e in v if e[4]],
                        .5 + sum(e[3] for e in v if not e[4]))
    return credit


def harmonic(r, budget):
    low, high = 1e-12, 1e12
    visits_for = lambda mu: {u: (-x + math.sqrt(x * x + 4 * x / mu)) / 2 for u, x in r.items()}
    for _ in range(200):
        mu = math.sqrt(low * high)
        low, high = (mu, high) if sum(visits_for(mu).values()) > budget else (low, mu)
    return visits_for(low)


def azar(r, budget):
    """As the authors do: pages in order of 1/rate, each dropped or the rest shared."""
    f, order = {}, sorted(r, key=lambda u: 1 / r[u])
    roots, rates = sum(math.sqrt(x) for x in r.values()), sum(r.values())
    for u in order:
        if 1 / r[u] <= (roots / (budget + rates)) ** 2:
            f[u] = 0.
            roots, rates = roots - math.sqrt(r[u]), rates - r[u]
        else:
            f[u] = math.sqrt(r[u]) * (budget + rates) / roots - r[u]
    return f


def automaton(u, step, rule):
    """F/N of the knapsack game of all pages, N = 60, begun at 30; demand against budget."""
    state = {v: 30 for v in urls}
    for _, outcomes in cycles:
        exceeded = sum(state.values()) / 60 > len(outcomes)
        for v, changed in outcomes:
            move = step if changed and not exceeded else \
                -step if rule == "two-case" or (not changed and exceeded) else 0
            state[v] = min(max(state[v] + move, 1), 60)
    return state[u] / 60


def plan(spec):
    out = run("-C", "r", "plan", "--policy", spec, "--budget", "100%", "--every", "1d", "--now",
              at(today), "--format", "jsonl", "--site-share", "100%")
    return {p["url"]: p for p in map(json.loads, out.splitlines())}


def check(spec, want, tolerance=1e-4, of=None):
    got = plan(spec)
    assert len(got) == N, spec
    seen = [u for u in urls if of is None or got[u]["reason"] == of]
    assert len(seen) > 3, spec
    for u in seen:
        if not math.isclose(got[u]["score"], want(u), rel_tol=tolerance, abs_tol=1e-5):
            raise SystemExit("%s: %s has %.6f, not %.6f" % (spec, u, got[u]["score"], want(u)))


check("oldest", age)
check("frequency", cho)
check("frequency:estimator=naive", naive)
check("frequency:estimator=mle", mle)
check("nutch", nutch)
check("stormcrawler", stormcrawler)
for spec, spend in (("lambda", harmonic), ("lambda:cost=binary", azar)):
    credit = lambda_credits(spend)
    check(spec, credit.get, 2e-4)
for step in (1, 2):
    for rule in ("four-case", "two-case"):
        check("automaton:states=60,start=30,step=%d,rule=%s" % (step, rule),
              lambda u: automaton(u, step, rule), of="chance")
PY
python3 check.py
