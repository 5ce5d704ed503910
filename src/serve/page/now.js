/* SPDX-License-Identifier: Apache-2.0 */
/*
 * now.js - what the server is doing at this moment: the card that lives.
 *
 * The server sends freshet.now/1 whenever something has moved.  The rate is that of the last
 * RATE_SECONDS, of what was seen here.
 */
const RATE_SECONDS = 30, RATE_LEAST = 5000;     /* RATE_LEAST in ms */
const now = { document: null, seen: [], listeners: [], changes: [], at: 0 };

/* The cycle that runs: ours, or one that other crawlers lease from; null: none. */
function currentCycle(d) {
	const own = d.running && d.cycle && d.cycle.doing, leased = d.leases && d.leases.open ? d.leases : null;
	if (own)
		return { cycle: own.cycle, budget: own.budget, spent: own.spent, own };
	return d.running ? { cycle: null, budget: 0, spent: 0, own: null } : leased && { cycle: leased.cycle, budget: leased.budget, spent: leased.spent, leased };
}

/* A new document; those who listen are told, with the one before. */
function nowIs(d) {
	const before = now.document, c = currentCycle(d), was = before && currentCycle(before);
	if (!c || !was || was.cycle !== c.cycle)
		now.seen = [];
	if (c && c.cycle !== null)
		now.seen.push([Date.now(), c.spent]);
	while (now.seen.length > 2 && now.seen[0][0] < Date.now() - 1000 * RATE_SECONDS)
		now.seen.shift();
	now.document = d;
	now.at = Date.now();
	for (const tell of now.listeners.slice())
		tell(d, before);
}

/* Requests a second; of all the cycle until we have looked for a while; null if it cannot be said yet. */
function nowRate(own) {
	const first = now.seen[0], last = now.seen[now.seen.length - 1];
	if (now.seen.length > 1 && last[0] - first[0] > RATE_LEAST)
		return 1000 * (last[1] - first[1]) / (last[0] - first[0]);
	return own && own.seconds > 1 ? own.requests / own.seconds : null;
}

/* A cycle ended since the document before: the figures are others. */
function cycleEnded(d, before) {
	return before && currentCycle(before) && !currentCycle(d);
}

const isStopping = d => !!(d.cycle && d.cycle.state === "stopping");

/* In one word, for the head of every view: [text, colour]. */
function nowWord(d) {
	if (server.gone)
		return ["Server gone", "c1"];
	if (!d)
		return ["Connecting", "c7"];
	const c = currentCycle(d);
	if (isStopping(d))
		return ["Stopping", "c6"];
	if (c)
		return [c.cycle === null ? "A cycle begins" : "Cycle " + c.cycle + (c.leased ? " is leased" : " runs"), "c2"];
	return d.next_cycle ? ["Waits for the next cycle", "c0"] : ["Idle", "c7"];
}

const WAITING_SHOWN = 4;

const waitText = h => plain(h.why) + (h.rests ? " for " + span(h.rests) : h.pause ? " (" + show(h.pause, h.pause < 10 ? 1 : 0) + " s)" : "");

/* Hosts that are not asked at this moment, each with the reason; one that all share is said once. */
function hostsWaiting(own) {
	const hosts = own && own.hosts || [], shown = hosts.slice(0, WAITING_SHOWN);
	if (!shown.length)
		return null;
	const shared = shown.every(h => waitText(h) === waitText(shown[0])) ? waitText(shown[0]) : null;
	const pages = h => show(h.pages) + (h.pages === 1 ? " page" : " pages");
	const list = el("ul", { class: "rows" }, ...shown.map(h =>
		el("li", {}, siteLink(h.host), el("span", { class: "soft" }, pages(h) + (shared ? "" : ": " + waitText(h))))));
	const more = own.hosts_waiting - shown.length;
	return el("div", {}, el("h3", {}, "Hosts that wait" + (shared ? ": " + shared : "")), list, more > 0 ? note("and " + show(more) + " more") : null);
}

const pair = (name, value) => [el("dt", {}, name), el("dd", {}, value)];

