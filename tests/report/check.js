/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.js - runs inside an open report (tests/report/browse.py), after look.js, and says what is
 * wrong with it: blank charts, small or faint text, a page wider than the screen,
 * a chart without label or table.
 */
(async () => {
	const bad = [], INK_MIN = 0.002;
	const frame = () => new Promise(done => setTimeout(done, 60));

	const onPaper = matchMedia("print").matches;
	if (onPaper)
		await frame();
	for (const d of document.querySelectorAll("details"))
		d.open = true;
	await frame();
	await frame();

	const text = lookAtText();
	bad.push(...text.bad);
	let faintest = text.faintest;
	if (Chart.defaults.font.size < TEXT_MIN)
		bad.push("chart text of " + Chart.defaults.font.size + " px");

	/* Tiles of numbers: r rows of c, the last one shorter by less than r. */
	for (const list of document.querySelectorAll(".facts")) {
		const rows = new Map();
		for (const tile of list.children) {
			const top = Math.round(tile.getBoundingClientRect().top);
			rows.set(top, (rows.get(top) || 0) + 1);
		}
		const counts = [...rows.values()];
		if (counts.length && counts[0] - counts[counts.length - 1] >= counts.length)
			bad.push("tiles in rows of " + counts.join(", "));
	}

	bad.push(...lookAtWidth());

	/* A table that is cut off says that it goes on, some frames after it was drawn. */
	const unsigned = () => [...document.querySelectorAll(".scroll")].filter(box =>
		!onPaper && box.scrollWidth > box.clientWidth + 1 && (!box.parentElement.classList.contains("on-right") ||
		getComputedStyle(box.parentElement.querySelector(".more")).display === "none"));
	for (let n = 0; n < 200 && unsigned().length; n++)
		await frame();
	for (const box of unsigned())
		bad.push(box.getAttribute("aria-label") + ": cut off without a sign");

	/* Charts: drawn, of some size, labelled, with a table behind. */
	const canvases = [...document.querySelectorAll("canvas")];
	for (const canvas of canvases) {
		const name = canvas.getAttribute("aria-label") || "(no label)";
		const chart = Chart.getChart(canvas);
		if (canvas.getAttribute("role") !== "img" || !canvas.getAttribute("aria-label"))
			bad.push("a chart without a label");
		if (!chart || canvas.clientWidth < 200 || canvas.clientHeight < 90) {
			bad.push(name + ": " + canvas.clientWidth + " x " + canvas.clientHeight);
			continue;
		}
		/* Ink in the plotting area, where axes and legends do not reach, in the colour of a dataset. */
		const ratio = canvas.width / canvas.clientWidth, a = chart.chartArea;
		const pixels = canvas.getContext("2d").getImageData(Math.round(a.left * ratio), Math.round(a.top * ratio),
			Math.round(a.width * ratio), Math.round(a.height * ratio)).data;
		const wanted = chart.data.datasets.flatMap(s => [s.backgroundColor, s.borderColor].flat()).filter(Boolean);
		const probe = document.createElement("canvas").getContext("2d");
		const colours = new Set(wanted.map(css => {
			probe.fillStyle = css;
			return parseInt(probe.fillStyle.slice(1), 16);
		}));
		let ink = 0;
		for (let i = 0; i < pixels.length; i += 4)
			ink += pixels[i + 3] === 255 && colours.has(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
		/* Bars of nothing but zeros have no length: rates of pages that were never seen to change. */
		const flat = chart.config.type === "bar" && chart.data.datasets.every(s =>
			s.data.every(v => v === 0));
		if (!flat && ink < INK_MIN * pixels.length / 4)
			bad.push(name + ": blank (" + ink + " of " + pixels.length / 4 + " pixels)");
		if (a.width < 120)
			bad.push(name + ": only " + Math.round(a.width) + " px are left for the chart");
		const tick = Object.values(chart.scales).flatMap(s => [s.options.ticks.color, s.options.title && s.options.title.color]);
		for (const css of tick.filter(Boolean)) {
			probe.fillStyle = css;
			const hex = probe.fillStyle.match(/[0-9a-f]{2}/g).map(h => parseInt(h, 16));
			const c = contrast(hex, background(canvas));
			faintest = Math.min(faintest, c);
			if (c < CONTRAST_MIN)
				bad.push(name + ": axis contrast " + c.toFixed(2));
		}
		const table = canvas.closest("section").querySelector("details table");
		if (!table || !table.tBodies[0].rows.length)
			bad.push(name + ": no table behind it");
	}
	if (!document.querySelector(".verdict").textContent.trim())
		bad.push("no verdict");
	if (!document.querySelector("footer code").textContent.startsWith("freshet "))
		bad.push("no command line");
	if (!document.querySelector("main").children.length)
		bad.push("nothing is shown");
	bad.push(...lookForStrangers(3));
	if (document.querySelector("form"))
		bad.push("a form stands in the page");
	for (const d of document.querySelectorAll(".card details"))
		d.open = false;
	return { bad, charts: canvases.length, tables: document.querySelectorAll("table").length, smallest: text.smallest, contrast: faintest };
})()
