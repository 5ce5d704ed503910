#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A fleet: shards, workers that come, die and hang, one budget; commands over all shards.
# Leases are ended by SQL where a test would have to wait for their 30 seconds.
. "$SRC/tests/lib/e2e.sh"
f=$FRESHET
. "$SRC/tests/lib/fleet.sh"

cat > site.py <<'PY'
import origin, threading, time, http.server, socketserver
log = open("log", "a", buffering=1)
def answer(q):
    host = q.headers["Host"].split(":")[0]
    log.write("%.3f %s %s\n" % (time.time(), host, q.path))
    if q.path == "/robots.txt": return 404, b""
    if q.path.startswith("/go/"): return 302, b"", [("Location", "http://%s:%s/to" % (q.path[4:], q.headers["Host"].split(":")[1]))]
    return 200, ("<html><body>%s %s</body></html>" % (host, q.path)).encode()
origin.serve(answer, "0.0.0.0")
PY
start_origin site.py
port=$(cat port)
for h in $(seq 8); do for p in $(seq 10); do echo "http://127.0.0.$h:$port/p$p"; done; done > urls

# one machine's store is no fleet
expect 0 $f init one
expect 2 $f -C one work
expect 2 $f init two --shards 2

expect 0 $f init r --store "$u" --shards 4
expect 2 $f init r --store "$u" --shards 5
expect 2 $f -C r work           # nobody to ask is said once, and not by each shard for ever
grep -q 'freshet -C r set contact' err || fail "no word of the contact: $(cat err)"
for s in "contact mailto:a@b.example" "delay 0.05s" "allow_net 127.0.0.0/8" "every 1h" "budget 40"; do expect 0 $f -C r set $s; done
expect 0 $f -C r import urls --json
is pages 80
expect 0 $f -C r import urls --json
is known 80
# one more machine is told what to do there; the doctor looks at all shards
expect 0 $f init another --store "$u"
grep -q 'fleet of 4 shards; next: freshet -C another work' err || fail "init on one more machine: $(cat err)"
expect 0 $f -C r doctor --json
is '[c["found"][:20] for c in checks if c["check"] == "store"]' "['80 pages in 4 shards']"
is '[c["verdict"] for c in checks if c["check"] == "workers"]' "['advice']"
# all shards cover all hosts, each in one
[ "$(sql 'select count(*) from pages')" = 80 ] || fail "pages: $(sql 'select shard, count(*) from pages group by 1')"
[ "$(sql "select count(*) from (select split_part(url, '/', 3) from pages group by 1 having count(distinct shard) > 1) as x")" = 0 ] || fail "a host in two shards"

