#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who is let in by `freshet serve`, and who is not: tokens, sessions, other sites, names of
# others, two lengths of a body, slow and huge requests, many idle connections, TLS.
. "$SRC/tests/lib/e2e.sh"
. "$SRC/tests/lib/service.sh"
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY || true

"$f" init crawl 2>/dev/null
echo http://a.example/ >urls
"$f" -C crawl import urls >/dev/null

# other addresses want a token and TLS, and it is said what to do
expect 2 "$f" -C crawl serve --listen 0.0.0.0:0
grep -q 'freshet token add.*--tls-cert' err || fail "$(cat err)"
expect 2 "$f" -C crawl serve --listen 127.0.0.1:0 --behind-proxy
expect 2 "$f" -C crawl serve --listen nonsense
expect 2 "$f" -C crawl serve --tls-cert x

cat >attack.py <<'PY'
import http.client, json, re, resource, socket, sys, time, urllib.parse
at = urllib.parse.urlsplit(sys.argv[1]).netloc
host, port = at.split(":")
def ask(method, path, body=None, **headers):
    c = http.client.HTTPConnection(at, timeout=60)
    c.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
    r = c.getresponse()
    return r.status, r.read().decode(), dict(r.getheaders())
def raw(text, wait=20):
    s = socket.create_connection((host, int(port)), timeout=wait)
    s.sendall(text)
    got = b""
    try:
        while True:
            more = s.recv(65536)
            if not more: break
            got += more
            if b"\r\n\r\n" in got: break
    except socket.timeout: pass
    s.close()
    return got
def raw_all(text):      # until it closes, or says no more
    s = socket.create_connection((host, int(port)), timeout=20)
    s.sendall(text)
    s.shutdown(socket.SHUT_WR)
    got = b""
    try:
        while more := s.recv(65536): got += more
    except OSError: pass
    s.close()
    return got
def is_(want, got, what):
    assert got[0] == want, (what, got)
def come_through(what):         # at most a moment later
    end = time.monotonic() + 60
    while True:
        try:
            if ask("GET", "/healthz")[0] == 200: return
        except OSError: pass
        assert time.monotonic() < end, what
        time.sleep(0.05)
PY
cat >open.py <<'PY'
from attack import *
# DNS rebinding: a name that is not ours
is_(421, ask("GET", "/v1/status", Host="evil.example"), "rebinding")
is_(421, ask("GET", "/", Host="evil.example:%s" % port), "rebinding")
for name in ("localhost:%s@evil.example" % port, "localhost:x", "localhost.", "[::1", "[::1]x", ".localhost", "localhost, evil.example", ""): is_(421, ask("GET", "/v1/settings", Host=name), name)
for name in ("localhost:%s" % port, "LOCALHOST", "127.0.0.1", "[::1]:%s" % port): is_(200, ask("GET", "/v1/settings", Host=name), name)
# pages of other sites
for h in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
    is_(403, ask("POST", "/v1/lease", "{}", **h), h)
    is_(403, ask("GET", "/v1/settings", **h), h)
is_(200, ask("POST", "/v1/lease", '{"count":1,"client":"x"}', Origin="http://" + at), "our own page")
assert "Access-Control-Allow-Origin" not in ask("GET", "/v1/settings")[2]
# what two servers would read differently
base = b"POST /v1/tell HTTP/1.1\r\nHost: %s\r\n" % at.encode()
for head in (b"Content-Length: 5\r\nContent-Length: 6\r\n", b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
             b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", b"Transfer-Encoding: xchunked\r\n",
             b"Content-Length: -5\r\n", b"Content-Length: 5x\r\n"):
    got = raw(base + head + b"\r\nhello\r\n0\r\n\r\n")
    assert not got or b" 400 " in got.split(b"\r\n")[0] or b" 413 " in got.split(b"\r\n")[0], (head, got)
for head in (b"GET /v1/settings HTTP/1.1\r\n\r\n", b"GET /v1/settings HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET v1 HTTP/1.1\r\nHost: a\r\n\r\n", b"\0\1\2\3\r\n\r\n"):
    got = raw(head, 5)
    assert not got or got.split(b" ")[1][:1] == b"4", (head, got)
