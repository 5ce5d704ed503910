#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Gzip and robots.txt against second readers: a short form of `make fuzz-diff`, without Node.
. "$SRC/tests/lib/e2e.sh"
for seed in 1 2; do
	python3 -B "$SRC/tests/diff/diff.py" "$BUILD/tests/tools/second" --rounds 1500 --seed $seed || fail "seed $seed"
done