# one cycle, two workers: the budget is spent and not passed, no page is asked for twice
: > log
$f -C r work --worker a --take 1 --cycles 1 > a.out 2>&1 & a=$!
$f -C r work --worker b --take 1 --cycles 1 > b.out 2>&1 & b=$!
wait $a || fail "worker a: $(cat a.out)"
wait $b || fail "worker b: $(cat b.out)"
[ "$(grep -c ' /p' log)" = 40 ] || fail "requests: $(grep -c ' /p' log)"
[ "$(grep ' /p' log | cut -d' ' -f2- | sort | uniq -d | wc -l)" = 0 ] || fail "asked for twice"
[ "$(sql 'select granted from fleet_cycles')" = 40 ] || fail "granted"
[ "$(sql 'select count(*) from visits')" = 40 ] || fail "visits: $(sql 'select count(*) from visits')"
expect 0 $f -C r status --json
is '(downloads, shards_done, len(worker_list))' '(40, 4, 2)'
expect 0 $f -C r log --json
is '[(c["downloads"], c["change_ratio"] == (c["changed"] + c["gone"]) / 40, len(c["time"])) for c in cycles]' '[(40, True, 14)]'
page=$(head -n 1 urls); visited=$(sql 'select p.url from pages p join visits v on v.shard = p.shard and v.page = p.number limit 1')
expect 0 $f -C r show "$visited"
grep -q 'last visit' out || fail "show: $(cat out)"
expect 0 $f -C r cat "$visited"
expect 0 $f -C r export pages
[ "$(wc -l < out)" = 80 ] || fail "export: $(wc -l < out)"
# visits of a cycle of the fleet, over all shards, whatever number the cycle has there; tags, plans
expect 0 $f -C r log --cycle 1
[ "$(grep -c visited out)" = 40 ] || fail "log of a cycle: $(wc -l < out)"
expect 2 $f -C r log --cycle 7
expect 0 $f -C r tag red "$page"
expect 0 $f -C r status --tag red
[ "$(grep -c "$page" out)" = 1 ] || fail "status of a tag: $(cat out)"
expect 0 $f -C r plan --format urls
planned=$(wc -l < out)
[ "$planned" -ge 38 ] && [ "$planned" -le 44 ] || fail "plan of a budget of 40: $planned pages"
# one table over all shards, with a row for each page, site or shard, and its shard
expect 0 $f -C r plan
[ "$(grep -c '^shard .*url$' out)" = 1 ] && [ "$(wc -l < out)" = $((planned + 1)) ] || fail "plan: $(cat out)"
awk 'NR > 1 { print $NF, $1 }' out | sort > said
sql "select url || ' ' || shard from pages" | sort > known
[ -z "$(comm -23 said known)" ] || fail "plan names other shards: $(comm -23 said known)"
expect 0 $f -C r status --sites
[ "$(grep -c '^shard .*site' out)" = 1 ] && [ "$(wc -l < out)" = 9 ] || fail "sites: $(cat out)"
expect 0 $f -C r check
[ "$(awk '$1 == "shard" { n++ } n && $1 ~ /^[0-9]/ { pages += $2; visits += $4; wrong += $13 } END { print n, pages, visits, wrong }' out)" = '1 80 40 0' ] || fail "check: $(cat out)"
# exports are of all shards, in one file; an index stays sorted; changes follow a cursor
expect 0 $f -C r export visits -o visits.jsonl --json
is written 40
[ "$(wc -l < visits.jsonl)" = 40 ] || fail "visits: $(wc -l < visits.jsonl)"
expect 0 $f -C r export cdxj
[ "$(wc -l < out)" -ge 40 ] && LC_ALL=C sort -c out || fail "cdxj: $(wc -l < out)"
expect 0 $f -C r export atom --shard 0
expect 0 $f -C r export atom --limit 7 -o all.atom
[ "$(grep -c '<entry>' all.atom)" = 7 ] && grep '^<updated>' all.atom | tail -n +2 | LC_ALL=C sort -rc || fail "atom: $(cat all.atom)"
expect 0 $f -C r export wacz -o x.wacz
expect 0 $f -C r export wacz -o one.wacz --shard "$(sql "select min(shard) from captures")"
full=$(sql "select count(distinct shard) from captures")
[ "$(ls x-shard-*.wacz | wc -l)" = "$full" ] && [ -s one.wacz ] || fail "wacz: $(ls)"
expect 0 $f -C r export folder -o mirror
[ "$(find mirror -type f | grep -c 'shard-[0-3]/.*p[0-9]')" = 40 ] || fail "folder: $(find mirror -type f)"
expect 0 $f -C r report --clusters 0 --out r.html
[ "$(ls r-shard-[0-3].html | wc -l)" = 4 ] || fail "report: $(ls)"
expect 0 $f -C r end
expect 2 $f -C r end --shard 1
expect 0 $f -C r moved
expect 2 $f -C r backup b
grep -q pg_basebackup err || fail "backup: $(cat err)"
expect 2 $f copy r sqlite:other.db
grep -q "fleet of 4 shards" err || fail "copy: $(cat err)"
expect 2 $f -C r ask
grep -q 'let crawlers ask' err || fail "ask: $(cat err)"
expect 0 $f -C r export warc -o archive
ls archive/shard-*/*.warc.gz > /dev/null || fail "warc: $(find archive)"
expect 0 $f -C r export changed --after begin
[ "$(grep -c '"url"' out)" = 40 ] && ! grep -q last err || fail "changes: $(wc -l < out) $(cat err)"
cursor=$(tail -n 1 out | sed 's/.*"next":"\([^"]*\)".*/\1/')
expect 0 $f -C r export changed --after "$cursor"
[ "$(cat out)" = "{\"next\":\"$cursor\"}" ] || fail "changes after the last: $(cat out)"
expect 2 $f -C r export changed --after 2.1.x
expect 2 $f -C r cycle
expect 0 $f -C r fleet place --json
is 'sum(f["files"] for s in shards for f in s["files"])' "$(sql 'select count(*) from files')"
is '{f["worker"] for s in shards for f in s["files"]} <= {"a", "b"}' True
expect 0 $f -C r fleet place "$visited"
[ "$(grep -o '  shard [0-3]' out)" = "  shard $(sql "select shard from pages where url = '$visited'")" ] || fail "place: $(cat out)"
expect 2 $f -C r fleet place ://
expect 2 $f -C r fleet place --json "$visited" ://
[ ! -s out ] || fail "half a document: $(cat out)"
# who has the files
[ "$(sql "select count(*) from files where worker in ('a', 'b') and name like worker || '/shard-%'")" -gt 0 ] || fail "files: $(sql 'select * from files')"

