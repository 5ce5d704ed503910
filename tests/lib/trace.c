/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - small histories for tests; see trace.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace.h"

static struct text to_text(const char *s)
{
	return (struct text){ s, s ? strlen(s) : 0 };
}

void trace_add_status(struct history *h, const char *url, double day, int status,
                      const char *content, const char *links)
{
	struct record r = { .status = status, .length = -1, .offset = -1, .record_size = -1,
	                    .facts = { -1, -1, -1, -1, -1, -1 } };
	struct err err;

	r.time = TRACE_START + (int64_t)(day * DAY_SECONDS);
	r.url = to_text(url);
	r.digest = to_text(content);
	r.links = to_text(links);
	assert_int_equal(history_add(h, &r, &err), 0);
}

void trace_add(struct history *h, const char *url, double day, const char *content,
               const char *links)
{
	trace_add_status(h, url, day, content ? 200 : 404, content, links);
}

uint32_t trace_page(const struct history *h, const char *url)
{
	uint32_t page = strtab_find(&h->urls, url, strlen(url));

	assert_true(page < h->n_pages);
	return page;
}

void trace_world_defaults(struct world_opts *o)
{
	*o = (struct world_opts){ 0 };
	option_defaults(world_options, o);
	o->seed = 1;
}

static int add_record(void *arg, const struct record *r, struct err *err)
{
	return history_add(arg, r, err);
}

void trace_world(struct history *h, const struct world_opts *o)
{
	struct err err;

	assert_int_equal(world_generate(o, add_record, h, &err), 0);
}
