/* SPDX-License-Identifier: Apache-2.0 */
/* origin_client.c - see origin_client.h. */
#include "origin_client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void visitor_init(struct visitor *b, origin_answer *answer, void *arg)
{
	struct err err;

	*b = (struct visitor){ .opt = FETCH_DEFAULTS };
	if (answer)
		b->origin = origin_start(answer, arg);
	if (gate_allow(&b->gate, "127.0.0.0/8", &err) != 0)
		abort();
	b->opt.gate = &b->gate;
	b->opt.proxy = "";
	b->opt.polite.delay = b->opt.polite.address_delay = 0;
	b->opt.polite.jitter = 0;
	b->opt.connect_timeout = 2;
	b->opt.head_timeout = b->opt.whole_timeout = 5;
}

void visitor_go(struct visitor *b)
{
	struct err err;

	if (fetch_new(&b->fetch, &b->opt, &err) != 0)
		abort();
}

void visitor_release(struct visitor *b)
{
	fetch_free(b->fetch);
	gate_release(&b->gate);
	if (b->origin)
		origin_stop(b->origin);
}

void visitor_ask(struct visitor *b, const char *fmt, ...)
{
	char url[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(url, sizeof url, fmt, ap);
	va_end(ap);
	fetch_add(b->fetch, &(struct fetch_request){ .page = b->n++, .url = url });
}

const struct fetch_result *visitor_take(struct visitor *b)
{
	const struct fetch_result *r;

	if (fetch_next(b->fetch, 20, &r) != FETCH_GOT)
		abort();
	return r;
}

const struct fetch_result *visitor_one(struct visitor *b, struct fetch_request q)
{
	const struct fetch_result *r;

	fetch_add(b->fetch, &q);
	r = visitor_take(b);
	if (r->page != q.page)
		abort();
	return r;
}

size_t visitor_count(struct visitor *b, const char *host, const char *path)
{
	size_t n, found = 0;
	struct origin_log *l = origin_read_log(b->origin, &n);

	for (size_t i = 0; i < n; i++)
		found += (!host || !strcmp(l[i].host, host)) && (!path || !strcmp(l[i].path, path));
	free(l);
	return found;
}
