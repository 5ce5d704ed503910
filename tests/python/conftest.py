# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the program, a repository of its own, and a small web that changes."""
import http.server
import os
import subprocess
import threading

import pytest


class Web:
    """Pages /0 to /N; each says its version, with an ETag; what fails, hangs up or is gone is
    set by the test. asked: what was requested, in order."""

    def __init__(self):
        self.version, self.status, self.moved, self.asked = {}, {}, {}, []
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                web.answer(self)

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, q):
        self.asked.append((q.path, q.headers.get("If-None-Match")))
        status, tag = self.status.get(q.path, 200), '"%d"' % self.version.get(q.path, 0)
        body, headers = f"<title>{q.path}</title>version {tag}".encode(), {"ETag": tag}
        if q.path == "/robots.txt":
            status, body = 200, b"User-agent: *\nDisallow: /forbidden\n"
        elif q.path in self.moved:
            status, body, headers = 302, b"", {"Location": self.moved[q.path]}
        elif status == 0:
            q.close_connection = True
            return
        elif status == 200 and q.headers.get("If-None-Match") == tag:
            status, body = 304, b""
        q.send_response(status)
        for name, value in headers.items():
            q.send_header(name, value)
        q.send_header("Content-Type", "text/html")
        q.send_header("Content-Length", str(len(body)))
        q.end_headers()
        q.wfile.write(body)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def web():
    w = Web()
    yield w
    w.close()


@pytest.fixture
def program():
    """Runs the program and returns what it prints."""
    def run(*arguments, **options):
        return subprocess.run([os.environ["FRESHET"], *map(str, arguments)], check=True,
                              stdout=subprocess.PIPE, text=True, timeout=120, **options).stdout
    return run
