/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_assets.c - the files that a report's page is made of, inside the program.  The
 * dashboard (src/serve/page) draws with all of them but page.html and start.js.
 *
 * The assembler takes them in as they are when this file is built (the Makefile
 * knows that it depends on them); CHART_JS is where Debian's libjs-chart.js has
 * its minified file, whose licence notice is part of it.
 */
#include <string.h>

#include "cli/report/report.h"

#define ASSET(name, path) \
	__asm__(".section .rodata\n\t.balign 1\n" \
	        "report_asset_" #name ":\n\t.incbin \"" path "\"\n" \
	        "report_asset_" #name "_end:\n\t.byte 0\n\t.previous\n"); \
	extern const char report_asset_##name[] __attribute__((visibility("hidden"))); \
	extern const char report_asset_##name##_end[] __attribute__((visibility("hidden")))

ASSET(page, "src/cli/report/page/page.html");
ASSET(style, "src/cli/report/page/style.css");
ASSET(chart, CHART_JS);
ASSET(tools, "src/cli/report/page/tools.js");
ASSET(charts, "src/cli/report/page/charts.js");
ASSET(replay, "src/cli/report/page/replay.js");
ASSET(views, "src/cli/report/page/views.js");
ASSET(start, "src/cli/report/page/start.js");

struct report_asset report_asset(const char *name)
{
#define ROW(n) { #n, report_asset_##n, (size_t)(report_asset_##n##_end - report_asset_##n) }
	const struct report_asset all[] = { ROW(page), ROW(style), ROW(chart), ROW(tools),
	                                    ROW(charts), ROW(replay), ROW(views), ROW(start) };
#undef ROW

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(all[i].name, name))
			return all[i];
	return (struct report_asset){ 0 };
}
