# SPDX-License-Identifier: Apache-2.0
"""Failures at every point, and power lost at every point.

  torture.py FRESHET TRACER NOMEM URL fail [EVERY]    system calls and allocations that fail
  torture.py FRESHET TRACER NOMEM URL power [EVERY]   prefixes of what was written, replayed

Runs in an empty folder; URL is a web of tests/torture/web.py.  EVERY=1 tries every point, 50
one in fifty (another one for each command and action).  Prints what it tried; exit status 1 if
something did not survive.

A command runs on a copy of a repository, and one of its calls fails (tests/torture/tracer.c).
Then: it ends with a status of its own, never by a signal unless it was killed or out of memory,
and says why if it fails.  If it says that it worked, it has.  The same command run again
works.  `freshet check` finds nothing wrong.  Every row and copy that was there before is there.

Power: the run is recorded.  A crash after any call leaves, of each file, what was synced and
some of what was not: all of it, none of it, or any part, and names that were not synced may be
there or not (in their order).  From each such folder the repository opens, is whole, and the
command can be run again.  After the command has ended, all of it is there.
"""
import hashlib, json, os, random, resource, shutil, signal, sqlite3, subprocess, sys
freshet, tracer, nomem, url, mode = sys.argv[1:6]
every = int(sys.argv[6]) if len(sys.argv) > 6 else 1
web = ["--contact", "me@example.org", "--allow-net", "127.0.0.0/8", "--delay", "0s", "--connections", "4"]
wrong, tried, by_action = [], 0, {}

def call(*args, **kw):
    # long: a machine that was stopped for minutes is no command that hangs
    try: return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=900, **kw)
    except subprocess.TimeoutExpired: return subprocess.CompletedProcess(args, "hangs", b"", b"")

def run(*args, **kw):
    return call(freshet, *args, **kw)

def good(*args):
    r = run(*args)
    assert r.returncode == 0, (args, r)
    return r

def old_schema(db):
    """The tables as version 6 had them; of a version that this does not know, none at all:
    then all steps are taken, without rows."""
    d = sqlite3.connect(db)
    if d.execute("PRAGMA user_version").fetchone()[0] != 9:
        d.close(); os.unlink(db); open(db, "w").close()
        return
    d.executescript("""DROP INDEX pages_aside; DROP INDEX visits_found; DROP TABLE counts;
        DROP INDEX pages_touched; ALTER TABLE pages DROP COLUMN touched; ALTER TABLE pages DROP COLUMN notifier;
        DROP TABLE care; DROP TABLE tags; DROP TABLE tagged;
        ALTER TABLE pages DROP COLUMN given; ALTER TABLE pages DROP COLUMN care; ALTER TABLE pages DROP COLUMN fails_gone;
        ALTER TABLE cycles DROP COLUMN pages; ALTER TABLE cycles DROP COLUMN owed;
        CREATE TABLE f (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE); INSERT INTO f SELECT id, name FROM files;
        DROP TABLE files; ALTER TABLE f RENAME TO files;
        UPDATE settings SET key = 'state' || substr(key, 7) WHERE key = 'worker.warc';
        UPDATE settings SET key = 'state.past' WHERE key = 'store.past'; PRAGMA user_version = 6;""")
    d.close()

def prepare():
    open("urls", "w").write("".join("%s/%d\n" % (url, i) for i in range(8)))
    good("init", "base"); good("-C", "base", "import", "urls")
    for n in range(3):
        open("state", "w").write(str(n))
        good("-C", "base", "cycle", "--budget", "20", "--policy", "round-robin", "--now", "2026-01-1%dT00:00:00Z" % n, *web)
    open("state", "w").write("9")
    open("told", "w").write("".join('{"url":"%s/%d","outcome":"changed","digest":"sha1:X%d"}\n' % (url, i, i) for i in range(8)))
    open("more", "w").write("".join("http://more.example/%d\n" % i for i in range(300)))
    good("-C", "base", "export", "warc", "-o", "some.warc")
    shutil.copytree("base", "old"); old_schema("old/freshet.db")
    shutil.copytree("base", "asked")
    offers = [json.loads(l) for l in good("-C", "asked", *ask).stdout.splitlines()]
    open("answers", "w").write("".join('{"lease":"%s","outcome":"changed","digest":"sha1:X%d"}\n' % (l["lease"], i) for i, l in enumerate(offers)))
    for folder in ("base", "asked"):
        d = sqlite3.connect(folder + "/freshet.db"); d.execute("PRAGMA wal_checkpoint(TRUNCATE)"); d.close()

