#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A service, its clients and a crawl for hours, with faults at random: does anything grow, slow down or get lost?

  soak.py FRESHET SECONDS [--calm] [--cycles N] [--pages N] [--seed N] [--report NAME]

Runs in an empty folder, best on a small disk (scripts/soak mounts one).  Two repositories:
  served   `freshet serve`; a client that leases and tells, readers, listeners
  crawled  `freshet cycle`, again and again, on a web of our own on loopback; prune and compact now and then
Faults, one every few seconds, by chance (not with --calm):
  service  killed (in the first half of the time only: later it lives on, so that its memory can be compared)
  frozen   the service stands still for a second
  cycle    killed in the middle
  web      errors, half answers and silence instead of pages
  disk     full for some seconds
  client   leaves in the middle of a request, sends what is no request, never tells what it leased
Judged at the end (status 1 if one is not so):
  memory and descriptors of the service, and latency (the median, of the moments without a fault): the last quarter of
  the time against the third; with --calm, against the second.  Disk: bytes a visit, likewise, without the log of the
  tables (freshet.db-wal), which under load grows to 768 MB and is then written anew: more is wrong.  A machine that gives a
  piece of work that is always the same ("probe") less in the last quarter may have the service slower by as much.
  What the service said it was told is in the tables, once.  `freshet check` finds nothing wrong with either.
  No status of a command and no answer of the service is one that is not documented.
