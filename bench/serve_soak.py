#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Leases, tells, reads and listeners for a while, cycle after cycle: does the service need more and more memory?

    bench/serve_soak.py http://127.0.0.1:8390 PID SECONDS PAGES [CYCLES]

Ends after SECONDS, and not before CYCLES (3) have ended.  Of the peaks of memory, a tenth and 4 MiB more in the last
quarter of the time than in the second is a failure (status 1).
"""
import http.client, json, sys, time, urllib.parse

at, pid, seconds, pages = urllib.parse.urlsplit(sys.argv[1]).netloc, sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
least = int(sys.argv[5]) if len(sys.argv) > 5 else 3


def ask(method, path, body=None):
    c = http.client.HTTPConnection(at, timeout=300)
    c.request(method, path, body)
    r = c.getresponse()
    text = r.read()
    c.close()
    assert r.status == 200, (path, r.status, text[:200])
    return text


def memory():
    return int(next(l for l in open(f"/proc/{pid}/status") if l.startswith("VmRSS")).split()[1])


begin, marks, n, cycles, listeners = time.monotonic(), [], 0, 0, []
while time.monotonic() - begin < seconds or cycles < least:
    a = json.loads(ask("POST", "/v1/lease", json.dumps({"count": 200, "client": "c%d" % (n % 8)})))
    if a["done"]:
        ask("POST", "/v1/lease/end", "")
        cycles += 1
    elif not a["offers"]:
        time.sleep(0.05)
    else:
        ask("POST", "/v1/tell?client=c%d" % (n % 8), "\n".join(json.dumps({"lease": o["lease"], "status": 200, "digest": "sha1:%d" % (hash(o["url"]) % 3 and 1 or n)}) for o in a["offers"]))
    for path in ("/v1/now", "/v1/pages?limit=50", "/v1/changes?limit=50&since=now", "/v1/pages/%d" % (n % pages), "/metrics"):
        ask("GET", path)
    if n % 20 == 0:
        ask("GET", "/v1/status")
        c = http.client.HTTPConnection(at, timeout=120)
        c.request("GET", "/v1/events")
        c.getresponse()
        listeners.append(c)
        if len(listeners) > 10:
            listeners.pop(0).close()
    n += 1
    marks.append((time.monotonic() - begin, memory()))
end = marks[-1][0]
quarter = [max(m for t, m in marks if end * k / 4 <= t <= end * (k + 1) / 4) for k in range(4)]
print(f"{n} rounds, {cycles} cycles in {end:.0f} s; memory by quarter: {', '.join(map(str, quarter))} KiB")
sys.exit(quarter[3] > 1.1 * quarter[1] + 4096)
