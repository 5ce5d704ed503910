#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# What a user is told is true: errors are not announced as successes, what is wrong with a
# setting is said when it is set, dates of the future do not hide pages.
. "$SRC/tests/lib/e2e.sh"

# --- a full disk in the middle of an import: no word of success, and what is said to be
# kept is what is there
for i in $(seq 45000); do
	printf 'org,example)/%05d 20240101000000 {"url":"http://example.org/%05d","status":"200","mime":"text/html","digest":"D%d"}\n' "$i" "$i" "$i"
done >big.cdxj
$f init whole 2>err; expect 0 $f -C whole import big.cdxj
size=$(($(stat -c %s whole/freshet.db) / 1024))
n=0
for tenths in 3 4 5 6 7 8; do           # where it fails depends on when SQLite writes what
	rm -rf part; $f init part 2>err
	code bash -c "trap '' XFSZ; ulimit -f $((size * tenths / 10)); exec '$f' -C part import big.cdxj"
	[ $rc != 0 ] || continue
	[ $rc = 5 ] || fail "exit $rc of an import that failed"
	[ ! -s out ] || fail "an import that failed says what it did as if it had not: $(cat out)"
	kept=$(sed -n 's/.*; \([0-9]*\) new pages* and .* kept: .*/\1/p' err)
	[ "${kept:-0}" = 0 ] || n=$((n + 1))
	[ -n "$kept" ] || grep -q 'nothing new was kept' err || fail "what was kept is not said: $(cat err)"
	expect 0 $f -C part status --json
	is pages "${kept:-0}"
done
[ $n -gt 0 ] || fail "no import failed in its middle"
expect 0 $f -C part import big.cdxj
expect 0 $f -C part status --json
is pages 45000
$f init none 2>err; seq -f 'http://example.org/%06.0f' 60000 >list
expect 5 bash -c "trap '' XFSZ; ulimit -f 1000; exec '$f' -C none import list"
[ ! -s out ] && grep -q 'nothing new was kept' err || fail "nothing was kept, and that is not said"
expect 0 $f -C none status --json
is pages 0

# --- captures dated in the future are left out, with one warning and a count
printf 'org,example)/%s {"url":"http://f.example/%s","status":"200","mime":"text/html","digest":"%s"}\n' \
	'a 20240101000000' a A 'a 20990101000000' a B 'b 20990101000000' b C 'c 20990101000000' c D >future.cdxj
$f init f 2>err
expect 0 $f -C f import future.cdxj
grep -q '^1 new page, 1 capture, 3 dated in the future and left out$' out || fail "import of the future"
[ "$(grep -c warning err)" = 1 ] && grep -q '3 captures are dated in the future' err || fail "one warning: $(cat err)"
expect 0 $f -C f show http://f.example/a --json
is last_visit 2024-01-01T00:00:00Z
expect 0 $f -C f import future.cdxj --json --now 2100-01-01
is '(pages, captures, future)' '(2, 3, 0)'
# told: the outcome counts, the date does not
printf '{"url":"http://f.example/%s","outcome":"same","time":"2098-01-01"}\n' t u >told
expect 0 $f -C f tell told --add --now 2025-03-04
[ "$(grep -c warning err)" = 1 ] && grep -q '2 lines have a time in the future' err || fail "tell of the future: $(cat err)"
expect 0 $f -C f show http://f.example/t --json
is last_visit 2025-03-04T00:00:00Z
echo '{"url":"http://f.example/t","outcome":"same","time":"2025-06-01T10:00:00Z"}' >told
expect 0 $f -C f tell told --now 2025-06-01     # a clock that is some hours ahead
is_quiet=$(cat err); [ -z "$is_quiet" ] || fail "tell warns of a few hours: $is_quiet"

# --- a contact is somebody
for contact in foo mailto: mailto:you http:// 'a b@example.org' 'https://x.example/ (me)' @example.org you@ 'you@example.org)'; do
	expect 2 $f -C f set contact "$contact"
	grep -q 'no way to reach you; write mailto:you@example.org' err || fail "contact $contact: $(cat err)"
	expect 2 $f -C f cycle --contact "$contact" --budget 1
	grep -q 'no way to reach you' err || fail "cycle --contact $contact: $(cat err)"
done
for contact in mailto:you@example.org you@example.org https://example.org/crawler http://127.0.0.1/; do
	expect 0 $f -C f set contact "$contact"
done

# --- --since takes a duration: that long ago
$f init s 2>err
now=$(date -u +%s)
for hours in 1 30 80; do
	printf '{"url":"http://s.example/%d","outcome":"changed","time":"%s"}\n' "$hours" "$(date -u -d "@$((now - hours * 3600))" +%Y-%m-%dT%H:%M:%SZ)"
done >told
expect 0 $f -C s tell told --add
for since in 2h:1 1d12h:2 2d:2 1w:3; do
	expect 0 $f -C s export visits --since "${since%:*}"
	[ "$(wc -l <out)" = "${since#*:}" ] || fail "--since $since: $(cat out)"
done
expect 0 $f -C s export changed --since 2d
[ "$(wc -l <out)" = 2 ] || fail "export changed --since 2d"
for since in 2x 17 '' -2d; do
	expect 2 $f -C s export visits --since "$since"
	grep -q 'nor a duration such as 2d' err || fail "--since '$since': $(cat err)"
done

# --- shares are numbers that people read
head -n 300 list >few; $f init few-pages 2>err; expect 0 $f -C few-pages import few
expect 0 $f -C few-pages plan --budget 299 --json
is '"the budget is 100 % of 300 pages" in explain' True

# --- an archive file that is lost: one warning, with the number of its captures
record() { # URL
	local body=$'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>'$1
	printf 'WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-%012d>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\nWARC-Target-URI: %s\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n' "$RANDOM" "$1" ${#body} "$body"
}
for w in one two kept; do for i in 1 2 3 4 5; do record "http://$w.example/$i"; done >$w.warc; done
$f init w 2>err; expect 0 $f -C w import one.warc two.warc kept.warc
rm one.warc two.warc
expect 0 $f -C w export warc -o again --json
is '(written, lost)' '(5, 10)'
[ "$(grep -c warning err)" = 2 ] && [ "$(grep -c '5 captures in it are lost' err)" = 2 ] || fail "warnings of lost files: $(cat err)"

# --- all is well, and that is said; what is not, is an error
expect 0 $f -C f check
grep -q '^nothing is wrong' out || fail "check says nothing when all is well"
expect 1 $f -C w check --json
is '(wrong, lost)' '(2, 10)'
head -c 40000 /dev/zero | dd of=part/freshet.db bs=1 seek=$((size * 512)) conv=notrunc 2>/dev/null
expect 1 $f -C part check
! grep -q 'nothing is wrong' out || fail "check of damaged tables"
