#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# A service on one shard of a fleet: it holds the lease, writes under the fence, applies the inbox, and ends
# when the lease is lost.
. "$SRC/tests/lib/e2e.sh"
[ -n "${FRESHET_TEST_PG:-}" ] || { . "$SRC/tests/lib/postgres.sh"; pg_make && pg_start; FRESHET_TEST_PG=$pg_url; remove=pg_remove; }
schema=fleetserve_$$_$RANDOM
u="$FRESHET_TEST_PG&schema=$schema"
psql=$(ls -d /usr/lib/postgresql/*/bin/psql 2> /dev/null | tail -n 1); psql=${psql:-psql}
sql() { PGOPTIONS="-c search_path=$schema" "$psql" -qAt "$FRESHET_TEST_PG" -c "$1"; }
. "$SRC/tests/lib/service.sh"
trap 'kill -9 ${service:-} 2>/dev/null || :; ${remove:-:}' EXIT

expect 0 $f init r --store "$u" --shards 4
for s in "contact mailto:a@b.example" "every 1h" "budget 100%"; do expect 0 $f -C r set $s; done
for h in $(seq 8); do for p in 1 2 3; do echo "http://h$h.example/p$p"; done; done > urls
expect 0 $f -C r import urls
k=$(sql "select shard from pages where url = 'http://h1.example/p1'")

# which shard must be said, and cycles are the workers'
expect 2 $f -C r serve
grep -q 'fleet of 4 shards' err || fail "$(cat err)"
expect 2 $f -C r serve --shard "$k" --every 1h

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
