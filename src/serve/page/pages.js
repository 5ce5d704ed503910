/* SPDX-License-Identifier: Apache-2.0 */
/* pages.js - lists: pages by site and state with search, sites, cycles. */
const PAGES_AT_ONCE = 50;
const SINCE = [["", "any time"], ["1d", "1 day"], ["7d", "7 days"], ["30d", "30 days"]];

function choice1(id, label, choices, value) {
	const select = el("select", { id, name: id });
	for (const [key, text] of choices)
		select.append(el("option", { value: key }, text));
	select.value = value || "";
	return el("div", { class: "field" }, el("label", { for: id }, label), select);
}

function field(id, label, value, more) {
	const input = el("input", Object.assign({ id, name: id, type: "text", spellcheck: "false", autocomplete: "off" }, more));
	input.value = value || "";
	return el("div", { class: "field" }, el("label", { for: id }, label), input);
}

/* "7d" as the day that was so long ago. */
function sinceDay(text) {
	const m = /^(\d+)d$/.exec(text || "");
	return m ? new Date(Date.now() - 86400000 * m[1]).toISOString().slice(0, 19) + "Z" : text;
}

const PAGE_HEADS = [{ name: "page", left: true }, { name: "state", left: true }, { name: "last visit", left: true },
	{ name: "last change", left: true }, { name: "visits" }, { name: "changes" }];

function pageRow(p) {
	return [pageLink(p.page, p.url), stateBadge(p.care || (p.fails && p.state === "here" ? "failing" : p.state)),
		timeAgo(p.last_visit), timeAgo(p.last_change), p.visits, p.changes];
}

/* Times sort by what they are, not by how they read. */
function sortTimes(box) {
	for (const t of box.querySelectorAll("td > time"))
		t.parentElement.dataset.value = Date.parse(t.dateTime);
	return box;
}

function pagesFilter(p) {
	const form = el("form", { class: "filter", role: "search" },
		field("q", "URL contains", p.get("q"), { type: "search" }), field("site", "Site", p.get("site")),
		choice1("state", "State", [["", "all"], ...Object.entries(STATES).map(([key, [text]]) => [key, text])], p.get("state")),
		choice1("since", "Changed within", SINCE, p.get("since")),
		el("button", { type: "submit", class: "main" }, "Show"));
	form.addEventListener("submit", e => {
		e.preventDefault();
		const to = withParams("#/pages", Object.fromEntries(new FormData(form)));
		if (to === location.hash)
			openView();
		else
			location.hash = to;
	});
	for (const select of form.querySelectorAll("select"))
		select.addEventListener("change", () => form.requestSubmit());
	return form;
}

function pagesList({ params }, signal) {
	const box = el("div", {}), more = el("p", { class: "links" }), rows = [];
	const load = cursor => get(withParams("/v1/pages", {
		q: params.get("q"), site: params.get("site"), state: params.get("state"),
		changed_since: sinceDay(params.get("since")), limit: PAGES_AT_ONCE, cursor }), signal);
	const put = d => {
		rows.push(...d.pages.map(pageRow));
		more.replaceChildren(note(show(rows.length) + (rows.length === 1 ? " page" : " pages") + (d.next ? " so far" : "")),
			...(d.next ? [actionButton("Show more", async () => box.replaceChildren(...put(await load(d.next))))] : []));
		if (rows.length)
			return [sortTimes(table("Pages", PAGE_HEADS, rows))];
		more.replaceChildren();
		return [d.next ? empty("None so far; there are more pages to look at.", actionButton("Look further", async () => box.replaceChildren(...put(await load(d.next))))) :
			[...params.keys()].length ? empty("No page is like that.", el("a", { href: "#/pages" }, "Show all pages")) :
			empty("There are no pages yet. Add some: freshet import urls.txt, or POST /v1/pages.")];
	};
	fill(box, () => load(null), put);
	return [el("h1", {}, "Pages"), pagesFilter(params), el("div", { class: "card wide list" }, box, more)];
}

/* ---- sites ---- */

const SITE_HEADS = [{ name: "site", left: true }, { name: "pages" }, { name: "fresh", percent: true }, { name: "changes a day", digits: 3 },
	{ name: "at least", digits: 3 }, { name: "at most", digits: 3 }, { name: "visits" }, { name: "changed" }, { name: "failed" }, { name: "blocked" },
	{ name: "gone" }, { name: "last visit", left: true }];
const SITES_MOST = 1000;        /* rows of the table */

function sitesTable(d) {
	const rows = d.by_site.slice(0, SITES_MOST), lively = d.by_site.filter(s => known(s.rate_per_day) && s.visits - s.failed - s.blocked >= 10)
		.sort((a, b) => b.rate_per_day - a.rate_per_day).slice(0, 12);
	if (!rows.length)
		return empty("There are no sites yet: they come with their pages.");
	return [cards(
		wideCard("All sites", note("What the visits say of each; a click on a head sorts, a click on a site shows its pages." +
			(d.by_site.length > rows.length ? " The first " + show(rows.length) + " of " + show(d.by_site.length) + "." : "")),
			sortTimes(table("Sites", SITE_HEADS, rows.map(s => [siteLink(s.site), s.pages, s.fresh, s.rate_per_day, s.rate_low, s.rate_high, s.visits,
				s.updates, s.failed, s.blocked, s.gone, timeAgo(s.last_visit)])))),
		lively.length ? barCard({
			title: "The liveliest sites", of: "site", axis: "changes of a page a day", digits: 4, wide: true,
			note: "Estimated from the visits, of sites with 10 or more; whiskers: 95 % interval.",
			bars: lively.map(s => ({ name: plain(s.site), value: s.rate_per_day, low: s.rate_low, high: s.rate_high, series: 2 })),
		}) : null)];
}

function sitesList(args, signal) {
	return [el("h1", {}, "Sites"), fill(el("div", {}), () => getWhole("/v1/sites", signal), sitesTable)];
}

/* ---- cycles ---- */

function cyclesTable(d) {
	const list = [...d.cycles].reverse();
	if (!list.length)
		return empty("There was no cycle yet.", el("a", { href: "#/" }, "Start one"));
	const heads = [{ name: "cycle", left: true }, { name: "began", left: true }, { name: "policy", left: true },
		...["budget", "requests", "new", "changed", "same", "gone", "failed", "blocked"].map(name => ({ name })), { name: "ChangeRatio", percent: true }];
	return [...logView(d), cards(wideCard("All cycles", note("ChangeRatio: the share of requests that found a page changed or gone."),
		sortTimes(table("Cycles", heads, list.map(c => [c.cycle, timeAgo(c.time), named(c.policy, 60), c.budget, c.downloads, c.new, c.changed, c.same,
			c.gone, c.failed, c.blocked, c.change_ratio])))))];
}

function cyclesView(args, signal) {
	const box = el("div", { class: "stack" }), load = () => fill(box, () => get("/v1/cycles", signal), cyclesTable);
	load();
	viewListens(now.listeners, (d, before) => {
		if (cycleEnded(d, before))
			load();
	});
	return [el("h1", {}, "Cycles"), el("div", { class: "glance one" }, nowCard()), box];
}
