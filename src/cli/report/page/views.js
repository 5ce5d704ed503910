/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views.js - one function for each kind of document.
 */

function cards(...list) {
	return el("div", { class: "cards" }, ...list);
}

/* freshet.replay/1 of --logged: estimates with intervals, or why there is none. */
function loggedView(d) {
	const told = d.runs.filter(r => !r.refused).sort((a, b) => b.change_ratio - a.change_ratio);
	const series = colourOf(d.runs.map(r => r.policy));
	const heads = [{ name: "policy", left: true }, { name: "ChangeRatio", digits: 4 }, { name: "low", digits: 4 },
		{ name: "high", digits: 4 }, { name: "visits worth", digits: 1 }, { name: "reach", digits: 2 }, { name: "why it cannot be told", left: true }];
	const rows = d.runs.map(r => [r.policy, ...(r.refused ? [null, null, null] : [r.change_ratio, r.low, r.high]),
	                              r.effective_visits, r.support, r.why]);
	return [
		facts([["cycles", d.logged.cycles], ["visits", d.logged.visits], ["with a probability", d.logged.with_probability],
		       ["ChangeRatio of the visits", percent(d.logged.change_ratio)]]),
		cards(told.length ? barCard({
			title: "What the log says of other policies", axis: "ChangeRatio", digits: 4, wide: true, heads, rows,
			note: "Estimated from the visits that were made and the probabilities they were logged with; whiskers: " +
				percent(d.confidence, 0) + " interval.",
			bars: told.map(r => ({ name: r.policy, value: r.change_ratio, low: r.low, high: r.high, series: series(r.policy) })),
		}) : tableCard("What the log says of other policies", null, heads, rows)),
	];
}

/* What auto chose, and why. */
function choice(d) {
	return d.explain ? el("p", { class: "note" }, d.policy + " chose " + d.explain + ".") : null;
}

function cycleView(d) {
	const reasons = Object.entries(d.reasons || {}).sort((a, b) => b[1] - a[1]);
	return [
		facts([
			["cycle", "#" + d.cycle], ["time", day(d.time)], ["policy", d.policy], ["budget", d.budget],
			["requests", d.downloads], ["changed", d.changed], ["gone", d.gone], ["ChangeRatio", percent(d.change_ratio)],
			["not had", d.failed + d.blocked], ["seconds", show(d.seconds.total, 1)],
		]),
		choice(d),
		reasons.length ? cards(barCard({
			title: "Pages that could not be had", of: "reason", axis: "pages", digits: 0, wide: true,
			note: "Their copies are kept.", bars: reasons.map(([name, value]) => ({ name, value, series: 1 })),
		})) : null,
	];
}

function logView(d) {
	const c = d.cycles;
	if (!c.length)
		return [];
	const later = c.filter(x => !x.new || x.changed || x.same), seen = later.length ? later : c;
	const note = seen.length < c.length ? " Cycles of first copies only are in the table." : "";
	const labels = seen.map(x => String(x.cycle));
	const heads = [{ name: "cycle", left: true }, { name: "time", left: true }, { name: "policy", left: true },
		...["budget", "requests", "new", "changed", "same", "gone", "failed", "blocked"].map(name => ({ name })),
		{ name: "ChangeRatio", percent: true }];
	const rows = c.map(x => [x.cycle, day(x.time), x.policy, x.budget, x.downloads, x.new, x.changed, x.same, x.gone,
	                         x.failed, x.blocked, x.change_ratio]);
	return [cards(
		lineCard({
			title: "ChangeRatio over the cycles", note: "The share of requests that found a page changed or gone." + note,
			x: "cycle", y: "ChangeRatio", digits: 4, labels, heads, rows, scale: { beginAtZero: true },
			lines: [{ name: "ChangeRatio", series: 0, values: seen.map(x => x.change_ratio) }],
		}),
		stackCard({
			title: "What the visits found", x: "cycle", y: "pages", labels, heads, rows,
			note: "Every page that a cycle asked for, by what came of it." + note,
			parts: [["changed", "changed", 0], ["gone", "gone", 4], ["same", "same", 7], ["new", "new", 5],
			        ["failed", "failed", 1], ["blocked", "blocked", 6]].map(([key, name, series]) =>
				({ name, series, values: seen.map(x => x[key]) })).filter(p => p.values.some(v => v)),
		}))];
}

