#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# Webhooks over a fleet: any of its services makes them, one at a time delivers, and the next goes on where
# it was; who was frozen delivers nothing again; a split of shards stops them.
. "$SRC/tests/lib/e2e.sh"
. "$SRC/tests/lib/fleet.sh"
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY || true

expect 0 $f init r --store "$u" --shards 3
for s in "every 1h" "budget 100%" "delay 0" "allow-net 127.0.0.0/8"; do expect 0 $f -C r set $s; done
for h in $(seq 9); do for p in 1 2 3 4; do echo "http://h$h.example/p$p"; done; done > urls
expect 0 $f -C r import urls

cat > hooks.py <<'PY'
import hashlib, hmac, http.client, http.server, json, os, signal, subprocess, sys, threading, time, urllib.parse
freshet, psql = sys.argv[1], sys.argv[2:]
def sql(text): return subprocess.run(psql + [text], check=True, capture_output=True, text=True).stdout.strip()
running = {}                    # API: process
def start(*options):
    p = subprocess.Popen([freshet, "-C", "r", "serve", "--listen", "127.0.0.1:0", *options], stdout=subprocess.PIPE, text=True)
    api = p.stdout.readline().split()[1]
    running[api] = p
    return api
def ask(api, method, path, body=None):
    c = http.client.HTTPConnection(urllib.parse.urlsplit(api).netloc, timeout=120)
    c.request(method, path, body if body is None or isinstance(body, str) else json.dumps(body))
    r = c.getresponse()
    return r.status, json.loads(r.read())
def ok(*a):
    status, doc = ask(*a)
    assert status in (200, 201), (a, status, doc)
    return doc
def wait(what):
    end = time.time() + 120
    while time.time() < end:
        try: result = what()
        except StopIteration: result = None
        if result: return result
        time.sleep(0.05)
    raise AssertionError("waited in vain: %s" % [ok(api, "GET", "/v1/webhooks") for api in running])
secret, got, answer = None, [], [200]
held = threading.Semaphore(0), threading.Event()        # a batch has come; it may be answered
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body, stamp = self.rfile.read(int(self.headers["Content-Length"])), self.headers["Freshet-Timestamp"]
        if answer[0] == "held":
            held[0].release()
            held[1].wait(60)
            self.send_response(200)
            return self.end_headers()
        good = hmac.new(secret.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest() == self.headers["Freshet-Signature"]
        if answer[0] == 200: got.extend((c["url"], good) for c in json.loads(body)["changes"])
        self.send_response(answer[0])
        self.end_headers()
    def log_message(self, *a): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
told = []
def crawl(n):
    offers = wait(lambda: ok(crawls, "POST", "/v1/lease", {"count": n, "client": "c"})["offers"])
    ok(crawls, "POST", "/v1/tell", "\n".join(json.dumps({"lease": o["lease"], "outcome": "changed"}) for o in offers))
    told.extend(o["url"] for o in offers)
def once():                     # all that was told, each once, signed
    wait(lambda: len(got) >= len(told))
    assert sorted(got) == sorted((u, True) for u in told), (got, told)
def hook(api): return next(iter(ok(api, "GET", "/v1/webhooks")["webhooks"]))

# made at a service that crawls nothing, it is known to all
plain = start()
for body in ({"url": "http://127.1/x", "since": "1.1.1"}, {"url": "http://127.0.0.1:%d/" % server.server_port, "since": "2.77.1-1"}):
    assert ask(plain, "POST", "/v1/webhooks", body)[0] in (400, 410), body
h = ok(plain, "POST", "/v1/webhooks", {"url": "http://127.0.0.1:%d/" % server.server_port, "tries": 2})
secret = h["secret"]
wait(lambda: sql("select value from states where key = 'webhooks.sender'"))
crawls = start("--take", "3")
assert hook(crawls)["id"] == h["id"] and "secret" not in hook(crawls)
crawl(7)
once()
wait(lambda: hook(plain)["delivered"] == 7 and ok(crawls, "GET", "/v1/changes?since=" + hook(crawls)["cursor"])["changes"] == [])
assert hook(crawls)["delivered"] == 0
# it is frozen with a batch under way, for longer than it believes that it is its turn; another goes on.
# When it thaws it delivers nothing, and that its batch was taken moves no cursor back
answer[0] = "held"
crawl(5)
assert held[0].acquire(timeout=60)
os.kill(running[plain].pid, signal.SIGSTOP)
thaw, answer[0] = time.time() + 6, 200
sql("delete from states where key = 'webhooks.sender'")
once()
crawl(2)
once()
wait(lambda: hook(crawls)["delivered"] == 7)
cursor = hook(crawls)["cursor"]
time.sleep(max(0, thaw - time.time()))
os.kill(running[plain].pid, signal.SIGCONT)
wait(lambda: hook(plain)["cursor"] == cursor)
held[1].set()
time.sleep(1)
assert hook(plain)["cursor"] == hook(crawls)["cursor"] == cursor
once()
crawl(3)
once()
wait(lambda: hook(crawls)["delivered"] == 10)
assert hook(plain)["delivered"] == 7
# the receiver fails, it stops, and is told elsewhere to go on
answer[0] = 500
crawl(2)
wait(lambda: hook(crawls)["state"] == hook(plain)["state"] == "stopped")
answer[0] = 200
assert ok(plain, "POST", "/v1/webhooks/" + h["id"])["fails"] == 0
once()
# the one whose turn it is ends: another has it at once
running[crawls].terminate()
assert running.pop(crawls).wait(60) == 0
crawls = start("--take", "3")
crawl(4)
once()
# after a split the cursor is of no use, and that is said
sql("update fleet set epoch = epoch + 1")
crawl(1)
assert "shards" in wait(lambda: hook(crawls)["state"] == "stopped" and hook(crawls)["why"])
assert ok(crawls, "DELETE", "/v1/webhooks/" + h["id"])["removed"] and ok(crawls, "GET", "/v1/webhooks")["webhooks"] == []
wait(lambda: ok(plain, "GET", "/v1/webhooks")["webhooks"] == [])
assert sql("select count(*) from states where key = 'webhooks'") == "0"
PY
cat > run.py <<'PY'
import subprocess, sys
try: exec(open("hooks.py").read())
finally:
    for p in running.values(): p.kill()
PY
PGOPTIONS="-c search_path=$schema" python3 run.py "$f" "$psql" -qAt "$FRESHET_TEST_PG" -c || fail "webhooks over a fleet"
