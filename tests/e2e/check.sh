#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# freshet check: a repository is damaged in one way after the other, and the check must find
# it, say which kind it is, and count the copies that are lost as a reader in Python does that
# shares no code with it.  --repair mends what it says it mends, the next check finds nothing
# wrong, and no byte of an archive and no row is gone: all are still there, or set aside.
# The same on PostgreSQL for what lies in files, and for references.
# Twice.
. "$SRC/tests/lib/e2e.sh"
cat > web.py <<'PY'
from origin import *
def answer(q):
    now = int(open("state").read())
    if q.path == "/robots.txt": return 404, b""
    if q.path == "/moved": return 302, b"there", [("Location", "/1")]
    version = now if q.path < "/4" else 0
    return 200, b"<title>t</title><p>page %s version %d %s <a href=/%d>x</a>" % (q.path.encode(), version, b"filler " * 40, version)
serve(answer)
PY
echo 0 > state
start_origin web.py
for p in 1 2 3 4 5 moved; do echo "$url/$p"; done > urls
make_one() { # program folder
	"$1" init "$2" 2> /dev/null
	"$1" -C "$2" import urls > /dev/null 2>&1
	for n in 1 2 3; do
		echo $n > state
		"$1" -C "$2" cycle --budget 50 --policy round-robin --words yes --now 2026-01-1${n}T00:00:00Z --contact me@example.org --allow-net 127.0.0.0/8 --delay 0s > /dev/null 2> err || fail "cycle $n"
	done
	"$1" -C "$2" tag fruit "$url/1" > /dev/null
}
make_one "$FRESHET" good
cat > damage.py <<'PY'
import base64, glob, hashlib, json, os, random, shutil, sqlite3, subprocess, sys, zlib
freshet = sys.argv[1]
wrong = []

def fresh():
    shutil.rmtree("w", ignore_errors=True)
    shutil.copytree("good", "w")

def db():
    return sqlite3.connect("w/freshet.db")

def sql(text, *args):
    d = db()
    d.execute(text, args); d.commit(); d.close()

def files():
    return sorted(glob.glob("w/warc/*.warc.gz"))

