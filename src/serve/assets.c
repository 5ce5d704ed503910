/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assets.c - the files of the dashboard, inside the program.
 *
 * A file is one line of assets.def.  The assembler takes it in as it is when this file is
 * built (the Makefile knows that it depends on page/).
 */
#include <stdio.h>

#include "cli/report/report.h"
#include "serve/serve_inner.h"

#define CSP "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " \
	"connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

#define ASSET(name, path, type) \
	__asm__(".section .rodata\n\t.balign 1\n" \
	        "serve_asset_" #name ":\n\t.incbin \"src/serve/page/" path "\"\n" \
	        "serve_asset_" #name "_end:\n\t.byte 0\n\t.previous\n"); \
	extern const char serve_asset_##name[] __attribute__((visibility("hidden"))); \
	extern const char serve_asset_##name##_end[] __attribute__((visibility("hidden")));
#include "serve/assets.def"
#undef ASSET

static const struct asset { const char *path, *type, *data, *end; } assets[] = {
#define ASSET(name, path, type) { path, type, serve_asset_##name, serve_asset_##name##_end },
#include "serve/assets.def"
#undef ASSET
};

static void answer_asset(struct call *c, const char *type, const char *data, size_t size)
{
	buf_add(&c->answer->body, data, size);
	c->answer->type = type;
	http_answer_header(c->answer, "Content-Security-Policy", "%s", CSP);
	answer_json(c);
}

/* What the report has, too: its style, and the scripts that draw. */
static void answer_shared(struct call *c, const char *name)
{
	static const char *const shared[] = { "style.css", "chart.js", "tools.js", "charts.js",
	                                      "replay.js", "views.js" };

	for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
		char part[16];
		struct report_asset a;

		if (strcmp(shared[i], name))
			continue;
		snprintf(part, sizeof part, "%.*s", (int)strcspn(name, "."), name);
		a = report_asset(part);
		answer_asset(c, strstr(name, ".css") ? "text/css; charset=utf-8" :
		             "text/javascript; charset=utf-8", a.data, a.size);
		return;
	}
	http_problem(c->answer, 404, "there is no such file");
}

void route_asset(struct call *c)
{
	const char *name = c->args[0] ? c->args[0] : "index.html";

	for (size_t i = 0; i < sizeof assets / sizeof *assets; i++) {
		if (!strcmp(assets[i].path, name)) {
			answer_asset(c, assets[i].type, assets[i].data,
			             (size_t)(assets[i].end - assets[i].data));
			return;
		}
	}
	answer_shared(c, name);
}
