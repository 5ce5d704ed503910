#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# A service on one shard of a fleet: it holds the lease, writes under the fence, applies the inbox, and ends
# when the lease is lost.  A service over all shards: it reads all of them, writes through inboxes, and leases
# pages of the shards that it claims, under the budget of the fleet.
. "$SRC/tests/lib/e2e.sh"
. "$SRC/tests/lib/fleet.sh"
. "$SRC/tests/lib/service.sh"

expect 0 $f init r --store "$u" --shards 4
for s in "contact mailto:a@b.example" "every 1h" "budget 100%"; do expect 0 $f -C r set $s; done
for h in $(seq 8); do for p in 1 2 3; do echo "http://h$h.example/p$p"; done; done > urls
expect 0 $f -C r import urls
k=$(sql "select shard from pages where url = 'http://h1.example/p1'")

# cycles are the workers'
expect 2 $f -C r serve --shard "$k" --every 1h
expect 2 $f -C r serve --budget 5
expect 2 $f -C r serve --shard "$k" --take 2

start_service r --shard "$k"
[ "$(sql "select until > clock_timestamp() and worker like '%serve%' from fleet_shards where shard = $k")" = t ] || fail "no lease"
expect 5 $f -C r serve --shard "$k" --listen 127.0.0.1:0
# pages of that shard only, each once
curl -s "$api/v1/lease" -d '{"count":1000,"client":"a"}' > out
python3 -c 'import json; print("\n".join(sorted(o["url"] for o in json.load(open("out"))["offers"])))' > leased
sql "select url from pages where shard = $k order by 1" | LC_ALL=C sort > expected
LC_ALL=C sort leased | cmp -s - expected || fail "leased $(cat leased), of $(cat expected)"
python3 - <<'PY' > tell
import json
for o in json.load(open("out"))["offers"]:
    print(json.dumps({"lease": o["lease"], "outcome": "changed"}))
PY
curl -s "$api/v1/tell" --data-binary @tell > out
[ "$(sql "select count(*) from visits where shard = $k")" = "$(wc -l < expected)" ] || fail "told: $(cat out)"
curl -s -X POST "$api/v1/lease/end" > /dev/null
# what others send is applied by the service
expect 0 $f -C r add http://h1.example/new
for i in $(seq 200); do [ "$(sql "select count(*) from pages where url = 'http://h1.example/new'")" = 1 ] && break; sleep 0.1; done
[ "$(sql "select shard from pages where url = 'http://h1.example/new'")" = "$k" ] || fail "the inbox was not applied"
[ "$(sql "select count(*) from fleet_inbox where shard = $k")" = 0 ] || fail "the inbox is not empty"
# tokens are of the fleet, whoever holds shards: several commands at once lose none, and one that is
# taken away is of no use within seconds
sql "update fleet_shards set until = clock_timestamp() + interval '1 hour', worker = 'other' where shard <> $k"
adding=
for i in $(seq 6); do $f -C r token add t$i > token$i & adding="$adding $!"; done
for i in $adding; do wait $i || fail "token add: $?"; done
[ "$($f -C r token list | grep -c '^ *t[1-6] ')" = 6 ] || fail "tokens: $($f -C r token list)"
answers() {     # STATUS curl arguments: it comes to that
	local want=$1 got; shift
	for i in $(seq 100); do got=$(curl -s -o out -w '%{http_code}' "$@"); [ "$got" = "$want" ] && return; sleep 0.1; done
	fail "$got, not $want: $(cat out)"
}
answers 401 "$api/v1/pages"
answers 200 -H "Authorization: Bearer $(cat token3)" "$api/v1/pages"
expect 0 $f -C r token remove t3
answers 401 -H "Authorization: Bearer $(cat token3)" "$api/v1/pages"
answers 200 -H "Authorization: Bearer $(cat token6)" "$api/v1/pages"
expect 2 $f -C r token remove t3
expect 2 $f -C r token add t6
expect 2 $f -C r token list --shard 0
for i in 1 2 4 5 6; do expect 0 $f -C r token remove t$i; done
answers 200 "$api/v1/pages"
sql "update fleet_shards set until = clock_timestamp() where shard <> $k"
stop_service
[ "$(sql "select until <= clock_timestamp() from fleet_shards where shard = $k")" = t ] || fail "the lease was not given back"

