#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pages that moved for good: seen, followed after so many times, shown everywhere, undone; and
# those that are not followed: under care, out of scope, twice, for a while only, in a loop, back.
. "$SRC/tests/lib/e2e.sh"
echo "-" > state
cat > web.py <<'PY'
from origin import serve, state, note
HOPS = {"/old": (301, "/new"), "/chain": (301, "/chain2"), "/chain2": (308, "/end"), "/part": (301, "/part2"), "/part2": (302, "/part3"),
        "/cared": (301, "/under-care"), "/outside": (308, "/private/x"), "/twin1": (301, "/both"), "/twin2": (301, "/both"),
        "/while": (302, "/elsewhere"), "/loop": (301, "/loop2"), "/loop2": (301, "/loop"), "/nothing": (301, "/missing"), "/other": (301, None),
        "/dies": (301, "/dies2")}
def answer(q):
    note(q.headers["Host"].split(":")[0] + q.path + (" if" if q.headers.get("If-None-Match") else ""))
    words = state()
    if q.path == "/robots.txt" or q.path == "/missing": return 404, b""
    if q.path[1:] + "-back" in words: return 200, b"back"
    if q.path[1:] + "-gone" in words: return 404, b"gone"
    if q.path in HOPS:
        status, to = HOPS[q.path]
        return status, b"moved", [("Location", to or "http://127.0.0.2:%s/far" % open("port").read())]
    etag = '"%s"' % q.path
    if q.headers.get("If-None-Match") == etag: return 304, b"", [("ETag", etag)]
    return 200, b"<p>page of %s</p>" % q.path.encode(), [("ETag", etag)]
serve(answer, "0.0.0.0")
PY
start_origin web.py
"$f" init r 2> err; "$f" -C r set contact mailto:me@example.org; "$f" -C r set exclude /private/
"$f" -C r add $url/{old,chain,part,cared,under-care,outside,twin1,twin2,while,loop,nothing,other,dies} > out
day=1
cycle() { : > log; expect 0 "$f" -C r cycle --allow-net 127.0.0.0/8 --delay 0 --budget 200 --now 2026-01-$(printf %02d $day) "$@"; day=$((day + 1)); }
asked() { grep -c "^127.0.0..$1\( if\)\?$" log || :; }
how() { "$f" -C r moved --json > out; field "[(p['how'], p['to'].split('/', 3)[3], p['times'], p.get('not_followed', '')) for p in pages if p['url'].endswith('/$1')]"; }

cycle; cycle
[ "$(how old)" = "[('seen', 'new', 2, '')]" ] && [ "$(asked /old)" = 1 ] || fail "after two times: $(how old)"
"$f" -C r show $url/old > out; grep -q "moved to .*/new (301, seen 2 times" out && grep -q "not followed yet" out || fail "show: $(cat out)"
cycle --json; is moved 6                # old, chain, part, one of the twins, other (on another host), dies
[ "$(how old)" = "[('followed', 'new', 3, '')]" ] || fail "old: $(how old)"
[ "$(how chain)" = "[('followed', 'end', 3, '')]" ] || fail "chain: $(how chain)"
[ "$(how part)" = "[('followed', 'part2', 3, '')]" ] || fail "up to what is not permanent: $(how part)"
[ "$(how other)" = "[('followed', 'far', 3, '')]" ] || fail "another host: $(how other)"
[ "$(how cared)" = "[('seen', 'under-care', 3, 'the target is a page under care itself')]" ] || fail "under care: $(how cared)"
[ "$(how outside)" = "[('seen', 'private/x', 3, 'the target is out of scope')]" ] || fail "out of scope: $(how outside)"
[ "$(how while)$(how loop)$(how nothing)" = "[][][]" ] || fail "no page, or not for good: $(how while)$(how loop)$(how nothing)"
"$f" -C r moved > out; [ "$(grep -c 'another page is followed there already' out)" = 1 ] || fail "twins: $(cat out)"

