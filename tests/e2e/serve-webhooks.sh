#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Webhooks of `freshet serve`: signed batches, none missed, whatever the receiver does and whoever
# is killed; addresses that are not public are refused; one receiver does not hold up another.
. "$SRC/tests/lib/e2e.sh"
. "$SRC/tests/lib/service.sh"
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY || true

"$f" init crawl 2>/dev/null
for i in $(seq 300); do echo "http://h$((i % 6)).example/p$i"; done >urls
"$f" -C crawl import urls >/dev/null
for s in "delay 0s" "budget 300" "policy random"; do "$f" -C crawl set ${s%% *} "${s#* }"; done

# ---- without allow-net: nothing of this machine ----
cat >lib.py <<'PY'
import hashlib, hmac, http.client, http.server, json, os, signal, subprocess, sys, threading, time, urllib.parse
api, freshet, service = sys.argv[1], sys.argv[2], int(sys.argv[3])
def ask(method, path, body=None):
    c = http.client.HTTPConnection(urllib.parse.urlsplit(api).netloc, timeout=120)
    c.request(method, path, body if body is None or isinstance(body, str) else json.dumps(body))
    r = c.getresponse()
    return r.status, json.loads(r.read())
def ok(*a):
    status, doc = ask(*a)
    assert status in (200, 201), (a, status, doc)
    return doc
def hook(id): return next(h for h in ok("GET", "/v1/webhooks")["webhooks"] if h["id"] == id)
def wait(what):
    end = time.time() + 120
    while time.time() < end:
        if what(): return
        time.sleep(0.02)
    raise SystemExit("waited in vain: %s" % ok("GET", "/v1/webhooks"))
told = set()
def crawl(n):                   # n pages are found new; their URLs
    offers = []
    while len(offers) < n: offers += ok("POST", "/v1/lease", {"count": n - len(offers), "client": "c%d" % time.time_ns()})["offers"]
    lines = "\n".join(json.dumps({"lease": o["lease"], "status": 200, "digest": "sha1:1"}) for o in offers)
    assert ok("POST", "/v1/tell", lines)["new"] == n
    told.update(o["url"] for o in offers)
    return {o["url"] for o in offers}
PY
cat >refused.py <<'PY'
from lib import *
for url in ("http://127.0.0.1:8000/", "http://127.1/", "http://10.0.0.1/", "http://[::1]/", "http://[::ffff:192.168.0.1]/", "http://169.254.169.254/latest", "http://2130706433/",
            "file:///etc/passwd", "gopher://x.example/", "http://a:b@x.example/", "http://x.example:25/", "nonsense", "http://x.example/" + "a" * 3000, "http://x.example/\r\nX: y"):
    got = ask("POST", "/v1/webhooks", {"url": url})
    assert got[0] == 400 and "url" in got[1]["detail"], (url, got)
for body in ({}, {"url": 1}, {"url": "http://x.example/", "tries": 0}, {"url": "http://x.example/", "since": "nonsense"}, {"url": "http://x.example/", "secret": "x"}, "[]"):
    assert ask("POST", "/v1/webhooks", body)[0] == 400, body
assert ok("GET", "/v1/webhooks")["webhooks"] == []
# a name is judged by what it resolves to, when it is connected to
listener = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
listener.timeout = 0
came = []
listener.process_request = lambda *a: came.append(a)
h = ok("POST", "/v1/webhooks", {"url": "http://localhost:%d/" % listener.server_port, "tries": 1})
crawl(1)
wait(lambda: hook(h["id"])["state"] == "stopped")
assert "loopback" in hook(h["id"])["why"] and "allow-net" in hook(h["id"])["why"], hook(h["id"])
listener.handle_request()
assert not came, "it was connected to"
ok("DELETE", "/v1/webhooks/" + h["id"])
for path in (h["id"], "1", "x", "0" * 17): assert ask("DELETE", "/v1/webhooks/" + path)[0] == 404, path
# no more than there may be
ids = [ok("POST", "/v1/webhooks", {"url": "http://x.example/%d" % i})["id"] for i in range(32)]
assert ask("POST", "/v1/webhooks", {"url": "http://x.example/"})[0] == 409
for i in ids: ok("DELETE", "/v1/webhooks/" + i)
PY
start_service crawl
python3 refused.py "$api" "$f" $service || fail "refused.py: $(cat served.err)"
stop_service

