# SPDX-License-Identifier: Apache-2.0
"""Opens the dashboard of a running server in headless Chromium and uses it as people would.

    check.py FRESHET FOLDER [--long] [--only PART] [--axe AXE.js] [--shots FOLDER]

Short: every view on a desk in light and on a phone in dark, every action, the server gone and
back.  Long: every view in every mode, hostile pages one by one, an empty repository, a fleet,
signing in, the keyboard, and axe-core.  A message of the browser, a request to anywhere else, and anything
in the page that is not ours fail.
"""
import argparse, json, pathlib, re, sys, urllib.parse

LIB = pathlib.Path(__file__).parent.parent / "lib"
sys.path[:0] = [str(LIB), str(pathlib.Path(__file__).parent)]
import browser, bed, web

LOOK = (LIB / "look.js").read_text()
SCRIPTS = 14                    # of index.html
MODES = {"desk": (1280, "light"), "phone": (360, "dark"), "dark": (1280, "dark"), "small": (360, "light")}
# view: what must be there when it is drawn
VIEWS = {
    "": ".now .actions button, .now .actions .note; .changes li; .rows; canvas; .big; .links a", "pages": "form.filter; tbody tr; .badge", "pages?state=failing": "tbody tr .badge.c1",
    "pages?q=nothing-like-this": ".empty a", "sites": "tbody tr; canvas", "cycles": "tbody tr; canvas; .now",
    "policies": "form.choices input:checked; .catalogue details", "settings": ".setting-row input; .setting-row select",
    "page/0": ".line-of-time .mark; .sides .plus; .pairs; .links a", "page/nothing": ".trouble",
}
# A refused request is a message of the browser, too: these are asked for.
EXPECTED = {"page/nothing": "404"}


