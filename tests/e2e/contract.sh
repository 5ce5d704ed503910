#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# What other people's scripts rest on: with --json every command prints one document of its
# schema (or JSON Lines where it says so) and nothing else on standard output, with the keys
# that docs/formats.md names; visits are counted the same way wherever they are counted.
. "$SRC/tests/lib/e2e.sh"

cat > web.py <<'PY'
from origin import *
def answer(q):
    body = b"User-agent: *\nDisallow: /secret\n" if q.path == "/robots.txt" else \
           ("<html><title>%s</title><p>security, version %s</p></html>" % (q.path, open("version").read())).encode()
    if q.path == "/moved": return 302, body, [("Location", "/target")]
    return 404 if "dead" in q.path or "freshet" in q.path else 200, body
serve(answer)
PY
echo 1 >version
start_origin web.py
web="--allow-net 127.0.0.0/8 --delay 0 --contact test@example.org"

# json COMMAND KEYS... -- ARGUMENTS: one document (lines=N: N of them) with these keys; all
# are looked at in the end
n=0
json() {
	local name=$1 keys=(); shift
	while [ "$1" != -- ]; do keys+=("$1"); shift; done; shift
	"$FRESHET" "$@" --json >"out.$n" 2>err </dev/null || fail "freshet $* --json: exit $?: $(cat err)"
	printf '%s\t%s\t%s\n' "$name" "${keys[*]}" "$*" >>asked
	n=$((n + 1))
}

json world file sites pages captures -- world w.cdxj.gz --sites 3 --dirs 3 --steps 12
[ "$("$FRESHET" world - --sites 3 --dirs 3 --steps 12 --json | md5sum)" = "$(zcat w.cdxj.gz | md5sum)" ] || fail "world -"
# files as they come: packed, from a pipe, as a folder, all of them one history
mkdir -p folder/within; zcat w.cdxj.gz >w.cdxj; zstd -q w.cdxj -o w.zst
awk 'NR % 2' w.cdxj | gzip >folder/odd.cdxj.gz; awk '1 - NR % 2' w.cdxj >folder/even.cdxj
echo "no archive" >folder/words.txt; cp folder/words.txt folder/within/x.cdxj
"$FRESHET" replay w.cdxj --policy random --seeds 1 --json --no-time >want.json
for from in w.cdxj.gz w.zst - folder/ "folder/even.cdxj folder/odd.cdxj.gz"; do
	"$FRESHET" replay $from --policy random --seeds 1 --json --no-time <w.cdxj.gz >got.json 2>err || fail "replay $from: $(cat err)"
	cmp -s got.json want.json || fail "replay $from is another history"
done
"$FRESHET" init f 2>/dev/null; "$FRESHET" -C f import folder | grep -q "^$(awk '{ print $1 }' w.cdxj | sort -u | wc -l) new pages, $(wc -l <w.cdxj) captures" ||
	fail "import of a folder"
