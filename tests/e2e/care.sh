#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pages under care: added in any spelling, removed, paused, brought back, tagged; nothing comes
# under care unasked.  What commands say is compared with lists written by hand.
. "$SRC/tests/lib/e2e.sh"
f=$FRESHET

planned() { # URLs that the next cycle would take, sorted, on one line
	$f -C r plan --budget 100 --format urls 2> /dev/null | sort | tr '\n' ' '
}
wants() { got=$(planned); [ "$got" = "$1" ] || fail "planned: $got; wanted: $1"; }

expect 0 $f init r
# add and import take the same spellings; a bad one is counted and does not end the rest
printf 'http://a.example/1\na.example/2\nnot a url\nHTTP://News.A.example:80/3 5\n{"url":"b.example/x"}\nhello\n' > list
expect 0 $f -C r import list --json --tag fruit
is '(pages, malformed)' '(4, 2)'
expect 0 $f -C r add a.example/1 'no url' http://c.example b.example/y --tag nut --json
is '(pages, known, malformed)' '(2, 1, 1)'
expect 2 $f -C r add hello
a="http://a.example/1 http://a.example/2" n=http://news.a.example/3
wants "$a http://b.example/x http://b.example/y http://c.example/ $n "

# tags
expect 0 $f -C r tag
[ "$(cat out)" = "$(printf 'fruit 4\nnut 3')" ] || fail "tags: $(cat out)"
expect 0 $f -C r tag fruit http://c.example/
expect 0 $f -C r tag fruit b.example/x --delete
expect 0 $f -C r show http://a.example/1 --json
is tags "['fruit', 'nut']"; is care None
expect 2 $f -C r tag 'two words' http://c.example/
expect 0 $f -C r export pages --tag nut
[ "$(grep -o '"url":"[^"]*' out | cut -c8- | sort | tr '\n' ' ')" = 'http://a.example/1 http://b.example/y http://c.example/ ' ] || fail "export --tag: $(cat out)"
expect 0 $f -C r plan --budget 100 --tag fruit --format urls
[ "$(sort out | tr '\n' ' ')" = "$a http://c.example/ $n " ] || fail "plan --tag: $(cat out)"
expect 2 $f -C r export visits --tag nut

# pausing a site holds for its subdomains and for pages that come; a page alone; by tag
expect 0 $f -C r pause --site a.example --dry-run
grep -q '^3 pages would be paused' out || fail "$(cat out)"
wants "$a http://b.example/x http://b.example/y http://c.example/ $n "
expect 0 $f -C r pause --site a.example
expect 0 $f -C r add http://new.a.example/4
expect 0 $f -C r pause http://b.example/y
wants "http://b.example/x http://c.example/ "
expect 0 $f -C r status --json
is '(pages, paused, removed, out_of_scope)' '(7, 5, 0, 0)'
expect 0 $f -C r explain http://new.a.example/4
grep -q 'it is not asked for: its site is paused' out || fail "explain: $(cat out)"
expect 0 $f -C r explain http://b.example/y --json
is care paused; is asked False
expect 0 $f -C r resume --site news.a.example          # a more special rule wins
wants "http://b.example/x http://c.example/ $n "
expect 0 $f -C r resume http://a.example/1
grep -q 'still rest: their site is paused' err || fail "a page of a paused site: $(cat err)"
expect 0 $f -C r resume --site a.example
expect 0 $f -C r resume --tag nut
wants "$a http://b.example/x http://b.example/y http://c.example/ http://new.a.example/4 $n "

# removing: out of plan and counts, history stays, add brings it back, import does not
printf '{"url":"http://a.example/%s","status":200,"digest":"d"}\n' 1 2 > told
expect 0 $f -C r tell told --now 20250101
expect 0 $f -C r remove --match 'regex:/[12]$' --site a.example
wants "http://b.example/x http://b.example/y http://c.example/ http://new.a.example/4 $n "
expect 0 $f -C r status --json
is '(pages, removed)' '(5, 2)'
expect 0 $f -C r explain http://a.example/1
grep -q 'it was removed; `freshet add` brings it back' out && grep -q '^since ' out || fail "explain: $(cat out)"
expect 0 $f -C r import list --json
is '(pages, removed, restored)' '(0, 2, 0)'
expect 0 $f -C r add http://a.example/1
expect 0 $f -C r show http://a.example/1 --json
is '(visits, state, len(captures))' "(1, 'here', 1)"
expect 0 $f -C r remove --undo --match '*'
wants "$a http://b.example/x http://b.example/y http://c.example/ http://new.a.example/4 $n "
expect 2 $f -C r remove http://nowhere.example/
expect 2 $f -C r remove
expect 2 $f -C r pause http://c.example/ --site c.example
expect 0 $f -C r remove http://nowhere.example/ http://c.example/ --json
is '(pages, changed, unknown)' '(1, 1, 1)'

# nothing comes under care unasked
printf '{"url":"http://%s.example/","outcome":"changed"}\n' u c b > told
expect 2 $f -C r tell told
printf '{"url":"http://b.example/x","outcome":"same"}\n' >> told
expect 0 $f -C r tell told --json --now 20250201
is '(told, unknown, malformed)' '(1, 3, 0)'
expect 0 $f -C r tell told --add --json --now 20250202
is '(told, unknown)' '(4, 0)'
expect 0 $f -C r status --json
is '(pages, removed)' '(9, 0)'

# two crawlers: what was offered and is removed meanwhile is taken when it is told
expect 0 $f -C r ask --count 2 --budget 9 --delay 0 --policy oldest --now 20250301
cp out offers
python3 -c 'import json; [print(json.loads(l)["url"]) for l in open("offers")]' > urls
xargs $f -C r remove < urls > /dev/null
expect 0 $f -C r ask --count 99 --delay 0 --now 20250301000001
python3 - <<'PY' || fail "an offer of a page that was removed"
import json
old = {json.loads(l)["url"] for l in open("offers")}
new = [json.loads(l)["url"] for l in open("out")]
assert len(old) == 2 and len(new) == 7 and not old & set(new), (old, new)
PY
sed 's/,"url".*/,"outcome":"changed"}/' offers > told
expect 0 $f -C r tell told --json --now 20250301000002
is told 2
expect 0 $f -C r end
expect 0 $f -C r check
xargs $f -C r add < urls > /dev/null

# a replay of the repository leaves out what is kept out
for d in 1 2 3 4 5 6; do
	for p in 1 2 3; do printf 'example,h)/%s 2025010%s000000 {"url":"http://h.example/%s","status":"200","digest":"%s"}\n' $p $d $p $((d / p)); done
done | sort > h.cdxj
expect 0 $f init h
expect 0 $f -C h import h.cdxj
expect 0 $f replay h --cycle 1d --policy random --seeds 1 --json
is 'trace["pages"]' 3
expect 0 $f -C h pause http://h.example/2
expect 0 $f replay h --cycle 1d --policy random --seeds 1 --json
is 'trace["pages"]' 2
