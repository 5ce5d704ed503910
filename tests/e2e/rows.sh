#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A store that somebody else wrote to.  Every column of every table (as the database lists
# them, so a new one is tested at once) gets values that make no sense; whatever reads the
# store then ends with an exit status of its own, with 5 and a message where it met the row,
# and never by a signal.  Under ASan and UBSan, nothing is reported.
#
# Each column gets a value of three kinds out of five, other ones than the next column, and each
# value meets one command, another for the next; ROWS=values: all values of each kind, ROWS=all: each with all commands (hours).
. "$SRC/tests/lib/e2e.sh"

cat > web.py <<'PY'
from origin import *
def answer(q):
    path, n = q.path, len(state())
    if path == "/robots.txt": return 200, b"User-agent: *\nDisallow: /no\nSitemap: %s/map.xml\n" % url
    if path == "/map.xml":
        return 200, b"<urlset>" + b"".join(b"<url><loc>%s/%d</loc><lastmod>2023-01-0%d</lastmod></url>" % (url, i, i) for i in range(1, 8)) + b"</urlset>"
    if path == "/3" and n > 1: return 404, b"gone"
    if path == "/4": return 302, b"", [("Location", "/5")]
    body = "<title>Page %s</title><p>Words of page %s, seen %s times: apples, pears and plums." % (path, path, n if path in ("/1", "/2") else 1)
    return 200, (body + "".join("<a href=/%d>%d</a>" % (i, i) for i in range(1, 8))).encode(), [("ETag", '"%d"' % n)]
url = b"http://127.0.0.1:%d"
import http.server
old = http.server.HTTPServer.server_bind
def bind(self):
    global url
    old(self); url = url % self.server_address[1]
http.server.HTTPServer.server_bind = bind
serve(answer)
PY
echo one > state
start_origin web.py

"$FRESHET" init good 2> /dev/null
"$FRESHET" -C good set contact mailto:test@example.org
for i in 1 2 3 4 no; do echo "$url/$i"; done > urls
"$FRESHET" -C good import urls > /dev/null
web="--delay 0 --allow-net 127.0.0.1/32"
"$FRESHET" -C good cycle --budget 20 $web --words yes --discover 30% --now 20230110 > /dev/null 2>&1
echo one two > state
"$FRESHET" -C good cycle --budget 20 $web --words yes --discover 30% --now 20230111 > /dev/null 2>&1
"$FRESHET" -C good cycle --budget 20 $web --words yes --now 20230112 --confirmations 1 > /dev/null 2>&1
"$FRESHET" -C good live --budget 20 $web > /dev/null 2>&1
"$FRESHET" -C good set budget 3 2> /dev/null
"$FRESHET" -C good tag fruit "$url/1" "$url/2" > /dev/null
"$FRESHET" -C good pause "$url/2" > /dev/null
"$FRESHET" -C good remove "$url/4" > /dev/null
cp -r good w

cat > nasty.py <<'PY'
import os, shutil, sqlite3, subprocess, sys
freshet, url, how = sys.argv[1], sys.argv[2], os.environ.get("ROWS", "some")
kinds = [[None, b"", b"\xff\xfe\x00"], [-1, -2**62 - 5, 2**31, 2**32, 2**62], [0, 1, 7, 1000, 1.5, 1e300],
         ["", "\x1b[31mred", "a\0b", "9" * 30, "x" * 70000, "1:4294967295 4294967295:1 9:9:9", "2023"],
         ["http://a", "http://a.example", "https://[::1", "http://:99999999999/x", "http://a.example/", "http://a.example/\xe9\x9b"]]
page = url + "/1"
web = "--delay 0 --allow-net 127.0.0.1/32"
commands = [c.split() for c in ("""status
check
status --sites --json
log --visits
log --json --cycle 1 --skipped
show PAGE
show PAGE --json
show PAGE --features
explain PAGE
plan --budget 3
plan --budget 3 --policy cluster --json
plan --budget 3 --policy neighbour:by=link
diff PAGE
search apples --json
search apples pears
cluster
rank
export pages
export changed
export visits
export cdxj --extended
export warc -o made
get
tag
tag more --tag fruit
pause --tag fruit
remove --undo --match *
report w --out made.html
replay w --cycle 1d --policy random,tide --seeds 1
replay w --logged
tell told
add http://new.example/
import list
cycle --budget 5 --discover 20% --now 20230120 --json """ + web + """
live --budget 5 --again """ + web).split("\n")]
open("told", "w").write('{"url":"%s","outcome":"changed","digest":"sha1:X"}\n' % page)
open("list", "w").write(page + "\n" + url + "/77\n")

