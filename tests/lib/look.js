/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look.js - looks at an open page from inside: is its text large and strong enough, does it
 * fit the screen, has anything come in that is not ours?  Goes before the script of a check.
 */
const TEXT_MIN = 12, CONTRAST_MIN = 4.5;

/* "rgb(1, 2, 3)", "rgba(1, 2, 3, 0.5)" or "color(srgb 0.1 0.2 0.3)" -> [r, g, b, a] */
const channels = css => {
	const n = css.match(/[\d.]+/g).map(Number).map((v, i) => css.startsWith("color(") && i < 3 ? 255 * v : v);
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

/* Every text that can be seen: {bad, smallest, faintest}. */
const lookAtText = () => {
	const bad = [];
	let smallest = Infinity, faintest = Infinity;
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node = walk.nextNode(); node; node = walk.nextNode()) {
		const e = node.parentElement;
		if (!node.textContent.trim() || e.closest("script, noscript, style, [hidden], dialog:not([open]), :disabled"))
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
	return { bad, smallest, faintest };
};

/* The page fits the screen; only tables may be scrolled, inside their boxes. */
const lookAtWidth = () => {
	const root = document.documentElement;
	return root.scrollWidth > root.clientWidth ?
		["the page is " + root.scrollWidth + " px wide on a screen of " + root.clientWidth] : [];
};

/* Names that try to be markup: so many scripts are ours, and nothing loads or runs. */
const lookForStrangers = scripts => {
	const bad = [];
	if (document.scripts.length !== scripts || document.querySelector("img, iframe, object, embed, [onerror], [onload], [onmouseover], [onfocus]"))
		bad.push("something that is not ours stands in the page");
	if (document.title === "owned" || !/(^| - )Freshet$/.test(document.title))
		bad.push("a script that is not ours has run");
	return bad;
};
