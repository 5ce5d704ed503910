#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What an operator meets at night: a cycle that was broken off and then `tell`, two programs
# at once, a disk that is full, a repository that cannot be written, slots of `run` that
# were missed, a signal while it sleeps, a clock that was set back.
. "$SRC/tests/lib/e2e.sh"

cat > web.py <<'PY'
import hashlib, time
from origin import *
def answer(q):
    told = state()
    note(q.path)
    if "hang" in told and q.path != "/robots.txt": time.sleep(float(told[1]))
    if q.path == "/robots.txt": return 200, b"User-agent: *\n"
    if q.path.startswith("/big"):        # does not compress
        return 200, b"".join(hashlib.sha256(b"%s%d" % (q.path.encode(), i)).digest() for i in range(9000))
    return 200, q.path.encode()
serve(answer)
PY
echo fast > state; : > out; : > err
start_origin web.py
trap 'kill $origin; umount "$TMP/full" "$TMP/closed" 2> /dev/null || true' EXIT
web="--delay 0 --allow-net 127.0.0.1/32"

make_repo() { # name path from to
	"$FRESHET" init "$1" 2> /dev/null
	for i in $(seq "$3" "$4"); do echo "$url/$2$i"; done > urls
	"$FRESHET" -C "$1" import urls > /dev/null
	"$FRESHET" -C "$1" set contact mailto:test@example.org
}
open_cycles() { "$FRESHET" -C "$1" log --json | python3 -c 'import json,sys; print(sum(not c.get("complete", True) for c in json.load(sys.stdin)["cycles"]))'; }

# --- broken off, then tell: it ends as it is, what it had stays, the next cycle is a new one
make_repo t p 1 40
echo hang 0.3 > state
"$FRESHET" -C t cycle --budget 100% $web --json > out 2> err & pid=$!
for i in $(seq 200); do [ "$(wc -l < log)" -ge 4 ] && break; sleep 0.05; done

# meanwhile nobody else may: neither cycle nor tell; both say why
echo "{\"url\":\"$url/p1\",\"outcome\":\"same\"}" > told
got=0; "$FRESHET" -C t cycle --budget 100% $web > out2 2> err2 || got=$?
[ $got = 5 ] && grep -q 'another freshet is at work' err2 || fail "two cycles at once: $got $(cat err2)"
got=0; "$FRESHET" -C t tell told > out2 2> err2 || got=$?
[ $got = 5 ] && grep -q 'another freshet is at work' err2 || fail "tell beside a cycle: $got $(cat err2)"
kill -INT $pid
got=0; wait $pid || got=$?
[ $got = 130 ] || fail "exit $got after SIGINT"
is complete False
kept=$(python3 -c 'import json; print(json.load(open("out"))["new"])')
echo fast > state
expect 0 "$FRESHET" -C t tell told --json
is cycle 2
grep -q 'cycle 1, which had been broken off, is over' err || fail "tell says nothing of the cycle"
expect 0 "$FRESHET" -C t cycle --budget 100% $web --json
is cycle 3; is resumed False; is downloads 40; is new $((40 - kept)); is same "$kept"
python3 - t/freshet.db <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
assert [r[0] for r in db.execute("SELECT open FROM cycles ORDER BY number")] == [0, 0, 0]
PY

# a file of outcomes that cannot be read to its end leaves nothing: it can be told again
python3 -c 'import gzip,sys; d = gzip.compress("".join("{\"url\":\"http://h.example/%d\",\"outcome\":\"same\"}\n" % i for i in range(9000)).encode()); open("cut.gz","wb").write(d[:len(d)//2])'
expect 3 "$FRESHET" -C t tell cut.gz
expect 0 "$FRESHET" -C t status --json
is pages 40; is cycles 3

# --- the archive cannot be written before the first commit: nothing is left of it
make_repo a big 1 12
known() { # folder of a repository: its files hold what the tables know, and no more
	python3 - "$1" <<'PY'
import gzip, os, sqlite3, sys
db, seen = sqlite3.connect(sys.argv[1] + "/freshet.db"), {}
for name in os.listdir(sys.argv[1] + "/warc"):
    seen[name] = sum(line.startswith((b"WARC-Type: response", b"WARC-Type: revisit")) for line in gzip.open(sys.argv[1] + "/warc/" + name))
told = dict(db.execute("SELECT f.name, count(*) FROM captures c JOIN files f ON f.id = c.file GROUP BY 1"))
assert seen == told, (seen, told)
PY
}
expect 3 bash -c "trap '' XFSZ; ulimit -f 200; exec '$FRESHET' -C a cycle --budget 100% $web --json"
grep -q 'warc.*cannot write' err || fail "no word of the archive"
[ -z "$(ls a/warc)" ] || fail "left behind: $(ls -l a/warc)"

# later: what was committed stays, the rest is cut off, the next start goes on
expect 3 bash -c "trap '' XFSZ; ulimit -f 1500; exec '$FRESHET' -C a cycle --budget 100% $web --json"
known a
expect 0 "$FRESHET" -C a cycle --budget 100% $web --json
is new 12; is downloads 12; is resumed True
known a