# a WARC from a pipe is known, but its content is nowhere
head=$'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>piped</p>'
printf 'WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\nWARC-Target-URI: http://p.example/\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n' ${#head} "$head" >p.warc
"$FRESHET" init p 2>/dev/null; "$FRESHET" -C p import - <p.warc | grep -q '^1 new page, 1 capture$' || fail "import of a WARC from a pipe"
"$FRESHET" init q 2>/dev/null; "$FRESHET" -C q import <(cat p.warc) >/dev/null
! "$FRESHET" -C q export cdxj | grep -q filename || fail "a pipe by a name is taken for a file"
"$FRESHET" -C p export warc -o p.out --json >out 2>err || fail "export: $(cat err)"
grep -q '"written":0,"without_content":1,"lost":0' out && [ ! -s err ] || fail "export of what came from a pipe: $(cat out err)"
# terms from a pipe: --words says what they count
line='org,example)/a 20240101000000 {"url":"http://example.org/a","status":"200","mime":"text/html","digest":"D","terms":"1:3"}'
printf 'nothing\nsecurity\n' >list.txt; "$FRESHET" init t 2>/dev/null
echo "$line" | "$FRESHET" -C t import - --words list.txt >/dev/null
"$FRESHET" -C t search security | grep -q example.org/a || fail "import --words"

json init repository -- init r
json import pages captures malformed -- -C r import w.cdxj.gz
json add pages known -- -C r add "$url/a" "$url/b" "$url/dead" "$url/moved" "$url/secret"
json set key value -- -C r set budget 5%
json get settings.budget -- -C r get
json get known.name known.help -- -C r get --all
"$FRESHET" get --all | grep -q "^detect  *what counts as a change" || fail "settings mean what they do in a cycle"
[ "$(printf '%s/a\nhttp://u:secret@x/\n' "$url" | "$FRESHET" -C r add - 2>err)" = '0 new pages, 1 known, 1 malformed' ] || fail "add -: $(cat err)"
! grep -q secret err || fail "a password is shown"
json plan time policy explain budget plan.url plan.score plan.probability plan.reason -- -C r plan --budget 3
json replay trace.{pages,repository,sites,captures,start,end} cycle_seconds budget seeds runs.policy \
	runs.mean.{change_ratio,change_ratio_se,change_ratio_cycle,weighted_change_ratio,freshness,age_days,max_unvisited_days} \
	runs.seconds.{plan,total} \
	runs.cycles.{cycle,time,downloads,changed,changed_cycle,change_ratio,weighted_change_ratio,freshness} \
	-- replay w.cdxj.gz --policy random --policy oldest --seeds 2
json replay lines=4 runs -- replay w.cdxj.gz --policy random --seeds 1 --budget 1%,2% --cycle 2w,4w
json cluster clusters -- -C r cluster --k 3
json rank graph.nodes graph.links alive orders pagerank.{iterations,residual,seconds} -- -C r rank
json policies policies.name policies.parameters -- policies
json policies policies.parameters.default -- policies tide
json help commands.name common_options.name -- help
json help options.name options.help common_options examples -- help replay
json help commands -- --help
json help name options -- replay --help
json version version -- --version
json report report verdict -- -C r report --out r.html

# the live web: three cycles, one of them with what changed, and a test of life
rm -rf live; "$FRESHET" init live 2>/dev/null
for p in a b c dead moved secret; do echo "$url/$p"; done >urls
"$FRESHET" -C live import urls >/dev/null
"$FRESHET" -C live plan --budget 1 2>err >/dev/null
grep -q 'auto chose tide: .* 6 pages, how much changes is not known yet; there is no history yet.*links' err
"$FRESHET" -C live set words yes
"$FRESHET" -C live set allow-net 10.0.0.0/8,127.0.0.0/8         # several networks in one setting
web="--delay 0 --contact test@example.org"
cycle="cycle time policy explain budget downloads new changed same gone failed blocked change_ratio seconds.plan seconds.total"
json cycle $cycle -- -C live cycle --budget 100% $web
echo 2 >version
json cycle $cycle -- -C live cycle --budget 100% $web
json cycle lines=2 $cycle -- -C live run --cycles 2 --every 1d --now 2030-01-01 --budget 3 $web
json live policy explain requests alive dead soft_404 estimated_alive cost target -- -C live live $web
json status failing.{n_sites,n_pages} failing.sites.{site,pages,failing,failed,blocked,cause,since,last,times} \
	failing.pages.{url,outcome,cause,since,last,times} -- -C live status --failing
json backup to files copied deleted bytes bytes_copied bytes_tables outside -- -C live backup copied
json restore to read files -- restore copied restored
json check repair findings pages captures visits cycles copies read lost elsewhere files bytes records unused found.record.wrong wrong mended -- -C live check
json show url visits failed blocked failing captures -- -C live show "$url/a"
json show failing.{outcome,cause,since,last,times,because} -- -C live show "$url/secret"
json show features -- -C live show --features "$url/a"
json explain url policy explain budget asked in_next_cycle visits changes failed blocked failing -- -C live explain "$url/a"
[ "$("$FRESHET" -C live explain "$url/c" --budget 1 --json 2>/dev/null | grep -o '"reason":"[a-z]*"')" = \
	"$("$FRESHET" -C live explain "$url/c" --budget 1 --policy tide --json | grep -o '"reason":"[a-z]*"')" ] || fail "explain by auto"
json diff url -- -C live diff "$url/a"
json search results -- -C live search security
json log cycles.cycle cycles.downloads -- -C live log
json log cycles.visits.outcome -- -C live log --visits
json log cycles.visits.outcome skipped.url -- -C live log --cycle 3 --skipped
json status pages sites captures visits cycles -- -C live status
json status pages sites captures visits cycles policy by_site.{site,visits,failed,blocked,updates,probability} -- -C live status --sites
"$FRESHET" -C live plan --budget 3 --format jsonl --policy random >plan.jsonl
sed 's/}$/,"outcome":"same"}/' plan.jsonl >told.jsonl
json export kind file written -- -C live export visits -o visits.jsonl
json export kind file written -- -C live export cdxj -o live.cdxj.gz
[ "$(wc -l <visits.jsonl)" = "$(sed 's/.*"written"://; s/}//' "out.$((n - 2))")" ] || fail "lines written"
json tell cycle told same -- -C live tell told.jsonl
json replay logged.visits runs.refused -- replay live --logged --policy random

python3 - <<'PY'
import json
for n, line in enumerate(open("asked")):
    name, keys, said = line.rstrip("\n").split("\t")
    text, keys, where = open("out.%d" % n).read(), keys.split(), "freshet %s --json: " % said
    assert text.endswith("\n"), where + "no newline at the end"
    if keys and keys[0].startswith("lines="):
        documents = [json.loads(l) for l in text.splitlines()]
        assert len(documents) == int(keys.pop(0)[6:]), where + str(len(documents))
    else:
        documents = [json.loads(text)]
    for d in documents:
        assert d["schema"] == "freshet.%s/1" % name, where + d["schema"]
        for k in keys:
            here = d
            for part in k.split("."):
                here = here[0] if isinstance(here, list) else here
                assert part in here, where + "no %s in %s" % (k, list(here))
                here = here[part]
assert n > 30
PY

# one way to count visits
python3 - "$FRESHET" <<'PY'
import json, subprocess, sys
def ask(*a): return subprocess.run([sys.argv[1], *a], check=True, capture_output=True, text=True).stdout
for r in "live", "r":
    status, sites = json.loads(ask("-C", r, "status", "--json")), json.loads(ask("-C", r, "status", "--sites", "--json"))
    visits = [json.loads(l) for l in ask("-C", r, "export", "visits").splitlines()]
    log = json.loads(ask("-C", r, "log", "--visits", "--json"))["cycles"]
    assert status["visits"] == sites["visits"] == len(visits) == sum(s["visits"] for s in sites["by_site"])
    assert status["visits"] == status["visits_imported"] + status["visits_cycles"] + status["visits_live"]
    assert status["visits_imported"] == sum(v["cycle"] == 0 for v in visits)
    assert status["visits_cycles"] + status["visits_live"] == sum(len(c["visits"]) for c in log)
    for c in log:
        for k in ("new", "changed", "same", "gone", "failed", "blocked"):
            assert c[k] == sum(v["outcome"] == k for v in c["visits"]), (k, c)
    bad = sum(v["outcome"] in ("failed", "blocked") for v in visits)
    assert status["failed"] + status["blocked"] == bad
    for k in "failed", "blocked":
        assert status[k] == sum(s[k] for s in sites["by_site"]) == sum(v["outcome"] == k for v in visits)
    assert all(("cause" in v) == (v["outcome"] in ("failed", "blocked")) for v in visits)
assert status["visits_imported"] > 100 and not log
log = json.loads(ask("-C", "live", "log", "--json"))["cycles"]
assert sum(c["blocked"] for c in log) > 0 and any(c.get("goal") == "alive" for c in log)
assert log[0]["downloads"] > sum(log[0][k] for k in ("new", "failed")), "a redirect is a request more"
logged = json.loads(ask("replay", "live", "--logged", "--policy", "random", "--json"))["logged"]
assert logged["visits"] == sum(sum(c[k] for k in ("new", "changed", "same", "gone", "failed", "blocked"))
                               for c in log if c.get("goal") != "alive")
PY