# commands write through inboxes: a worker that holds the shard applies them
sql "update fleet_shards set worker = 'north', until = clock_timestamp() + interval '1 hour', lost = true"
sql "update fleet_fences set fence = fence + 1"
expect 0 $f -C r add "http://127.0.0.1:$port/new" "http://127.0.0.2:$port/new"
[ "$(sql 'select count(*) from fleet_inbox')" = 2 ] || [ "$(sql 'select count(*) from fleet_inbox')" = 1 ] || fail "inbox: $(sql 'select * from fleet_inbox')"
expect 0 $f -C r remove "$page"
touched="http://127.0.0.4:$port/p1"
expect 0 $f -C r touched --by cms "$touched"
[ "$(sql "select touched is null from pages where url = '$touched'")" = t ] || fail "touched in a shard that another holds"
expect 5 $f -C r cycle --shard 0
sql "update fleet_shards set until = clock_timestamp()"
expect 0 $f -C r add "http://127.0.0.3:$port/new"       # settles what nobody holds
[ "$(sql 'select count(*) from fleet_inbox')" = 0 ] || fail "inbox after: $(sql 'select * from fleet_inbox')"
[ "$(sql "select count(*) from pages where url like '%/new'")" = 3 ] || fail "new pages"
[ "$(sql "select care from pages where url = '$page'")" = 1 ] || fail "removed: $(sql "select care from pages where url = '$page'")"
[ "$(sql "select touched > 0 and notifier > 0 from pages where url = '$touched'")" = t ] || fail "touched: $(sql "select touched, notifier from pages where url = '$touched'")"
printf '{"url":"%s","status":200,"digest":"x"}\n' "http://127.0.0.4:$port/p1" > told
expect 0 $f -C r tell told --json
is told 1

# a worker is killed in the middle, another hangs; a third goes on: nothing is asked for twice,
# and the budget holds
sql "update fleet_cycles set slot = slot - 7200"
expect 0 $f -C r set delay 0.3s
: > log
$f -C r work --worker c --take 2 > c.out 2>&1 & c=$!
$f -C r work --worker d --take 2 > d.out 2>&1 & d=$!
for i in $(seq 500); do [ "$(grep -c ' /' log)" -gt 12 ] && [ "$(sql "select count(distinct worker) from fleet_shards where until > clock_timestamp()")" -ge 2 ] && break; sleep 0.1; done
kill -9 $c
kill -STOP $d
sleep 0.5               # what was under way arrives
hung=$(grep -c ' /' log)
sql "update fleet_shards set until = clock_timestamp()"
$f -C machine work --store "$u" --worker e --take 4 --cycles 1 > e.out 2>&1 || fail "worker e, on a machine without a folder: $(cat e.out)"
[ -n "$(ls machine/warc/e)" ] || fail "its files: $(find machine)"
done_visits=$(sql 'select count(*) from visits where cycle > 1')
before=$(wc -l < log)
kill -CONT $d           # it wakes up: its leases are another's
kill -TERM $d
wait $d || true
wait $c 2> /dev/null || true
[ "$(sql 'select count(*) from visits where cycle > 1')" = "$done_visits" ] || fail "a worker that had lost its leases wrote"
[ "$(tail -n +$((before + 1)) log | cut -d' ' -f2 | sort | uniq -c | awk '$1 > 1' | wc -l)" = 0 ] || fail "and sent: $(tail -n +$((before + 1)) log)"
[ "$(grep ' /p\| /new' log | cut -d' ' -f2- | sort | uniq -d | wc -l)" = 0 ] || fail "asked for twice after a kill: $(grep ' /p' log | cut -d' ' -f2- | sort | uniq -d)"
[ "$(grep -c ' /p\| /new' log)" -le 40 ] || fail "budget passed: $(grep -c ' /p\| /new' log)"
[ "$(sql 'select granted <= budget from fleet_cycles where number = 2')" = t ] || fail "granted"
expect 0 $f -C r status --shards
grep -q done out || fail "status: $(cat out)"
expect 0 $f -C r status --workers
grep -q 'e .*stopped' out || fail "workers: $(cat out)"