# another takes the lease: nothing more is written, and the service ends
start_service r --shard "$k"
before=$(sql "select count(*) from cycles where shard = $k")
sql "update fleet_fences set fence = fence + 1 where shard = $k"
curl -s "$api/v1/lease" -d '{"count":1,"client":"a"}' > out || true
rc=0; wait $service || rc=$?
[ $rc = 5 ] || fail "serve ended with $rc: $(cat served.err)"
[ "$(sql "select count(*) from cycles where shard = $k")" = "$before" ] || fail "a cycle was opened under an old fence"
service=

# ---- all shards: 24 pages and one that was added, 3 of each host, in 4 shards ----
sql "update fleet_shards set until = clock_timestamp()"        # the lease that was lost is over
get() { curl -s -g "$api$1"; }
start_service r
n=$(sql "select count(*) from pages")
# pages: every one once, over the cursor; by SHARD.NUMBER and by URL
cat > walk.py <<'PY'
import json, sys, urllib.request
api, cursor, seen = sys.argv[1], None, []
while True:
    d = json.load(urllib.request.urlopen(api + "/v1/pages?limit=7" + ("&cursor=" + cursor if cursor else "")))
    seen += [(p["page"], p["url"]) for p in d["pages"]]
    cursor = d["next"]
    if not cursor: break
for page, url in seen:
    h = json.load(urllib.request.urlopen(api + "/v1/pages/" + page + "/history"))
    assert h["url"] == url, (page, url, h)
print("\n".join(sorted(u for _, u in seen)))
PY
python3 walk.py "$api" > got || fail "pages"
sql "select url from pages" | LC_ALL=C sort | cmp -s - got || fail "pages: $(cat got)"
get /v1/pages/http%3A%2F%2Fh5.example%2Fp2 > out
grep -q 'http://h5.example/p2' out || fail "$(cat out)"
for p in pages/7 pages/7.0 pages/0.99999999999999999999 pages/65536.0; do
	[ "$(curl -s -o out -w '%{http_code}' "$api/v1/$p")" = 404 ] || fail "$p: a page without its shard: $(cat out)"
done
for c in -1.-1 0.-1 %200.1 0.1x 0.99999999999; do
	[ "$(curl -s -o out -w '%{http_code}' "$api/v1/pages?cursor=$c")" = 400 ] || fail "cursor $c: $(cat out)"
done
get /metrics > out
grep -q "^freshet_pages $n\$" out && grep -q '^freshet_shards 4$' out || fail "$(cat out)"
get /v1/status > out; python3 -c 'import json; assert json.load(open("out"))["schema"]' || fail "status: $(cat out)"
get /v1/sites > out
python3 -c '
import json
d = json.load(open("out"))
assert d["schema"] == "freshet.shards/1" and len(d["shards"]) == 4, d
assert sum(len(s["by_site"]) for s in d["shards"]) == 8, d' || fail "sites: $(cat out)"
# changes of all shards, with one cursor
get '/v1/changes?limit=2' > out
python3 -c '
import json, sys, urllib.request
d, n = json.load(open("out")), 0
while True:
    n += len(d["changes"])
    if not d["more"]: break
    d = json.load(urllib.request.urlopen(sys.argv[1] + "/v1/changes?limit=2&since=" + d["next"]))
print(n)' "$api" > got
[ "$(cat got)" = "$(wc -l < expected)" ] || fail "changes: $(cat got)"
# a cursor that is ahead of a shard, as after a restore, would miss what comes
ahead=$(get '/v1/changes?since=now' | python3 -c 'import json, sys; c = json.load(sys.stdin)["next"].split("."); c[3] = "4000000000-1"; print(".".join(c))')
for accept in application/json text/event-stream; do
	[ "$(curl -s -m 20 -o out -w '%{http_code}' -H "Accept: $accept" "$api/v1/changes?since=$ahead")" = 410 ] || fail "cursor $ahead: $(cat out)"
done
# nothing is leased, and what a fleet does not do is said
[ "$(curl -s -o out -w '%{http_code}' "$api/v1/lease" -d '{}')" = 409 ] && grep -q -- --take out || fail "$(cat out)"
for p in cycles replays; do
	[ "$(curl -s -o out -w '%{http_code}' "$api/v1/$p" -d '{}')" = 409 ] || fail "$p: $(cat out)"
