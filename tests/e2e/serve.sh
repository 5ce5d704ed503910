#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `freshet serve`: its documents are those of the commands; other crawlers lease and tell, and
# nothing counts twice, whoever is killed; the changes feed misses nothing; cycles of our own.
. "$SRC/tests/lib/e2e.sh"
. "$SRC/tests/lib/service.sh"
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY || true

cat >web.py <<'PY'
from origin import *
import os
def answer(q):
    if q.path == "/robots.txt": return 404, b""
    return 200, ("<html><title>%s</title><p>version %s <script>alert(1)</script></p></html>" % (q.path, open("version").read())).encode()
serve(answer)
PY
echo 1 >version
start_origin web.py
trap 'kill -9 ${service:-} $origin 2>/dev/null || :' EXIT

"$f" init crawl 2>/dev/null
for i in $(seq 40); do echo "$url/p$i"; done >urls
for i in $(seq 60); do echo "http://h$((i % 6)).example/d/p$i"; done >>urls
"$f" -C crawl import urls >/dev/null
for s in "contact http://x.example/" "allow-net 127.0.0.0/8" "delay 0s" "budget 40" "policy random"; do "$f" -C crawl set ${s%% *} "${s#* }"; done
start_service crawl
for i in $(seq 600); do curl -fs "$api/readyz" >/dev/null && break; sleep 0.05; done

# ---- the documents of the commands, and only them ----
same() { # path, command...
	local path=$1; shift
	curl -fsS "$api$path" >http.json || fail "$path"
	"$f" -C crawl "$@" --json >cli.json 2>/dev/null
	python3 - "$path" <<'PY' || fail "$path and freshet $* differ: $(cat http.json) $(cat cli.json)"
import json, sys
a, b = (json.load(open(x)) for x in ("http.json", "cli.json"))
for x in a, b: x.pop("time", 0)
sys.exit(a != b)
PY
}
page=$(python3 -c 'import sys, urllib.parse; print(urllib.parse.quote(sys.argv[1], safe=""))' "$url/p7")
same /v1/status status
same /v1/sites?sort=name status --sites --sort name
same /v1/failing status --failing
same /v1/cycles log
same /v1/policies policies
same /v1/plan?budget=5 plan --budget 5
same "/v1/pages/$page" show "$url/p7"
same "/v1/pages/$page/explain" explain "$url/p7"
same /v1/settings get
same /v1/settings/known get --all

# ---- the rest, by a client in another language ----
cat >client.py <<'PY'
import http.client, json, os, signal, subprocess, sys, threading, time, urllib.parse
api, freshet = sys.argv[1:3]
at = urllib.parse.urlsplit(api).netloc

def ask(method, path, body=None, headers={}, raw=False):
    c = http.client.HTTPConnection(at, timeout=120)
    c.request(method, path, body if body is None or isinstance(body, (str, bytes)) else json.dumps(body), headers)
    r = c.getresponse()
    text = r.read()
    return r.status, (text if raw else json.loads(text) if text else None), dict(r.getheaders())

def ok(method, path, *more, **named):
    status, doc, _ = ask(method, path, *more, **named)
    assert status in (200, 202), (method, path, status, doc)
    return doc

# pages: in parts, all of them, each once; filters
seen, cursor = [], ""
while True:
    d = ok("GET", "/v1/pages?limit=7" + (cursor and "&cursor=" + cursor))
    seen += [p["url"] for p in d["pages"]]
    cursor = d["next"]
    if cursor is None: break
assert sorted(seen) == sorted(l.strip() for l in open("urls")), len(seen)
assert len(ok("GET", "/v1/pages?site=h1.example&limit=1000")["pages"]) == 10
assert len(ok("GET", "/v1/pages?q=/P7&limit=1000")["pages"]) == 2
assert ok("GET", "/v1/pages?state=gone")["pages"] == []

# ETag
_, _, h = ask("GET", "/v1/settings")
assert ask("GET", "/v1/settings", headers={"If-None-Match": h["ETag"]})[0] == 304
# errors are problems that say what to do
for path, want in (("/v1/nothing", 404), ("/v1/pages/77777", 404), ("/v1/pages?limit=x", 400), ("/v1/pages?huh=1", 400), ("/v1/pages/http%3A%2F%2Fno.example%2F", 404)):
    status, doc, h = ask("GET", path)
    assert status == want and doc["status"] == want and doc["detail"] and h["Content-Type"] == "application/problem+json", (path, status, doc)