# who was killed finishes its files when it starts again, though others have its shards
[ -n "$(find r/warc/c -name '*.open')" ] || fail "no file was open: $(find r/warc/c)"
sql "update fleet_shards set worker = 'north', until = clock_timestamp() + interval '1 hour'"
sql "update fleet_workers set seen = seen - interval '1 minute' where worker = 'c'"
$f -C r work --worker c > c.out 2>&1 & c=$!
for i in $(seq 200); do [ -z "$(find r/warc/c -name '*.open')" ] && break; sleep 0.1; done
kill -TERM $c; wait $c || true
[ -z "$(find r/warc/c -name '*.open')" ] || fail "files that stay open: $(find r/warc/c) $(cat c.out)"
for name in $(sql "select name from files where worker = 'c'"); do gzip -t "r/warc/$name" || fail "$name: $(find r/warc/c) $(cat c.out)"; done
sql "update fleet_shards set until = clock_timestamp()"

# a shard is split while nobody holds it: what is known of its pages stays; what was sent to the
# inbox of the old one goes on to the new one
big=$(sql "select shard from pages group by 1 order by count(distinct split_part(url, '/', 3)) desc limit 1")
history="select p.url, p.visits, p.care, v.cycle, v.ord, v.outcome, c.digest from pages p left join visits v on v.shard = p.shard and v.page = p.number left join captures c on c.shard = v.shard and c.id = v.capture order by 1, 4, 5"
sql "$history" > history-before
expect 0 $f -C r export changed --after "$cursor"
[ "$(grep -c '"url"' out)" = "$(sql 'select count(*) from visits where cycle > 1 and outcome in (1, 2)')" ] || fail "changes since: $(wc -l < out)"
expect 0 $f -C r export changed --after begin
grep '"url"' out | sort > changes-before
sql "update fleet_shards set worker = 'north', until = clock_timestamp() + interval '1 hour' where shard = $big"
expect 5 $f -C r fleet split "$big"
sql "update fleet_shards set until = clock_timestamp()"
expect 2 $f -C r fleet split 9
expect 2 $f -C r fleet join 1
expect 0 $f -C r fleet split "$big" --json
is '(shard, new_shard)' "($big, 4)"
expect 2 $f -C r export changed --after "$cursor"
grep -q 'begin without' err || fail "an old cursor: $(cat err)"
sql "$history" > history-after
expect 0 $f -C r export changed --after begin
grep '"url"' out | sort | cmp - changes-before || fail "changes after the split"
cmp history-before history-after || fail "split: $(diff history-before history-after | head -n 4)"
[ "$(sql 'select count(*) > 0 from pages where shard = 4')" = t ] || fail "shards: $(sql 'select shard, count(*) from pages group by 1')"
went=$(sql 'select url from pages where shard = 4 and care = 0 limit 1')
sql "insert into fleet_inbox (shard, kind, body) values ($big, 'remove', '$went' || chr(10))"
expect 0 $f -C r resume "$page"         # settles what nobody holds
sql "select 1 from fleet_inbox" | grep -q 1 && expect 0 $f -C r resume "$page"
[ "$(sql "select care from pages where url = '$went'")" = 1 ] || fail "an entry did not go on: $(sql 'select * from fleet_inbox')"
# nonsense in an inbox is named and dropped
sql "insert into fleet_inbox (shard, kind, body) values (0, 'list', 'http://')"
expect 0 $f -C r resume "$page"
grep -q 'inbox of shard 0: an entry:1: empty host' err || fail "nonsense: $(cat err)"