function sitesView(d) {
	const visitsMin = 10;   /* fewer say little of a rate: one change in a minute would be all that is seen */
	const rates = d.by_site.filter(s => known(s.rate_per_day) && s.visits - s.failed - s.blocked >= visitsMin).sort((a, b) => b.rate_per_day - a.rate_per_day).slice(0, 12);
	const access = d.by_site.some(s => known(s.accessibility)), chances = d.by_site.some(s => known(s.probability));
	const heads = [{ name: "site", left: true }, { name: "pages" }, { name: "gone" }, { name: "visits" }, { name: "failed" }, { name: "blocked" },
		{ name: "changed" }, ...(chances ? [{ name: "probability", digits: 3 }] : []), { name: "changes a day", digits: 4 }, { name: "at least", digits: 4 },
		{ name: "at most", digits: 4 }, { name: "last visit" }, ...(chances ? [{ name: "next visit" }] : []),
		...(access ? [{ name: "accessibility" }] : [])];
	const rows = d.by_site.map(s => [s.site, s.pages, s.gone, s.visits, s.failed, s.blocked, s.updates,
	                                 ...(chances ? [s.probability] : []), s.rate_per_day, s.rate_low, s.rate_high, day(s.last_visit),
	                                 ...(chances ? [day(s.next)] : []), ...(access ? [s.accessibility] : [])]);
	const left = known(d.sites) && d.sites > rows.length ? " The " + rows.length + " most visited of " + show(d.sites) + "." : "";
	return [cards(
		rates.length ? barCard({
			title: "The liveliest sites", of: "site", axis: "changes of a page a day", digits: 4, wide: true,
			note: "Estimated from the visits, of sites with " + visitsMin + " or more; whiskers: 95 % interval.",
			bars: rates.map(s => ({ name: s.site, value: s.rate_per_day, low: s.rate_low, high: s.rate_high, series: 2 })),
		}) : null,
		tableCard("Sites", "What the visits say of each site; a click on a head sorts." + left, heads, rows))];
}

/* Pages and sites whose last visits failed or were blocked. */
function failingView(d) {
	const f = d.failing, what = x => x.outcome + " " + (x.cause === "status" ? "" : x.cause + " ") + (x.status || "");
	const first = (shown, all) => shown < all ? " The first " + show(shown) + " of " + show(all) + "." : "";
	const times = [{ name: "since" }, { name: "last tried" }, { name: "times in a row" }];
	return [cards(
		tableCard("Sites that fail", "Their pages whose last visits failed or were blocked; their copies are kept." +
			first(f.sites.length, f.n_sites),
			[{ name: "site", left: true }, { name: "pages" }, { name: "failed" }, { name: "blocked" }, { name: "mostly", left: true }, ...times],
			f.sites.map(s => [s.site, s.pages, s.failed, s.blocked, s.cause, day(s.since), day(s.last), s.times])),
		tableCard("Pages that fail", "Those that fail longest first." + first(f.pages.length, f.n_pages),
			[{ name: "page", left: true }, { name: "last visit", left: true }, ...times],
			f.pages.map(p => [p.url, what(p), day(p.since), day(p.last), p.times])))];
}

/* The first lines that differ: what came is marked +, what went -. */
function diffLines(lines) {
	const list = (lines || "").split("\n").filter(l => l);
	return list.length ? el("div", { class: "diff" }, ...list.map(l => el("div", { class: l[0] === "+" ? "came" : "went" }, l))) : null;
}