Writes NAME.txt and NAME.json (soak.txt and soak.json).
"""
import argparse, http.client, http.server, json, os, random, socket, socketserver, sqlite3, subprocess, sys, tempfile, threading, time

o = argparse.ArgumentParser()
o.add_argument("freshet"); o.add_argument("seconds", type=float)
o.add_argument("--calm", action="store_true"); o.add_argument("--cycles", type=int, default=3)
o.add_argument("--pages", type=int, default=20000); o.add_argument("--seed", type=int, default=1)
o.add_argument("--report", default="soak")
o = o.parse_args()
chance = random.Random(o.seed)
PATIENCE = 300                                  # seconds that a command may take
faults, wrong, samples, times, statuses, slowest, delays = {}, [], [], [], {}, {}, []
trouble = [0.0]                                 # until then something is broken on purpose
web_mode, stop = ["well"], threading.Event()


def now(): return time.monotonic() - begin
def quiet(): return time.monotonic() > trouble[0]
def bad(*what):
    if len(wrong) < 40: wrong.append(" ".join(map(str, what))[:500])


def doing(pid):
    """What a process and those that it made do: name, state, where the kernel has it, seconds of processors."""
    family, out = {pid}, []
    for _ in range(3):
        for p in filter(str.isdigit, os.listdir("/proc")):
            try:
                name, rest = open("/proc/%s/stat" % p).read().split("(", 1)[1].rsplit(")", 1)
                fields = rest.split()
                if int(p) in family or int(fields[1]) in family:
                    if int(p) not in family or int(p) == pid and not out:
                        where = open("/proc/%s/wchan" % p).read() + " " + open("/proc/%s/syscall" % p).read().split()[0]
                        out.append("%s %s %s %s, %.1f s" % (p, name, fields[0], where, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")))
                    family.add(int(p))
            except (OSError, IndexError): pass
    return "; ".join(out)


def run(*args):
    """A command that takes longer than PATIENCE is wrong, and it is said what it was doing."""
    t, said = time.monotonic(), tempfile.TemporaryFile()
    p = subprocess.Popen([o.freshet, *args], stdout=said, stderr=subprocess.STDOUT)
    late, pid = False, 0
    while not pid:
        time.sleep(0.01)
        pid, status, used = os.wait4(p.pid, os.WNOHANG)
        if not late and time.monotonic() - t > PATIENCE:
            late = True
            bad(*args, "takes longer than", PATIENCE, "s:", doing(p.pid)); p.kill()
    p.returncode = os.waitstatus_to_exitcode(status)
    said.seek(0)
    slow = slowest.setdefault(args[2] if args[0] == "-C" else args[0], [0, 0])
    slow[0] = round(max(slow[0], time.monotonic() - t), 2)
    slow[1] = round(max(slow[1], used.ru_utime + used.ru_stime), 2)
    return subprocess.CompletedProcess(args, p.returncode, said.read(), b"")


def probe():
    """What the machine gives others meanwhile: seconds by the clock for a piece of work that is always the same."""
    work = "import time\nwhile True:\n t = time.monotonic(); sum(range(200000)); print(time.monotonic() - t, flush=True); time.sleep(.2)"
    p = subprocess.Popen([sys.executable, "-c", work], stdout=subprocess.PIPE)
    for line in p.stdout:
        if quiet(): delays.append((now(), float(line)))
        if stop.is_set(): break
    p.kill(); p.wait()


class Web(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        mode = web_mode[0] if self.path != "/robots.txt" else "well"
        if mode == "silence": time.sleep(3)
        if mode == "cut":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
            return
        body = b"<title>t</title><p>%s state %d %s" % (self.path.encode(), int(time.time()) // 20 if hash(self.path) % 3 else 0, b"filler " * 40)
        self.send_response(503 if mode == "errors" else 404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Type", "text/html"); self.send_header("Content-Length", str(len(body)))
        self.end_headers(); self.wfile.write(body)

    def log_message(self, *a): pass


class Webs(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    def handle_error(self, *a): pass


class Service:
    """The process; who kills it starts it again, at the same port."""
    def __init__(self):
        self.port = None
        self.start()

    def start(self):
        self.process = subprocess.Popen([o.freshet, "-C", "served", "serve", "--listen", "127.0.0.1:%d" % (self.port or 0), "--rate", "0",
                                         "--ahead", "1", "--cache", "4M", "--timeout", "5s"], stdout=subprocess.PIPE, stderr=open("served.err", "ab"))
        line = self.process.stdout.readline().decode()
        assert line.startswith("serving "), (line, open("served.err").read()[-500:])
        self.port = int(line.rsplit(":", 1)[1])

    def ask(self, method, path, body=None, headers={}, kind=None):
        """Until it is answered: the answer of a request that failed is asked for again, as a client would."""
        first = quiet()
        for turn in range(600):
            t = time.monotonic()
            try:
                c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                c.request(method, path, body, headers)
                r = c.getresponse(); status, text = r.status, r.read()
                c.close()
            except (OSError, http.client.HTTPException):
                if not o.calm and turn < 599: time.sleep(0.1); continue
                raise
            seen = str(status) if status != 500 else "500 %s:" % text[:300].decode(errors="replace")    # why is never plain
            statuses[seen] = statuses.get(seen, 0) + 1
            if status == 200:
                if kind and first and quiet() and turn == 0: times.append((now(), kind, time.monotonic() - t))
                return json.loads(text) if text[:1] == b"{" else text
            if status not in (409, 429, 500, 503, 507) or o.calm:
                bad(method, path, status, text[:200])
                return None
            if quiet() and turn > 300: bad("still refused:", method, path, status, text[:200]); return None
            time.sleep(0.1)
        raise OSError("the service does not come back")


def client(service):
    """Leases and tells; what was told, by lease."""
    n = 0
    while not stop.is_set():
        a = service.ask("POST", "/v1/lease", json.dumps({"count": 200, "client": "c%d" % (n % 8), "seconds": 20}), kind="lease")
        n += 1
        if a is None: continue
        if a["done"]:
            service.ask("POST", "/v1/lease/end", "")
            ended[0] += 1
        elif not a["offers"]: time.sleep(min(a.get("wait", 0.05), 0.05))
        elif not o.calm and n % 50 == 7: pass               # never told: it lapses
        else:
            lines = "\n".join(json.dumps({"lease": f["lease"], "status": 200, "digest": "sha1:%d" % (hash(f["url"]) % 3 and 1 or n)}) for f in a["offers"])
            r = service.ask("POST", "/v1/tell?client=c%d" % (n % 8), lines, {"Idempotency-Key": "%d-%d" % (o.seed, n)}, kind="tell")
            if r is not None: told[0] += r["told"]
        for path in ("/v1/now", "/v1/pages?limit=50", "/v1/changes?limit=50&since=now", "/v1/pages/%d" % (n % o.pages), "/metrics"):
            service.ask("GET", path, kind="read")
        if n % 20 == 0: service.ask("GET", "/v1/status")
        if not o.calm: stop.wait(0.05)


def rude(service):
    """Listeners that come and go, requests that are none or not whole."""
    held, r = [], random.Random(o.seed + 1)
    while not stop.wait(0.5):
        try:
            s = socket.create_connection(("127.0.0.1", service.port), timeout=5)
            kind = r.randrange(3)
            if kind == 0: s.sendall(b"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); held.append(s)
            elif o.calm: s.close()
            elif kind == 1: s.sendall(b"POST /v1/tell HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n{\"lea"); s.close()
            else: s.sendall(r.randbytes(300)); s.close()
        except OSError: pass
        if len(held) > 10: held.pop(0).close()


def crawl():
    """Cycles on the web of our own; a status that is not documented is wrong."""
    n = 0
    while not stop.is_set():
        n += 1
        p = subprocess.Popen([o.freshet, "-C", "crawled", "cycle", "--budget", "60", "--policy", "random", "--seed", str(n)],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        cycling[0] = p
        err = p.communicate(timeout=300)[1]
        cycling[0] = None
        counts["cycles"] = counts.get("cycles", 0) + 1
        if p.returncode not in (0, 1, 3, 4, 5, -9) or (p.returncode not in (0, 4, -9) and not err.strip()): bad("cycle", p.returncode, err[-300:])
        if p.returncode not in (0, 4, -9) and quiet(): failed.append((now(), p.returncode, err[-200:].decode(errors="replace")))
        if n % 10 == 0:
            for command in (["prune", "--keep-versions", "2"], ["compact"]):
                r = run("-C", "crawled", *command)
                if r.returncode not in (0, 1, 3, 4, 5): bad(command, r.returncode, r.stdout[-300:])
        stop.wait(0.2)


def fault(service):
    kinds = ["frozen", "cycle", "web", "disk"] + (["service"] if now() < o.seconds / 2 else [])
    kind = chance.choice(kinds)
    faults[kind] = faults.get(kind, 0) + 1
    trouble[0] = time.monotonic() + 1e9
    if kind == "service":
        service.process.kill(); service.process.wait(); service.start()
        lives.append(now())
    elif kind == "frozen":
        service.process.send_signal(19); time.sleep(1); service.process.send_signal(18)
    elif kind == "cycle":
        for i in range(100):
            p = cycling[0]
            if p: time.sleep(chance.random() / 3); p.kill(); break
            time.sleep(0.05)
    elif kind == "web":
        web_mode[0] = chance.choice(["errors", "cut", "silence"]); time.sleep(3); web_mode[0] = "well"
    elif kind == "disk" and small_disk:
        with open("ballast", "wb", buffering=0) as f:
            try:
                while True: f.write(b"\0" * 65536)
            except OSError: pass
            try:
                while True: f.write(b"\0" * 512)
            except OSError: pass
        time.sleep(2); os.unlink("ballast")
    trouble[0] = time.monotonic() + 1.5             # what is late because of it has no time to be compared


def size(folder):
    """Bytes of the disk: without the log of the tables, and that."""
    total = log = 0
    for top, _, files in os.walk(folder):
        for f in files:
            try: n = os.stat(os.path.join(top, f)).st_blocks * 512
            except OSError: continue
            if f.endswith("-wal"): log += n
            else: total += n
    return total, log


def sample(service):
    try:
        status = open("/proc/%d/status" % service.process.pid).read()
        memory = int(status.split("VmRSS:")[1].split()[0])
        files = len(os.listdir("/proc/%d/fd" % service.process.pid))
    except (OSError, IndexError): return
    served, log = size("served")
    samples.append({"t": round(now(), 1), "memory_kib": memory, "descriptors": files, "served_bytes": served, "served_log": log, "crawled_bytes": sum(size("crawled")),
                    "told": told[0], "cycles": counts.get("cycles", 0), "quiet": quiet()})


def prepare(url):
    with open("urls", "w") as f: f.writelines("http://h%d.example/d%d/p%d\n" % (i // 500, i % 10, i) for i in range(o.pages))
    with open("own", "w") as f: f.writelines("%s/%d\n" % (url, i) for i in range(200))
    for folder, urls, settings in (("served", "urls", {"budget": "20%" if o.pages > 1000 else "50%", "delay": "0s"}),
                                   ("crawled", "own", {"contact": "a@example.org", "delay": "0s", "allow-net": "127.0.0.0/8"})):
        for command in [["init", folder], ["-C", folder, "import", urls]] + [["-C", folder, "set", k, v] for k, v in settings.items()]:
            r = run(*command)
            assert r.returncode == 0, r


def quarters(values):
    """Of (time, number): those of each quarter of the time."""
    out = [[], [], [], []]
    for t, v in values: out[min(3, int(4 * t / end))].append(v)
    return out


def middle(v): return sorted(v)[len(v) // 2] if v else 0
def high(v): return sorted(v)[int(len(v) * .99)] if v else 0


def judge():
    base = 1 if o.calm else 2
    m = [max(v, default=0) for v in quarters([(s["t"], s["memory_kib"]) for s in samples])]
    d = [max(v, default=0) for v in quarters([(s["t"], s["descriptors"]) for s in samples if s["quiet"]])]
    r = {"memory_kib": m, "descriptors": d}
    if m[3] > 1.1 * m[base] + 4096: bad("memory grows:", m)
    if d[3] > d[base] + 16: bad("descriptors grow:", d)
    given = [middle(v) for v in quarters(delays)]
    r["probe_ms"] = [round(1000 * v, 2) for v in given]
    slower = max(1, given[3] / given[base]) if given[base] else 1
    for kind in ("lease", "tell", "read"):
        q = quarters([(t, s) for t, k, s in times if k == kind])
        r[kind + "_ms"] = [{"median": round(1000 * middle(v), 2), "p99": round(1000 * high(v), 2), "n": len(v)} for v in q]
        if o.seconds >= 300 and middle(q[3]) > 1.5 * slower * middle(q[base]) + .005: bad(kind, "gets slower:", r[kind + "_ms"])
    grow = []
    for k in range(4):
        part = [s for s in samples if end * k / 4 <= s["t"] <= end * (k + 1) / 4]
        grow.append(round((part[-1]["served_bytes"] - part[0]["served_bytes"]) / max(1, part[-1]["told"] - part[0]["told"])) if len(part) > 1 else 0)
    r["served_bytes_a_visit"] = grow
    if o.seconds >= 300 and grow[3] > 1.25 * grow[base] + 20: bad("disk: bytes a visit", grow)
    r["served_log_mb"] = [max(v, default=0) >> 20 for v in quarters([(s["t"], s["served_log"]) for s in samples])]
    if max(r["served_log_mb"]) > 1.1 * 768: bad("the log of the tables grows, MB:", r["served_log_mb"])
    r["crawled_bytes"] = [max(v, default=0) for v in quarters([(s["t"], s["crawled_bytes"]) for s in samples])]
    if o.seconds >= 300 and r["crawled_bytes"][3] > 1.25 * r["crawled_bytes"][base] + (4 << 20): bad("disk of the crawl grows though it is pruned:", r["crawled_bytes"])
    return r


def whole():
    for folder in ("served", "crawled"):
        r = run("-C", folder, "check", "--json")
        if r.returncode: bad("check of", folder, r.returncode, r.stdout[:600])
    db = sqlite3.connect("served/freshet.db")
    n, = db.execute("SELECT count(*) FROM visits").fetchone()
    twice, = db.execute("SELECT count(*) FROM (SELECT 1 FROM visits GROUP BY cycle, page HAVING count(*) > 1)").fetchone()
    db.close()
    if n != told[0]: bad("told", told[0], "and stored", n)
    if twice: bad(twice, "pages have two visits of one cycle")
    return n


begin = time.monotonic()
small_disk = os.statvfs(".").f_frsize * os.statvfs(".").f_blocks < 4 << 30
told, ended, cycling, counts, failed, lives = [0], [0], [None], {}, [], []
web = Webs(("127.0.0.1", 0), Web)
threading.Thread(target=web.serve_forever, daemon=True).start()
prepare("http://127.0.0.1:%d" % web.server_port)
service = Service()
begin = time.monotonic()


def guarded(f, *args):
    def body():
        try: f(*args)
        except Exception as e: bad(f.__name__, "ended:", repr(e)); stop.set()
    t = threading.Thread(target=body, daemon=True); t.start(); return t


threads = [guarded(client, service), guarded(rude, service), guarded(crawl), guarded(probe)]
due = 3.0
while (now() < o.seconds or ended[0] < o.cycles) and not stop.is_set():
    sample(service)
    if not o.calm and now() > due and now() < o.seconds:
        fault(service)
        due = now() + chance.expovariate(1 / max(1.0, min(30.0, o.seconds / 60)))
    time.sleep(min(1.0, max(0.05, o.seconds / 600)))
end = now()
stop.set()
for t in threads: t.join(120)
service.process.terminate()
rc = service.process.wait(60)
if rc: bad("the service ended with", rc, open("served.err").read()[-300:])
figures = judge()
report = {"format": "freshet.soak/1", "seconds": round(end), "seed": o.seed, "pages": o.pages, "small_disk": small_disk, "faults": faults, "lives": lives,
          "cycles_served": ended[0], "cycles_crawled": counts.get("cycles", 0), "told": told[0], "visits": whole(), "answers": statuses, "slowest_s": slowest,
          "cycles_failed_in_quiet": failed[:50], **figures, "wrong": wrong}
json.dump({**report, "samples": samples[::max(1, len(samples) // 500)]}, open(o.report + ".json", "w"), indent=1)
text = ["soak: %d s, seed %d, %s" % (end, o.seed, "calm" if o.calm else "faults: " + ", ".join("%s %d" % f for f in sorted(faults.items()))),
        "served: %d cycles, %d outcomes told, %d visits stored; crawled: %d cycles, %d of them failed without a fault" % (ended[0], told[0], report["visits"], report["cycles_crawled"], len(failed)),
        "by quarter of the time:"]
text += ["  %-22s %s" % (k, "  ".join(map(str, figures[k]))) for k in ("memory_kib", "descriptors", "served_bytes_a_visit", "served_log_mb", "crawled_bytes", "probe_ms")]
text += ["  %-22s %s" % (k, "  ".join("%g / %g" % (q["median"], q["p99"]) for q in figures[k])) for k in ("lease_ms", "tell_ms", "read_ms")]
text += ["slowest, by the clock and of processors: " + ", ".join("%s %g s, %g s" % (k, *v) for k, v in sorted(slowest.items()))]
text += ["answers: " + ", ".join("%s %d" % s for s in sorted(statuses.items()))] + ["WRONG " + w for w in wrong] + ["passed" if not wrong else "failed"]
open(o.report + ".txt", "w").write("\n".join(text) + "\n")
print("\n".join(text))
sys.exit(bool(wrong))
