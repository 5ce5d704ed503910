#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every example of every command (they are the man pages' and --help's) and every
# command of the README is run as it stands, in a folder that has what it names.
#
# example.org is played by a proxy on loopback, with a certificate of its own.  A
# wrapper named freshet adds where that is, and takes less work where an example
# would take minutes: one seed, a small world, a short demo.
#
# Plain only.
. "$SRC/tests/lib/e2e.sh"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout key.pem -out ca.pem \
	-subj /CN=example.org -addext 'subjectAltName=DNS:example.org,DNS:*.example.org' 2>/dev/null ||
	{ echo "no openssl program: skipped"; exit 0; }

cat > origin.py <<'PY'
import http.server, os, socketserver, ssl, time
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); tls.load_cert_chain("ca.pem", "key.pem")
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_CONNECT(self):
        self.send_response(200); self.end_headers()
        self.connection = tls.wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile("rb"); self.wfile = self.connection.makefile("wb", 0)
    def answer(self, body):
        if "/cdx?" in self.path: body = b"com,example)/ 20240101000000 http://example.com/ text/html 200 - - - 5 0 -\n"
        if "robots.txt" in self.path: body = b"User-agent: *\nAllow: /\n"
        self.send_response(404 if "/dead" in self.path else 200); self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body))); self.end_headers()
        if self.command == "GET": self.wfile.write(body)
    def do_GET(self):
        self.answer(("<html><title>t</title><body><h1>security update</h1><p>%s at %d</p></body></html>" %
                     (self.path.replace("http://", ""), time.time() * 1000)).encode())
    do_HEAD = do_GET
    def log_message(self, *a): pass
class S(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    def handle_error(self, *a): pass
s = S(("127.0.0.1", 0), H)
open("port.new", "w").write(str(s.server_port)); os.rename("port.new", "port")
s.serve_forever()
PY
python3 origin.py & origin=$!
trap 'kill $origin' EXIT
for i in $(seq 100); do [ -s port ] && break; sleep 0.1; done
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY no_proxy NO_PROXY || true

mkdir bin
fleet_id=$$
cat > bin/freshet <<EOF2
#!/bin/sh
web="--proxy http://127.0.0.1:$(cat port) --ca-file $TMP/ca.pem --delay 0"
command=
for a; do case "\$a" in cycle|run|live|import|replay|world|demo|rank|serve) command=\$a; break ;; set|get|help|export) break ;; esac; done
case \$command in
cycle|run|live) set -- "\$@" \$web ;;
import) case "\$*" in *cdx+*) set -- "\$@" \$web ;; esac ;;
replay|rank) set -- "\$@" --seeds 1 ;;
world) set -- "\$@" --sites 2 --steps 20 ;;
demo) set -- "\$@" --cycles 5; case "\$*" in *--workers*) set -- "\$@" --workers 1 ;; esac ;;
serve) set -- "\$@" --listen 127.0.0.1:0 ;;
esac
# the database of the examples is the server of the tests, with schemas of this script's own; their
# other disk is the folder at hand
n=\$#
for a; do
	case "\$a" in
	postgresql://*db.example/crawl*) a="\$FRESHET_TEST_PG&schema=examples_\$EXAMPLES_ID" ;;
	postgresql://*db.example/other*) a="\$FRESHET_TEST_PG&schema=other_\$EXAMPLES_ID" ;;
	postgresql://*db.example/fleet*) a="\$FRESHET_TEST_PG&schema=fleet_$fleet_id" ;;
	/mnt/backup/*) a="mnt_\${a##*/}" ;;
	esac
	set -- "\$@" "\$a"
done
shift "\$n"
exec "$FRESHET" "\$@"
EOF2
chmod +x bin/freshet
export PATH="$TMP/bin:$PATH"
if [ -z "${FRESHET_TEST_PG:-}" ]; then      # not begun by scripts/run-tests
	coproc PG { exec "$SRC/tests/lib/postgres.sh"; }
	read -r FRESHET_TEST_PG <&"${PG[0]}"
	export FRESHET_TEST_PG
fi

# what the examples name: an archive, indexes, lists, graphs, outcomes
mkdir -p made/trace made/lists && cd made
python3 - <<'PY'
import gzip, hashlib, json, struct, uuid
pages = ["https://example.org/", "https://example.org/news/", "https://example.org/about.html"] + \
        ["http://www.example.org/%s/%d.html" % (d, i) for d in "ab" for i in range(6)]
