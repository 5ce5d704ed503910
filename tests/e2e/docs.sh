#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The documents know what the program knows: every policy has its section with
# every parameter, every command is in the README or a document, links lead somewhere.
set -eu
cd "$SRC"
fail() { echo "docs.sh: $*" >&2; exit 1; }

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

# relative links of the documents lead to files; figures are drawn and small
python3 - <<'PY'
import glob, os, re
for doc in glob.glob("*.md") + glob.glob("docs/**/*.md", recursive=True):
    for to in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", open(doc).read()):
        assert os.path.exists(os.path.join(os.path.dirname(doc), to)), "%s: %s leads nowhere" % (doc, to)
for svg in glob.glob("docs/**/*.svg", recursive=True):
    assert os.path.getsize(svg) < 60000, svg
PY

all=$(cat README.md docs/*.md docs/results/*.md)
"$FRESHET" help | awk '/^  [a-z]/ { print $1 }' | while read -r c; do
	grep -q "\`\?freshet \(-C [a-z]* \)\?$c\b\|\`$c\b" <<<"$all" || fail "no document names freshet $c"
done
