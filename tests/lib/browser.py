# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, driven over a pipe (the DevTools protocol on file descriptors 3 and 4),
so it needs nothing but Python.

    with browser.run() as b:                    # None: there is no Chromium
        page = b.open(url, width=360, scheme="dark")
        page.until("document.querySelector('h1')")
        bad = page.complaints(allowed)          # what the browser itself had to say
"""
import base64, contextlib, json, os, pathlib, select, shutil, subprocess, tempfile, time

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

    def open(self, url, width=1280, height=900, scheme="light", media="screen"):
        return Page(self, url, width, height, scheme, media)


class Page:
    def __init__(self, browser, url, width, height, scheme, media):
        self.browser, self.url, self.events = browser, url, []
        self.target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.ask("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")
        self.look(width, height, scheme, media)
        browser.events = []
        self.ask("Page.navigate", url=url)
        browser.wait("Page.loadEventFired")

    def ask(self, method, **params):
        return self.browser.ask(method, self.session, **params)

    def look(self, width=1280, height=900, scheme="light", media="screen"):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.ask("Emulation.setEmulatedMedia", media=media, features=[
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}])

    def js(self, expression):
        """The value of an expression; a promise is waited for."""
        answer = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", expression[:200]))
        return answer["result"].get("value")

    def until(self, expression, seconds=LIMIT):
        """Waits until an expression is true."""
        end = time.monotonic() + seconds
        while not self.js("!!(" + expression + ")"):
            if time.monotonic() > end:
                raise RuntimeError("in vain waited for " + expression)
            time.sleep(0.05)

    def key(self, key, code=0, text=None, modifiers=0):
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, modifiers=modifiers,
                     **({"text": text} if text and kind == "keyDown" else {}))

    def shot(self, path, whole=True):
        picture = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        pathlib.Path(path).write_bytes(base64.b64decode(picture["data"]))

    def complaints(self, allowed):
        """Warnings, errors, exceptions, and requests of URLs that allowed() does not allow."""
        bad, self.browser.events = said(self.browser.events, allowed), []
        return bad

    def close(self):
        self.browser.ask("Target.closeTarget", targetId=self.target)


def said(events, allowed):
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
            if not asked.startswith("data:") and not allowed(asked.split("#")[0]):
                bad.append("asks for " + asked)
    return bad


@contextlib.contextmanager
def run():
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        yield None
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            yield browser
        finally:
            browser.close()
