#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Beside a cycle that goes on: pages are put under care, settings are changed, all is read;
# and `run` goes on though others wrote between its cycles.
. "$SRC/tests/lib/e2e.sh"

cat > web.py <<'PY'
import time
from origin import *
def answer(q):
    note(q.path)
    if q.path == "/robots.txt": return 200, b""
    if "slow" in state(): time.sleep(0.5)
    return 200, q.path.encode()
serve(answer)
PY
echo slow > state
start_origin web.py
web="--delay 0 --allow-net 127.0.0.1/32"
"$FRESHET" init r 2> /dev/null
for i in $(seq 60); do echo "$url/$i"; done > urls
"$FRESHET" -C r import urls > /dev/null
"$FRESHET" -C r set contact mailto:test@example.org

"$FRESHET" -C r cycle --budget 100% $web --json > out 2> err & pid=$!
for i in $(seq 100); do [ "$(wc -l < log)" -ge 4 ] && break; sleep 0.05; done
"$FRESHET" -C r add "$url/late" > /dev/null || fail "a page cannot be added"
"$FRESHET" -C r set budget 7% || fail "a setting cannot be changed"
for c in status log "plan --budget 3" "export pages"; do "$FRESHET" -C r $c > /dev/null || fail "$c"; done
kill -0 $pid || fail "the cycle was over too soon to tell"
echo fast > state
wait $pid || fail "the cycle"
python3 -c 'import json; r = json.load(open("out")); assert r["new"] == r["downloads"] == 60 and r["complete"], r'
! grep -q '^/late' log || fail "a page that came later is not of this cycle"
[ "$("$FRESHET" -C r get budget)" = 7% ] || fail "the setting"

# a crawler that tells us for long keeps nobody from writing
mkfifo lines; "$FRESHET" -C r tell - < lines > told & pid=$!
exec 8> lines; echo "{\"url\":\"$url/1\",\"outcome\":\"same\"}" >&8
sleep 0.5
timeout 60 "$FRESHET" -C r set budget 8% 8>&- || fail "tell keeps others waiting"
echo "{\"url\":\"$url/2\",\"outcome\":\"same\"}" >&8; exec 8>&-
wait $pid; grep -q '^2 outcomes' told || fail "told: $(cat told)"

# others write between the cycles of run
"$FRESHET" -C r run --every 4s --cycles 3 --budget 100 $web --json > out 2> err & pid=$!
for i in $(seq 100); do [ -s out ] && break; sleep 0.05; done
"$FRESHET" -C r add "$url/later" > /dev/null
for i in $(seq 40); do          # unless it meets one of those
	got=0; "$FRESHET" -C r cycle --budget 5 $web > /dev/null 2> err2 || got=$?
	[ $got = 5 ] || break
	sleep 0.05
done
[ $got = 0 ] || fail "a cycle between those of run: $(cat err2)"
wait $pid || fail "run ended"
python3 - <<'PY'
import json
rows = [json.loads(line) for line in open("out")]
met = open("err").read().count("is at work on")         # a slot of run that met the other cycle is left out
assert len(rows) + met == 3 and len(rows) > 1, (rows, met)
assert all(r["complete"] for r in rows) and rows[-1]["downloads"] == 62, rows
assert rows[0]["cycle"] == 3 and len({r["cycle"] for r in rows}) == len(rows), rows
PY
