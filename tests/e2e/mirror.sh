#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# export folder: a mirror whose links a foreign reader of HTML follows on the disk.
. "$SRC/tests/lib/e2e.sh"
cat >make.py <<'P'
import gzip, sys
def rec(n, url, day, body, mime="text/html", status="200 OK", more=""):
    http = ("HTTP/1.1 %s\r\nContent-Type: %s\r\n%sContent-Length: %d\r\n\r\n" % (status, mime, more, len(body))).encode() + body
    head = ("WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-0000000%05d>\r\nWARC-Date: 2024-01-%02dT00:00:00Z\r\n"
            "WARC-Target-URI: %s\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n" % (n, day, url, len(http))).encode()
    return gzip.compress(head + http + b"\r\n\r\n")
news = b"second" if sys.argv[1:] else b"first"
front = b"""<!DOCTYPE html><title>Front</title><a href=/about>about</a> <a href="news/?id=1&amp;x=2#top">news</a>
<a href='//other.example/A'>A</a> <a href="https://outside.example/x">outside</a> <a href="mailto:me@example.org">mail</a> <a href="#here">here</a>
<img src=/logo.png srcset="/logo.png 1x, /big.png 2x"> <link rel=stylesheet href=/style.css> <script>var a = "<a href=/not/a/link>";</script>
<!-- <a href=/comment> --> <a href="/caf\xc3\xa9">cafe</a>"""
pages = [("https://example.org/", front, "text/html"), ("https://example.org/about", b"<base href=/deep/er/><p>\xe9 latin<a href=x.html>x</a><a href=../../>up</a>", "text/html; charset=iso-8859-1"),
    ("https://example.org/deep/er/x.html", b"<meta http-equiv=refresh content='5; url=/about'>" + news, "text/html"),
    ("https://example.org/news/?id=1&x=2", b"<p>news", "text/html"), ("https://other.example/A", b"<p>A", "text/html"), ("https://other.example/a", b"<p>a", "text/html"),
    ("https://example.org/logo.png", bytes(range(256)), "image/png"), ("https://example.org/style.css", b"@import 'more.css'; p { background: url( \"/logo.png\" ) }\n", "text/css"),
    ("https://example.org/caf%C3%A9", b"<p>cafe", "text/html"), ("https://example.org/data.gz", b"not packed", "application/gzip")]
with open("site.warc.gz", "wb") as out:
    for i, (url, body, mime) in enumerate(pages): out.write(rec(i, url, 1, body, mime))
    out.write(rec(90, "https://example.org/news/?id=1&x=2", 2, b"", status="404 Not Found"))     # gone: its last copy stays
    out.write(rec(91, "https://example.org/never", 2, b"", status="404 Not Found"))
P
python3 make.py; $f init r 2>/dev/null; $f -C r import site.warc.gz >/dev/null
code $f -C r export folder -o mirror --json; is written 11; is same 0; is lost 0; is without_content 1
cat >check.py <<'P'
import html.parser, os, sys, urllib.parse
def links(path):
    found, data = [], open(path, "rb").read()
    assert data.startswith(b"\xef\xbb\xbf") or path == "mirror/index.html", path
    class Reader(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            assert tag != "base" or dict(attrs)["href"] == "", attrs
            for name, value in attrs if tag != "base" else []:
                if name in ("href", "src"): found.append((tag, name, value))
                if name == "srcset": found.extend((tag, "src", v.split()[0]) for v in value.split(","))
                if name == "content" and value.startswith("5; url="): found.append((tag, "href", value[7:]))
    Reader().feed(data.decode("utf-8"))
    return found
def to(path, link):
    if urllib.parse.urlsplit(link).scheme or link.startswith("#"): return link
    target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(link.split("#")[0])))
    assert os.path.isfile(target), (path, link, target)
    return target + ("#" + link.split("#")[1] if "#" in link else "")
seen, todo = {}, ["mirror/index.html"]
while todo:                                             # what a person reaches by clicking
    path = todo.pop()
    if path in seen or not path.endswith(".html"): continue
    seen[path] = [to(path, l) for _, _, l in links(path)]
    todo += [l.split("#")[0] for l in seen[path] if l.startswith("mirror/")]
front = seen["mirror/example.org/index.html"]
assert "https://outside.example/x" in front and "mailto:me@example.org" in front and "#here" in front, front
assert any(l.endswith("#top") and l.startswith("mirror/example.org/news/") for l in front), front
assert "https://example.org/big.png" in front and "mirror/example.org/logo.png" in front, front
about = "mirror/example.org/about@.html"
assert seen[about] == ["mirror/example.org/deep/er/x.html", "mirror/example.org/index.html"], seen[about]
assert "\u00e9 latin" in open(about, encoding="utf-8").read()
assert seen["mirror/example.org/deep/er/x.html"] == [about]
assert open("mirror/example.org/logo.png", "rb").read() == bytes(range(256))
assert open("mirror/example.org/data.gz", "rb").read() == b"not packed"
assert open("mirror/example.org/style.css").read() == "@import 'https://example.org/more.css'; p { background: url( \"logo.png\" ) }\n"
text = open("mirror/example.org/index.html").read()
assert "var a = \"<a href=/not/a/link>\"" in text and "<!-- <a href=/comment> -->" in text, "scripts and comments stay"
names = [os.path.join(d, n).lower() for d, _, ns in os.walk("mirror") for n in ns]
assert len(names) == len(set(names)) == 11, names
P
python3 check.py || fail "the mirror"
# again: nothing is written; after a change: only what changed
find mirror -type f -printf '%p %i %T@\n' | sort >before
code $f -C r export folder -o mirror --json; is written 0; is same 11
find mirror -type f -printf '%p %i %T@\n' | sort | cmp - before || fail "a file was touched"
sed -i 's/2024-01-%02d/2024-02-%02d/' make.py; python3 make.py again; $f -C r import site.warc.gz >/dev/null
code $f -C r export folder -o mirror --json; is written 1; grep -q second mirror/example.org/deep/er/x.html || fail "the change"
[ "$(stat -c %Y mirror/example.org/deep/er/x.html)" = "$(date -ud 2024-02-01 +%s)" ] || fail "its time"
# links of others in the way are not followed, and what cannot be written is said
rm -r mirror/example.org/deep; mkdir else; ln -s "$PWD/else" mirror/example.org/deep
expect 3 $f -C r export folder -o mirror; grep -q 'mirror/example.org/deep' err || fail "which"; [ -z "$(ls else)" ] || fail "wrote through a link"
expect 2 $f -C r export folder; grep -q -- '-o' err
# a lost archive costs its pages only
rm site.warc.gz; code $f -C r export folder -o other --json; [ "$rc" = 0 ] && is lost 10