done
curl -s "$api/v1/now" | grep -q '"fleet":true' || fail "now does not say that it is a fleet"    # by which the dashboard offers none
# writes find their shards
curl -s "$api/v1/pages" -d '{"urls":["http://h2.example/late","http://h7.example/late"]}' > out
[ "$(sql "select count(*) from pages where url like '%/late'")" = 2 ] || fail "added: $(cat out)"
curl -s -X DELETE "$api/v1/pages/http%3A%2F%2Fh2.example%2Flate" > out
[ "$(sql "select care from pages where url = 'http://h2.example/late'")" != 0 ] || fail "removed: $(cat out)"
stop_service

# ---- leases: two shards at a time, one budget of 17 of 26 pages; each page once, none beyond the budget ----
expect 0 $f -C r set budget 17
expect 0 $f -C r set delay 0
start_service r --take 2
cat > client.py <<'PY'
import collections, json, sys, time, urllib.error, urllib.request
api, leased, told, keys = sys.argv[1], [], 0, 0
def post(path, data, **headers):
    return json.load(urllib.request.urlopen(urllib.request.Request(api + path, data.encode(), headers)))
end = time.time() + 120
while time.time() < end:
    d = post("/v1/lease", json.dumps({"count": 4, "client": "a"}))
    if d["done"]: break
    if not d["offers"]:
        time.sleep(0.2)
        continue
    leased += [(o["lease"], o["url"]) for o in d["offers"]]
    lines = "\n".join(json.dumps({"lease": o["lease"], "outcome": "changed"}) for o in d["offers"])
    keys += 1
    answers = [post("/v1/tell?client=a", lines, **{"Idempotency-Key": "%s-%d" % (sys.argv[2], keys)}) for _ in range(2)]
    assert answers[0] == answers[1], answers        # sent twice, it counts once
    told += answers[0]["told"]
else:
    sys.exit("not done: %s" % d)
time.sleep(1)                                           # the parts are over, and it is known all the same
assert post("/v1/tell?client=a", lines, **{"Idempotency-Key": "%s-%d" % (sys.argv[2], keys)}) == answers[0]
try: sys.exit("a key with another body: %s" % post("/v1/tell?client=a", lines + "\nx", **{"Idempotency-Key": "%s-%d" % (sys.argv[2], keys)}))
except urllib.error.HTTPError as e: assert e.code == 422, e
assert len(leased) == told == 17, (len(leased), told)
assert len({u for _, u in leased}) == 17, leased
shards = {l.split(".")[0] for l, _ in leased}
print("%d shards" % len(shards))
PY
python3 client.py "$api" one > got || fail "client: $(cat got served.err)"
[ "$(sql "select sum(downloads), sum(granted) from fleet_grants where cycle = (select max(number) from fleet_cycles)")" = '17|17' ] || fail "ledger: $(sql 'select * from fleet_grants')"
[ "$(sql "select budget, granted from fleet_cycles order by number desc limit 1")" = '17|17' ] || fail "cycle"
# a key belongs to the body that it came with first, also if another body is for another shard
body() { sql "select '{\"url\":\"' || min(url) || '\",\"outcome\":\"same\"}' from pages group by shard order by shard limit 1 offset $1"; }
keyed() { body "$1" | curl -s -o out -w '%{http_code}' -H 'Idempotency-Key: mine' "$api/v1/tell" --data-binary @-; }
[ "$(keyed 0)" = 200 ] && [ "$(keyed 0)" = 200 ] && [ "$(keyed 1)" = 422 ] && [ "$(keyed 0)" = 200 ] || fail "one key, two bodies: $(cat out)"
for i in $(seq 200); do [ "$(sql "select count(*) from fleet_inbox")" = 0 ] && break; sleep 0.1; done
# an outcome without a lease, of a page of any shard: at once, or by the inbox
echo '{"url":"http://h3.example/p1","outcome":"same"}' | curl -s "$api/v1/tell" --data-binary @- > out
for i in $(seq 200); do [ "$(sql "select count(*) from fleet_inbox")" = 0 ] && break; sleep 0.1; done
python3 -c 'import json; d = json.load(open("out")); assert d["told"] + d["inbox"] == 1, d' || fail "$(cat out)"
stop_service
[ "$(sql "select count(*) from fleet_shards where until > clock_timestamp()")" = 0 ] || fail "leases were not given back"
# keys are forgotten after a day: here the first, by the next service
[ "$(sql "select count(*) from states where key like 'body.%'")" -gt 1 ] || fail "keys: $(sql "select * from states where key like 'body.%'")"
sql "update states set value = regexp_replace(value, '^[0-9]+', (extract(epoch from now())::int8 - 86500)::text) where (shard, key) in (select shard, key from states where key like 'body.%' order by value limit 1)"

