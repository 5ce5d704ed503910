#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A fetcher for `freshet cycle --fetcher`: pages as a browser shows them.

    freshet -C crawl cycle --budget 500 --fetcher examples/fetcher-chromium.py --fetcher-for app.example.org

One Chromium without a screen serves page after page. What is kept is the document after its
scripts ran. Chromium's traffic goes through Freshet's proxy, which asks the gate about every
address. Chromium's own sandbox is on; root has none, so run it as another user.

docs/neighbours.md has the protocol; Debian's chromium is all that it needs.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SETTLE = 0.5            # seconds without a request before a page counts as loaded
FLAGS = ["--headless=new", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--disable-extensions",
         "--disable-default-apps", "--proxy-bypass-list=<-loopback>", "--remote-debugging-pipe"]


class Gone(Exception):
    """Chromium has ended."""


class Chromium:
    """Speaks the DevTools protocol over a pipe: JSON with a zero byte behind each message."""

    def __init__(self, proxy):
        self.folder, self.number, self.rest, self.events = tempfile.mkdtemp(), 0, b"", []
        to_it, self.out = os.pipe()
        self.inn, from_it = os.pipe()
        flags = FLAGS + [f"--proxy-server={proxy}", f"--user-data-dir={self.folder}"]
        if os.getuid() == 0:
            flags.append("--no-sandbox")

        def pipes():                    # Chromium reads from 3 and writes to 4
            a, b = os.dup(to_it), os.dup(from_it)
            os.dup2(a, 3)
            os.dup2(b, 4)
        self.process = subprocess.Popen(["chromium", *flags], preexec_fn=pipes, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True,
                                        env={**os.environ, "TMPDIR": self.folder, "HOME": self.folder})
        os.close(to_it)
        os.close(from_it)
        os.set_blocking(self.inn, False)

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.out)
        os.close(self.inn)
        shutil.rmtree(self.folder, ignore_errors=True)

    def read(self, until):
        """The next message, or None when the time is over."""
        while b"\0" not in self.rest:
            if time.monotonic() >= until:
                return None
            try:
                data = os.read(self.inn, 1 << 16)
                if not data:
                    raise Gone
                self.rest += data
            except BlockingIOError:
                time.sleep(0.01)
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, until, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read(until)
            if answer is None:
                raise TimeoutError(method)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(answer["error"].get("message", "no reason"))
                return answer["result"]
            self.events.append(answer)

    def visit(self, url, until, headers):
        """Status, headers, document and number of requests of a page."""
        target = self.call("Target.createTarget", until, url="about:blank")["targetId"]
        try:
            session = self.call("Target.attachToTarget", until, targetId=target, flatten=True)["sessionId"]
            for domain in ("Network.enable", "Page.enable"):
                self.call(domain, until, session)
            self.call("Network.setCacheDisabled", until, session, cacheDisabled=True)
            self.call("Network.setUserAgentOverride", until, session, userAgent=headers.get("user-agent", "freshet"))
            self.events.clear()
            moved = self.call("Page.navigate", until, session, url=url)
            if moved.get("errorText"):
                raise ConnectionError(moved["errorText"])
            return self.wait_for_page(session, moved["frameId"], until)
        finally:
            self.call("Target.closeTarget", time.monotonic() + 5, targetId=target)

    def wait_for_page(self, session, frame, until):
        response, requests, open_requests, loaded, quiet = None, 0, set(), False, time.monotonic()
        while time.monotonic() < until:
            event = self.events.pop(0) if self.events else self.read(min(until, time.monotonic() + 0.1))
            if event is None:
                if loaded and not open_requests and time.monotonic() - quiet > SETTLE:
                    break
                continue
            params, method = event.get("params", {}), event.get("method")
            if method == "Network.requestWillBeSent":
                requests += 1
                open_requests.add(params["requestId"])
                quiet = time.monotonic()
            elif method in ("Network.loadingFinished", "Network.loadingFailed"):
                open_requests.discard(params["requestId"])
                quiet = time.monotonic()
            elif method == "Network.responseReceived" and params["type"] == "Document" and params["frameId"] == frame:
                response = params["response"]
            elif method == "Page.loadEventFired":
                loaded, quiet = True, time.monotonic()
        if response is None:
            raise TimeoutError("no answer")
        page = self.call("Runtime.evaluate", time.monotonic() + 10, session, returnByValue=True,
                         expression="'<!DOCTYPE html>' + document.documentElement.outerHTML")
        return response, page["result"]["value"].encode("utf-8", "replace"), requests


def answer(response, body, requests, most):
    """As HTTP has it. The kept document is UTF-8, whatever the page was sent in."""
    lines = [f"HTTP/1.1 {response['status']} ."]
    for name, value in response["headers"].items():
        if name.lower() not in ("content-length", "content-encoding", "transfer-encoding", "content-type"):
            lines += [f"{name}: {' '.join(v.split())}" for v in value.split("\n")]
    lines += ["Content-Type: text/html; charset=utf-8", f"Content-Length: {len(body[:most])}",
              f"Freshet-Requests: {max(requests, 1)}", "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace") + body[:most]


def read_request(stream):
    """URL and headers of a request; None: there are no more."""
    line = stream.readline()
    if not line:
        return None
    headers = {}
    for header in iter(lambda: stream.readline().strip(), b""):
        name, _, value = header.decode("utf-8", "replace").partition(":")
        headers[name.lower()] = value.strip()
    return line.decode().split(" ")[1], headers


def main():
    browser = None
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        while True:
            request = read_request(sys.stdin.buffer)
            if request is None:
                return
            url, headers = request
            until = time.monotonic() + max(1, float(headers["freshet-seconds"]) - 2)
            try:
                browser = browser or Chromium(headers["freshet-proxy"])
                out = answer(*browser.visit(url, until, headers), int(headers["freshet-max-body"]))
            except TimeoutError as e:
                out = f"ERROR timeout {e}\n".encode()
            except (ConnectionError, RuntimeError) as e:
                out = f"ERROR connect {e}\n".encode()
            except (Gone, BrokenPipeError):
                browser.close()
                browser, out = None, b"ERROR other Chromium has ended\n"
            sys.stdout.buffer.write(out)
            sys.stdout.buffer.flush()
    finally:
        if browser:
            browser.close()


if __name__ == "__main__":
    main()
