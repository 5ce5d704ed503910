#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# export atom: a feed that a foreign reader of XML accepts, whatever titles hold; and the
# whole paths of export changed.
. "$SRC/tests/lib/e2e.sh"
python3 - <<'P'
import gzip
def rec(n, url, day, body, status="200 OK"):
    http = ("HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n" % (status, len(body))).encode() + body
    head = ("WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-0000000%05d>\r\nWARC-Date: 2024-01-%02dT00:00:00Z\r\n"
            "WARC-Target-URI: %s\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n" % (n, day, url, len(http))).encode()
    return gzip.compress(head + http + b"\r\n\r\n")
def page(title, text): return ("<html><title>%s</title><body><p>Same line</p><p>%s</p></body></html>" % (title, text)).encode("utf-8", "surrogatepass")
bad = "]]><b>&\u0001\u202e\uffff\u0085 &lt;script> \"x\""
with open("a.warc.gz", "wb") as out:
    out.write(rec(1, "http://a.example/?x=1&y=2", 1, page(bad, "Hello")) + rec(2, "http://a.example/?x=1&y=2", 3, page(bad, "Good bye")))
    out.write(rec(3, "http://a.example/gone", 1, page("G", "x")) + rec(4, "http://a.example/gone", 2, b"", "404 Not Found"))
    for i in range(9): out.write(rec(10 + i, "http://b.example/%d" % i, 10 + i, page("", "x")))
P
$f init r 2>/dev/null; $f -C r set confirmations 1 2>/dev/null || :; $f -C r import a.warc.gz >/dev/null
$f -C r export atom -o feed.xml 2>err
cat >check.py <<'P'
import os, sys, uuid, xml.etree.ElementTree as E
A = "{http://www.w3.org/2005/Atom}"
feed = E.parse("feed.xml").getroot(); assert feed.tag == A + "feed"
for need in ("id", "title", "updated", "author"): assert len(feed.findall(A + need)) == 1, need     # RFC 4287, 4.1.1
# its name, and nothing of where it lies
assert feed.find(A + "title").text == "Changes in r" and os.getcwd() not in open("feed.xml").read()
assert uuid.UUID(feed.find(A + "id").text).version == 8
entries = feed.findall(A + "entry")
for e in entries:                                                                                  # 4.1.2
    for need in ("id", "title", "updated"): assert len(e.findall(A + need)) == 1, need
    assert e.find(A + "id").text and e.find(A + "link").get("href").startswith("http://")
assert len({e.find(A + "id").text for e in entries}) == len(entries)
times = [e.find(A + "updated").text for e in entries]; assert times == sorted(times, reverse=True), times
assert feed.find(A + "updated").text == times[0]
by = {e.find(A + "link").get("href"): e for e in entries}
e = by["http://a.example/?x=1&y=2"]
assert e.find(A + "updated").text == "2024-01-03T00:00:00Z" and e.find(A + "category").get("term") == "changed"
lines = e.find(A + "summary").text.split("\n"); assert "+ Good bye" in lines and "- Hello" in lines and "+ Same line" not in lines, lines
assert "]]><b>&" in e.find(A + "title").text and "<script>" in e.find(A + "title").text, e.find(A + "title").text
assert by["http://a.example/gone"].find(A + "category").get("term") == "gone"
assert by["http://b.example/0"].find(A + "category").get("term") == "new" and by["http://b.example/0"].find(A + "title").text == "http://b.example/0"
print(len(entries))
P
[ "$(python3 check.py)" = 11 ] || fail "the feed"
$f -C r export atom --limit 2 2>err | grep -c '<entry>' | grep -qx 2 || fail "--limit"
$f -C r export atom --since 2024-01-12 2>err | grep -c '<entry>' | grep -qx 7 || fail "--since"
expect 2 $f -C r export pages --limit 3
# changed: the whole path of the archive, which its record lies in
mkdir elsewhere; (cd elsewhere && $f -C ../r export changed) >out
python3 - <<'P' || fail "paths"
import gzip, json, os
rows = [json.loads(l) for l in open("out")]; n = 0
for r in rows:
    if r["outcome"] == "gone": continue
    assert os.path.isabs(r["path"]) and r["path"] == os.path.realpath("a.warc.gz"), r
    with open(r["path"], "rb") as f:
        f.seek(r["offset"]); record = gzip.decompress(f.read(r["size"])); n += 1
    assert ("WARC-Target-URI: " + r["url"] + "\r\n").encode() in record
assert n == 10, n
P