class Looker:
    def __init__(self, b, place, shots=None, axe=None):
        self.browser, self.bed, self.shots, self.axe, self.failed, self.page, self.mode = b, place, shots, axe, 0, None, ""

    def open(self, mode, view=""):
        if self.page:
            self.page.close()
        width, scheme = MODES[mode]
        self.mode = mode
        self.page = self.browser.open(self.bed.url + "/#/" + view, width, 900, scheme)

    def say(self, name, bad):
        self.failed += bool(bad)
        print("%-7s %-7s %s" % ("FAILED" if bad else "ok", self.mode, name), flush=True)
        for line in bad:
            print("        " + str(line)[:400])

    def drawn(self):
        self.page.until("!document.querySelector('main .waiting')")

    def go(self, view):
        self.page.js("location.hash = %r" % ("#/" + view))
        self.page.until("document.querySelector('main').dataset.view === %r" % ("#/" + view))
        self.drawn()

    def complaints(self, expected=None):
        bad = self.page.complaints(lambda url: url.startswith(self.bed.url + "/"))
        return [b for b in bad if not expected or expected not in b]

    def look(self):
        found = self.page.js("(() => {" + LOOK + "return [...lookAtText().bad, ...lookAtWidth(), ...lookForStrangers(%d)]})()" % SCRIPTS)
        if self.axe:
            found += self.page.js(self.axe + "; axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => v.id + ': ' + v.help + ': ' + "
                                  "v.nodes.slice(0, 3).map(n => n.target.join(' ') + ' ' + (n.any[0] || n.all[0] || n.none[0] || {message: ''}).message).join(' | ')))")
        return found

    def view(self, view, wanted):
        self.go(view)
        bad = []
        for selector in wanted.split("; "):
            try:
                self.page.until("[...document.querySelectorAll(%r)].some(e => e.checkVisibility())" % ("main " + selector.replace(", ", ", main ")))
            except RuntimeError:
                bad.append("nothing is there for " + selector)
        self.page.until("document.fonts.status === 'loaded'")
        bad += self.look() + self.complaints(EXPECTED.get(view))
        if self.shots:
            self.page.shot(self.shots / (("fleet-" if isinstance(self.bed, bed.Fleet) else "") + (view.replace("/", "-").replace("?", "-") or "overview")[:80] + "-" + self.mode + ".png"))
        self.say("view " + (view or "overview"), bad)

    def views(self, mode, views=VIEWS):
        self.open(mode)
        for view, wanted in views.items():
            self.view(view, wanted)

    def step(self, name, run):
        """An action: run() raises, or returns what is wrong."""
        try:
            bad = run() or []
        except RuntimeError as why:
            bad = [why]
        self.say(name, bad + self.look() + self.complaints(getattr(run, "expected", None)))

    # ---- what people do ----

    def press(self, text, within="main"):
        self.page.until("[...document.querySelectorAll('%s button')].find(b => b.textContent === %r && !b.disabled)" % (within, text))
        self.page.js("[...document.querySelectorAll('%s button')].find(b => b.textContent === %r && !b.disabled).click()" % (within, text))

    def fill(self, selector, value):
        self.page.js("(e => { e.value = %r; e.dispatchEvent(new Event('change', {bubbles: true})); })(document.querySelector(%r))" % (value, selector))

    def text(self, selector):
        return self.page.js("(e => e ? e.textContent : '')(document.querySelector(%r))" % selector)

    def run_cycle(self):
        before = len(self.bed.get("/v1/cycles")["cycles"])
        self.bed.day(20, 0.3)           # slow: there is time to look, and to stop it
        self.go("")
        self.fill("#budget", "100%")
        self.press("Start a cycle")
        self.page.until("/^Cycle \\d+ runs$/.test(document.getElementById('state').textContent)")
        self.page.until("Number(document.querySelector('main .now .meter').ariaValueNow) > 0")
        self.page.until("document.querySelectorAll('main .now .rows li').length")
        if self.shots:
            self.page.shot(self.shots / ("running-" + self.mode + ".png"))
        self.press("Stop this cycle")
        self.page.until("/^(Idle|Waits)/.test(document.getElementById('state').textContent)")
        self.bed.day(20)
        self.page.until("[...document.querySelectorAll('main .now button')].some(b => b.textContent === 'Start a cycle')")
        after = self.bed.get("/v1/cycles")["cycles"]
        return [] if len(after) == before + 1 else ["%d cycles before, %d after" % (before, len(after))]

    def see_changes(self):
        """A change shows on the overview as it is found."""
        self.go("")
        self.bed.day(40)
        self.press("Start a cycle")
        self.page.until("[...document.querySelectorAll('main .changes time')].some(t => Date.now() - Date.parse(t.dateTime) < 600000)")
        self.page.until("/^(Idle|Waits)/.test(document.getElementById('state').textContent)")

    def set_settings(self):
        self.go("settings")
        for value, wanted in (("33%", "33%"), (None, None)):
            if value:
                self.fill("#setting-budget", value)
                self.page.js("document.getElementById('setting-budget').form.requestSubmit()")
            else:
                self.page.js("[...document.getElementById('setting-budget').form.querySelectorAll('button')].find(b => b.textContent === 'Default').click()")
            bed.wait_for("the setting", lambda: self.bed.get("/v1/settings")["settings"].get("budget") == wanted)
            self.page.until("document.getElementById('setting-budget').form.querySelector('.said').textContent === 'Saved.'")

    def refuse_setting(self):
        self.go("settings")
        self.fill("#setting-delay", "soon")
        self.page.js("document.getElementById('setting-delay').form.requestSubmit()")
        self.page.until("document.getElementById('setting-delay').form.querySelector('.said.problem')?.textContent.length > 5")
        return ["it was set"] if self.bed.get("/v1/settings")["settings"].get("delay") == "soon" else []
    refuse_setting.expected = "400"

    def compare(self):
        self.go("policies")
        self.page.js("document.querySelectorAll('form.choices input[type=checkbox]').forEach(b => b.checked = ['random', 'tide'].includes(b.value))")
        self.press("Compare")
        self.page.until("document.querySelectorAll('main canvas').length > 1")
        self.go("")
        self.page.until("/\\u00d7/.test(document.querySelector('main .glance').textContent)")

    def find_pages(self):
        self.go("pages")
        self.page.js("document.querySelector('#q').value = 'd2/p1'")
        self.page.js("document.querySelector('form.filter').requestSubmit()")
        self.page.until("/q=d2/.test(location.hash)")
        self.drawn()
        names = self.page.js("[...document.querySelectorAll('main tbody th')].map(e => e.textContent)")
        return [] if names and all("d2/p1" in n for n in names) else ["found " + str(names)]

    def page_by_link(self):
        """From the list to a page, and two other versions of it."""
        self.go("pages")
        self.page.js("document.querySelector('main tbody th a').click()")
        self.page.until("document.querySelector('main .sides .plus')")
        first = self.text("main .sides:not(.heads)")
        self.page.js("(s => { s.selectedIndex = s.options.length - 1; s.dispatchEvent(new Event('change', {bubbles: true})); })(document.querySelector('#from'))")
        self.page.until("(t => t && t !== %r)((document.querySelector('main .sides:not(.heads)') || {}).textContent)" % first)

    def server_gone(self):
        self.go("")
        listen = self.bed.url.split("//")[1]
        self.bed.stop_server(kill=True)
        self.page.until("!document.getElementById('banner').hidden")
        if self.shots:
            self.page.shot(self.shots / ("gone-" + self.mode + ".png"))
        bad = [] if "Server gone" in self.text("#state") else ["the head does not say it"]
        self.bed.serve(listen=listen)
        self.page.until("document.getElementById('banner').hidden")
        self.page.until("/^(Idle|Waits)/.test(document.getElementById('state').textContent)")
        return bad
    server_gone.expected = "ERR_"

    def actions(self, mode):
        self.open(mode)
        for name in ("find_pages", "page_by_link", "run_cycle", "see_changes", "set_settings", "refuse_setting", "compare", "server_gone"):
            self.step("action " + name.replace("_", " "), getattr(self, name))

    # ---- more, for the long form ----

    def hostile(self, mode):
        self.open(mode)
        pages = [p for p in self.bed.get("/v1/pages?limit=1000")["pages"] if "//" + web.HOSTS[2] in p["url"]]
        for p in pages[:len(web.PATHS) + len(web.HOSTILE)]:
            self.view("page/%d" % p["page"], ".line-of-time; .pairs")
            self.view("page/" + urllib.parse.quote(p["url"], safe=""), ".line-of-time; .pairs")
        self.view("pages?site=%s:%s" % (web.HOSTS[2], self.bed.port), "tbody tr")
        for text in web.HOSTILE:        # what a link from elsewhere may bring
            self.view("pages?q=%s&site=%s" % (urllib.parse.quote(text[:200]), urllib.parse.quote(text[:200])), ".empty")

    def keyboard(self, mode):
        """Tab reaches every control once, each shows where it is, and there is a way out."""
        self.open(mode)
        for view in ("", "pages", "policies", "settings", "page/0"):
            self.go(view)
            self.page.js("document.activeElement.blur(), scrollTo(0, 0), 1")
            count = self.page.js("[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex=\"0\"]')].filter(e => e.checkVisibility() && !e.disabled && !e.closest('details:not([open]) > :not(summary)')).length")
            bad, seen = [], 0
            for _ in range(count + 2):      # it may leave the page once, and comes back at its head
                self.page.key("Tab", 9)
                at = self.page.js("(e => e === document.body ? null : [e.tagName + ' ' + (e.id || e.textContent.slice(0, 30)), getComputedStyle(e).outlineStyle, getComputedStyle(e).outlineWidth])(document.activeElement)")
                seen += at is not None
                if at is None:
                    continue
                if at[1] == "none" or at[2] == "0px":
                    bad.append("focus is not seen at " + at[0])
            if seen < count:
                bad.append("Tab reaches %d of %d" % (seen, count))
            self.say("keyboard " + (view or "overview"), bad[:5])

    def sign_in(self, mode):
        """With tokens nothing is shown without one, and a reader may change nothing."""
        tokens = {right: json.loads(self.bed.run("token", "add", right + "er", "--right", right, "--json"))["token"] for right in ("read", "admin")}
        self.bed.stop_server()
        self.bed.serve()
        for right, token in tokens.items():
            self.open(mode)
            self.page.until("document.getElementById('sign-in').open")
            self.step("sign in, asked", lambda: ["something is shown"] if self.page.js("document.querySelectorAll('main > *:not(noscript)').length") else [])
            if self.shots:
                self.page.shot(self.shots / ("sign-in-" + self.mode + ".png"), False)
            send = "document.getElementById('sign-in-token').value = %r; document.getElementById('sign-in-form').requestSubmit()"

            def wrong():
                self.page.js(send % "wrong")
                self.page.until("document.getElementById('sign-in-problem').textContent")
            wrong.expected = "401"
            self.step("sign in, refused", wrong)

            def take():
                self.page.js(send % token)
                self.page.until("!document.getElementById('sign-in').open && document.querySelector('main .now .big')")
                self.page.until("document.querySelector('main .now .actions > *')")
                starts = self.page.js("[...document.querySelectorAll('main .now button')].some(b => b.textContent === 'Start a cycle')")
                self.go("settings")
                saves = self.page.js("document.querySelectorAll('.setting-row button').length")
                return [] if bool(starts) == bool(saves) == (right == "admin") else ["right %s: start %s, save %s" % (right, starts, saves)]
            self.step("sign in as " + right, take)
            if self.page.js("document.cookie") or token in self.page.js("JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.documentElement.outerHTML"):
                self.say("the token stays with the server", ["a script can read it"])

            def leave():
                self.page.js("document.getElementById('sign-out').click()")
                self.page.until("document.getElementById('sign-in')?.open")
            self.step("sign out", leave)
        for right in tokens:
            self.bed.run("token", "remove", right + "er")
        self.bed.stop_server()
        self.bed.serve()

    def nothing_yet(self, mode):
        """A new repository: nothing but words that say what to do."""
        self.bed.run("init", str(self.bed.folder / "none"), "--quiet")
        self.bed.stop_server()
        self.bed.serve(repo="none")
        self.views(mode, {"": ".big; .empty", "pages": ".empty", "sites": ".empty", "cycles": ".empty a", "policies": ".empty", "settings": ".setting-row"})
        self.bed.stop_server()
        self.bed.serve()

    def fleet(self, mode):
        """The same over four shards, while a crawler leases pages of them."""
        own, self.bed = self.bed, bed.Fleet(self.bed.freshet, self.bed.folder / ("fleet-" + mode))
        try:
            self.bed.history(5)
            self.bed.serve()
            page = next(p["page"] for p in self.bed.get("/v1/pages?limit=1000")["pages"] if p["changes"] and "//" + web.HOSTS[0] in p["url"])
            views = dict(VIEWS, **{"": VIEWS[""].replace(".now .actions button, ", ""), "policies": ".note; .catalogue details", "page/" + page: VIEWS["page/0"]})
            del views["page/0"]
            self.views(mode, views)
            for name in ("find_pages", "page_by_link", "set_settings", "refuse_setting", "server_gone", "lease_pages"):
                self.step("fleet: " + name.replace("_", " "), getattr(self, name))
        finally:
            self.bed.close()
            self.bed = own

    def lease_pages(self):
        """A cycle of other crawlers shows as it goes; it cannot be started or stopped here."""
        self.go("")
        self.bed.due()
        offers = []

        def leased():
            offers.extend(self.bed.post("/v1/lease", [{"count": 8, "client": "crawler-1"}])["offers"])
            return len(offers) >= 8
        bed.wait_for("leases", leased)
        self.page.until("/^Cycle \\d+ is leased$/.test(document.getElementById('state').textContent)")
        self.bed.post("/v1/tell?client=crawler-1", [{"lease": o["lease"], "outcome": "changed"} for o in offers])
        self.page.until("[...document.querySelectorAll('main .changes time')].some(t => Date.now() - Date.parse(t.dateTime) < 60000)")
        self.page.until("/crawler-1/.test(document.querySelector('main .now').textContent)")
        if self.shots:
            self.page.shot(self.shots / ("fleet-leased-" + self.mode + ".png"))
        return ["it offers a button"] if self.page.js("document.querySelectorAll('main .now button').length") else []


