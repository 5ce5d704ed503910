#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pages fetched by a program of the user's (--fetcher): answers, errors, a program that hangs, dies,
# lies or asks for more than it may; its requests count, and the gate holds. Chromium, if it is there.
. "$SRC/tests/lib/e2e.sh"
cat > web.py <<'PY'
from origin import *
def answer(q):
    note(q.path)
    if q.path == "/script":
        return 200, b"<title>s</title><p id=x>before</p><script>document.getElementById('x').textContent='after '+location.pathname</script>", [("Content-Type", "text/html")]
    return 200, b"plain " + q.path.encode(), [("Content-Type", "text/html")]
serve(answer)
PY
start_origin web.py
cat > fetcher.py <<'PY'
import os, sys, time, urllib.request
def get(url):
    try: return urllib.request.urlopen(url, timeout=20).read()      # by http_proxy: ours
    except urllib.error.HTTPError as e: return b"status %d %s" % (e.code, e.read())
def say(body, head="", status=200):
    sys.stdout.buffer.write(b"HTTP/1.1 %d .\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n%sContent-Length: %d\r\n\r\n%s" % (status, head.encode(), len(body), body))
while line := sys.stdin.buffer.readline():
    url = line.split()[1].decode()
    head = dict(h.decode().strip().split(": ", 1) for h in iter(sys.stdin.buffer.readline, b"\r\n"))
    path = "/" + url.split("/", 3)[3]
    with open("seen", "a") as f: f.write(path + " " + head["Freshet-Max-Requests"] + "\n")
    if path == "/fine": say(b"rendered " + get(url) + get(url + "?2") + get(url + "?3"))
    elif path == "/says": say(b"x", "Freshet-Requests: 4\r\n")
    elif path == "/greedy": say(b"|".join(get(url + "?%d" % i) for i in range(20)))
    elif path == "/inside": say(get("http://127.0.0.9:8080/"))
    elif path == "/file": say(get("http://localhost:25/"))
    elif path == "/gone": say(b"", status=404)
    elif path == "/error": sys.stdout.buffer.write(b"ERROR tls a bad certificate\n")
    elif path == "/dies": os._exit(3)
    elif path == "/lies": sys.stdout.buffer.write(b"HTTP/1.1 200 .\r\nContent-Length: 2\r\n\r\ntoo long")
    elif path == "/nonsense": sys.stdout.buffer.write(b"hello\r\n\r\n")
    elif path == "/short": sys.stdout.buffer.write(b"HTTP/1.1 200 .\r\nContent-Length: 99\r\n\r\nx"); sys.stdout.flush(); os._exit(0)
    elif path == "/hangs": time.sleep(600)
    sys.stdout.buffer.flush()
PY
"$f" init repo >/dev/null
for k in "delay 0s" "contact mailto:a@example.org" "confirmations 1"; do "$f" -C repo set $k; done
paths="fine says greedy inside file gone error dies lies nonsense short"
for p in $paths; do "$f" -C repo add "$url/$p"; done >/dev/null 2>&1
"$f" -C repo add "$url/plain" >/dev/null 2>&1
rule="regex:/($(tr ' ' '|' <<<"$paths"))\$"
expect 0 "$f" -C repo cycle --budget 200 --site-share 100% --allow-net 127.0.0.1 --fetcher "python3 fetcher.py" --fetcher-for "$rule" --fetcher-requests 5 --fetcher-copies 3 --json
is downloads 21     # 12 pages, 2 more of /fine, 3 of /says, 4 of /greedy
"$f" -C repo export visits | python3 -c '
import json, sys
for line in sys.stdin:
    v = json.loads(line); print(v["url"].rsplit("/", 1)[1], v["outcome"], v.get("cause", "-"))' | sort > visits
cat > want <<'W'
dies failed protocol
error failed tls
file new -
fine new -
gone gone -
greedy new -
inside new -
lies failed protocol
nonsense failed protocol
plain new -
says new -
short failed protocol
W
diff want visits || fail "outcomes"
[ "$("$f" -C repo cat "$url/fine")" = "rendered plain /fineplain /fine?2plain /fine?3" ] || fail "the copy is what the program wrote"
"$f" -C repo cat --headers "$url/fine" | grep -qi -e '^content-encoding' -e '^freshet-' && fail "headers that are not the page's"
"$f" -C repo cat "$url/inside" | grep -q 'status 403 .*loopback' || fail "the gate does not hold"
"$f" -C repo cat "$url/file" | grep -q 'status 403 .*port 25' || fail "the port is not refused"
[ "$("$f" -C repo cat "$url/greedy" | tr '|' '\n' | grep -c 'plain /greedy')" = 5 ] || fail "more requests than it may"
grep -q '^/plain ' seen && fail "a page that no rule fits went to the program"
grep -q '^/fine 5$' seen || fail "the program is not told how many requests it has"
"$f" init slow >/dev/null; for k in "delay 0s" "contact mailto:a@example.org"; do "$f" -C slow set $k; done
"$f" -C slow add "$url/hangs" >/dev/null 2>&1
code "$f" -C slow cycle --budget 3 --allow-net 127.0.0.1 --fetcher "python3 fetcher.py" --fetcher-time 2s
"$f" -C slow show "$url/hangs" | grep -q timeout || fail "a program that hangs"
# near the end of the budget a page gets what is left, and the budget holds
"$f" init small >/dev/null; for k in "delay 0s" "contact mailto:a@example.org"; do "$f" -C small set $k; done
"$f" -C small add "$url/greedy" >/dev/null 2>&1
expect 0 "$f" -C small cycle --budget 3 --site-share 100% --allow-net 127.0.0.1 --fetcher "python3 fetcher.py" --json
is downloads 3
# messages
expect 2 "$f" -C repo cycle --budget 1 --fetcher "no-such-program"; grep -q "there is no program 'no-such-program'" err || fail "message"
expect 2 "$f" -C repo cycle --budget 1 --fetcher-for example.org; grep -q "no --fetcher" err || fail "message"
command -v chromium >/dev/null || exit 0
"$f" init shown >/dev/null; for k in "delay 0s" "contact mailto:a@example.org"; do "$f" -C shown set $k; done
"$f" -C shown add "$url/script" >/dev/null 2>&1
expect 0 "$f" -C shown cycle --budget 9 --site-share 100% --allow-net 127.0.0.1 --fetcher "python3 $SRC/examples/fetcher-chromium.py" --json
"$f" -C shown cat "$url/script" | grep -q '<p id="x">after /script</p>' || { "$f" -C shown show "$url/script"; fail "Chromium's page"; }
