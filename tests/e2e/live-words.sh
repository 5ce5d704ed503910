#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# The words of live pages: found by `freshet search` after a cycle, new ones in the
# place of old ones after a change, clusters named by them; off unless asked for.
. "$SRC/tests/lib/e2e.sh"

cat > web.py <<'PY'
from origin import *
def answer(q):
    new = "new" in state()
    text = {"/boats": "Airports, flying boats" if new else "Harbours, sailing boats",
            "/trees": "An oak, a birch, sailing seeds", "/empty": "the" if new else "pelican"}.get(q.path, "")
    return 200 if text else 404, ("<title>%s</title><p>%s</p>" % (q.path, text)).encode()
serve(answer)
PY
echo old > state
start_origin web.py
printf "$url/%s\n" boats trees empty > urls

begin() { # repository
	"$FRESHET" init "$1" 2> /dev/null
	"$FRESHET" -C "$1" import urls > /dev/null
	"$FRESHET" -C "$1" set contact mailto:test@example.org
	"$FRESHET" -C "$1" set allow-net 127.0.0.1/32
	"$FRESHET" -C "$1" set delay 0
}
cycle() { "$FRESHET" -C "$1" cycle --budget 100 --now "$2" "${@:3}" > out 2> err || { cat out err; exit 1; }; }
found() { # repository word: the paths, in order
	"$FRESHET" -C "$1" search "$2" --now 20230201 --json 2> err | python3 -c '
import json, sys, urllib.parse
print(*sorted(urllib.parse.urlsplit(r["url"]).path for r in json.load(sys.stdin)["results"]) or ["none"])' 2> /dev/null || echo none
}
same() { [ "$1" = "$2" ] || fail "got '$1', wanted '$2'"; }

# nobody asked for words: none
begin quiet
cycle quiet 20230101
same "$(found quiet sailing)" none

begin r
"$FRESHET" -C r set words yes
if "$FRESHET" -C r set words perhaps 2> err; then exit 1; fi
cycle r 20230101
same "$(found r sailing)" "/boats /trees"
same "$(found r harbours)" /boats
same "$(found r pelican)" /empty
same "$(found r harbour)" none
same "$(found r airports)" none
cycle r 20230102                        # nothing changed, nothing is lost
same "$(found r harbours)" /boats
echo new > state
"$FRESHET" -C r set words               # there are words: they are kept up
cycle r 20230103
same "$(found r sailing)" /trees
same "$(found r airports)" /boats
same "$(found r harbours)" none           # a word that no copy has now
same "$(found r pelican)" none
"$FRESHET" -C r cluster --features content --k 2 > out
grep -q oak out; grep -q airports out

# the same by stems, settled by the first words
echo old > state
begin s
"$FRESHET" -C s set words yes
"$FRESHET" -C s set stem english
cycle s 20230101
same "$(found s sails)" "/boats /trees"
"$FRESHET" -C s set stem
echo new > state
cycle s 20230102
same "$(found s sails)" /trees
same "$(found s airport)" /boats
mkdir told; "$FRESHET" -C s export cdxj --extended -o told/s.cdxj
grep -qx airport told/words.txt
! grep -x airports told/words.txt || exit 1

# archives are read as the repository's settings say, whoever reads them
cat s/warc/*.warc.gz > s.warc.gz
for by in import add live; do
	begin a.$by
	"$FRESHET" -C a.$by set stem english
	"$FRESHET" -C a.$by set detect tags
	"$FRESHET" -C a.$by set ignore 'title'
done
expect 0 "$FRESHET" -C a.import import s.warc.gz
expect 0 "$FRESHET" -C a.add add - < s.warc.gz
expect 0 "$FRESHET" -C a.live live --budget 1 s.warc.gz
for by in import add live; do
	same "$(found a.$by sails)" /trees
	mkdir x.$by; "$FRESHET" -C a.$by export cdxj --extended -o x.$by/x
	grep -o '"tags".*"terms":"[^"]*"' x.$by/x > x.$by/y
	[ -s x.$by/y ] || fail "$by: nothing in x.$by/y"
	cmp x.import/y x.$by/y || fail "$by reads otherwise than import"
done

# a policy that looks at words has them counted; `no` is no
begin p
cycle p 20230101 --policy cluster:features=content,k=2
same "$(found p oak)" /trees
begin n
cycle n 20230101 --policy cluster:features=content,k=2 --words no
same "$(found n oak)" none
echo ok

# words that are switched on late lack for a page that does not change, and a search says so
"$FRESHET" -C quiet set words yes
cycle quiet 20230102
same "$(found quiet airports)" /boats
same "$(found quiet oak)" none
"$FRESHET" -C quiet search airports > out 2> err
grep -q 'the words of 1 page were not counted' err || fail "no word of /trees: $(cat err)"
"$FRESHET" -C r search airports > out 2> err
! grep -q 'not counted' err || fail "words that are not missing: $(cat err)"
