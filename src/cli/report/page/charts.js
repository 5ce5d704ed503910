/* SPDX-License-Identifier: Apache-2.0 */
/*
 * charts.js - charts on cards, each with the table of its numbers behind it.
 *
 * A chart is drawn anew when the colours change (dark, light, paper).  Lines differ
 * in colour, dash and mark, so that they can be told apart without colour.
 */
const drawn = [];               /* every chart: {canvas, config(), chart} */
const COLOURS = 8;
const SERIES_MAX = 8;           /* lines of one chart; its table has all */
const CELLS_AT_ONCE = 4000;     /* of a table behind a chart */
const POINTS_MAX = 400;         /* of one line; longer ones are averaged */
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
const MARKS = ["circle", "rectRot", "triangle", "rect"];

function colour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

/* Error bars: a dataset's `errors` are [low, high] for each of its values. */
const whiskers = {
	id: "whiskers",
	afterDatasetsDraw(chart) {
		const flat = chart.options.indexAxis === "y";
		const scale = chart.scales[flat ? "x" : "y"], c = chart.ctx;
		chart.data.datasets.forEach((set, i) => {
			if (!set.errors || !chart.isDatasetVisible(i))
				return;
			c.save();
			c.strokeStyle = typeof set.borderColor === "string" ? set.borderColor : colour("text");
			c.lineWidth = 1.5;
			chart.getDatasetMeta(i).data.forEach((point, k) => {
				const e = set.errors[k];
				if (!e || !known(e[0]) || !known(e[1]) || e[0] === e[1])
					return;
				const [from, to] = e.map(v => scale.getPixelForValue(v));
				c.beginPath();
				for (const [a, b, x, y] of [[from, to, 0, 0], [from, from, -4, 4], [to, to, -4, 4]]) {
					c.moveTo(flat ? a : point.x + x, flat ? point.y + x : a);
					c.lineTo(flat ? b : point.x + y, flat ? point.y + y : b);
				}
				c.stroke();
			});
			c.restore();
		});
	}
};

function axis(title, more) {
	return Object.assign({
		title: { display: true, text: title, color: colour("soft") },
		ticks: { color: colour("soft"), maxRotation: 0, autoSkipPadding: 12 },
		grid: { color: colour("grid"), borderColor: colour("line") },
	}, more);
}

/* The axis reaches as far as the whiskers do; bars begin at 0 anyway. */
function reach(errors, fromZero) {
	const ends = errors.filter(e => e && known(e[0]) && known(e[1]));
	if (!ends.length)
		return {};
	const low = Math.min(...ends.map(e => e[0]));
	return { suggestedMax: Math.max(...ends.map(e => e[1])), suggestedMin: fromZero ? Math.min(0, low) : low };
}

function options(more) {
	return Object.assign({
		responsive: true, maintainAspectRatio: false, animation: false,
		plugins: {
			legend: legend(),
		},
	}, more);
}

function legend() {
	return { position: "bottom", labels: { color: colour("text"), boxWidth: 28, boxHeight: 6 } };
}

/* A name in the lines that a chart has room for, broken behind a sign where that can be.  Only of a
 * name that needs more than LINES_MAX the middle is left out; the table has it whole. */
const LINES_MAX = 5;
function wrap(name, width) {
	const room = Math.max(16, Math.floor(width / 22)), most = room * LINES_MAX, lines = [];
	if (name.length > most)
		name = name.slice(0, most - room - 1) + "\u2026" + name.slice(-room);
	for (let rest = name; rest; ) {
		let end = Math.min(room, rest.length);
		if (end < rest.length) {
			const sign = Math.max(...[..." /,:;.?&=-\u00b7"].map(c => rest.lastIndexOf(c, room - 1))) + 1;
			end = sign >= room / 2 && lines.length < LINES_MAX - 1 ? sign : end;
		}
		lines.push(rest.slice(0, end).trim());
		rest = rest.slice(end);
	}
	return lines.length > LINES_MAX ? [...lines.slice(0, LINES_MAX - 1), lines.slice(LINES_MAX - 1).join("")] : lines;
}

function draw(d) {
	if (d.chart)
		d.chart.destroy();
	if (d.heightAt)
		d.canvas.parentElement.style.height = d.heightAt(d.canvas.parentElement.clientWidth) + "px";
	Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
	Chart.defaults.font.size = 13;
	d.chart = new Chart(d.canvas, Object.assign(d.config(), { plugins: [whiskers] }));
}

/* title, note, label (what the picture shows), height, config(), heads, rows */
function chartCard(o) {
	const canvas = el("canvas", { role: "img", "aria-label": o.label || o.title });
	const plot = el("div", { class: "plot" }, canvas);
	plot.style.height = (o.height || 320) + "px";
	drawn.push({ canvas, config: o.config, heightAt: o.heightAt });
	const numbers = el("details", {}, el("summary", {}, "The numbers"));
	const fill = () => numbers.childElementCount < 2 && numbers.append(table(o.title, o.heads, o.rows));
	if (o.rows.length * o.heads.length < CELLS_AT_ONCE)
		fill();
	else
		numbers.addEventListener("toggle", fill);       /* large ones when they are asked for */
	return el("section", { class: o.wide ? "card wide" : "card" }, el("h2", {}, o.title),
	          o.note ? el("p", { class: "note" }, o.note) : null, plot, numbers);
}

/*
 * Horizontal bars, bars: [{name, value, low, high, series}].  Bars begin at 0; where
 * that would hide the differences, dots: true draws marks on an axis of their range.
 */