def names_twice():
    """The scripts share one space of names: what two of them declare, one of them loses."""
    src, seen, bad = pathlib.Path(__file__).parent.parent.parent / "src", {}, []
    for name in re.findall(r'src="/assets/([^"]+)"', (src / "serve/page/index.html").read_text()):
        path = next((p for p in (src / "serve/page" / name, src / "cli/report/page" / name) if p.exists()), None)
        for word in re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", path.read_text(), re.M) if path else []:
            if word in seen:
                bad.append("%s is in %s and in %s" % (word, seen[word], name))
            seen[word] = name
    return bad


# part: the modes that it is done in
SHORT = {"views": ["desk", "phone"], "actions": ["desk"]}
LONG = {"views": list(MODES), "actions": ["desk", "small"], "hostile": ["desk", "phone"], "keyboard": ["desk"],
        "sign_in": ["desk", "phone"], "nothing_yet": ["desk", "small"], "fleet": ["desk", "phone"]}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("freshet")
    p.add_argument("folder")
    p.add_argument("--long", action="store_true")
    p.add_argument("--only", choices=LONG)
    p.add_argument("--axe")
    p.add_argument("--shots", type=pathlib.Path)
    args = p.parse_args()
    if args.shots:
        args.shots.mkdir(parents=True, exist_ok=True)
    place = bed.Bed(args.freshet, args.folder)
    try:
        place.history(14 if args.long else 6)
        place.serve()
        with browser.run() as b:
            look = Looker(b, place, args.shots, pathlib.Path(args.axe).read_text() if args.axe else None)
            look.say("names of the scripts", names_twice())
            for part, modes in (LONG if args.long else SHORT).items():
                for mode in modes if args.only in (None, part) else []:
                    getattr(look, part)(mode)
    finally:
        place.close()
    sys.exit(1 if look.failed else 0)


main()
