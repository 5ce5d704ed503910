/* SPDX-License-Identifier: Apache-2.0 */
/* settings.js - every setting with its meaning, its default, and what it is now. */
const GROUPS = [
	["What is fetched", ["policy", "aim", "weight", "budget", "every", "cycle-time", "host-time", "max-age", "site-share", "retry-share"]],
	["Whom the sites see", ["contact", "delay", "crawl-delay", "connections", "proxy", "ca-file", "allow-net", "ignore-robots"]],
	["What counts as a change", ["detect", "confirmations", "ignore", "words", "stem"]],
	["New pages, and scope", ["discover", "discover-per-directory", "discover-per-site", "discover-nofollow", "include", "exclude", "no-requests"]],
];

/* What may be written, in words. */
const HINTS = {
	DURATION: "a duration, as 30m, 12h or 1d", "N|N%": "a number, or a share as 5%", N: "a number", SPEC: "a name, or name:key=value,...",
	HOW: "bytes, text, tags or near:BITS", "URL|MAIL": "a URL, or mailto: and an address", CIDR: "networks, as 10.0.0.0/8", FILE: "a file of the server; only `freshet set` sets it", RULE: "a host, a prefix, a glob or regex:",
};

/* It names a file of the server: `freshet set` sets it, on the server itself. */
const isFile = s => s.values === "FILE";

/* "a|b|c" is a choice; the rest is text. */
function settingInput(s, value, id) {
	const choices = /^[a-z0-9-]+(\|[a-z0-9-]+)+$/.test(s.values || "") ? s.values.split("|") : null;
	if (choices) {
		const select = el("select", { id }), names = { 0: "no", 1: "yes" };
		for (const c of choices)
			select.append(el("option", { value: c }, names[c] || c));
		if (!choices.includes(value || s.default))
			select.prepend(el("option", { value: "" }, "not set"));
		select.value = value || s.default || "";
		return select;
	}
	const input = el("input", { id, type: "text", spellcheck: "false", autocomplete: "off", placeholder: s.default || "not set" });
	input.value = value || "";
	return input;
}

function settingRow(s, value) {
	const id = "setting-" + s.name, input = settingInput(s, value, id), said = el("span", { class: "said", role: "status" });
	const isSet = el("span", {}), row = el("form", { class: "setting-row" });
	const back = button("Default", () => save(null), "quiet");
	let now1 = value;
	const mark = () => {
		isSet.replaceChildren(...(known(now1) ? [badge(["set", "c0"])] : []));
		back.disabled = !known(now1);
	};
	const mine = may("admin") && !isFile(s), hint = (HINTS[s.values] || "") + (s.values === "N" && known(s.max) ? " from " + show(s.min) + " to " + show(s.max) : "");
	const about = [hint, known(s.default) ? "default " + s.default : ""].filter(t => t).join("; ");
	const sentence = s.help.charAt(0).toUpperCase() + s.help.slice(1) + (/[.!?]$/.test(s.help) ? "" : ".");
	const save = async wanted => {
		said.className = "said";
		said.textContent = "";
		try {
			await ask("PUT", "/v1/settings", wanted === null ? { key: s.name } : { key: s.name, value: wanted });
			now1 = wanted === null ? undefined : wanted;
			if (wanted === null)
				input.value = input.tagName === "SELECT" ? s.default || "" : "";
			said.textContent = "Saved.";
			mark();
		} catch (why) {
			said.className = "said problem";
			said.textContent = why.message;
		}
	};
	row.addEventListener("submit", e => {
		e.preventDefault();
		save(input.value.trim() === "" ? null : input.value.trim());
	});
	back.setAttribute("aria-label", "Default for " + s.name);
	mark();
	if (!mine)
		input.disabled = true;
	row.append(el("div", { class: "about" }, el("label", { for: id }, s.name), isSet, el("p", { class: "note" }, ...withCode(sentence)),
			about ? el("p", { class: "soft" }, ...withCode(about.charAt(0).toUpperCase() + about.slice(1))) : null),
		el("div", { class: "line" }, input, ...(mine ? [el("button", { type: "submit", "aria-label": "Save " + s.name }, "Save"), back] : [])), said);
	return row;
}

function settingsView(args, signal) {
	const box = el("div", { class: "stack" });
	fill(box, () => Promise.all([get("/v1/settings/known", signal), get("/v1/settings", signal)]), ([all, set]) => {
		const left = new Map(all.known.map(s => [s.name, s])), values = set.settings || {};
		const take = name => {
			const s = left.get(name);
			left.delete(name);
			return s;
		};
		const made = GROUPS.map(([title, names]) => [title, names.map(take).filter(s => s)]);
		made.push(["Others", [...left.values()]]);
		return made.filter(([, list]) => list.length).map(([title, list]) =>
			wideCard(title, ...list.map(s => settingRow(s, values[s.name]))));
	});
	return [el("h1", {}, "Settings"), note("They hold for every cycle from the next on. Options of a command go before them." +
		(may("admin") ? "" : " To change them, sign in with a token that has the right admin.")), box];
}
