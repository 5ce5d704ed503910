#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `freshet cycle --discover`: pages that are newly linked or in a sitemap come under
# care, with a share of the budget, reported; a kill in the middle changes nothing.
. "$SRC/tests/lib/e2e.sh"

cat > web.py <<'PY'
import gzip, time
from origin import *
def answer(q):
    told, path = state(), q.path
    note(path)
    if "slow" in told: time.sleep(0.03)
    kind, body, more, host = "text/html", b"<p>" + path.encode(), [], b"http://" + q.headers["Host"].encode()
    if host.startswith(b"http://127.0.0.2"):        # sitemaps: an index of an index, gzip, text, another site, a bomb
        if path == "/robots.txt": body = b"User-agent: *\nDisallow: /m/no\nSitemap: %s/index.xml\nSitemap: http://127.0.0.3/x.xml\nsitemap:%s/list.txt\n" % (host, host)
        elif path == "/index.xml": kind, body = "application/xml", b"<sitemapindex>" + b"".join(b"<sitemap><loc>%s/%s</loc></sitemap>" % (host, n) for n in (b"one.xml.gz", b"two.xml.gz", b"deeper.xml", b"index.xml", b"404.xml", b"bomb.xml.gz")) + b"</sitemapindex>"
        elif path == "/one.xml.gz": body = gzip.compress(b"<urlset><url><loc>%s/m/1</loc></url><url><loc>%s/m/no</loc></url></urlset>" % (host, host))
        elif path == "/two.xml.gz": more, body = [("Content-Encoding", "gzip")], gzip.compress(b"<urlset><url><loc>%s/m/2</loc></url></urlset>" % host)
        elif path == "/deeper.xml": body = b"<sitemapindex><sitemap><loc>%s/three.xml</loc></sitemap></sitemapindex>" % host
        elif path == "/three.xml": body = b"<urlset><url><loc>%s/m/3?a=1&amp;b=2</loc></url><url><loc>http://127.0.0.3/m/4</loc></url></urlset>" % host
        elif path == "/list.txt": kind, body = "text/plain", b"%s/m/5\n" % host
        elif path == "/bomb.xml.gz": body = gzip.compress(b"<urlset><url><loc>%s/m/6</loc></url>" % host + b" " * (80 << 20))
        elif path == "/404.xml": return 404, b""
    elif host.startswith(b"http://127.0.0.4"):      # what is not to be followed
        if path == "/robots.txt": body = b""
        elif path == "/": body = b"<a href=/open>o</a><a rel=nofollow href=/closed>c</a><a rel='x nofollow' href=/both>b</a><a href=/both>b</a><a href=/meta>m</a><a href=/head>h</a><a href=/dead>d</a>"
        elif path == "/dead": return 404, b""
        elif path == "/meta": body = b"<meta name=robots content='noindex,nofollow'><a href=/behind-meta>x</a>"
        elif path == "/head": more, body = [("X-Robots-Tag", "otherbot: noarchive"), ("X-Robots-Tag", "nofollow")], b"<a href=/behind-head>x</a>"
    elif host.startswith(b"http://127.0.0.5"):      # content that stays, under a header that does not
        if path == "/robots.txt": body = b""
        else:
            if "closed" in told: more = [("X-Robots-Tag", "noindex, nofollow")]
            body = b"<meta name=robots content=noindex><a href=/x>x</a><a rel=nofollow href=/y>y</a>"
            if path == "/tagged":
                more.append(("ETag", '"1"'))
                if q.headers["If-None-Match"] == '"1"': return 304, b"", more
    elif host.startswith(b"http://127.0.0.6"):      # a link that goes, with all others
        if path != "/": return 404, b""
        body = b"no links" if "bare" in told else b"<a href=/z>z</a>"
    elif path == "/robots.txt": body = b"User-agent: *\nDisallow: /secret\nSitemap: /ignored\nSitemap: http://%s/map.xml.gz\n" % q.headers["Host"].encode()
    elif path == "/map.xml.gz": kind, body = "application/gzip", gzip.compress(b"<urlset><url><loc>http://%s/mapped</loc></url><url><loc>http://elsewhere.example/x</loc></url></urlset>" % q.headers["Host"].encode())
    elif path == "/": body = b"<a href=/a>a</a><a href=/secret>s</a><a href='/a?PHPSESSID=1'>p</a><a href=/big.zip>z</a>" + (b"<a href=/late>l</a>" if "later" in told else b"")
    elif path.startswith("/t/"): body = b"".join(b"<a href=/t/%d>t</a>" % (int(path[3:]) * 7 + i) for i in range(1, 8))
    return 200, body, more + [("Content-Type", kind)]
