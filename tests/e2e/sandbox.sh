#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# The sandbox: what commands may not do is tried by a library that is loaded into them
# (tests/sandbox/intruder.c); what they must do they do. Where the kernel has no sandbox the
# program says so and works.
. "$SRC/tests/lib/e2e.sh"
mkdir in out.d secret temporary
export TMPDIR=$TMP/temporary HOME=$TMP/home
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -shared -fPIC "$SRC/tests/sandbox/intruder.c" -o intruder.so -ldl || fail "the library"
echo private > secret/file; printf 'http://127.0.0.1:1/a\nhttp://127.0.0.1:1/b\n' > in/urls.txt
expect 0 $f init r; expect 0 $f -C r import in/urls.txt
expect 0 $f doctor --json
in_force=$(field "' '.join(c['verdict'] + ':' + c['found'] for c in r['checks'] if c['check'] == 'sandbox')")
case $in_force in
good:*) ;;
*) echo "no whole sandbox here, the rest is skipped: $in_force"; exit 0 ;;
esac

# --no-sandbox says what is lost, and only then is it off
expect 0 $f --no-sandbox -C r status; grep -q 'write every file' err || fail "what is lost is not said"
expect 0 $f -C r status; if grep -q sandbox err; then fail "a word too much"; fi

python3 - <<'P' & listener=$!
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(100); open("port.new", "w").write(str(s.getsockname()[1]))
import os; os.rename("port.new", "port"); time.sleep(300)
P
trap 'kill $listener 2>/dev/null || :' EXIT
for i in $(seq 500); do [ -s port ] && break; sleep 0.02; done
port=$(cat port)

# tried READ WRITE CONNECT LISTEN command...: what came of each, in this order
tried() {
	local want="read $1 write $2 connect $3 listen $4 fork ENOSYS" got may=$2; shift 4
	rm -f secret/new
	code env LD_PRELOAD="$TMP/intruder.so" INTRUDE="read:$TMP/secret/file write:$TMP/secret/new connect:$port listen fork" "$@"
	got=$(sed -n 's/^\(read\|write\|connect\|listen\|fork\)[^ ]* \([A-Za-z]*\)$/\1 \2/p' err | tr '\n' ' ')
	[ "$got" = "$want " ] || fail "$*: $got, wanted $want"
	[ $rc = 0 ] || [ $rc = 4 ] || fail "$*: exit $rc"  # 4: nothing could be reached
	[ $may = allowed ] || [ ! -e secret/new ] || fail "$*: it was written"
	# a program: it ends
	code env LD_PRELOAD="$TMP/intruder.so" INTRUDE=exec "$@"
	if grep -q 'ran a program' out err; then fail "$*: a program ran"; fi
	[ $rc = 159 ] || fail "$*: exit $rc after execve"
}
$f -C r set contact mailto:me@example.org
# those that compute and read: no network at all
for command in "status" "plan --budget 1" "log" "get" "check" "export pages -o out.d/pages" "prune --keep 1 --dry-run"; do
	tried EACCES EACCES ENOSYS ENOSYS $f -C r $command
done
tried EACCES EACCES ENOSYS ENOSYS $f -C r import in/urls.txt
tried EACCES EACCES ENOSYS ENOSYS $f policies
tried EACCES EACCES ENOSYS ENOSYS $f -C r backup out.d/backup
# those that crawl: they connect, and do not listen
tried EACCES EACCES allowed ENOSYS $f -C r cycle --budget 1 --policy oldest --new
tried EACCES EACCES allowed ENOSYS $f -C r doctor
# the folder of an output may be written, that of an input may be read
tried allowed allowed ENOSYS ENOSYS $f -C r export pages -o secret/pages
cp in/urls.txt secret/urls.txt; tried allowed EACCES ENOSYS ENOSYS $f -C r import secret/urls.txt
# a BVGraph is named by what its files begin with; this one is a page without links
printf 'nodes=1\narcs=0\n' > secret/one.properties; printf '\200' > secret/one.graph
code $f -C r rank secret/one; [ $rc = 0 ] || fail "a BVGraph by its base name: $(cat err)"
tried allowed EACCES ENOSYS ENOSYS $f -C r rank secret/one

