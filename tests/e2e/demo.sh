# The demo, short: a living web on loopback, every policy with the same requests,
# nothing left behind.
set -eu
cd "$TMP"
before=$(ls -d /tmp/freshet-demo-* 2>/dev/null | wc -l)
"$FRESHET" demo --cycles 6 --json >out
python3 - <<'P'
import json
d = json.load(open("out")); runs = {r["policy"]: r for r in d["runs"]}
assert d["schema"] == "freshet.demo/1" and d["pages"] > 100
assert {"random", "round-robin", "automaton", "tide"} <= set(runs), runs
n = [r["downloads"] for r in runs.values()]
assert min(n) > 100 and max(n) <= 6 * (d["pages"] * 6 // 100 + 1), n      # nobody spends more
assert all(0 < r["freshness"] <= 1 for r in runs.values())
P
[ "$(ls -d /tmp/freshet-demo-* 2>/dev/null | wc -l)" = "$before" ]
