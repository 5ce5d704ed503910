#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""growth.py SIZE SECONDS SIZE SECONDS ... - b of seconds = a * size^b by least squares of the
logarithms, and the largest ratio of a measured time to the fitted one."""
import math, sys

v = [float(x) for x in sys.argv[1:]]
if len(v) < 6 or len(v) % 2 or min(v) <= 0:
    sys.exit("growth.py: at least three pairs of a size and its seconds, all above 0")
x, y = [math.log(s) for s in v[::2]], [math.log(t) for t in v[1::2]]
mx, my = sum(x) / len(x), sum(y) / len(y)
b = sum((p - mx) * (q - my) for p, q in zip(x, y)) / sum((p - mx) ** 2 for p in x)
off = max(abs(q - my - b * (p - mx)) for p, q in zip(x, y))
print(f"b = {b:.2f}, a time differs from the fit by up to {math.exp(off):.2f} times")