for head, body in ((b"Content-Length : 5\r\n", b"hello"), (b" Content-Length: 5\r\n", b"hello"), (b"Transfer-Encoding : chunked\r\n", b"0\r\n\r\n"), (b"Content-Length: +5\r\n", b"hello"),
                   (b"Content-Length: 5, 5\r\n", b"hello"), (b"Content-Length: 0x5\r\n", b"hello"), (b"Transfer-Encoding: chunked, identity\r\n", b"0\r\n\r\n"),
                   (b"Transfer-Encoding: chunked\r\n", b"-1\r\n\r\n"), (b"Transfer-Encoding: chunked\r\n", b"ffffffffffffffffff\r\n"), (b"Transfer-Encoding: chunked\r\n", b"5 hello\r\n")):
    # whatever a proxy took for the body must never be a request of its own
    got = raw_all(base + head + b"\r\n" + body + b"GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n" % at.encode())
    assert set(re.findall(rb"HTTP/1.1 (\d+)", got)) <= {b"400", b"413"}, (head, body, got)
# a line that goes on with a blank, where it would matter; one that a proxy might end; chunks in HTTP/1.0
for head, body in ((b"Transfer-Encoding:\r\n chunked\r\n", b"0\r\n\r\n"), (b"Content-Length:\r\n 5\r\n", b"hello"), (b"Content-Length: 1\r\n 5\r\n", b"hello"), (b"X: y\r\n Content-Length: 5\r\n", b"hello"),
                   (b"X: y\r\nTransfer-Encoding:\r\n\tchunked\r\n", b"0\r\n\r\n"), (b"X: y\rContent-Length: 5\r\n", b"hello"), (b"X: \x0b\r\n", b"")):
    got = raw_all(base + head + b"\r\n" + body + b"GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n" % at.encode())
    assert set(re.findall(rb"HTTP/1.1 (\d+)", got)) <= {b"400"}, (head, got)
# bytes behind a NUL, where it ends a value, the target or the head for us; not so when they are in their place
for head in (b"X: y\0z\r\n", b"X: y\0\r\n", b"X:\0y\r\n", b"X: y\0z\nZ: 1\r\n", b"Host2: a\r\nX: y\r\n\0Content-Length: 5\r\n", b"X\0: y\r\n", b"Content-Length: 5\0\r\n", b"Transfer-Encoding: chunked\0x\r\n", b"X: y\r\n z\r\n", b"X: y\r\n\0\r\n"):
    for rest in (b"", b"Y: 1\r\n"):
        got = raw_all(b"GET /v1/settings HTTP/1.1\r\nHost: %s\r\n" % at.encode() + head + rest + b"\r\nhelloGET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n" % at.encode())
        assert re.findall(rb"HTTP/1.1 (\d+)", got) == [b"400"], (head, rest, got)
for line in (b"GET /v1/settings\0/../status HTTP/1.1", b"GET /v1/settings\0?q=1 HTTP/1.1", b"GET /v1/status?site=a\0b HTTP/1.1", b"GET\0 /v1/settings HTTP/1.1", b"GET /v1/settings HTTP/1.1\0"):
    got = raw(line + b"\r\nHost: %s\r\n\r\n" % at.encode())
    assert not got or got.split(b" ")[1] in (b"400", b"405", b"505"), (line, got)
for head in (b"X: y \t \r\n", b"X:\r\n", b"X:y\r\n", b"X:   y\n", b"X: y\r\nX: z\r\nCookie: a=b; c=d; e\r\n"):
    for rest in (b"\r\n", b"Y: 1\r\n\r\n", b"Y:\n\n"):
        for line in (b"GET /v1/settings HTTP/1.1\r\n", b"\r\nGET /v1/failing HTTP/1.1\r\n", b"GET /v1/pages?q=%61+b&limit=3 HTTP/1.1\n"):
            got = raw_all(line + b"Host: %s\r\n" % at.encode() + head + rest)
            assert re.findall(rb"HTTP/1.1 (\d+)", got) == [b"200"], (line, head, rest, got)