with open("site.warc.gz", "wb") as out:
    for k in range(9):                                   # a capture every four weeks
        for n, url in enumerate(pages):
            body = ("<html><title>Page %d</title><body><h1>security update</h1><p>Version %d of %s</p>"
                    "<a href='/news/'>news</a></body></html>" % (n, k // (1 + n % 3), url)).encode()
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body)
            month, day = 1 + k, 1 + n % 20
            out.write(gzip.compress(("WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:%s>\r\n"
                "WARC-Date: 2024-%02d-%02dT00:00:00Z\r\nWARC-Target-URI: %s\r\nContent-Type: application/http;msgtype=response\r\n"
                "Content-Length: %d\r\n\r\n" % (uuid.UUID(int=k * 100 + n), month, 1 if k == 0 else day, url, len(head) + len(body))
                ).encode() + head + body + b"\r\n\r\n"))
lines = "".join(u + "\n" for u in pages).encode()
open("urls.txt", "wb").write(lines)
for name in ("urls.txt.gz", "lists/a.gz", "lists/b.gz"): gzip.open(name, "wb").write(lines)
open("links.txt", "wb").write(lines + b"http://www.example.org/dead/1\n")
gzip.open("links.tsv.gz", "wt").write("".join("%d %d\n" % (a, b) for a in range(20) for b in range(20) if (a * 7 + b) % 5 == 1))
open("old.tsv", "w").write("".join("http://s%d.example/p%d\t%d\t/p%d\n" % (s, p, s % 2, (p + 1) % 9) for s in range(20) for p in range(9)))
open("logins", "w").write("machine example.org login me password secret-12345\n")
open("cookies.txt", "w").write("example.org\tFALSE\t/\tTRUE\t0\tsid\t0123456789abcdef\n")
open("outcomes.jsonl", "w").write("".join(json.dumps({"url": u, "outcome": "changed" if i % 2 else "same"}) + "\n" for i, u in enumerate(pages)))
# a BVGraph without references and intervals: gamma of the degree, zeta_3 of the gaps
def gamma(x): b = bin(x + 1)[2:]; return "0" * (len(b) - 1) + b
def zeta(x):
    x += 1; h = (x.bit_length() - 1) // 3; left = 1 << (3 * h); m, span = x - left, (left << 3) - left
    bits = span.bit_length() if span & (span - 1) else span.bit_length() - 1
    cut = (1 << bits) - span
    return "0" * h + "1" + ("%0*d" % (bits - 1, int(bin(m)[2:])) if m < cut else "%0*d" % (bits, int(bin(m + cut)[2:])))
graph = [[1, 2], [2], [0], [2, 3]]
bits = ""
for v, to in enumerate(graph):
    bits += gamma(len(to))
    for i, t in enumerate(to):
        bits += zeta((2 * (t - v) if t >= v else 2 * (v - t) - 1) if i == 0 else t - to[i - 1] - 1)
bits += "0" * (-len(bits) % 8)
open("cnr-2000.graph", "wb").write(bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8)))
open("cnr-2000.properties", "w").write("graphclass=it.unimi.dsi.webgraph.BVGraph\nversion=0\nnodes=4\narcs=6\nwindowsize=0\n"
    "maxrefcount=0\nminintervallength=0\nzetak=3\ncompressionflags=\n")
PY
chmod 600 logins cookies.txt
freshet init . 2>/dev/null
freshet import site.warc.gz >/dev/null
freshet export cdxj --extended -o archive.cdxj.gz
cp archive.cdxj.gz words.txt trace/
freshet export wacz -o site.wacz >/dev/null
cp "$SRC/fuzz/corpus/heritrix/some" crawl.log; cp "$SRC/fuzz/corpus/nutch/some" nutch-dump
for r in crawl old; do
	freshet init $r 2>/dev/null
	freshet -C $r set contact mailto:test@example.org
	freshet -C $r import site.warc.gz >/dev/null
done
freshet init fleet --store 'postgresql://db.example/fleet' --shards 2 2>/dev/null
for s in "contact mailto:test@example.org" "proxy http://127.0.0.1:$(cat ../port)" "ca-file $TMP/ca.pem" "delay 0" "budget 5" "every 1h"; do freshet -C fleet set $s; done
freshet -C fleet import urls.txt >/dev/null
freshet -C fleet add http://example.net/ >/dev/null; freshet -C fleet pause http://example.net/ >/dev/null   # a shard with two domains, for split
for i in 1 2 3; do freshet -C crawl cycle --budget 5 --now 2024-10-0$i >/dev/null 2>&1; done
freshet -C crawl backup crawl-backup >/dev/null
cd ..

# a BVGraph has no URLs: with them beside it, its nodes are pages and its links theirs
freshet init bv 2>/dev/null
! freshet -C bv import made/cnr-2000 2>err || fail "a BVGraph without URLs was imported"
grep -q 'put made/cnr-2000.urls beside it' err || fail "import of a BVGraph said: $(cat err)"
for i in 0 1 2 3; do echo "http://bv.example/$i"; done | gzip >made/cnr-2000.urls.gz
freshet -C bv import made/cnr-2000.graph | grep -q '^4 new pages' || fail "import of a BVGraph"
freshet -C bv rank --links links.tsv >/dev/null
[ "$(sed 's|http://bv.example/||g' links.tsv | tr '\t\n' '- ')" = "0-1 0-2 1-2 2-0 3-2 " ] || fail "links of a BVGraph: $(cat links.tsv)"
rm made/cnr-2000.urls.gz

