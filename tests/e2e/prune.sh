#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# freshet prune and compact: what stays, what goes, what it costs nobody.  Pages that change each
# cycle, each third, never; one that redirects, one that goes; imported archives beside them.
. "$SRC/tests/lib/e2e.sh"
cat > web.py <<'PY'
from origin import *
def answer(q):
    now = int(open("state").read())
    if q.path == "/robots.txt": return 404, b""
    if q.path == "/moved": return 302, b"there", [("Location", "/always")]
    if q.path == "/goes" and now > 3: return 404, b"no"
    version = {"/always": now, "/third": now // 3, "/never": 0, "/goes": now}[q.path]
    return 200, b"<title>t</title><p>page %s version %d %s" % (q.path.encode(), version, b"filler " * 300)
serve(answer)
PY
echo 0 > state
start_origin web.py
$f init d 2> /dev/null
for p in always third never goes moved; do echo "$url/$p"; done > urls
$f -C d import urls > /dev/null 2>&1
python3 - <<'P'
import gzip
def rec(n, day, body):
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    return gzip.compress(("WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-0000000000%02d>\r\nWARC-Date: 2024-01-%02dT00:00:00Z\r\nWARC-Target-URI: http://old.example/\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n" % (n, day, len(http))).encode() + http + b"\r\n\r\n")
open("old.warc.gz", "wb").write(b"".join(rec(i, i, b"version %d" % (i // 2)) for i in range(1, 9)))
open("older.warc.gz", "wb").write(rec(20, 9, b"version 9"))
P
$f -C d import old.warc.gz > /dev/null 2>&1
for n in 0 1 2 3 4 5 6 7 8 9; do
	echo $n > state
	$f -C d cycle --budget 50 --policy round-robin --now 2026-01-1${n}T00:00:00Z --contact me@example.org --allow-net 127.0.0.0/8 --delay 0s > /dev/null 2> err || fail "cycle $n"
done
copies() { $f -C d show "$1" --json > out; python3 -c 'import json; print(" ".join(c["time"][:10] for c in json.load(open("out"))["captures"] if not c.get("revisit")))'; }
visits() { $f -C d export visits; }
readable() { # every copy that the tables name can be read
	$f -C d export warc -o all.$1 > /dev/null 2> err || fail "export warc"
	! grep -qi 'lost\|missing\|no record' err || fail "a copy cannot be read: $(cat err)"
	rm -r all.$1
	$f -C d cat "$url/moved" > /dev/null 2> err || fail "cat"
}
visits > visits.before; $f -C d export changed --since 2026-01-01 > changed.before
cp -r d untouched; readable 0
$f -C d plan --budget 3 --policy tide --now 2026-01-20T00:00:00Z > plan.before
$f -C d replay d --policy round-robin --cycle 1d --budget 2 --json > replay.before 2> /dev/null
old=$(md5sum old.warc.gz)

# what would go: nothing changes
expect 2 $f -C d prune
expect 0 $f -C d prune --keep-versions 3 --dry-run --json --now 2026-01-20T00:00:00Z
is 'schema' freshet.prune/1; is 'dry_run' True; would=$(field dropped)
[ "$would" -gt 20 ] || fail "only $would captures would go"
visits | cmp - visits.before || fail "a dry run wrote"

# one page first, then all
expect 0 $f -C d prune --keep-versions 1 --match "$url/goes" --json; is pages 1
[ "$(copies "$url/goes")" = "2026-01-13 2026-01-14 2026-01-15" ] || fail "of a page that is gone: its last copy, and the answers since; $(copies "$url/goes")"
[ "$(copies "$url/third" | wc -w)" = 4 ] || fail "another page lost a copy"
readable 1
expect 0 $f -C d prune --keep-versions 3 --json
is 'files["deleted"] > 0 or files["rewritten"] > 0' True; is 'files["bytes_after"] < files["bytes_before"]' True; is 'files["left"]' 0
[ "$(copies "$url/always")" = "2026-01-17 2026-01-18 2026-01-19" ] || fail "three versions stay: $(copies "$url/always")"
[ "$(copies "$url/third")" = "2026-01-13 2026-01-16 2026-01-19" ] || fail "three versions: $(copies "$url/third")"
[ "$(copies "$url/never")" = "2026-01-10" ] || fail "the copy that revisits speak of: $(copies "$url/never")"
[ "$(copies http://old.example/ | wc -w)" = 3 ] || fail "imported copies: $(copies http://old.example/)"
readable 2
$f -C d cat "$url/always" --at 2026-01-17 | grep -q 'version 7' || fail "an older version"
[ "$(md5sum old.warc.gz)" = "$old" ] || fail "a foreign archive was touched"
# what was learnt stays: visits, changes since a time, plans, and a replay of one's own history
visits | cmp - visits.before || fail "visits"
$f -C d export changed --since 2026-01-01 > changed.now
python3 - <<'P' || fail "changes since a time"
import json
a, b = ([json.loads(l) for l in open("changed." + n)] for n in ("before", "now"))
keys = ("url", "time", "outcome", "status", "cycle")
assert a and [[r.get(k) for k in keys] for r in a] == [[r.get(k) for k in keys] for r in b]
P
$f -C d plan --budget 3 --policy tide --now 2026-01-20T00:00:00Z | cmp - plan.before || fail "another plan"
$f -C d replay d --policy round-robin --cycle 1d --budget 2 --json > replay.now 2> /dev/null
python3 - <<'P' || fail "another replay"
import json
a, b = (json.load(open("replay." + n))["runs"][0]["mean"] for n in ("before", "now"))
assert a["change_ratio"] == b["change_ratio"], (a, b)
P
# the same again does nothing
expect 0 $f -C d prune --keep-versions 3 --json; is dropped 0; is 'files["rewritten"]' 0; is 'files["deleted"]' 0

# an import after a prune: the visits of copies that went stay as they were
visits | grep '"cycle":0,' | sort > imported
$f -C d import older.warc.gz > /dev/null 2>&1
visits | grep '"cycle":0,' | sort > now
[ "$(wc -l < imported)" = 8 ] && [ "$(comm -13 imported now | grep -c 2024-01-09)" = 1 ] && [ "$(wc -l < now)" = 9 ] || fail "imported visits were judged anew without their copies"

case $f in */on_pg.sh) expect 0 $f -C d compact --json; is 'files["after"]' 1; readable pg; exit 0 ;; esac

# by age: the time, and the copy that was true when it began
rm -rf d; cp -r untouched d
expect 0 $f -C d prune --keep 5d --now 2026-01-20T00:00:00Z --json
[ "$(copies "$url/always")" = "2026-01-14 2026-01-15 2026-01-16 2026-01-17 2026-01-18 2026-01-19" ] || fail "by age: $(copies "$url/always")"
[ "$(copies "$url/third")" = "2026-01-13 2026-01-16 2026-01-19" ] || fail "by age: $(copies "$url/third")"
$f -C d cat "$url/third" --at 2026-01-15 | grep -q 'version 1' || fail "what was true then"
readable 3

# compact: fewer files, every record still there
before=$(ls d/warc | wc -l)
$f -C d export cdxj | sed -E 's/"(filename|offset)":[^,}]*[,}]//g' > index.before
expect 0 $f -C d compact --json; is schema freshet.compact/1; is 'files["after"]' 1
[ "$before" -gt 1 ] && [ "$(ls d/warc | wc -l)" = 1 ] || fail "files: $before before, $(ls d/warc)"
$f -C d export cdxj | sed -E 's/"(filename|offset)":[^,}]*[,}]//g' | cmp - index.before || fail "another index"
readable 4
expect 0 $f -C d compact

# cycles go on, and what they write is pruned like the rest
for n in 0 1; do
	echo 2$n > state
	$f -C d cycle --compress zstd --budget 50 --policy round-robin --now 2026-01-2${n}T00:00:00Z --contact me@example.org --allow-net 127.0.0.0/8 --delay 0s > /dev/null 2> err || fail "a cycle after it"
done
expect 0 $f -C d prune --keep-versions 1 --json; expect 0 $f -C d compact
[ "$(copies "$url/always")" = 2026-01-21 ] || fail "one version: $(copies "$url/always")"
readable 5

# a disk that is full, or nearly: an error and nothing lost, then the same command works
if mkdir small && mount -t tmpfs -o size=4m none small 2> /dev/null; then
	trap 'kill $origin; umount "$TMP/small"' EXIT
	refused=0
	for room in 0 8 40 150; do
		rm -rf small/r small/rest; cp -r untouched small/r; rm -rf d; ln -sfn small/r d
		dd if=/dev/zero of=small/rest bs=1k 2> /dev/null || true
		truncate -s -${room}k small/rest
		code $f -C d prune --keep-versions 2
		case $rc in 0) ;; 3|5) refused=$((refused + 1)); [ -s err ] || fail "no message" ;; *) fail "a full disk: exit $rc" ;; esac
		$f -C d cat "$url/always" --at 2026-01-18 | grep -q 'version 8' || fail "lost with $room KB"
		readable full
		rm small/rest
		expect 0 $f -C d prune --keep-versions 2
		readable full
		[ "$(copies "$url/always" | wc -w)" = 2 ] || fail "two versions with $room KB"
		ls d/warc | grep -v '^freshet-.*\.warc\.gz$' && fail "left behind"
	done
	[ $refused -gt 0 ] || fail "the disk was never full"
	rm -f d
fi
