# SPDX-License-Identifier: Apache-2.0
"""A web server on loopback for end-to-end scripts; e2e.sh starts it.

answer(q) says what a request gets: (status, body) or (status, body, headers), headers
a list of pairs beside Content-Length, and Content-Type unless it is text/html.  q is
Python's handler: q.path, q.command, q.headers.  The port is written to the file `port`.
"""
import http.server, os, socketserver, threading


def serve(answer, address="127.0.0.1", *more):
    """More addresses of loopback are more hosts, at the same port."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version, wbufsize = "HTTP/1.1", 1 << 16        # head and body in one packet

        def reply(self):
            status, body, *headers = answer(self)
            headers = headers[0] if headers else []
            self.send_response(status)
            if not any(name == "Content-Type" for name, _ in headers):
                self.send_header("Content-Type", "text/html")
            if status != 304:
                self.send_header("Content-Length", str(len(body)))
            for name, value in headers:
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_GET = do_HEAD = reply

        def log_message(self, *a):
            pass

    class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
        daemon_threads = True

        def handle_error(self, *a):     # who hangs up in the middle is no error
            pass

    server = Server((address, 0), Handler)
    for other in more:
        also = Server((other, server.server_port), Handler)
        threading.Thread(target=also.serve_forever, daemon=True).start()
    with open("port.new", "w") as f:
        f.write(str(server.server_port))
    os.rename("port.new", "port")
    server.serve_forever()


def state():
    """The words of the file `state`, by which a script tells the origin what to do."""
    return open("state").read().split()


def note(line):
    """A line for the script to find in the file `log`."""
    with open("log", "a") as f:
        f.write(line + "\n")
