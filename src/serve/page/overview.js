/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overview.js - at a glance: what runs, how fresh we are, what changed, which sites are lively
 * or in trouble, whether the policy is worth it.
 */
const CHANGES_SHOWN = 8, SITES_SHOWN = 6, STALE_SHOWN = 3, STALE_BELOW = 0.9;

/* What share of the copies is true by now, as the rates of the sites say. */
function freshCard(d) {
	const fresh = d.fresh, box = el("section", { class: "card" }, el("h2", {}, "Freshness"));
	if (!known(fresh))
		box.append(el("p", { class: "big" }, "Not known yet"),
			note("It takes two visits of a page to say how often pages change: run some cycles."));
	else
		box.append(el("p", { class: "big" }, percent(fresh, fresh > 0.995 ? 1 : 0), el("small", {}, " of the copies are true, about")),
			meter(fresh, 1, "Share of copies that are true"),
			note("Estimated from how often the pages of each site were found changed, and how long ago we looked."));
	box.append(el("dl", { class: "pairs" },
		el("dt", {}, "Newest copy"), el("dd", {}, timeAgo(d.last_capture)),
		el("dt", {}, "Copies since"), el("dd", {}, day(d.first_capture).slice(0, 10)),
		el("dt", {}, "Under care"), el("dd", {}, show(d.pages) + (d.pages === 1 ? " page of " : " pages of ") + show(d.sites) + (d.sites === 1 ? " site" : " sites")),
		d.gone ? el("dt", {}, "Gone or left") : null, d.gone ? el("dd", {}, show(d.gone)) : null));
	const stale = d.by_site.filter(s => known(s.fresh) && s.fresh < STALE_BELOW).sort((a, b) => a.fresh - b.fresh).slice(0, STALE_SHOWN);
	if (stale.length && d.by_site.length > 1)
		box.append(el("h3", {}, "Least fresh"), el("ul", { class: "rows" }, ...stale.map(s => siteRow(s, percent(s.fresh, 0)))));
	return box;
}

/* The policy against random, by the newest replay of the repository's own history. */
function worthCard([replays, settings, cycles, doing, done]) {
	const usual = usualCycle(cycles);
	const policy = settings.settings.policy || "auto", running = replays.replays.find(isRunning);
	const start = actionButton(done ? "Compare again" : "Compare now", async () => {
		await ask("POST", "/v1/replays", { policies: [...new Set(["random", policy])], ...usual });
		location.hash = "#/policies";
	}, done ? "" : "main");
	const box = (...children) => el("section", { class: "card" }, el("h2", {}, "Is the policy worth it?"), ...children);
	if (doing.fleet)
		return box(el("p", { class: "big" }, "Not compared here"), note(OF_A_FLEET));
	if (running)
		return box(el("p", { class: "big" }, span(running.seconds), el("small", {}, " of comparing so far")), meter(replayShare(running), 1, "Comparison"),
			note("The policies are run over this repository's own history. ", el("a", { href: "#/policies" }, "Look at it")));
	const all = done && done.result ? done.result.runs : [], random = all.find(r => parseSpec(r.policy).name === "random");
	const others = all.filter(r => r !== random && parseSpec(r.policy).name !== "oracle").sort((a, b) => b.mean.change_ratio - a.mean.change_ratio);
	const best = others.find(r => r.policy === policy) || others[0];
	if (!random || !best)
		return box(el("p", { class: "big" }, "Not compared yet"),
			note("A replay runs the policy and random choice over the history that is here, and says what each would have found. It works in the background."),
			!usual ? note(TOO_YOUNG) : may("admin") ? el("p", { class: "actions" }, start) : null);
	const ratio = random.mean.change_ratio > 0 ? best.mean.change_ratio / random.mean.change_ratio : NaN;
	return box(el("p", { class: "big" }, known(ratio) ? show(ratio, ratio < 10 ? 2 : 0) + "\u00d7" : "-", el("small", {}, " the changes that random would have found")),
		...[best, random].flatMap(r => [el("p", { class: "against" }, named(r.policy, 40), el("span", {}, percent(r.mean.change_ratio))),
			meter(r.mean.change_ratio, Math.max(best.mean.change_ratio, random.mean.change_ratio), "Downloads of " + plain(r.policy) + " that found a change")]),
		note("The share of downloads that found a change, on this repository's own history. Compared ", timeAgo(done.began), ". ", el("a", { href: "#/policies" }, "All of it")),
		may("admin") ? el("p", { class: "actions" }, start) : null);
}

