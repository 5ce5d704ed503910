#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# Reports: one file that is complete in itself, holds what --json prints, byte for
# byte, keeps hostile names as text, and is there whole or not at all.
. "$SRC/tests/lib/e2e.sh"

cat >look.py <<'P'
"""look.py REPORT [JSON]: parse as a browser would, check, compare the data."""
import base64, hashlib, html.parser, json, re, sys
page = open(sys.argv[1], encoding="utf-8", newline="").read()
class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.open, self.scripts, self.style, self.text, self.verdict = [], None, [], "", "", ""
    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"): self.open = (tag, dict(attrs)); self.scripts += [(dict(attrs), "")] if tag == "script" else []
        if tag == "p": self.in_verdict = dict(attrs).get("class") == "verdict"
    def handle_endtag(self, tag):
        if tag in ("script", "style"): self.open = None
        if tag == "p": self.in_verdict = False
    in_verdict = False
    def handle_data(self, data):
        if self.open and self.open[0] == "script": self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif self.open: self.style += data
        else: self.text += data
        if self.in_verdict: self.verdict += data
r = Reader(); r.feed(page)
assert [s[0].get("type") for s in r.scripts] == ["application/json", None, None], [s[0] for s in r.scripts]
# nothing is fetched: no address in any attribute, no url() in the style, and a policy that forbids it
for tag, attrs in r.tags:
    for key, value in attrs.items():
        assert key not in ("src", "srcset", "action", "onload", "onerror", "onclick", "style"), (tag, attrs)
        assert key != "href" or value.startswith(("data:", "#")), (tag, attrs)
    assert tag not in ("img", "iframe", "object", "embed", "form", "base"), tag
assert "url(" not in r.style and "@import" not in r.style
policy = next(a["content"] for t, a in r.tags if a.get("http-equiv") == "Content-Security-Policy")
assert policy.startswith("default-src 'none'") and "unsafe" not in policy, policy
for text in [s[1] for s in r.scripts[1:]] + [r.style]:          # the hashes are those of what stands there
    assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy
assert "Released under the MIT License" in r.scripts[1][1][:400]
assert r.verdict.strip() and "freshet " in r.text
documents = [json.loads(l) for l in r.scripts[0][1].splitlines()]
if len(sys.argv) > 2:
    inside = r.scripts[0][1].replace("\\u003c", "<").replace("\\u003e", ">").replace("\\u0026", "&")
    assert inside == open(sys.argv[2], encoding="utf-8").read(), "not what --json prints"
print(" ".join(d["schema"] for d in documents))
print(r.verdict.strip())
print(r.text)
P

$f world world.cdxj --sites 5 --dirs 3 --steps 16
$f replay world.cdxj --seeds 2 --no-time --report r.html --json >r.json
python3 look.py r.html r.json >seen; grep -q '^freshet.replay/1$' seen || fail "documents: $(head -1 seen)"
grep -q 'finds the most changes: [0-9.]*[^%]*% of its downloads' seen || fail "verdict: $(sed -n 2p seen)"
grep -q 'freshet replay world.cdxj --seeds 2 --no-time --report r.html --json' seen || fail "command line"
cp r.html again.html; $f replay world.cdxj --seeds 2 --no-time --report r.html --json >/dev/null
cmp -s r.html again.html || fail "equal runs, different reports"
$f replay world.cdxj --seeds 2 --no-time --by-site --report s.html --json >s.json; python3 look.py s.html s.json >/dev/null
$f world wide.cdxj --sites 1200 --dirs 1 --pages 1 --steps 2 --quiet
$f replay wide.cdxj --seeds 1 --policy random --by-site --report wide.html --json >wide.json
grep -q '"more_sites":200' wide.html && ! grep -q more_sites wide.json || fail "sites of a report"
$f replay world.cdxj --seeds 2 --no-time --budget 5%,20% --cycle 2w,4w --policy random --policy tide --report b.html --json >b.json
python3 look.py b.html b.json >seen; [ "$(head -1 seen | wc -w)" = 4 ] || fail "four settings: $(head -1 seen)"
grep -q 'leads in [1-4] of 4 settings' seen || fail "verdict over settings: $(sed -n 2p seen)"
$f replay world.cdxj --seeds 1 --policy random --goal alive --budget 1 --report alive.html >/dev/null; python3 look.py alive.html >/dev/null

