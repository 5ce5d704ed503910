# SPDX-License-Identifier: Apache-2.0
"""Opens reports in headless Chromium and looks at them as a reader would.

    browse.py CHECK.js REPORT.html... [--shots FOLDER]

Every report is opened light, dark, at phone width and as on paper; check.js runs inside
and returns what is wrong.  Any console message of a warning or worse, any exception and
any request beyond the file itself fails.
"""
import os, pathlib, sys

LIB = pathlib.Path(__file__).parent.parent / "lib"
sys.path.insert(0, str(LIB))
import browser

MODES = [("light", 1280, "light", "screen"), ("dark", 1280, "dark", "screen"),
         ("phone", 360, "light", "screen"), ("tablet", 768, "light", "screen"), ("print", 794, "dark", "print")]


def look(b, path, mode, check, shots):
    name, width, scheme, media = mode
    url = pathlib.Path(path).resolve().as_uri()
    page = b.open(url, width, 900, scheme, media)
    result = page.js(check)
    bad = result["bad"] + page.complaints(lambda asked: asked == url)
    if shots:
        page.shot(pathlib.Path(shots) / (pathlib.Path(path).stem + "-" + name + ".png"))
    page.close()
    return result, bad


def main():
    args = sys.argv[1:]
    shots = None
    if "--shots" in args:
        i = args.index("--shots")
        shots = args[i + 1]
        os.makedirs(shots, exist_ok=True)
        del args[i:i + 2]
    check = (LIB / "look.js").read_text() + pathlib.Path(args[0]).read_text()
    failed = 0
    with browser.run() as b:
        for path in args[1:]:
            for mode in MODES:
                result, bad = look(b, path, mode, check, shots)
                print("%-7s %-24s %-10s %2d charts %3d tables, smallest text %g px, contrast %.1f" %
                      ("FAILED" if bad else "ok", pathlib.Path(path).name, mode[0], result["charts"],
                       result["tables"], result["smallest"], result["contrast"]))
                for line in bad:
                    print("        " + line)
                failed += bool(bad)
    sys.exit(1 if failed else 0)


main()
