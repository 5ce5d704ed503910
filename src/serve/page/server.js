/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.js - asks the server, follows its events, signs in.
 *
 * Answers are the documents of the API.  A refusal is a Problem, whose text says what, where
 * and what to do.  The token goes to the server once; the browser then has a cookie that no
 * script can read.
 */

class Problem extends Error {
	constructor(text, status) {
		super(text);
		this.status = status;
	}
}

/* session: freshet.session/1, who we are and what we may do. */
const server = { gone: false, listeners: [], session: { right: "none" } };
const RIGHTS = ["none", "read", "lease", "admin"];

function may(right) {
	return RIGHTS.indexOf(server.session.right) >= RIGHTS.indexOf(right);
}

/* Says once when the server goes, and once when it is back. */
function serverIs(gone) {
	if (server.gone === gone)
		return;
	server.gone = gone;
	for (const tell of server.listeners)
		tell(gone);
}

async function ask(method, path, body, signal) {
	const how = { method, credentials: "same-origin", headers: {}, signal };
	let answer;
	if (body !== undefined) {
		how.headers["Content-Type"] = "application/json";
		how.body = JSON.stringify(body);
	}
	try {
		answer = await fetch(path, how);
	} catch (e) {
		if (e.name === "AbortError")
			throw e;
		serverIs(true);
		throw new Problem("The server does not answer. Is freshet serve running?", 0);
	}
	serverIs(false);
	if (answer.status === 204)
		return null;
	const text = await answer.text();
	let document = null;
	try {
		document = text ? JSON.parse(text) : null;
	} catch (e) {
		document = null;
	}
	if (answer.ok)
		return document;
	const why = document && (document.detail || document.title) || answer.statusText || "it was refused";
	if (answer.status === 401 && path !== "/v1/session")
		signIn();
	throw new Problem(why, answer.status);
}

const get = (path, signal) => ask("GET", path, undefined, signal);

/* The documents of the shards of a fleet (freshet.shards/1) as one: counts are summed, lists are
 * put together, of times the first or the last is taken, and shares are weighted by pages.
 * A site is in one shard. */
function merged(all) {
	const whole = {};
	for (const key of new Set(all.flatMap(d => Object.keys(d)))) {
		const has = all.filter(d => d[key] !== undefined && d[key] !== null), values = has.map(d => d[key]), one = values[0];
		if (Array.isArray(one))
			whole[key] = values.flat();
		else if (one && typeof one === "object")
			whole[key] = merged(values);
		else if (key === "fresh") {
			const pages = has.reduce((sum, d) => sum + d.pages, 0);
			whole[key] = pages ? has.reduce((sum, d) => sum + d.pages * d.fresh, 0) / pages : null;
		} else if (typeof one === "number")
			whole[key] = values.reduce((sum, n) => sum + n, 0);
		else
			whole[key] = key === "last_capture" ? values.sort().pop() : values.sort()[0];
	}
	return whole;
}

/* Of a fleet the server answers by shard. */
async function getWhole(path, signal) {
	const d = await get(path, signal);
	return d.schema === "freshet.shards/1" ? merged(d.shards) : d;
}

/* "/v1/pages" and {site: "a b"} as one path; empty values are left out. */
function withParams(path, params) {
	const q = new URLSearchParams();
	for (const [key, value] of Object.entries(params))
		if (value !== undefined && value !== null && value !== "")
			q.set(key, value);
	const text = q.toString();
	return text ? path + "?" + text : path;
}

/* ---- events ---- */

const RETRY_MIN = 1000, RETRY_MAX = 30000;      /* ms until a lost stream is opened again */

/* Server-sent events; on: {name: function(document)}.  Opens again when it breaks off. */
function follow(path, on) {
	let wait = RETRY_MIN, source = null, timer = 0, ended = false;
	const open = () => {
		source = new EventSource(path);
		source.onopen = () => {
			wait = RETRY_MIN;
			serverIs(false);
		};
		for (const [name, act] of Object.entries(on))
			source.addEventListener(name, e => act(JSON.parse(e.data), e.lastEventId));
		source.onerror = () => {
			source.close();
			/* Why it broke off, an ordinary request finds out: no server, or no right. */
			get("/v1/now").catch(() => null);
			if (!ended)
				timer = setTimeout(open, wait);
			wait = Math.min(2 * wait, RETRY_MAX);
		};
	};
	open();
	return {
		again() {
			clearTimeout(timer);
			source.close();
			wait = RETRY_MIN;
			open();
		},
		end() {
			ended = true;
			clearTimeout(timer);
			source.close();
		},
	};
}

/* ---- signing in ---- */

const byId = id => document.getElementById(id);

function signIn() {
	const dialog = byId("sign-in");
	if (dialog.open)
		return;
	byId("sign-in-problem").textContent = "";
	byId("sign-in-token").value = "";
	dialog.showModal();
	byId("sign-in-token").focus();
}

function sessionIs(session) {
	server.session = session;
	byId("sign-out").hidden = !session.name;
	byId("sign-out").title = session.name ? "Signed in as " + plain(session.name) + ", right " + session.right : "";
}

/* begin() is called when we may read: at once, or when the server took a token. */
async function openSession(begin) {
	const dialog = byId("sign-in");
	dialog.addEventListener("cancel", e => e.preventDefault());    /* nothing can be seen without */
	byId("sign-in-form").addEventListener("submit", async e => {
		e.preventDefault();
		const problem = byId("sign-in-problem"), field = byId("sign-in-token");
		problem.textContent = "";
		try {
			sessionIs(await ask("POST", "/v1/session", { token: field.value.trim() }));
			field.value = "";
			dialog.close();
			begin();
		} catch (why) {
			problem.textContent = why.status === 401 ? "The server does not know this token." : why.message;
			field.focus();
		}
	});
	byId("sign-out").addEventListener("click", async () => {
		await ask("DELETE", "/v1/session").catch(() => null);
		location.reload();
	});
	sessionIs(await get("/v1/session"));
	if (may("read"))
		begin();
	else
		signIn();
}