# a redirect into another shard is not followed; its target goes to that shard
other=$(sql "select split_part(split_part(max(url), '/', 3), ':', 1) from pages where shard <> (select shard from pages where url like 'http://127.0.0.1:%' limit 1)")
expect 0 $f -C r add "http://127.0.0.1:$port/go/$other"
expect 0 $f -C r set budget 100
sql "update fleet_cycles set slot = slot - 7200"
expect 0 $f -C r work --worker f --take 5 --cycles 1
expect 0 $f -C r status --json
is '(shards, shards_done, cycle)' '(5, 5, 3)'
[ "$(sql "select v.cause from visits v join pages p on p.shard = v.shard and p.number = v.page where p.url like '%/go/%'")" = 21 ] || fail "moved: $(sql "select v.* from visits v join pages p on p.shard = v.shard and p.number = v.page where p.url like '%/go/%'")"
[ "$(sql "select count(*) from pages where url = 'http://$other:$port/to'")" = 1 ] || [ "$(sql "select count(*) from fleet_inbox where body like '%/to'")" = 1 ] || fail "target"

# a worker ends with its last cycle, and opens none after it, though another has not ended its part when
# the next one is due
sql "update fleet_cycles set slot = slot - 7200"
sql "update fleet_shards set worker = 'north', until = clock_timestamp() + interval '1 hour' where shard = 0"
$f -C r work --worker g --take 4 --cycles 1 > g.out 2>&1 & g=$!
for i in $(seq 1000); do [ "$(sql 'select count(*) from fleet_shards where done and cycle = 4')" = 4 ] && break; sleep 0.1; done
[ "$(sql 'select count(*), max(number) from fleet_cycles')" = '4|4' ] || fail "cycles: $(sql 'select * from fleet_cycles')"
sql "update fleet_cycles set slot = slot - 7200"
wait $g || fail "worker g: $(cat g.out)"
[ "$(sql 'select max(number) from fleet_cycles')" = 4 ] || fail "a cycle beyond the last: $(sql 'select * from fleet_cycles')"
sql "update fleet_shards set until = clock_timestamp()"

# where `every` was made shorter, the next cycle is not one that is over already
expect 0 $f -C r set every 1m
sql "update fleet_cycles set slot = slot - 1800"
expect 0 $f -C r work --worker h --take 5 --cycles 1
[ "$(sql 'select number, slot <= opened and slot + every > opened from fleet_cycles where number > 4')" = '5|t' ] || fail "slots: $(sql 'table fleet_cycles')"

# one shard on PostgreSQL by `work` asks for the same pages, in the same order, as one in a folder by `cycle`
u1="$FRESHET_TEST_PG&schema=${schema}_one"
for r in folder base; do
	if [ $r = folder ]; then expect 0 $f init $r; else expect 0 $f init $r --store "$u1"; fi
	for s in "contact mailto:a@b.example" "delay 0" "allow_net 127.0.0.0/8" "budget 20" "connections 1"; do expect 0 $f -C $r set $s; done
	expect 0 $f -C $r import urls
	: > log
	if [ $r = folder ]; then expect 0 $f -C $r cycle; else expect 0 $f -C $r work --cycles 1; fi
	grep ' /p' log | cut -d' ' -f2- > asked-$r
	expect 0 $f -C $r export visits
	sed 's/"time":"[^"]*"//' out | sort > visits-$r
done
cmp asked-folder asked-base || fail "one shard asks for other pages: $(paste asked-folder asked-base | head -n 5)"
[ "$(wc -l < visits-folder)" = 20 ] || fail "visits: $(wc -l < visits-folder)"
cmp visits-folder visits-base || fail "one shard has other visits: $(diff visits-folder visits-base | head -n 4)"
sql "drop schema ${schema}_one cascade" > /dev/null 2>&1
sql "drop schema $schema cascade" > /dev/null 2>&1