# ---- a name server that says another address each time ----
cat >names.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
	int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
	char address[64] = "";
	FILE *f;

	*(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
	if (node && !strcmp(node, "moves.example") && (f = fopen(getenv("ANSWER"), "r"))) {
		if (fgets(address, sizeof address, f))
			node = address;
		fclose(f);
	}
	return real(node, service, hints, ret);
}
C
${CC:-cc} -shared -fPIC -o names.so names.c -ldl || fail "the library"
cat >moves.py <<'PY'
from lib import *
came = {"127.0.0.2": [], "127.0.0.3": []}
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        came[self.server.server_address[0]].append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()
    def log_message(self, *a): pass
def answer(address):
    open("answer.new", "w").write(address)
    os.rename("answer.new", "answer")
ours = http.server.ThreadingHTTPServer(("127.0.0.2", 0), Receiver)
theirs = http.server.ThreadingHTTPServer(("127.0.0.3", ours.server_port), Receiver)
for s in (ours, theirs): threading.Thread(target=s.serve_forever, daemon=True).start()
answer("127.0.0.2")
h = ok("POST", "/v1/webhooks", {"url": "http://moves.example:%d/" % ours.server_port, "tries": 1})
crawl(1)
wait(lambda: hook(h["id"])["delivered"] == 1)
answer("127.0.0.3")
crawl(1)
wait(lambda: hook(h["id"])["state"] == "stopped")
assert "127.0.0.3: loopback" in hook(h["id"])["why"], hook(h["id"])
answer("127.0.0.2")
ok("POST", "/v1/webhooks/" + h["id"])
wait(lambda: hook(h["id"])["delivered"] == 2)
assert len(came["127.0.0.2"]) == 2 and not came["127.0.0.3"], came
ok("DELETE", "/v1/webhooks/" + h["id"])
PY
export ANSWER=$TMP/answer
LD_PRELOAD=$TMP/names.so ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 start_service crawl --allow-net 127.0.0.2/32
python3 moves.py "$api" "$f" $service || fail "moves.py: $(cat served.err)"
stop_service

