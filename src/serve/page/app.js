/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app.js - the views, which one is shown, and what all of them have: the head, the events, the
 * word that says whether the server is there.
 *
 * The address is #/VIEW/ARGUMENT?key=value.  A view is function(args, signal) that returns
 * elements at once and fills them as answers come; signal ends its requests when another view
 * is opened.
 */
const ROUTES = [
	["", "Overview", overviewView], ["pages", "Pages", pagesList], ["sites", "Sites", sitesList],
	["cycles", "Cycles", cyclesView], ["policies", "Policies", policiesView], ["settings", "Settings", settingsView],
	["page", null, pageView],
];

let opened = null;              /* {controller, lists}: of the view that is open */

/* Told until another view is opened. */
function viewListens(list, tell) {
	list.push(tell);
	opened.lists.push([list, tell]);
}

/* "#/pages?site=a" -> {name: "pages", arg: "", params} */
function address() {
	const [path, query] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
	const [name, ...rest] = path.split("/");
	let arg = rest.join("/");
	try {
		arg = decodeURIComponent(arg);
	} catch (e) {
		/* as it stands */
	}
	return { name, arg, params: new URLSearchParams(query || "") };
}

function closeView() {
	if (!opened)
		return;
	opened.controller.abort();
	for (const [list, tell] of opened.lists)
		list.splice(list.indexOf(tell), 1);
	forgetCharts();
	opened = null;
}

let navigated = false;

function openView() {
	const at = address(), route = ROUTES.find(r => r[0] === at.name) || ROUTES[0], main = byId("main");
	closeView();
	opened = { controller: new AbortController(), lists: [] };
	document.title = (route[1] ? route[1] + " - " : "") + "Freshet";
	for (const a of byId("nav").children)
		if (a.dataset.view === (route[1] ? route[0] : "pages"))
			a.setAttribute("aria-current", "page");
		else
			a.removeAttribute("aria-current");
	main.replaceChildren(...route[2](at, opened.controller.signal).filter(e => e));
	main.dataset.view = location.hash || "#/";
	drawNew();
	if (navigated) {                /* a reader is told of the new view */
		main.focus({ preventScroll: true });
		scrollTo(0, 0);
	}
	navigated = true;
}

function showState() {
	const [text, colourName] = nowWord(now.document), state = byId("state");
	if (state.textContent !== text)
		state.textContent = text;
	state.className = "state " + colourName;
	const banner = byId("banner");
	banner.hidden = !server.gone;
	const news = server.gone ? "The server does not answer. What you see is as it was " + (now.at ? ago(now.at).replace("now", "a moment ago") : "before") +
		". It is asked again by itself." : "";
	if (banner.textContent !== news)
		banner.textContent = news;
}

function startApp() {
	for (const [name, title] of ROUTES)
		if (title)
			byId("nav").append(el("a", { href: "#/" + name, "data-view": name }, title));
	server.listeners.push(gone => {
		showState();
		if (!gone && byId("main").querySelector(".trouble"))
			openView();     /* what could not be had is asked for again */
	});
	now.listeners.push(showState);
	addEventListener("hashchange", () => may("read") && openView());
	document.querySelector(".skip").addEventListener("click", e => {
		e.preventDefault();
		byId("main").focus();
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
	setInterval(() => {
		refreshTimes();
		showState();
	}, 5000);
	let events = null;
	openSession(() => {             /* again after each sign-in */
		if (events)
			events.again();
		else
			events = follow("/v1/events", { now: nowIs, change: c => now.changes.slice().forEach(tell => tell(c)) });
		openView();
		showState();
	}).catch(why => byId("main").replaceChildren(trouble(why, () => location.reload())));
}

startApp();
