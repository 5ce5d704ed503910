#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# prune and compact of a fleet: old copies go from all shards and their files, also from files that
# both parts of a shard name after a split.  What another machine has, or a worker holds, is left out.
. "$SRC/tests/lib/e2e.sh"
f=$FRESHET
. "$SRC/tests/lib/fleet.sh"
cat > site.py <<'PY'
import origin
def answer(q):
    if q.path == "/robots.txt": return 404, b""
    return 200, b"<html><body>%s %s %s</body></html>" % (q.headers["Host"].encode(), q.path.encode(), open("version", "rb").read())
origin.serve(answer, "0.0.0.0")
PY
echo 1 > version
start_origin site.py
port=$(cat port)
for h in $(seq 6); do for p in $(seq 5); do echo "http://127.0.0.$h:$port/p$p"; done; done > urls
expect 0 $f init r --store "$u" --shards 2
for s in "contact mailto:a@b.example" "delay 0" "allow_net 127.0.0.0/8" "every 1h" "budget 30"; do expect 0 $f -C r set $s; done
expect 0 $f -C r import urls
# a page has one copy a second, and a cycle here may take a tenth of one
crawl() { echo "$2" > version; sleep 1; expect 0 $f -C r work --worker "$1" --cycles 1; sql "update fleet_cycles set slot = slot - 7200"; }
shared() { sql 'select count(*) from (select from files group by worker, name having count(*) > 1) x'; }
copies() { # every copy that rows name can be read; the files are those of the rows
	expect 0 $f -C r check --json
	sql 'select distinct name from files' | LC_ALL=C sort > named
	(cd r/warc && find . -type f | sed 's|^./||' | LC_ALL=C sort) | cmp - named || fail "files $1: $(cat named; find r/warc)"
}
crawl a 1
big=$(sql "select shard from pages group by 1 order by count(distinct split_part(url, '/', 3)) desc limit 1")
expect 0 $f -C r fleet split "$big"
crawl a 2
crawl b 3
[ "$(sql 'select count(*) from captures')" = 90 ] || fail "copies: $(sql 'select count(*) from captures')"
[ "$(shared)" = 1 ] || fail "shared files: $(shared)"
copies before
# a file that went, from where its worker has others
lost=$(sql "select name from files where worker = 'b' order by name limit 1")
mv "r/warc/$lost" kept
expect 0 $f -C r check
grep -q "note  *missing .*$lost: No such file.*copies in it: [1-9]" out || fail "a file that is gone: $(cat out)"
mv kept "r/warc/$lost"
expect 2 $f -C r prune
expect 0 $f -C r prune --keep-versions 1 --dry-run --json
is '(captures, dropped, pages, dry_run)' '(90, 60, 30, True)'; is 'bytes_dropped > 5000' True
[ "$(sql 'select count(*) from captures')" = 90 ] || fail "a dry run wrote"

# a shard that is held, and files that are on another machine
sql "update fleet_shards set worker = 'north', until = clock_timestamp() + interval '1 hour' where shard = $big"
mv r/warc/b elsewhere
expect 0 $f -C r check
! grep missing out || fail "files of another machine are not missing"
expect 5 $f -C r prune --keep-versions 2 --json
is shards_held 1; is 'files_elsewhere > 0' True
grep -q 'lie with the workers b' err || fail "elsewhere: $(cat err)"
grep -q "shard $big is held" err || fail "held: $(cat err)"
[ "$(sql "select count(*) from captures where shard = $big")" = "$(sql "select 3 * count(*) from pages where shard = $big")" ] || fail "a shard that is held lost copies"
[ "$(sql "select count(*) from captures where shard <> $big")" = "$(sql "select 2 * count(*) from pages where shard <> $big")" ] || fail "the others lost other copies than they should"
[ "$(shared)" = 0 ] && [ "$(ls r/warc/a/shard-$big | wc -l)" = 2 ] || fail "one part left the file, the other needs it: $(sql 'table files'; find r/warc)"
mv elsewhere r/warc/b
sql "update fleet_shards set until = clock_timestamp()"
copies between

expect 0 $f -C r prune --keep-versions 1 --json
is 'files["left"]' 0; is '(shards_held, files_elsewhere)' '(0, 0)'; is 'files["bytes_after"] < files["bytes_before"]' True
[ "$(sql 'select count(*) from captures')" = 30 ] || fail "copies: $(sql 'select count(*) from captures')"
copies pruned
for p in $(cat urls); do $f -C r cat "$p" | grep -q ' 3$\| 3<' || fail "$p: $($f -C r cat "$p")"; done
expect 0 $f -C r prune --keep-versions 1 --json
is '(dropped, files["deleted"], files["rewritten"])' '(0, 0, 0)'
# small files become one of each shard and worker; --shard is of that shard
crawl b 4
expect 0 $f -C r compact --shard "$big" --json
is 'files["merged"] in (0, 2)' True
expect 0 $f -C r compact --json
[ "$(ls -d r/warc/b/shard-*/* | wc -l)" = "$(ls -d r/warc/b/shard-* | wc -l)" ] || fail "not merged: $(find r/warc)"
copies compacted
sql "drop schema $schema cascade" > /dev/null 2>&1
