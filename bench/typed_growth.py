#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""typed_growth.py [--visits] FOLDER SIZE SIZE SIZE... - how the time of what a person types grows.

For each size a repository of bench_typed_big in FOLDER/SIZE (made if it is not there): of SIZE
pages with five visits each, or, with --visits, of 100,000 pages with SIZE visits: its age.  The
first report and search count the visits, the second ones find them counted.  Processor time of
each command, and its exponent (growth.py); a command that takes less than 0.05 s at the largest
size has none.  BENCH=folder of the programs, default build/bench."""
import os, re, subprocess, sys

PAGES = 100000
LEAST = 0.05
args = sys.argv[1:]
by_visits = args[:1] == ["--visits"]
args = args[by_visits:]
if len(args) < 4:
    sys.exit(__doc__)
folder, sizes = args[0], sorted(int(a) for a in args[1:])
bench = os.environ.get("BENCH", "build/bench")
here = os.path.dirname(os.path.abspath(__file__))
row = re.compile(r"^(.*?) +[\d.]+ s  processor +([\d.]+) s +(\d+) MiB$")
os.makedirs(folder, exist_ok=True)
times, memory = {}, {}
for size in sizes:
    pages, visits = (PAGES, size) if by_visits else (size, 5 * size)
    out = subprocess.run([f"{bench}/bench_typed_big", str(pages), str(visits), f"{folder}/{size}"],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    count = {}
    for line in out.splitlines():
        m = row.match(line)
        if not m:
            if "FAILED" in line:
                sys.exit(line)
            continue
        count[m[1]] = count.get(m[1], 0) + 1
        name = f"{m[1][:44]} ({count[m[1]]})"
        times.setdefault(name, []).append(float(m[2]))
        memory.setdefault(name, []).append(int(m[3]))
print(f"{'visits' if by_visits else 'pages'}: {', '.join(map(str, sizes))}")
for name, t in times.items():
    said = "too short to fit"
    if len(t) == len(sizes) and t[-1] >= LEAST:
        pairs = [str(x) for p in zip(sizes, [max(x, 0.005) for x in t]) for x in p]
        said = subprocess.run([sys.executable, f"{here}/growth.py", *pairs], text=True,
                              stdout=subprocess.PIPE, check=True).stdout.strip()
    print(f"{name:50} {' '.join(f'{x:.2f}' for x in t)} s, "
          f"{' '.join(map(str, memory[name]))} MiB: {said}")
