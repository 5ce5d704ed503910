#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""N crawlers that lease and tell, for a while, and how long it took them.

    bench/serve_clients.py http://127.0.0.1:8390 [--clients 8] [--batch 100] [--seconds 10] [--rate 0] [--together]

As fast as they can, or --rate pages a second of all of them.  Then each lease has a moment in which it is due, whatever became of those
before, and its time counts from there: a crawler that was held up is late, and that counts.  A tell is due when its lease is answered.
These moments are by chance half to one and a half times the average pause apart; with --together all ask
at the same moment, again and again.  Each tells of every third page that it changed.  Prints pages/s, the time of a request (median, 99 of
100, longest) and the processor time of the crawlers, as JSON.
"""
import argparse, http.client, json, multiprocessing, random, resource, sys, time
from urllib.parse import urlsplit


def crawler(n, at, batch, until, pause, together, out):
    c = http.client.HTTPConnection(at, timeout=120)
    times, pages, waits, seen = {"lease": [], "tell": []}, 0, 0, []

    def ask(kind, body, t, headers={}):
        c.request("POST", "/v1/" + kind, body, headers)
        r = c.getresponse()
        text = r.read()
        if kind in times:
            times[kind].append(time.monotonic() - t)
        if r.status != 200:
            sys.exit(f"{kind}: {r.status} {text[:300]}")
        return json.loads(text)

    i, chance = 0, random.Random(n)
    due = time.monotonic() + (0 if together else pause * chance.random())
    while time.monotonic() < until:
        time.sleep(max(0, due - time.monotonic()))
        a = ask("lease", json.dumps({"count": batch, "client": f"c{n}", "seconds": 600}), due if pause else time.monotonic())
        told_from = time.monotonic()
        if a["done"]:
            break
        if "wait" in a:
            waits += 1
            due = told_from + 0.01
            continue
        due += pause * (1 if together else chance.uniform(0.5, 1.5))
        seen += [o["lease"] for o in a["offers"]]
        lines = [json.dumps({"lease": o["lease"], "status": 200, "digest": "sha1:%d" % (k % 3 and 1 or i)}) for k, o in enumerate(a["offers"])]
        i += 1
        told = ask("tell", "\n".join(lines), told_from, {"Idempotency-Key": f"{n}-{i}-{time.time()}"})
        if told["told"] != len(lines):
            sys.exit(f"told {told}")
        pages += len(lines)
    used = resource.getrusage(resource.RUSAGE_SELF)
    out.put((times, pages, waits, seen, used.ru_utime + used.ru_stime))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("url")
    p.add_argument("--clients", type=int, default=8)
    p.add_argument("--batch", type=int, default=100)
    p.add_argument("--seconds", type=float, default=10)
    p.add_argument("--rate", type=float, default=0)
    p.add_argument("--together", action="store_true")
    o = p.parse_args()
    at = urlsplit(o.url).netloc
    c = http.client.HTTPConnection(at, timeout=600)
    t = time.monotonic()
    while True:                     # a cycle is opened, and its first round is planned
        c.request("POST", "/v1/lease", json.dumps({"count": 1, "client": "c0"}))
        a = json.loads(c.getresponse().read())
        if a["offers"]: break
        if a["done"]: sys.exit("the budget is spent")
        time.sleep(0.01)
    first = time.monotonic() - t
    out, begin = multiprocessing.Queue(), time.monotonic()
    all_ = [multiprocessing.Process(target=crawler, args=(n, at, o.batch, begin + o.seconds, o.rate and o.batch * o.clients / o.rate, o.together, out)) for n in range(o.clients)]
    for x in all_: x.start()
    got = [out.get() for _ in all_]
    for x in all_: x.join()
    spent = time.monotonic() - begin
    leases = [x for g in got for x in g[3]]
    assert len(leases) == len(set(leases)), "a page was leased twice"
    r = {"clients": o.clients, "batch": o.batch, "seconds": round(spent, 2), "pages": sum(g[1] for g in got),
         "first_lease_s": round(first, 2), "waits": sum(g[2] for g in got)}
    r["pages_per_s"] = round(r["pages"] / spent)
    r["crawlers_cpu_s"] = round(sum(g[4] for g in got), 2)
    for kind in ("lease", "tell"):
        t = sorted(x for g in got for x in g[0][kind])
        if t:
            r[kind + "_ms"] = {"n": len(t), "p50": round(1e3 * t[len(t) // 2], 1), "p99": round(1e3 * t[len(t) * 99 // 100], 1), "max": round(1e3 * t[-1], 1)}
    print(json.dumps(r))


main()
