// SPDX-License-Identifier: Apache-2.0
// The second readers in Node, for tests/diff/diff.py: the WHATWG URL of Node itself, parse5 (below build/interop).
// Questions and answers are those of tests/tools/second.c.
import readline from "node:readline";
import { createRequire } from "node:module";
const require = createRequire(process.argv[2] + "/");
const { Tokenizer, TokenizerMode, Parser, defaultTreeAdapter } = await import(require.resolve("parse5"));
const text = (w) => Buffer.from(w === "." ? "" : w, "hex").toString("utf8");
const hex = (s) => s === null || s === undefined ? "-" : Buffer.from(s, "utf8").toString("hex") || ".";
const modes = [TokenizerMode.DATA, TokenizerMode.RCDATA, TokenizerMode.RAWTEXT, TokenizerMode.SCRIPT_DATA, TokenizerMode.PLAINTEXT, TokenizerMode.CDATA_SECTION];

class Log {
	constructor() { this.out = ""; this.chars = ""; }
	flush() { if (this.chars) this.out += `T ${hex(this.chars)};`; this.chars = ""; }
	put(s) { this.flush(); this.out += s + ";"; }
	characters(t) { this.chars += t.chars; }
	start(t) { this.put(`S ${hex(t.tagName)}` + t.attrs.map((a) => ` ${hex(a.name)}=${hex(a.value)}`).join("") + (t.selfClosing ? " /" : "")); }
	end(t) { this.put(`E ${hex(t.tagName)}`); }
	comment(t) { this.put(`C ${hex(t.data)}`); }
	doctype(t) { this.put(`D ${hex(t.name)} ${hex(t.publicId)} ${hex(t.systemId)} ${t.forceQuirks ? 1 : 0}`); }
}

function tokens(state, last, input) {
	const log = new Log();
	if (state === 9) {              // the tree builder says when text is raw
		const p = new Parser({ scriptingEnabled: false, treeAdapter: defaultTreeAdapter });
		// what the tokenizer of the parser delivers is seen before the tree builder changes it
		for (const [name, f] of [["onStartTag", "start"], ["onEndTag", "end"], ["onComment", "comment"], ["onDoctype", "doctype"],
			["onCharacter", "characters"], ["onNullCharacter", "characters"], ["onWhitespaceCharacter", "characters"]]) {
			const was = p[name].bind(p);
			p[name] = (t) => { if (!inside) log[f](t); inside++; try { was(t); } finally { inside--; } };
		}
		let inside = 0;
		p.tokenizer.write(input, true);
	} else {
		const handler = { onStartTag: (t) => log.start(t), onEndTag: (t) => log.end(t), onComment: (t) => log.comment(t), onDoctype: (t) => log.doctype(t),
			onEof() {}, onCharacter: (t) => log.characters(t), onNullCharacter: (t) => log.characters(t), onWhitespaceCharacter: (t) => log.characters(t) };
		const t = new Tokenizer({ sourceCodeLocationInfo: false }, handler);
		t.state = modes[state];
		t.lastStartTagName = last;
		t.write(input, true);
	}
	log.flush();
	return log.out;
}

const answers = {
	url(base, ref) {
		try { return hex(base === "." ? new URL(text(ref)).href : new URL(text(ref), new URL(text(base))).href); }
		catch { return "refused"; }
	},
	html: (state, last, data) => tokens(+state, text(last), text(data)),
};
for await (const line of readline.createInterface({ input: process.stdin })) {
	const [kind, ...words] = line.split(" ");
	process.stdout.write(answers[kind](...words) + "\n");
}