status, doc, h = ask("PUT", "/v1/pages", {})
assert status == 405 and "GET" in h["Allow"], h

# lease and tell
assert ok("GET", "/v1/changes?since=now")["changes"] == []
mark = ok("GET", "/v1/changes?since=now")["next"]
a = ok("POST", "/v1/lease", {"count": 5, "client": "alpha", "hosts": ["h1.example", "h2.example"]})
assert a["schema"] == "freshet.ask/1" and 1 <= len(a["offers"]) <= 5, a
assert all(o["url"].split("/")[2] in ("h1.example", "h2.example") for o in a["offers"]), a
b = ok("POST", "/v1/lease", {"count": 5, "client": "beta"})
mine = {o["lease"] for o in a["offers"]}
assert not mine & {o["lease"] for o in b["offers"]}
again = ok("POST", "/v1/lease", {"count": len(mine), "client": "alpha"})
assert {o["lease"] for o in again["offers"]} == mine and all(o["again"] for o in again["offers"])
lines = "".join(json.dumps({"lease": l, "status": 200, "digest": "sha1:A"}) + "\n" for l in sorted(mine)) + "nonsense\n"
first = ok("POST", "/v1/tell?client=alpha", lines, {"Idempotency-Key": "one"})
assert first["told"] == len(mine) and first["malformed"] == 1 and first["refused"][0]["line"] == len(mine) + 1, first
assert ok("POST", "/v1/tell?client=alpha", lines, {"Idempotency-Key": "one"}) == first
assert ask("POST", "/v1/tell", "other", {"Idempotency-Key": "one"})[0] == 422
assert ok("POST", "/v1/tell", lines)["repeated"] == len(mine)
got = ok("GET", "/v1/changes?since=" + mark)
assert len(got["changes"]) == len(mine) and not got["more"] and all("path" not in c for c in got["changes"]), got
one = ok("GET", "/v1/changes?limit=1&since=" + mark)
rest = ok("GET", "/v1/changes?since=" + one["next"])
assert [c["url"] for c in one["changes"] + rest["changes"]] == [c["url"] for c in got["changes"]] and one["more"]
assert b"<feed" in ask("GET", "/v1/changes", headers={"Accept": "application/atom+xml"}, raw=True)[1]
now = ok("GET", "/v1/now")
# neither offers nor outcomes that came twice count twice
assert {c["client"]: (c["leased"], c["told"]) for c in now["leases"]["clients"]}["alpha"] == (len(mine), len(mine)), now
assert now["leases"]["leased"] == len(mine) + len(b["offers"]) and now["leases"]["told"] == len(mine), now
history = ok("GET", "/v1/pages/" + urllib.parse.quote(got["changes"][0]["url"], safe="") + "/history")
assert len(history["visits"]) == 1 and history["visits"][0]["outcome"] == "new", history
# a page of beta's is given back; and the cycle is over
assert ok("POST", "/v1/tell", json.dumps({"lease": b["offers"][0]["lease"], "outcome": "release"}))["released"] == 1
assert ask("POST", "/v1/cycles", {})[0] == 409          # it is open for other crawlers
assert ok("POST", "/v1/lease/end", "")["downloads"] >= len(mine)
assert ask("POST", "/v1/lease/end", "")[0] == 409

# pages and settings
assert ok("POST", "/v1/pages", {"urls": ["http://new.example/1"], "tag": "t", "weight": 2.5})["pages"] == 1
assert ok("GET", "/v1/pages/http%3A%2F%2Fnew.example%2F1")["weight"] == 2.5
for weight in ("2", -1): assert ask("POST", "/v1/pages", {"urls": ["http://new.example/2"], "weight": weight})[0] == 400
assert ok("DELETE", "/v1/pages/http%3A%2F%2Fnew.example%2F1")["changed"] == 1
assert ok("PUT", "/v1/settings", {"key": "max-age", "value": "30d"})["value"] == "30d"
assert ok("GET", "/v1/settings")["settings"]["max-age"] == "30d"
assert ok("PUT", "/v1/settings", {"key": "max-age"})["value"] is None
assert ask("PUT", "/v1/settings", {"key": "max-age", "value": "x"})[0] == 400
assert ask("PUT", "/v1/settings", {"key": "exclude", "values": ["@/etc/passwd"]})[0] == 400

