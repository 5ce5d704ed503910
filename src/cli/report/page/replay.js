/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.js - policies side by side: freshet.replay/1 and freshet.demo/1.
 *
 * A policy has one colour in all charts; grey is for those that know the truth.  Specs that differ in one number are a
 * sweep; documents that differ in budget or cycle length make curves over it.
 */

/* "name:a=1,b=x" -> {name, keys: {a: "1", b: "x"}} */
function parseSpec(spec) {
	const at = spec.indexOf(":"), keys = {};
	for (const part of at < 0 ? [] : spec.slice(at + 1).split(",")) {
		const eq = part.indexOf("=");
		if (eq > 0)
			keys[part.slice(0, eq)] = part.slice(eq + 1);
	}
	return { name: at < 0 ? spec : spec.slice(0, at), keys };
}

/* Each name's series; grey, every COLOURS-th of them, is left for the oracle. */
function colourOf(names) {
	const honest = names.filter(n => parseSpec(n).name !== "oracle");
	return name => {
		const i = honest.indexOf(name);
		return i < 0 ? COLOURS - 1 : i + Math.floor(i / (COLOURS - 1));
	};
}

/* Groups of runs whose specs differ in one number only, three or more. */
function sweeps(runs) {
	const groups = new Map();
	for (const run of runs) {
		const { name, keys } = parseSpec(run.policy);
		for (const [key, value] of Object.entries(keys)) {
			if (!/^-?[\d.]+$/.test(value))
				continue;
			const others = Object.entries(keys).filter(([k]) => k !== key).map(([k, v]) => k + "=" + v);
			const base = others.length ? name + ":" + others.join(",") : name;
			const id = key + " " + base;
			if (!groups.has(id))
				groups.set(id, { key, base, points: [] });
			groups.get(id).points.push({ x: Number(value), run });
		}
	}
	const found = [...groups.values()].filter(g => g.points.length >= 3);
	for (const g of found)
		g.points.sort((a, b) => a.x - b.x);
	return found;
}

/* One standard deviation over the seeds, around the mean. */
function deviation(run, measure, seeds) {
	const se = run.mean[measure + "_se"], m = run.mean[measure];
	if (!known(se) || !(seeds > 1))
		return {};
	const sd = se * Math.sqrt(seeds);
	return { low: m - sd, high: m + sd };
}

const byMeasure = measure => (a, b) =>
	measure === "age_time_days" ? a.mean[measure] - b.mean[measure] : b.mean[measure] - a.mean[measure];

/* What the aim is measured by.  A demo compares aims, and is about fresh copies. */
function aimMeasure(d) {
	if (d.schema === "freshet.demo/1")
		return "freshness";
	if (d.goal === "alive" || !known((d.runs[0] || { mean: {} }).mean.freshness_time))
		return "change_ratio";
	return { freshness: "freshness_time", age: "age_time_days" }[d.aim] || "change_ratio";
}

function policyColumns(d) {
	const columns = [
		["change_ratio", d.goal === "alive" ? "AliveRatio" : "ChangeRatio", 4], ["change_ratio_se", "\u00b1 std. error", 4],
		["change_ratio_cycle", "by cycle", 4], ["weighted_change_ratio", "weighted", 4],
		["freshness_time", "freshness over time", 4], ["freshness_time_se", "\u00b1 std. error", 4],
		["weighted_freshness_time", "weighted", 4], ["age_time_days", "age of all copies, days", 2],
		["freshness", "freshness", 4], ["freshness_se", "\u00b1 std. error", 4],
		["weighted_freshness", "weighted", 4], ["freshness_before", "freshness before", 4],
		["ndcg", "NDCG", 4], ["age_days", "age of stale copies, days", 1],
		["max_unvisited_days", "longest unvisited, days", 0], ["late_share", "found late", 4],
		["sample_share", "spent on samples", 4], ["freshness_at_k", "freshness@k", 4],
		["map_at_k", "MAP@k", 4], ["embarrassment", "embarrassment", 4],
	];
	const first = columns.findIndex(([key]) => key === aimMeasure(d));
	columns.unshift(...columns.splice(first, 1));
	return columns.filter(([key]) => d.runs.some(r => known(r.mean[key])));
}

