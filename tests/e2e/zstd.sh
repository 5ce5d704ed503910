#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Archives as .warc.zst: the first cycle has nothing to learn from and writes no dictionary, the
# second learns one.  zstd's own tool, given the dictionary from the front of the file, decodes all
# of it; Python that knows only the two formats finds every record at the start of a frame.  Reading
# back, comparing, exporting, importing, kill -9 and repair work as with gzip.
. "$SRC/tests/lib/e2e.sh"

N=80
cat > origin_zstd.py <<'PY'
import re
from origin import note, serve, state

def answer(q):
    now = state()
    if q.path == "/robots.txt":
        return 404, b""
    note(q.path)
    k = int(re.sub(r"\D", "", q.path) or 0)
    if now[1] == "hang" and k == 60 and q.command == "GET":
        import time
        time.sleep(600)
    words = " ".join("word%d" % (k * i % 97) for i in range(40))
    turn = now[0] if k % 2 else "0"
    body = ("<html><head><title>Page %d</title></head><body><ul>%s</ul><p>turn %s %s</p></body></html>"
            % (k, "".join("<li><a href='/p%d'>menu entry %d</a></li>" % (i, i) for i in range(12)), turn, words))
    return 200, body.encode()

serve(answer)
PY
echo "1 -" > state
start_origin origin_zstd.py
for i in $(seq $N); do echo "$url/p$i"; done > list
"$f" --quiet init r; "$f" --quiet -C r import list > /dev/null
for s in "contact a@example.org" "delay 0" "compress zstd" "allow-net 127.0.0.0/8"; do
	expect 0 "$f" -C r set $s
done
cycle() { expect 0 "$f" -C r --json cycle --budget 100% --policy random "$@"; }
cycle; is "r['new']" $N
[ ! -e r/warc/dictionary.zstd ] || fail "a dictionary of nothing"
echo "2 -" > state; cycle; is "r['changed']" $((N / 2))
[ -s r/warc/dictionary.zstd ] || fail "no dictionary was learned"
ls r/warc/*.warc.gz 2> /dev/null && fail "gzip though zstd is set"

# the judge: frames, dictionary and records by the text of the two formats
cat > judge.py <<'PY'
import base64, glob, hashlib, json, struct, subprocess, sys
index = [json.loads(l.split(" ", 2)[2]) for l in subprocess.run(
    [sys.argv[1], "--quiet", "-C", "r", "export", "cdxj"], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()]
n = with_dictionary = 0
for name in sorted(glob.glob("r/warc/*.warc.zst")):
    data = open(name, "rb").read()
    rest, dictionary = data, None
    if struct.unpack("<I", data[:4])[0] == 0x184D2A5D:
        size = struct.unpack("<I", data[4:8])[0]
        dictionary, rest, with_dictionary = data[8:8 + size], data[8 + size:], with_dictionary + 1
        if dictionary[:4] == b"\x28\xb5\x2f\xfd":
            dictionary = subprocess.run(["zstd", "-dc"], input=dictionary, stdout=subprocess.PIPE, check=True).stdout
        assert dictionary == open("r/warc/dictionary.zstd", "rb").read()
        open("d", "wb").write(dictionary)

    def unpack(b):
        return subprocess.run(["zstd", "-dcq"] + (["-D", "d"] if dictionary else []), input=b,
                              stdout=subprocess.PIPE, check=True).stdout

    whole, p = unpack(rest), 0
    while p < len(whole):                   # records, by their own lengths
        end = whole.index(b"\r\n\r\n", p)
        head = whole[p:end].decode().split("\r\n")
        assert head[0] == "WARC/1.1", head
        fields = dict(l.split(": ", 1) for l in head[1:])
        block = whole[end + 4:end + 4 + int(fields["Content-Length"])]
        p = end + 4 + len(block) + 4
        assert whole[p - 4:p] == b"\r\n\r\n"
        if fields["WARC-Type"] == "response":
            body = block.split(b"\r\n\r\n", 1)[1]
            assert fields["WARC-Payload-Digest"] == "sha1:" + base64.b32encode(hashlib.sha1(body).digest()).decode()
        n += 1
    for c in [c for c in index if name.endswith(c["filename"])][::9]:
        o, l = int(c["offset"]), int(c["length"])       # one frame, which is one record
        record = unpack(data[o:o + l])
        assert record.startswith(b"WARC/1.1\r\n") and record.count(b"\r\nWARC-Record-ID: ") == 1, c
print(n, with_dictionary)
PY
python3 judge.py "$f" > judged || fail "the judge refuses"
read -r records with < judged
[ "$records" -ge $((N * 3)) ] && [ "$with" = 1 ] || fail "judged: $records records, $with dictionaries"

# read back
"$f" --quiet -C r cat "$url/p3" > got; grep -q "turn 2" got || fail "cat"
"$f" --quiet -C r diff "$url/p3" > got || [ $? = 1 ]; grep -q "turn 2" got || fail "diff"
expect 0 "$f" -C r --json export warc -o out.d; is "r['lost']" 0; is "r['written']" $((N * 2))
zcat out.d/*.warc.gz | grep -ac "^WARC-Type: re[sv]" | grep -qx $((N * 2)) || fail "export warc"
expect 0 "$f" -C r --json export warc --compress zstd -o zst.d; is "r['written']" $((N * 2))
"$f" --quiet init z; expect 0 "$f" -C z --json import zst.d; is "r['captures']" $((N * 2)); is "r['malformed']" 0
[ "$(cat zst.d/* | wc -c)" -lt "$(cat out.d/* | wc -c)" ] || fail "zstd is no smaller than gzip"
"$f" --quiet init s; expect 0 "$f" -C s --json import r/warc; is "r['captures']" $((N * 2)); is "r['malformed']" 0
"$f" --quiet -C r export cdxj | cut -d' ' -f1,2 > a; "$f" --quiet -C s export cdxj | cut -d' ' -f1,2 > b; cmp a b
"$f" --quiet -C s cat "$url/p3" > got2; "$f" --quiet -C r cat "$url/p3" > got; cmp got got2

# kill -9 with pages archived and one that hangs; the next start repairs and goes on
echo "3 hang" > state; : > log
"$f" --quiet -C r cycle --budget 100% --policy random > killed 2>&1 & p=$!
for i in $(seq 1500); do grep -qx /p60 log && break; sleep 0.02; done
for i in $(seq 1500); do ls r/warc/*.open > /dev/null 2>&1 && break; sleep 0.02; done
kill -9 $p; wait $p || true
echo "3 -" > state
cycle; is "r['resumed']" True
ls r/warc/*.open 2> /dev/null && fail "an open file is left"
python3 judge.py "$f" > judged || fail "the judge refuses what was repaired"
expect 0 "$f" -C r check

# a file cut in its last frame: what is whole is read, the rest reported
cp "$(ls r/warc/*.warc.zst | sed -n 2p)" cut.warc.zst; truncate -s -40 cut.warc.zst
"$f" --quiet init t; expect 0 "$f" -C t --json import cut.warc.zst; is "r['malformed']" 1
is "r['captures'] > 50" True

# a dictionary that is none is not used, and said so
echo nonsense > r/warc/dictionary.zstd
code "$f" -C r cycle --budget 1
[ "$rc" != 0 ] && grep -q "dictionary.zstd" err || fail "a bad dictionary"
rm r/warc/dictionary.zstd; "$f" --quiet -C r set compress gzip; cycle
ls r/warc/*.warc.gz > /dev/null || fail "gzip again"