# ---- receivers that fail, hang, redirect, lie, and one that is well ----
cat >receivers.py <<'PY'
from lib import *
lock, got, secrets, answers = threading.Lock(), {}, {}, {}
release = threading.Event()
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        name, body = self.path.strip("/"), self.rfile.read(int(self.headers["Content-Length"]))
        stamp = self.headers["Freshet-Timestamp"]
        want = hmac.new(secrets[self.headers["Freshet-Webhook"]].encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        doc = json.loads(body)
        assert doc["schema"] == "freshet.webhook/1" and doc["webhook"] == self.headers["Freshet-Webhook"]
        with lock:
            mine = got.setdefault(name, [])
            answer = answers.get(name, {}).get(len(mine), answers.get(name, {}).get("else", 200))
            mine.append(([c["url"] for c in doc["changes"]], answer, want == self.headers["Freshet-Signature"] and abs(time.time() - int(stamp)) < 120))
        if answer == "hang": release.wait(100)
        elif answer == "drop": pass
        elif answer == "endless":
            self.send_response(200); self.end_headers()
            try:
                while True: self.wfile.write(b"x" * 65536)
            except OSError: pass
        else:
            self.send_response(answer)
            if answer == 302: self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()
    def log_message(self, *a): pass
class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    def handle_error(self, *a): pass
server = Server(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
def add(name, **more):
    h = ok("POST", "/v1/webhooks", {"url": "http://127.0.0.1:%d/%s" % (server.server_port, name), **more})
    secrets[h["id"]] = h["secret"]
    assert len(h["secret"]) == 64
    return h["id"]
def taken(name): return [u for urls, answer, _ in got.get(name, []) if answer == 200 for u in urls]
answers.update(flaky={0: 500, 1: "drop", 2: 302, "else": 200}, hang={"else": "hang"}, moved={"else": 302}, endless={0: "endless", "else": 200}, dead={"else": 503})
ids = {name: add(name, **({"tries": 2} if name in ("moved", "dead") else {})) for name in ("well", "flaky", "hang", "moved", "endless", "dead")}
assert "secret" not in json.dumps(ok("GET", "/v1/webhooks")), "the secret is shown once"
first = crawl(150)              # more than a batch
wait(lambda: len(taken("well")) == 150 and got.get("hang"))      # the one that hangs holds up nobody
second = crawl(50)              # nor leases
wait(lambda: len(taken("well")) == 200)
for name in "flaky", "endless": ok("POST", "/v1/webhooks/" + ids[name])        # now, rather than later
wait(lambda: set(taken("flaky")) == first | second and set(taken("endless")) == first | second)
wait(lambda: hook(ids["moved"])["state"] == hook(ids["dead"])["state"] == "stopped")
for name in "well", "flaky": assert sorted(taken(name)) == sorted(first | second), name        # each once
assert all(len(urls) <= 100 for name in got for urls, _, _ in got[name])
assert all(genuine for name in got for _, _, genuine in got[name]), "a signature"
assert "elsewhere" not in got, "a redirect was followed"
h = hook(ids["moved"])
assert h["fails"] == 2 and "redirects" in h["why"] and h["next_try"] is None and len(got["moved"]) == 2, h
assert hook(ids["dead"])["why"] == "status 503", ok("GET", "/v1/webhooks")
wait(lambda: hook(ids["well"])["delivered"] == 200)
assert hook(ids["well"])["why"] is None and hook(ids["well"])["cursor"] == ok("GET", "/v1/changes?since=now")["next"]
# stopped, it has missed nothing: told to try again, it gets all
answers["dead"] = {"else": 200}
ok("POST", "/v1/webhooks/" + ids["dead"])
wait(lambda: sorted(taken("dead")) == sorted(first | second))
for name in ids: ok("DELETE", "/v1/webhooks/" + ids[name])     # also the one that hangs
assert ok("GET", "/v1/webhooks")["webhooks"] == []
release.set()
PY
"$f" -C crawl set allow-net 127.0.0.0/8
start_service crawl
python3 receivers.py "$api" "$f" $service || fail "receivers.py: $(cat served.err)"

# ---- killed between delivery and cursor: again, never missed; what docs/service.md shows ----
sed -n '/^```python$/,/^```$/p' "$SRC/docs/service.md" | awk '/^```python/ { n++ } n == 2 && !/^```/' >shown.py
grep -q hmac shown.py || fail "docs/service.md has no receiver"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
sed -i "s/8391/$port/" shown.py
cat >killed.py <<'PY'
from lib import *
import socket
mine = socket.create_server(("127.0.0.1", int(sys.argv[4])))
h = ok("POST", "/v1/webhooks", {"url": "http://localhost:%s/" % sys.argv[4]})
open("secret", "w").write(h["secret"])
open("told", "w").write("\n".join(crawl(40)) + "\n")
mine.settimeout(120)
c, _ = mine.accept()            # all of it has come, nothing was answered
text = b""
while b"\r\n\r\n" not in text: text += c.recv(65536)
head, _, body = text.partition(b"\r\n\r\n")
size = int(next(l.split(b":")[1] for l in head.split(b"\r\n") if l.lower().startswith(b"content-length")))
while len(body) < size: body += c.recv(65536)
if sys.argv[5] == "answered": c.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
os.kill(service, signal.SIGKILL)
open("seen", "w").write("".join(x["url"] + "\n" for x in json.loads(body)["changes"]))
PY
for way in silent answered; do
	python3 killed.py "$api" "$f" $service $port $way || fail "killed.py: $(cat served.err)"
	wait $service 2>/dev/null || :
	rm -f shown.out
	SECRET=$(cat secret) python3 shown.py >shown.out 2>shown.err & receiver=$!
	trap 'kill -9 ${service:-} $receiver 2>/dev/null || :' EXIT
	for i in $(seq 500); do (echo >/dev/tcp/127.0.0.1/$port) 2>/dev/null && break; sleep 0.02; done
	start_service crawl
	for i in $(seq 2000); do
		curl -fsS "$api/v1/webhooks" >hooks.json
		here=$(python3 -c 'import json; print(json.load(open("hooks.json"))["webhooks"][0]["cursor"])')
		[ "$here" = "$(curl -fsS "$api/v1/changes?since=now" | python3 -c 'import json,sys; print(json.load(sys.stdin)["next"])')" ] && break
		sleep 0.05
	done
	awk '{ print $1 }' shown.out >again
	sort told >want
	sort -u seen again | cmp - want || fail "$way: $(wc -l <want) changes, came: $(sort -u seen again | wc -l); $(cat hooks.json shown.err)"
	[ -z "$(cat seen again | sort | uniq -c | awk '$1 > 2')" ] || fail "$way: a change came more than twice"
	[ "$(sort again | uniq -d)" = "" ] || fail "$way: twice without a reason"
	[ $way = answered ] || cmp <(sort again) want || fail "what was not answered did not come again"
	# the receiver refuses what we did not sign
	[ "$(curl -s -o /dev/null -w '%{http_code}' -H "Freshet-Timestamp: $(date +%s)" -H "Freshet-Signature: $(printf '%064d' 0)" -d '{"changes":[]}' http://localhost:$port/)" = 403 ] || fail "it takes a false signature"
	curl -fsS -X DELETE "$api/v1/webhooks/$(python3 -c 'import json; print(json.load(open("hooks.json"))["webhooks"][0]["id"])')" >/dev/null
	kill $receiver; wait $receiver 2>/dev/null || :
done
stop_service
