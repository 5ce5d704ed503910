#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# freshet cat: every byte of a copy, of any time, out of a WARC written here by hand.
. "$SRC/tests/lib/e2e.sh"
python3 - <<'P'
import gzip, zlib
def rec(n, url, day, http, kind="response"):
    head = ("WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-0000000000%02d>\r\nWARC-Date: 2024-01-%02dT00:00:00Z\r\n"
            "WARC-Target-URI: %s\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n" % (kind, n, day, url, len(http))).encode()
    return gzip.compress(head + http + b"\r\n\r\n")
def answer(status, body, more=""):
    return ("HTTP/1.1 %s\r\nContent-Type: text/plain\r\n%sContent-Length: %d\r\n\r\n" % (status, more, len(body))).encode() + body
page, bytes_ = "http://a.example/", "http://a.example/bytes"
open("one", "wb").write(b"first \x1b[31m\n"); open("two", "wb").write("second \u00e9\n".encode())
raw = bytes(range(256)) * 300; open("raw", "wb").write(raw)
open("a.warc.gz", "wb").write(
    rec(1, page, 1, answer("200 OK", open("one", "rb").read())) +
    rec(2, page, 3, answer("200 OK", gzip.compress(open("two", "rb").read()), "Content-Encoding: gzip\r\n")) +
    rec(3, page, 5, answer("404 Not Found", b"no")) +
    rec(4, bytes_, 1, answer("200 OK", raw)) +
    rec(5, "http://a.example/never", 1, answer("404 Not Found", b"no")))
P
$f init d 2>/dev/null; $f -C d import a.warc.gz >/dev/null

$f -C d cat a.example/ 2>err | cmp - two || fail "the newest copy, its encoding undone"
grep -q 'gone since 2024-01-05' err || fail "that it is gone"
$f -C d cat http://a.example/ --at 2024-01-02 2>err | cmp - one || fail "the copy of another time"
[ ! -s err ] || fail "it was not gone then"
$f -C d cat a.example/bytes | cmp - raw || fail "bytes"
$f -C d cat a.example/bytes -o copy; cmp copy raw || fail "-o"
$f -C d cat a.example/bytes -o copy.gz; zcat copy.gz | cmp - raw || fail "-o .gz"
$f -C d cat a.example/ --at 2024-01-02 --headers >out; printf 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n' "$(wc -c <one)" | cat - one | cmp - out || fail "the head"
code $f -C d cat a.example/ --json; is url http://a.example/; is time 2024-01-03T00:00:00Z; is bytes "$(wc -c <two)"; is status 200
expect 1 $f -C d cat a.example/ --at 2023-12-31; grep -q 'first copy is of 2024-01-01' err || fail "when the first copy was"
expect 1 $f -C d cat a.example/never; grep -q 'no copy' err
expect 2 $f -C d cat a.example/unknown
# on a terminal: no raw control characters, no bytes
terminal() { python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$@" </dev/null; }
terminal $f -C d cat a.example/ --at 2024-01-02 >out || fail "text on a terminal"
grep -q 'first ?\[31m' out || fail "an escape reached the terminal"
if terminal $f -C d cat a.example/bytes >out; then fail "bytes on a terminal"; fi; grep -q -- '-o FILE' out
rm a.warc.gz; expect 3 $f -C d cat a.example/bytes; grep -q a.warc.gz err || fail "which file is missing"
