#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What becomes of a cycle when PostgreSQL freezes in the middle of it, or its disk is full: it waits,
# or ends with status 5 and says why; the next start goes on.  No page is asked for twice.
# Each page is told of once.  scripts/trial-postgres does the same to a real server.
. "$SRC/tests/lib/e2e.sh"
[ -n "${FRESHET_TEST_PG:-}" ] || { echo "no FRESHET_TEST_PG: scripts/run-tests sets it"; exit 1; }
schema=e2e_trouble_$$ pages=60
cat > web.py <<'PY'
from origin import *
import os, time
def answer(q):
    if q.path == "/robots.txt": return 404, b""
    note(q.path)
    while os.path.exists("hold") and len(open("log").readlines()) > 20: time.sleep(0.02)
    return 200, ("page " + q.path).encode()
serve(answer)
PY
start_origin web.py
# a network of our own between the program and the server: it is frozen, not the server of all tests
server=${FRESHET_TEST_PG##*host=}; server=${server%%&*}
mkdir net; mkfifo net/open
python3 "$SRC/tests/lib/cutter.py" "$server" "$PWD/net" 1 0 1 < net/open > net/out 2>&1 & cutter=$!
exec 8> net/open
trap 'kill -CONT $cutter; exec 8>&-; wait $cutter || :; kill $origin' EXIT
for i in $(seq 1000); do [ -e net/ready ] && break; sleep 0.02; done
store() { echo "postgresql:///postgres?user=freshet&host=$PWD/net&schema=$schema&$1"; }
sql() { psql -qAtX "$FRESHET_TEST_PG" -c "SET search_path TO $schema; $1" 2> sql.err || fail "$1: $(cat sql.err)"; }

for i in $(seq $pages); do echo "$url/$i"; done > urls
expect 0 $f init r --store "$(store patience=60)"
expect 0 $f -C r --store "$(store patience=60)" import urls
expect 0 $f -C r --store "$(store patience=60)" set contact mailto:test@example.org
cycle() { # parameters of the store
	$f -C r --store "$(store "$1")" cycle --budget $pages --policy oldest --delay 0 --connections 4 --allow-net 127.0.0.1/32 --json > out 2> err
}
begin() { # parameters: a cycle in the background, held after 20 requests: $run
	: > log; touch hold
	cycle "$1" & run=$!
	for i in $(seq 3000); do [ "$(wc -l < log)" -gt 20 ] && break; kill -0 $run 2> /dev/null || break; sleep 0.02; done
	[ "$(wc -l < log)" -gt 20 ] || { cat err; fail "the cycle did not begin"; }
}
ends() { local rc=0; wait $run || rc=$?; [ $rc = "$1" ] || fail "status $rc, wanted $1"; } # status
once() { [ "$(sort log | uniq -d | wc -l)" = 0 ] || fail "asked for twice: $(sort log | uniq -d | head -3)"; }
whole() { # cycle [noted]: each page was asked for, but for some that were noted and could not be sent; is told of once
	[ "$(sort -u log | wc -l)" -ge $((pages - ${2:-0})) ] || fail "$(sort -u log | wc -l) pages asked for, not $pages"
	sql "SELECT count(*), count(DISTINCT page), count(DISTINCT ord), sum((outcome <> 4)::int + extra) FROM visits WHERE cycle = $1" > rows
	[ "$(cat rows)" = "$pages|$pages|$pages|$pages" ] || fail "visits of cycle $1: $(cat rows)"
	expect 0 $f -C r --store "$(store patience=60)" check
}

# frozen for less than `patience`: the cycle waits and goes on
begin patience=60
kill -STOP $cutter; rm hold; sleep 1; kill -CONT $cutter
ends 0; is complete True; is new $pages
once; whole 1

# for longer: status 5; what was answered and not committed has lapsed, the rest is asked for now
begin 'patience=5&connect_timeout=5'
kill -STOP $cutter; rm hold
ends 5
grep -q 'given up after 5 s: what was committed is there' err || fail "does not say what happened"
kill -CONT $cutter
cycle patience=60 || fail "the cycle does not go on"
is resumed True; is complete True; is downloads $pages
once; whole 2 4

# no room on the server's disk: status 5 and nothing of the batch; when there is room, it goes on
begin patience=60
sql "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS \$\$BEGIN RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'could not extend file \"base/1/2\": No space left on device'; END\$\$; CREATE TRIGGER full_disk BEFORE INSERT ON visits FOR EACH ROW EXECUTE FUNCTION full_disk()"
rm hold
ends 5
grep -q 'No space left on device (make room on the server.s disk)' err || fail "does not say what to do"
expect 0 $f -C r --store "$(store patience=60)" check
sql 'DROP FUNCTION full_disk CASCADE'
cycle patience=60 || fail "the cycle does not go on"
is resumed True; is complete True; is downloads $pages
once; whole 3 4

# a counter of ids that lags behind, as `copy` of older programs left it, and what came of that
sql "UPDATE drawn SET captures = 3; UPDATE captures SET id = 2 WHERE id = 1"
expect 1 $f -C r --store "$(store patience=60)" check
grep -q 'row 4: its id is higher than any that was given out (3)' out || fail "higher ids: $(cat out)"
grep -q 'row 2: so many captures have this id (2)' out || fail "ids given twice: $(cat out)"
sql "SET client_min_messages = warning; DROP SCHEMA $schema CASCADE"
echo ok