# --- disk full and read-only, on file systems of our own where that is possible
if mkdir -p full closed && mount -t tmpfs -o size=3m none full 2> /dev/null; then
	make_repo full/r big 20 40
	expect 3 "$FRESHET" -C full/r cycle --budget 100% $web --json
	grep -q 'No space left' err || fail "full archive"
	known full/r
	mount -o remount,size=40m full
	expect 0 "$FRESHET" -C full/r cycle --budget 100% $web --json
	is new 21; is downloads 21

	make_repo full/s q 1 500
	mount -o remount,size="$(($(df -k --output=used full | tail -1) + 200))k" full
	got=0; "$FRESHET" -C full/s cycle --budget 100% $web --json > out 2> err || got=$?
	case $got in 3|5) ;; *) fail "exit $got on full tables";; esac
	grep -qi 'space left\|disk is full' err || fail "full tables"
	mount -o remount,size=60m full
	expect 0 "$FRESHET" -C full/s cycle --budget 100% $web --json
	is new 500; is downloads 500

	mount -t tmpfs -o size=40m none closed
	cp -a t closed/t
	mount -o remount,ro closed
	expect 0 "$FRESHET" -C closed/t status --json
	is pages 40
	expect 0 "$FRESHET" -C closed/t log
	expect 0 "$FRESHET" -C closed/t plan --budget 5
	expect 0 "$FRESHET" -C closed/t export cdxj
	got=0; "$FRESHET" -C closed/t cycle --budget 5 $web > out 2> err || got=$?
	case $got in 3|5) ;; *) fail "exit $got in a read-only repository";; esac
	grep -qi 'read-\?only' err || fail "read-only"
	got=0; "$FRESHET" -C closed/t set budget 5% > out 2> err || got=$?
	[ $got = 5 ] && grep -qi 'read-\?only' err || fail "set in a read-only repository"
	umount full closed
else
	echo "no file systems can be mounted here: full disk and read-only are not tried"
fi

# --- slots: the first cycle takes 2.5 s of 1 s; those missed are left out but the last
make_repo s z 1 1
echo hang 2.5 > state
from=$(date +%s%N)
( until grep -q z1 log; do sleep 0.05; done; echo fast > state ) &
expect 0 "$FRESHET" -C s run --every 1s --cycle-time 1m --cycles 3 --budget 1 $web --json
took=$((($(date +%s%N) - from) / 1000000))      # 0, 2 (at 2.5), 3
[ $took -ge 2950 ] || fail "three slots took $took ms"
grep -q 'left out' err || fail "no word of missed slots"

# without a time of its own a cycle ends when the next is due
make_repo u y 1 1
echo hang 60 > state
"$FRESHET" -C u run --every 4s --cycles 2 --budget 1 $web --json > out 2> err || true
! grep -q 'left out' err || fail "a slow page held the next slot"
python3 - <<'PY'
import json
first = json.loads(open("out").readline())
assert first["reasons"] == {"timeout": 1} and first["complete"], first
PY
echo fast > state

# started again, it waits until the cycle before is --every ago: a restart costs no budget
n=$("$FRESHET" -C u log --json | python3 -c 'import json,sys; print(len(json.load(sys.stdin)["cycles"]))')
code timeout -s INT 5 "$FRESHET" -C u run --every 1h --budget 1 $web
[ "$rc" = 124 ] && grep -Eq 'the next cycle is due in (1h|5[0-9]m)' err || fail "a restart did not wait: $(cat err)"
is_cycles() { "$FRESHET" -C u log --json > out; is 'len(cycles)' "$1"; }
is_cycles $n
expect 0 "$FRESHET" -C u run --every 6s --cycles 1 --budget 1 $web
is_cycles $((n + 1))
expect 0 "$FRESHET" -C u run --every 1h --cycles 1 --budget 1 $web --new
is_cycles $((n + 2))
# of two cycles in one second the later is dated ahead: it counts as well
expect 0 "$FRESHET" -C u cycle --budget 1 $web --now "$(date -u -d '+20 seconds' +%Y%m%d%H%M%S)"
code timeout -s INT 5 "$FRESHET" -C u serve --listen 127.0.0.1:0 --every 1h
grep -q serving out || fail "serve: $(cat err)"
is_cycles $((n + 3))            # five seconds are enough to begin one

# a signal while it sleeps ends it at once
"$FRESHET" -C s run --every 1h --budget 1 $web > out 2> err & pid=$!
for i in $(seq 100); do [ -s out ] && break; sleep 0.05; done
sleep 0.2; kill -TERM $pid
for i in $(seq 200); do kill -0 $pid 2> /dev/null || break; sleep 0.05; done
! kill -0 $pid 2> /dev/null || fail "SIGTERM was slept over"
got=0; wait $pid || got=$?
[ $got = 130 ] || fail "exit $got after SIGTERM"

# the clock was set back: time goes on, with a warning; what is seen counts
expect 0 "$FRESHET" -C s cycle --budget 1 $web --now 20400101 --json
expect 0 "$FRESHET" -C s cycle --budget 1 $web --json
grep -q 'the clock is .* behind' err || fail "no word of the clock"
is same 1
python3 - s/freshet.db <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
times = [r[0] for r in db.execute("SELECT time FROM cycles ORDER BY number")]
assert times == sorted(set(times)), times
visits = [r[0] for r in db.execute("SELECT time FROM visits ORDER BY id")]
assert visits == sorted(visits), visits
assert db.execute("SELECT last_visit FROM pages").fetchone()[0] == visits[-1]
PY
