#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A repository is copied into another store: every table, also when the copy is killed and
# gone on with; what is exported is the same, and so is the next plan.  A folder remembers
# where its tables are.
. "$SRC/tests/lib/e2e.sh"
cat > web.py <<'PY'
from origin import *
def answer(q):
    if q.path == "/robots.txt": return 200, b"User-agent: *\nDisallow: /no\n"
    n = int(q.path.rpartition("/")[2])
    if n % 9 == 4: return 404, b"gone"
    return 200, ("<title>%d</title><p>words of page %d %s <a href=/%d>next</a>" % (n, n, state(), n + 1)).encode(), [("ETag", '"%d"' % n)]
serve(answer)
PY
echo 1 > state
start_origin web.py
web="--delay 0 --allow-net 127.0.0.1/32 --quiet --words yes"
$f init a 2> /dev/null
for i in $(seq 60); do echo "$url/$i $((i % 3))"; done > urls
$f -C a import urls > /dev/null
$f -C a set contact mailto:test@example.org; $f -C a set budget 50%
$f -C a cycle $web > /dev/null || fail "the first cycle"
$f -C a remove "$url/3" > /dev/null; $f -C a pause "$url/6" > /dev/null # in the log of care
$f -C a import --tag red urls > /dev/null
echo 2 > state
$f -C a cycle $web > /dev/null || fail "the second cycle"
$f -C a ask --count 5 --client other > /dev/null 2>&1 || fail "offers that are out"

all() { # folder: all that it exports, and plans
	for what in pages visits captures; do $f -C "$1" export $what 2> /dev/null || true; done
	$f -C "$1" log --json; $f -C "$1" get
}
expect 0 $f copy a b --json
is resumed False; is 'tables["pages"]["rows"]' 60
[ "$(field 'tables["visits"]["rows"] > 50 and tables["captures"]["rows"] > 30 and tables["words"]["rows"] > 5 and tables["robots"]["rows"] == 1 and tables["care"]["rows"] == 2 and tables["tags"]["rows"] > 50 and tables["leases"]["rows"] > 0 and tables["rounds"]["rows"] > 0')" = True ] || fail "tables are missing: $(cat out)"
cp out first
all a > all.a; all b > all.b; cmp all.a all.b || fail "the exports differ"
[ "$(wc -l < all.a)" -gt 60 ] || fail "nothing to compare"
expect 2 $f copy a b; grep -q 'empty store' err || fail "a store with pages was taken"


# to PostgreSQL and back, where scripts/run-tests has started one
if [ -n "${FRESHET_TEST_PG:-}" ]; then
	expect 0 $f copy a "$FRESHET_TEST_PG&schema=e2e_copy_$$" --json
	python3 -c 'import json; a, b = (json.load(open(n))["tables"] for n in ("first", "out")); assert a == b, (a, b)' || fail "the copy on PostgreSQL differs"
	expect 0 $f copy "$FRESHET_TEST_PG&schema=e2e_copy_$$" back
	all back > all.b; cmp all.a all.b || fail "what came back differs"
fi

# broken off after each table, as a kill would: what is missing comes, and nothing twice
for cut in "DELETE FROM pages WHERE id > 20; DELETE FROM captures; DELETE FROM visits; DELETE FROM cycles; DELETE FROM rounds; DELETE FROM leases; DELETE FROM words; DELETE FROM robots; DELETE FROM care; UPDATE pages SET care = 0; DELETE FROM tags; DELETE FROM tagged; DELETE FROM settings|20 0 0 0 0 0" \
	"DELETE FROM visits WHERE id & 4294967295 > 10 OR cycle > 1; DELETE FROM cycles; DELETE FROM rounds; DELETE FROM leases; DELETE FROM care; UPDATE pages SET care = 0; DELETE FROM words WHERE id > 3|60 LAST 1 10 0 3"; do
	rm -rf c; cp -r b c
	python3 - "$cut" <<'PY'
import sqlite3, sys
sql, _, mark = sys.argv[1].partition("|")
db = sqlite3.connect("c/freshet.db")
mark = mark.replace("LAST", str(db.execute("select max(id) from captures").fetchone()[0]))
db.executescript(sql); db.execute("insert into settings values ('state.copy', ?)", (mark,)); db.commit()
PY
	expect 0 $f copy a c --json; is resumed True
	python3 -c 'import json; a, b = (json.load(open(n))["tables"] for n in ("first", "out")); assert a == b, (a, b)' || fail "the copy that was gone on with differs"
done
# the source went on meanwhile: what was copied before may be old, and that is noticed
cp -r b d; python3 -c 'import sqlite3; d = sqlite3.connect("d/freshet.db"); d.execute("insert into settings values (\"state.copy\", \"60 999999 99 9 99 99999\")"); d.execute("update pages set visits = visits + 1 where id = 7"); d.commit()'
expect 5 $f copy a d; grep -q 'pages' err || fail "a difference was not named: $(cat err)"

# a folder remembers its store; never with a password
expect 0 $f init --store "sqlite:$PWD/else.db" r; [ "$(cat r/store)" = "sqlite:$PWD/else.db" ] || fail "r/store: $(cat r/store)"
expect 0 $f copy a "sqlite:$PWD/copy.db"
expect 0 $f copy a r; all a > all.a; all r > all.r; cmp all.a all.r || fail "the store elsewhere differs"
[ ! -e r/freshet.db ] || fail "tables in the folder, too"
expect 2 $f init --store "sqlite:$PWD/third.db" r; grep -q 'another store' err || fail "two stores for a folder"
# a folder with tables of its own takes no other store: they would be used without a word
cp -r a m; rm -f third.db; expect 2 $f init --store "sqlite:$PWD/third.db" m; grep -q 'm/freshet.db.*tables of its own' err || fail "$(cat err)"
[ ! -e m/store ] && [ ! -e third.db ] || fail "a store was made"
mv m/freshet.db m/old.db; expect 0 $f init --store "sqlite:$PWD/copy.db" m; all m > all.m; cmp all.a all.m || fail "a folder that moved to another store differs"
expect 2 $f --store "nosuch://me:s3cret@h/x" init q; if grep -q s3cret err out; then fail "a password is shown"; fi
