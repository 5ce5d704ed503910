#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything that `freshet serve` can do, at the same time: leases, outcomes, settings, listeners, replays, webhooks,
# reads, cycles of its own; and it is asked to end in the middle of that.  (`make check-threads` looks for races in it.)
. "$SRC/tests/lib/e2e.sh"
. "$SRC/tests/lib/service.sh"
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY || true

"$f" init crawl 2>/dev/null
for i in $(seq 240); do echo "http://h$((i % 6)).example/d$((i % 4))/p$i"; done >urls
"$f" -C crawl import urls >/dev/null
for s in "delay 0s" "budget 50%" "allow-net 127.0.0.0/8"; do "$f" -C crawl set ${s%% *} "${s#* }"; done
cat >crowd.py <<'PY'
import http.client, http.server, json, os, signal, sys, threading, time, urllib.parse
at, service, seconds = urllib.parse.urlsplit(sys.argv[1]).netloc, int(sys.argv[2]), float(sys.argv[3])
ending, wrong, done, lock, leased = threading.Event(), [], {}, threading.Lock(), set()
def ask(method, path, body=None, may=(200,), **headers):
    c = http.client.HTTPConnection(at, timeout=300)
    c.request(method, path, body if body is None or isinstance(body, str) else json.dumps(body), {k.replace("_", "-"): v for k, v in headers.items()})
    r = c.getresponse()
    text = r.read()
    if r.status not in may: wrong.append((method, path, r.status, text[:200]))
    c.close()
    return r.status, text
def again(name, what):          # until the service ends, and at least once
    def loop():
        n = 0
        while not ending.is_set():
            try: what(n)
            except (OSError, http.client.HTTPException):
                if not ending.is_set(): wrong.append((name, repr(sys.exc_info()[1])))
                return
            n += 1
            done[name] = n
    return threading.Thread(target=loop, name=name, daemon=True)
def crawler(name):
    def step(n):
        status, text = ask("POST", "/v1/lease", {"count": 3, "client": name}, (200, 409))
        if status == 409: time.sleep(0.02); return
        a = json.loads(text)
        if a["done"]: ask("POST", "/v1/lease/end", "", (200, 409)); return
        if not a["offers"]: time.sleep(0.01); return
        with lock:
            if any(o["lease"] in leased for o in a["offers"] if not o.get("again")): wrong.append(("leased twice", a))
            leased.update(o["lease"] for o in a["offers"])
        ask("POST", "/v1/tell?client=" + name, "\n".join(json.dumps({"lease": o["lease"], "status": 200, "digest": "sha1:%d" % (n % 3)}) for o in a["offers"]), Idempotency_Key="%s-%d" % (name, n))
    return again(name, step)
def reads(n):
    for path in ("/v1/status", "/v1/now", "/v1/pages?limit=20", "/v1/pages/%d/explain" % (n % 240), "/v1/pages/%d/history" % (n % 240), "/v1/sites", "/v1/cycles", "/v1/changes?limit=20", "/metrics", "/v1/plan?budget=3", "/readyz"):
        ask("GET", path, may=(200, 503))
def settings(n):
    ask("PUT", "/v1/settings", {"key": "max-age", "value": "%dd" % (30 + n % 9)})
    ask("GET", "/v1/settings")
    if n % 4 == 0: ask("POST", "/v1/pages", {"urls": ["http://new%d.example/" % n]})
    if n % 4 == 1: ask("POST", "/v1/pages/touched", {"urls": ["http://h1.example/d1/p1"], "notifier": "n"}, (200, 400))
    time.sleep(0.02)
def listeners(n):
    c = http.client.HTTPConnection(at, timeout=300)
    c.request("GET", "/v1/changes?since=0" if n % 2 else "/v1/events", headers={"Accept": "text/event-stream"})
    r = c.getresponse()
    if r.status == 200:
        for _ in range(5):
            if not r.readline(): break
    r.close(); c.close()
def replays(n):
    status, text = ask("POST", "/v1/replays", {"policies": ["random"], "seeds": 1, "cycle": "1d"}, (200, 202, 409))
    ask("GET", "/v1/replays")
    if status in (200, 202) and n % 2: ask("DELETE", "/v1/replays/%s" % json.loads(text)["id"], may=(200, 202, 404, 409))
    time.sleep(0.1)
def cycles(n):                  # of our own: mostly refused, for the crawlers have one open
    ask("POST", "/v1/cycles", {"budget": "1"}, (200, 202, 409))
    ask("DELETE", "/v1/cycles/current", may=(200, 202, 409))
    time.sleep(0.3)
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200 if done.setdefault("received", 0) % 5 else 503); done["received"] += 1
        self.send_header("Content-Length", "0"); self.end_headers()
    def log_message(self, *a): pass
class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    def handle_error(self, *a): pass
server = Server(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
def webhooks(n):
    status, text = ask("POST", "/v1/webhooks", {"url": "http://127.0.0.1:%d/%d" % (server.server_port, n)}, (200, 201))
    time.sleep(0.3)
    ask("GET", "/v1/webhooks")
    id = json.loads(text)["id"]
    if n % 3: ask("POST", "/v1/webhooks/" + id, "")
    ask("DELETE", "/v1/webhooks/" + id)
threads = [crawler("c%d" % i) for i in range(4)] + [again(w.__name__, w) for w in (reads, settings, listeners, replays, cycles, webhooks)]
ask("POST", "/v1/webhooks", {"url": "http://127.0.0.1:%d/stays" % server.server_port}, (201,))
for t in threads: t.start()
end = time.monotonic() + 300
begun = time.monotonic()
while not wrong and time.monotonic() < end and (time.monotonic() < begun + seconds or len(done) < len(threads)): time.sleep(0.1)
ending.set()                    # from here on connections may break
os.kill(service, signal.SIGTERM)
for t in threads: t.join(120)
assert not any(t.is_alive() for t in threads), "a request hangs"
assert not wrong, wrong[:3]
assert len(done) >= len(threads), done
print(done)
open("told", "w").write(str(len(leased)))
PY
"$f" -C crawl set policy tide
start_service crawl --rate 0 --ahead 1 --every 12h
python3 crowd.py "$api" $service "${CROWD_SECONDS:-2}" >out 2>err || fail "crowd.py: $(cat served.err)"
rc=0; wait $service || rc=$?
[ $rc = 0 ] || fail "serve ended with $rc: $(cat served.err)"
! grep -q -i sanitizer served.err || fail "$(cat served.err)"
"$f" -C crawl check >out 2>err || fail "check"
"$f" -C crawl export visits -o visits.jsonl 2>/dev/null
# A crawler ends the cycle while others hold leases: their answers are late, and count in the next cycle.
python3 - <<'PY' || fail "an outcome was counted twice"
import ast, json
visits = [v for v in map(json.loads, open("visits.jsonl")) if v["outcome"] in ("new", "same", "changed")]
told = ast.literal_eval(open("told").read())
assert 0 < len(visits) <= told, (len(visits), told)
PY
