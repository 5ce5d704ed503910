/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policies.js - the catalogue, and policies compared on the repository's own history.  A
 * comparison is a replay: the server runs it in the background, one click starts it.
 */
const REPLAY_POLL = 1000;       /* ms between two looks at a replay that runs */
const COMPARED = ["random", "oldest", "frequency", "tide"];

/* The cycles as they were of late: their budget, and the time between two; null: too few to compare by. */
const CYCLES_OF_LATE = 20, CYCLES_LEAST = 3, CYCLE_SHORTEST = 60;
function usualCycle(d) {
	const of_late = d.cycles.filter(c => !c.new || c.changed || c.same).slice(-CYCLES_OF_LATE);
	const middle = list => [...list].sort((a, b) => a - b)[list.length >> 1];
	const gaps = of_late.slice(1).map((c, i) => (moment(c.time) - moment(of_late[i].time)) / 1000).filter(s => s >= CYCLE_SHORTEST);
	return of_late.length < CYCLES_LEAST || !gaps.length ? null : { cycle: shortDuration(Math.round(middle(gaps))), budget: String(middle(of_late.map(c => c.budget))) };
}

/* 86400 as "1d". */
function shortDuration(seconds) {
	const [length, unit] = [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]].find(([l]) => seconds % l === 0);
	return seconds / length + unit;
}

const OF_A_FLEET = "The history of a fleet is compared elsewhere: export it (freshet export cdxj), and replay it (freshet replay --shards).";
const TOO_YOUNG = "There is too little history to compare by: let some cycles run first.";

const isRunning = r => r.state === "runs" || r.state === "stopping";

/* How far it is; null: not known yet. */
const replayShare = r => r.doing && r.doing.total ? r.doing.done / r.doing.total : null;

/* What it was asked for, in words. */
function replayAsked(r) {
	const a = r.asked || {};
	return (a.policies ? a.policies.map(p => plain(p)).join(", ") : "the usual policies") +
		(a.cycle ? ", cycles of " + plain(a.cycle) : "") + (a.budget ? ", budget " + plain(a.budget) : "");
}

function replayResult(r) {
	if (r.state === "failed")
		return [el("div", { class: "trouble", role: "alert" }, el("p", {}, "The comparison failed: " + plain((r.said || "no reason is known").trim().split("\n").pop())))];
	if (isRunning(r)) {
		const share = replayShare(r);
		return [card("The comparison runs", el("p", { class: "big" }, share === null ? span(r.seconds) : percent(share, 0), el("small", {}, share === null ? " so far" : " is done")),
			meter(share, 1, "Comparison"), note(replayAsked(r) + ". It runs in the background; you may leave this page."),
			!may("admin") ? null : el("p", { class: "actions" }, actionButton("Stop it", () => ask("DELETE", "/v1/replays/" + encodeURIComponent(r.id)), "danger")))];
	}
	if (!r.result)
		return [empty("The comparison was stopped.")];
	return [note("Compared ", timeAgo(r.began), ": " + replayAsked(r) + "."), ...replayView([r.result])];
}

/* Looks at a replay until it is over. */
function watchReplay(box, id, signal) {
	const look = async () => {
		if (signal.aborted)
			return;
		try {
			const r = await get("/v1/replays/" + encodeURIComponent(id), signal);
			forgetCharts();
			box.replaceChildren(...replayResult(r).filter(e => e));
			drawNew();
			if (isRunning(r))
				setTimeout(look, REPLAY_POLL);
		} catch (why) {
			if (why.name !== "AbortError")
				box.replaceChildren(trouble(why, look));
		}
	};
	look();
}

function compareForm(d, current, usual, started) {
	const chosen = new Set([...COMPARED, parseSpec(current).name]);
	const form = el("form", { class: "choices" }), problem = el("span", { class: "problem", role: "alert" });
	const group = el("fieldset", {}, el("legend", {}, "Policies"));
	for (const p of d.policies) {
		const box = el("input", { type: "checkbox", name: "policy", value: p.name, id: "policy-" + p.name });
		box.checked = chosen.has(p.name);
		group.append(el("label", { for: "policy-" + p.name, title: p.summary }, box, " " + p.name));
	}
	const go = may("admin") ? el("button", { type: "submit", class: "main" }, "Compare") : note("To compare, sign in with a token that has the right admin.");
	form.append(group, el("div", { class: "filter" }, field("cycle", "Cycle length", usual ? usual.cycle : "", { placeholder: "1d" }), field("replay-budget", "Budget of a cycle", usual ? usual.budget : "", { placeholder: "5%" }), go, problem));
	form.addEventListener("submit", async e => {
		e.preventDefault();
		const data = new FormData(form), policies = data.getAll("policy");
		problem.textContent = policies.length ? "" : "Choose one policy at least.";
		if (!policies.length)
			return;
		go.disabled = true;
		try {
			const body = { policies };
			if (data.get("cycle"))
				body.cycle = data.get("cycle");
			if (data.get("replay-budget"))
				body.budget = data.get("replay-budget");
			started(await ask("POST", "/v1/replays", body));
		} catch (why) {
			problem.textContent = why.message;
		}
		go.disabled = false;
	});
	return form;
}

function catalogue(d, current) {
	const name = parseSpec(current).name;
	return el("div", { class: "catalogue" }, ...d.policies.map(p => el("details", {},
		el("summary", {}, el("strong", {}, p.name), p.name === name ? badge(["in use", "c2"]) : null, p.replay_only ? badge(["replay only", "c7"]) : null,
			el("span", { class: "soft" }, " " + p.summary)),
		p.origin ? note("From: " + p.origin) : null,
		p.parameters.length ? table("Parameters of " + p.name, [{ name: "parameter", left: true }, { name: "default", left: true }, { name: "values", left: true }, { name: "what it does", left: true }],
			p.parameters.map(x => [x.name, show(x.default), x.values, x.help])) : note("It has no parameters."))));
}

function policiesView(args, signal) {
	const results = el("div", { "aria-live": "polite" }), box = el("div", { class: "stack" });
	fill(box, () => Promise.all(["policies", "settings", "replays", "cycles", "now"].map(what => get("/v1/" + what, signal))), ([d, settings, replays, cycles, doing]) => {
		const usual = usualCycle(cycles), current = (settings.settings || {}).policy || "auto", last = replays.replays[0];
		if (last)
			watchReplay(results, last.id, signal);
		else if (!doing.fleet)
			results.append(empty(usual ? "Nothing was compared yet." : TOO_YOUNG));
		return [wideCard("Compare on this repository's own history",
			note("What would each policy have found, with the same budget, in the history that is here? It works in the background."),
			doing.fleet ? note(OF_A_FLEET) : compareForm(d, current, usual, r => watchReplay(results, r.id, signal))),
			results,
			wideCard("The catalogue", note("The policy in use is " + plain(current) + ". ", el("a", { href: "#/settings" }, "Settings"), " change it."), catalogue(d, current))];
	});
	return [el("h1", {}, "Policies"), box];
}
