/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools.js - elements, numbers and tables.
 *
 * Names of sites, URLs and policies come from anywhere: they reach the page only
 * as text (el() never parses HTML).
 */
"use strict";

/* el("p", {class: "note"}, "text", child, ...) */
function el(name, attributes, ...children) {
	const e = document.createElement(name);
	for (const [key, value] of Object.entries(attributes || {}))
		e.setAttribute(key, value);
	e.append(...children.filter(c => c !== null && c !== undefined));
	return e;
}

const known = x => x !== null && x !== undefined && !Number.isNaN(x);

/* 12345 as 12,345; 0.12345 with so many digits behind the point. */
function show(x, digits) {
	if (!known(x))
		return "-";
	if (typeof x !== "number")
		return String(x);
	const d = digits === undefined ? (Number.isInteger(x) ? 0 : 4) : digits;
	return x.toLocaleString("en-US", { minimumFractionDigits: d, maximumFractionDigits: d });
}

const percent = (x, digits = 1) => known(x) ? show(100 * x, digits) + "\u00a0%" : "-";

/* "20240131120000" or ISO 8601 as 2024-01-31, with the time where it is not midnight. */
function day(t) {
	if (!t)
		return "-";
	const m = /^(\d{4})-?(\d\d)-?(\d\d)T?(\d\d):?(\d\d)/.exec(t);
	if (!m)
		return String(t);
	const clock = m[4] + ":" + m[5];
	return m[1] + "-" + m[2] + "-" + m[3] + (clock === "00:00" ? "" : " " + clock);
}

function duration(seconds) {
	for (const [length, name] of [[604800, "week"], [86400, "day"], [3600, "hour"], [60, "minute"]])
		if (seconds >= length && seconds % length === 0)
			return seconds / length + " " + name + (seconds === length ? "" : "s");
	return seconds + " seconds";
}

/* As many columns as make the rows equally long: no tile stands alone in the last one. */
function balance(list) {
	const style = getComputedStyle(list), gap = parseFloat(style.columnGap) || 0;
	const least = parseFloat(style.getPropertyValue("--least")) * parseFloat(getComputedStyle(document.documentElement).fontSize);
	const n = list.children.length, fit = Math.max(1, Math.floor((list.clientWidth + gap) / (least + gap)));
	list.style.setProperty("--columns", String(Math.max(1, Math.ceil(n / Math.ceil(n / fit)))));
}

/* Numbers with their names: [[name, value], ...]; empty values are left out. */
function facts(rows) {
	const list = el("dl", { class: "facts" });
	for (const [name, value] of rows)
		if (known(value) && value !== "")
			list.append(el("div", {}, el("dt", {}, name),
			               el("dd", {}, typeof value === "number" ? show(value) : value)));
	new ResizeObserver(() => balance(list)).observe(list);
	return list;
}

function sortBy(body, column, up) {
	const value = row => {
		const cell = row.cells[column];
		return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
	};
	const order = (a, b) => typeof a === "string" || typeof b === "string" ?
		String(a).localeCompare(String(b)) : a - b;
	const rows = [...body.rows].sort((a, b) => order(value(a), value(b)) * (up ? 1 : -1));
	body.append(...rows);
}

function sortable(table, head, column) {
	const button = el("button", { type: "button" }, head.textContent);
	head.replaceChildren(button);
	button.addEventListener("click", () => {
		const up = head.getAttribute("aria-sort") === "descending";
		for (const other of table.tHead.rows[0].cells)
			other.removeAttribute("aria-sort");
		head.setAttribute("aria-sort", up ? "ascending" : "descending");
		sortBy(table.tBodies[0], column, up);
	});
}

/*
 * heads: [{name, digits, percent, left}]; rows: arrays of values, or of elements made of them.  Columns without any
 * value are left out; the others are sorted by a click on their heads.
 */
function table(caption, allHeads, allRows) {
	const filled = allHeads.map((h, i) => i === 0 || allRows.some(r => known(r[i]) && r[i] !== "-"));
	const heads = allHeads.filter((h, i) => filled[i]);
	const rows = allRows.map(r => r.filter((v, i) => filled[i]));
	const head = el("tr"), body = el("tbody");
	const t = el("table", {}, el("caption", {}, caption), el("thead", {}, head), body);
	for (const h of heads)
		head.append(el("th", { scope: "col", class: h.left ? "left" : "" }, h.name));
	for (const row of rows) {
		const tr = el("tr");
		row.forEach((value, i) => {
			const h = heads[i];
			const text = value instanceof Node ? value : h.percent ? percent(value) : show(value, h.digits);
			const cell = el(i ? "td" : "th", { class: h.left ? "left" : "" }, text);
			if (!i)
				cell.scope = "row";
			if (typeof value === "number")
				cell.dataset.value = value;
			else if (!known(value))
				cell.dataset.value = -Infinity;
			tr.append(cell);
		});
		body.append(tr);
	}
	if (rows.length > 1)
		heads.forEach((h, i) => sortable(t, head.cells[i], i));
	return scrolling(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, t));
}

/* A table wider than its box says so: a shadow where it goes on, and a line above it until it was scrolled. */
function scrolling(box) {
	const sign = el("p", { class: "more", "aria-hidden": "true" }, "\u2194 more columns: scroll sideways");
	const frame = el("div", { class: "frame" }, sign, box);
	const look = () => {
		const rest = box.scrollWidth - box.clientWidth;
		frame.classList.toggle("wider", rest > 1);
		frame.classList.toggle("on-left", box.scrollLeft > 1);
		frame.classList.toggle("on-right", rest - box.scrollLeft > 1);
	};
	box.addEventListener("scroll", look, { passive: true });
	new ResizeObserver(look).observe(box);
	return frame;
}

/* A table on a card of its own. */
function tableCard(title, note, heads, rows) {
	return el("section", { class: "card wide" }, el("h2", {}, title),
	          note ? el("p", { class: "note" }, note) : null, table(title, heads, rows));
}
