#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# `freshet serve --take` is killed (SIGKILL) at the Nth message to PostgreSQL while it is told what came of
# pages of all shards, before the server has the message, or when it has it and nobody hears the answer.
# The crawler sends the request again, with its Idempotency-Key, to the next service: each outcome is there
# once, none is lost, no page is asked for twice and the budget holds.
#   KILLS=200 FROM=1 STEP=1 SAY=1: so many kills (8), from the Nth message on (1), at each STEPth (9); they
#   are named
. "$SRC/tests/lib/e2e.sh"
. "$SRC/tests/lib/fleet.sh"
start_wire

expect 0 $f init r --store "$u" --shards 2
for s in "every 1h" "budget 40" "delay 0"; do expect 0 $f -C r set $s; done
for h in $(seq 6); do for p in $(seq 10); do echo "http://h$h.example/p$p"; done; done > urls
expect 0 $f -C r import urls

cat > kill.py <<'PY'
import collections, http.client, json, os, subprocess, sys, time, urllib.parse
freshet, wire, folder, url, kills, psql = *sys.argv[1:6], sys.argv[6:]
through = url.replace("host=" + folder, "host=" + wire)
service, at = None, None
def sql(text): return subprocess.run(psql + [text], check=True, capture_output=True, text=True).stdout.strip()
def start():
    global service, at
    sql("update fleet_shards set until = clock_timestamp()")    # nobody waits until the leases of the dead are over
    service = subprocess.Popen([freshet, "serve", "--store", through, "--take", "2", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    at = urllib.parse.urlsplit(service.stdout.readline().split()[1]).netloc
def ask(path, body, **headers):
    c = http.client.HTTPConnection(at, timeout=300)
    c.request("POST", path, body, headers)
    r = c.getresponse()
    text = r.read()
    assert r.status == 200, (path, r.status, text)
    return json.loads(text)
def lease(n): return ask("/v1/lease", json.dumps({"count": n, "client": "a"}))
def try_to(what, why):
    end = time.time() + 300
    while not (result := what()):
        assert time.time() < end, why
        time.sleep(0.02)
    return result
def order(*words):
    with open(wire + "/kill.new", "w") as f: f.write("%d %d %s" % words)
    os.rename(wire + "/kill.new", wire + "/kill")
in_tells, at_what = 0, collections.Counter()
def round_of(n, when):
    """One cycle; killed at the Nth message of a tell, if there are so many.  Was it?"""
    # a request for all that is leased: pages of both shards
    offers = try_to(lambda: (d := lease(100))["offers"], "nothing is leased")
    seen = {o["lease"]: o["url"] for o in offers}
    for i in range(50):         # of both shards, if both have any
        if len({l.split(".")[0] for l in seen}) == 2: break
        seen.update({o["lease"]: o["url"] for o in lease(100)["offers"]})
        time.sleep(0.02)
    cycle = int(sql("select max(number) from fleet_cycles"))
    body = "\n".join(json.dumps({"lease": l, "outcome": "changed", "url": x}) for l, x in seen.items())
    key = {"Idempotency-Key": "k-%d" % cycle}
    order(service.pid, n, when)
    killed, answer, n_told = False, None, len(seen)
    try: answer = ask("/v1/tell?client=a", body, **key)
    except (OSError, http.client.HTTPException):
        killed = True
        service.wait(60)
        at_what[" ".join(open(wire + "/killed").read().split()[:3])] += 1
        os.remove(wire + "/killed")
        start()
        # sent again until its shards are claimed: who holds none of them refuses, and nothing is lost by that
        def again():
            nonlocal answer
            answer = ask("/v1/tell?client=a", body, **key)
            return not answer["refused"]
        had = []
        def held():     # the shards are held again: what was not told is offered again
            d = lease(1)
            had.extend(d["offers"])
            return d["done"] or {s for s in sql("select shard from fleet_shards where until > clock_timestamp()").split()} == {"0", "1"}
        try_to(held, "the shards are not claimed")
        try_to(again, "it is not taken: %s" % answer)
        for o in had: assert seen.setdefault(o["lease"], o["url"]) == o["url"], o
    else:
        order(0, -1, "never")   # too few messages
    assert answer["told"] == answer["changed"] == n_told, (answer, n_told)
    return killed, seen, answer, cycle
PY
cat >> kill.py <<'PY'
def finish(seen, cycle):
    """The rest of the cycle is leased and told."""
    def over():
        d = lease(100)
        if d["offers"]:
            seen.update({o["lease"]: o["url"] for o in d["offers"]})
            ask("/v1/tell?client=a", "\n".join(json.dumps({"lease": o["lease"], "outcome": "changed"}) for o in d["offers"]))
        return d["done"]
    try_to(over, "the cycle does not end")
def check(seen, cycle):
    rows = [r.split("|") for r in sql("select p.url, count(*) from visits v join pages p on p.shard = v.shard and p.number = v.page join fleet_shards f on f.shard = v.shard "
            "where v.cycle = (select max(c.number) from cycles c where c.shard = v.shard) group by 1").splitlines()]
    twice = [r for r in rows if r[1] != "1"]
    assert not twice, twice
    assert sorted(r[0] for r in rows) == sorted(seen.values()), (rows, seen)
    assert len(set(seen.values())) == len(seen) == 40, seen
    assert sql("select sum(downloads), sum(granted) from fleet_grants where cycle = %d" % cycle) == "40|40", sql("select * from fleet_grants where cycle = %d" % cycle)
start()
n, step, done, over = int(os.environ.get("FROM", 1)), int(os.environ.get("STEP", 9)), 0, set()
while done < int(kills) and len(over) < 2:
    for when in "before", "after":
        killed, seen, answer, cycle = round_of(n, when)
        finish(seen, cycle)
        check(seen, cycle)
        done += 1
        in_tells += killed
        if not killed: over.add(when)   # it has fewer messages
        if os.environ.get("SAY"): print(done, n, when, killed, flush=True)
        sql("update fleet_cycles set slot = slot - every")
    n += step
assert in_tells, "no kill fell into a tell"
print("%d of %d in a tell: %s" % (in_tells, done, dict(at_what)))
PY
cat > run.py <<'PY'
try: exec(open("kill.py").read())
finally: service and service.kill()
PY
PGOPTIONS="-c search_path=$schema" python3 run.py "$f" "$wire" "$folder" "$u" "${KILLS:-8}" "$psql" -qAt "$FRESHET_TEST_PG" -c || fail "killed in a tell"
