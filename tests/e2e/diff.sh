#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What changed between two captures, in a WARC written here by hand; features.
. "$SRC/tests/lib/e2e.sh"
python3 - <<'P'
import gzip
def rec(day, body):
    http = ("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n" % len(body.encode())).encode() + body.encode()
    head = ("WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-0000000000%02d>\r\nWARC-Date: 2024-01-%02dT00:00:00Z\r\n"
            "WARC-Target-URI: http://a.example/\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n" % (day, day, len(http))).encode()
    return gzip.compress(head + http + b"\r\n\r\n")
one = "<html lang=en><body><h1>Hello</h1><img src=/x.png alt='a dog'><p id=clock>12:00</p><p>Same line</p></body></html>"
open("a.warc.gz", "wb").write(rec(1, one) + rec(2, one.replace("12:00", "12:01")) +
    rec(3, one.replace("12:00", "12:02").replace("a dog", "a cat").replace("Hello", "Good bye").replace("<p>Same", "<div><p>Same")))
open("again.warc.gz", "wb").write(rec(4, one) + rec(5, one.replace("Hello", "Bye")) + rec(6, one.replace("Hello", "Bye")))
P
$f init d 2>/dev/null; $f -C d import a.warc.gz | grep -q '^1 new page, 3 captures'
$f -C d diff a.example/ >out
grep -q 'bytes yes, text yes, tags yes' out
grep -q -- '- Hello' out; grep -q -- '+ Good bye' out; grep -q -- '+ div' out; grep -q '+ .*a cat' out
$f -C d diff a.example/ --tags | grep -q 'Same line' && exit 1
# only the clock moved, and a rule takes it out
$f -C d diff a.example/ --from 20240101 --to 20240102 | grep -q 'text yes, tags no'
$f -C d diff a.example/ --from 20240101 --to 20240102 --ignore '#clock' | grep -q 'bytes yes, text no, tags no'
$f -C d set ignore 'a.example: #clock'
$f -C d diff a.example/ --from 20240101 --to 20240102 --json | python3 -c '
import json, sys
d = json.load(sys.stdin); assert d["bytes"] and not d["text"] and d["schema"] == "freshet.diff/1", d'
$f -C d set ignore 'b.example: #clock'
$f -C d diff a.example/ --from 20240101 --to 20240102 | grep -q 'text yes'
if $f -C d diff a.example/ --to 20240101 2>err; then exit 1; fi; grep -q 'no two captures' err
# seen again as it was: the last change is shown, and nothing is called near nothing
$f init e 2>/dev/null; $f -C e import again.warc.gz >/dev/null
$f -C e diff a.example/ >out; grep -q '^from 2024-01-04T.* to 2024-01-06T' out; grep -q -- '+ Bye' out
$f -C e diff a.example/ --from 20240105 --to 20240106 | grep -q 'bytes no, text no, tags no, near:BITS no$'
[ "$($f -C d show a.example/ --features | wc -l)" = 48 ]
$f -C d show a.example/ --features --json | python3 -c '
import json, sys
x = json.load(sys.stdin)["features"]; assert len(x) == 48 and x["images"] == 1 and x["is_html"] == 1 and x["change_frequency"] > 0.6, x'
$f -C d status --sites --accessibility --json | python3 -c '
import json, sys
r = json.load(sys.stdin)["by_site"]; assert len(r) == 1 and r[0]["accessibility"] == 1 and r[0]["updates"] == 2, r'
