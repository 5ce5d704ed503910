#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A page, a head, a link and a line of input that try to write control sequences to the
# terminal: whatever command shows them, none gets there.
. "$SRC/tests/lib/e2e.sh"

cat > origin.py <<'PY'
import http.server, os
seen = [0]
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        seen[0] += 1
        body = b"" if self.path == "/robots.txt" else b"<title>evil \x1b]0;owned\x07 title \xc2\x9b31m \xe2\x80\xae txt.exe \xe2\x80\x8b \xe2\x80\xa8 \xe2\x81\xa7 \xf3\xa0\x80\xa0 \x9b caf\xc3\xa9</title><p>words \x1b[31mred %d \xc2\x9b31m more \xe2\x80\xaedeifil \x9b1m</p><a href='/x\x1b[2Jy'>l</a>" % seen[0]
        self.send_response(200, "O\x1bK")
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("ETag", '"\x1b[31m%d"' % seen[0])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *a): pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
open("port.new", "w").write(str(s.server_port)); os.rename("port.new", "port")
s.serve_forever()
PY
python3 origin.py & origin=$!
trap 'kill $origin' EXIT
for i in $(seq 100); do [ -s port ] && break; sleep 0.1; done
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY || true
url=http://127.0.0.1:$(cat port)
f=$FRESHET
run() { "$f" "$@" >> all 2>&1 || true; }

"$f" init r 2> /dev/null
printf '%s/\n%s/a\033[31mb\nhttp://h\033.example/\n' "$url" "$url" > urls
run -C r import urls
printf 'com,example)/ 20240101000000 {"url": "http://example.com/", "status": "200", "mime": "te\\u202ext", "digest": "sha1:\\u009b31mA\\u202eB"}\n' > index.cdxj
run -C r import index.cdxj
run -C r show http://example.com/
run -C r show http://example.com/ --json
"$f" -C r set contact mailto:test@example.org
for day in 1 2 3; do run -C r cycle --words yes --discover 2 --budget 10 --delay 0 --allow-net 127.0.0.0/8 --now 2024010$day; done
for c in "show $url/" "diff $url/" "search words" "show $url/ --json" "search words --json" "log --visits" "status --sites" "plan --budget 5" "explain $url/" \
	"export changed" "export cdxj" "export pages" "export visits"; do run -C r $c; done
printf '{"url":"http://h/","outcome":"s\033[1m"}\n\033]0;x\007\n' > told
run -C r tell told
printf 'http://h/\xc2\x9b31m\xe2\x80\xae http://h/b\nhttp://h/b http://h/\xc2\x9b31m\xe2\x80\xae\n' > graph
run rank --top 2 graph
run rank --top 2 graph --json
run -C $'no\033where' status
run $'com\033mand'
run -C r set $'na\033me' 3
run -C r plan --policy $'po\033licy'
run replay $'no\033file'
grep -q 'evil ?' all && grep -q 'red' all || fail "nothing was shown"
grep -q $'caf\xc3\xa9' all || fail "letters of other languages were lost"
python3 - <<'PY'
import unicodedata
text = open("all", "rb").read().decode("utf-8")      # all of it is UTF-8
bad = [(n, line) for n, line in enumerate(text.split("\n"), 1)
       if any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c != "\t" for c in line)]
assert not bad, bad[:3]
# and what JSON escapes is not lost
assert "\\u202e" in text and "\\u009b" in text and "\\udb40\\udc20" in text, "nothing was escaped"
PY