function barCard(o) {
	const n = o.bars.length;
	return chartCard(Object.assign({
		height: 70 + 30 * n,
		heightAt: width => 70 + n * Math.max(30, ...o.bars.map(b => 16 * wrap(b.name, width).length + 10)),
		heads: [{ name: o.of || "policy", left: true }, { name: o.axis, digits: o.digits }],
		rows: o.bars.map(b => [b.name, b.value]),
		label: o.title + ": " + o.bars.slice(0, 3).map(b => b.name + " " + show(b.value, o.digits)).join(", "),
		config: () => ({
			type: o.dots ? "line" : "bar",
			data: {
				labels: o.bars.map(b => b.name),
				datasets: [{
					showLine: false, pointRadius: 6, pointHoverRadius: 7,
					label: o.axis, data: o.bars.map(b => b.value),
					errors: o.bars.map(b => known(b.low) ? [b.low, b.high] : null),
					backgroundColor: o.bars.map(b => colour("c" + (known(b.series) ? b.series % COLOURS : 0))),
					borderColor: o.dots ? o.bars.map(b => colour("c" + (known(b.series) ? b.series % COLOURS : 0))) : undefined,
					maxBarThickness: 22,
				}],
			},
			options: options({
				indexAxis: "y",
				scales: {
					x: axis(o.axis, Object.assign({ beginAtZero: !o.dots, grace: o.dots ? "15%" : 0 },
						reach(o.bars.map(b => known(b.low) ? [b.low, b.high] : null), !o.dots))),
					y: axis("", {
						title: { display: false, color: colour("soft") }, grid: { display: !!o.dots, color: colour("grid"), borderColor: colour("line") }, offset: true,
						ticks: {
							color: colour("text"), autoSkip: false,
							callback(value) { return wrap(this.getLabelForValue(value), this.chart.width); },
						},
					}),
				},
				plugins: { legend: { display: false } },
			}),
		}),
	}, o));
}

/* Means of runs of neighbours, so that no line has more than POINTS_MAX points. */
function thin(values) {
	const step = Math.ceil(values.length / POINTS_MAX);
	if (step < 2)
		return values;
	const out = [];
	for (let i = 0; i < values.length; i += step) {
		const run = values.slice(i, i + step).filter(known);
		out.push(run.length ? run.reduce((a, b) => a + b, 0) / run.length : null);
	}
	return out;
}

function thinLabels(labels) {
	const step = Math.ceil(labels.length / POINTS_MAX);
	return step < 2 ? labels : labels.filter((l, i) => i % step === 0);
}

/*
 * Lines over labels.  lines: [{name, series, values, errors}], at most SERIES_MAX of
 * which are drawn; the table has them all.
 */
function lineCard(o) {
	const shown = o.lines.slice(0, SERIES_MAX), few = o.labels.length <= 40;
	return chartCard(Object.assign({
		heads: [{ name: o.x, left: true }, ...o.lines.map(l => ({ name: l.name, digits: o.digits }))],
		rows: o.labels.map((label, i) => [label, ...o.lines.map(l => l.values[i])]),
		label: o.title + ", lines: " + shown.map(l => l.name).join(", "),
		height: 340 + 12 * shown.length,
		config: () => ({
			type: "line",
			data: {
				labels: thinLabels(o.labels),
				datasets: shown.map(l => ({
					label: l.name, data: thin(l.values), errors: few ? l.errors : null,
					borderColor: colour("c" + l.series % COLOURS), backgroundColor: colour("c" + l.series % COLOURS),
					borderWidth: 2, borderDash: DASHES[Math.floor(l.series / COLOURS) % DASHES.length],
					pointStyle: MARKS[l.series % MARKS.length], pointRadius: few ? Math.min(3.5, 100 / o.labels.length) : 0,
					pointHitRadius: 8, spanGaps: true, tension: 0,
				})),
			},
			options: options({
				interaction: { mode: "index", intersect: false },
				scales: { x: axis(o.x), y: axis(o.y, Object.assign(few ? reach(shown.flatMap(l => l.errors || []), o.scale && o.scale.beginAtZero) : {}, o.scale)) },
				plugins: { legend: Object.assign(legend(), { display: shown.length > 1 }) },
			}),
		}),
	}, o));
}

/* Bars on top of each other.  parts: [{name, values, series}] */
function stackCard(o) {
	return chartCard(Object.assign({
		heads: [{ name: o.x, left: true }, ...o.parts.map(p => ({ name: p.name }))],
		rows: o.labels.map((label, i) => [label, ...o.parts.map(p => p.values[i])]),
		label: o.title + ": " + o.parts.map(p => p.name).join(", "),
		config: () => ({
			type: "bar",
			data: {
				labels: thinLabels(o.labels),
				datasets: o.parts.map((p, i) => ({
					label: p.name, data: thin(p.values), maxBarThickness: 48,
					backgroundColor: colour("c" + (known(p.series) ? p.series : i)),
				})),
			},
			options: options({
				interaction: { mode: "index", intersect: false },
				scales: {
					x: axis(o.x, { stacked: o.stacked !== false, grid: { display: false } }),
					y: axis(o.y, Object.assign({ stacked: o.stacked !== false, beginAtZero: true }, o.scale)),
				},
			}),
		}),
	}, o));
}

function drawAll() {
	drawn.forEach(draw);
}

/* Another view takes the place of these charts. */
function forgetCharts() {
	for (const d of drawn.splice(0))
		if (d.chart)
			d.chart.destroy();
}
