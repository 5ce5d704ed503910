#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pages that fail rest: seen by cycle, plan and explain; --retry-share, also as a setting;
# --max-age does not hold for them; one answer ends it.  replay --fail and its messages.
. "$SRC/tests/lib/e2e.sh"

cat > web.py <<'PY'
import os
from origin import *
def answer(q):
    note(q.path)
    n = int(q.path.rsplit("/p", 1)[1]) if "/p" in q.path else -1
    if n < 0: return 404, b"no"
    if n % 2 == 0 and not os.path.exists("mended"): return 403, b"no"
    return 200, b"<p>page %d" % n
serve(answer)
PY
start_origin web.py
seq -f "$url/p%.0f" 1 40 > urls
"$f" init r > out; "$f" -C r import urls > out
"$f" -C r set contact mailto:t@example.org; "$f" -C r set allow-net 127.0.0.1/32
"$f" -C r set delay 0; "$f" -C r set policy oldest; "$f" -C r set max-age 30d

expect 0 "$f" -C r cycle --budget 100% --now 20240101 --json
is failed 20; is resting 0; is new 20
# forbidden pages rest for 3 to 5 days, so the next day has 20 pages and no more
expect 0 "$f" -C r plan --budget 40 --now 20240102 --json
is resting 20; is 'len(plan)' 20
expect 0 "$f" -C r plan --budget 40 --now 20240102
grep -q 'max-age does not hold' err || fail "--max-age is not spoken of"
expect 0 "$f" -C r explain "$url/p2" --now 20240102 --json
is asked False
until=$(field 'failing["rests_until"]')
[[ $until > 2024-01-03T23 && $until < 2024-01-06T01 ]] || fail "it rests until $until"
expect 0 "$f" -C r explain "$url/p1" --now 20240102 --json
is 'failing' None
# a page that was never asked for, of a host whose others failed: its site rests
"$f" init h > out; "$f" -C h set contact mailto:t@example.org; "$f" -C h set delay 0
seq -f 'http://no-such-host.invalid/%.0f' 1 9 > nowhere; "$f" -C h import nowhere > out
"$f" -C h add "$url"/p{1,3,5,7,9} > out; "$f" -C h set allow-net 127.0.0.1/32
expect 0 "$f" -C h cycle --budget 10 --policy random --now 20240101
"$f" -C h log --visits > visits
for i in $(seq 9); do grep -q "invalid/$i\$" visits || never=http://no-such-host.invalid/$i; done
[ -n "${never:-}" ] || fail "all pages were asked for"
expect 0 "$f" -C h explain "$never" --now 20240102
grep -q 'its site fails, and rests' out || fail "explain: $(cat out)"
grep -q '^rests until  2024-01-0' out || fail "until when is not said"
expect 0 "$f" -C h explain "$never" --now 20240102 --json
is asked False; is 'site_rests_until[:9]' 2024-01-0
# back from their rest: 5 % of 40 requests, or what the user says, a setting as well
expect 0 "$f" -C r plan --budget 40 --now 20240110 --json
is resting 0; is 'len(plan)' 22
expect 0 "$f" -C r plan --budget 40 --retry-share 50% --now 20240110 --json
is 'len(plan)' 40
"$f" -C r set retry-share 3
expect 0 "$f" -C r plan --budget 40 --now 20240110 --json
is 'len(plan)' 23
expect 2 "$f" -C r set retry-share -1
: > log
expect 0 "$f" -C r cycle --budget 40 --now 20240110 --json
is downloads 23; is failed 3; is retried 3
[ "$(grep -c '/p' log)" = 23 ] || fail "$(grep -c '/p' log) requests"
expect 0 "$f" -C r cycle --budget 40 --now 20240111
grep -q '3 pages rest after failures' out || fail "the table says nothing of rest"
# the server is mended: each answer ends a rest
touch mended
"$f" -C r set retry-share 100%
expect 0 "$f" -C r cycle --budget 40 --now 20240401 --json
is failed 0; is resting 0
expect 0 "$f" -C r cycle --budget 40 --now 20240402 --json
is downloads 40; is failed 0; is resting 0; is retried 0
# what fails now is in the history of the repository, for replay
rm mended
expect 0 "$f" -C r cycle --budget 40 --now 20240403 --json
is failed 20
expect 0 "$f" -C r cycle --budget 40 --now 20240404 --json
expect 0 "$f" replay r --policy oldest --seeds 1 --cycle 1d --budget 40 --start 20240402 --json
is 'runs[0]["cycles"][0]["failed"]' 20

# replay
expect 0 "$f" world w.cdxj --sites 6 --steps 20
expect 0 "$f" replay w.cdxj --policy oldest --seeds 1 --json
is '"failed" in runs[0]["cycles"][0]' False
expect 0 "$f" replay w.cdxj --policy oldest --seeds 1 --fail 30% --json
[ "$(field 'sum(c["failed"] for c in runs[0]["cycles"]) > 0')" = True ] || fail "nothing fails"
cp out first
expect 0 "$f" replay w.cdxj --policy oldest --seeds 1 --fail 30%,1 --json --no-time
cp out first
expect 0 "$f" replay w.cdxj --policy oldest --seeds 1 --fail 30% --json --no-time
cmp -s out first || fail "the default seed is not 1"
expect 0 "$f" replay w.cdxj --policy oldest --seeds 1 --fail 30%,2 --json --no-time
! cmp -s out first || fail "another seed fails alike"
expect 0 "$f" replay w.cdxj --policy oldest --seeds 1 --fail 30%
grep -q 'failed' out || fail "the table has no such column"
for bad in 30 x 30%, 30%,x 101%; do
	expect 2 "$f" replay w.cdxj --fail "$bad"
	grep -q -- '--fail' err || fail "$bad: $(cat err)"
done
