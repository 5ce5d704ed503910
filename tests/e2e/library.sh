#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# The example crawler and the snippets of docs/library.md, built against what is installed; the crawler on
# a web that changes, stopped in the middle, and beside the program's own commands.
. "$SRC/tests/lib/e2e.sh"
case $BUILD in *-san) exit 0 ;; esac    # a sanitized library needs a sanitized program
here=$PWD
make -s -C "$SRC" install DESTDIR="$here/root" prefix=/usr >/dev/null
r=$here/root/usr
export PKG_CONFIG_PATH=$r/lib/pkgconfig LD_LIBRARY_PATH=$r/lib
flags=$(pkg-config --define-variable=prefix="$r" --cflags --libs freshet libcurl)
cc -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -pedantic -Werror -o crawler "$SRC/examples/crawler.c" $flags

# every snippet compiles: one that begins with `static` as it is, another as the body of a function
awk '
	BEGIN { print "#include <freshet.h>\n#include <stdio.h>\n#include <unistd.h>\n" }
	/^```c$/ { block = 1; first = 1; next }
	/^```$/ && block { if (!whole) print "(void)f;\n}"; block = 0; next }
	block && first { first = 0; whole = /^static/; n++
		if (!whole) printf "void snippet_%d(struct freshet *f);\nvoid snippet_%d(struct freshet *f)\n{\n", n, n
		if (!whole && /^struct freshet \*f;/) { print "(void)f;\n{"; nested = 1 } }
	block { print }
	/freshet_close\(f\);/ && nested { print "}"; nested = 0 }
	END { print "int main(void) { return 0; }" }
' "$SRC/docs/library.md" > snippets.c
[ "$(grep -c 'snippet_.*;$' snippets.c)" -ge 7 ] || fail "docs/library.md has lost its snippets"
cc -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Wno-unused -Werror -o snippets snippets.c $flags && ./snippets

# pages /0 to /11; those with an even number are new every second `now`; /3 is gone then, /5 fails
cat > web.py <<'PY'
from origin import *
def answer(q):
    n = int(q.path.strip("/") or 0)
    now = int(state()[0])
    note(q.path + " " + str(q.headers.get("If-None-Match")))
    if n == 3 and now: return 404, b"gone"
    if n == 5: return 500, b"broken"
    tag = '"%d"' % (now if n % 2 == 0 else 0)
    if q.headers.get("If-None-Match") == tag: return 304, b""
    return 200, b"page %d state %s" % (n, tag.encode()), [("ETag", tag)]
serve(answer)
PY
echo 0 > state
start_origin web.py
"$FRESHET" init repo >/dev/null
"$FRESHET" -C repo set delay 0s; "$FRESHET" -C repo set confirmations 1
timeout 60 ./crawler repo 12 $(for i in $(seq 0 11); do echo "$url/$i"; done) > first.txt
[ "$(grep -c '^new ' first.txt)" = 11 ] || { cat first.txt; fail "11 of 12 pages are new, one fails"; }
sleep 1         # a page has one copy a second
timeout 60 ./crawler repo 12 > again.txt
[ ! -s again.txt ] || { cat again.txt; fail "nothing has changed"; }
grep -q '/2 "0"' log || fail "no conditional request was made"
echo 1 > state
sleep 1
timeout 60 ./crawler repo 12 > changed.txt
[ "$(grep -c '^changed ' changed.txt)" = 6 ] || { cat changed.txt; fail "six pages have changed"; }
grep -q '^gone .*/3$' changed.txt || fail "/3 is gone"

# the program has its part of a cycle that the library opened, and the library of the program's
echo 2 > state
"$FRESHET" -C repo ask --count 3 --budget 8 --policy random --client other > offers.jsonl
[ "$(grep -c '"lease"' offers.jsonl)" = 3 ] || { cat offers.jsonl; fail "ask gives three pages"; }
sed -n 's/.*"lease":"\([^"]*\)".*/{"lease":"\1","outcome":"same"}/p' offers.jsonl > told.jsonl
"$FRESHET" -C repo tell told.jsonl >/dev/null
: > log
timeout 60 ./crawler repo 8 > rest.txt
[ "$(wc -l < log)" -le 5 ] || { cat log; fail "eight pages, of which three were another's"; }
for u in $(sed -n 's/.*"url":"[^"]*\(\/[0-9]*\)".*/\1/p' offers.jsonl); do
	! grep -q "^$u " log || fail "$u was asked for twice in a cycle"
done

# the library's settings are those of the program, with their defaults
"$FRESHET" get --all > known.txt
sed -n -e 's/^\tROW[_CHOIE]*("\([a-z_]*\)", .*"\([^"]*\)").*/\1 \2/p' -e 's/^\tROW_CHOICE("\([a-z_]*\)", [a-z_]*, AIM.*/\1 freshness/p' \
	-e 's/^\t{ .name = "\([a-z_]*\)".*.def = "\([^"]*\)".*/\1 \2/p' -e 's/^\tROW("\([a-z_]*\)", .*NULL),/\1/p' \
	-e 's/^\tROW_CHOICE("weight", weight, "none".*/weight none/p' "$SRC/src/engine/api/api_settings.c" | tr _ - > ours.txt
[ "$(sort -u ours.txt | wc -l)" = 10 ] || { cat ours.txt; fail "the settings of the library cannot be read"; }
while read -r name default; do
	grep -q "^$name .*${default:+(default $default)}" known.txt || fail "$name: the program has it otherwise"
done < ours.txt
