#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Requests as the user wants them: own headers, a name, cookies, credentials, types, sizes,
# a limit of bytes, addresses.  And servers that want the secrets of others: redirects to
# another host, port or scheme, answers that say back what they were told, cookies of theirs.
. "$SRC/tests/lib/e2e.sh"
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY no_proxy NO_PROXY || true

# two servers: ours at 127.0.0.1, a stranger's at 127.0.0.2; each request is a line of `log`
cat > origin.py <<'PY'
import base64, gzip, http.server, json, os, socketserver, threading
def handler(name):
    class H(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def do_GET(self):
            with open("log", "a") as f:
                f.write(json.dumps([name, self.path, [[k.lower(), v] for k, v in self.headers.items()],
                                    self.client_address[0]]) + "\n")
            said = "".join("%s: %s\n" % kv for kv in self.headers.items())
            user = self.headers.get("Authorization", "")
            user = base64.b64decode(user[6:]).decode() if user.startswith("Basic ") else user
            status, body, more, kind = 200, "<html><body>%s\n%s\n%s</body></html>" % (self.path, said, user), [], "text/html"
            p = self.path
            if p == "/robots.txt": status, body, kind = 200, "User-agent: mybot\nDisallow: /private\n", "text/plain"
            if p.startswith("/member") and "Authorization" not in self.headers: status, body = 401, "who are you?"
            if p == "/to-stranger": status, more = 302, [("Location", "http://127.0.0.2:%s/b" % ports[1])]
            if p == "/to-port": status, more = 302, [("Location", "http://127.0.0.1:%s/b" % ports[1])]
            if p == "/tell": status, more = 302, [("Location", "http://127.0.0.2:%s/?%s" % (ports[1], user[3:]))]
            if p == "/picture": kind, body = "image/png", "x" * 3000
            if p.startswith("/big"): body = "y" * 200000
            data = body.encode()
            if p == "/zipped": data = gzip.compress(data); more = [("Content-Encoding", "gzip")]
            more += [("Set-Cookie", "sid=%s-session-of-the-server; Domain=127.0.0.2" % ("fresh" if name == "ours" else "no")), ("Set-Cookie", "a=b"), ("X-Said", user.replace("\n", " "))]
            self.send_response(status); self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            for k, v in more: self.send_header(k, v)
            self.end_headers(); self.wfile.write(data)
        def log_message(self, *a): pass
    return H
class S(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    def handle_error(self, *a): pass
servers = [S(("127.0.0.1", 0), handler("ours")), S(("0.0.0.0", 0), handler("stranger"))]
ports = [s.server_port for s in servers]
threading.Thread(target=servers[1].serve_forever, daemon=True).start()
open("port.new", "w").write("%d %d\n" % tuple(ports)); os.rename("port.new", "port")
servers[0].serve_forever()
PY
: > log
python3 origin.py & origin=$!
trap 'kill $origin' EXIT
for i in $(seq 500); do [ -s port ] && break; sleep 0.02; done
read -r a b < port
url=http://127.0.0.1:$a

# said PATH NAME: the values of a header that requests for the path had
said() { python3 -c 'import json,sys
print(" ".join(v for l in open("log") for s, p, h, w in [json.loads(l)] if p == sys.argv[1] for k, v in h if k == sys.argv[2]))' "$1" "$2"; }
web="--allow-net 127.0.0.0/8 --delay 0 --budget 200"
crawl() { : > log; expect 0 "$f" -C r cycle $web "$@"; }
fresh() { rm -rf r; "$f" init r 2> err; "$f" -C r set contact mailto:me@example.org; "$f" -C r add "$@" > out; }

# ---- own headers, and a name ----
fresh $url/page $url/private/x
crawl --header 'X-Lab: one' --header 'Accept-Language: de' --user-agent mybot/2.1 --json
is failed 0
is blocked 1                            # robots.txt is read for that name
[ "$(said /page x-lab)" = one ] && [ "$(said /robots.txt accept-language)" = de ] || fail "own headers: $(cat log)"
[ "$(said /page user-agent)" = "mybot/2.1 (+mailto:me@example.org)" ] || fail "the name: $(cat log)"
zcat r/warc/*.gz | grep -a '^X-Lab: one' > out || fail "the request record lacks an own header"
# as settings, for all and for one site
expect 0 "$f" -C r set header 'X-Lab: two' 'X-More: 2'
expect 0 "$f" -C r set --site 127.0.0.1 header 'X-Site: s'
"$f" -C r get > out; [ "$(grep -c '^header ' out)" = 2 ] || fail "get: $(cat out)"
crawl
[ "$(said /page x-lab) $(said /page x-more) $(said /page x-site)" = "two 2 s" ] || fail "settings: $(cat log)"
"$f" -C r status --sites > out; grep -q 'header X-Site: s' out || fail "status --sites: $(cat out)"
# what may not be sent
n=$'\n'
for h in "X: a${n}Evil: b" $'X: a\rEvil: b' 'Host: x' 'Range: bytes=0-1' 'If-None-Match: "x"' 'User-Agent: x' 'Accept: x' 'Content-Length: 5' \
	'Transfer-Encoding: chunked' 'Connection: close' 'Proxy-Authorization: x' 'no colon' ': x' 'X:' 'Bad Name: x' \
	'Authorization: Basic 12345678' 'Cookie: a=12345678' 'X-Api-Key: 12345678' 'X-Auth-Token: 12345678'; do
	expect 2 "$f" -C r cycle $web --header "$h"
	! grep -q 12345678 err || fail "a message has the value: $(cat err)"
	expect 2 "$f" -C r set header "$h"
	expect 2 "$f" -C r set --site 127.0.0.1 header "$h"
done
for x in 'a b' 'a/' '1x' 'a(b)' "a${n}b"; do expect 2 "$f" -C r cycle $web --user-agent "$x"; done

# ---- credentials: one origin each ----
cat > logins <<EOF2
# a comment
machine http://127.0.0.1:$a login me password "correct horse battery"
machine 127.0.0.2 bearer never-over-plain-http
default login anonymous password everywhere-12345
EOF2
chmod 644 logins
fresh $url/member $url/to-stranger $url/to-port $url/tell $url/zipped http://127.0.0.2:$b/b
expect 2 "$f" -C r cycle $web --credentials logins
grep -q 'chmod 600' err || fail "a file that all may read: $(cat err)"
chmod 600 logins
ln -s logins link
expect 0 "$f" -C r set credentials link         # the file behind it is what is looked at
[ "$("$f" -C r get credentials)" = "$TMP/logins" ] || fail "the whole path: $("$f" -C r get credentials)"
crawl --verbose --json --report report.html
cp err said-by-us
is failed 1                                     # only the redirect that told the password
basic=$(printf 'me:correct horse battery' | base64)
[ "$(said /member authorization)" = "Basic $basic" ] || fail "no login: $(cat log)"
[ -n "$(said /b user-agent)" ] || fail "redirects were not followed: $(cat log)"
python3 - <<'PY' || fail "a stranger was told a secret: $(cat log)"
import json
for l in open("log"):
    name, path, head, _ = json.loads(l)
    assert name == "ours" or not [k for k, v in head if k in ("authorization", "cookie")], l
    assert path == "/tell" or "battery" not in path, l
PY
grep -q 'default' said-by-us || fail "nothing was said of default: $(cat said-by-us)"
# secrets are nowhere: archive, store, messages, JSON, report, exports; the server said them back
"$f" -C r export cdxj > cdxj; "$f" -C r export pages > pages; "$f" -C r status --failing > failing 2>&1
for secret in "correct horse battery" "$basic" "$(printf '%s' "${basic%=}" | cut -c1-20)" everywhere-12345 never-over-plain fresh-session; do
	zcat r/warc/*.gz | cat - r/freshet.db* out said-by-us report.html cdxj pages failing > all
	! grep -aqF -- "$secret" all || fail "kept: $secret"
done
zcat r/warc/*.gz | grep -aq '^Set-Cookie: \*\*\*' || fail "where is the masked cookie?"
"$f" -C r cat $url/zipped > out; grep -q 'Authorization: Basic \*\*\*' out || fail "what a server says back is not masked: $(cat out)"
"$f" -C r show $url/tell > out; grep -q redirect out || fail "the redirect that told: $(cat out)"

# bearer, secret header, port; grammar
printf 'machine http://127.0.0.1:%s bearer tok-abcdefgh header "X-Api-Key: key-12345678"\n' $a > logins
crawl; [ "$(said /member authorization) $(said /member x-api-key)" = "Bearer tok-abcdefgh key-12345678" ] || fail "bearer: $(cat log)"
! zcat r/warc/*.gz | grep -aq 'tok-abcdefgh\|key-12345678' || fail "a token is in the archive"
bad() { printf "$1" > logins; expect 3 "$f" -C r cycle $web; grep -q "line $2" err && ! grep -q hush err || fail "$1: $(cat err)"; }
bad 'login hush password hush\n' 1
bad 'machine x.example\nlogin me password "hush\n' 2
bad 'machine x.example\nsecret hush\n' 2
bad 'machine hush/path login a password b\n' 1
bad 'machine x.example header "Host: hush"\n' 1
bad 'machine x.example bearer a\001hush\n' 1
bad 'machine x.example login a password b bearer hush\n' 2
head -c 1100000 /dev/zero | tr '\0' '#' > logins; expect 3 "$f" -C r cycle $web; grep -q 'more than' err || fail "huge: $(cat err)"
head -c 100 /dev/zero > logins; expect 3 "$f" -C r cycle $web
rm logins; mkfifo -m 600 logins; expect 2 timeout 20 "$f" -C r cycle $web; rm logins
expect 3 "$f" -C r cycle $web; expect 2 "$f" -C r cycle $web --credentials "$TMP"
expect 0 "$f" -C r set credentials

# ---- cookies, as curl writes them ----
t='\t'
{ printf "# Netscape HTTP Cookie File\n\n"
  printf "127.0.0.1${t}FALSE${t}/${t}FALSE${t}0${t}sid${t}abcdefghijklmnopqrstuvwxyz\n"
  printf "#HttpOnly_127.0.0.1${t}FALSE${t}/member${t}FALSE${t}4102444800${t}deep${t}1\n"
  printf "127.0.0.1${t}FALSE${t}/${t}TRUE${t}0${t}safe${t}https-only-0123456789\n"
  printf "127.0.0.1${t}FALSE${t}/${t}FALSE${t}1000000000${t}old${t}expired\n"
  printf ".example.org${t}TRUE${t}/${t}FALSE${t}0${t}other${t}of-another-host-01234\n"; } > jar
chmod 600 jar
: > log; expect 0 "$f" -C r cycle $web --cookies jar
[ "$(said /member cookie)" = "deep=1; sid=abcdefghijklmnopqrstuvwxyz" ] || fail "cookies: $(said /member cookie)"
[ "$(said /zipped cookie)" = "sid=abcdefghijklmnopqrstuvwxyz" ] || fail "cookies of another path: $(said /zipped cookie)"
! zcat r/warc/*.gz | grep -aq abcdefghijklmnopqrstuvwxyz || fail "a cookie is in the archive"
python3 -c 'import json
for l in open("log"):
    s, p, h, w = json.loads(l); c = dict(h).get("cookie", "")
    assert "fresh" not in c and "safe" not in c and "old" not in c and "other" not in c, l' || fail "$(cat log)"
for line in "127.0.0.1${t}FALSE${t}/${t}FALSE${t}0${t}a${t}b\001hush" "127.0.0.1${t}FALSE${t}/${t}FALSE${t}0${t}a${t}b;hush" "hush" \
	"127.0.0.1${t}MAYBE${t}/${t}FALSE${t}0${t}a${t}hush" "a b${t}FALSE${t}/${t}FALSE${t}0${t}a${t}hush" "127.0.0.1${t}FALSE${t}x${t}FALSE${t}0${t}a${t}hush"; do
	printf "$line\n" > jar; expect 3 "$f" -C r cycle $web --cookies jar
	grep -q 'line 1' err && ! grep -q hush err || fail "$line: $(cat err)"
done
chmod 640 jar; expect 2 "$f" -C r cycle $web --cookies jar

# ---- types and sizes ----
fresh $url/page $url/picture $url/big
crawl --accept 'text/html, text/*' --max-body 100k --json
is failed 1
[ "$(said /page accept)" = 'text/html, text/*' ] && [ "$(said /robots.txt accept)" = '*/*' ] || fail "Accept: $(cat log)"
"$f" -C r show $url/picture > out; grep -q type out || fail "the picture: $(cat out)"
[ "$("$f" -C r cat $url/big | wc -c)" = 102400 ] || fail "--max-body: $("$f" -C r cat $url/big | wc -c)"
expect 0 "$f" -C r set --site 127.0.0.1 accept 'image/*'
expect 0 "$f" -C r set --site 127.0.0.1 max-body 2k
fresh $url/page $url/picture
"$f" -C r set --site 127.0.0.1 accept 'image/*'; "$f" -C r set --site 127.0.0.1 max-body 2k
crawl --json; is failed 1; [ "$("$f" -C r cat $url/picture 2>/dev/null | wc -c)" = 2048 ] || fail "settings of a site"
for x in html 'text/' '' 'text/html/x' 'a b/c'; do expect 2 "$f" -C r cycle $web --accept "$x"; done
for x in 1 -1 10X 1e3 k; do expect 2 "$f" -C r cycle $web --max-body "$x"; done

# ---- the way to the network ----
fresh $url/page
crawl --bind 127.0.0.9 --ip 4 --json; is failed 0
grep -q '127.0.0.9' log || fail "--bind: $(cat log)"
crawl --bind lo --json; is failed 0
expect 4 "$f" -C r cycle $web --ip 6
"$f" -C r show $url/page > out; grep -q dns out || fail "--ip 6: $(cat out)"
expect 2 "$f" -C r cycle $web --bind 192.0.2.1; expect 2 "$f" -C r cycle $web --bind nosuch0; expect 2 "$f" -C r cycle $web --bind 127.0.0.9 --ip 6

# ---- a limit of bytes: three bodies of 200,000 bytes at 409,600 a second need more than a second ----
fresh $url/big $url/big?2 $url/big?3
begun=$(date +%s%N); crawl --limit-rate 400k --json; is failed 0
took=$(( ($(date +%s%N) - begun) / 1000000 ))
[ $took -ge 1000 ] || fail "--limit-rate: $took ms"
for p in big 'big?2' 'big?3'; do [ "$("$f" -C r cat $url/$p | wc -c)" = 200000 ] || fail "$p is not whole"; done
expect 2 "$f" -C r cycle $web --limit-rate fast
