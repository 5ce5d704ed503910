/* SPDX-License-Identifier: Apache-2.0 */
/* readers.c - see readers.h. */
#include "engine/archive/readers.h"

#include "base/io/input.h"
#include "engine/archive/analyse.h"
#include "warc/http.h"
#include "web/html/encoding.h"
#include "web/page/compare.h"
#include "web/rules/robots.h"
#include "web/rules/sitemap.h"

struct cell_table readers_table(void)
{
	return (struct cell_table){
		.works = { [CELL_DECODE] = http_decode_cell, [CELL_PAGE] = analyse_cell,
		           [CELL_INFLATE] = input_cell, [CELL_COMPARE] = compare_cell,
		           [CELL_SITEMAP] = sitemap_cell, [CELL_ROBOTS] = robots_cell },
		.prepare = encoding_prepare,
	};
}

int readers_begin(void)
{
	struct cell_table t = readers_table();

	return cells_begin(&t);
}