# a cycle of our own, watched
events, stream = [], http.client.HTTPConnection(at, timeout=120)
stream.request("GET", "/v1/events")
answer = stream.getresponse()
assert answer.getheader("Content-Type") == "text/event-stream"
def listen():
    name = None
    for line in answer:
        line = line.decode().rstrip("\n")
        if line.startswith("event: "): name = line[7:]
        if line.startswith("data: "): events.append((name, json.loads(line[6:])))
threading.Thread(target=listen, daemon=True).start()
def wait(what, seconds=120):
    end = time.time() + seconds
    while time.time() < end:
        if what(): return
        time.sleep(0.05)
    raise SystemExit(f"waited in vain: {ok('GET', '/v1/now')} {events[-3:]}")
for bad in "x", "-1", "0", "101%", 0, -3, 1.5: assert ask("POST", "/v1/cycles", {"budget": bad})[0] == 400, bad
ok("POST", "/v1/cycles", {"budget": "100%"})
wait(lambda: ok("GET", "/v1/now")["cycle"].get("state") == "done")
result = ok("GET", "/v1/now")["cycle"]["result"]
assert result["schema"] == "freshet.cycle/1" and result["new"] == 40, result
wait(lambda: sum(n == "change" for n, _ in events) == 40)
wait(lambda: any(n == "now" and (d["cycle"] or {}).get("result") for n, d in list(events)))
one = urllib.parse.quote(next(d["url"] for n, d in events if n == "change"), safe="")
status, text, h = ask("GET", f"/v1/pages/{one}/content", raw=True)
assert status == 200 and b"version" in text and h["Content-Type"] == "text/plain" and "sandbox" in h["Content-Security-Policy"] and h["X-Content-Type-Options"] == "nosniff", h
status, text, h = ask("GET", f"/v1/pages/{one}/content?download=1", raw=True)
assert h["Content-Type"] == "application/octet-stream" and h["Content-Disposition"].startswith("attachment"), h
# stopped, it goes on another time
assert ask("DELETE", "/v1/cycles/current")[0] == 409

# a replay in the background: the history is too short, and it says so
r = ok("POST", "/v1/replays", {"policies": ["random"], "seeds": 1, "cycle": "1d"})
wait(lambda: ok("GET", f"/v1/replays/{r['id']}")["state"] != "runs")
assert "history" in ok("GET", f"/v1/replays/{r['id']}")["said"]
assert ask("GET", "/v1/replays/99")[0] == 404
# figures: each name said once with type and help, numbers only, counters end in _total
import re
kinds, names = {}, set()
for line in ask("GET", "/metrics", raw=True)[1].decode().splitlines():
    if line.startswith("# TYPE"):
        _, _, name, kind = line.split(" ")
        assert name not in kinds and (kind == "counter") == name.endswith("_total"), line
        kinds[name] = kind
    elif not line.startswith("# HELP "):
        m = re.fullmatch(r'([a-z_]+)(\{[a-z]+="[^"]*"\})? (\S+)', line)
        assert m and (m[1] in kinds or re.sub("_(sum|count)$", "", m[1]) in kinds), line
        float(m[3])
        assert m[1] + (m[2] or "") not in names, line
        names.add(m[1] + (m[2] or ""))
assert "freshet_told_pages_total" in names
# the description has every path, and answers have the headers of safety
paths = ok("GET", "/v1/openapi.json")["paths"]
assert "post" in paths["/v1/lease"] and "get" in paths["/v1/pages/{page}/history"]
PY
python3 client.py "$api" "$f" || fail "client.py: $(cat served.err)"