function policyTable(d) {
	const columns = policyColumns(d);
	return {
		heads: [{ name: "policy", left: true }, ...columns.map(([, name, digits]) => ({ name, digits }))],
		rows: [...d.runs].sort(byMeasure(aimMeasure(d))).map(r => [r.policy, ...columns.map(([key]) => r.mean[key])]),
	};
}

function measureBars(d, measure, title, axisTitle, note, more) {
	const runs = [...d.runs].sort(byMeasure(measure));
	return barCard(Object.assign({
		title, note, axis: axisTitle, digits: 4,
		bars: runs.map(r => Object.assign({ name: r.policy, value: r.mean[measure], series: r.series },
		                                  deviation(r, measure, d.seeds))),
	}, policyTable(d), more));
}

function searchBars(d) {
	const columns = [["freshness_at_k", "freshness@k"], ["map_at_k", "MAP@k"]];
	return columns.map(([key, name]) => measureBars(d, key, "Search: " + name, name,
		"What somebody who searches our copies sees, against the copies as they should be."));
}

/* The lines of a measure over the cycles, best policy first. */
function overCycles(d, key, title, yTitle, note) {
	const runs = [...d.runs].sort(byMeasure(key)).filter(r => r.cycles && r.cycles.length > 1);
	if (!runs.length)
		return null;
	const left = runs.length - SERIES_MAX;
	return lineCard({
		title, note: note + (left > 0 ? " The best " + SERIES_MAX + " of " + runs.length + "; the table has all." : ""),
		x: "cycle", y: yTitle, digits: 4, wide: true, scale: key === "change_ratio" ? { beginAtZero: true } : {},
		labels: runs[0].cycles.map(c => String(c.cycle)),
		lines: runs.map(r => ({
			name: r.policy, series: r.series,
			values: r.cycles.map(c => known(c[key + "_mean"]) ? c[key + "_mean"] : c[key]),
		})),
	});
}

/* Downloads (or tests) for each living page found, over the share found. */
function costCard(rows, note) {
	const labels = [...new Set(rows.flatMap(r => r.cost.map(c => c[0])))].sort((a, b) => a - b);
	const at = (r, x) => (r.cost.find(c => Math.abs(c[0] - x) < 1e-9) || [x, null])[1];
	const error = (r, i) => known(at(r, labels[i])) && r.cost_se ?
		[at(r, labels[i]) - r.cost_se[i], at(r, labels[i]) + r.cost_se[i]] : null;
	const sum = r => r.cost.reduce((s, c) => s + c[1], 0) / Math.max(1, r.cost.length);
	const sorted = [...rows].sort((a, b) => b.cost.length - a.cost.length || sum(a) - sum(b));
	return lineCard({
		title: "Cost of finding what is alive", note, x: "share of the living pages found",
		y: "tests for each living page found", digits: 3, wide: true,
		labels: labels.map(x => show(x, 2)),
		lines: sorted.map(r => ({
			name: r.name, series: r.series, values: labels.map(x => at(r, x)),
			errors: labels.map((x, i) => error(r, i)),
		})),
	});
}

