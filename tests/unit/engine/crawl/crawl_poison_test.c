/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers that would teach us wrong things: a 304 whatever the page is, an ETag that is
 * always new, a site that changes with every look.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "demo/origin.h"
#include "web/rules/validator.h"
#include "../../../lib/bed.h"

#define DAY 86400
#define START 1700000000
#define PAGES 30                /* of a host */

/* Hosts by the last number of their address. */
enum { LIAR = 1, HONEST, FRESH_TAGS, FICKLE, CALM, N_HOSTS };

struct stage {
	struct origin *origin;
	struct bed bed;
	int day;
	bool repents;                   /* LIAR tells the truth from now on */
	unsigned looks;                 /* at FICKLE */
};

static void answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	struct stage *s = arg;
	int host = atoi(strrchr(q->host, '.') + 1);
	char tag[40];

	if (!strcmp(q->path, "/robots.txt"))
		return;
	switch (host) {
	case LIAR:                      /* the page changes every day, its tag does not */
		snprintf(tag, sizeof tag, "\"%d\"", s->repents ? s->day : 0);
		buf_printf(&r->body, "%s on day %d", q->path, s->day);
		break;
	case FRESH_TAGS:
		snprintf(tag, sizeof tag, "\"%u\"", ++s->looks);
		buf_printf(&r->body, "%s as ever", q->path);
		break;
	case FICKLE:
		snprintf(tag, sizeof tag, "\"%u\"", ++s->looks);
		buf_printf(&r->body, "%s seen for the %uth time", q->path, s->looks);
		break;
	default:
		snprintf(tag, sizeof tag, "\"1\"");
		buf_printf(&r->body, "%s as ever", q->path);
	}
	buf_printf(&r->headers, "ETag: %s\n", tag);
	if (q->etag && !strcmp(q->etag, tag)) {
		r->status = 304;
		buf_clear(&r->body);
	}
}

static void setup(struct stage *s, const int *hosts, size_t n)
{
	*s = (struct stage){ 0 };
	s->origin = origin_start(answer, s);
	bed_open(&s->bed, "127.0.11.0/24");
	for (size_t i = 0; i < n; i++)
		for (int p = 0; p < PAGES; p++)
			bed_add(&s->bed, "http://127.0.11.%d:%u/%d", hosts[i], origin_port(s->origin), p);
	s->bed.opts.budget = (struct share){ 100, true };
}

static void teardown(struct stage *s)
{
	bed_close(&s->bed);
	origin_stop(s->origin);
}

static struct crawl_report next_day(struct stage *s)
{
	s->day++;
	s->bed.opts.now = START + s->day * DAY;
	return bed_cycle(&s->bed);
}

/* Requests of a host since the last time this was asked. */
struct asked { unsigned pages, conditional; };

static struct asked asked(struct stage *s, int host, size_t *from)
{
	size_t n;
	struct origin_log *l = origin_read_log(s->origin, &n);
	struct asked a = { 0 };
	char name[32];

	snprintf(name, sizeof name, "127.0.11.%d", host);
	for (size_t i = *from; i < n; i++) {
		if (strcmp(l[i].host, name) || !strcmp(l[i].path, "/robots.txt"))
			continue;
		a.pages++;
		a.conditional += l[i].conditional;
	}
	free(l);
	*from = n;
	return a;
}