def offered(folder):
    """Leases that the tables know."""
    d = sqlite3.connect(folder + "/freshet.db")
    r = {"%d-%d" % l for l in d.execute("SELECT cycle, place FROM leases")}
    d.close()
    return r

def fresh(base):
    shutil.rmtree("w", ignore_errors=True)
    shutil.copytree(base, "w")

def rows(folder):
    """What must not get lost."""
    d = sqlite3.connect(folder + "/freshet.db")
    if not d.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]: return {t: set() for t in ("pages", "captures", "visits")}
    r = {t: set(d.execute("SELECT %s FROM %s" % (c, t))) for t, c in
         (("pages", "id, url, added"), ("captures", "page, time, digest"), ("visits", "id, cycle, page, time, outcome"))}
    d.close()
    return r

ask = ["ask", "--count", "4", "--budget", "6", "--policy", "round-robin", "--now", "2026-01-20T00:00:00Z"]
# name, folder to begin with, command, may rows go?
commands = [
    ("import", "base", ["-C", "w", "import", "more", "some.warc", "--now", "2026-01-20T00:00:00Z"], False),
    ("cycle", "base", ["-C", "w", "cycle", "--budget", "4", "--policy", "round-robin", "--now", "2026-01-20T00:00:00Z"] + web, False),
    ("tell", "base", ["-C", "w", "tell", "told", "--now", "2026-01-20T00:00:00Z"], False),
    ("ask", "base", ["-C", "w"] + ask, False),
    ("answer", "asked", ["-C", "w", "tell", "answers", "--now", "2026-01-20T00:01:00Z"], False),
    ("export", "base", ["-C", "w", "export", "cdxj", "--extended", "-o", "w/out.cdxj"], False),
    ("prune", "base", ["-C", "w", "prune", "--keep-versions", "1", "--now", "2026-01-20T00:00:00Z"], True),
    ("migrate", "old", ["-C", "w", "set", "budget", "3"], False),
    ("backup", "base", ["-C", "w", "backup", "w/copy"], False),
]

def survived(name, what, base, command, shrinks, after, r, killed=False, nomem=False):
    """r: what came of the run that was disturbed."""
    said = r.stderr.decode(errors="replace")
    usual = (0, 1, 2, 3, 4, 5, 130) + ((137,) if killed else ()) + ((134, -6) if nomem else ())
    if r.returncode not in usual: return wrong.append((name, what, "status", r.returncode, said[-300:]))
    if r.returncode not in (0, 137) and not said.strip(): return wrong.append((name, what, "says nothing", r.returncode))
    if r.returncode == 0 and name != "cycle" and rows("w") != after: return wrong.append((name, what, "says that it worked, and has not"))
    if name == "ask":                   # who got an offer can tell what came of it; the budget holds
        got = {json.loads(l)["lease"] for l in r.stdout.splitlines() if l.endswith(b"}")}
        if got - offered("w") or len(offered("w")) > 6: return wrong.append((name, what, "offers", sorted(got), sorted(offered("w"))))
    again = run(*command)
    # tell of what was told is no new outcome; a cycle with nothing left to ask ends so
    if again.returncode not in ((0, 4) if name == "cycle" else (0,)): return wrong.append((name, what, "again", again.returncode, again.stderr.decode(errors="replace")[-300:]))
    c = run("-C", "w", "check", "--json")
    if c.returncode: return wrong.append((name, what, "check", c.returncode, c.stdout.decode()[:600], c.stderr.decode()[-300:]))
    if name == "backup":
        c = run("-C", "w/copy", "check")
        if c.returncode: return wrong.append((name, what, "check of the backup", c.stdout.decode()[:600]))
    now = rows("w")
    for t in now:
        lost = (after if shrinks else base)[t] - now[t]
        if lost: return wrong.append((name, what, "lost of " + t, sorted(lost)[:3]))
    if name in ("import", "prune", "migrate", "export") and now != after: wrong.append((name, what, "another result", {t: sorted(now[t] ^ after[t])[:3] for t in now}))

def undisturbed(folder, command):
    fresh(folder)
    before = rows("w")
    r = call(tracer, "--under", "w", "--count", "points", "--", freshet, *command)
    assert r.returncode == 0, r
    return before, rows("w"), sum(1 for _ in open("points"))

