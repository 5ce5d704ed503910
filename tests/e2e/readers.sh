#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# A repository that another user owns, or that lies where nothing can be written: whatever
# only reads works, also beside a writer; whatever writes says at once that it cannot, and
# changes nothing.
. "$SRC/tests/lib/e2e.sh"

# A place and a program that others may come to.
place=$(mktemp -d /tmp/freshet-readers-XXXXXX)
trap 'rm -rf "$place"' EXIT
chmod 755 "$place"; cd "$place"
cp "$FRESHET" program; chmod 755 program; FRESHET=$place/program

"$FRESHET" init own 2> /dev/null
for i in 1 2 3 4; do echo "http://a.example/$i"; done > urls
"$FRESHET" -C own import urls > /dev/null
"$FRESHET" -C own set contact mailto:test@example.org 2> /dev/null
for i in 1 2 3; do printf '{"url":"http://a.example/%s","outcome":"changed","digest":"D%s"}\n' $i $i; done > told
"$FRESHET" -C own tell told > /dev/null
mkdir out.d

# Another user: by setpriv if we are root; else only what chmod can do.
someone=
[ "$(id -u)" != 0 ] || ! setpriv --reuid=65534 --regid=65534 --clear-groups true 2> /dev/null ||
	someone="setpriv --reuid=65534 --regid=65534 --clear-groups"
[ "$(id -u)" != 0 ] || [ -n "$someone" ] || { echo "skipped: root, and no setpriv"; exit 0; }
[ -z "$someone" ] || $someone "$FRESHET" --version > /dev/null || { echo "skipped: others cannot run programs in $place"; exit 0; }
chmod 777 out.d

reads() {
	local c
	for c in status check "status --sites" "log --visits" "show http://a.example/1" "explain http://a.example/1" "plan --budget 2" \
	         "export pages" "export visits" "export changed" "export cdxj --extended" "get" "cluster" "rank"; do
		expect 0 $someone "$FRESHET" -C own $c
	done
	expect 0 $someone "$FRESHET" report own --out out.d/r.html
	code $someone "$FRESHET" replay own --cycle 1d --policy random --seeds 1
	[ "$rc" != 5 ] || fail "replay: exit $rc"
}
writes() {
	local before; before=$(cksum own/freshet.db)
	for c in "add http://b.example/" "set budget 3" "import urls" "tell told" "cycle --budget 1" "live --budget 1"; do
		expect 5 $someone "$FRESHET" -C own $c
		grep -q 'read-only for you' err || fail "$c does not say why"
	done
	[ "$before" = "$(cksum own/freshet.db)" ] || fail "changed"
}

# the file and the folder belong to somebody else, who is not there
chmod 644 own/freshet.db; chmod 755 own own/warc
[ -n "$someone" ] || chmod a-w own own/freshet.db
reads; writes
[ "$(ls own)" = "$(printf 'freshet.db\nwarc')" ] || fail "left behind: $(ls own)"

# only the folder is closed; only the file is
chmod 666 own/freshet.db
reads; writes
chmod 777 own; chmod 444 own/freshet.db
reads; writes
[ "$(ls own)" = "$(printf 'freshet.db\nwarc')" ] || fail "left behind: $(ls own)"
chmod 755 own; chmod 644 own/freshet.db

# its owner is writing: what is in the log is seen
if [ -n "$someone" ]; then
	mkfifo hold
	python3 - <<'PY' &
import sqlite3
db = sqlite3.connect("own/freshet.db", isolation_level=None)
db.execute("PRAGMA wal_autocheckpoint = 0")
db.execute("INSERT INTO settings VALUES ('budget', '77')")
open("hold", "w").close()
open("hold").close()
PY
	owner=$!
	cat hold > /dev/null
	expect 0 $someone "$FRESHET" -C own get budget
	grep -q 77 out || fail "the log was not read"
	reads
	: > hold
	wait $owner
	expect 0 $someone "$FRESHET" -C own get budget
	grep -q 77 out || fail "nothing of it is left"
fi

# one who may not even look
if [ -n "$someone" ]; then
	chmod 700 own
	expect 5 $someone "$FRESHET" -C own status
	grep -qi 'permission' err || fail "no word of permission"
fi
chmod 755 own