static void test_a_liar_is_found_out(void **state)
{
	struct stage s;
	struct crawl_report r;
	struct asked a;
	size_t from = 0;
	int days = 0;

	(void)state;
	setup(&s, (int[]){ LIAR }, 1);
	next_day(&s);
	asked(&s, LIAR, &from);
	do {
		r = next_day(&s);
		a = asked(&s, LIAR, &from);
		assert_int_equal(r.cycle.changed, a.pages - a.conditional);
		assert_true(++days < 10);
	} while (!r.lies);
	/* from now on it is asked without conditions, and nothing is missed */
	for (int i = 0; i < 3; i++) {
		r = next_day(&s);
		a = asked(&s, LIAR, &from);
		assert_int_equal(a.conditional, 0);
		assert_int_equal(r.cycle.changed, PAGES);
		assert_int_equal(r.lies, PAGES);
	}
	/* it can win our trust again: it takes VALIDATOR_DOUBT answers */
	s.repents = true;
	for (unsigned seen = 0; seen < VALIDATOR_DOUBT; seen += PAGES) {
		r = next_day(&s);
		assert_int_equal(r.lies, 0);
		assert_int_equal(r.cycle.changed, PAGES);
		a = asked(&s, LIAR, &from);
		if (seen + PAGES <= VALIDATOR_DOUBT)
			assert_int_equal(a.conditional, 0);
	}
	r = next_day(&s);
	assert_true(asked(&s, LIAR, &from).conditional > PAGES / 2);
	assert_int_equal(r.cycle.changed, PAGES);
	teardown(&s);
}

static void test_honest_tags_are_used(void **state)
{
	struct stage s;
	struct asked a, sum = { 0 };
	size_t from = 0;

	(void)state;
	setup(&s, (int[]){ HONEST }, 1);
	next_day(&s);
	asked(&s, HONEST, &from);
	for (int i = 0; i < 40; i++) {
		struct crawl_report r = next_day(&s);

		assert_int_equal(r.cycle.same, PAGES);
		assert_int_equal(r.lies, 0);
		a = asked(&s, HONEST, &from);
		sum.pages += a.pages;
		sum.conditional += a.conditional;
	}
	/* 1 of 20 of 1,200 is a check: 60, within four deviations */
	assert_in_range(sum.pages - sum.conditional, 30, 90);
	teardown(&s);
}

/* Judged is the content: a tag that is always new changes nothing. */
static void test_fresh_tags_are_no_change(void **state)
{
	struct stage s;

	(void)state;
	setup(&s, (int[]){ FRESH_TAGS }, 1);
	assert_int_equal(next_day(&s).cycle.fresh, PAGES);
	for (int i = 0; i < 3; i++) {
		struct crawl_report r = next_day(&s);

		assert_int_equal(r.cycle.same, PAGES);
		assert_int_equal(r.cycle.changed, 0);
		assert_int_equal(r.lies, 0);
	}
	teardown(&s);
}

/* A site that changes with every look has its part of a cycle and no more. */
static void test_a_fickle_site_has_its_part(void **state)
{
	static const int hosts[] = { FICKLE, CALM, CALM + 1, CALM + 2 };
	static const char *const policies[] = { "tide", "thompson", "frequency" };

	(void)state;
	for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
		for (int bound = 0; bound < 2; bound++) {
			unsigned most = 0;
			size_t from = 0;
			struct stage s;

			setup(&s, hosts, 4);
			s.bed.opts.policy = policies[p];
			next_day(&s);
			s.bed.opts.budget = (struct share){ 20, false };
			s.bed.opts.site_share = (struct share){ bound ? 40 : 100, true };
			asked(&s, FICKLE, &from);
			for (int i = 0; i < 12; i++) {
				struct crawl_report r = next_day(&s);
				unsigned n = asked(&s, FICKLE, &from).pages;

				assert_int_equal(r.cycle.downloads, 20);
				if (bound && n > 8)
					fail_msg("%s: %u of 20 for the fickle site, %u given up of %s",
					         policies[p], n, r.given_up, r.full_site);
				assert_true(bound || !r.given_up);
				assert_true(!r.given_up == !*r.full_site);
				most = n > most ? n : most;
			}
			print_message("%s, %s: at most %u of 20 requests to the fickle site\n",
			              policies[p], bound ? "bound" : "free", most);
			if (!bound && p == 0)
				assert_true(most > 12); /* else it was no poison */
			teardown(&s);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_liar_is_found_out),
		cmocka_unit_test(test_honest_tags_are_used),
		cmocka_unit_test(test_fresh_tags_are_no_change),
		cmocka_unit_test(test_a_fickle_site_has_its_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