# the next cycle asks for the targets at once, then with the validators of these
cycle
[ "$(asked /old) $(asked /new) $(asked /chain) $(asked /chain2) $(asked /end) $(asked /far)" = "0 1 0 0 1 1" ] || fail "not followed: $(cat log)"
cycle --json; is '(changed, gone)' '(0, 0)'
grep -q '^127.0.0.1/new if$' log && grep -q '^127.0.0.2/far if$' log || fail "without validators: $(cat log)"
# it is said everywhere, and the page keeps its name
"$f" -C r show $url/old > out; grep -q "followed for good since cycle 3" out || fail "show: $(cat out)"
expect 0 "$f" -C r show --json $url/old; is '(moved["how"], moved["cycle"])' "('followed', 3)"
"$f" -C r explain $url/old > out 2> err; grep -q "followed for good since cycle 3" out || fail "explain: $(cat out)"
"$f" -C r log > out; grep -q "6 pages are followed since then" out || fail "log: $(cat out)"
"$f" -C r export pages > out; [ "$(grep -c '"moved_to":"http' out)" = 6 ] && grep -q '/old".*"moved_to":".*/new"' out || fail "export pages: $(cat out)"
[ "$("$f" -C r cat $url/old)" = "<p>page of /new</p>" ] || fail "cat: $("$f" -C r cat $url/old)"
# the archive knows the page by its own name, and can be imported
"$f" init i 2> err; zcat r/warc/*.gz > all.warc; expect 0 "$f" -C i import all.warc
"$f" -C i export pages > out; grep -q '/old"' out && ! grep -q '/new"' out || fail "import of the archive: $(cat out)"
"$f" -C i export visits > out; [ "$(grep -c '/old".*"same"' out)" = 4 ] || fail "visits of the archive: $(cat out)"

# a target that dies: the next visit begins at the page's own URL
echo "dies2-gone" > state; cycle; [ "$(how dies)" = "[('seen', 'dies2', 0, '')]" ] || fail "dies: $(how dies)"
echo "-" > state; cycle; [ "$(asked /dies)" = 1 ] || fail "its own URL was not asked: $(cat log)"
# undo, and follow again by hand
expect 0 "$f" -C r moved --undo $url/old
cycle; [ "$(asked /old)" = 1 ] || fail "undo: $(cat log)"
[ "$(how old)" = "[('never', 'new', 4, '')]" ] || fail "undo: $(how old)"
expect 0 "$f" -C r moved --follow $url/old; cycle; [ "$(asked /old)" = 0 ] || fail "follow: $(cat log)"
for bad in "--undo" "$url/old" "--undo --follow $url/old" "--undo $url/while"; do expect 2 "$f" -C r moved $bad; done
# after 30 days its own URL is looked at again: one is still moved, one is back
echo "chain-back" > state
: > log; expect 0 "$f" -C r cycle --allow-net 127.0.0.0/8 --delay 0 --budget 200 --now 2026-03-20
[ "$(asked /old) $(asked /chain)" = "1 1" ] || fail "not looked at again: $(cat log)"
[ "$(how chain)" = "[]" ] && [ "$(field '0')" = 0 ] || fail "back: $(how chain)"
[ "$("$f" -C r cat $url/chain)" = back ] || fail "the page that is back: $("$f" -C r cat $url/chain)"
# never, by the setting
"$f" -C r set moved-after 0; rm -rf n; "$f" init n 2> err; "$f" -C n set contact mailto:me@example.org; "$f" -C n set moved-after 0; "$f" -C n add $url/old > out
for d in 1 2 3 4; do expect 0 "$f" -C n cycle --allow-net 127.0.0.0/8 --delay 0 --budget 9 --now 2026-01-0$d; done
expect 0 "$f" -C n moved --json; is '[(p["how"], p["times"]) for p in pages]' "[('seen', 4)]"
# a store of strangers
python3 - <<'PY'
import sqlite3
d = sqlite3.connect("n/freshet.db"); d.execute("update settings set value = 'followed 301 1 0 0 0 gopher://x' where key like '%moved.%'"); d.commit()
PY
expect 5 "$f" -C n moved; expect 5 "$f" -C n cycle --allow-net 127.0.0.0/8 --delay 0 --budget 9 --now 2026-01-05
