#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The first ten minutes of a user: init, import, status, show, export, settings,
# errors with their exit codes, a crash in the middle of an import.
. "$SRC/tests/lib/e2e.sh"

# a list with comments, blanks, doubles, CRLF and 1 % malformed lines
: >urls.txt
for i in $(seq 1 990); do echo "http://site$((i % 10)).example/dir$((i % 7))/page$i.html"; done >>urls.txt
printf '# a comment\n\n  HTTP://SITE1.example:80/dir1/../dir1/page1.html#top  \r\nhttp://site1.example/dir1/page1.html\n' >>urls.txt
for i in 1 2 3 4 5; do echo "ftp://site$i.example/"; echo "http://user@site$i.example/"; done >>urls.txt
$f init d 2>/dev/null
$f -C d import urls.txt >out 2>err
grep -q '^990 new pages, 2 known, 10 malformed$' out || fail "import said: $(cat out)"
[ "$(grep -c 'urls.txt:[0-9]*: ' err)" = 10 ] || fail "each malformed line must be named: $(cat err)"
grep -q 'urls.txt:995: .*ftp' err || fail "line number and reason: $(cat err)"

# again, gzipped, and from standard input: nothing changes
$f -C d export pages >before
gzip -k urls.txt
$f -C d import urls.txt.gz >out 2>/dev/null
grep -q '^0 new pages, 992 known' out || fail "second import said: $(cat out)"
$f -C d import - <urls.txt >/dev/null 2>&1
$f -C d export pages >after
cmp before after || fail "importing twice changed something"
[ "$(wc -l <after)" = 990 ] || fail "export pages"
python3 - after <<'P'
import json, sys
for l in open(sys.argv[1]):
    p = json.loads(l); assert p["url"].startswith("http://site") and p["visits"] == 0
P
$f -C d check >/dev/null; $f -C d status --json --check >out
python3 - out <<'P'
import json, sys
s = json.load(open(sys.argv[1])); assert s["schema"] == "freshet.status/1", s
assert (s["pages"], s["sites"], s["captures"], s["visits"], s["cycles"]) == (990, 10, 0, 0, 0), s
P
$f -C d show site1.example/dir1/page1.html | grep -q '^visits *0' || fail show
$f -C d show --json http://site1.example/dir1/page1.html | python3 -c 'import json,sys; assert json.load(sys.stdin)["state"]=="here"'

# errors: what, where, what to do; exit codes
code $f -C nowhere status; [ $rc = 5 ] && grep -q 'freshet init' err || fail "no repository: $rc $(cat err)"
code $f nonsense; [ $rc = 2 ] && grep -q 'freshet help' err || fail "no command: $rc"
code $f -C d import missing.txt; [ $rc = 3 ] && grep -q missing.txt err || fail "no file: $rc $(cat err)"
code $f -C d show http://unknown.example/; [ $rc = 2 ] || fail "unknown page: $rc"
code $f policies nosuch; [ $rc = 2 ] || fail "unknown policy: $rc"
code $f replay --policy neighbour:d=99 urls.txt; [ $rc = 2 ] && grep -q 'outside -6' err || fail "range: $(cat err)"
code $f -C d import; [ $rc = 2 ] || fail "arguments"

# settings
$f -C d set budget 25
[ "$($f -C d get budget)" = 25 ] || fail "get"
code $f -C d set budget lots; [ $rc = 2 ] || fail "bad setting accepted"
[ "$($f -C d plan --policy random --format urls | wc -l)" = 25 ] || fail "the setting does not reach plan"
[ "$($f -C d plan --policy random --budget 7 --format urls | wc -l)" = 7 ] || fail "the option goes before"
$f -C d set budget; [ -z "$($f -C d get budget)" ] || fail "unset"

