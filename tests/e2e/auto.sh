#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# auto is within 2 % of the best that it chooses from in freshness, and under the other aims, which vary more by chance, within 2 % and
# two standard errors: one flat folder, one page a host, a budget near everything, a short history.  `random` is not: the test can fail.  Long form: scripts/results-auto worlds.
. "$SRC/tests/lib/e2e.sh"

"$FRESHET" --quiet world flat.cdxj --seed 3 --sites 1 --dirs 1 --pages 300 --steps 30
"$FRESHET" --quiet world alone.cdxj --seed 3 --sites 150 --dirs 1 --pages 1 --steps 26
"$FRESHET" --quiet world mixed.cdxj --seed 3 --sites 5 --dirs 8 --pages 6 --steps 26
python3 - "$FRESHET" <<'PY' || fail "auto is behind"
import json, math, subprocess, sys
MEASURE = {"freshness": "freshness_time", "changes": "change_ratio", "age": "age_time_days"}
KINDS = {"flat": ["flat.cdxj", "--budget", "20%"], "alone": ["alone.cdxj", "--budget", "20%"],
         "near": ["mixed.cdxj", "--budget", "80%"], "short": ["mixed.cdxj", "--budget", "10%", "--end", "20220301"]}
bad, lost = [], 0
for kind, args in KINDS.items():
    for aim, key in MEASURE.items():
        out = subprocess.run([sys.argv[1], "replay", "--quiet", "--json", "--aim", aim, "--seeds", "2", "--policy",
                              "auto,tide,oldest,random"] + args, stdout=subprocess.PIPE, check=True).stdout
        runs = {r["policy"]: r for r in json.loads(out)["runs"]}
        sign, slack = -1 if aim == "age" else 1, 0 if aim == "freshness" else 2
        score = {p: (sign * r["mean"][key], r["mean"][key + "_se"]) for p, r in runs.items()}
        best = max(score["tide"], score["oldest"])
        behind = lambda p: best[0] - score[p][0] - .02 * abs(best[0]) - slack * math.hypot(best[1], score[p][1])
        lost += behind("random") > 0
        if behind("auto") > 0 or ": " not in runs["auto"]["explain"]:
            bad.append((kind, aim, score, runs["auto"]["explain"]))
print(*bad, sep="\n")
sys.exit(bool(bad) or lost < 6)
PY
