#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# The tuning tool's experiment, live and small: every slot is one visit, the table
# and the play by play agree with it.
. "$SRC/tests/lib/e2e.sh"
"$SRC/scripts/trial-automaton" --freshet "$FRESHET" --slots 6 --repetitions 1 >out
grep -q '^automaton:unit=site,states=60, 6 slots, 1 repetitions' out
grep -q '^round-robin, 6 slots' out
python3 - <<'P'
import re
text = open("out").read().split("round-robin")
for part in text:
    visits = [float(x) for x in re.findall(r"visits +([0-9.]+)", part)]
    assert len(visits) == 3 and 1 <= sum(visits) <= 6, part
p = [float(x) for x in re.findall(r"probability +([0-9.]+)", text[0])]
assert len(p) == 3 and all(0 < x <= 1 for x in p), text[0]
P
