#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# Search quality in replay, and search in a repository, on a small made trace.
. "$SRC/tests/lib/e2e.sh"
python3 - <<'P'
words = ["alpha", "beta", "gamma", "delta", "common"]
open("words.txt", "w").write("\n".join(words) + "\n")
out = []
for i in range(60):
    for v in range(6):
        if v and i % 3: continue
        t = "2022%02d01000000" % (v + 1)
        terms = "%d:%d 4:1" % ((i + v) % 4, 1 + i % 3)
        out.append('example,a)/p%02d %s {"url":"http://a.example/p%02d","status":"200","digest":"%d-%d","words":40,"terms":"%s","links":"/p00 /p%02d"}\n' % (i, t, i, i, v, terms, (i * 7) % 60))
open("t.cdxj", "w").writelines(sorted(out))
P
printf 'alpha\nbeta gamma\nnowhere\n' >queries.txt
$f replay t.cdxj --cycle 2w --budget 5% --policy random --policy oracle --seeds 2 --search --queries queries.txt --k 5 --json --no-time >out.json 2>err
grep -q '1 queries have no word' err
python3 - <<'P'
import json
d = json.load(open("out.json"))
m = {r["policy"]: r["mean"] for r in d["runs"]}
for x in m.values():
    assert 0 < x["freshness_at_k"] <= 1 and 0 < x["map_at_k"] <= 1 and 0 <= x["embarrassment"] < 1, x
assert len(d["t_table"]) == 3 and d["t_table"][0][:2] == ["random", "oracle"], d["t_table"]
assert "map_at_k" in d["runs"][0]["cycles"][0]
P
$f replay t.cdxj --cycle 2w --budget 100% --policy random --seeds 1 --search --queries queries.txt --json 2>/dev/null | python3 -c '
import json, sys
m = json.load(sys.stdin)["runs"][0]["mean"]
assert (m["freshness_at_k"], m["map_at_k"], m["embarrassment"]) == (1, 1, 0), m     # all of it, every cycle: the ideal'
$f replay t.cdxj --cycle 2w --budget 5% --policy random --seeds 1 --search | grep -q 'Search: [0-9]* queries, top 10'
$f init r 2>/dev/null; $f -C r import t.cdxj >/dev/null
$f -C r search alpha --now 20220701 | grep -q '^ 1\. http://a.example/'
$f -C r search gamma beta --json --now 20220701 | python3 -c '
import json, sys
r = json.load(sys.stdin)["results"]; assert len(r) == 10 and 0 <= r[0]["stale"] <= 1 and r[0]["last_seen"].startswith("2022"), r'
$f -C r search gamma beta --now 20220701 >apart
$f -C r search 'Beta,  gamma' --now 20220701 | cmp - apart
$f -C r search 'zebra beta' gamma --now 20220701 | cmp - apart
$f -C r search zebra --json >none.json 2>err                  # nothing found is no failure
grep -q '"results":\[\]' none.json; grep -q 'any of these words' err

# Stems, ignored elements and folded digits reach the pages of a WARC by settings.
python3 - <<'P'
def record(url, time, html):
    body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + html.encode()
    head = ("WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:%032x>\r\nWARC-Date: %s\r\n"
            "WARC-Target-URI: %s\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n")
    return (head % (hash(url + time) & (1 << 128) - 1, time, url, len(body))).encode() + body + b"\r\n\r\n"
page = "<title>%s</title><p>%s</p><div id=clock>12:%s</div>"
open("w.warc", "wb").write(
    record("http://a.example/river", "2022-01-01T00:00:00Z", page % ("one", "rivers connected by connections", "10")) +
    record("http://a.example/river", "2022-02-01T00:00:00Z", page % ("one", "rivers connected by connections", "11")) +
    record("http://a.example/lake", "2022-01-01T00:00:00Z", page % ("two", "a lake", "10")))
P
$f init s 2>/dev/null; $f -C s set stem english; $f -C s set ignore '#clock'; $f -C s import w.warc >/dev/null
$f -C s search connecting river --now 20220701 | grep -q '^ 1\. http://a.example/river'
mkdir out; $f -C s export cdxj --extended -o out/s.cdxj
python3 - <<'P'
import json
rows = [json.loads(l.split(" ", 2)[2]) for l in open("out/s.cdxj")]
river = [r for r in rows if r["url"].endswith("/river")]
assert len(river) == 2 and river[0]["digest"] != river[1]["digest"] and river[0]["prose"] == river[1]["prose"], river
assert {"river", "connect", "lake"} <= set(open("out/words.txt").read().split())
P
if $f -C s import w.warc --stem french >/dev/null 2>err; then exit 1; fi
grep -q 'counted with "english"' err
$f init p 2>/dev/null; $f -C p import w.warc >/dev/null
[ -z "$($f -C p search connecting 2>/dev/null)" ]
if $f -C p import w.warc --stem nowhere >/dev/null 2>err; then exit 1; fi
grep -q 'no stemmer for' err
