# SPDX-License-Identifier: Apache-2.0
"""play.py FRESHET REPOSITORY FILE.wacz FOLDER-OF-WABAC: ReplayWeb.page's engine (wabac.js, a service
worker) plays every page of a WACZ in headless Chromium; the text on screen must be that of our copy."""
import functools, http.server, json, os, re, shutil, subprocess, sys, tempfile, threading, zipfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import browser


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files, with ranges, as a player wants them."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.translate_path(self.path)
        if not os.path.isfile(path):
            return self.send_error(404)
        data = open(path, "rb").read()
        m = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        first, last = 0, len(data) - 1
        if m and m[1]:
            first, last = int(m[1]), min(int(m[2] or last), last)
        elif m:
            first = max(0, len(data) - int(m[2]))
        self.send_response(206 if m else 200)
        self.send_header("Content-Type", {".js": "text/javascript", ".html": "text/html"}.get(os.path.splitext(path)[1], "application/octet-stream"))
        self.send_header("Accept-Ranges", "bytes")
        if m:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (first, last, len(data)))
        self.send_header("Content-Length", str(last - first + 1))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data[first:last + 1])

    do_HEAD = do_GET

    def log_message(self, *a):
        pass


def main(freshet, repository, wacz, wabac):
    pages = [json.loads(l) for l in zipfile.ZipFile(wacz).read("pages/pages.jsonl").decode().splitlines()][1:]
    with tempfile.TemporaryDirectory() as folder, browser.run() as b:
        assert b, "no chromium"
        shutil.copy(wacz, os.path.join(folder, "x.wacz"))
        shutil.copy(os.path.join(wabac, "dist", "sw.js"), folder)
        with open(os.path.join(folder, "index.html"), "w") as f:
            f.write("<!DOCTYPE html><meta charset=utf-8><title>player</title>")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        origin = "http://127.0.0.1:%d" % server.server_port
        page = b.open(origin + "/index.html")
        page.js("""(async () => {
            await navigator.serviceWorker.register("/sw.js");
            await navigator.serviceWorker.ready;
            if (!navigator.serviceWorker.controller)
                await new Promise(r => navigator.serviceWorker.addEventListener("controllerchange", r, {once: true}));
            const added = new Promise((ok, bad) => navigator.serviceWorker.addEventListener("message", e => {
                if (e.data.msg_type === "collAdded") ok();
                if (e.data.error) bad(new Error(JSON.stringify(e.data)));
            }));
            navigator.serviceWorker.controller.postMessage({msg_type: "addColl", name: "c",
                file: {sourceUrl: location.origin + "/x.wacz"}});
            await added;
        })()""")
        show = """(async (how, what) => {
            const f = document.createElement("iframe");
            const loaded = new Promise(r => f.addEventListener("load", r, {once: true}));
            f[how] = what; document.body.append(f); await loaded;
            const text = f.contentDocument.body.innerText, title = f.contentDocument.title;
            f.remove(); return [title, text];
        })(%s, %s)"""
        for p in pages:
            ours = subprocess.run([freshet, "--quiet", "-C", repository, "cat", p["url"]], stdout=subprocess.PIPE, check=True).stdout
            want = page.js(show % ('"srcdoc"', json.dumps(ours.decode())))
            ts = re.sub(r"\D", "", p["ts"])
            got = page.js(show % ('"src"', json.dumps("/w/c/%smp_/%s" % (ts, p["url"]))))
            assert got == want and len(got[1]) > 10, "%s: played %r, our copy is %r" % (p["url"], got, want)
            assert got[0] == p["title"], (got[0], p["title"])
        print(len(pages), "pages played")


main(*sys.argv[1:])
