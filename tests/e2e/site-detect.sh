#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What counts as a change, by site: detect and ignore of `set --site`, for cycles, imports and
# diff alike.  127.0.0.1 and 127.0.0.2 serve the same pages: one changes a comment with each
# look, one a clock, one its text.
. "$SRC/tests/lib/e2e.sh"
cat > web.py <<'PY'
from origin import serve, state
def answer(q):
    n = int(state()[0])
    if q.path == "/robots.txt": return 404, b""
    text = {"/comment": "<!-- %d --><p>same</p>", "/clock": "<p id=clock>%d o'clock</p><p>same</p>", "/text": "<p>number %d</p>"}[q.path] % n
    return 200, ("<html><body>%s</body></html>" % text).encode()
serve(answer, "0.0.0.0")
PY
echo 1 > state
start_origin web.py
port=$(cat port); one=http://127.0.0.1:$port two=http://127.0.0.2:$port
"$f" init r 2> err; "$f" -C r set contact mailto:me@example.org
for p in comment clock text; do "$f" -C r add $one/$p $two/$p > out; done
for x in detect=letters ignore='##' ; do expect 2 "$f" -C r set --site 127.0.0.1 ${x%%=*} "${x#*=}"; done
expect 0 "$f" -C r set --site 127.0.0.1 detect text
expect 0 "$f" -C r set --site 127.0.0.1:$port ignore '#clock'
"$f" -C r status --sites > out; grep -q "127.0.0.1:$port .*detect text, ignore #clock" out || fail "status --sites: $(cat out)"
expect 0 "$f" -C r status --sites --json
is '[s["settings"] for s in by_site]' "[{'detect': 'text', 'ignore': '#clock'}, {}]"
cycle() { expect 0 "$f" -C r cycle --allow-net 127.0.0.0/8 --delay 0 --budget 100% --json "$@"; }
cycle; is new 6
echo 2 > state; sleep 1; cycle          # of a page one capture a second is kept
is '(changed, same)' '(4, 2)'
changed() { "$f" -C r export changed --since last | python3 -c 'import json, sys
print(" ".join(sorted(json.loads(l)["url"].split("/", 2)[2].replace(":'$port'", "") for l in sys.stdin)))'; }
[ "$(changed)" = "127.0.0.1/text 127.0.0.2/clock 127.0.0.2/comment 127.0.0.2/text" ] || fail "changed: $(changed)"
# diff goes by the same rules, unless it is told others
"$f" -C r diff $one/clock > out; grep -q "text no" out || fail "diff sees what is left out: $(cat out)"
"$f" -C r diff $one/clock --ignore '#none' > out; grep -q "text yes" out || fail "diff --ignore: $(cat out)"
"$f" -C r diff $two/clock > out; grep -q "text yes" out || fail "diff of the other site: $(cat out)"

# the archive of it, imported with the same settings: the same changes, and by bytes without them
zcat r/warc/*.gz > all.warc
for with in yes no; do
	"$f" init i$with 2> err
	[ $with = no ] || { "$f" -C i$with set --site 127.0.0.1 detect text; "$f" -C i$with set --site 127.0.0.1 ignore '#clock'; }
	expect 0 "$f" -C i$with import all.warc
	"$f" -C i$with export visits > visits.$with
done
[ "$(grep -c '"outcome":"changed"' visits.yes) $(grep -c '"outcome":"same"' visits.yes)" = "4 2" ] || fail "import: $(cat visits.yes)"
[ "$(grep -c '"outcome":"changed"' visits.no)" = 6 ] || fail "import by bytes: $(cat visits.no)"
# a more special host goes before; unset, the general setting is back
"$f" -C r set --site 127.0.0.1:$port detect bytes; "$f" -C r set --site 127.0.0.1:$port ignore
echo 3 > state; sleep 1; cycle; is '(changed, same)' '(6, 0)'
"$f" -C r set --site 127.0.0.1:$port detect; "$f" -C r set detect text
echo 4 > state; sleep 1; cycle; is '(changed, same)' '(4, 2)'
