/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.js - draws the documents of a report, each by the function of its kind.
 * A document of an unknown kind is shown as a list of its numbers.
 */

function plainView(d) {
	const flat = [];
	for (const [key, value] of Object.entries(d)) {
		if (key === "schema" || key === "seconds")
			continue;
		if (Array.isArray(value) && value.every(v => typeof v === "number"))
			flat.push([key.replace(/_/g, " "), value.map(v => show(v)).join(" - ")]);
		else if (value === null || typeof value !== "object")
			flat.push([key.replace(/_/g, " "), typeof value === "boolean" ? (value ? "yes" : "no") : value]);
	}
	return [facts(flat)];
}

const VIEWS = {
	"freshet.demo/1": demoView, "freshet.cycle/1": cycleView, "freshet.log/1": logView,
	"freshet.status/1": statusView, "freshet.cluster/1": clusterView, "freshet.rank/1": rankView,
	"freshet.live/1": liveView, "freshet.report/1": pagesView,
};

/* What a repository's history is called where it follows something else. */
function partTitle(documents) {
	const log = documents.find(d => d.schema === "freshet.log/1");
	const policy = log && log.cycles.length ? log.cycles[log.cycles.length - 1].policy : "";
	return documents[0].schema === "freshet.demo/1" ? "The repository that " + policy + " kept" : "The repository so far";
}

function start() {
	const main = document.getElementById("results");
	const lines = document.getElementById("documents").textContent.split("\n").filter(l => l.trim());
	const documents = lines.map(l => JSON.parse(l));
	const replays = documents.filter(d => d.schema === "freshet.replay/1" && !d.logged);
	const put = list => main.append(...list.filter(e => e));

	if (replays.length)
		put(replayView(replays));
	for (const d of documents) {
		if (d.schema === "freshet.status/1" && !d.by_site && !d.failing && d !== documents[0])
			put([el("h2", { class: "part" }, partTitle(documents))]);
		if (d.logged)
			put(loggedView(d));
		else if (d.schema !== "freshet.replay/1")
			put((VIEWS[d.schema] || plainView)(d));
	}
	drawAll();
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
	matchMedia("print").addEventListener("change", drawAll);
}

start();