got = raw_all(b"POST /v1/tell HTTP/1.0\r\nHost: %s\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n" % (at.encode(), at.encode()))
assert re.findall(rb"HTTP/1.1 (\d+)", got) == [b"400"], got
# a body that is coded
for coding in ("gzip", "deflate", "br", "gzip, identity"): is_(415, ask("POST", "/v1/lease", "{}", Content_Encoding=coding), coding)
is_(200, ask("POST", "/v1/lease", '{"count":1,"client":"x"}', Content_Encoding="identity"), "as it is")
# files of the server are not for who comes by HTTP, whether they are there or not
for key in ("ca-file", "cookies", "credentials", "ca_file"):
    for path in ("/etc/passwd", "/no/such/file"):
        got = ask("PUT", "/v1/settings", json.dumps({"key": key, "value": path}))
        assert got[0] == 403 and "freshet set" in got[1], (key, got)
for path in ("/etc/passwd", "/no/such/file"):
    is_(400, ask("PUT", "/v1/settings", json.dumps({"key": "include", "value": "@" + path})), path)
# paths and parameters
for path in ("/v1/../etc/passwd", "/v1/pages/%00", "/v1/pages/%ff", "/v1/%2e%2e/x", "//v1/status", "/v1/pages?q=%", "/assets/..%2f..%2fetc%2fpasswd", "/v1/settings?store=x", "/v1/plan?include=@/etc/passwd", "/v1/pages?state=nonsense", "/v1/changes?since=now&last=3"):
    got = ask("GET", path)
    assert got[0] in (400, 404), (path, got)
# huge
is_(413, ask("POST", "/v1/lease", "x" * 70000), "body")
assert raw(b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 5)[:12] in (b"", b"HTTP/1.1 414", b"HTTP/1.1 431", b"HTTP/1.1 400"), "target"
got = raw(base + b"".join(b"X-%d: %s\r\n" % (i, b"y" * 100) for i in range(1000)) + b"\r\n", 5)
assert not got or got.split(b" ")[1] in (b"413", b"431", b"400"), got[:100]
is_(413, ask("POST", "/v1/tell", "{}\n" * 10001), "lines")
for body in ("[]", "{", '{"count":1,"count":2}', '{"count":"x"}', '{"count":0}', '{"count":1e9}', '{"nope":1}', '{"client":%s}' % json.dumps("c" * 9000), '{"hosts":[1]}', "[" * 60000, '"\\u0000"'):
    got = ask("POST", "/v1/lease", body)
    assert got[0] == 400, (body[:50], got)
# hostile text comes back as text
evil = '<script>alert(1)</script>"\'&\u202e'
s, text, h = ask("GET", "/v1/pages/" + urllib.parse.quote(evil, safe=""))
assert s == 404 and h["Content-Type"] == "application/problem+json" and h["X-Content-Type-Options"] == "nosniff"
# who asks for the head of a stream takes no place
for i in range(205): is_(200, ask("HEAD", "/v1/events"), "HEAD")
# a target with a host of its own: whose is it?
for target in (b"http://evil.example/v1/settings", b"http://%s/v1/settings" % at.encode(), b"//evil.example/v1/settings", b"evil.example:80", b"*"):
    for method in (b"GET", b"CONNECT", b"OPTIONS"):
        got = raw(method + b" " + target + b" HTTP/1.1\r\nHost: %s\r\n\r\n" % at.encode())
        assert got.split(b" ")[1] in (b"400", b"404", b"405"), (method, target, got)
# listeners without end: 50 of one address, 200 in all; the others are told so, and who only asks is heard
listeners = []
def listen(n, source):
    for i in range(n):
        c = http.client.HTTPConnection(at, timeout=60, source_address=(source, 0))
        c.request("GET", "/v1/events")
        listeners.append((c, c.getresponse()))
    return [r.status for c, r in listeners[-n:]]