# ---- killed in the middle of a cycle: the next start knows who has what, and the budget holds ----
next_cycle() { sql "update fleet_cycles set slot = slot - every"; }
cat > some.py <<'PY'
import json, sys, time, urllib.request
api, want, end = sys.argv[1], int(sys.argv[2]), time.time() + 60
def lease(n):
    return json.load(urllib.request.urlopen(urllib.request.Request(api + "/v1/lease", json.dumps({"count": n, "client": "a"}).encode())))["offers"]
seen, had = {}, dict(l.split() for l in open(sys.argv[3])) if sys.argv[3:] else {}
# shards are claimed one after the other: what was had may come after what is new
while (len(seen) < want or not had.items() <= seen.items()) and time.time() < end:
    for o in lease(want):
        seen[o["lease"]] = o["url"]
    want += bool(had) and not had.items() <= seen.items()
    time.sleep(0.1)
assert had.items() <= seen.items() and len(seen) >= (1 if had else want), seen
print("\n".join("%s %s" % x for x in sorted(seen.items())))
PY
next_cycle
keys=$(sql "select count(*) from states where key like 'body.%'")
start_service r --take 4
for i in $(seq 100); do [ "$(sql "select count(*) from states where key like 'body.%'")" = $((keys - 1)) ] && break; sleep 0.1; done
[ "$(sql "select count(*) from states where key like 'body.%'")" = $((keys - 1)) ] || fail "old keys stay"
python3 some.py "$api" 2 > had || fail "lease: $(cat had served.err)"
kill -9 $service; wait $service 2> /dev/null || :
sql "update fleet_shards set until = clock_timestamp()"
start_service r --take 4
python3 some.py "$api" 2 had > again || fail "another set of leases: $(cat had again served.err)"
python3 client.py "$api" two > got || fail "client: $(cat got served.err)"
[ "$(sql "select sum(downloads), sum(granted) from fleet_grants where cycle = (select max(number) from fleet_cycles)")" = '17|17' ] || fail "ledger after a kill"

# ---- frozen beyond its leases, another has the shards by then: what it is told then is written by whoever holds them ----
next_cycle
for i in $(seq 100); do [ "$(sql "select count(*) from fleet_cycles")" = 3 ] && break; sleep 0.1; done
python3 some.py "$api" 2 > had || fail "lease: $(cat had served.err)"
kill -STOP $service
sql "update fleet_fences set fence = fence + 1; update fleet_shards set worker = 'other', until = clock_timestamp() + interval '1 hour'"
visits=$(sql "select count(*) from visits")
while read -r lease _; do echo "{\"lease\":\"$lease\",\"outcome\":\"changed\"}"; done < had > late
curl -s -m 60 -o out -w '%{http_code}' "$api/v1/tell" --data-binary @late > status & telling=$!
kill -CONT $service
wait $telling || fail "no answer"
for i in $(seq 100); do grep -q 'lost' served.err && break; sleep 0.1; done
[ "$(sql "select count(*) from visits")" = "$visits" ] || fail "written without a lease: $(cat status out served.err)"
grep -q 'lost' served.err || fail "nothing is said: $(cat served.err)"
case $(cat status) in 200|503) ;; *) fail "$(cat status out)" ;; esac          # 200: by inboxes
sql "update fleet_shards set until = clock_timestamp()"
answers 200 "$api/v1/tell" --data-binary @late                  # it has shards again, and counts what it is told

# ---- a part that a service began ends when a worker has its shard ----
next_cycle
for i in $(seq 100); do [ "$(sql "select count(*) from fleet_cycles")" = 4 ] && break; sleep 0.1; done
python3 some.py "$api" 2 > had || fail "lease: $(cat had served.err)"
stop_service
service=
[ "$(sql "select count(*) from cycles where open and clients")" -gt 0 ] || fail "no part is open"
expect 0 $f -C r work --cycles 1 --take 4
[ "$(sql "select count(*) from cycles where open")" = 0 ] || fail "a part is still open: $(cat err)"
[ "$(sql "select count(*) from leases where state = 0")" = 0 ] || fail "pages are still out"
