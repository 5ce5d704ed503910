/* SPDX-License-Identifier: Apache-2.0 */
/* What a site can do to the new pages of others: nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "demo/origin.h"
#include "engine/discover/discover_inner.h"
#include "fetch/wire.h"
#include "../../../lib/bed.h"

#define DAY 86400
#define START 1700000000
#define PER_DIRECTORY 20

struct stage { int day; struct origin *origin; struct bed bed; };

/* 127.0.5.1 shows its stories from day 3 on; 127.0.5.2 names some that it does not have; .3 has
 * slow sitemaps, .4 good ones. */
static void answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	const struct stage *s = arg;

	buf_str(&r->headers, "Content-Type: text/html\n");
	if (!strcmp(q->host, "127.0.5.3") && strstr(q->path, ".xml")) {
		r->delay_ms = 300;
		buf_str(&r->body, "<sitemapindex>");
		for (int i = 0; i < 40; i++)
			buf_printf(&r->body, "<sitemap><loc>/slow-%d.xml</loc></sitemap>", i);
		buf_str(&r->body, "</sitemapindex>");
	} else if (!strcmp(q->host, "127.0.5.4") && strstr(q->path, ".xml")) {
		buf_printf(&r->body, strstr(q->path, "/sitemap") ? "<sitemapindex><sitemap>"
		           "<loc>/good-1.xml</loc></sitemap><sitemap><loc>/good-2.xml</loc></sitemap>"
		           "</sitemapindex>" : "<urlset><url><loc>/new%c</loc></url></urlset>",
		           q->path[6]);
	} else if (strstr(q->path, ".txt") || strstr(q->path, ".xml") || strstr(q->path, "/false")) {
		r->status = 404;
	} else if (!strcmp(q->host, "127.0.5.2")) {
		for (int i = 0; i < 3 * PER_DIRECTORY; i++)
			buf_printf(&r->body, "<a href=http://127.0.5.1:%u/story/false-%d>s</a>",
			           origin_port(s->origin), i);
	} else if (!strcmp(q->path, "/") && s->day >= 3) {
		for (int i = 0; i < PER_DIRECTORY / 2; i++)
			buf_printf(&r->body, "<a href=/story/%d>s</a>", i);
	} else {
		buf_str(&r->body, "nothing");
	}
}

static void setup(struct stage *s)
{
	*s = (struct stage){ 0 };
	s->origin = origin_start(answer, s);
	bed_open(&s->bed, "127.0.5.0/24");
	s->bed.opts.budget = (struct share){ 32, false };
	s->bed.opts.discover = (struct discover_opts){ .share = { 75, true },
		.per_directory = PER_DIRECTORY, .per_site = 1000 };
}

static void teardown(struct stage *s)
{
	bed_close(&s->bed);
	origin_stop(s->origin);
}

static size_t asked_for(struct stage *s, const char *prefix)
{
	size_t n, found = 0;
	struct origin_log *l = origin_read_log(s->origin, &n);

	for (size_t i = 0; i < n; i++)
		found += !strncmp(l[i].path, prefix, strlen(prefix));
	free(l);
	return found;
}

/* Nobody can fill up a directory of another site, for good, with what is not there. */
static void test_directory(void **state)
{
	struct stage s;
	char path[40];

	(void)state;
	setup(&s);
	bed_add(&s.bed, "http://127.0.5.1:%u/", origin_port(s.origin));
	bed_add(&s.bed, "http://127.0.5.2:%u/", origin_port(s.origin));
	for (s.day = 0; s.day < 7; s.day++) {
		s.bed.opts.now = START + s.day * DAY;
		bed_cycle(&s.bed);
	}
	assert_int_equal(asked_for(&s, "/story/false"), PER_DIRECTORY / 2);
	for (int i = 0; i < PER_DIRECTORY / 2; i++) {
		snprintf(path, sizeof path, "/story/%d", i);
		assert_true(asked_for(&s, path) > 0);
	}
	teardown(&s);
}

/* A site whose sitemaps have no end, each slow, does not put off the cycle by all of them. */
static void test_slow_sitemaps(void **state)
{
	struct stage s;
	double began;

	(void)state;
	setup(&s);
	s.bed.opts.discover.sitemap_seconds = 1;
	bed_add(&s.bed, "http://127.0.5.3:%u/", origin_port(s.origin));
	bed_add(&s.bed, "http://127.0.5.4:%u/", origin_port(s.origin));
	s.bed.opts.now = START;
	began = wire_now();
	bed_cycle(&s.bed);
	print_message("a cycle with 40 slow sitemaps: %.1f s\n", wire_now() - began);
	assert_true(asked_for(&s, "/slow-") < 8);
	assert_int_equal(asked_for(&s, "/good-"), 2);
	assert_int_equal(asked_for(&s, "/new"), 2);
	teardown(&s);
}

/* Ten sites with more candidates than there is room for leave some to the eleventh. */
static void test_room(void **state)
{
	struct discover_opts o = { .share = { 50, true }, .per_directory = 10, .per_site = 10 };
	struct store_cycle row = { .number = 1, .time = START };
	struct discovery report = { 0 };
	struct discover *d;
	struct stage s;
	struct err err;
	char url[80] = "";

	(void)state;
	setup(&s);
	for (int i = 1; i <= 11; i++)
		bed_add(&s.bed, "http://127.0.5.%d:%u/", i, origin_port(s.origin));
	assert_int_equal(discover_new(&d, s.bed.store, &o, &row, &err), 0);
	d->report = &report;
	for (int i = 1; i <= 11; i++)
		for (int k = 0; k < (i < 11 ? DISCOVER_SITE_URLS_MAX : 1000); k++) {
			int n = snprintf(url, sizeof url, "http://127.0.5.%d:%u/%d", i,
			                 origin_port(s.origin), k);

			discover_see(d, url, (size_t)n, STORE_NONE);
		}
	assert_true(d->urls.n <= DISCOVER_URLS_MAX);
	assert_int_equal(d->urls.n, report.found);
	assert_string_equal(strtab_get(&d->urls, d->urls.n - 1), url);
	assert_int_equal(d->site_seen.v[10], 1000);
	discover_free(d);
	teardown(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directory), cmocka_unit_test(test_room),
		cmocka_unit_test(test_slow_sitemaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
