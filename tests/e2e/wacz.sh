#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# WACZ out and in: the file keeps the rules of the specification (tests/lib/wacz_check.py), with a
# plain and with a compressed index; imported it gives the same pages, captures and bytes.  What is
# not as its manifest says, and ZIP files that attack who reads them, are refused.
# Twice.
. "$SRC/tests/lib/e2e.sh"
check() { PYTHONDONTWRITEBYTECODE=1 python3 "$SRC/tests/lib/wacz_check.py" "$@"; }

# archives: answers, revisits by digest and by 304, a redirect, a resource, a picture
cat > make.py <<'PY'
import base64, gzip, hashlib, sys

def digest(b):
    return "sha1:" + base64.b32encode(hashlib.sha1(b).digest()).decode()

def record(kind, url, time, block, k, **fields):
    text = "WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>\r\nWARC-Date: %s\r\nWARC-Target-URI: %s\r\n" % (kind, k, time, url)
    for n, v in fields.items():
        text += n.replace("_", "-") + ": " + v + "\r\n"
    return gzip.compress((text + "Content-Length: %d\r\n\r\n" % len(block)).encode() + block + b"\r\n\r\n")

n, out = int(sys.argv[1]), open(sys.argv[2], "wb")
HTTP = "application/http; msgtype=response"
for k in range(n):
    url, body = "http://site%d.example/p%d" % (k % 7, k), b"<title>Page %d</title><p>text of %d" % (k, k)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    out.write(record("response", url, "2024-01-01T00:%02d:%02dZ" % (k // 60 % 60, k % 60), head + body, k,
                     Content_Type=HTTP, WARC_Payload_Digest=digest(body)))
    if k % 5 == 0:
        out.write(record("revisit", url, "2024-02-01T00:00:00Z", head, 100000 + k, Content_Type=HTTP,
                         WARC_Payload_Digest=digest(body), WARC_Refers_To_Target_URI=url,
                         WARC_Refers_To_Date="2024-01-01T00:%02d:%02dZ" % (k // 60 % 60, k % 60),
                         WARC_Profile="http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"))
out.write(record("response", "http://site1.example/moved", "2024-01-01T00:00:00Z",
                 b"HTTP/1.1 301 Moved\r\nLocation: /p1\r\n\r\n", 200001, Content_Type=HTTP))
out.write(record("resource", "http://site1.example/x.png", "2024-01-01T00:00:00Z", b"\x89PNG....", 200002, Content_Type="image/png"))
PY
for n in 40 3100; do
	python3 make.py $n a$n.warc.gz
	"$f" --quiet init r$n; expect 0 "$f" -C r$n import a$n.warc.gz
	captures=$((n + (n + 4) / 5 + 2))
	expect 0 "$f" -C r$n --json export wacz -o x$n.wacz; is "r['written']" $captures; is "r['lost']" 0
	[ ! -e x$n.wacz.part ] || fail "a part is left"
	check x$n.wacz > checked || fail "breaks the rules of WACZ"
	[ "$(cat checked)" = "1 $captures $n" ] || fail "checked: $(cat checked)"
	"$f" --quiet init s$n; expect 0 "$f" -C s$n --json import x$n.wacz
	is "r['captures']" $captures; is "r['malformed']" 0
	for r in r s; do "$f" --quiet -C $r$n export cdxj | python3 -c '
import json, sys
for l in sys.stdin:
    a, b, j = l.split(" ", 2); j = json.loads(j)
    print(a, b, *[j.get(k) for k in ("url", "mime", "status", "digest")])' > $r$n.lines; done
	cmp r$n.lines s$n.lines
	"$f" --quiet -C s$n cat http://site3.example/p3 > got; grep -qx "<title>Page 3</title><p>text of 3" got || fail "cat from a WACZ"
	expect 0 "$f" -C s$n --json export warc -o w$n; is "r['written']" $captures; is "r['lost']" 0
done
unzip -tq x40.wacz > /dev/null || fail "unzip refuses it"
unzip -l x3100.wacz | grep -q index.idx || fail "no compressed index"
expect 0 "$f" -C s40 --json import x40.wacz; is "r['captures']" 0      # again: nothing new
mkdir d; cp x40.wacz d; "$f" --quiet init t; expect 0 "$f" -C t --json import d; is "r['captures']" 50   # a folder
expect 0 "$f" --quiet replay x40.wacz --policy random --json; is "r['trace']['captures']" 50

# nothing to export; nowhere to; a disk that is full
"$f" --quiet init e; expect 2 "$f" -C e export wacz -o e.wacz; [ ! -e e.wacz ] && [ ! -e e.wacz.part ] || fail "a file of nothing"
expect 2 "$f" -C r40 export wacz
code "$f" -C r40 export wacz -o /dev/full/x.wacz; [ "$rc" != 0 ] || fail "into nowhere"

# deflated archives are read, though they cannot be read back; attacks are refused whole
cat > attack.py <<'PY'
import hashlib, io, json, stat, struct, sys, zipfile, zlib
src = zipfile.ZipFile("x40.wacz")
files = {i.filename: src.read(i) for i in src.infolist()}

def manifest(files, **change):
    names = [n for n in files if not n.startswith("datapackage")]
    d = {"profile": "data-package", "wacz_version": "1.1.1", "resources": [
        {"name": n, "path": n, "hash": "sha256:" + hashlib.sha256(files[n]).hexdigest(), "bytes": len(files[n])} for n in names]}
    d.update(change)
    return json.dumps(d, indent=2).encode()

def write(name, files, method=zipfile.ZIP_STORED, sign=True, package=None, info=None):
    package = package or manifest(files)
    with zipfile.ZipFile(name, "w", method) as z:
        for n, data in files.items():
            if n == "datapackage.json":
                data = package
            if n == "datapackage-digest.json":
                if not sign:
                    continue
                data = json.dumps({"path": "datapackage.json", "hash": "sha256:" + hashlib.sha256(package).hexdigest()})
            i = zipfile.ZipInfo(n, (2024, 1, 1, 0, 0, 0))
            i.compress_type = method
            if info:
                info(i)
            z.writestr(i, data)

def patch(name, out, f):
    b = bytearray(open(name, "rb").read())
    b = f(b) or b
    open(out, "wb").write(b)

warc = "archive/data-00000.warc.gz"
write("good-plain.wacz", files)
write("good-unsigned.wacz", files, sign=False)
import gzip
flat = {**{n: d for n, d in files.items() if n != warc}, "archive/d.warc": gzip.decompress(files[warc])}
write("good-deflated.wacz", flat, zipfile.ZIP_DEFLATED)
# the manifest and the files differ
changed = dict(files); changed[warc] = files[warc][:-30] + bytes(30)
write("digest.wacz", changed, package=manifest(files))
write("bad-missing.wacz", {n: d for n, d in files.items() if n != "pages/pages.jsonl"}, package=manifest(files))
write("bad-size.wacz", {**files, "pages/pages.jsonl": b"x"}, package=manifest(files))
write("bad-json.wacz", files, package=b"{\"resources\": [")
write("bad-none.wacz", files, package=b"{\"profile\": \"data-package\"}")
write("bad-twice.wacz", files, package=manifest(files).replace(b'"indexes/index.cdxj",\n      "hash"', b'"%s",\n      "hash"' % warc.encode()))
write("bad-multi.wacz", files, package=manifest(files, profile="multi-wacz-package"))
patch("good-plain.wacz", "bad-manifest.wacz", lambda b: b.replace(b'"data-package"', b'"data-packagE"'))
zipfile.ZipFile("bad-nowacz.wacz", "w").writestr("a", "b")
# names that lead out, links
for k, n in enumerate(("../evil", "archive/../../evil", "/etc/passwd", "archive\\..\\evil", "archive//x", "archive/./x", "c:/x", "archive/\x01", "a" * 1500)):
    write("bad-name%d.wacz" % k, {**files, n: b"evil"})
def link(i):
    i.create_system = 3
    if i.filename == warc:
        i.external_attr = (stat.S_IFLNK | 0o777) << 16
write("bad-link.wacz", files, info=link)
import warnings; warnings.simplefilter("ignore")
with zipfile.ZipFile("bad-double.wacz", "w") as z:
    for n, d in [*files.items(), (warc, b"other")]:
        z.writestr(n, d)
# entries that overlap: two of the directory point at one
def overlap(b):
    heads, at = [], b.rindex(b"PK\1\2")
    p = b.index(b"PK\1\2")
    while b[p:p + 4] == b"PK\1\2":
        heads.append(p)
        p += 46 + sum(struct.unpack("<HHH", b[p + 28:p + 34]))
    one, two = heads[0], heads[1]
    struct.pack_into("<L", b, two + 42, struct.unpack_from("<L", b, one + 42)[0] + 1)
patch("good-plain.wacz", "bad-overlap.wacz", overlap)
def same(b):
    p = b.index(b"PK\1\2"); q = b.index(b"PK\1\2", p + 4)
    struct.pack_into("<L", b, q + 42, struct.unpack_from("<L", b, p + 42)[0])
patch("good-plain.wacz", "bad-same.wacz", same)
def field(at, fmt, value):
    def f(b):
        struct.pack_into(fmt, b, b.index(b"PK\1\2") + at, value)
    return f
patch("good-plain.wacz", "bad-packed.wacz", field(20, "<L", 1 << 30))
patch("good-plain.wacz", "bad-unpacked.wacz", field(24, "<L", 7))
patch("good-plain.wacz", "bad-offset.wacz", field(42, "<L", 1 << 31))
patch("good-plain.wacz", "bad-method.wacz", field(10, "<H", 12))
patch("good-plain.wacz", "bad-encrypted.wacz", field(8, "<H", 1))
patch("good-plain.wacz", "bad-extra64.wacz", field(24, "<L", 0xffffffff))
patch("good-plain.wacz", "bad-cut.wacz", lambda b: b[:-30])
patch("good-plain.wacz", "bad-count.wacz", lambda b: struct.pack_into("<HH", b, len(b) - 14, 9, 9))
# a bomb: 60 MB of zeros deflated, said to be small; and one that says what it is, in the manifest's place
bomb = dict(flat); bomb["archive/d.warc"] = b"WARC/1.1\r\n" + bytes(60 << 20)
write("bomb.wacz", bomb, zipfile.ZIP_DEFLATED)
def lie(b):
    p = b.index(b"PK\1\2")
    while b[p + 46:p + 60] != b"archive/d.warc":
        p = b.index(b"PK\1\2", p + 4)
    struct.pack_into("<L", b, p + 24, 1000)
    struct.pack_into("<L", b, struct.unpack_from("<L", b, p + 42)[0] + 22, 1000)
patch("bomb.wacz", "bad-bomb.wacz", lie)
write("bad-bomb-manifest.wacz", flat, zipfile.ZIP_DEFLATED, package=b"{" + b" " * (65 << 20) + b"}")
# damage inside of a deflated entry
def hurt(b):
    at = b.index(b"archive/d.warc") + 600
    b[at:at + 8] = bytes(8)
patch("good-deflated.wacz", "bad-hurt.wacz", hurt)
PY
python3 attack.py
for w in good-*.wacz; do
	rm -rf g; "$f" --quiet init g; expect 0 "$f" -C g --json import $w; is "r['captures']" 50; is "r['malformed']" 0
done
rm -rf g; "$f" --quiet init g; expect 0 "$f" -C g --json import good-deflated.wacz
expect 0 "$f" -C g --json export warc -o gw; is "r['without_content']" 50
# a wrong digest of a WARC is said, and its records are judged by themselves: the last is hurt
rm -rf g; "$f" --quiet init g; expect 0 "$f" -C g --json import digest.wacz; is "r['captures']" 49
grep -q "another digest" err || fail "$(cat err)"
rm -rf g; "$f" --quiet init g
for w in bad-*.wacz; do
	code "$f" -C g import $w
	[ "$rc" = 3 ] || [ "$rc" = 2 ] || fail "$w: exit $rc, not refused"
	grep -q "$w" err || fail "$w: the message does not name it: $(cat err)"
	grep -qi "sanitizer" err && fail "$w: $(cat err)"
done
expect 0 "$f" -C g --json status; is "r['captures']" 0
[ ! -e ../evil ] && [ ! -e evil ] || fail "something was unpacked"
if cat x40.wacz | "$f" -C g import - 2> err; then fail "from a pipe"; fi; grep -q "as a file" err || fail "$(cat err)"
# the bomb that does not lie is read in bounded memory, and has nothing in it
python3 - "$f" <<'PY' || fail "the bomb took memory"
import resource, subprocess, sys
subprocess.run([sys.argv[1], "-C", "g", "--json", "import", "bomb.wacz"], capture_output=True)
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
assert most < 50 or "build-san" in sys.argv[1], "%d MiB" % most
PY
expect 0 "$f" -C g --json status; is "r['captures']" 0