# of /etc who connects reads what names and certificates need; a crawl all of it, if the resolver's file is replaced there
other=; for x in /etc/issue /etc/shells /etc/fstab /etc/profile; do [ -r $x ] && [ ! -L $x ] && other=$x && break; done
system() {  # OTHER command...: may a file of /etc be read that nobody needs?
	local want="$1"; shift
	code env LD_PRELOAD="$TMP/intruder.so" INTRUDE="read:/etc/hosts read:$other" "$@"
	got=$(sed -n 's/^read:[^ ]* \([A-Za-z]*\)$/\1/p' err | tr '\n' ' ')
	[ "$got" = "allowed $want " ] || fail "$*: $got of /etc, wanted $want"
}
[ -L /etc/resolv.conf ] && crawls=EACCES || crawls=allowed
if [ -n "$other" ] && [ -r /etc/hosts ] && ! { [ "$crawls" = allowed ] && [ "$(stat -c %d /etc/resolv.conf)" != "$(stat -c %d /etc)" ]; }; then
	system $crawls $f -C r cycle --budget 1 --policy oldest --new
	system EACCES $f -C r import http://127.0.0.1:1/list.warc.gz
fi

# what Landlock does not limit, or only in later versions, the filter of calls does: without Landlock at all, too
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -shared -fPIC "$SRC/tests/sandbox/old_kernel.c" -o old.so -ldl || fail "the library"
python3 -c 'import socket, time; s = socket.socket(socket.AF_UNIX); s.bind("in/local"); s.listen(100); time.sleep(300)' & asked=$!
trap 'kill $listener $asked 2>/dev/null || :' EXIT
for i in $(seq 500); do [ -S in/local ] && break; sleep 0.02; done
beyond() {  # command...
	local want="type ENOSYS chmod ENOSYS own ENOSYS suid ENOSYS cut ENOSYS cut-reading ENOSYS local ENOSYS limit-parent ENOSYS " got lacks
	for lacks in "" "$TMP/old.so"; do
		echo private > r/file; chmod 600 r/file
		code env PAGER= TERM=dumb LACKS=Landlock INTRUDE="type chmod:$TMP/r/file own:$TMP/r/file suid:$TMP/r/file cut:$TMP/r/file cut-reading:$TMP/r/file local:in/local limit-parent" \
			python3 "$SRC/tests/sandbox/at_terminal.py" "$TMP/intruder.so $lacks" "$@"
		got=$(sed -n 's/^\(type\|chmod\|own\|suid\|cut\|cut-reading\|local\|limit-parent\)\(:[^ ]*\)\? \([A-Za-z]*\)$/\1 \3/p' out | tr '\n' ' ')
		[ "$got" = "$want" ] || fail "$*, ${lacks:-with Landlock}: $got, wanted $want"
		[ "$(stat -c %a r/file) $(cat r/file)" = "600 private" ] || fail "$*: the file is another"
	done
}
beyond $f -C r status
beyond $f -C r cycle --budget 1 --policy oldest --new

# a kernel that lacks the one, the other or both: said by doctor, and all works, in cells, too
python3 - <<'P'
import gzip
body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=koi8-r\r\n\r\n<title>page</title>" + "мир".encode("koi8-r")
head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h.example/\r\nWARC-Date: 2024-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:x:1>\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n" % len(body)
open("in/one.warc.gz", "wb").write(gzip.compress(head + body + b"\r\n\r\n"))
P
for lacks in seccomp Landlock "Landlock and seccomp"; do
	export LACKS=$lacks LD_PRELOAD=$TMP/old.so
	rm -rf old; code $f init old; [ $rc = 0 ] || fail "init without $lacks"
	code $f -C old import in/one.warc.gz; [ $rc = 0 ] || fail "import without $lacks: $(cat err)"
	code $f -C old doctor; unset LD_PRELOAD
	grep -q "missing: $lacks" out err || fail "doctor does not say that $lacks lacks"
	grep -q "readers in processes of their own" out err || fail "no cells without $lacks"
done