def put_back(db):
    for name in os.listdir("w"):
        if name.startswith("freshet.db"): os.unlink("w/" + name)
    shutil.copy(db, "w/freshet.db")

def run(command):
    line = [freshet] + (["-C", "w"] if "w" not in command else []) + [page if w == "PAGE" else w for w in command]
    return subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)

def spoil(table, key, column, value, one):
    """False: the table does not take it."""
    db = sqlite3.connect("w/freshet.db")
    only = " WHERE %s = (SELECT min(%s) FROM %s)" % (key, key, table) if one else ""
    try:
        db.execute("UPDATE OR IGNORE %s SET %s = ?%s" % (table, column, only), (value,))
        db.commit()
        return True
    except sqlite3.Error:
        return False
    finally:
        db.close()

for c in commands:      # with nothing spoilt, each of them works
    put_back("good/freshet.db")
    r = run(c)
    assert r.returncode == 0 or c == "replay w --logged".split(), (c, r)
db = sqlite3.connect("good/freshet.db")
if not db.execute("SELECT count(*) FROM leases").fetchone()[0]:   # no other crawler has a page
    db.execute("INSERT INTO leases (cycle, place, page, client, since, until, requests, event, state, reason) VALUES (1, 1, 0, 'c', 1, 2, 1, 0, 0, 0)")
    db.commit()
tables = [r[0] for r in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")]
for t in tables: assert db.execute("SELECT count(*) FROM " + t).fetchone()[0], "nothing to spoil in " + t
columns = [(t, next(c[1] for c in db.execute("PRAGMA table_info(%s)" % t) if c[5]), r[1]) for t in tables for r in db.execute("PRAGMA table_info(%s)" % t)]
db.close()
wrong, refusals, runs, nth = [], 0, 0, 0
for k, (table, key, column) in enumerate(columns):
    for kind in [kinds[(k + i) % 5] for i in range(3)] if how == "some" else kinds:
        for value in [kind[k // 5 % len(kind)]] if how == "some" else kind:
            nth += 1
            put_back("good/freshet.db")
            if not spoil(table, key, column, value, nth % 3): continue
            shutil.copy("w/freshet.db", "spoilt.db")
            for c in commands if how == "all" else [commands[nth * 7 % len(commands)]]:
                put_back("spoilt.db")
                r = run(c)
                runs += 1
                said = r.stderr.decode(errors="replace")
                # 1: diff has nothing to compare, check has found something; 4: cycle finds nothing to ask; 2 and 3: a setting, or a file, that is not
                usual = {"diff": (0, 1, 2, 3, 5), "check": (0, 1, 3, 5), "cycle": (0, 2, 3, 4, 5), "live": (0, 2, 3, 4, 5)}.get(c[0], (0, 2, 3, 5))
                fine = r.returncode in usual and "Sanitizer" not in said and "runtime error" not in said
                if fine and r.returncode == 5:
                    refusals += 1
                    fine = "table " in said and "row " in said and "column " in said
                if not fine: wrong.append((table, column, repr(value)[:40], " ".join(c), r.returncode, said[-int(os.environ.get("TAIL", 600)):]))
# `check` finds what no other command happens to look at
for table, key, column in (("hints", "site", "checks"), ("robots", "origin", "time"), ("words", "id", "word"), ("captures", "id", "target"), ("settings", "key", "value")):
    put_back("good/freshet.db")
    assert spoil(table, key, column, b"\xff", True)
    r = run(["check"])
    if r.returncode != 1 or b"table " + table.encode() not in r.stdout or b"column " + column.encode() not in r.stdout: wrong.append((table, column, r))
for w in wrong[:20]: print(*w)
print("%d columns, %d runs, %d of them refused a row, %d wrong" % (len(columns), runs, refusals, len(wrong)))
sys.exit(bool(wrong) or refusals < len(columns) / 2)
PY
python3 nasty.py "$FRESHET" "$url"
