#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Archives in and out: what GNU wget crawled, a history made by hand in WARC, the
# same history as a trace and as a repository.  Oracles are python's hashlib and
# json, and the files themselves.
. "$SRC/tests/lib/e2e.sh"
quiet() { "$@" >out 2>err || fail "$*: $(cat out err)"; }

# --- wget crawls a site on loopback, twice; the second time one page has changed
mkdir -p site/dir
cat >site/index.html <<'H'
<html><head><title>Start</title></head><body><a href="a.html">a</a> <a href="dir/b.html">b</a>
<a href="dir/c.txt">c</a> <a href="missing.html">no</a><img src="p.png"></body></html>
H
echo '<html><body><p>page a <a href="/dir/b.html">b</a></body></html>' >site/a.html
echo '<html><body><p>page b <a href="../a.html">a</a></body></html>' >site/dir/b.html
echo 'plain text' >site/dir/c.txt
printf 'not really a picture' >site/p.png
: >server.log
python3 -u -m http.server --bind 127.0.0.1 --directory site 0 >server.log 2>&1 &
server=$!; trap 'kill $server' EXIT
for i in $(seq 100); do port=$(sed -n 's/.* port \([0-9]*\).*/\1/p' server.log); [ -n "$port" ] && break; sleep 0.05; done
crawl() { wget -q --no-proxy -r -e robots=off -P "mirror.$1" --warc-file="$1" --warc-cdx "http://127.0.0.1:$port/" || [ $? = 8 ]; }
crawl one
sleep 1; echo '<html><body><p>page a, changed</body></html>' >site/a.html
crawl two
$f init w 2>/dev/null; quiet $f -C w import one.warc.gz two.warc.gz
$f init x 2>/dev/null; quiet $f -C x import one.cdx two.cdx
$f -C w export cdxj >w.cdxj; $f -C x export cdxj >x.cdxj
python3 - "$port" <<'P' || fail "wget's archive and index differ from the site"
import base64, hashlib, json, os, sys
def read(name):
    lines = [l.rstrip("\n").split(" ", 2) for l in open(name)]
    return {(json.loads(j)["url"], t): json.loads(j) for _, t, j in lines}, lines
w, lines = read("w.cdxj"); x, _ = read("x.cdxj")
assert [" ".join(l).encode() for l in lines] == sorted(" ".join(l).encode() for l in lines)
assert len(w) == len(lines) and set(w) == set(x), (set(w) ^ set(x))
for k in w:
    assert w[k]["digest"] == x[k]["digest"] and w[k]["status"] == x[k]["status"], (w[k], x[k])
    assert w[k]["mime"] == x[k]["mime"] and w[k]["offset"] == x[k]["offset"], (w[k], x[k])
sha1 = lambda b: base64.b32encode(hashlib.sha1(b).digest()).decode()
newest = {}
for (url, t), j in sorted(w.items(), key=lambda i: i[0][1]):
    newest[url] = j
base = "http://127.0.0.1:" + sys.argv[1] + "/"
files = {"": "index.html", "a.html": "a.html", "dir/b.html": "dir/b.html", "dir/c.txt": "dir/c.txt", "p.png": "p.png"}
for url, path in files.items():
    assert newest[base + url]["digest"] == sha1(open("site/" + path, "rb").read()), url
assert set(newest) == {base + u for u in files} | {base + "missing.html"}, set(newest)
assert newest[base + "missing.html"]["status"] == "404"
P
$f -C w export visits >visits; $f -C w export changed >changed
python3 - <<'P' || fail "visits of the two crawls"
import json
v = [json.loads(l) for l in open("visits")]
n = {}
for x in v: n.setdefault(x["url"].split("/", 3)[3], []).append(x["outcome"])
assert n["a.html"] == ["new", "changed"] and n["dir/b.html"] == ["new", "same"] and n["missing.html"] == ["gone"], n
c = {json.loads(l)["url"].split("/", 3)[3]: json.loads(l)["outcome"] for l in open("changed")}
assert c["a.html"] == "changed" and c["dir/b.html"] == "new" and len(c) == 6, c
P

