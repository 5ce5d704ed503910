#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Archives that are odd but legal: what other writers begin their files with, times to the
# millisecond, answers of index servers; and histories no replay should go through blindly.
. "$SRC/tests/lib/e2e.sh"

# 20 pages over 60 days; page i changes every i + 1 days
python3 - <<'P'
import datetime
day = lambda d: (datetime.datetime(2023, 1, 1) + datetime.timedelta(days=d)).strftime("%Y%m%d%H%M%S")
rows = [(i, d, d // (i + 1)) for i in range(20) for d in range(0, 60, i + 1)]
url = lambda i: "http://a.example/d%d/p%d" % (i % 3, i)
key = lambda i: url(i).replace("http://a.example", "example,a)")
json = lambda i, v, more="": '{%s"url":"%s","status":"200","digest":"V%d-%d"}' % (more, url(i), i, v)
def put(name, lines, head=""):
    open(name, "w").write(head + "".join(l + "\n" for l in lines))
plain = ["%s %s %s" % (key(i), day(d), json(i, v)) for i, d, v in rows]
put("plain", plain)
put("head", plain, '!OpenWayback-CDXJ 1.0\n!meta {"a": 1}\n# a comment\n \n')
put("crlf", [l + "\r" for l in reversed(plain)])
put("milli", ["%s %s456 %s" % (key(i), day(d), json(i, v)) for i, d, v in rows])
put("server", [json(i, v, '"urlkey":"%s","timestamp":"%s",' % (key(i), day(d))) for i, d, v in rows])
cells = ['["urlkey","timestamp","original","statuscode","digest"]'] + ['["%s","%s","%s","200","V%d-%d"]' % (
    key(i), day(d), url(i).replace("example/", "example:80/"), i, v) for i, d, v in rows]
put("array", [("[" if i == 0 else "") + r + ("]" if i == len(cells) - 1 else ",") for i, r in enumerate(cells)])
put("oneline", ["[" + ",".join(cells) + "]"])
put("seven", ["%s %s %s text/html 200 %s -" % (l.split()[0], l.split()[1], l.split('"')[3], l.split('"')[11]) for l in plain])
put("bare", [l.replace('"status":"200",', '"length":-1,"text":3.5,') for l in plain])
# of one second: a page before a revisit, a redirect, one that is gone, and failures; else the first
other = lambda l, status, more="": l.replace('"status":"200","digest":"', '"status":"%s",%s"digest":"X' % (status, more))
put("second", [m for l in plain for m in (other(l, 503), other(l, 404), other(l, 302), other(l, 200, '"mime":"warc/revisit",'), l, other(l, 404), other(l, 200))])
put("clock", plain + ["%s 00010101000000 %s" % (key(0), json(0, 99)), "%s 99991231235959 %s" % (key(0), json(0, 98))])
put("junk", plain + ["junk %d" % i for i in range(500)])
put("early", plain + ["%s 20200101000000 %s" % (key(0), json(0, 0))])
P
run() { $f replay "$1" --policy random --policy tide --seeds 2 --cycle 1w --budget 3 --json --no-time >"$1.json" 2>"$1.err"; }
run plain || fail "plain: $(cat plain.err)"
for i in head crlf milli second server array oneline seven bare; do
	run $i || fail "$i: $(cat $i.err)"
	cmp -s plain.json $i.json || fail "$i: another replay"
	$f init r.$i 2>/dev/null; $f -C r.$i import $i >out 2>&1 || fail "import $i: $(cat out)"
	run r.$i; cmp -s plain.json r.$i.json || fail "$i: another replay of the repository"
done

# rows without times are no captures, and are not passed over in silence
echo '[["original"],["http://a.example/"]]' >alone
code $f -C r.array import alone
[ $rc = 3 ] && grep -q 'alone:1: one column alone' err || fail "a list of URLs as an array"

# one line that is wrong is no failure, though every page and capture is known already
expect 0 $f -C r.array import plain
(cat plain; echo 'wrong 2020 {') >mostly
expect 0 $f -C r.array import mostly
grep -q '0 new pages, 0 captures (.* already there), 1 malformed' out || fail "import of what is known"
echo nothing >none; code $f -C r.array add - <none
[ $rc = 3 ] || fail "nothing to add, and exit $rc"

# one wrong clock makes no replay of ten thousand years, and one stray capture no silent one
if run clock; then fail "a replay from year 1 to 9999"; fi
grep -q 'wrong time; give --start and --end' clock.err || fail "clock: $(cat clock.err)"
$f replay clock --start 20230101 --end 20230301 --policy random --budget 3 --json >out 2>&1 || fail "clock: $(cat out)"
run early; grep -q 'only 1 of 20 pages were there at the start' early.err || fail "early: $(cat early.err)"

# many bad lines are counted, not all shown
run junk; cmp -s plain.json junk.json || fail "junk: another replay"
[ "$(grep -c 'neither CDXJ nor CDX' junk.err)" = 20 ] || fail "junk: $(wc -l <junk.err) warnings"
grep -q '500 lines or records could not be read' junk.err || fail "junk: not counted"
: >empty
if run empty; then fail "replayed nothing"; fi
grep -q 'is empty' empty.err || fail "empty: $(cat empty.err)"
run2() { $f replay "$@" --policy random --policy tide --seeds 2 --cycle 1w --budget 3 --json --no-time; }
run2 empty plain >out 2>err && cmp -s out plain.json || fail "an empty file among others: $(cat err)"

# an index is no graph, though its lines look like links
for i in plain server head; do
	if $f rank $i >out 2>err; then fail "rank reads an index: $(cat out)"; fi
	grep -q 'looks like a CDX and no graph' err || fail "rank $i: $(cat err)"
done

# what another crawler tells adds up, and a probability is one; a page is told of once, and again
# only where it had failed: two 404 of one cycle are no confirmation
$f init told 2>/dev/null; $f -C told import plain >/dev/null
cat >told.jsonl <<'J'
{"url":"http://a.example/d0/p0","outcome":"changed","time":"20230401000000","probability":0.5}
{"url":"http://a.example/d1/p1","outcome":"same","time":"20230401000000","probability":1e999}
{"url":"http://a.example/d1/p1","outcome":"same","time":"20230401000000","probability":-1}
{"url":"http://new.example/","status":200,"digest":"ABC","time":"20230401000000"}
{"url":"http://a.example/d0/p0","status":404}
{"url":"http://a.example/d2/p2","status":404}
{"url":"http://a.example/d2/p2","status":404}
{"url":"http://a.example/d0/p3","status":503}
{"url":"http://a.example/d0/p3","outcome":"same"}
J
$f -C told tell told.jsonl --add --json >out 2>err || fail "tell: $(cat err)"
grep -q '"told":5,"new":1,"changed":1,"same":1,"gone":0,"failed":2,"malformed":4' out || fail "tell: $(cat out)"
$f -C told status --json >out
grep -q "\"visits\":$(($(wc -l <plain) + 5)),.*\"visits_imported\":$(wc -l <plain),\"visits_cycles\":5" out || fail "status: $(cat out)"

# what failed confirms no 404: it takes two, with or without failures between
said=; for s in 503 404 500 404; do
	echo "{\"url\":\"http://a.example/d1/p4\",\"status\":$s}" | $f -C told tell - --add --json >out
	said="$said $(grep -o '"gone":[01]' out)"
done
[ "$said" = ' "gone":0 "gone":0 "gone":0 "gone":1' ] || fail "confirmations:$said"

# objects with a url and no time are pages: ours, and those of other crawlers
$f init pages 2>/dev/null
$f -C told export pages | $f -C pages import - >out; grep -q '^21 new pages$' out || fail "export pages, imported: $(cat out)"
printf '\357\273\277{"format":"json-pages-1.0","id":"pages"}\n{"id":"1","url":"http:\\/\\/\\u0062.example\\/","ts":"2023-01-01T00:00:00Z"}\r\n' |
	$f -C pages import - >out 2>err; grep -q '^1 new page, 1 malformed$' out || fail "pages.jsonl: $(cat out err)"
$f -C pages show http://b.example/ >/dev/null || fail "pages.jsonl"
grep -q ':1: no url in this JSON' err || fail "pages.jsonl: $(cat err)"

# a capture without a digest is no change: neither a dash nor nothing is one
n=0; for d in '' ',"digest":"-"' ',"digest":""' ',"digest":null' ',"digest":"A1"' ',"digest":"A2"'; do n=$((n + 1))
	echo "k 2024010${n}000000 {\"url\":\"http://x.example/\",\"status\":\"200\",\"digest\":\"A1\"}" | sed "s/,\"digest.*/$d}/"
done >none
{ echo 'k 20231231000000 {"url":"http://x.example/","status":"200","digest":"A1"}'; cat none; } >none.cdxj
$f init none1 2>/dev/null; $f -C none1 import none.cdxj >/dev/null
[ "$($f -C none1 export visits | grep -o '"outcome":"[a-z]*"' | tr -d '\n')" = '"outcome":"new""outcome":"same""outcome":"changed"' ] ||
	fail "captures without a digest: $($f -C none1 export visits)"
$f replay none.cdxj --cycle 1d --policy random --seeds 1 --csv >out 2>err
[ "$(awk -F, 'NR > 1 { s += $8 } END { print s }' out)" = 1 ] && grep -q '4 records lack the digest' err || fail "captures without a digest: $(cat out err)"

# odd addresses come back from our own index as they went out
n=0; for u in 'http://[2001:DB8::1]:8080/a' 'http://[::1]/' 'https://b\u00fccher.example:443/%7Euser?b=%e9' 'http://x.example?q' \
	'http://x.example/a%2fb,c)d' "http://x.example/$(head -c 7000 /dev/zero | tr '\0' a)" 'http://192.0.2.1/'; do
	n=$((n + 1)); echo "k 2024010${n}000000 {\"url\":\"$u\",\"status\":\"200\",\"digest\":\"D$n\"}"
done >odd
$f init odd1 2>/dev/null; $f -C odd1 import odd >out; grep -q '^7 new pages, 7 captures$' out || fail "odd: $(cat out)"
$f -C odd1 export cdxj >odd.cdxj; LC_ALL=C sort -c odd.cdxj
$f init odd2 2>/dev/null; $f -C odd2 import - <odd.cdxj >out; grep -q '^7 new pages, 7 captures$' out || fail "odd again: $(cat out)"
$f -C odd2 export cdxj | cmp -s - odd.cdxj || fail "odd addresses do not come back"

# results that cannot be written are a failure, whatever flushed them; pipes and devices are
# written to, and never replaced by a file of their name
for o in "" --json --csv "--visits -"; do
	rc=0; $f replay plain --policy random --seeds 1 --cycle 1w $o >/dev/full 2>err || rc=$?
	[ $rc = 3 ] && grep -q 'standard output' err || fail "a full disk under replay $o: exit $rc: $(cat err)"
done
mkfifo pipe
for o in "replay plain --cycle 1w --policy random --seeds 1 --visits" "replay plain --cycle 1w --policy random --seeds 1 --report" "-C told export pages -o" "world"; do
	wc -c <pipe >count & $f $o pipe >/dev/null 2>err || fail "$o: $(cat err)"
	wait $!; [ -p pipe ] && [ "$(cat count)" -gt 1000 ] || fail "a pipe after $o: $(ls -l pipe) $(cat count err)"
done
echo "0 1" >g.txt; rc=0; $f rank g.txt --save pipe >out 2>err || rc=$?; [ $rc = 3 ] && [ -p pipe ] || fail "rank --save into a pipe: exit $rc"