serve(answer, "0.0.0.0")
PY
echo now > state
start_origin web.py

pages() { "$FRESHET" -C "$1" export pages | python3 -c 'import json,sys; print(" ".join(sorted(json.loads(l)["url"].split("/",3)[3] for l in sys.stdin)))'; }
new() { # folder url
	"$FRESHET" init "$1" 2> /dev/null
	echo "$2" > urls
	"$FRESHET" -C "$1" import urls > /dev/null
	"$FRESHET" -C "$1" set contact mailto:test@example.org > /dev/null
}
cycle() { "$FRESHET" -C "$1" cycle --delay 0 --allow-net 127.0.0.1/32 --json "${@:2}"; }

# off: nothing is added
new r "$url/"
expect 0 cycle r --budget 10 --now 20230101
is 'r.get("discovery")' None
[ "$(pages r)" = "" ] # the home page alone, whose path is empty
! grep map log || exit 1

# on, by a setting: a link and a page of the sitemap; what must be left is left
"$FRESHET" -C r set discover 50%
expect 0 cycle r --budget 10 --now 20230102
is 'discovery["share"], discovery["found"], discovery["added"], discovery["asked_new"], discovery["sitemaps"]' "(5, 5, 2, 2, 1)"
is 'discovery["refused"]' "{'session': 1, 'file': 1, 'robots': 1}"
is 'r["new"], r["downloads"]' "(2, 3)"
[ "$(pages r)" = " a mapped" ]
! grep 'secret\|zip\|SESS\|ignored' log || exit 1

# a link that comes later; the table says so, too
echo later > state
expect 0 cycle r --budget 10 --now 20230103
expect 0 "$FRESHET" -C r cycle --delay 0 --allow-net 127.0.0.1/32 --budget 10 --now 20230104
grep -q '1 added' out
[ "$(pages r)" = " a late mapped" ]
"$FRESHET" -C r log --cycle 4 | grep 'new  ' | grep -q /late

# sitemaps that robots.txt names, of this site only: an index in an index, gzip as a file and as a
# coding, text; what is broken or too large breaks nothing
new m "http://127.0.0.2:$(cat port)/"
expect 0 cycle m --budget 20 --discover 10 --allow-net 127.0.0.0/8 --now 20230101
[ "$(pages m)" = " m/1 m/2 m/3?a=1&b=2 m/5 m/6" ] || { pages m; cat out; exit 1; }
is 'discovery["refused"]' "{'robots': 1}"
is 'discovery["sitemap_requests"], discovery["sitemaps"]' "(8, 7)"
[ "$(grep -c index.xml log)" = 1 ]
# once a day, though it is another start
expect 0 cycle m --budget 20 --discover 10 --allow-net 127.0.0.0/8 --now 20230101120000
is 'discovery["sitemap_requests"], r["robots_requests"]' "(0, 0)"
expect 0 cycle m --budget 20 --discover 10 --allow-net 127.0.0.0/8 --now 20230102010000
is 'discovery["sitemap_requests"], r["robots_requests"]' "(8, 1)"

