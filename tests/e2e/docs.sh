#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# The documents know what the program knows: every policy has its section with
# every parameter, every command is in the README or a document, links lead somewhere.
. "$SRC/tests/lib/e2e.sh"
cd "$SRC"

"$FRESHET" policies --json >"$TMP/policies.json"
python3 - "$TMP/policies.json" <<'PY'
import json, re, sys
text = open("docs/policies.md").read()
parts = {}
for part in re.split(r"^## ", text, flags=re.M)[1:]:
    for name in part.split("\n", 1)[0].split(", "):
        parts[name] = part
names = json.load(open(sys.argv[1]))["policies"]
assert len(names) > 15
for p in names:
    assert p["name"] in parts, "docs/policies.md: no section of " + p["name"]
    part = parts[p["name"]]
    for o in p.get("parameters", p.get("options", [])):
        key = o.get("key", o.get("name")).replace("_", "-")
        if "`freshet policies %s`" % p["name"] not in part:
            assert re.search(r"`%s[`=]" % re.escape(key), part), "docs/policies.md: %s has no %s" % (p["name"], key)
extra = {n for n in parts if re.fullmatch("[a-z-]+", n)} - {p["name"] for p in names}
assert not extra, "docs/policies.md: sections of nothing: %s" % extra
PY

# figures are small
for svg in docs/results/*.svg; do [ "$(stat -c %s "$svg")" -lt 60000 ] || fail "$svg is large"; done

# the commands of the results are those of today: run on a small world, once, where they are whole
mkdir -p "$TMP/trace" "$TMP/live"
"$FRESHET" world "$TMP/trace/w.cdxj.gz" --sites 4 --dirs 3 --steps 80 --quiet
python3 -c '
for s in range(20):
    for p in range(9): print("http://s%d.example/p%d\t%d\t/p%d" % (s, p, s % 2, (p + 1) % 9))' | gzip >"$TMP/live/x.tsv.gz"
n=0
while IFS='	' read -r doc line; do
	case "$line" in *...*|*sites.warc.gz*|*--search*|*" T "*) continue ;; esac
	line=$(sed "s|[A-Za-z]*/\*\.cdxj\.gz|trace/*.cdxj.gz|; s|DATA/||; s|--svg [^ ]*|--svg svg|; s|--seeds [0-9]*|--seeds 1|; s|  *#.*||; s|^freshet|$FRESHET|" <<<"$line")
	case "$line" in *world.cdxj*) line=${line/world.cdxj/trace/w.cdxj.gz} ;; *crawl*) continue ;; esac
	case "$line" in *paper3*) line="$line --detect bytes" ;; esac          # a world has no tags
	case "$line" in *--seeds*|*"freshet world "*) ;; *) line="$line --seeds 1" ;; esac
	(cd "$TMP" && timeout 60 bash -c "$line" >out 2>err) || fail "$doc: $line: $(tail -3 "$TMP/err")"
	n=$((n + 1))
done < <(python3 - <<'PY'
import glob, re
for doc in sorted(glob.glob("docs/results/*.md")):
    for line in re.sub(r"\\\n *", " ", open(doc).read()).split("\n"):
        if line.startswith("    freshet "):
            print(doc, line.strip(), sep="\t")
PY
)
[ "$n" -gt 8 ] || fail "only $n commands of the results ran"

all=$(cat README.md docs/*.md docs/results/*.md)
"$FRESHET" help | awk '/^  [a-z]/ { print $1 }' | while read -r c; do
	grep -q "\`\?freshet \(-C [a-z]* \)\?$c\b\|\`$c\b" <<<"$all" || fail "no document names freshet $c"
done
