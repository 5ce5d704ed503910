/* SPDX-License-Identifier: Apache-2.0 */
/* The made-up web does what its knobs say. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "../../../lib/trace.h"

struct count {
	uint64_t pages, changes, late_changes, gone, bytes, forbidden, down;
	int64_t middle;
	struct buf *text;
};

static int count_record(void *arg, const struct record *r, struct err *err)
{
	struct count *c = arg;

	(void)err;
	c->forbidden += r->status == 403;
	c->down += r->status == 500;
	if (r->status == 403 || r->status == 500)
		return 0;
	if (r->status == 404)
		c->gone++;
	else if (r->time == TRACE_START)
		c->pages++;
	else
		c->changes++;
	if (r->status != 404 && r->time > c->middle)
		c->late_changes++;
	if (c->text)
		buf_add(c->text, r->url.s, r->url.size);
	if (c->text)
		buf_add(c->text, (const char *)&r->time, sizeof r->time);
	return 0;
}

static struct count count_world(const struct world_opts *o, struct buf *text)
{
	struct count c = { .text = text, .middle = o->start + o->steps * o->step_seconds / 2 };
	struct err err;

	assert_int_equal(world_generate(o, count_record, &c, &err), 0);
	return c;
}

static void quiet(struct world_opts *o)
{
	trace_world_defaults(o);
	o->rate_spread = o->site_spread = o->dir_spread = o->burst = o->death = 0;
}

static void pages_change_at_the_rate(void **state)
{
	struct world_opts o;
	struct count c;
	double n;

	(void)state;
	quiet(&o);
	o.rate = 0.08;
	c = count_world(&o, NULL);
	n = (double)c.pages * 52;
	assert_true(fabs((double)c.changes - 0.08 * n) < 4 * sqrt(0.08 * 0.92 * n));
	assert_int_equal(c.gone, 0);
	o.rate = 0;
	assert_int_equal(count_world(&o, NULL).changes, 0);
	o.rate = 1;
	c = count_world(&o, NULL);
	assert_int_equal(c.changes, c.pages * 52);
}

static void pages_die_at_their_rate(void **state)
{
	struct world_opts o;
	struct count c;
	double p;

	(void)state;
	quiet(&o);
	o.death = 0.01;
	c = count_world(&o, NULL);
	p = 1 - pow(0.99, 52);
	assert_true(fabs((double)c.gone - p * (double)c.pages) <
	            4 * sqrt(p * (1 - p) * (double)c.pages));
}

/* A page that begins to fail in step k of 52 fails 52 - k times and changes no more; a site
 * that is down has one failure of each page. */
static void pages_and_sites_fail(void **state)
{
	struct world_opts o;
	struct count c;
	double steps = 0, n;

	(void)state;
	quiet(&o);
	o.rate = 1;
	o.fail = 0.02;
	c = count_world(&o, NULL);
	n = (double)c.pages;
	for (int k = 1; k <= 52; k++)
		steps += 1 - pow(1 - o.fail, k);
	/* a page fails at most 52 times, so the spread of its number is at most 26 */
	assert_true(fabs((double)c.forbidden - steps * n) < 4 * 26 * sqrt(n));
	assert_int_equal(c.forbidden + c.changes, c.pages * 52);
	assert_int_equal(c.down, 0);
	o.fail = 0;
	o.outage = 0.25;
	o.sites = 400;
	c = count_world(&o, NULL);
	assert_true(fabs((double)c.down / (double)c.pages / 52 - 0.25) < 0.03);
	assert_int_equal(c.changes, c.pages * 52);
	assert_int_equal(c.forbidden, 0);
}

/* Of what dies at once: .7 .7 .8 are left; a site goes as a whole, so that the spread
 * is that of 400 sites and some. */
static void sites_directories_and_pages_die(void **state)
{
	struct world_opts o;
	struct count c;

	(void)state;
	quiet(&o);
	o.rate = 0;
	o.steps = 1;
	o.sites = 400;
	o.dirs = 4;
	o.pages = 3;
	o.site_dies = o.dir_dies = 0.3;
	o.page_dies = 0.2;
	c = count_world(&o, NULL);
	assert_true(fabs((double)c.gone / (double)c.pages - (1 - 0.7 * 0.7 * 0.8)) < 0.1);
	o.dir_dies = o.page_dies = 0;
	c = count_world(&o, NULL);
	assert_true(fabs((double)c.gone / (double)c.pages - 0.3) < 0.12);
	o.site_dies = 0;
	o.page_dies = 1;
	c = count_world(&o, NULL);
	assert_int_equal(c.gone, c.pages);
}

/* A burst of all directories in every step: pages change by its share. */
static void bursts_touch_their_share(void **state)
{
	struct world_opts o;
	struct count c;
	double n;

	(void)state;
	quiet(&o);
	o.rate = 0;
	o.burst = 1;
	o.burst_share = 0.6;
	c = count_world(&o, NULL);
	n = (double)c.pages * 52;
	assert_true(fabs((double)c.changes - 0.6 * n) < 4 * sqrt(0.6 * 0.4 * n));
}

/* Each page's history is its own: more sites behind it change nothing. */
static void pages_do_not_depend_on_others(void **state)
{
	struct world_opts o;
	struct buf few, many;

	(void)state;
	trace_world_defaults(&o);
	buf_init(&few, BUF_NO_LIMIT);
	buf_init(&many, BUF_NO_LIMIT);
	o.sites = 2;
	count_world(&o, &few);
	o.sites = 6;
	count_world(&o, &many);
	assert_true(many.size > few.size);
	assert_memory_equal(few.data, many.data, few.size);
	buf_clear(&many);
	o.sites = 2;
	o.seed = 2;
	count_world(&o, &many);
	assert_true(many.size != few.size || memcmp(many.data, few.data, few.size));
	buf_release(&few);
	buf_release(&many);
}

/* Rates drawn anew half-way: what changed often before need not after. */
static void a_new_regime_draws_rates_anew(void **state)
{
	struct world_opts o;
	struct history h[2];
	struct err err;

	(void)state;
	trace_world_defaults(&o);
	o.burst = o.death = 0;
	o.rate_spread = 2;
	for (int k = 0; k < 2; k++) {
		double sx = 0, sy = 0, sxy = 0, sxx = 0, syy = 0, n = 0, r;
		int64_t middle = o.start + 26 * o.step_seconds;

		o.regime = k ? 26 : 0;
		history_init(&h[k], (struct detector){ .kind = DETECT_BYTES }, 0);
		trace_world(&h[k], &o);
		assert_int_equal(history_finish(&h[k], &err), 0);
		for (uint32_t p = 0; p < h[k].n_pages; p++) {
			double x = 0, y = 0;

			for (uint64_t c = h[k].first[p]; c < h[k].first[p + 1]; c++)
				*(h[k].captures.v[c].time < middle ? &x : &y) += 1;
			n++;
			sx += x, sy += y, sxy += x * y, sxx += x * x, syy += y * y;
		}
		r = (sxy / n - sx / n * sy / n) / sqrt((sxx / n - sx * sx / n / n) *
		                                       (syy / n - sy * sy / n / n));
		assert_true(k ? fabs(r) < 0.1 : r > 0.6);
		history_release(&h[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_change_at_the_rate),
		cmocka_unit_test(pages_die_at_their_rate),
		cmocka_unit_test(pages_and_sites_fail),
		cmocka_unit_test(sites_directories_and_pages_die),
		cmocka_unit_test(bursts_touch_their_share),
		cmocka_unit_test(pages_do_not_depend_on_others),
		cmocka_unit_test(a_new_regime_draws_rates_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