# nofollow: of a link, of a page by <meta>, of an answer by X-Robots-Tag; unless it is asked for
new n "http://127.0.0.4:$(cat port)/"
for n in 1 2 3; do expect 0 cycle n --budget 20 --discover 10 --allow-net 127.0.0.0/8 --now 2023010$n; done
[ "$(pages n)" = " both dead head meta open" ] || { pages n; exit 1; }
# a link that leads nowhere is asked once, and leaves
[ "$(grep -c '^/dead$' log)" = 1 ]
"$FRESHET" -C n export pages | grep /dead | grep -q '"left"'
is 'discovery["nofollow"]' 3
for n in 4 5 6; do expect 0 cycle n --budget 20 --discover 10 --allow-net 127.0.0.0/8 --discover-nofollow --now 2023010$n; done
[ "$(pages n)" = " behind-head behind-meta both closed dead head meta open" ] || { pages n; exit 1; }
"$FRESHET" -C n show --json "http://127.0.0.4:$(cat port)/meta" | grep -q '"robots":"nofollow noindex"'
[ "$("$FRESHET" -C n export changed | grep -c '/meta".*"robots":"nofollow noindex"')" = 1 ]
# an index has it, too, and brings it back
robots() { "$FRESHET" -C "$1" export cdxj --extended | grep -v warc/revisit | grep -o '/[a-z-]*","mime.*"robots":"[^"]*"' | sed 's/","mime.*"robots"//' | sort -u | tr '\n' ' '; }
want='/:"/closed" /head:"nofollow" /meta:"nofollow noindex" '
[ "$(robots n)" = "$want" ] || { robots n; exit 1; }
"$FRESHET" -C n export cdxj --extended -o n.cdxj
"$FRESHET" init n2 2> /dev/null
"$FRESHET" -C n2 import n.cdxj > /dev/null
[ "$(robots n2)" = "$want" ] || { robots n2; exit 1; }

# a header that comes and goes over the same bytes: what it adds is seen of any answer, what it no
# longer says of a whole one; what the page says itself stays
new h "http://127.0.0.5:$(cat port)/"
"$FRESHET" -C h add "http://127.0.0.5:$(cat port)/tagged" > /dev/null
asks() { "$FRESHET" -C h show --json "http://127.0.0.5:$(cat port)/${1-}" > show.json; python3 -c 'import json; print(json.load(open("show.json"))["captures"][0].get("robots"))'; }
visit() { echo "$1" > state; expect 0 cycle h --budget 20 --discover 10 --allow-net 127.0.0.0/8 --now "$2"; }
visit open 20230101
[ "$(asks) / $(asks tagged)" = "noindex /y / noindex /y" ] || { asks; asks tagged; exit 1; }
visit closed 20230102
is 'r["same"], r["not_modified"]' "(2, 1)"
[ "$(asks) / $(asks tagged)" = "nofollow noindex /y / nofollow noindex /y" ] || { asks; asks tagged; exit 1; }
visit open 20230103
is 'r["same"], r["not_modified"]' "(3, 1)"
[ "$(asks) / $(asks tagged)" = "noindex /y / nofollow noindex /y" ] || { asks; asks tagged; exit 1; }
echo now > state

# a page without links has none: those of its copy before are no longer followed
new b "http://127.0.0.6:$(cat port)/"
expect 0 cycle b --budget 20 --allow-net 127.0.0.0/8 --now 20230101
echo bare > state
expect 0 cycle b --budget 20 --allow-net 127.0.0.0/8 --now 20230102
is 'changed' 1
expect 0 cycle b --budget 20 --discover 10 --allow-net 127.0.0.0/8 --now 20230103
is 'discovery["found"]' 0
echo now > state

# a trap, killed again and again: never a page twice, never more than the share
new t "$url/t/1"
expect 0 cycle t --budget 10 --now 20230101
echo slow > state
for n in 2 3 4 5 6; do
	: > log
	"$FRESHET" -C t cycle --delay 0 --allow-net 127.0.0.1/32 --budget 10 --discover 6 --discover-per-directory 15 \
		--now 2023010$n > out 2> err & pid=$!
	sleep 0.$((RANDOM % 4)); kill -9 $pid 2> /dev/null || true; wait $pid 2> /dev/null || true
	expect 0 cycle t --budget 10 --discover 6 --discover-per-directory 15 --now 2023010$n
	"$FRESHET" -C t log --last 1 --visits --json > log.json
	python3 - <<'PY'
import json
for c in json.load(open("log.json"))["cycles"]:
    urls = [v["url"] for v in c["visits"]]
    asked = [v for v in c["visits"] if v["reason"] in ("new", "told", "hub")]
    assert len(urls) == len(set(urls)) <= 10 and len(asked) <= 6 and not c["open"], c
PY
done
[ "$("$FRESHET" -C t export pages | grep -c /t/)" -le 16 ]
echo ok
