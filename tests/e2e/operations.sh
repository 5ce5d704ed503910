#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# What docs/operations.md promises: a backup taken between cycles while the archive
# goes on growing, a folder that was moved, export and import of the whole, and a
# newer repository that is refused untouched.
. "$SRC/tests/lib/e2e.sh"

cat > web.py <<'PY'
from origin import *
def answer(q):
    if q.path == "/robots.txt": return 200, b"User-agent: *\n"
    return 200, ("<html><title>t</title><p>%s in state %s</p></html>" % (q.path, open("state").read())).encode()
serve(answer)
PY
echo 1 > state
start_origin web.py
for i in 1 2 3 4 5; do echo "$url/$i"; done > urls
"$FRESHET" init crawl 2>/dev/null
"$FRESHET" -C crawl import urls >/dev/null
"$FRESHET" -C crawl set contact mailto:test@example.org
cycle() { "$FRESHET" -C "$1" cycle --budget 100% --delay 0 --allow-net 127.0.0.1/32 --now "$2" --json; }
key() { python3 -c 'import json,sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
cycle crawl 20240101 >/dev/null
echo 2 > state; cycle crawl 20240102 >/dev/null

# tables first, then a cycle more, then the archive: the copy starts, cuts off what it does not know, goes on
mkdir backup
python3 -c 'import sqlite3; a = sqlite3.connect("crawl/freshet.db"); b = sqlite3.connect("backup/freshet.db"); a.backup(b); b.close()'
echo 3 > state; cycle crawl 20240103 >/dev/null
cp -a crawl/warc backup/warc
[ "$("$FRESHET" -C backup status --json | key captures)" = 10 ] || fail "the backup: $("$FRESHET" -C backup status)"
[ "$(cycle backup 20240103 | key changed)" = 5 ] || fail "the backup does not go on"
"$FRESHET" -C backup export warc -o back.warc --json >lost.json
[ "$(key lost <lost.json)" = 0 ] && [ "$(key written <lost.json)" = 15 ] || fail "content of the backup: $(cat lost.json)"

# moved: every capture is still found
mkdir elsewhere; mv crawl elsewhere/other
"$FRESHET" -C elsewhere/other export warc -o moved.warc --json >lost.json
[ "$(key lost <lost.json)" = 0 ] && [ "$(key written <lost.json)" = 15 ] || fail "content after the move: $(cat lost.json)"
"$FRESHET" -C elsewhere/other diff "$url/1" | grep -q 'state 3' || fail "diff after the move"

# out by WARC, in again: the same history
"$FRESHET" init new 2>/dev/null
"$FRESHET" -C new import moved.warc/*.warc.gz >/dev/null
"$FRESHET" replay elsewhere/other --cycle 1d --budget 40% --policy all --seeds 1 --json --no-time >a.json
"$FRESHET" replay new --cycle 1d --budget 40% --policy all --seeds 1 --json --no-time >b.json
cmp a.json b.json || fail "another history after export and import"

# a newer repository is refused and stays as it is
python3 -c 'import sqlite3; c = sqlite3.connect("new/freshet.db"); c.execute("pragma user_version = 999"); c.close()'
before=$(sha1sum <new/freshet.db)
rc=0; "$FRESHET" -C new status >/dev/null 2>msg || rc=$?
[ $rc = 5 ] && grep -q upgrade msg || fail "newer repository: exit $rc, $(cat msg)"
[ "$(sha1sum <new/freshet.db)" = "$before" ] || fail "a newer repository was touched"