/* freshet.report/1: pages by name. */
function pagesView(d) {
	const most = (shown, all) => shown < all ? " The first " + show(shown) + " of " + show(all) + "." : "";
	const next = d.next, page = { name: "page", left: true };
	return [cards(
		d.changes.length ? tableCard("Latest changes", "What cycles found changed or gone, the newest first, with the first lines that differ: + came, \u2212 went." +
			(d.changes.length < d.n_changes ? " The last " + d.changes.length + " of " + show(d.n_changes) + "." : ""),
			[page, { name: "found" }, { name: "when" }],
			d.changes.map(c => [el("div", {}, c.title ? el("b", {}, c.title) : null, el("div", { class: "url" }, c.url), diffLines(c.lines)), c.outcome, day(c.time)])) : null,
		d.unreached.length ? tableCard("Pages never reached", "Under care, and without an answer so far." + most(d.unreached.length, d.n_unreached),
			[page, { name: "added" }, { name: "why", left: true }], d.unreached.map(u => [u.url, day(u.added), u.why])) : null,
		next && next.pages.length ? tableCard("What the next cycle takes first", "By " + next.policy + ", with a budget of " + show(next.budget) +
			(next.resting ? "; " + show(next.resting) + " failing pages rest" : "") + ". A policy that learns within a cycle may turn to other pages." +
			most(next.pages.length, next.n_pages),
			[page, { name: "chance of a change", percent: true }, { name: "why", left: true }],
			next.pages.map(p => [p.url, p.probability, p.why])) : null)];
}

function statusView(d) {
	if (d.by_site)
		return sitesView(d);
	if (d.failing)
		return failingView(d);
	return [facts([["pages", d.pages], ["gone", d.gone], ["sites", d.sites], ["directories", d.directories],
		["captures", d.captures], ["visits", d.visits], ["cycles", d.cycles],
		["first capture", day(d.first_capture)], ["last capture", day(d.last_capture)]].filter(([, v]) => v !== "-"))];
}

function clusterView(d) {
	if (d.curve)
		return [facts([["pages", d.pages], ["features", d.features], ["knee", "k = " + d.knee], ["doubling rule", "k = " + d.doubling]]),
			cards(lineCard({
				title: "How many clusters?", wide: true, x: "clusters k", y: "mean cosine to the nearest centroid", digits: 4,
				note: "Pages held out, against clusters made without them; whiskers: standard error over the folds.",
				labels: d.curve.map(p => String(p.k)),
				lines: [{ name: "held out", series: 0, values: d.curve.map(p => p.cosine),
				          errors: d.curve.map(p => [p.cosine - p.cosine_se, p.cosine + p.cosine_se]) },
				        { name: "fitted", series: 1, values: d.curve.map(p => p.cosine_fitted) }],
			}))];
	const top = [...d.clusters].sort((a, b) => b.changes_30d - a.changes_30d).slice(0, 24);
	const sites = c => c.largest_sites.map(([name, n]) => name + " " + percent(n / c.pages, 0)).join(", ");
	return [cards(barCard({
		title: "Clusters of pages", of: "cluster", axis: "changes of a page in 30 days", digits: 3, wide: true,
		note: d.clusters.length + " clusters of " + show(d.pages) + " pages" + (d.of_pages > d.pages ? ", chosen of " + show(d.of_pages) + " by chance," : "") + " by their " + d.features + " features; the liveliest first.",
		bars: top.map(c => ({ name: c.name + ": " + show(c.pages) + (c.pages === 1 ? " page" : " pages"), value: c.changes_30d, series: 5 })),
		heads: [{ name: "cluster", left: true }, { name: "number" }, { name: "pages" }, { name: "cosine", digits: 3 },
		        { name: "changes in 30 days", digits: 3 }, { name: "largest sites", left: true }, { name: "stands out", left: true }],
		rows: d.clusters.map(c => [c.name, c.cluster, c.pages, c.cosine, c.changes_30d, sites(c), c.stands_out.map(t => t[0]).join(" ")]),
	}))];
}

