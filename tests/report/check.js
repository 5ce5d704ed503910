/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.js - runs inside an open report (tests/report/browse.py) and says what is
 * wrong with it: blank charts, small or faint text, a page wider than the screen,
 * a chart without label or table.
 */
(async () => {
	const bad = [], TEXT_MIN = 12, CONTRAST_MIN = 4.5, INK_MIN = 0.002;
	const frame = () => new Promise(done => setTimeout(done, 60));

	/* "rgb(1, 2, 3)" or "rgba(1, 2, 3, 0.5)" -> [r, g, b, a] */
	const channels = css => {
		const n = css.match(/[\d.]+/g).map(Number);
		return n.length < 4 ? [n[0], n[1], n[2], 1] : n;
	};
	const luminance = rgb => {
		const [r, g, b] = rgb.slice(0, 3).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const contrast = (a, b) => {
		const [x, y] = [luminance(a), luminance(b)];
		return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
	};
	const background = e => {
		for (; e; e = e.parentElement) {
			const c = channels(getComputedStyle(e).backgroundColor);
			if (c[3] === 1)
				return c;
		}
		return [255, 255, 255, 1];
	};

	const onPaper = matchMedia("print").matches;
	if (onPaper)
		await frame();
	for (const d of document.querySelectorAll("details"))
		d.open = true;
	await frame();
	await frame();

	/* Text: its size, and its contrast to what is behind it. */
	let smallest = Infinity, faintest = Infinity;
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node = walk.nextNode(); node; node = walk.nextNode()) {
		const e = node.parentElement;
		if (!node.textContent.trim() || e.closest("script, noscript, style"))
			continue;
		const style = getComputedStyle(e), size = parseFloat(style.fontSize);
		const c = contrast(channels(style.color), background(e));
		smallest = Math.min(smallest, size);
		faintest = Math.min(faintest, c);
		if (size < TEXT_MIN)
			bad.push("text of " + size + " px: " + node.textContent.slice(0, 40));
		if (c < CONTRAST_MIN)
			bad.push("contrast " + c.toFixed(2) + ": " + node.textContent.slice(0, 40));
	}
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

	/* The page fits the screen; only tables may be scrolled, inside their boxes. */
	const root = document.documentElement;
	if (root.scrollWidth > root.clientWidth)
		bad.push("the page is " + root.scrollWidth + " px wide on a screen of " + root.clientWidth);

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
	/* Names that try to be markup: our three scripts, and nothing that loads or runs. */
	if (document.scripts.length !== 3 || document.querySelector("img, iframe, object, embed, form, [onerror], [onload]"))
		bad.push("something that is not ours stands in the page");
	if (document.title === "owned" || !document.title.endsWith(" - Freshet"))
		bad.push("a script that is not ours has run");
	for (const d of document.querySelectorAll(".card details"))
		d.open = false;
	return { bad, charts: canvases.length, tables: document.querySelectorAll("table").length, smallest, contrast: faintest };
})()
