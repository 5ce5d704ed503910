#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Notifications: `freshet touched` and POST /v1/pages/touched mark pages, cycles of our own and
# leases begin with them, visits check them, explain says what is known of the notifier.
. "$SRC/tests/lib/e2e.sh"
. "$SRC/tests/lib/service.sh"
cat >web.py <<'P'
from origin import serve
import os
def answer(q):
    if q.path == "/robots.txt": return 404, b""
    return 200, b"<p>" + q.path.encode() + (open("version", "rb").read() if q.path in ("/7", "/8") else b"")
serve(answer)
P
echo 1 >version; start_origin web.py
trap 'kill -9 ${service:-} ${origin:-} 2>/dev/null || :' EXIT
$f init r 2>/dev/null; for i in $(seq 20); do echo "$url/$i"; done >urls; $f -C r import urls >/dev/null
for s in "contact mailto:me@example.org" "allow-net 127.0.0.1/32" "delay 0s" "policy oldest" "notifier-share 50%" "budget 4"; do $f -C r set ${s%% *} "${s#* }"; done
expect 0 $f -C r cycle --budget 20
# marked: first in the plan, on trial
echo 2 >version
expect 0 $f -C r touched --by cms "$url/7" "$url/nowhere" "${url%:*}:9/x" nonsense://
grep -qx '1 page touched, 2 not under care, 1 no URL of a page' out || fail "what it says: $(cat out)"
printf '%s\n' '# two lines' "$url/7" "$url/8" | expect 0 $f -C r touched --json --by cms -
is "(touched, again, unknown, notifier)" "(1, 1, 0, 'cms')"
expect 2 $f -C r touched --by 'a b' "$url/7"
expect 0 $f -C r plan --budget 4 --format jsonl
[ "$(head -n 2 out | grep -c '"reason":"touched"')" = 2 ] && [ "$(grep -c touched out)" = 2 ] || fail "the plan: $(cat out)"
expect 0 $f -C r plan --budget 4 --notifier-share 25% --format jsonl; [ "$(grep -c '"touched"' out)" = 1 ] || fail "one of four is its ceiling"
expect 0 $f -C r explain --budget 4 "$url/7"; grep -q '^touched .* by cms: .* 0 of 0 checks .*on trial' out || fail "explain: $(cat out)"
# a cycle of our own begins with them; the visits check them
expect 0 $f -C r cycle --budget 4
expect 0 $f -C r explain --json "$url/7"; is "r.get('touched')" None
expect 0 $f -C r touched --by cms "$url/7"
expect 0 $f -C r explain --json --budget 4 "$url/7"
is "(notifier, notifier_is, notifier_checks, notifier_right, in_next_cycle, reason)" "('cms', 'unproven', 2, 2, True, 'touched')"
# it is data: a copy of the repository has it
cp -r r copy; expect 0 $f -C copy explain --json --budget 4 "$url/7"; is notifier_right 2
# by the service: the notifier is the token, whose name it cannot choose
start_service r
cat >api.py <<'P'
import json, sys, urllib.error, urllib.request
api, page = sys.argv[1:3]
def ask(path, body, token=None):
    r = urllib.request.Request(api + path, json.dumps(body).encode() if body is not None else None, {"Authorization": "Bearer " + token} if token else {})
    try:
        with urllib.request.urlopen(r, timeout=120) as a: return a.status, json.load(a)
    except urllib.error.HTTPError as e: return e.code, json.load(e)
P
cat >open.py <<'P'
from api import *
status, doc = ask("/v1/pages/touched", {"urls": [page + "8", page + "nowhere"], "notifier": "hook"})
assert (status, doc["touched"], doc["unknown"], doc["notifier"]) == (200, 1, 1, "hook"), doc
for bad in ({}, {"urls": []}, {"urls": "x"}, {"urls": ["-"]}, {"urls": [1]}, {"urls": [page], "x": 1}, {"urls": [page], "notifier": "a b"}, []):
    assert ask("/v1/pages/touched", bad)[0] == 400, bad
# leases begin with what was touched: page 7 by cms, above, and page 8
status, doc = ask("/v1/lease", {"count": 1, "client": "c"})
first = doc["offers"][0]
assert first["reason"] == "touched" and first["url"] in (page + "7", page + "8"), doc
P
python3 open.py "$api" "$url/" || fail "by the service"
kill -9 $service; wait $service 2>/dev/null || true
start_service r
cat >again.py <<'P'
from api import *
offers = ask("/v1/lease", {"count": 2, "client": "c"})[1]["offers"]       # the one that it has, and the next
assert {o["url"] for o in offers} == {page + "7", page + "8"} and all(o["reason"] == "touched" for o in offers), offers
P
python3 again.py "$api" "$url/" || fail "after a kill"
reader=$($f -C r token add reader --right read) shop=$($f -C r token add shop --right lease)
cat >tokens.py <<'P'
from api import *
import time
reader, shop = sys.argv[3:5]
end = time.time() + 60
while ask("/v1/status", None)[0] != 401 and time.time() < end: time.sleep(0.05)
assert ask("/v1/pages/touched", {"urls": [page + "3"]})[0] == 401
assert ask("/v1/pages/touched", {"urls": [page + "3"]}, reader)[0] == 403
assert ask("/v1/pages/touched", {"urls": [page + "3"], "notifier": "cms"}, shop)[0] == 400
status, doc = ask("/v1/pages/touched", {"urls": [page + "3"]}, shop)
assert (status, doc["touched"], doc["notifier"]) == (200, 1, "shop"), doc
P
python3 tokens.py "$api" "$url/" "$(echo "$reader" | grep -o 'freshet_[0-9a-f]*')" "$(echo "$shop" | grep -o 'freshet_[0-9a-f]*')" || fail "tokens"
stop_service
