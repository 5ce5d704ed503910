#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One repository on both stores: equal plans, reports, visits and exports, cycle for cycle;
# messages where a store cannot be had.  STORES_POLICIES, STORES_CYCLES: more of it.
# STORES_BEFORE, an older program: the cycles of that one and of ours are compared instead, both
# on SQLite (scripts/trial-stores).
. "$SRC/tests/lib/e2e.sh"
policies=${STORES_POLICIES:-tide} cycles=${STORES_CYCLES:-2} before=${STORES_BEFORE:-}

if [ -z "${FRESHET_TEST_PG:-}$before" ]; then # started alone: a server of our own, until this ends
	mkfifo open; "$SRC/tests/lib/postgres.sh" < open > server & pg=$!
	exec 8> open; rm open
	trap 'exec 8>&-; wait $pg' EXIT
	while [ ! -s server ]; do sleep 0.05; done
	FRESHET_TEST_PG=$(cat server); rm server
fi
unique=e2e_stores_$$
cat > web.py <<'PY'
from origin import *
import hashlib
def answer(q):
    if q.path == "/robots.txt": return 404, b""
    now = int(open("state").read())
    page = int(q.path.rpartition("/")[2])
    if page % 17 == 3 and now > 1: return 404, b"gone"
    body = ("<title>%d</title><p>page %d <a href=/p/%d>x</a> version %d" %
            (page, page, (page * 7 + 1) % 40, now // (page % 5 + 1))).encode()
    tag = '"%s"' % hashlib.md5(body).hexdigest()[:8]
    if q.headers.get("If-None-Match") == tag: return 304, b""
    return 200, body, [("ETag", tag)]
serve(answer)
PY
echo 0 > state
start_origin web.py
trap 'kill $origin; if [ -n "${pg:-}" ]; then exec 8>&-; wait $pg; fi' EXIT
for i in $(seq 0 39); do echo "$url/p/$i"; done > urls

# what is measured by a clock, or numbered by the store, may differ; since 8ca6b23 view_bytes is
# reckoned from counts, so older programs have another
same() { # what
	python3 - "$1" <<'PY' || fail "$1 differs between the stores, or programs"
import json, os, re, sys
hidden = ["capture", "offset"] + ["view_bytes"] * bool(os.environ.get("STORES_BEFORE"))
def plain(v):
    if isinstance(v, dict): return {k: plain(x) for k, x in v.items() if not any(w in k for w in ("seconds", "rate", "per_second")) and k not in hidden}
    return [plain(x) for x in v] if isinstance(v, list) else v
def read(name):
    text = open(name).read()
    try: return plain(json.loads(text))
    # a record's size depends on the Date that the server sent
    except ValueError: return [plain(json.loads(l)) if l.startswith("{") else re.sub(r'"(length|offset)":"\d+",', "", l) for l in text.splitlines()]
a, b = read("out.a"), read("out.b")
if a != b:
    if isinstance(a, list) and len(a) == len(b): a, b = next((x, y) for x, y in zip(a, b) if x != y)
    print(sys.argv[1], str(a)[:2000], str(b)[:2000], sep="\n"); sys.exit(1)
if not a: print("nothing to compare"); sys.exit(1)
PY
}
both() { # command...: on both stores; the outputs must be equal
	$f -C a "$@" > out.a 2> err.a || fail "$*: $(cat err.a)"
	"${other[@]}" "$@" > out.b 2> err.b || fail "${other[*]} $*: $(cat err.b)"
	same "$*"
}
on_pg() { # name: the other store is a new one on PostgreSQL
	store="$FRESHET_TEST_PG&schema=${unique}_$1"
	$f init b --store "$store" 2> /dev/null
	other=("$f" -C b --store "$store")
}
n=0
for policy in $policies; do
	n=$((n + 1))
	rm -rf a b
	$f init a 2> /dev/null
	if [ -n "$before" ]; then
		"$before" init b 2> /dev/null
		other=("$before" -C b)
	else
		on_pg $n
		[ ! -e b/freshet.db ] || fail "a database of SQLite beside PostgreSQL"
	fi
	both import urls --json --now 20240101
	both set contact mailto:test@example.org --json
	for c in $(seq "$cycles"); do
		echo "$c" > state
		t=$(date -u -d "2024-01-01 +$c days" +%Y%m%d)
		both plan --policy "$policy" --budget 25 --json --now "$t"
		both cycle --policy "$policy" --budget 25 --json --now "$t" --delay 0 --connections 1 --allow-net 127.0.0.1/32
	done
	both status --json
	both log --json
	both export visits
	both export pages
	both export cdxj --extended
	both show "$url/p/1" --json
	"${other[@]}" check > /dev/null || fail "${other[*]}: check"
	[ -z "$before" ] || continue
	case " tide " in *" $policy "*) ls b/freshet.db-*-memory > /dev/null || fail "what was recalled is not kept" ;; esac
done
[ -z "$before" ] || exit 0

# an archive: captures of pages that are named often, in any order, some twice; and a replay
python3 > trace.cdxj <<'PY'
import random
random.seed(3)
lines = []
for page in range(60):
    for day in random.sample(range(1, 29), 12):
        what = random.choice(["200", "200", "200", "404", "301"])
        lines.append('example,h%d)/%d 202401%02d000000 {"url":"http://h%d.example/%d","mime":"text/html","status":"%s","digest":"D%d"}' %
                     (page % 5, page, day, page % 5, page, what, random.randrange(3)))
random.shuffle(lines)
print("\n".join(lines + lines[:50]))
PY
rm -rf a b
$f init a 2> /dev/null; on_pg trace
both import trace.cdxj --json --now 20240201
both export pages
both export visits
both export cdxj --extended
for d in a b; do $f replay $d --cycle 2d --budget 10% --policy tide,oldest --json > out.$d 2> err.$d || fail "replay $d: $(cat err.$d)"; done
python3 -c 'import json; r = [json.load(open("out." + d))["runs"] for d in "ab"]; assert r[0] and len(r[0]) == 2
p = [[{k: v for k, v in x.items() if "second" not in k} for x in y] for y in r]; assert p[0] == p[1], p' || fail "replays differ"

# there and back: nothing is lost, not even in a copy of a copy
store="$FRESHET_TEST_PG&schema=${unique}_copy"
$f copy a "$store" > out 2> err || fail "copy to PostgreSQL"
rm -rf c
$f copy "$store" c > out 2> err || fail "copy from PostgreSQL"
for what in pages visits; do
	$f -C a export $what > out.a
	$f -C c export $what > out.b
	cmp out.a out.b || fail "export $what differs after copies there and back"
done
# what comes after a copy takes no number of what was copied
$f -C a export pages | head -n 40 | python3 -c 'import json, sys
for l in sys.stdin: print(json.dumps({"url": json.loads(l)["url"], "status": 200, "digest": "after"}))' > after
for d in c d; do
	[ $d = c ] || $f init d --store "$store" 2> /dev/null
	expect 0 $f -C $d tell after
	expect 0 $f -C $d check
done

# no server, no tables, and a URL that is none: status and message, never the password
expect 5 $f -C b --store "postgresql://me:geheim@/db?host=$PWD/nowhere" status
grep -q nowhere err || fail "does not say where"
if grep -q geheim out err; then fail "a password was printed"; fi
expect 5 $f -C b --store "$FRESHET_TEST_PG&schema=${unique}_none" status
grep -q 'freshet init' err || fail "does not say what to do"
expect 2 $f -C b --store "postgresql://me:geheim@host:nonsense:1/db?schema=X" status
if grep -q geheim out err; then fail "a password was printed"; fi
