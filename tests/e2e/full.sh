#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A disk that fills up while something is written for others: a message, status 3 or 5,
# nothing half there, and the same command works when there is room.  (Cycles on full disks:
# trouble.sh; files written whole or not at all: base/output.)  A limit on the size of files
# stands for the full disk; where we may mount one, a real one comes as well.
. "$SRC/tests/lib/e2e.sh"
. "$SRC/tests/lib/service.sh"
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY || true

seq -f 'http://a.example/%.0f-a-name-that-takes-some-room' 20000 > urls
"$FRESHET" init r 2> /dev/null
"$FRESHET" -C r import urls > /dev/null
sed 's/.*/{"url":"&","outcome":"changed","digest":"D"}/' urls | head -3000 > told
"$FRESHET" -C r tell told > /dev/null

limited() { # kilobytes command...
	local most=$1; shift
	bash -c 'trap "" XFSZ; ulimit -f $1; shift; exec "$@"' - $((most)) "$@"
}
refused() { # what was there command...
	local was=$1; shift
	code limited 100 "$@"
	case $rc in 3|5) ;; *) fail "exit $rc: $*";; esac
	[ -s err ] || fail "no message: $*"
	[ "$(cat made)" = "$was" ] || fail "the old file is gone: $*"
	[ ! -e made.part ] || fail "left behind: $*"
}

# exports, reports and saved results: what was there stays
for c in "export pages" "export visits" "export changed" "export cdxj --extended"; do
	echo before > made
	refused before "$FRESHET" -C r $c -o made
	expect 0 "$FRESHET" -C r $c -o made
	[ "$(wc -c < made)" -gt 100000 ] || fail "$c is small"
done
echo before > made
refused before "$FRESHET" report r --out made
refused before "$FRESHET" world made
expect 3 "$FRESHET" -C r export pages -o /dev/full
expect 3 bash -c '"$1" -C r export pages > /dev/full' - "$FRESHET"

# the tables: whole or not at all
pages() { "$FRESHET" -C "$1" status --json > out; field pages; }
seq -f 'http://b.example/%.0f-a-name-that-takes-some-room' 60000 > more
before=$(pages r)
size=$(($(stat -c %s r/freshet.db) / 1024 + 200))
code limited $size "$FRESHET" -C r import more
[ "$rc" = 5 ] || fail "import into full tables: exit $rc"
grep -qi 'full\|I/O' err || fail "no word of the disk"
expect 0 "$FRESHET" -C r check
expect 0 "$FRESHET" -C r import more
[ "$(pages r)" = $((before + 60000)) ] || fail "pages: $(pages r)"

if mkdir small && mount -t tmpfs -o size=2m none small 2> /dev/null; then
	trap 'kill -9 ${service:-} 2>/dev/null && wait $service || :; umount "$TMP/small"' EXIT
	code "$FRESHET" -C r export pages -o small/made
	[ "$rc" = 3 ] || fail "a full disk: exit $rc"
	grep -q 'No space left' err || fail "no word of the disk"
	[ -z "$(ls small)" ] || fail "left behind: $(ls small)"
	"$FRESHET" init small/r 2> /dev/null
	code "$FRESHET" -C small/r import more
	[ "$rc" = 5 ] || fail "import on a full disk: exit $rc"
	mount -o remount,size=60m small
	expect 0 "$FRESHET" -C small/r import more
	[ "$(pages small/r)" = 60000 ] || fail "pages: $(pages small/r)"
	# no byte is left: who reads can still do so, who writes is told
	dd if=/dev/zero of=small/rest bs=1k 2> /dev/null || true
	[ "$(pages small/r)" = 60000 ] || fail "not to be read on a full disk"
	expect 0 "$FRESHET" -C small/r show http://b.example/7-a-name-that-takes-some-room
	expect 5 "$FRESHET" -C small/r add http://c.example/
	grep -q 'disk full' err || fail "no word of the disk: $(cat err)"
	rm small/rest
	expect 0 "$FRESHET" -C small/r add http://c.example/
	# a service reads, says of what it cannot write that the disk is full (507), and goes on when there is room
	start_service small/r
	dd if=/dev/zero of=small/rest bs=1k 2> /dev/null || true
	tell() { sed 's/.*/{"url":"&","status":200,"digest":"D"}/' more | head -3000 | curl -s -o out -w '%{http_code}' --data-binary @- "$api/v1/tell"; }
	[ "$(tell)" = 507 ] && grep -q '"title":"Insufficient Storage".*disk' out || fail "told on a full disk: $(cat out)"
	[ "$(curl -s -o out -w '%{http_code}' "$api/v1/status")" = 200 ] || fail "read on a full disk: $(cat out)"
	rm small/rest
	[ "$(tell)" = 200 ] && grep -q '"told":3000,' out || fail "told when there was room again: $(cat out)"
	stop_service
fi
