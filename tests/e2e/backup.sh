#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# freshet backup and restore: while a cycle runs, again with only what is new, after pruning;
# what is refused; a backup that is used as a repository; restoring never overwrites.  (Kills
# and failures at every call: torture.sh.)
. "$SRC/tests/lib/e2e.sh"
cat > web.py <<'PY'
import os, time
from origin import *
def answer(q):
    if q.path == "/robots.txt": return 404, b""
    note(q.path)
    for i in range(3000):       # held back until the script has its backup
        if not os.path.exists("hold") or q.path < "/4": break
        time.sleep(0.02)
    return 200, b"<title>t</title><p>page %s version %s %s" % (q.path.encode(), open("state").read().encode(), os.urandom(300).hex().encode())
serve(answer)
PY
echo 0 > state
start_origin web.py
trap 'rm -f hold; kill $origin' EXIT
for p in 1 2 3 4 5 6; do echo "$url/$p"; done > urls
web="--budget 50 --policy round-robin --contact me@example.org --allow-net 127.0.0.0/8 --delay 0s --connections 1"
$f init r 2> /dev/null
$f -C r import urls > /dev/null 2>&1
$f -C r cycle $web --now 2026-01-11T00:00:00Z > /dev/null 2> err || fail cycle
expect 0 $f -C r backup b --json
is '(files, copied, deleted, bytes == bytes_copied > 0, outside)' '(1, 1, 0, True, 0)'
expect 0 $f -C b check
captures() { $f -C "$1" status --json > out; field captures; }
[ "$(captures b)" = 6 ] || fail "captures of the backup"

# while a cycle runs, and holds the lock
touch hold; : > log
$f -C r cycle $web --now 2026-01-12T00:00:00Z > /dev/null 2> cycle.err & cycle=$!
for i in $(seq 1500); do [ "$(grep -c '^/[456]' log)" = 0 ] || break; sleep 0.02; done
expect 5 $f -C r cycle $web
expect 0 $f -C r backup b --json --check
is 'read >= 6' True
expect 0 $f -C b check --json
is '(wrong, lost, captures >= 6, read == copies)' '(0, 0, True, True)'
rm hold; wait $cycle || fail "the cycle: $(cat cycle.err)"
expect 0 $f -C r backup b --json
[ "$(field 'bytes_copied < bytes')" = True ] || fail "all was copied again"
[ "$(captures b)" = "$(captures r)" ] || fail "captures of the third backup"
expect 0 $f -C r backup b --json
is '(copied, bytes_copied)' '(0, 0)'
for c in r b; do $f -C $c export warc -o $c.out > /dev/null 2> err || fail "export of $c"; done
[ "$(zcat r.out/*.gz | grep -ac '^WARC-Type: response')" = "$(zcat b.out/*.gz | grep -ac '^WARC-Type: response')" ] || fail "another archive"
cmp <($f -C r export visits) <($f -C b export visits) || fail "other visits"

# files that pruning took away go from the backup
$f -C r prune --keep-versions 1 > /dev/null
expect 0 $f -C r backup b --json
[ "$(field deleted)" -gt 0 ] || fail "no file was deleted"
expect 0 $f -C b check

# refused: something else, a repository, a backup that was crawled from
mkdir other; echo mine > other/file
expect 2 $f -C r backup other
expect 2 $f -C r backup r
[ "$(cat other/file)" = mine ] || fail "somebody else's file"
$f -C b backup used2 > /dev/null
$f -C used2 cycle $web --now 2026-01-13T00:00:00Z > /dev/null 2> err || fail "a backup is a repository"
expect 2 $f -C r backup used2
grep -q 'repository of its own' err || fail "no reason"
expect 0 $f -C used2 check

# restore: nothing is overwritten
expect 0 $f restore b new --json
is "read > 0" True
expect 0 $f -C new check
[ "$(captures new)" = "$(captures b)" ] && [ ! -e new/backup ] || fail "what was restored"
expect 2 $f restore b new
grep -q -- '--over' err || fail "no way out is named"
echo mine > new/mine
expect 0 $f restore b new --over
[ "$(cat new.before-1/mine)" = mine ] && [ ! -e new/mine ] || fail "--over"
$f -C new cycle $web --now 2026-01-14T00:00:00Z > /dev/null 2> err || fail "the next cycle of what was restored"
# a backup that is damaged is not restored
one=$(ls b/warc/*.gz | head -1); truncate -s -100 "$one"
code $f restore b never; [ "$rc" != 0 ] || fail "a damaged backup was restored"
[ ! -e never ] || fail "a folder of a backup that is not whole"
# nor is a repository of a stranger, in which an archive file is a link to a file of ours, or is cut
cp -r b stranger; rm stranger/backup; echo ours > secret
one=stranger/warc/$(ls stranger/warc | head -1); rm "$one"; ln -s "$PWD/secret" "$one"
code $f -C stranger backup taken; [ "$rc" = 3 ] || fail "a link was followed: status $rc"
grep -q 'is a link' err || fail "no word of the link"
[ -z "$(grep -rl ours taken)" ] || fail "a file from elsewhere is in the backup"
rm "$one"; head -c 50 b/warc/"${one##*/}" > "$one"
code $f -C stranger backup taken2; [ "$rc" != 0 ] || fail "a backup of a file that is cut says that it worked"
grep -q 'shorter than the tables say' err || fail "no word of the cut file"
# and is mended by the next one
expect 0 $f -C r backup b --check
# archives that were imported from elsewhere are no part of it: they are read where they lie, out
# of reach of the sandbox but for that, and if one is away, that is said once, and stops nothing
away="$TMPDIR/else where"; mkdir -p "$away" work/t; cp r.out/*.gz "$away/one.warc.gz"
cd work; export TMPDIR=$PWD/t
$f init lent 2> /dev/null
expect 0 $f -C lent import "$away/one.warc.gz"
n=$(captures lent)
expect 0 $f -C lent backup lent-b
expect 0 $f restore lent-b lent-new --json
is "(outside, read)" "(1, $n)"
rm -r "$away"
expect 0 $f restore lent-b lent-late --json
[ "$(grep -c 'else where/one' err)" = 1 ] || fail "a word for each copy of a file that is away"
[ "$(captures lent-late)" = "$n" ] || fail "what was restored without its archive"
expect 1 $f -C lent-late check
