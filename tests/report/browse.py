# SPDX-License-Identifier: Apache-2.0
"""Opens reports in headless Chromium and looks at them as a reader would.

    browse.py CHECK.js REPORT.html... [--shots FOLDER]

Speaks the DevTools protocol over a pipe (file descriptors 3 and 4), so it needs
nothing but Python.  Every report is opened light, dark, at phone width and as on
paper; check.js runs inside and returns what is wrong.  Any console message of a
warning or worse, any exception and any request beyond the file itself fails.
"""
import base64, json, os, pathlib, select, shutil, subprocess, sys, tempfile, time

MODES = [("light", 1280, "light", "screen"), ("dark", 1280, "dark", "screen"),
         ("phone", 360, "light", "screen"), ("print", 794, "dark", "print")]
LIMIT = 60                      # seconds for one answer


class Browser:
    def __init__(self, program, profile):
        to_child, self.out = os.pipe()
        self.inp, from_child = os.pipe()
        def wire():
            a, b = os.dup(to_child), os.dup(from_child)
            os.dup2(a, 3); os.dup2(b, 4)
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking", "--disable-component-update",
             "--disable-extensions", "--hide-scrollbars", "--user-data-dir=" + profile,
             "--remote-debugging-pipe"],
            preexec_fn=wire, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child); os.close(from_child)
        self.buffer, self.n, self.events = b"", 0, []

    def read(self, until):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.inp], [], [], max(0, until - time.monotonic()))
            piece = os.read(self.inp, 1 << 20) if ready else b""
            if not piece:
                raise RuntimeError("chromium does not answer")
            self.buffer += piece
        one, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(one)

    def ask(self, method, session=None, **params):
        self.n += 1
        message = {"id": self.n, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + LIMIT
        while True:
            got = self.read(until)
            if got.get("id") == self.n:
                if "error" in got:
                    raise RuntimeError(method + ": " + got["error"]["message"])
                return got["result"]
            if "method" in got:
                self.events.append(got)

    def wait(self, method):
        until = time.monotonic() + LIMIT
        while not any(e["method"] == method for e in self.events):
            self.events.append(self.read(until))

    def close(self):
        try:
            self.ask("Browser.close")
            self.process.wait(10)
        except (RuntimeError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


def complaints(events, url):
    """What the browser itself had to say."""
    bad = []
    for e in events:
        p = e.get("params", {})
        if e["method"] == "Runtime.exceptionThrown":
            d = p["exceptionDetails"]
            bad.append("exception: " + d.get("exception", {}).get("description", d["text"]))
        elif e["method"] == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            bad.append("console: " + " ".join(str(a.get("value", a.get("description"))) for a in p["args"]))
        elif e["method"] == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            bad.append("log: " + p["entry"]["text"])
        elif e["method"] == "Network.requestWillBeSent":
            asked = p["request"]["url"]
            if asked.split("#")[0] != url and not asked.startswith("data:"):
                bad.append("asks for " + asked)
    return bad


def look(browser, path, mode, check, shots):
    name, width, scheme, media = mode
    url = pathlib.Path(path).resolve().as_uri()
    target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
    s = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network"):
        browser.ask(domain + ".enable", s)
    browser.ask("Emulation.setDeviceMetricsOverride", s, width=width, height=900,
                deviceScaleFactor=1, mobile=width < 500)
    browser.ask("Emulation.setEmulatedMedia", s, media=media,
                features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.events = []
    browser.ask("Page.navigate", s, url=url)
    browser.wait("Page.loadEventFired")
    answer = browser.ask("Runtime.evaluate", s, expression=check, awaitPromise=True, returnByValue=True)
    if "exceptionDetails" in answer:
        raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "check.js"))
    result = answer["result"]["value"]
    bad = result["bad"] + complaints(browser.events, url)
    if shots:
        picture = browser.ask("Page.captureScreenshot", s, format="png", captureBeyondViewport=True)
        where = pathlib.Path(shots) / (pathlib.Path(path).stem + "-" + name + ".png")
        where.write_bytes(base64.b64decode(picture["data"]))
    browser.ask("Target.closeTarget", targetId=target)
    return result, bad


def main():
    args = sys.argv[1:]
    shots = None
    if "--shots" in args:
        i = args.index("--shots")
        shots = args[i + 1]
        os.makedirs(shots, exist_ok=True)
        del args[i:i + 2]
    check = pathlib.Path(args[0]).read_text()
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    failed = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            for path in args[1:]:
                for mode in MODES:
                    result, bad = look(browser, path, mode, check, shots)
                    print("%-7s %-24s %-10s %2d charts %3d tables, smallest text %g px, contrast %.1f" %
                          ("FAILED" if bad else "ok", pathlib.Path(path).name, mode[0], result["charts"],
                           result["tables"], result["smallest"], result["contrast"]))
                    for b in bad:
                        print("        " + b)
                    failed += bool(bad)
        finally:
            browser.close()
    sys.exit(1 if failed else 0)


main()