waits() { grep -q 'the next cycle is due in' err; }     # there was a cycle just now
run() { # folder, line: as a person would type it, who ends `run` after its first cycle, or when it waits for it, and `serve` when it answers
	local pid
	case "$2" in
	*" run "*|*" serve"*)
		(cd "$1" && exec bash -eo pipefail -c "exec $2") & pid=$!
		for i in $(seq 600); do
			! grep -q '^ *[0-9]\|^serving' out && ! waits && kill -0 $pid 2>/dev/null || break
			sleep 0.05
		done
		kill -INT $pid 2>/dev/null || :
		wait $pid ;;
	*) (cd "$1" && timeout 120 bash -eo pipefail -c "$2") ;;
	esac
}
# PostgreSQL knows nothing of the folder that was made anew
schemas=0
fresh_schema() { schemas=$((schemas + 1)); export EXAMPLES_ID=$$_$schemas; }
check() { # folder, name, line
	local rc=0
	run "$1" "$3" >out 2>err </dev/null || rc=$?
	case "$3" in *" run "*) [ $rc != 130 ] || rc=0 ;; esac
	[ $rc = 0 ] || fail "$2: exit $rc: $3
$(tail -n 5 out err)"
	# live ones must have fetched something: columns five and six are what is new and what changed
	case "$3" in *" cycle "*|*" run "*)
		waits || awk '$1 ~ /^[0-9]+$/ && $5 + $6 > 0 { ok = 1 } END { exit !ok }' out || fail "$2: nothing was fetched: $(cat out err)" ;;
	esac
	! grep -q -i 'usage:\|sanitizer' err || fail "$2: $3: $(cat err)"
	n=$((n + 1))
}

n=0
freshet help | awk '/^  [a-z]/ { print $1 }' >commands
[ "$(wc -l <commands)" -gt 20 ] || fail "commands: $(cat commands)"
while read -r c; do
	freshet help "$c" | sed -n '/^Examples:$/,$p' | sed '1d; s/^ *//; /^$/d' >examples
	[ -s examples ] || fail "$c has no example"
	while read -r line; do
		rm -rf here; cp -r made here; fresh_schema
		[ "$c" != init ] || rm -r here/crawl
		# something to end
		case "$line" in *" end") freshet -C here/crawl ask --count 1 >/dev/null 2>&1 ;; esac
		check here "$c" "${line%%  #*}"
	done <examples
done <commands

# the first steps of the overview, one after the other
freshet help | sed -n '/^First steps:$/,/^$/s/^    //p' >steps
[ "$(wc -l <steps)" -gt 4 ] || fail "first steps: $(cat steps)"
rm -rf here; cp -r made here; rm -r here/crawl
while read -r line; do check here help "${line%%  #*}"; done <steps

# the README, from top to bottom, in one folder with only what a stranger brings
rm -rf here; mkdir here
cp made/{site.warc.gz,archive.cdxj.gz,words.txt,urls.txt,links.txt,outcomes.jsonl} here/
sed -n 's|^    build/freshet |freshet |p' "$SRC/README.md" | sed 's/  *#.*//' >readme
[ "$(wc -l <readme)" -gt 8 ] || fail "README: $(cat readme)"
while read -r line; do
	case "$line" in *" cycle "*) sleep 1 ;; esac    # of a page one capture a second is kept
	check here README "$line"
done <readme

# the guides, each from top to bottom; what is no command of ours stands there for the reader
for doc in "$SRC"/docs/*.md; do
	grep -E '^    (freshet |cp |mv crawl)' "$doc" | sed 's/^ *//; s/  *#.*//' >guide || continue
	rm -rf here; cp -r made here; fresh_schema; cp here/archive.cdxj.gz here/old.cdxj; cp here/site.warc.gz here/site-2.warc.gz; cp here/old.tsv here/crawl.tsv; cp -r "$SRC/examples" here/
	cut -f1 here/old.tsv | sed -n 'p;n' >here/later.txt; rm -rf here/old
	while read -r line; do check here "${doc##*/}" "$line"; done <guide
done
[ "$n" -gt 60 ] || fail "only $n examples"

# the man pages hold every example and every option
mkdir man; freshet help --man-pages man
while read -r c; do
	[ -s "man/freshet-$c.1" ] || fail "no man page of $c"
	grep -q '^.SH EXAMPLES' "man/freshet-$c.1" || fail "$c: a man page without examples"
done <commands
echo "$n examples ran"