# names that try to be markup: nodes of a graph (URLs would be escaped), a file, a query's words
bad='</script><script>alert(1)</script><!--<b>&amp;"'
python3 - "$bad" >'g<i>&.tsv' <<'P'
import sys
for i in range(40): print("s%d.example/%s%d" % (i % 4, sys.argv[1], i), i % 2, "s%d.example/%s%d" % ((i * 3 + 1) % 40 % 4, sys.argv[1], (i * 3 + 1) % 40), sep="\t")
P
$f rank 'g<i>&.tsv' --seeds 2 --top 3 --report rank.html --json >rank.json
grep -q '<script>alert' rank.json || fail "the names are gone: $(head -c 300 rank.json)"
python3 look.py rank.html rank.json >seen; grep -qF "'g<i>&.tsv'" seen || fail "the file's name: $(grep freshet seen)"
grep -q '20 of 40 pages are alive' seen || fail "verdict of rank: $(sed -n 2p seen)"

# a repository of its own, with passwords kept out of the command line
$f init repo 2>/dev/null; $f -C repo import world.cdxj >/dev/null 2>&1
$f report repo --out repo.html --clusters 4 >out; python3 look.py repo.html >seen
[ "$(head -1 seen)" = "freshet.status/1 freshet.log/1 freshet.report/1 freshet.status/1 freshet.cluster/1" ] || fail "documents: $(head -1 seen)"
grep -q '^report: repo.html$' out || fail "says where: $(cat out)"
(cd repo && $f report >/dev/null && python3 ../look.py freshet-report.html >/dev/null)
$f --json -C repo report --report x.html --clusters 0 | grep -q '"schema":"freshet.report/1","report":"x.html"' || fail "report --json"
$f -C repo cluster --k 3 --report cluster.html --json >cluster.json; python3 look.py cluster.html cluster.json >/dev/null
mkdir http:; $f report repo --clusters 0 --out http://me:secret@report.html >/dev/null
grep -q 'me:\*\*\*@report.html' http:/*.html && ! grep -q 'secret' http:/*.html || fail "a password in a report"

# first copies are no changes missed: cycles that only made them are not in the ratio
$f init told 2>/dev/null
tell() { for i in $(seq "$1"); do echo "{\"url\":\"http://a.example/$i\",\"status\":200,\"digest\":\"$2\"}"; done | $f -C told tell - --add --now "$3" >/dev/null; }
tell 40 A 20240101000000; $f report told --clusters 0 --out told.html >out
grep -q '^40 first copies were made. The next cycles look for changes.$' out || fail "first copies: $(cat out)"
tell 10 A 20240102000000; tell 10 B 20240103000000; $f report told --clusters 0 --out told.html >out
grep -q '^40 first copies were made. In 2 cycles since 20 requests found 10 changes: a ChangeRatio of 50.0 %' out ||
	fail "ratio without first copies: $(cat out)"

# whole or not at all: what was there stays, nothing else is left
echo old >keep.html
code $f replay missing.cdxj --report keep.html; [ $rc = 3 ] && [ "$(cat keep.html)" = old ] || fail "a failed replay touched the report"
code $f replay world.cdxj --report nowhere/r.html; [ $rc = 3 ] || fail "unwritable: exit $rc"
grep -q 'report: nowhere/r.html' err && [ ! -s out ] || fail "unwritable said: $(cat err) after $(cat out)"
code $f demo --cycles 5 --report nowhere/r.html; [ $rc = 3 ] || fail "demo, unwritable: exit $rc"
! ls ./*.part >/dev/null 2>&1 || fail "left: $(ls ./*.part)"