/* The largest sites, and how each of the best policies did there. */
const SITES_MAX = 100;
function siteCards(d) {
	const runs = [...d.runs].sort(byMeasure(aimMeasure(d))).filter(r => r.sites).slice(0, SERIES_MAX);
	if (!runs.length)
		return [];
	const first = runs[0].sites, shown = first.slice(0, SITES_MAX), more = first.length - shown.length + (runs[0].more_sites || 0);
	const note = "Sites with most pages first; a click on a head sorts. Changes: how often its pages changed in all." +
		(more > 0 ? " The largest " + SITES_MAX + ", and " + show(more) + " more." : "") +
		(d.runs.length > runs.length ? " The best " + SERIES_MAX + " of " + d.runs.length + " policies." : "");
	const card = (title, key, digits) => tableCard(title, note,
		[{ name: "site", left: true }, { name: "pages" }, { name: "changes" }, ...runs.map(r => ({ name: r.policy, digits }))],
		shown.map((s, i) => [s.site, s.pages, s.changes, ...runs.map(r => r.sites[i][key])]));
	return [card((d.goal === "alive" ? "AliveRatio" : "ChangeRatio") + " by site", "change_ratio", 4),
		card("Freshness by site", "freshness", 4), card("Downloads by site", "downloads", 1)];
}

function sweepCards(d) {
	return sweeps(d.runs).map(g => lineCard({
		wide: true,
		title: "Sweep over " + g.key + ": " + g.base,
		note: "ChangeRatio and freshness of the same policy with one number changed." +
			(d.seeds > 1 ? " Whiskers: one standard deviation over " + d.seeds + " seeds." : ""),
		x: g.key, y: "share", digits: 4, labels: g.points.map(p => String(p.x)),
		lines: ["change_ratio", "freshness"].map((key, i) => ({
			name: key === "freshness" ? key : "ChangeRatio", series: i,
			values: g.points.map(p => p.run.mean[key]),
			errors: g.points.map(p => {
				const e = deviation(p.run, key, d.seeds);
				return known(e.low) ? [e.low, e.high] : null;
			}),
		})),
	}));
}

/* Documents that differ in one thing: curves over it. */
function curveCards(documents, key, others, title, x, label) {
	const cards = [], groups = new Map();
	for (const d of documents) {
		const id = d[others];
		groups.set(id, (groups.get(id) || []).concat(d));
	}
	for (const [other, ds] of groups) {
		if (ds.length < 2)
			continue;
		ds.sort((a, b) => a[key] - b[key]);
		const at = groups.size > 1 ? (others === "budget" ? ", budget " + show(other) : ", cycles of " + duration(other)) : "";
		for (const [measure, name] of [["change_ratio", "ChangeRatio"], ["freshness", "Freshness"]]) {
			const runs = [...ds[ds.length - 1].runs].sort(byMeasure(measure));
			cards.push(lineCard({
				title: name + " over " + title + at, x, y: name, digits: 4, labels: ds.map(label),
				note: runs.length > SERIES_MAX ? "The best " + SERIES_MAX + " of " + runs.length + "; the table has all." : null,
				scale: measure === "change_ratio" ? { beginAtZero: true } : {},
				lines: runs.map(r => {
					const here = ds.map(d => d.runs.find(o => o.policy === r.policy));
					return {
						name: r.policy, series: r.series, values: here.map(o => o && o.mean[measure]),
						errors: here.map((o, i) => {
							const e = o ? deviation(o, measure, ds[i].seeds) : {};
							return known(e.low) ? [e.low, e.high] : null;
						}),
					};
				}),
			}));
		}
	}
	return cards;
}