# --- a history in WARC: gzip bodies, chunks, revisits of both kinds, pages that go
python3 - <<'P'
import base64, gzip, hashlib, random, time
random.seed(5)
b32 = lambda b: "sha1:" + base64.b32encode(hashlib.sha1(b).digest()).decode()
iso = lambda t: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(t))
n = 0
def record(kind, url, t, head, body, extra="", payload=None):
    global n; n += 1
    block = head + body
    h = (f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{n:012d}>\r\n"
         f"WARC-Date: {iso(t)}\r\nWARC-Target-URI: {url}\r\n{extra}"
         + (f"WARC-Payload-Digest: {payload}\r\n" if payload else "") +
         f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n")
    return gzip.compress(h.encode() + block + b"\r\n\r\n")
start = 1640995200
words = ["river", "stone", "market", "winter", "signal", "garden", "letter", "engine"]
last, out = {}, [[], []]
for day in range(0, 90, 3):
    for page in range(24):
        url = f"http://site{page % 3}.example/d{page % 4}/p{page}.html"
        t = start + day * 86400 + page * 60
        old = last.get(url)
        if old == "gone": continue
        if day > 60 and page % 11 == 10:
            out[page % 2].append(record("response", url, t, b"HTTP/1.1 404 Not Found\r\n\r\n", b"none")); last[url] = "gone"; continue
        if old and random.random() < 0.5:
            if random.random() < 0.5:
                out[page % 2].append(record("revisit", url, t, b"HTTP/1.1 304 Not Modified\r\n\r\n", b"",
                    f"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified\r\nWARC-Refers-To-Target-URI: {url}\r\nWARC-Refers-To-Date: {iso(old[1])}\r\n"))
            else:
                out[page % 2].append(record("revisit", url, t, b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", b"",
                    f"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\nWARC-Refers-To-Target-URI: {url}\r\nWARC-Refers-To-Date: {iso(old[1])}\r\n", old[0]))
            continue
        links = "".join(f'<a href="/d{k % 4}/p{k}.html">x</a>' for k in random.sample(range(24), 4)) + '<a href="http://elsewhere.example/">y</a>'
        tags = "<i></i>" * random.randint(0, 2)
        text = " ".join(random.choice(words) for _ in range(6))
        body = f"<html><title>T{page}</title><body><!-- {random.randint(0, 2)} -->{tags}<p>{text}</p>{links}</body></html>".encode()
        how = page % 3
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
        payload = gzip.compress(body, mtime=0) if how == 1 else body
        wire = payload
        if how == 1: head += b"Content-Encoding: gzip\r\n"
        if how == 2:
            head += b"Transfer-Encoding: chunked\r\n"
            wire = b"%x\r\n" % 10 + payload[:10] + b"\r\n%x\r\n" % (len(payload) - 10) + payload[10:] + b"\r\n0\r\n\r\n"
        out[page % 2].append(record("response", url, t, head + b"\r\n", wire, payload=b32(payload)))
        last[url] = (b32(payload), t)
for i in 0, 1: open(f"h{i}.warc.gz", "wb").write(b"".join(out[i]))
open("n", "w").write(str(n))
P
quiet $f init h; quiet $f -C h import h0.warc.gz h1.warc.gz --json
python3 - <<'P' || fail "import of the made history"
import json
s = json.load(open("out")); assert s["pages"] == 24 and s["captures"] == int(open("n").read()) and s["malformed"] == 0, s
P
$f -C h export cdxj --extended -o h.cdxj.gz
$f -C h export cdxj --extended | cmp - <(zcat h.cdxj.gz) || fail "-o and standard output differ"
grep -qx signal words.txt || fail "words.txt: $(head -3 words.txt)"
mkdir -p elsewhere; echo other >elsewhere/words.txt
if $f -C h export cdxj --extended -o elsewhere/h.cdxj 2>err; then fail "another word list was overwritten"; fi
[ "$(cat elsewhere/words.txt)" = other ] && [ ! -e elsewhere/h.cdxj ] || fail "another word list"
$f -C h export cdxj --extended -o h.cdxj.zst; [ ! -e h.cdxj.zst.part ] || fail ".part left behind"
for d in bytes text tags near:3; do
	r="--detect $d --policy random --policy neighbour:by=link,d=1 --policy tide --policy frequency --policy cluster:k=4,features=combined --cycle 1w --budget 5 --seeds 2 --json --no-time"
	$f replay $r h0.warc.gz h1.warc.gz >a.json 2>/dev/null
	$f replay $r h.cdxj.gz >b.json 2>/dev/null; cmp a.json b.json || fail "$d: the trace replays otherwise than the WARC"
	$f replay $r h >b.json 2>/dev/null; cmp a.json b.json || fail "$d: the repository replays otherwise than the WARC"
	$f replay $r h.cdxj.zst h1.warc.gz >b.json 2>/dev/null; cmp a.json b.json || fail "$d: the same captures twice count twice"
	python3 -c 'import json; t = json.load(open("a.json"))["trace"]; assert t["pages"] == 24, t'
done

# --- round trip: the same pages, captures and digests
quiet $f -C h export warc -o again --json; grep -q '"without_content":0,"lost":0' out || fail "export warc: $(cat out err)"
quiet $f init h2; quiet $f -C h2 import again/*.warc.gz
same() { python3 - "$1" "$2" <<'P'
import json, sys
def read(name):
    r = []
    for l in open(name):
        k, t, j = l.split(" ", 2); j = json.loads(j)
        for x in ("filename", "offset", "length"): j.pop(x, None)
        r.append((k, t, j))
    return r
a, b = read(sys.argv[1]), read(sys.argv[2])
# a 304 that told no digest now tells the original's
for x, y in zip(a, b):
    if x[2].get("mime") == "warc/revisit" and "digest" not in x[2]: y[2].pop("digest")
assert a == b and a, [p for p in zip(a, b) if p[0] != p[1]][:3]
P
}
$f -C h export cdxj --extended >1; $f -C h2 export cdxj --extended >2
same 1 2 || fail "import, export, import changed something"
quiet $f -C w export warc -o wagain; quiet $f init w2; quiet $f -C w2 import wagain/*.warc.gz
$f -C w2 export cdxj >2; same w.cdxj 2 || fail "round trip of wget's archive"

# --- what lies elsewhere by now is reported and counted; indexes have no content
mv h1.warc.gz moved.warc.gz
$f -C h export warc -o partly --json >out 2>err || fail "export warc of what is left"
grep -q 'h1.warc.gz' err || fail "the missing file is not named: $(cat err)"
quiet $f init i; quiet $f -C i import h.cdxj.gz
$f -C i export warc -o none --json >out 2>/dev/null; python3 -c 'import json; s = json.load(open("out")); assert s["written"] + s["lost"] + s["without_content"] == int(open("n").read()), s'

# --- a repository moved as a whole keeps its own files
mkdir -p mine/warc; cp moved.warc.gz mine/warc/; quiet $f init mine; quiet $f -C mine import mine/warc/moved.warc.gz
mv mine yours; quiet $f -C yours export warc -o out3 --json; grep -q '"lost":0' out || fail "moved repository: $(cat out err)"

# --- sitemaps: dates are hints
mkdir -p s; cat >s/index.xml <<'H'
<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>http://a.example/maps/one.xml.gz</loc></sitemap>
<sitemap><loc>http://a.example/two.txt</loc></sitemap><sitemap><loc>http://a.example/absent.xml</loc></sitemap></sitemapindex>
H
cat >one.xml <<'H'
<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://a.example/1</loc><lastmod>2024-05-06</lastmod></url>
<url><loc>http://a.example/2</loc></url><url><loc>gopher://a.example/3</loc></url></urlset>
H
gzip -c one.xml >s/one.xml.gz; echo http://a.example/4 >s/two.txt
quiet $f init m; $f -C m import s/index.xml --json >out 2>err || fail "sitemap: $(cat err)"
grep -q 'absent.xml is not beside' err || fail "sitemap that is not there: $(cat err)"
python3 - <<'P' || fail "sitemap import: $(cat out)"
import json
s = json.load(open("out")); assert (s["pages"], s["malformed"], s["other"]) == (3, 1, 1), s
P
$f -C m export pages | grep '"http://a.example/1"' | grep -q '"lastmod":"2024-05-06T00:00:00Z"' || fail "lastmod"
$f -C m show http://a.example/1 | grep -q 'right in 0 of 0 checks: not trusted' || fail "show: lastmod"
$f -C m show --json http://a.example/1 | grep -q '"lastmod":"2024-05-06T00:00:00Z","lastmod_trusted":false' || fail "show --json: lastmod"
$f -C m export changed --since last >out; [ ! -s out ] || fail "no cycle yet, no change"
set +e; $f -C m export warc >out 2>err; rc=$?; $f -C m export changed --since never >>out 2>>err; rc2=$?; set -e
[ $rc = 2 ] && [ $rc2 = 2 ] || fail "usage errors: $rc $rc2"
