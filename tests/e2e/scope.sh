#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rules of scope, for a command and as settings: import, plan, cycle and discovery; what
# --dry-run shows is what happens then.  Against lists written by hand.
. "$SRC/tests/lib/e2e.sh"
f=$FRESHET

planned() { $f -C r plan --budget 100 --format urls "$@" 2> /dev/null | sort | tr '\n' ' '; }
wants() { got=$(planned "${@:2}"); [ "$got" = "$1" ] || fail "planned: $got; wanted: $1"; }

expect 0 $f init r
printf 'http://a.example/%s\n' 1 2.pdf tag/3 > list
printf 'http://b.example/%s\n' 4 '5?session=9' >> list

# for one command
expect 0 $f -C r import list --exclude '*.pdf' --exclude 'regex:[?&]session=' --dry-run --json
is '(pages, out_of_scope)' '(3, 2)'
expect 0 $f -C r status --json
is pages 0
expect 0 $f -C r import list --json
is '(pages, out_of_scope)' '(5, 0)'
a1=http://a.example/1 pdf=http://a.example/2.pdf tag=http://a.example/tag/3 b4=http://b.example/4 b5='http://b.example/5?session=9'
wants "$a1 $pdf $tag $b4 $b5 "
wants "$b4 $b5 " --include b.example
wants "$b4 " --include b.example --exclude '*session=*'
wants "$a1 $pdf $tag $b4 $b5 "                  # and no longer

# as settings: what a dry run shows, happens
expect 0 $f -C r set exclude /tag/ '*.pdf' --dry-run
[ "$(sort out)" = "$(printf 'out %s\n' $pdf $tag)" ] || fail "dry run: $(cat out)"
wants "$a1 $pdf $tag $b4 $b5 "
printf '# mine\n/tag/\n*.pdf   # and these\n' > rules
expect 0 $f -C r set exclude @rules --json
is '(out_of_scope, value)' "(2, '/tag/ *.pdf')"
wants "$a1 $b4 $b5 "
rm rules                                          # the rules were copied
expect 0 $f -C r status --json
is '(pages, out_of_scope)' '(5, 2)'
expect 0 $f -C r explain $pdf
grep -q 'it is out of scope' out || fail "explain: $(cat out)"
printf 'a.example/6.pdf\na.example/7\n' > more
expect 0 $f -C r import more --json
is '(pages, out_of_scope)' '(1, 1)'
expect 2 $f -C r add http://a.example/8.pdf
grep -q 'the rules of scope leave it out' err || fail "add: $(cat err)"
echo '{"url":"http://a.example/9.pdf","outcome":"changed"}' > told
expect 3 $f -C r tell --add told
expect 0 $f -C r set include a.example
wants "$a1 http://a.example/7 "
expect 0 $f -C r set exclude
expect 0 $f -C r set include
wants "$a1 $pdf http://a.example/7 $tag $b4 $b5 "

# what is no rule changes nothing
expect 2 $f -C r set exclude 'regex:('
expect 2 $f -C r set exclude news
expect 3 $f -C r set exclude @nowhere
expect 0 $f -C r get
! grep -q clude out || fail "a bad rule was kept: $(cat out)"

# on the web: pages, and what discovery finds
cat > web.py <<'PY'
from origin import *
def answer(q):
    if q.path in ("/robots.txt", "/sitemap.xml"): return 404, b""
    open("asked", "a").write(q.path + "\n")
    return 200, b"<title>x</title><a href=/in/1>1</a><a href=/out/2>2</a><a href=/in/3.pdf>3</a>"
serve(answer)
PY
start_origin web.py
expect 0 $f init w
expect 0 $f -C w set contact mailto:test@example.org
expect 0 $f -C w set exclude /out/
expect 0 $f -C w add $url/in/ $url/in/4
expect 2 $f -C w add $url/out/
web="--delay 0 --allow-net 127.0.0.1/32 --discover 50% --budget 20"
expect 0 $f -C w cycle $web --exclude '*/4' --exclude /out/
[ "$(sort asked)" = /in/ ] || fail "asked with rules of the command: $(cat asked)"
expect 0 $f -C w cycle $web --json
is 'discovery["refused"]["scope"]' 1
[ "$(sort -u asked | tr '\n' ' ')" = '/in/ /in/1 /in/3.pdf /in/4 ' ] || fail "asked: $(cat asked)"