assert listen(55, "127.0.0.1") == [200] * 50 + [429] * 5
for source in ("127.0.0.2", "127.0.0.3", "127.0.0.4"): assert listen(50, source) == [200] * 50, source
assert listen(5, "127.0.0.5") == [503] * 5
is_(200, ask("GET", "/v1/settings"), "beside listeners")
for c, r in listeners: r.close(); c.close()
# ten thousand idle connections, half of them amid a request, and others still come through
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
idle = []
for i in range(10000 if most == resource.RLIM_INFINITY else min(10000, most - 100)):
    idle.append(socket.create_connection((host, int(port)), timeout=60))
    try:
        if i % 2: idle[-1].sendall(b"GET /v1/sett")
    except OSError: pass    # it is closed again already
    if i % 1000 == 999: come_through("beside %d idle ones" % i)
for s in idle: s.close()
PY
cat >slow.py <<'PY'
from attack import *
# more than there may be, all busy: who comes is told so, and then it goes on
def listen():
    c = http.client.HTTPConnection(at, timeout=60)
    c.request("GET", "/v1/events")
    return c, c.getresponse()
streams, codes = [], []
for i in range(20):
    try: streams.append(listen()); codes.append(streams[-1][1].status)
    except OSError: codes.append(0)
assert codes[:10] == [200] * 10 and 503 in codes, codes
for c, r in streams: r.close(); c.close()
come_through("after listeners")
# a byte now and then is no request
slow = [socket.create_connection((host, int(port)), timeout=60) for i in range(5)]
begin, cut = time.monotonic(), set()
slow[0].sendall(b"GET /healthz HTTP/1.1\r\nHost: %s\r\nX: " % at.encode())
slow[1].sendall(b"POST /v1/lease HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000\r\n\r\n" % at.encode())
slow[2].sendall(b"POST /v1/tell HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n" % at.encode())
while len(cut) < 5 and time.monotonic() - begin < 60:
    time.sleep(0.1)
    for i, s in enumerate(slow):
        s.setblocking(False)
        try:
            if i < 3: s.send(b"x")
            if not s.recv(1000): cut.add(i)
        except BlockingIOError: pass
        except OSError: cut.add(i)
assert cut == {0, 1, 2, 3, 4}, cut
come_through("after slow ones")
PY
start_service crawl --rate 100000
PYTHONPATH=. python3 open.py "$api" || fail "open.py: $(cat served.err)"
stop_service
start_service crawl --connections 16 --timeout 2s --rate 100000
PYTHONPATH=. python3 slow.py "$api" || fail "slow.py: $(cat served.err)"
stop_service
start_service crawl --rate 2
python3 - "$api" <<'PY' || fail "no limit of the rate"
import sys, urllib.request, urllib.error
codes = []
for i in range(40):
    try: codes.append(urllib.request.urlopen(sys.argv[1] + "/v1/settings").status)
    except urllib.error.HTTPError as e: codes.append(e.code)
assert codes[0] == 200 and 429 in codes, codes
PY
stop_service
# a proxy's word is the last one, whether it adds to the header that came or adds a header
"$f" -C crawl token add proxied >proxied 2>/dev/null
start_service crawl --rate 1 --behind-proxy
python3 - "$api" "$(cat proxied)" <<'PY' || fail "clients of a proxy say who they are"
import http.client, sys, urllib.parse
def ask(*forwarded):
    c = http.client.HTTPConnection(urllib.parse.urlsplit(sys.argv[1]).netloc, timeout=60)
    c.putrequest("GET", "/healthz")
    for f in forwarded: c.putheader("X-Forwarded-For", f)
    c.endheaders()
    return c.getresponse().status
for form in (lambda i: ("10.0.0.%d" % i, "192.0.2.1"), lambda i: ("10.0.0.%d, 192.0.2.2" % i,)):
    codes = [ask(*form(i)) for i in range(200)]
    assert codes[0] == 200 and 429 in codes, codes
assert ask("192.0.2.1", "192.0.2.3") == 200
PY
stop_service
"$f" -C crawl token remove proxied