# ---- what docs/service.md shows: every line of curl, and the crawler in Python ----
curl -fsS -X PUT "$api/v1/settings" -d '{"key":"budget","value":"10"}' >/dev/null
sed -n 's/^    //p' "$SRC/docs/service.md" | grep curl | sed "s|localhost:8390|${api#http://}|g; s|curl -s|curl -fsS|g" >lines
[ "$(wc -l <lines)" -ge 3 ] || fail "docs/service.md: $(cat lines)"
while read -r line; do bash -eo pipefail -c "$line" >out 2>err </dev/null || fail "docs/service.md: $line"; done <lines
sed -n '/^```python$/,/^```$/p' "$SRC/docs/service.md" | sed '/^```$/q' | sed "/^\`\`\`/d; s|http://localhost:8390|$api|" >shown.py
timeout 120 python3 shown.py >out 2>err || fail "the crawler of docs/service.md"
[ "$(awk '{ n += $1 } END { print n }' out)" = 10 ] || fail "it told: $(cat out err)"
curl -fsS -X POST "$api/v1/lease/end" >/dev/null
stop_service

# ---- killed: the service, and clients in the middle of it; rounds planned in the background, and not ----
"$f" -C crawl set budget 90
cat >hammer.py <<'PY'
import http.client, json, os, random, sys, time, urllib.parse
name, state, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
draw = random.Random(seed)
def ask(path, body, headers={}):
    while True:                 # until somebody answers; the service may be down
        try:
            c = http.client.HTTPConnection(urllib.parse.urlsplit(open("api").read().strip()).netloc, timeout=30)
            c.request("POST", path, body, headers)
            r = c.getresponse()
            text = r.read()
            if r.status in (200, 422): return r.status, json.loads(text)
            if r.status != 503: sys.exit(f"{path}: {r.status} {text}")
        except (OSError, http.client.HTTPException): pass
        time.sleep(0.05)
n = 0
while True:
    _, a = ask("/v1/lease", json.dumps({"count": 2, "client": name}))
    if a["done"]: break
    if "wait" in a:
        time.sleep(0.05)
        continue
    n += 1
    lines = "".join(json.dumps({"lease": o["lease"], "status": 200, "digest": "sha1:%s" % draw.random()}) + "\n" for o in a["offers"])
    key = "%s-%d-%d" % (name, os.getpid(), n)
    for i in range(1 + (draw.random() < 0.3)):          # some send twice
        status, t = ask("/v1/tell", lines, {"Idempotency-Key": key})
        with open(state, "a") as f: f.write(json.dumps([key, t]) + "\n")
PY
start_service crawl --ahead 1; echo "$api" >api
trap 'kill -9 ${service:-} $origin ${hammers[*]:-} 2>/dev/null || :' EXIT
for n in 1 2 3; do python3 hammer.py c$n told.$n $n & hammers[$n]=$!; done
for round in 1 2 3 4; do
	for i in $(seq 200); do [ "$(cat told.* 2>/dev/null | wc -l)" -ge $((round * 4)) ] && break; sleep 0.05; done
	if [ $round = 3 ]; then kill -9 ${hammers[2]} 2>/dev/null || :; wait ${hammers[2]} 2>/dev/null || :; python3 hammer.py c2 told.2b 9 & hammers[2]=$!; fi
	kill -9 $service; wait $service 2>/dev/null || :
	start_service crawl --ahead $((round % 2 ? 50000 : 1)); echo "$api" >api
done
for n in 1 2 3; do wait ${hammers[$n]} || fail "a client"; done
stop_service
"$f" -C crawl end --json >end.json
"$f" -C crawl export visits -o visits.jsonl 2>/dev/null
python3 - <<'PY' || fail "something counted twice, or was lost"
import collections, glob, json
end = json.load(open("end.json"))
visits = [v for v in map(json.loads, open("visits.jsonl")) if v["cycle"] == end["cycle"]]
assert len(visits) == len({v["url"] for v in visits}), "a page twice"
assert end["downloads"] == len(visits) == 40, (end, len(visits))       # the others failed, and rest
answers = collections.defaultdict(list)
for path in glob.glob("told.*"):
    for key, told in map(json.loads, open(path)): answers[key].append(told)
for key, all_ in answers.items():
    assert all(a == all_[0] for a in all_), (key, all_)     # asked again: the same answer
told = sum(a[0]["told"] for a in answers.values())
# what a killed client or service did not hear of may have been kept, never the other way
assert told <= len(visits), (told, len(visits))
PY