function runningBody(d, c) {
	const rate = nowRate(c.own), left = Math.max(0, c.budget - c.spent), own = c.own, clients = d.leases && d.leases.clients || [];
	if (c.cycle === null)
		return [el("p", { class: "big" }, "A cycle begins"), note("The pages are being read and the policy plans.")];
	return [
		el("p", { class: "big" }, show(c.spent), el("small", {}, " of " + show(c.budget) + " requests spent")),
		meter(c.spent, c.budget, "Requests spent"),
		el("dl", { class: "pairs" },
			...pair("Rate", rate === null ? "being measured" : show(rate, rate < 10 ? 1 : 0) + " requests a second"),
			...pair("Budget left", show(left) + (own && known(own.seconds_left) ? ", about " + span(own.seconds_left) : "")),
			...(own ? pair("Under way", show(own.active) + (own.active === 1 ? " request, " : " requests, ") + show(own.planned) + " planned") : []),
			...(own && own.hosts_resting ? pair("Resting", show(own.hosts_resting) + (own.hosts_resting === 1 ? " host" : " hosts")) : []),
			...(c.leased ? pair("Leased", show(c.leased.leased) + " pages, " + show(c.leased.told) + " told") : [])),
		c.leased && clients.length ? el("ul", { class: "rows" }, ...clients.slice(0, WAITING_SHOWN).map(x =>
			el("li", {}, named(x.client, 40), el("span", { class: "soft" }, show(x.told) + " of " + show(x.leased) + " told, seen ", timeAgo(x.seen))))) : null,
	];
}

function idleBody(d) {
	const last = d.cycle && d.cycle.result, failed = d.cycle && d.cycle.state === "failed";
	return [
		el("p", { class: "big" }, d.next_cycle ? "Waits" : "Idle"),
		d.fleet ? el("p", {}, "No pages are leased here now.") :
			d.next_cycle ? el("p", {}, "The next cycle begins ", timeAgo(d.next_cycle), ".") :
			el("p", {}, "No cycle is planned. Start one here, or have them by the clock: ", el("code", {}, "freshet serve --every 12h"), "."),
		last ? note("Cycle " + last.cycle + " ended ", timeAgo(d.cycle.ended), ": " + show(last.downloads) + " requests found " +
			show(last.changed + last.gone) + " changes" + (last.new ? " and " + show(last.new) + " new pages" : "") + ".") : null,
		failed ? el("p", { class: "problem" }, "The last cycle failed: " + plain((d.cycle.said || "").trim().split("\n").pop() || "exit " + d.cycle.exit)) : null,
	];
}

/* Start a cycle with a budget, or stop the one that runs. */
function nowActions(d) {
	const c = currentCycle(d);
	if (d.fleet)
		return note("The cycles of a fleet are begun and ended by its workers: ", el("code", {}, "freshet work"), ".");
	if (!may("admin"))
		return note("To start and stop cycles, sign in with a token that has the right admin.");
	if (c && c.leased)
		return note("Other crawlers work on this cycle; it ends when its budget is spent and told.");
	if (c)
		return isStopping(d) ? note("It stops: what is under way is waited for and kept.") :
			actionButton("Stop this cycle", () => ask("DELETE", "/v1/cycles/current"), "danger");
	const budget = el("input", { type: "text", id: "budget", size: "8", placeholder: "default", spellcheck: "false", autocomplete: "off" });
	const start = actionButton("Start a cycle", () => ask("POST", "/v1/cycles", budget.value.trim() ? { budget: budget.value.trim() } : {}), "main");
	budget.addEventListener("keydown", e => {
		if (e.key === "Enter")
			start.firstChild.click();
	});
	return el("div", { class: "line" }, el("label", { for: "budget" }, "Budget"), budget, start);
}

/* The card; it keeps itself up to date, and what is being typed stays. */
function nowCard() {
	const body = el("div", {}), hosts = el("div", {}), actions = el("div", { class: "actions" });
	let kind = null;
	const put = d => {
		const c = currentCycle(d), next = [!!c, !!(c && c.leased), isStopping(d)].join();
		body.replaceChildren(...(c ? runningBody(d, c) : idleBody(d)).filter(e => e));
		hosts.replaceChildren(...[hostsWaiting(c && c.own)].filter(e => e));
		if (next !== kind)
			actions.replaceChildren(nowActions(d));
		kind = next;
	};
	if (now.document)
		put(now.document);
	else
		body.append(waiting());
	viewListens(now.listeners, put);
	return el("section", { class: "card now" }, el("h2", {}, "Now"), body, hosts, actions);
}
