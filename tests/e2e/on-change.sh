#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cycle --on-change: the list a command gets, and commands that fail, hang, read nothing.
. "$SRC/tests/lib/e2e.sh"
cat >web.py <<'P'
from origin import serve
import os
def answer(q):
    if q.path == "/robots.txt": return 404, b""
    if q.path == "/b" and os.path.exists("gone"): return 404, b""
    return 200, b"<title>T</title><p>" + (open("version", "rb").read() if q.path == "/a" else b"same")
serve(answer)
P
echo 1 >version; start_origin web.py
$f init r 2>/dev/null; printf "$url/%s\n" a b c >urls; $f -C r import urls >/dev/null
$f -C r set contact mailto:me@example.org; $f -C r set allow-net 127.0.0.1/32; $f -C r set delay 0; $f -C r set confirmations 1
cycle() { n=$((${n:-0} + 1)); expect 0 $f -C r cycle --policy round-robin --budget 100% --now "202301$(printf %02d "$n")" "$@"; }
cat >note <<'S'
#!/bin/sh
cat >>got; echo "$FRESHET_CYCLE $FRESHET_REPOSITORY $# $1" >>how
S
chmod +x note
cycle --on-change "$PWD/note 'two words' \"\$HOME *\""
[ "$(cat how)" = "1 $PWD/r 2 two words" ] || fail "words and environment: $(cat how)"
$f -C r export changed --since last | cmp - got || fail "what it gets is what export changed says"
[ "$(wc -l <got)" = 3 ] || fail "three new pages"
cycle --on-change "$PWD/note x"; [ "$(wc -l <how)" = 1 ] || fail "it ran though nothing changed"
echo 2 >version; touch gone; rm got
cycle --on-change "$PWD/note x"
[ "$(python3 -c 'import json,sys; print(sorted((json.loads(l)["outcome"], json.loads(l)["url"][-2:]) for l in open("got")))')" = "[('changed', '/a'), ('gone', '/b')]" ] || fail "changed and gone"
# a shell only if asked for
echo 3 >version; cycle --on-change 'cat >made; echo $FRESHET_CYCLE >cycle' --on-change-shell
grep -q '"changed"' made && [ "$(cat cycle)" = "$n" ] || fail shell
echo 4 >version; cycle --on-change "/bin/echo no > shell"; [ ! -e shell ] || fail "a shell that was not asked for"
# one that fails, is killed, reads nothing, hangs: the crawl goes on and says so
echo 5 >version; cycle --on-change false; grep -q 'false ended with status 1' err || fail "its status"
echo 6 >version; cycle --on-change 'kill -9 $$' --on-change-shell; grep -q 'signal 9' err || fail "its signal"
echo 7 >version; cycle --on-change true; [ ! -s err ] || ! grep -q on-change err || fail "one that reads nothing"
echo 8 >version; cycle --on-change 'sleep 60 & sleep 61' --on-change-shell --on-change-time 1s; grep -q 'longer than 1 s' err || fail "one that hangs"
# refused beforehand
expect 2 $f -C r cycle --on-change no-such-program-anywhere; grep -q 'no program' err
expect 2 $f -C r cycle --on-change "echo 'x"; grep -q 'quote' err
expect 2 $f -C r cycle --on-change-shell
expect 2 $f -C r set on-change true             # a repository never says what is run
# run, too
echo 9 >version; rm -f got; n=$((n + 1))
expect 0 $f -C r run --cycles 2 --policy round-robin --budget 100% --now "202301$n" --on-change "$PWD/note x"
[ "$(wc -l <got)" = 1 ] || fail "run: $(cat got)"