# kill -9 in the middle: it opens, is sound, and running it again finishes it
n=300000; case $BUILD in *-san) n=60000 ;; esac         # it takes five times as long
awk -v n=$n 'BEGIN { for (i = 1; i <= n; i++) print "http://big" i % 100 ".example/d" i % 31 "/p" i }' >big.txt
$f init k 2>/dev/null
for pause in 0.05 0.15 0.4; do
	$f -C k import big.txt >/dev/null 2>&1 & pid=$!
	sleep $pause; kill -9 $pid 2>/dev/null || true; wait $pid 2>/dev/null || true
	$f -C k check >/dev/null || fail "not sound after kill -9"
done
$f -C k import big.txt >/dev/null 2>&1
$f -C k status --json | grep -q "\"pages\":$n," || fail "not finished: $($f -C k status)"

# plan and tell: another crawler fetches
$f -C d plan --budget 20 --policy random --format jsonl >plan.jsonl
python3 - plan.jsonl >outcomes.jsonl <<'P'
import json, sys
for i, l in enumerate(open(sys.argv[1])):
    p = json.loads(l)
    print(json.dumps({"url": p["url"], "outcome": "changed" if i % 4 == 0 else "same", "probability": p["probability"], "reason": p["reason"]}))
P
$f -C d tell outcomes.jsonl | grep -q '^20 outcomes: 0 new, 5 changed, 15 same, 0 gone, 0 failed$' || fail tell
$f -C d status --json | grep -q '"visits":20,"cycles":1' || fail "told visits"
for v in 0.1s 250ms 1 1.5m; do $f -C d set delay $v; [ "$($f -C d get delay)" = $v ] || fail "delay $v"; done
$f -C d set delay
$f -C d plan --policy round-robin --budget 990 --format urls | sort >all
$f -C d export pages | python3 -c 'import json,sys; print("\n".join(sorted(json.loads(l)["url"] for l in sys.stdin)))' >want
cmp all want || fail "a plan of everything is everything, once"
$f -C d explain http://site1.example/dir1/page1.html --policy oldest | grep -q '^rank' || fail explain

# help, man pages, completion: made from the same tables
$f help | grep -q import; $f replay --help | grep -q -- --max-age
$f help --man-pages man; [ -s man/freshet-replay.1 ] || fail "man pages"
for m in man/freshet-*.1; do # exit statuses of each command
	sed -n '/^.SH EXIT STATUS/,/^.SH SEE/p' "$m" > statuses
	for n in 0 2 3 5 130; do grep -qx ".B $n" statuses || fail "$m: no exit status $n"; done
done
grep -A1 -x '.B 1' man/freshet-cat.1 | grep -q 'no copy' && grep -A1 -x '.B 4' man/freshet-cycle.1 | grep -q reached || fail "what exit statuses mean"
$f cat --help | grep -q '  1    there is no copy' || fail "exit statuses in --help"
for m in man/*.1; do man -l --warnings=w "$m" >"$m.txt" 2>warn; [ ! -s warn ] || fail "$m: $(cat warn)"; done
for c in $($f help --json | python3 -c 'import json,sys; print(*[c["name"] for c in json.load(sys.stdin)["commands"]])'); do
	$f "$c" --help >help.txt
	# every option of --help stands in the man page
	for o in $(grep -oE -- '--[a-z][a-z-]*' help.txt | sort -u); do
		grep -q -- "$o" "man/freshet-$c.1.txt" || fail "$c: $o is not in the man page"
	done
done
$f help --completion >completion; bash -n completion
cat >complete.sh <<'E'
. ./completion
try() { want=$1; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _freshet; [ "${COMPREPLY[*]}" = "$want" ] || { echo "$*: ${COMPREPLY[*]}"; exit 1; }; }
try replay freshet repl; try status freshet --seed 1 -C y stat; try --policy freshet -C x replay --po
try "thompson tide" freshet replay --policy t; try "changed alive" freshet replay --goal ""
try "remove resume replay report restore" freshet help re; try tide freshet policies ti; try budget freshet set bu; try changed freshet export ch
E
bash complete.sh || fail completion