async function loadWorth(signal) {
	const [replays, settings, cycles, doing] = await Promise.all(["replays", "settings", "cycles", "now"].map(what => get("/v1/" + what, signal)));
	const done = replays.replays.find(r => r.state === "done");
	return [replays, settings, cycles, doing, done ? await get("/v1/replays/" + done.id, signal) : null];
}

function changeRow(c) {
	return el("li", {}, el("span", { class: "what" }, outcomeBadge(c.outcome), timeAgo(c.time)),
		el("div", {}, pageLink(c.page, c.url), c.title ? el("p", { class: "soft" }, named(c.title, 90)) : null));
}

function changesCard(signal) {
	const box = el("div", {});
	let list = null;
	const put = rows => {
		list = el("ul", { class: "rows changes" }, ...rows.map(changeRow));
		return rows.length ? list : empty("No change was seen yet. It takes a second visit to see one.");
	};
	fill(box, () => get(withParams("/v1/changes", { last: CHANGES_SHOWN }), signal), d =>
		put(d.changes.reverse().sort((a, b) => moment(b.time) - moment(a.time)).slice(0, CHANGES_SHOWN)));       /* a fleet has so many of each shard */
	viewListens(now.changes, c => {
		if (!list)
			return;         /* the answer that is awaited has it */
		list.prepend(changeRow(c));
		while (list.children.length > CHANGES_SHOWN)
			list.lastChild.remove();
		if (!list.isConnected)
			box.replaceChildren(list);
	});
	return el("section", { class: "card" }, el("h2", {}, "Changed lately"), box,
		el("p", { class: "links" }, el("a", { href: "#/pages?since=7d" }, "All pages that changed in 7 days")));
}

function siteRow(s, text) {
	return el("li", {}, siteLink(s.site), el("span", { class: "soft" }, text));
}

function livelyCard(d) {
	const sites = d.by_site.filter(s => known(s.rate_per_day) && s.updates > 0).sort((a, b) => b.rate_per_day - a.rate_per_day);
	return el("section", { class: "card" }, el("h2", {}, "Lively sites"), sites.length ? note("How often a page of it changes, by what the visits found.") : null,
		sites.length ? el("ul", { class: "rows" }, ...sites.slice(0, SITES_SHOWN).map(s =>
			siteRow(s, "every " + span(86400 / s.rate_per_day)))) : empty("No site was seen to change yet."),
		el("p", { class: "links" }, el("a", { href: "#/sites" }, "All sites")));
}

function troubleCard(d) {
	const f = d.failing, box = el("section", { class: "card" }, el("h2", {}, "Sites in trouble"));
	if (!f.sites.length)
		box.append(empty("None: every page answered at its last visit."));
	else
		box.append(el("ul", { class: "rows" }, ...f.sites.sort((a, b) => b.failing - a.failing).slice(0, SITES_SHOWN).map(s =>
			el("li", {}, siteLink(s.site), el("span", { class: "soft" }, show(s.failing) + " of " + show(s.pages) + " pages fail, mostly by " + causeText(s.cause) + ", since ", el("span", { class: "unbroken" }, day(s.since).slice(0, 10)))))),
			el("p", { class: "links" }, el("a", { href: "#/pages?state=failing" }, show(f.n_pages) + " failing pages")));
	return box;
}

function historyCards(d) {
	const made = logView(d);
	return made.length ? made : [];
}

function overviewView(args, signal) {
	const fresh = el("div", {}), worth = el("div", {}), lively = el("div", {}), bad = el("div", {}), history = el("div", { class: "stack" });
	const load = () => {
		const sites = getWhole("/v1/sites", signal);
		fill(fresh, () => sites, freshCard);
		fill(lively, () => sites, livelyCard);
		fill(bad, () => getWhole("/v1/failing", signal), troubleCard);
		fill(worth, () => loadWorth(signal), worthCard);
		fill(history, () => get("/v1/cycles", signal), historyCards);
	};
	load();
	/* A cycle began or ended: the figures are others. */
	viewListens(now.listeners, (d, before) => {
		if (cycleEnded(d, before))
			load();
	});
	return [el("h1", { class: "hidden" }, "Overview"),
		el("div", { class: "glance" }, nowCard(), fresh, worth),
		el("div", { class: "halves" }, changesCard(signal), el("div", { class: "stack" }, lively, bad)),
		history];
}