function rankView(d) {
	const from = [...new Set([...d.graph.out_degrees, ...d.graph.in_degrees].map(x => x[0]))].sort((a, b) => a - b);
	const count = list => from.map(x => (list.find(y => y[0] === x) || [x, 0])[1]);
	const label = x => x < 2 ? String(x) : x + "-" + (2 * x - 1);
	const random = d.orders.find(o => o.order.split(":")[0] === "random");
	const series = colourOf(d.orders.map(o => o.order));
	for (const o of d.orders)
		o.series = series(o.order);
	return [
		facts([["nodes", d.graph.nodes], ["links", d.graph.links], ["without links out", d.graph.dangling],
		       ["without links in", d.graph.no_links_in], ["alive", d.alive],
		       ["PageRank", d.pagerank.iterations + " passes"]]),
		cards(
			d.orders.length ? costCard(d.orders.map(o => ({ name: o.order, series: o.series, cost: o.cost, cost_se: o.cost_se })),
				"Tests made for each living page found; 1 is perfect" +
				(d.alive ? ", chance is " + show(d.graph.nodes / d.alive, 2) : "") + ". Whiskers: standard error over the seeds.") : null,
			d.orders.length ? barCard({
				title: "Cost at 80 % of the living pages", of: "order", axis: "tests for each living page found", digits: 3, wide: true,
				note: random ? null : "Lower is better.",
				bars: d.orders.map(o => {
					const i = o.cost.findIndex(c => Math.abs(c[0] - 0.8) < 1e-9);
					return { name: o.order, series: o.series, value: o.cost[i][1],
					         low: o.cost[i][1] - o.cost_se[i], high: o.cost[i][1] + o.cost_se[i] };
				}).sort((a, b) => a.value - b.value),
			}) : null,
			stackCard({
				title: "Links of a node", x: "links", y: "nodes", wide: true, stacked: false, 
				scale: { type: "logarithmic", min: 0.5, ticks: { color: colour("soft"),
					callback: v => Number.isInteger(Math.log10(v)) ? show(v) : null } },
				note: "How many nodes have so many links; both axes grow by factors.", labels: from.map(label),
				parts: [{ name: "links out", values: count(d.graph.out_degrees) }, { name: "links in", values: count(d.graph.in_degrees) }],
			}),
			d.top && d.top.length ? tableCard("Highest PageRank", null,
				[{ name: "node", left: true }, { name: "PageRank", digits: 9 }], d.top.map(([n, x]) => [String(n), x])) : null),
	];
}

function liveView(d) {
	const [low, middle, high] = d.estimated_alive || [];
	const statuses = Object.entries(d.statuses || {}).filter(([, n]) => n).sort((a, b) => b[1] - a[1]);
	return [
		facts([["pages", d.pages], ["tested", d.tested], ["requests", d.requests], ["alive", d.alive], ["dead", d.dead],
		       ["soft 404", d.soft_404], ["requests for each living page", show(d.cost, 2)], ["target", percent(d.target, 0)],
		       ["policy", d.policy]]),
		choice(d),
		cards(
			barCard({
				title: "Living pages", of: "count", axis: "pages", digits: 0,
				note: known(middle) ? "The estimate is that of the random sample; whiskers: 95 % interval." : null,
				bars: [{ name: "found", value: d.alive, series: 0 },
				       ...(known(middle) ? [{ name: "estimated", value: middle, low, high, series: 5 }] : [])],
			}),
			statuses.length ? barCard({
				title: "What the tests found", of: "answer", axis: "pages", digits: 0,
				bars: statuses.map(([name, value]) => ({ name: name.replace(/_/g, " "), value, series: 2 })),
			}) : null),
	];
}