def run(*args):
    r = subprocess.run([freshet, "-C", "w", "check", "--json", "--all"] + list(args), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    said = r.stderr.decode(errors="replace")
    assert r.returncode in (0, 1), (r.returncode, said)
    assert "Sanitizer" not in said and "runtime error" not in said, said
    return r.returncode, json.loads(r.stdout)

def record(data, capture):
    """Is this the record of the capture?  By zlib and hashlib alone."""
    page, time, digest, revisit, url = capture
    data = data[:3] + bytes(b & 31 for b in data[3:4]) + data[4:]      # bits of gzip that mean nothing: zlib refuses them, others do not
    d = zlib.decompressobj(31)
    try:
        text = d.decompress(data) + d.flush()
    except zlib.error:
        return False
    if not d.eof or d.unused_data: return False
    head, _, block = text.partition(b"\r\n\r\n")
    h = dict(l.split(b": ", 1) for l in head.split(b"\r\n")[1:] if b": " in l)
    n = int(h.get(b"Content-Length", b"-1"))
    if not head.startswith(b"WARC/1.1\r\n") or len(block) != n + 4 or block[n:] != b"\r\n\r\n": return False
    block = block[:n]
    sha = lambda b: b"sha1:" + base64.b32encode(hashlib.sha1(b).digest())
    if h.get(b"WARC-Block-Digest", sha(block)) != sha(block) or h.get(b"WARC-Target-URI", b"").strip(b"<>") != url.encode(): return False
    body = block.partition(b"\r\n\r\n")[2]
    if not revisit and (h.get(b"WARC-Payload-Digest") != sha(body) or "sha1:" + digest != sha(body).decode()): return False
    import datetime
    return h[b"WARC-Date"].decode() == datetime.datetime.fromtimestamp(time, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

def oracle():
    """The ids of copies that are lost."""
    lost = set()
    d = db()
    for id, file, offset, size, *c in d.execute("SELECT c.id, f.name, c.offset, c.size, c.page, c.time, c.digest, c.revisit, coalesce(c.target, p.url) FROM captures c JOIN files f ON f.id = c.file JOIN pages p ON p.id = c.page + 1"):
        try:
            with open("w/warc/" + file, "rb") as f:
                f.seek(offset); data = f.read(size)
        except OSError:
            data = b""
        if len(data) != size or not record(data, c): lost.add(id)
    d.close()
    return lost

def lost_said(r):
    ids = set()
    for f in r["findings"]:
        if f["kind"] == "record" and f["state"] != "note": ids.add(int(f["text"].split("capture ")[1].split()[0]))
    return ids

def contents():
    return {hashlib.sha1(open(p, "rb").read()).hexdigest() for p in glob.glob("w/warc/*")}

n_cases, some = 0, 1 if os.environ["BUILD"].endswith("/build") else 5      # a sanitizer takes ten times as long
def case(name, spoil, kind, mends=True, after=None, lost=True):
    global n_cases
    n_cases += 1
    if n_cases % some: return
    fresh()
    spoil()
    want = oracle() if lost else set()
    before = contents()
    rc, r = run()
    if rc != 1 or not r["found"][kind]["wrong"] or r["wrong"] < 1: wrong.append((name, "not found", rc, r["findings"]))
    if lost and (r["lost"] != len(want) or (kind == "record" and lost_said(r) != want)): wrong.append((name, "lost", r["lost"], sorted(want), r["findings"]))
    if before != contents(): wrong.append((name, "a check changed an archive"))
    rc, r = run("--repair")
    if (rc == 0) != mends: wrong.append((name, "repair", rc, r["findings"]))
    if not before <= contents(): wrong.append((name, "repair lost bytes of an archive"))
    rc, r = run()
    if (rc == 0) != mends: wrong.append((name, "after repair", rc, r["findings"]))
    if after: after()

def flip(path, at, bit):
    with open(path, "r+b") as f:
        f.seek(at); b = f.read(1)[0]
        f.seek(at); f.write(bytes([b ^ 1 << bit]))

def aside(text):
    def look():
        if text not in open("w/check-aside.jsonl").read(): wrong.append((text, "is not set aside"))
    return look

# nothing is wrong, and as many copies are read as there are
fresh()
rc, r = run()
assert rc == 0 and r["wrong"] == 0 and r["lost"] == 0 and not oracle() and r["read"] == r["copies"] > 10 and r["files"] == 3, r
n_copies = r["copies"]

# bit flips anywhere: exactly the copies that another reader cannot read either
rng, hit = random.Random(4), 0
for i in range(int(os.environ.get("FLIPS", 10 // some))):
    fresh()
    for k in range(1 + i % 3):
        path = rng.choice(files())
        flip(path, rng.randrange(os.path.getsize(path)), rng.randrange(8))
    want = oracle()
    rc, r = run()
    hit += len(want)
    if lost_said(r) != want or (rc == 1) != bool(want): wrong.append(("flip", i, rc, sorted(want), r["findings"]))
    rc, r = run("--repair")
    rc, r = run()
    if rc != 0 or r["copies"] + len(want) != n_copies: wrong.append(("flip", i, "after repair", rc, r))
assert hit or some > 1, "no flip hit a copy"

first = lambda: files()[0]
case("cut", lambda: os.truncate(first(), os.path.getsize(first()) // 2), "record")
case("missing", lambda: os.unlink(first()), "missing", after=aside('"file":"freshet-'))
case("orphan", lambda: shutil.copy(first(), first().replace("-00000-", "-00077-")), "orphan",
     after=lambda: glob.glob("w/warc/*-00077-*.aside") or wrong.append("orphan is not set aside"))
# a cycle whose answers all broke off leaves a file that no row refers to: nothing is wrong with that
fresh()
import gzip
half = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"
response = lambda more: gzip.compress(b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: http://a.example/\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n" % (more, len(half), half))
broken = first().replace("-00000-", "-00088-")
for text, want in ((response(b"WARC-Truncated: disconnect\r\n"), 0), (response(b"WARC-Truncated: disconnect\r\n") + response(b""), 1)):
    open(broken, "wb").write(text)
    rc, r = run()
    if rc != want or r["found"]["orphan"]["wrong"] != want: wrong.append(("only what broke off", want, rc, r["findings"]))
case("past the end", lambda: sql("UPDATE captures SET offset = 99999999 WHERE id = 3"), "record")
case("middle", lambda: sql("UPDATE captures SET offset = offset + 7 WHERE id = 3"), "record")
case("another record", lambda: sql("UPDATE captures SET offset = (SELECT offset FROM captures WHERE id = 2), size = (SELECT size FROM captures WHERE id = 2) WHERE id = 3"), "record")
case("size", lambda: sql("UPDATE captures SET size = size + 1 WHERE id = 4"), "record")
case("digest", lambda: sql("UPDATE captures SET digest = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' WHERE id = 3"), "record")
case("newest copy", lambda: sql("UPDATE pages SET capture = 999 WHERE id = 2"), "reference", after=aside('"capture":999'))
case("newest copy of another", lambda: sql("UPDATE pages SET capture = (SELECT capture FROM pages WHERE id = 3) WHERE id = 2"), "reference")
case("page of a visit", lambda: sql("UPDATE visits SET page = 4000 WHERE id = (SELECT min(id) FROM visits)"), "table", after=aside('"4000"'))
case("page of a capture", lambda: sql("UPDATE captures SET page = 4000 WHERE id = 3"), "table", after=aside('"table":"captures"'), lost=False)
case("capture of a visit", lambda: sql("UPDATE visits SET capture = (SELECT capture FROM visits WHERE page = 1 AND capture > 0 LIMIT 1) WHERE id = (SELECT min(id) FROM visits WHERE page = 0)"), "reference", mends=False)
case("a capture is gone", lambda: sql("DELETE FROM captures WHERE id = 3"), "reference")
case("a cycle is gone", lambda: sql("DELETE FROM cycles WHERE number = 3"), "reference", mends=False)
case("a page is gone", lambda: sql("DELETE FROM pages WHERE id = 2"), "table", mends=False, lost=False)
case("URL", lambda: sql("UPDATE pages SET url = 'nowhere' WHERE id = 2"), "table", mends=False, lost=False)
case("key of a page", lambda: sql("UPDATE pages SET key = key + 1 WHERE id = 2"), "table")
case("shared text", lambda: sql("UPDATE bodies SET body = body || 'x' WHERE id = 1"), "table", after=aside('"table":"bodies"'))
case("shared text is gone", lambda: sql("DELETE FROM bodies WHERE id = 1"), "table")
case("row of a file", lambda: sql("DELETE FROM files WHERE id = 1"), "table", lost=False)
case("tag", lambda: sql("DELETE FROM tags"), "table")
case("robots.txt", lambda: sql("UPDATE robots SET time = 'x'"), "table", after=aside('"table":"robots"'))
case("setting", lambda: sql("INSERT INTO settings VALUES ('budget', x'00ff')"), "table", mends=False)
case("journal", lambda: open("w/freshet.db-sent", "w").write("what is this\n7 7\n"), "journal",
     after=lambda: os.path.exists("w/freshet.db-sent.aside") or wrong.append("the journal is not set aside"))

def index():
    d = sqlite3.connect("w/freshet.db")
    d.execute("PRAGMA writable_schema = 1")
    d.execute("UPDATE sqlite_schema SET sql = 'CREATE INDEX visits_page ON visits (time)' WHERE name = 'visits_page'")
    d.commit(); d.close()
case("index", index, "table")

def tear():         # pages in the middle of the database
    with open("w/freshet.db", "r+b") as f:
        f.seek(5 * 4096); f.write(b"\xa5" * 3 * 4096)
fresh(); sql("VACUUM"); tear()
r = subprocess.run([freshet, "-C", "w", "check"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
if r.returncode not in (1, 5) or b"Sanitizer" in r.stderr: wrong.append(("torn database", r))

# a cache belongs to the very file that it was written to, so this is done in place
subprocess.run([freshet, "-C", "good", "plan", "--budget", "2", "--policy", "tide"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
cache = "good/freshet.db-memory" if os.path.exists("good/freshet.db-memory") else "good/freshet.db-links"
flip(cache, os.path.getsize(cache) - 20, 3)
r = subprocess.run([freshet, "-C", "good", "check", "--json"], stdout=subprocess.PIPE)
if json.loads(r.stdout)["found"]["cache"]["wrong"] != 1: wrong.append(("cache", r))
r = subprocess.run([freshet, "-C", "good", "check", "--json", "--repair"], stdout=subprocess.PIPE)
if r.returncode or not os.path.exists(cache + ".aside"): wrong.append(("cache", "repair", r))

for w in wrong[:10]: print(*w)
sys.exit(bool(wrong))
PY
python3 damage.py "$FRESHET" || fail "see above"
expect 0 $f -C good check
grep -q '^nothing is wrong$' out || fail "what a check says when all is well"

if [ -n "${FRESHET_TEST_PG:-}" ]; then
	export ON_PG=$FRESHET
	pg=$SRC/tests/lib/on_pg.sh
	make_one "$pg" p
	expect 0 "$pg" -C p check --json
	is '(wrong, lost, read == copies, files)' '(0, 0, True, 3)'
	one=$(ls p/warc/*.warc.gz | head -1)
	cp "$one" kept; cp "$one" "${one/-00000-/-00077-}"
	python3 -c 'import sys; f = open(sys.argv[1], "r+b"); f.seek(700); f.write(b"\0" * 9)' "$one"
	expect 1 "$pg" -C p check --json
	is '(found["orphan"]["wrong"], found["record"]["wrong"] == lost > 0)' '(1, True)'
	expect 0 "$pg" -C p check --repair
	expect 0 "$pg" -C p check --json
	is '(wrong, lost)' '(0, 0)'
	rm "$one"
	expect 1 "$pg" -C p check --json
	is 'found["missing"]["wrong"]' 1
	expect 0 "$pg" -C p check --repair
	expect 0 "$pg" -C p check
fi
