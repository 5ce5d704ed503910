#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# scripts/postgres-role: its role can do all that freshet does and no more, its reader can read.
. "$SRC/tests/lib/e2e.sh"
[ -n "${FRESHET_TEST_PG:-}" ] || { echo "no FRESHET_TEST_PG: scripts/run-tests sets it"; exit 1; }
u=role_$$
as() { echo "${FRESHET_TEST_PG/user=freshet/user=$1}"; } # the URL for a role
sql() { psql -qAtX "$(as "$1")" -c "$2" > out 2> err; }
for again in 1 2; do "$SRC/scripts/postgres-role" $u ${u}_s ${u}_reader | psql -qX "$FRESHET_TEST_PG" > out 2>&1 || fail "the script, time $again"; done
expect 2 "$SRC/scripts/postgres-role" 'x; DROP' s
store="$(as $u)&schema=${u}_s"
expect 0 $f init r --store "$store"
for i in 1 2 3; do echo "http://h$i.example/"; done > urls
expect 0 $f -C r import urls
expect 0 $f -C r add http://h4.example/
expect 0 $f -C r set delay 0
expect 0 $f -C r ask --budget 4 --count 2
sed 's/}$/,"status":200,"digest":"x"}/' out > told
expect 0 $f -C r tell told
expect 0 $f -C r end
expect 0 $f -C r prune --keep 1
expect 0 $f -C r check
expect 0 $f copy r c
# and no more
expect 5 $f init o --store "$(as $u)&schema=${u}_other"
grep -q 'may not make the schema' err || fail "does not say which right lacks"
! sql $u 'CREATE TABLE public.x (i int)' || fail "makes tables elsewhere"
! sql $u 'CREATE ROLE y' || fail "makes roles"
! sql $u 'CREATE DATABASE y' || fail "makes databases"
# who reads
store="$(as ${u}_reader)&schema=${u}_s"
expect 0 $f -C r --store "$store" export pages
[ "$(wc -l < out)" = 4 ] || fail "the reader does not see 4 pages"
expect 5 $f -C r --store "$store" add http://h5.example/
grep -q 'permission denied' err || fail "does not say which right lacks: $(cat err)"
! sql ${u}_reader "DELETE FROM ${u}_s.pages" || fail "the reader writes"
psql -qX "$FRESHET_TEST_PG" -c "DROP SCHEMA ${u}_s CASCADE; DROP ROLE $u, ${u}_reader" > out 2>&1 || fail "roles own something elsewhere"
