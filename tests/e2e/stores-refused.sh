#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Servers that cannot be used: status 5 at once, a message that says what to do, never the password.
# A small server that speaks PostgreSQL's protocol plays those that no test has: the name of the
# database says how it refuses.
. "$SRC/tests/lib/e2e.sh"
[ -n "${FRESHET_TEST_PG:-}" ] || { echo "no FRESHET_TEST_PG: scripts/run-tests sets it"; exit 1; }
cat > server.py <<'PY'
import os, socket, struct, sys, threading
def message(kind, body): return kind + struct.pack("!I", len(body) + 4) + body
def status(key, value): return message(b"S", key + b"\0" + value + b"\0")
def error(state, text): return message(b"E", b"SFATAL\0VFATAL\0C" + state + b"\0M" + text + b"\0\0")
def read(s, n):
    data = b""
    while len(data) < n:
        piece = s.recv(n - len(data))
        if not piece: raise EOFError
        data += piece
    return data
def refuse(s):
    try:
        while True:
            size, code = struct.unpack("!II", read(s, 8))
            body = read(s, size - 8)
            if code in (80877103, 80877104): s.sendall(b"N")  # no TLS, no GSS
            else: break
        words = body.split(b"\0")
        name = dict(zip(words[::2], words[1::2])).get(b"database", b"")
        if name == b"password":
            s.sendall(message(b"R", struct.pack("!I", 3)))
            kind, size = struct.unpack("!cI", read(s, 5)); read(s, size - 4)
            s.sendall(error(b"28P01", b'password authentication failed for user "me"'))
        elif name == b"full":           # the password is right, but
            s.sendall(message(b"R", struct.pack("!I", 3)))
            kind, size = struct.unpack("!cI", read(s, 5)); read(s, size - 4)
            s.sendall(message(b"R", struct.pack("!I", 0)) + error(b"53300", b"remaining connection slots are reserved"))
        elif name == b"starting": s.sendall(error(b"57P03", b"the database system is starting up"))
        elif name == b"crowded": s.sendall(error(b"53300", b"sorry, too many clients already"))
        else:
            s.sendall(message(b"R", struct.pack("!I", 0)) + status(b"server_version", b"11.22" if name == b"old" else b"15.1") +
                      status(b"server_encoding", b"LATIN1" if name == b"latin" else b"UTF8") + message(b"Z", b"I"))
            while name == b"empty":     # whatever it asks, nothing is there
                kind, size = struct.unpack("!cI", read(s, 5)); read(s, size - 4)
                s.sendall(message(b"C", b"SELECT 0\0") + message(b"Z", b"I"))
            s.recv(10000)       # whatever it asks, we hang up
    except (EOFError, OSError): pass
    s.close()
listener = socket.socket(socket.AF_UNIX)
listener.bind(".s.PGSQL.5432"); listener.listen(50)
open("ready", "w").close()
while True: threading.Thread(target=refuse, args=(listener.accept()[0],), daemon=True).start()
PY
python3 server.py & server=$!
trap 'kill $server' EXIT
for i in $(seq 1000); do [ -e ready ] && break; sleep 0.02; done
refused() { # database words: status 5, and the message has the words
	expect 5 $f -C r --store "postgresql://me:geheim@/$1?host=$PWD&patience=30" status
	grep -q "$2" err || fail "$1: says nothing of \"$2\""
	if grep -q geheim out err; then fail "$1: a password was printed"; fi
}
refused password 'the password is missing or wrong; ~/.pgpass'
refused password 'no way in for the role me: '
refused full 'remaining connection slots are reserved'
refused old 'PostgreSQL 11 is too old: 12 is the oldest'
refused latin 'encoded in LATIN1: make one with .createdb --encoding UTF8'
refused starting 'the database system is starting up'
refused crowded 'too many clients'
refused hangs-up 'postgresql://'
refused empty 'no repository here'

# a pooler that gives out transactions cannot be used; one that gives out sessions can
pool=e2e_pooled_$$; host=${FRESHET_TEST_PG##*host=}
for mode in transaction session; do
	mkdir $mode; mkfifo $mode/open
	python3 "$SRC/tests/lib/pooler.py" "${host%%&*}" "$PWD/$mode" $mode < $mode/open & exec 7> $mode/open
	for i in $(seq 1000); do [ -e $mode/ready ] && break; sleep 0.02; done
	store="postgresql:///postgres?user=freshet&host=$PWD/$mode&schema=$pool"
	if [ $mode = transaction ]; then
		expect 5 $f init pooled --store "$store"
		grep -q 'set pool_mode = session' err || fail "does not say what is wrong with the pooler"
	else
		expect 0 $f init pooled --store "$store"
		expect 0 $f -C pooled add http://a.example/
	fi
	exec 7>&-
done
psql -qX "$FRESHET_TEST_PG" -c "SET client_min_messages = warning" -c "DROP SCHEMA $pool CASCADE" > sql.out 2>&1 || fail "$(cat sql.out)"

# a server that only reads, as a standby does: what reads works, what writes says where to go
u=e2e_refused_$$
sql() { psql -qX "$FRESHET_TEST_PG" -c "SET client_min_messages = warning" -c "$1" > sql.out 2>&1 || fail "$1: $(cat sql.out)"; }
expect 0 $f init r --store "$FRESHET_TEST_PG&schema=$u"
expect 0 $f -C r add http://a.example/
standby="$FRESHET_TEST_PG&schema=$u&options=-cdefault_transaction_read_only%3Don"
expect 0 $f -C r --store "$standby" export pages
grep -q 'http://a.example/' out || fail "a server that only reads cannot be read"
expect 5 $f -C r --store "$standby" add http://b.example/
grep -q 'this server only reads: name the one that writes, or target_session_attrs=read-write' err || fail "does not say what to do"
expect 5 $f -C r --store "$standby&target_session_attrs=read-write" add http://b.example/
grep -q 'read-only\|read-write\|only reads' err || fail "does not say why no server fits"
# tables that a newer program made, and none any more
sql "UPDATE $u.freshet SET version = 1000"
expect 5 $f -C r status
grep -q 'made by a newer freshet' err || fail "newer tables"
sql "DROP SCHEMA $u CASCADE"
expect 5 $f -C r status
grep -q 'freshet init' err || fail "tables that are gone"
echo ok