def fail():
    global tried
    rng = random.Random(1)
    for name, folder, command, shrinks in commands:
        before, after, n = undisturbed(folder, command)
        for action in ("EIO", "ENOSPC", "EINTR", "EMFILE", "short", "kill", "ENOSPC --on", "EMFILE --on", "short --on"):
            first = 1 + rng.randrange(every)
            for point in range(first, n + 1, every):
                fresh(folder)
                r = call(tracer, "--under", "w", "--at", str(point), *action.split(), "--", freshet, *command)
                if r.returncode == 99: continue
                tried += 1
                by_action[name, action] = by_action.get((name, action), 0) + 1
                survived(name, "%s at %d" % (action, point), before, command, shrinks, after, r, killed=action == "kill")
        for most in range(3 + rng.randrange(min(every, 20)), 40, min(every, 20)):
            fresh(folder)
            r = run(*command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
            if r.returncode == 127: continue    # the loader needs some itself
            tried += 1
            by_action[name, "files"] = by_action.get((name, "files"), 0) + 1
            survived(name, "%d descriptors" % most, before, command, shrinks, after, r)
        if not nomem or nomem == "-": continue
        # libseccomp makes a broken filter, or hangs, when it has no memory: its allocations are not tried
        plain = command + ["--no-sandbox"]
        fresh(folder)
        env = dict(os.environ, LD_PRELOAD=nomem, NOMEM_COUNT="allocations", OMP_NUM_THREADS="1")
        r = run(*plain, env=env)
        assert r.returncode == 0, r
        n = int(open("allocations").read())
        point = 1 + rng.randrange(max(1, every // 10))
        while point <= n:               # all of the first ones, then ever fewer
            fresh(folder)
            env["NOMEM_AT"] = str(point)
            r = run(*plain, env=env)
            tried += 1
            by_action[name, "memory"] = by_action.get((name, "memory"), 0) + 1
            survived(name, "allocation %d" % point, before, command, shrinks, after, r, nomem=True)
            point += max(1, every * (1 + point // 40))

# ---- power ----

class Disk:
    """A folder as calls change it: what is synced, and what is not yet."""
    def __init__(self, folder):
        self.names, self.files = {}, {}         # path -> inode; inode -> bytes
        self.folders = set()
        for top, dirs, files in os.walk(folder):
            for d in dirs: self.folders.add(os.path.relpath(os.path.join(top, d), folder))
            for f in files:
                p = os.path.join(top, f)
                i = len(self.files)
                self.names[os.path.relpath(p, folder)] = i
                self.files[i] = bytearray(open(p, "rb").read())
        self.now = dict(self.names)             # names as programs see them
        self.steps, self.writes = [], {}        # names not synced, in order; inode -> writes not synced
        self.size = len(self.files)

    def do(self, op):
        p, kind = op.get("path"), op["op"]
        if kind == "create":
            if p in self.now: self.writes.setdefault(self.now[p], []).append(("truncate", 0))
            else:
                self.files[self.size] = bytearray(); self.now[p] = self.size
                self.steps.append(("name", p, self.size)); self.size += 1
        elif kind == "write": self.writes.setdefault(self.now[p], []).append(("write", op["at"], bytes.fromhex(op["data"])))
        elif kind == "truncate": self.writes.setdefault(self.now[p], []).append(("truncate", op["size"]))
        elif kind == "sync":
            if p in self.now:
                i = self.now[p]
                for w in self.writes.pop(i, []): self.apply(self.files[i], w)
                # a file that is synced is there under its name (as file systems of Linux do)
                if i not in self.names.values(): self.settle()
            else: self.settle()                 # a folder
        elif kind == "rename":
            if p not in self.now: return        # a folder of ours: not in these commands
            i = self.now.pop(p); self.now[op["to"]] = i
            self.steps.append(("rename", p, op["to"]))
        elif kind == "unlink":
            if p in self.now: self.now.pop(p); self.steps.append(("unlink", p, None))
        elif kind == "mkdir": self.folders.add(p)

    def settle(self):
        for s in self.steps: self.step(self.names, s)
        self.steps = []

    @staticmethod
    def step(names, s):
        kind, a, b = s
        if kind == "name": names[a] = b
        elif kind == "rename":
            if a in names: names[b] = names.pop(a)
        else: names.pop(a, None)

    @staticmethod
    def apply(data, w):
        if w[0] == "truncate":
            del data[w[1]:]
            data.extend(b"\0" * (w[1] - len(data)))
        else:
            data.extend(b"\0" * (w[1] - len(data)))
            data[w[1]:w[1] + len(w[2])] = w[2]

    def crash(self, to, how, rng):
        """how: all, none, some."""
        shutil.rmtree(to, ignore_errors=True)
        os.mkdir(to)
        for d in sorted(self.folders): os.makedirs(os.path.join(to, d), exist_ok=True)
        names = dict(self.names)
        n = len(self.steps) if how == "all" else 0 if how == "none" else rng.randrange(len(self.steps) + 1)
        for s in self.steps[:n]: self.step(names, s)
        for p, i in names.items():
            data = bytearray(self.files[i])
            for w in self.writes.get(i, []):
                if how == "none" or (how == "some" and rng.random() < 0.5): continue
                if how == "some" and w[0] == "write" and rng.random() < 0.3:     # torn at a sector
                    w = ("write", w[1], w[2][:rng.randrange(0, len(w[2]) + 1, 512)])
                self.apply(data, w)
            open(os.path.join(to, p), "wb").write(data)

def power():
    global tried
    rng, states = random.Random(2), 0
    for name, folder, command, shrinks in commands:
        fresh(folder)
        before = rows("w")
        r = call(tracer, "--under", "w", "--record", "record", "--", freshet, *command)
        assert r.returncode == 0, r
        after, left = rows("w"), {}
        ops = [json.loads(l) for l in open("record")]
        for o in ops:                           # SQLite's index of its log is not kept
            if o.get("path", "").endswith("-shm"): o["op"] = "skip"
        shutil.rmtree("w"); shutil.copytree(folder, "w")
        disk, seen = Disk("w"), set()
        for k, o in enumerate(ops):
            if o["op"] == "end":
                # what was reported done is there: nothing that is not synced is needed for it
                disk.crash("w", "none", rng)
                run("-C", "w", "status")
                now = rows("w")
                if shrinks: lost = {t: now[t] - after[t] for t in ("captures",)}
                else: lost = {t: after[t] - now[t] for t in now}
                if any(lost.values()): wrong.append((name, "reported done, and lost after a power failure", {t: sorted(v)[:3] for t, v in lost.items()}))
            elif o["op"] != "skip": disk.do(o)
            if k % every and o["op"] != "end": continue
            for how in ("none", "all", "some", "some", "some") if every == 1 else ("none", "some"):
                disk.crash("w", how, rng)
                h = hashlib.sha1()
                for top, dirs, files in sorted(os.walk("w")):
                    for f in sorted(files): h.update(f.encode()); h.update(open(os.path.join(top, f), "rb").read())
                if h.digest() in seen: continue
                seen.add(h.digest())
                tried += 1
                by_action[name, how] = by_action.get((name, how), 0) + 1
                what = "power lost after call %d of %d, %s" % (k + 1, len(ops), how)
                c = run("-C", "w", "check", "--json")
                if c.returncode: wrong.append((name, what, "check", c.returncode, c.stdout.decode()[:600], c.stderr.decode()[-300:])); continue
                now = rows("w")
                lost = {t: (after if shrinks else before)[t] - now[t] for t in now}
                if any(lost.values()): wrong.append((name, what, "lost", {t: sorted(v)[:3] for t, v in lost.items()})); continue
                again = run(*command)
                if again.returncode not in ((0, 4) if name == "cycle" else (0,)): wrong.append((name, what, "again", again.returncode, again.stderr.decode()[-300:])); continue
                c = run("-C", "w", "check", "--json")
                if c.returncode: wrong.append((name, what, "check after running again", c.stdout.decode()[:600]))

prepare()
signal.signal(signal.SIGTERM, signal.default_int_handler)       # what was tried so far is said
try: {"fail": fail, "power": power}[mode]()
except KeyboardInterrupt: print("stopped before its end")
for (name, action), n in sorted(by_action.items()): print("%-8s %-12s %d" % (name, action, n))
for w in wrong[:40]: print("WRONG", *w)
print("%s: %d tried, %d did not survive" % (mode, tried, len(wrong)))
sys.exit(bool(wrong) or not tried)
