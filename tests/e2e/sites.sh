#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# Settings of single sites: budget, age, weight and delay, of a host and its subdomains, in plans,
# for other crawlers and on the web; shown by status --sites.
. "$SRC/tests/lib/e2e.sh"
f=$FRESHET

expect 0 $f init r
for i in $(seq 10); do echo "http://a.example/$i"; echo "http://www.a.example/$i"; echo "http://b.example/$i"; done > list
expect 0 $f -C r import list
count() { $f -C r plan --format urls "$@" 2> /dev/null | sed 's|http://\([^/]*\)/.*|\1|' | sort | uniq -c | tr -s ' \n' ' '; }

# a budget is shared by the subdomains, and is never lifted; a more special host has its own
expect 0 $f -C r set --site a.example budget 5
[ "$(count --budget 30 --policy oldest | tr ' ' '\n' | grep -A1 . | awk '/^[0-9]/{n = $1} /a.example/{s += n} END{print s}')" = 5 ] || fail "budget: $(count --budget 30 --policy oldest)"
expect 0 $f -C r set --site www.a.example budget 2
[ "$(count --budget 30 --policy random)" = ' 5 a.example 10 b.example 2 www.a.example ' ] || fail "budgets: $(count --budget 30 --policy random)"
expect 0 $f -C r set --site b.example budget 0
[ "$(count --budget 30 --policy random)" = ' 5 a.example 2 www.a.example ' ] || fail "no budget: $(count --budget 30 --policy random)"
expect 0 $f -C r status --sites --json
is '{s["site"]: s["settings"] for s in by_site}' "{'a.example': {'budget': '5'}, 'b.example': {'budget': '0'}, 'www.a.example': {'budget': '2'}}"
expect 0 $f -C r status --sites
grep -q 'www.a.example.*budget 2' out || fail "status: $(cat out)"
for host in a.example www.a.example b.example; do expect 0 $f -C r set --site $host budget; done
expect 0 $f -C r get
! grep -q budget out || fail "unset: $(cat out)"

# an age: those pages come first
expect 0 $f -C r set --site www.a.example max-age 1d
expect 0 $f -C r plan --budget 12 --policy random --json
is 'sorted(p["reason"] for p in plan if "www" in p["url"])' "$(python3 -c 'print(["guarantee"] * 10)')"
is 'sum("www" not in p["url"] and p["reason"] == "guarantee" for p in plan)' 0
expect 0 $f -C r set --site www.a.example max-age

# a weight multiplies those of the pages
expect 0 $f -C r set --site b.example weight 50
printf '{"url":"http://%s.example/%s","status":200,"digest":"%s"}\n' a 1 x a 2 x b 1 x b 2 x > told
for day in 1 2 3; do sed "s/\"x\"/\"$day\"/" told > now; expect 0 $f -C r tell now --now 2025010$day; done
# how fresh: a site's rate, the page's part of it (4 added to both), the days since the last answer
expect 0 $f -C r status --sites --now 20250105 --json
python3 - <<'PY' || fail "fresh: $(cat out)"
import json, math
d = json.load(open("out")); a = next(s for s in d["by_site"] if s["site"] == "a.example")
rate = -math.log(1 - 4.5 / 5)           # 4 visits with one before, all found a change, 1 day apart
expected = 3 * a["updates"] / 6         # of a page's 3 visits
page = rate * (a["updates"] / 2 + 4) / (expected + 4)
assert abs(a["rate_per_day"] - rate) < 1e-6, (a, rate)
assert abs(a["fresh"] - math.exp(-2 * page)) < 1e-6, (a, math.exp(-2 * page))
b = next(s for s in d["by_site"] if s["site"] == "b.example")
assert abs(d["fresh"] - (a["fresh"] + b["fresh"]) / 2) < 1e-9, d["fresh"]
assert next(s for s in d["by_site"] if s["site"] == "www.a.example")["fresh"] is None
PY
expect 0 $f -C r plan --budget 2 --policy tide --weight given --now 20250105 --format urls
[ "$(grep -c b.example out)" = 2 ] || fail "weight: $(cat out)"

# a pause between requests, over all clients
expect 0 $f -C r set --site b.example delay 9s
expect 0 $f -C r ask --budget 30 --count 30 --delay 0 --policy oldest --now 20250201000000
python3 - <<'PY' || fail "turns of hosts"
import json
at = {}
for o in map(json.loads, open("out")): at.setdefault(o["url"].split("/")[2], []).append(o["not_before"][-6:])
assert set(at["a.example"]) == {"000000"} and len(at["b.example"]) == 10, at
assert sorted(at["b.example"])[:3] == ["000000", "000009", "000018"], at
PY
expect 0 $f -C r end

# what cannot be set is refused
expect 2 $f -C r set proxy file:///etc/passwd
expect 0 $f -C r set proxy socks5h://127.0.0.1:9
expect 0 $f -C r set proxy
expect 2 $f -C r set --site a.example policy tide
expect 2 $f -C r set --site a.example delay soon
expect 2 $f -C r set --site a.example/x delay 1s
expect 2 $f -C r set --site a.example weight -1

# on the web: the pause is kept (what the server saw), though that of others is none
cat > web.py <<'PY'
from origin import *
import time
def answer(q):
    open("asked", "a").write("%f\n" % time.monotonic())
    return (404, b"") if q.path == "/robots.txt" else (200, b"<p>x")
serve(answer)
PY
start_origin web.py
expect 0 $f init w
expect 0 $f -C w set contact mailto:test@example.org
expect 0 $f -C w add $url/1 $url/2
expect 0 $f -C w set --site 127.0.0.1 delay 700ms || expect 0 $f -C w set --site 127.0.0.1 delay 0.7s
expect 0 $f -C w cycle --delay 0 --allow-net 127.0.0.1/32 --budget 5
python3 -c 't = [float(l) for l in open("asked")]; assert len(t) == 3 and min(b - a for a, b in zip(t, t[1:])) > 0.6, t' || fail "pauses: $(cat asked)"