# ---- tokens ----
for right in read lease admin; do "$f" -C crawl token add "t-$right" --right $right >$right 2>/dev/null; done
expect 2 "$f" -C crawl token add t-read
expect 2 "$f" -C crawl token add 'a b'
"$f" -C crawl token list | grep -q 't-lease *lease' || fail "token list"
! grep -q -a -F "$(cat admin)" crawl/freshet.db* || fail "the store has the token itself"
cat >tokens.py <<'PY'
from attack import *
import subprocess
freshet = sys.argv[2]
t = {r: open(r).read().strip() for r in ("read", "lease", "admin")}
assert all(len(x) == 72 for x in t.values()) and len(set(t.values())) == 3
def as_(right, *a, **h): return ask(*a, Authorization="Bearer " + t.get(right, right), **h)
for path in ("/v1/status", "/v1/changes", "/v1/events", "/v1/now", "/metrics"):
    got = ask("GET", path)
    assert got[0] == 401 and "WWW-Authenticate" in got[2], (path, got)
is_(200, ask("GET", "/healthz"), "health needs none")
for wrong in ("x", t["read"][:-1] + ("0" if t["read"][-1] != "0" else "1"), t["read"] + "0", "", "freshet_"):
    is_(401, as_(wrong, "GET", "/v1/settings"), wrong)
is_(401, ask("GET", "/v1/settings", Authorization="Basic " + t["read"]), "not a bearer")
is_(401, ask("GET", "/v1/settings?token=" + t["read"]), "in the query")
table = [("GET", "/v1/settings", None, "read"), ("POST", "/v1/lease", '{"count":1,"client":"x"}', "lease"), ("PUT", "/v1/settings", '{"key":"delay","value":"1s"}', "admin"),
         ("POST", "/v1/tell", "{}", "lease"), ("DELETE", "/v1/cycles/current", None, "admin"), ("POST", "/v1/replays", "[]", "admin"), ("POST", "/v1/pages", "{}", "admin"),
         ("GET", "/v1/webhooks", None, "admin"), ("POST", "/v1/webhooks", "{}", "admin"), ("DELETE", "/v1/webhooks/1", None, "admin")]
order = ["read", "lease", "admin"]
for method, path, body, needs in table:
    for has in order:
        got = as_(has, method, path, body)
        assert (got[0] == 403) == (order.index(has) < order.index(needs)), (method, path, has, got)
# every request that there is: without a token, and with one that may less than the guide says
paths, tried = json.loads(ask("GET", "/v1/openapi.json")[1])["paths"], 0
free = {"/", "/assets/{file}", "/healthz", "/readyz", "/v1/openapi.json", "/v1/session"}
by_lease = {("post", "/v1/lease"), ("post", "/v1/tell"), ("post", "/v1/lease/end"), ("post", "/v1/pages/touched")}
for path in paths:
    real = re.sub(r"{\w+}", "0", path)
    for method in set(paths[path]) & {"get", "post", "put", "delete"} if path not in free else ():
        tried += 1
        is_(401, ask(method.upper(), real), (method, path))
        needs = "lease" if (method, path) in by_lease else "admin" if method != "get" or "webhooks" in path else "read"
        for has in order[:order.index(needs)]: is_(403, as_(has, method.upper(), real), (method, path, has))
assert tried > 30, paths.keys()
# listeners are counted by token, wherever they are
streams = []
def listen(right):
    c = http.client.HTTPConnection(at, timeout=60)
    c.request("GET", "/v1/events", headers={"Authorization": "Bearer " + t[right]})
    streams.append((c, c.getresponse()))
    return streams[-1][1].status
