#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# freshet doctor: what is wrong is found, what is right is not blamed, nothing is changed.
. "$SRC/tests/lib/e2e.sh"
verdict() { field "' '.join(c['verdict'] for c in r['checks'] if c['check'] == '$1')"; }
has() { [ "$(verdict "$1")" = "$2" ] || fail "$1 is $(verdict "$1"), wanted $2"; }

# no repository: the machine alone
expect 0 $f doctor --json; has store advice; has versions good; has clock good
[ "$(field "set(r) >= {'schema', 'checks', 'good', 'advice', 'wrong'}")" = True ] || fail keys
python3 - <<'P' || fail "the versions are not those of the libraries"
import json, subprocess
said = next(c["found"] for c in json.load(open("out"))["checks"] if c["check"] == "versions")
curl = subprocess.run(["pkg-config", "--modversion", "libcurl"], capture_output=True, text=True).stdout.strip()
assert "libcurl " + curl in said, said
P
expect 1 $f -C nowhere doctor; grep -q 'freshet init' out || fail "no advice"

# a healthy one
$f init r >/dev/null; $f -C r add http://localhost/a http://127.0.0.1/b >/dev/null; $f -C r set contact mailto:me@example.org
find r | sort >before
expect 0 $f -C r doctor --json
for c in contact permissions work; do has $c good; done; has store good; has names good; is wrong 0
find r | sort | cmp - before || fail "doctor changed the repository"

# a host that does not exist; a contact is missing
$f -C r add http://no-such-host.invalid/ >/dev/null; $f -C r set contact
expect 0 $f -C r doctor --json; has contact advice; has names "advice good"

# somebody at work
flock --no-fork r/freshet.db-lock sleep 60 & holder=$!; trap 'kill $holder 2>/dev/null || :' EXIT
for i in $(seq 100); do flock -n r/freshet.db-lock true || break; sleep 0.02; done
expect 0 $f -C r doctor; grep -q 'at work on this' out; if grep -q 'nobody is' out; then fail "the lock was not seen"; fi
kill $holder; wait $holder 2>/dev/null || :
touch r/warc/x.warc.gz.open; expect 0 $f -C r doctor --json; has work advice; rm r/warc/x.warc.gz.open

# damage: tables, folder, clock, limits, certificates
chmod o+w r; expect 0 $f -C r doctor --json; has permissions advice; chmod o-w r
cp -r r bad; printf 'garbage garbage garbage garbage' | dd of=bad/freshet.db conv=notrunc status=none
expect 1 $f -C bad doctor --json; has store wrong
cp -r r gone; rmdir gone/warc; expect 1 $f -C gone doctor --json; has permissions wrong
(ulimit -n 64; expect 0 $f -C r doctor --json; has limits advice)
SSL_CERT_FILE=/nowhere.pem expect 1 $f doctor --json; has certificates wrong
if command -v faketime >/dev/null; then expect 1 faketime 2001-01-01 $f doctor --json; has clock wrong; fi
# the last cycle lies in the future
$f -C r plan --policy oldest --budget 1 --format urls >plan
python3 - <<'P'
import sqlite3
c = sqlite3.connect("r/freshet.db"); names = [x[1] for x in c.execute("pragma table_info(cycles)")]
row = {n: 0 for n in names}; row.update(number=1, time=4102444800, policy="oldest")
c.execute("insert into cycles(%s) values(%s)" % (",".join(row), ",".join("?" * len(row))), list(row.values())); c.commit()
P
expect 1 $f -C r doctor --json; has clock "good wrong"
