#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Files of other crawlers: Heritrix's crawl.log and Nutch's `readdb -dump`, samples written from the
# descriptions of the formats; and what wget, wget2, HTTrack and curl make of a web of ours, by the
# recipes of docs/neighbours.md.  A program that is not on this machine is passed over.
. "$SRC/tests/lib/e2e.sh"

cp "$SRC/fuzz/corpus/heritrix/some" crawl.log
sed 's/2011-06-23T17:12/2011-06-24T17:12/; s/20110623/20110624/; s/2WAXX5/3WAXX5/' crawl.log > crawl2.log
"$f" --quiet init h; expect 0 "$f" -C h --json import crawl.log
is "r['pages']" 2; is "r['captures']" 2; is "r['other']" 3; is "r['malformed']" 0
gzip -k crawl2.log; expect 0 "$f" -C h --json import crawl2.log.gz; is "r['captures']" 2
expect 0 "$f" -C h --json import crawl.log; is "r['captures']" 0
"$f" --quiet -C h export visits > v; grep -c '"outcome":"changed"' v | grep -qx 1 || fail "the change was not seen: $(cat v)"
"$f" --quiet -C h export cdxj | grep -q '20110623171208 .*"digest":"2WAXX5NUWNNCS2BDKCO5OVDQBJVNKIVV"' || fail "digest and time"
printf 'nonsense here\n' >> crawl2.log; expect 0 "$f" -C h --json import crawl2.log; is "r['malformed']" 1; grep -q "crawl2.log:6" err || fail "$(cat err)"

cp "$SRC/fuzz/corpus/nutch/some" dump
"$f" --quiet init n; expect 0 "$f" -C n --json import dump
is "r['pages']" 2; is "r['captures']" 1; is "r['malformed']" 0
"$f" --quiet -C n export cdxj | grep -q "20240301100000 .*http://a.example/" || fail "the time of the last fetch"
"$f" --quiet -C n export pages | grep -q http://a.example/new || fail "a page that was never fetched"
expect 0 "$f" -C n --json import dump; is "r['pages']" 0; is "r['captures']" 0; is "r['known']" 1

# others' programs on a small web
cat > web.py <<'PY'
from origin import serve
def answer(q):
    if q.path == "/robots.txt":
        return 404, b"none"
    if q.path in ("/", "/a.html", "/b.html"):
        return 200, ("<html><head><title>%s</title></head><body>text of %s <a href='/a.html'>a</a> <a href='/b.html'>b</a></body></html>" % (q.path, q.path)).encode()
    return 404, b"gone"
serve(answer)
PY
start_origin web.py
try() { command -v "$1" > /dev/null || { echo "crawlers.sh: no $1 here"; return 1; }; }

try wget && {
	wget -q -r -l 2 --warc-file=w --no-check-certificate "$url/" -P wget.d || true
	"$f" --quiet init w; expect 0 "$f" -C w --json import w.warc.gz; is "r['captures']" 3; is "r['malformed']" 0
	"$f" --quiet -C w cat "$url/a.html" > got; cmp got "wget.d/${url#http://}/a.html"
	# wget asks only for what Freshet plans
	"$f" --quiet -C w plan --budget 2 --policy random --format urls > list
	[ "$(grep -c ^http list)" = 2 ] || fail "a plan for wget: $(cat list)"
	sleep 1         # a page has one copy a second
	wget -q -i list --warc-file=w2 -O /dev/null
	expect 0 "$f" -C w --json import w2.warc.gz; is "r['captures']" 2
}
try wget2 && {
	TMPDIR=$PWD wget2 -q -r -l 2 --robots=off -P wget2.d "$url/" 2> /dev/null || true
	(cd wget2.d && find . -name '*.html') | sed "s,^\./[^/]*,$url,; s,/index.html$,/," | sort > list
	"$f" --quiet init w2; expect 0 "$f" -C w2 --json import list; is "r['pages']" 3
}
try httrack && {
	httrack "$url/" -O ht -q -r3 -s0 > /dev/null 2>&1 || true
	# new.txt: date, sizes, flags, status, type, then the URL
	cut -f8 ht/hts-cache/new.txt | grep '^http' | grep -v robots.txt | sort -u > list
	"$f" --quiet init ht-r; expect 0 "$f" -C ht-r --json import list; is "r['pages']" 3
}
try curl && {
	"$f" --quiet init c; expect 0 "$f" -C c import w.warc.gz
	"$f" --quiet -C c plan --budget 3 --policy random --format urls > list
	while read -r u; do
		curl -s -o body -w '{"url":"%{url_effective}","status":%{http_code}}\n' "$u"
	done < list > told
	expect 0 "$f" -C c --json tell told; is "r['told']" 3; is "r['malformed']" 0
}
exit 0