assert [listen("read") for i in range(51)] == [200] * 50 + [429] and listen("lease") == 200
for c, r in streams: r.close(); c.close()
# a browser's session
assert json.loads(ask("GET", "/v1/session")[1])["token_needed"]
is_(401, ask("POST", "/v1/session", '{"token":"x"}'), "session")
s, text, h = ask("POST", "/v1/session", json.dumps({"token": t["admin"]}), Origin="http://" + at)
cookie = h["Set-Cookie"]
assert s == 200 and "HttpOnly" in cookie and "SameSite=Strict" in cookie and t["admin"] not in cookie, cookie
cookie = cookie.split(";")[0]
is_(200, ask("GET", "/v1/settings", Cookie="a=b; " + cookie), "by cookie")
put = ("PUT", "/v1/settings", '{"key":"delay","value":"1s"}')
is_(200, ask(*put, Cookie=cookie, Origin="http://" + at), "by cookie, from our page")
is_(401, ask(*put, Cookie=cookie), "by cookie, from nowhere")
is_(403, ask(*put, Cookie=cookie, Origin="http://evil.example"), "by cookie, from elsewhere")
is_(401, ask("GET", "/v1/settings", Cookie=cookie + "0"), "another cookie")
# a stolen token is taken away: within moments neither it nor its sessions are worth anything
subprocess.run([freshet, "-C", "crawl", "token", "remove", "t-admin"], check=True)
end = time.time() + 60
while as_("admin", "GET", "/v1/settings")[0] != 401 and time.time() < end: time.sleep(0.1)
is_(401, as_("admin", "GET", "/v1/settings"), "removed")
is_(401, ask("GET", "/v1/settings", Cookie=cookie), "its session")
is_(200, as_("read", "GET", "/v1/settings"), "the others stay")
PY
start_service crawl --rate 100000
PYTHONPATH=. python3 tokens.py "$api" "$f" || fail "tokens.py: $(cat served.err)"
stop_service

# ---- who guesses tokens is slowed down, by address; a token that is good has a rate of its own ----
start_service crawl --rate 2
python3 - "$api" "$(cat read)" <<'PY' || fail "guesses"
import http.client, sys, urllib.parse
def ask(token):
    c = http.client.HTTPConnection(urllib.parse.urlsplit(sys.argv[1]).netloc, timeout=60)
    c.request("GET", "/v1/settings", headers={"Authorization": "Bearer " + token})
    return c.getresponse().status
codes = [ask("guess-%d" % i) for i in range(40)]
assert codes[0] == 401 and codes.count(429) > 10, codes
assert ask(sys.argv[2]) == 200
PY
stop_service

# ---- TLS, on an address that is not loopback ----
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null
expect 3 "$f" -C crawl serve --listen 127.0.0.1:0 --tls-cert nothing --tls-key key.pem
start_service crawl --listen 0.0.0.0:0 --tls-cert cert.pem --tls-key key.pem
port=${api##*:}
curl -fsS --cacert cert.pem -H "Authorization: Bearer $(cat read)" "https://localhost:$port/v1/settings" | grep -q freshet.get || fail "TLS"
! curl -fs "http://localhost:$port/healthz" || fail "plain text on a port of TLS"
rc=0; curl -s --cacert cert.pem -o out -w '%{http_code}' "https://localhost:$port/v1/settings" >code || rc=$?
[ "$(cat code)" = 401 ] || fail "TLS without a token: $(cat code)"
stop_service

# ---- as systemd starts it: with a socket, told when it is ready, that it lives, that it ends ----
for right in read lease; do "$f" -C crawl token remove t-$right; done
cat >manager.py <<'PY'
import os, socket, subprocess, sys, urllib.request
listener, notes = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notes.bind("notes")
notes.settimeout(120)
def child():
    os.dup2(listener.fileno(), 3)
    os.set_inheritable(3, True)
p = subprocess.Popen(["sh", "-c", 'LISTEN_PID=$$ exec "$0" -C crawl serve', sys.argv[1]], preexec_fn=child, close_fds=False, stdout=subprocess.DEVNULL,
                     env={**os.environ, "LISTEN_FDS": "1", "NOTIFY_SOCKET": os.path.abspath("notes"), "WATCHDOG_USEC": "1000000"})
try:
    heard = set()
    while not {"READY=1", "WATCHDOG=1"} <= heard: heard.add(notes.recv(100).decode())
    assert urllib.request.urlopen("http://127.0.0.1:%d/healthz" % listener.getsockname()[1], timeout=60).read() == b"ok\n"
    p.terminate()
    while "STOPPING=1" not in heard: heard.add(notes.recv(100).decode())
    assert p.wait(120) == 0
finally:
    p.kill()
PY
timeout 300 python3 manager.py "$f" >out 2>err || fail "socket activation"
