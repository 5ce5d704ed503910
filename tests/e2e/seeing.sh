#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# What a person sees: a report that names pages (the latest changes with lines, pages never
# reached, what comes next), one vocabulary in log and status, pages by tag.
. "$SRC/tests/lib/e2e.sh"
cat > web.py <<'PY'
from origin import *
def answer(q):
    now = int(open("state").read())
    if q.path == "/robots.txt": return 200, b"User-agent: *\nDisallow: /closed", [("Content-Type", "text/plain")]
    if q.path == "/broken": return 500, b"no"
    price = now if q.path == "/prices" else 1
    return 200, b"<title>About %s</title><p>Some text.</p><p>It costs %d euro.</p>" % (q.path.encode(), price)
serve(answer)
PY
echo 1 > state
start_origin web.py
$f init d 2> /dev/null
for p in prices calm broken closed; do $f -C d add "$url/$p" --tag shop > /dev/null 2>&1; done
for n in 1 2 3; do
	echo $n > state
	$f -C d cycle --budget 10 --policy round-robin --now 2026-01-1${n}T00:00:00Z --contact me@example.org --allow-net 127.0.0.0/8 --delay 0s > /dev/null 2> err || fail "cycle $n"
done
$f -C d add "$url/later" > /dev/null 2>&1

$f -C d report --out r.html --now 2026-01-20T00:00:00Z --budget 2 > /dev/null
python3 - "$url" <<'P' || fail "the pages of the report"
import json, re, sys
url = sys.argv[1]
text = open("r.html").read()
docs = [json.loads(l.replace("\\u003c", "<")) for l in re.search(r'id="documents"[^>]*>(.*?)</script>', text, re.S).group(1).split("\n") if l.strip()]
d = next(x for x in docs if x["schema"] == "freshet.report/1")
assert d["n_changes"] == 2 and [c["time"][:10] for c in d["changes"]] == ["2026-01-13", "2026-01-12"], d["changes"]
assert all(c["url"] == url + "/prices" and c["outcome"] == "changed" for c in d["changes"])
assert d["changes"][0]["lines"].split("\n")[:2] == ["+ It costs 3 euro.", "- It costs 2 euro."], d["changes"][0]
why = {u["url"]: u["why"] for u in d["unreached"]}
assert why == {url + "/broken": "failed 500", url + "/closed": "blocked robots", url + "/later": "not asked for yet"}, why
n = d["next"]
assert n["budget"] == 2 and len(n["pages"]) == n["n_pages"] == 2 and all(p["url"].startswith(url) and p["why"] for p in n["pages"]), n
P
# one vocabulary
$f -C d log --visits > out
for w in new changed same 'failed 500' 'blocked robots'; do grep -q "visited  $w" out || fail "log: $w"; done
if grep -q updated out; then fail "log has words of its own"; fi
$f -C d status --tag shop > out
grep -q "^changed .*/prices$" out && grep -q "^same .*/calm$" out && grep -q "^failed 500 .*/broken$" out && grep -q "^blocked robots .*/closed$" out || fail "status --tag"
expect 0 $f -C d status --tag shop --json; is 'len(tagged)' 4; is 'tagged[0]["last"]' changed; is 'tagged[0]["changed"]' 2
$f -C d pause "$url/calm" > /dev/null; $f -C d status --tag shop | grep -q '^paused .*/calm$' || fail "a paused page"
expect 2 $f -C d status --tag shop --sites
# explain says exactly what keeps a page out
says() { $f -C d explain "$url/$1" --now 2026-01-13T01:00:00Z > out 2>&1; grep -q "$2" out || fail "explain $1: $(cat out)"; }
says calm paused; says broken rest; says closed robots
$f -C d set exclude "$url/later" > /dev/null 2>&1; says later 'out of scope'
$f -C d set exclude > /dev/null 2>&1 || true
# clusters have names
$f world w.cdxj --sites 4 --dirs 3 --steps 6 2> /dev/null; expect 0 $f cluster w.cdxj --k 3 --json
is 'all(c["name"] and "url_rank" not in c["name"] for c in clusters)' True