/* One experiment: its facts, bars, lines. */
function replayBody(d) {
	const cards = el("div", { class: "cards" });
	const seeds = d.seeds > 1 ? " Whiskers: one standard deviation over " + d.seeds + " seeds." : "";
	const alive = d.goal === "alive";
	if (aimMeasure(d) === "freshness_time")
		cards.append(measureBars(d, "freshness_time", "True copies over time", "freshness",
			"The share of copies that are true, mean over all copies and days: what the aim asks for." + seeds, { dots: true }));
	if (aimMeasure(d) === "age_time_days")
		cards.append(measureBars(d, "age_time_days", "Age of the copies", "days",
			"How long copies have been false, true ones counting 0: mean over all copies and days; lower is better." + seeds,
			{ digits: 2 }));
	const means = d.seeds > 1 ? ", mean over " + d.seeds + " seeds." : ".";
	const changes = [
		measureBars(d, "change_ratio", alive ? "Living pages found" : "Changes found",
			alive ? "AliveRatio" : "ChangeRatio", "The share of downloads that " +
			(alive ? "found a living page" : "found a changed page") + ", mean over the cycles." + seeds),
		overCycles(d, "change_ratio", (alive ? "AliveRatio" : "ChangeRatio") + " over the cycles",
		           alive ? "AliveRatio" : "ChangeRatio", "Each cycle's share of downloads that hit" + means),
	];
	const fresh = [
		measureBars(d, "freshness", "Fresh copies", "freshness",
			"The share of copies that are true after a cycle, mean over the cycles." + seeds, { dots: true }),
		overCycles(d, "freshness", "Freshness over the cycles", "freshness",
		           "The share of copies that are true after each cycle" + means),
	];
	const [first, second] = aimMeasure(d) === "change_ratio" ? [changes, fresh] : [fresh, changes];
	for (const card of [
		first[0], second[0], first[1], second[1],
		...sweepCards(d),
		...siteCards(d),
		d.runs.some(r => r.cost) ? costCard(d.runs.filter(r => r.cost).map(r =>
			({ name: r.policy, series: r.series, cost: r.cost })), "Downloads made for each living page found; lower is better.") : null,
		...(d.runs.some(r => known(r.mean.map_at_k)) ? searchBars(d) : []),
		d.t_table && d.t_table.length ? tableCard("Search: t-values between policies", "First policy minus second, over queries, cycles and seeds.",
			[{ name: "policy", left: true }, { name: "against", left: true }, { name: "measure", left: true }, { name: "t", digits: 2 }], d.t_table) : null,
	])
		if (card)
			cards.append(card);
	const explained = d.runs.filter(r => r.explain);
	return [cards, ...explained.map(r => el("p", { class: "note" }, r.policy + " chose " + r.explain + "."))];
}

function replayFacts(d) {
	const t = d.trace || {}, n = d.runs.length && d.runs[0].cycles ? d.runs[0].cycles.length : d.cycles;
	return facts([
		["pages", t.repository || d.pages], ["sites", t.sites], ["captures", t.captures],
		["from", day(t.start)], ["to", day(t.end)],
		["cycles", n + (d.cycle_seconds ? " of " + duration(d.cycle_seconds) : "")], ["downloads a cycle", d.budget],
		["seeds", d.seeds], ["goal", d.goal === "changed" ? "" : d.goal],
		["aim", d.goal === "alive" ? "" : d.aim || ""], ["weight", d.weight === "none" ? "" : d.weight || ""], ["observing", d.observe === "local" ? "" : d.observe],
	].filter(([, value]) => value !== "-"));
}

/* All documents of a replay, or the one of a demo. */
function replayView(documents) {
	const names = [...new Set(documents.flatMap(d => [...d.runs].sort(byMeasure(aimMeasure(d))).map(r => r.policy)))];
	const series = colourOf(names);
	for (const d of documents)
		for (const r of d.runs)
			r.series = series(r.policy);
	if (documents.length === 1)
		return [replayFacts(documents[0]), ...replayBody(documents[0])];
	const curves = [
		...curveCards(documents, "budget", "cycle_seconds", "budgets", "downloads a cycle", d => show(d.budget)),
		...curveCards(documents, "cycle_seconds", "budget", "cycle lengths", "length of a cycle", d => duration(d.cycle_seconds)),
	];
	return [
		el("div", { class: "cards" }, ...curves),
		...documents.map((d, i) => {
			const part = el("details", { class: "setting" },
				el("summary", {}, "Cycles of " + duration(d.cycle_seconds) + ", " + show(d.budget) + " downloads each"),
				replayFacts(d), ...replayBody(d));
			part.open = i === 0;
			return part;
		}),
	];
}

/* A demo's runs have their totals where a replay's have means over seeds. */
function demoView(d) {
	for (const r of d.runs)
		r.mean = { change_ratio: r.change_ratio, freshness: r.freshness };
	return replayView([d]);
}
