/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.js - what several views are made of: links, badges, times, cards, messages.
 *
 * URLs and titles are hostile: they are set as text, shortened, and each stands in an
 * element of its own direction, so that marks of direction end with it.
 */
const NAME_MAX = 140;           /* characters of a URL or a title in a list */

/* Control characters and marks of direction would not be seen: they are shown as code points. */
function plain(text) {
	return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
		c => "\u2329" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "\u232a");
}

/* "%E4%BD%A0" as people read it, where it is UTF-8. */
function readable(url) {
	try {
		return decodeURI(url);
	} catch (e) {
		return url;
	}
}

function clip(text, most = NAME_MAX) {
	const all = [...text], end = Math.floor(most / 3);
	return all.length > most ? all.slice(0, most - end - 1).join("") + "\u2026" + all.slice(-end).join("") : text;
}

/* A long URL is broken behind a slash, if there is one. */
function breakable(text) {
	return text.split(/(?<=\/)(?!\/)/).flatMap((part, i) => i ? [el("wbr"), part] : [part]);
}

/* `freshet run` within a text is a command. */
function withCode(text) {
	return text.split("`").map((part, i) => i % 2 ? el("code", {}, part) : part);
}

/* A name of a site, page or policy, as text of its own direction. */
function named(text, most) {
	const shown = plain(text), short = clip(shown, most);
	return el("bdi", short === shown ? {} : { title: clip(shown, 2000) }, ...breakable(short));
}

function shortUrl(url) {
	return readable(url).replace(/^http:\/\//, "");
}

function pageLink(page, url) {
	return el("a", { href: "#/page/" + encodeURIComponent(known(page) ? page : url), class: "name" }, named(shortUrl(url)));
}

function siteLink(site) {
	return el("a", { href: withParams("#/pages", { site }), class: "name" }, named(site, 80));
}

const OUTCOMES = {
	new: ["new", "c5"], changed: ["changed", "c0"], same: ["same", "c7"], gone: ["gone", "c4"],
	failed: ["failed", "c1"], blocked: ["blocked", "c6"],
};
const STATES = {
	here: ["here", "c2"], gone: ["gone", "c4"], left: ["left", "c7"], failing: ["fails", "c1"], paused: ["paused", "c6"],
	"site-paused": ["site paused", "c6"], removed: ["removed", "c7"], "out-of-scope": ["out of scope", "c7"],
};

function badge([text, colourName]) {
	return el("span", { class: "badge " + colourName }, text);
}

const outcomeBadge = outcome => badge(OUTCOMES[outcome] || [String(outcome), "c7"]);
const stateBadge = state => badge(STATES[state] || [String(state), "c7"]);

/* A cause as people say it; the others are words already. */
const causeText = cause => ({ status: "a bad status", dns: "an unknown name", "bad-url": "a bad URL", "too-large": "an answer too large", other: "other causes" })[cause] || String(cause);

/* ---- times ---- */

/* 14 digits or ISO 8601, in UTC, as ms; NaN if it is none. */
function moment(t) {
	const m = /^(\d{4})-?(\d\d)-?(\d\d)T?(\d\d):?(\d\d):?(\d\d)/.exec(t || "");
	return m ? Date.UTC(m[1], m[2] - 1, m[3], m[4], m[5], m[6]) : NaN;
}

/* 5400 as "1.5 hours"; the unit in which it is 1 or more. */
function span(seconds) {
	for (const [length, name] of [[86400 * 365, "year"], [86400 * 14, "week"], [86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]]) {
		const n = seconds / (name === "week" ? 604800 : length);
		if (seconds >= length) {
			const text = n < 9.95 && n % 1 > 0.05 && n % 1 < 0.95 && length > 60 ? n.toFixed(1) : String(Math.round(n));
			return text + " " + name + (text === "1" ? "" : "s");
		}
	}
	return "a moment";
}

function ago(t) {
	const ms = typeof t === "number" ? t : moment(t), d = (Date.now() - ms) / 1000;
	if (Number.isNaN(ms))
		return "never";
	if (Math.abs(d) < 5)
		return "now";
	return d < 0 ? "in " + span(-d) : span(d) + " ago";
}

/* "2 hours ago", with the time itself on hover; brought up to date by refreshTimes(). */
function timeAgo(t) {
	const ms = typeof t === "number" ? t : moment(t);
	if (Number.isNaN(ms))
		return el("span", { class: "soft" }, "never");
	const iso = new Date(ms).toISOString();
	return el("time", { datetime: iso, title: iso.slice(0, 16).replace("T", " ") + " UTC" }, ago(ms));
}

function refreshTimes() {
	for (const e of document.querySelectorAll("time[datetime]")) {
		const text = ago(Date.parse(e.dateTime));
		if (e.textContent !== text)
			e.textContent = text;
	}
}

/* ---- cards and messages ---- */

function card(title, ...children) {
	return el("section", { class: "card" }, title ? el("h2", {}, title) : null, ...children);
}

function wideCard(title, ...children) {
	const c = card(title, ...children);
	c.classList.add("wide");
	return c;
}

const note = (...children) => el("p", { class: "note" }, ...children);

/* Nothing is here yet, and what would bring something. */
function empty(text, ...more) {
	return el("div", { class: "empty" }, el("p", {}, text), ...more);
}

function button(text, act, kind) {
	const b = el("button", { type: "button", class: kind || "" }, text);
	b.addEventListener("click", () => act(b));
	return b;
}

/* A button that asks the server: it cannot be pressed twice, and says beside it what went wrong. */
function actionButton(text, act, kind) {
	const problem = el("span", { class: "problem", role: "alert" });
	const b = button(text, async () => {
		b.disabled = true;
		problem.textContent = "";
		try {
			await act();
		} catch (why) {
			problem.textContent = why.message;
		}
		b.disabled = false;
	}, kind);
	return el("span", { class: "action" }, b, problem);
}

/* Something waits for the server: grey bars in the place of what will be there. */
function waiting(lines = 3) {
	const box = el("div", { class: "waiting", role: "status", "aria-label": "Loading" });
	for (let i = 0; i < lines; i++)
		box.append(el("span", {}));
	return box;
}

/* Fills a box when the promise has kept; a refusal is said in its place, with a way to try again. */
function fill(box, load, make) {
	const go = async () => {
		box.replaceChildren(waiting());
		try {
			const made = make(await load());
			box.replaceChildren(...(Array.isArray(made) ? made : [made]).filter(e => e));
		} catch (why) {
			if (why.name !== "AbortError")
				box.replaceChildren(trouble(why, go));
		}
		drawNew();
	};
	go();
	return box;
}

function trouble(why, again) {
	if (!(why instanceof Problem))
		console.error(why);
	return el("div", { class: "trouble", role: "alert" }, el("p", {}, why.message), again ? button("Try again", again) : null);
}

/* Charts that came with a late answer. */
function drawNew() {
	for (const d of drawn)
		if (!d.chart && d.canvas.isConnected)
			draw(d);
}

/* value null: it goes on, nobody knows how far. */
function meter(value, most, label) {
	const bar = el("div", { class: "meter", role: "progressbar", "aria-label": label, "aria-valuemin": "0", "aria-valuemax": String(most) }, el("span", {}));
	if (value === null) {
		bar.classList.add("unknown");
		return bar;
	}
	bar.setAttribute("aria-valuenow", String(value));
	bar.firstChild.style.width = 100 * (most > 0 ? Math.min(1, value / most) : 0) + "%";
	return bar;
}
