#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# Many who listen to the changes of a fleet: each hears all of them once, the store is asked once for all who
# stand at one place, and while it does not answer the service does, and says that it lives.
. "$SRC/tests/lib/e2e.sh"
. "$SRC/tests/lib/fleet.sh"
start_wire

expect 0 $f init r --store "$u" --shards 2
for s in "every 1h" "budget 100%" "delay 0"; do expect 0 $f -C r set $s; done
for h in $(seq 4); do for p in 1 2 3; do echo "http://h$h.example/p$p"; done; done > urls
expect 0 $f -C r import urls

cat > listen.py <<'PY'
import http.client, json, os, socket, subprocess, sys, threading, time, urllib.parse
freshet, wire, folder, url, psql = *sys.argv[1:5], sys.argv[5:]
running = []
notes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notes.bind("notes")
notes.settimeout(60)
def start(*options, **env):
    p = subprocess.Popen([freshet, "serve", "--listen", "127.0.0.1:0", *options], stdout=subprocess.PIPE, text=True, env={**os.environ, **env})
    running.append(p)
    return urllib.parse.urlsplit(p.stdout.readline().split()[1]).netloc
def ask(at, method, path, body=None):
    c = http.client.HTTPConnection(at, timeout=300)
    c.request(method, path, body)
    r = c.getresponse()
    assert r.status == 200, (path, r.status, r.read())
    return json.loads(r.read())
def wait(what, why):
    end = time.time() + 300
    while not (result := what()):
        assert time.time() < end, why
        time.sleep(0.02)
    return result
crawls = start("--store", url, "--take", "2")
plain = start("--store", url.replace("host=" + folder, "host=" + wire), NOTIFY_SOCKET=os.path.abspath("notes"), WATCHDOG_USEC="3000000")
def alive():    # not what was said before
    notes.setblocking(False)
    try:
        while True: notes.recv(100)
    except BlockingIOError: pass
    notes.settimeout(60)
    while notes.recv(100) != b"WATCHDOG=1": pass
heard = []
def listen(path):
    c = http.client.HTTPConnection(plain, timeout=600)
    c.request("GET", path, headers={"Accept": "text/event-stream"})
    r, mine = c.getresponse(), []
    assert r.status == 200, r.status
    heard.append(mine)
    def follow():
        try:
            while line := r.readline():
                if line.startswith(b'data: {"schema":"freshet.change/') or line.startswith(b'data: {"url"'): mine.append(json.loads(line[6:])["url"])
        except (OSError, AttributeError, ValueError): pass
    threading.Thread(target=follow, daemon=True).start()
told = []
def crawl(n):
    offers = wait(lambda: ask(crawls, "POST", "/v1/lease", json.dumps({"count": n, "client": "c"}))["offers"], "no offers")
    ask(crawls, "POST", "/v1/tell", "\n".join(json.dumps({"lease": o["lease"], "outcome": "changed"}) for o in offers))
    told.extend(o["url"] for o in offers)
def all_hear(which, urls): wait(lambda: all(sorted(m) == sorted(urls) for m in which), "they hear %s, not %s" % ([len(m) for m in which], urls))
def readings(since=0): return [l for l in open(wire + "/said").read()[since:].splitlines() if l.startswith("DECLARE")]
begin = ask(plain, "GET", "/v1/changes?since=now")["next"]
for i in range(46): listen("/v1/changes" if i % 2 else "/v1/events")
listen("/v1/changes?since=" + begin)
crawl(4)
all_hear(heard, told)
since = os.path.getsize(wire + "/said")
crawl(3)
all_hear(heard, told)
n = len(readings(since))
assert 1 <= n <= 12, "%d readings for %d listeners" % (n, len(heard))   # two shards, a look now and then, 47 times each without sharing
listen("/v1/changes?since=" + begin)    # it stands elsewhere
all_hear(heard, told)
# the store does not answer who reads visits
blocker = subprocess.Popen(psql + ["-c", "begin; lock table visits in access exclusive mode; select 'locked'; select pg_sleep(50)"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
def sql(text): return subprocess.run(psql + ["-c", text], check=True, capture_output=True, text=True).stdout.strip()
waiting = "select count(*) from pg_locks l join pg_class c on c.oid = l.relation where not granted and c.relnamespace = current_schema()::regnamespace"
wait(lambda: sql("select count(*) from pg_locks l join pg_class c on c.oid = l.relation where granted and mode = 'AccessExclusiveLock' and relname like 'visits%' and c.relnamespace = current_schema()::regnamespace") != "0", "not locked")
sql("update shards set batch = batch + 1")
wait(lambda: sql(waiting) != "0", "nobody reads")
for i in range(2): alive()
assert ask(plain, "GET", "/v1/now")["listeners"] == len(heard)
assert sql(waiting) != "0", "it was over meanwhile"
sql("select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(50)%' and pid <> pg_backend_pid()")
blocker.wait(60)
crawl(2)
all_hear(heard, told)
# the server is away for who comes anew: that passes, and is no fault of the service
os.rename(wire + "/.s.PGSQL.5432", wire + "/away")
for path in "/v1/settings", "/v1/status", "/v1/sites", "/readyz":
    c = http.client.HTTPConnection(plain, timeout=300)
    c.request("GET", path)
    r = c.getresponse()
    assert r.status == 503 and (path == "/readyz" or r.headers["Retry-After"]), (path, r.status, r.read())
PY
cat > run.py <<'PY'
try: exec(open("listen.py").read())
finally:
    for p in running: p.kill()
PY
PGOPTIONS="-c search_path=$schema" python3 run.py "$f" "$wire" "$folder" "$u" "$psql" -qAt "$FRESHET_TEST_PG" || fail "listeners"
