# SPDX-License-Identifier: Apache-2.0
"""A repository with a history, or a fleet, the web it came from, and `freshet serve` on it."""
import datetime, glob, json, os, pathlib, subprocess, sys, time, urllib.error, urllib.request

HERE = pathlib.Path(__file__).parent
LIMIT = 120                     # seconds for whatever is waited for


def wait_for(what, test):
    end = time.monotonic() + LIMIT
    while not test():
        if time.monotonic() > end:
            raise RuntimeError("in vain waited for " + what)
        time.sleep(0.02)


class Bed:
    options = ()                # of `freshet serve`

    def __init__(self, freshet, folder):
        self.freshet, self.folder, self.server, self.url = freshet, pathlib.Path(folder), None, None
        for name in [n for n in os.environ if n.lower().endswith("_proxy")]:
            del os.environ[name]
        self.folder.mkdir(parents=True, exist_ok=True)
        self.day(0)
        self.web = subprocess.Popen([sys.executable, str(HERE / "web.py")], cwd=self.folder, stdin=subprocess.DEVNULL,
                                    env=dict(os.environ, PYTHONPATH=str(HERE.parent / "lib"), PYTHONDONTWRITEBYTECODE="1"))
        wait_for("the web", (self.folder / "port").exists)
        self.port = (self.folder / "port").read_text()

    def day(self, day, slow=0):
        new = self.folder / "state.new"
        new.write_text("%d %g" % (day, slow))
        new.rename(self.folder / "state")

    def run(self, *words, **more):
        return subprocess.run([self.freshet, "-C", str(self.folder / "repo"), *words], check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more).stdout

    def begin(self, *options):
        import web
        subprocess.run([self.freshet, "init", str(self.folder / "repo"), "--quiet", *options], check=True)
        for key, value in (("contact", "mailto:test@example.org"), ("allow-net", "127.0.0.0/8"), ("delay", "0"), ("confirmations", "1")):
            self.run("set", key, value)
        self.run("import", "-", input="\n".join(web.urls(self.port)) + "\n")

    def history(self, cycles):
        """So many cycles, one a day; the last of them was yesterday."""
        self.begin()
        start = datetime.datetime.now(datetime.timezone.utc)
        for i in range(cycles):
            self.day(i)
            when = start - datetime.timedelta(days=cycles - i)
            self.run("cycle", "--now", when.strftime("%Y-%m-%dT%H:%M:%SZ"), "--budget", "40%" if i else "100%", "--quiet")
        self.day(cycles)

    def serve(self, *options, repo="repo", listen="127.0.0.1:0"):
        self.server = subprocess.Popen([self.freshet, "-C", str(self.folder / repo), "serve", "--listen", listen, *self.options, *options],
                                       stdout=subprocess.PIPE, stderr=open(self.folder / "serve.log", "ab"), stdin=subprocess.DEVNULL, text=True)
        line = self.server.stdout.readline()
        if not line.startswith("serving "):
            raise RuntimeError("freshet serve: " + line + (self.folder / "serve.log").read_text()[-2000:])
        self.url = line.split()[1].rstrip("/")

    def stop_server(self, kill=False):
        if self.server:
            (self.server.kill if kill else self.server.terminate)()
            self.server.wait(LIMIT)
            self.server.stdout.close()
        self.server = None

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=LIMIT) as answer:
            return json.loads(answer.read())

    def post(self, path, lines):
        asked = urllib.request.Request(self.url + path, "\n".join(json.dumps(l) for l in lines).encode())
        with urllib.request.urlopen(asked, timeout=LIMIT) as answer:
            return json.loads(answer.read())

    def close(self):
        self.stop_server()
        self.web.terminate()
        self.web.wait(LIMIT)


class Fleet(Bed):
    """Four shards in a PostgreSQL of its own."""
    options = ("--take", "4")

    def __init__(self, freshet, folder):
        self.server = None
        self.postgres = subprocess.Popen(["bash", str(HERE.parent / "lib/postgres.sh")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.store = self.postgres.stdout.readline().strip()
        if not self.store:
            raise RuntimeError("PostgreSQL did not start")
        super().__init__(freshet, folder)

    def due(self):
        """The next cycle begins now."""
        psql = sorted(glob.glob("/usr/lib/postgresql/*/bin/psql"))[-1]
        subprocess.run([psql, "-qAt", self.store, "-c", "update dash.fleet_cycles set slot = slot - every"], check=True)

    def history(self, cycles):
        self.begin("--store", self.store + "&schema=dash", "--shards", "4")
        for key, value in (("every", "1h"), ("budget", "100%")):
            self.run("set", key, value)
        for i in range(cycles):
            self.day(i)
            if i:
                self.due()
            self.run("work", "--cycles", "1", "--take", "4", "--quiet")
        self.day(cycles)

    def close(self):
        super().close()
        self.postgres.stdin.close()
        self.postgres.wait(LIMIT)
