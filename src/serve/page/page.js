/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.js - one page: its history as a time line, why it is or is not next, two of its versions
 * side by side.
 */
const SVG = "http://www.w3.org/2000/svg";
const MARKS_OF = { changed: "circle", new: "circle", gone: "cross", failed: "cross", blocked: "cross", same: "tick" };

function svg(name, attributes, ...children) {
	const e = document.createElementNS(SVG, name);
	for (const [key, value] of Object.entries(attributes))
		e.setAttribute(key, value);
	e.append(...children);
	return e;
}

/* Every visit a mark between the first and now: changes are discs, the rest is smaller. */
function timeLine(visits) {
	const first = moment(visits[0].time), last = Math.max(Date.now(), moment(visits[visits.length - 1].time)), width = Math.max(1, last - first);
	const x = t => 1.5 + 97 * (t - first) / width + "%";
	const picture = svg("svg", { class: "line-of-time", role: "img", "aria-label": show(visits.length) + " visits, " +
		show(visits.filter(v => v.outcome === "changed" || v.outcome === "gone").length) + " found a change; the table below has each" },
		svg("line", { x1: "0%", x2: "100%", y1: "28", y2: "28", class: "axis" }));
	for (const v of visits) {
		const at = x(moment(v.time)), cls = "mark " + (OUTCOMES[v.outcome] || ["", "c7"])[1], kind = MARKS_OF[v.outcome] || "tick";
		const mark = kind === "circle" ? svg("circle", { cx: at, cy: "28", r: "7", class: cls }) :
			svg("line", { x1: at, x2: at, y1: kind === "cross" ? "16" : "22", y2: kind === "cross" ? "40" : "34", class: cls + " bar" });
		mark.append(svg("title", {}, (OUTCOMES[v.outcome] || [v.outcome])[0] + ", " + day(v.time)));
		picture.append(mark);
	}
	return el("div", { class: "time" }, picture, el("div", { class: "ends" }, el("span", {}, day(visits[0].time).slice(0, 10)), el("span", {}, "now")));
}

function legendOf(visits) {
	const there = Object.keys(OUTCOMES).filter(o => visits.some(v => v.outcome === o));
	return el("p", { class: "legend" }, ...there.map(o => badge([OUTCOMES[o][0] + " " + show(visits.filter(v => v.outcome === o).length), OUTCOMES[o][1]])));
}

function historyCard(d) {
	const visits = d.visits;
	if (!visits.length)
		return wideCard("History", empty("It was never visited."));
	const heads = [{ name: "time", left: true }, { name: "what came of it", left: true }, { name: "status" }, { name: "cause", left: true },
		{ name: "why it was chosen", left: true }, { name: "cycle" }];
	const rows = [...visits].reverse().map(v => [timeAgo(v.time), outcomeBadge(v.outcome), v.status || null, v.cause, v.reason, v.cycle || null]);
	const all = el("details", {}, el("summary", {}, visits.length === 1 ? "The visit" : "All " + show(visits.length) + " visits"), table("Visits", heads, rows));
	return wideCard("History", timeLine(visits), legendOf(visits), all);
}

/* ---- why ---- */

function explainCard(d) {
	const cycles = d.cycles > 1 ? "in about " + show(d.cycles) + " cycles" : "in the next cycle";
	const word = d.in_next_cycle ? "Yes" : d.asked ? "Not yet" : "No";
	const why = d.care ? "It is kept out: " + d.care.replace(/-/g, " ") + "." :
		d.rests_until ? "It rests after failures, until " + day(d.rests_until) + "." :
		d.site_rests_until ? "Its site rests after failures, until " + day(d.site_rests_until) + "." :
		d.state !== "here" ? "It is gone." : "";
	return card("Is it next?", el("p", { class: "big" }, word, el("small", {}, d.asked ? " Its turn comes " + cycles + "." : "")),
		why ? el("p", {}, why) : null,
		d.because ? el("p", {}, "Why: " + plain(d.because) + ".") : null,
		el("dl", { class: "pairs" },
			known(d.rank) ? el("dt", {}, "Rank") : null, known(d.rank) ? el("dd", {}, show(d.rank) + " of " + show(d.of)) : null,
			known(d.score) ? el("dt", {}, "Score") : null, known(d.score) ? el("dd", {}, String(Number(d.score.toPrecision(3)))) : null,
			el("dt", {}, "Budget"), el("dd", {}, show(d.budget) + " requests a cycle"),
			el("dt", {}, "Policy"), el("dd", {}, named(d.policy))),
		d.explain ? el("details", {}, el("summary", {}, "What the policy says of itself"), el("p", { class: "note" }, plain(d.explain))) : null);
}

function factsCard(d) {
	const rows = [["State", stateBadge(d.care || (d.failing ? "failing" : d.state))], ["Under care since", timeAgo(d.added)], ["Last visit", timeAgo(d.last_visit)],
		["Last change", timeAgo(d.last_change)], ["Visits", show(d.visits)], ["Changes", show(d.changes)],
		d.failed ? ["Failed", show(d.failed)] : null, d.weight !== 1 ? ["Weight", show(d.weight)] : null,
		d.tags && d.tags.length ? ["Tags", d.tags.map(t => plain(t)).join(", ")] : null].filter(r => r);
	return card("What is known", el("dl", { class: "pairs" }, ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
		d.failing ? el("p", { class: "problem" }, "Its last visits brought nothing: " + plain(d.failing.cause) + (d.failing.status ? " " + d.failing.status : "") + ", " +
			show(d.failing.times) + " times in a row.") : null);
}

/* ---- two versions ---- */

/* The words of a line that the other line has not: [[text, differs], ...] by a longest common subsequence. */
const WORDS_COMPARED = 400, WORDS_ALIKE = 0.3;
function wordsApart(a, b) {
	const x = a.split(/(\s+)/), y = b.split(/(\s+)/);
	if (x.length > WORDS_COMPARED || y.length > WORDS_COMPARED)
		return [[[a, true]], [[b, true]]];
	const n = x.length, m = y.length, len = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
	for (let i = n - 1; i >= 0; i--)
		for (let k = m - 1; k >= 0; k--)
			len[i][k] = x[i] === y[k] ? len[i + 1][k + 1] + 1 : Math.max(len[i + 1][k], len[i][k + 1]);
	const left = [], right = [];
	let i = 0, k = 0;
	while (i < n || k < m)
		if (i < n && k < m && x[i] === y[k]) {
			left.push([x[i++], false]);
			right.push([y[k++], false]);
		} else if (k === m || (i < n && len[i + 1][k] >= len[i][k + 1]))
			left.push([x[i++], true]);
		else
			right.push([y[k++], true]);
	/* Lines that have little in common are two lines: nothing is marked. */
	const same = left.filter(([t, differs]) => !differs && t.trim()).length, all = x.filter(t => t.trim()).length;
	return same < WORDS_ALIKE * all ? [[[a, false]], [[b, false]]] : [left, right];
}

function marked(parts, name) {
	return parts.map(([text, differs]) => differs && text.trim() ? el(name, {}, plain(text)) : plain(text));
}

/* Lines that went, beside those that came: runs of both are paired in order. */
function sideBySide(items) {
	const rows = [];
	let gone = [], come = [];
	const flush = () => {
		for (let i = 0; i < Math.max(gone.length, come.length); i++)
			rows.push([gone[i], come[i]]);
		gone = [];
		come = [];
	};
	for (const item of items) {
		if (!item.added && come.length)
			flush();
		(item.added ? come : gone).push(item);
	}
	flush();
	const body = el("div", { class: "sides" });
	const side = (item, parts, name, cls) => el("div", { class: "side " + (item ? cls : "none") },
		item && item.kind !== "text" ? el("span", { class: "kind" }, plain(item.kind) + " ") : null, ...(item ? marked(parts, name) : []));
	for (const [a, b] of rows) {
		const [left, right] = a && b ? wordsApart(a.text, b.text) : [[[a ? a.text : "", false]], [[b ? b.text : "", false]]];
		body.append(side(a, left, "del", "minus"), side(b, right, "ins", "plus"));
	}
	return body;
}

function differences(d) {
	const seen = [["bytes", d.bytes], ["text", d.text], ["tags", d.tags]].filter(([, x]) => x).map(([name]) => name);
	const lines = d.items.length ? sideBySide(d.items) : empty(seen.length ? "Nothing that a reader would see: it differs by " + seen.join(" and ") + " only." : "The two are the same.");
	return [el("p", { class: "note" }, seen.length ? "What differs: " + seen.join(", ") + "." : ""),
		el("div", { class: "sides heads" }, el("h3", {}, day(d.from)), el("h3", {}, day(d.to))), lines];
}

function diffCard(d, path, signal) {
	/* A visit that found the same is no version. */
	const answers = d.captures.filter(c => c.status === 200 || c.status === 203 || c.status === undefined);
	const copies = answers.filter((c, i) => !i || !c.digest || c.digest !== answers[i - 1].digest);
	if (copies.length < 2)
		return wideCard("Versions", empty(copies.length ? "There is one version of it so far." : "There is no copy of it."), copies.length ? copyLink(path, copies[0]) : null);
	const options = copies.map(c => [c.time, day(c.time)]).reverse();
	const from = choice1("from", "Older", options, copies[copies.length - 2].time), to = choice1("to", "Newer", options, copies[copies.length - 1].time);
	const box = el("div", { "aria-live": "polite" }), value = f => f.querySelector("select").value;
	const digest = time => (copies.find(c => c.time === time) || {}).digest;
	const load = () => {
		if (value(from) === value(to) || (digest(value(from)) && digest(value(from)) === digest(value(to))))
			box.replaceChildren(empty("The two are the same."));
		else
			fill(box, () => get(withParams(path + "/diff", { from: value(from), to: value(to) }), signal), differences);
	};
	for (const f of [from, to])
		f.addEventListener("change", load);
	load();
	return wideCard("Two versions side by side", el("div", { class: "filter" }, from, to), box, copyLink(path, copies[copies.length - 1]));
}

function copyLink(path, c) {
	return el("p", { class: "links" }, el("a", { href: path + "/content", target: "_blank", rel: "noopener" }, "The newest copy as text"), " \u00b7 ",
		el("a", { href: path + "/content?download=1" }, "Download it"));
}

function pageView({ arg }, signal) {
	const path = "/v1/pages/" + encodeURIComponent(arg), box = el("div", { class: "stack" });
	const title = el("h1", { class: "address" }, "Page");
	fill(box, () => get(path, signal), d => {
		title.replaceChildren(named(readable(d.url), 400));
		document.title = clip(plain(shortUrl(d.url)), 60) + " - Freshet";
		const why = el("div", {}), history = el("div", {});
		fill(why, () => get(path + "/explain", signal), explainCard);
		fill(history, () => get(path + "/history", signal), historyCard);
		const onWeb = /^https?:\/\//.test(d.url) ? [el("a", { href: d.url, target: "_blank", rel: "noopener noreferrer" }, "Open it on the web"), " \u00b7 "] : [];
		return [el("p", { class: "links" }, ...onWeb,
			el("a", { href: withParams("#/pages", { site: siteOf(d.url) }) }, "Its site")),
			el("div", { class: "halves even" }, factsCard(d), why), history, diffCard(d, path, signal)];
	});
	return [el("p", { class: "crumb" }, el("a", { href: "#/pages" }, "Pages")), title, box];
}

function siteOf(url) {
	const m = /^https?:\/\/([^/?#]*)/.exec(url);
	return m ? m[1] : "";
}
