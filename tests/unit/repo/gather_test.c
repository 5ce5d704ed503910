/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that were gathered and written together are as if they had been written one by one,
 * and nobody is kept out meanwhile; rows that were read ahead are as if they had not been.  The oracle is the same sequence of calls in an open
 * batch of another store.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/math/rng.h"
#include "repo/store.h"
#include "../../lib/pg.h"
#include "../../lib/scratch.h"

enum { PAGES = 12, STEPS = 400, SITES = 3 };

static struct text text(const char *s)
{
	return (struct text){ s, strlen(s) };
}

static struct store *open_store(const char *name, char *path)
{
	struct store *s;
	struct err err;

	if (!strcmp(name, "postgres"))
		pg_url(path);
	else
		scratch_path(path, name);
	assert_int_equal(store_open(&s, path, STORE_CREATE, &err), 0);
	assert_int_equal(store_begin(s, &err), 0);
	for (int i = 0; i < PAGES; i++) {
		char url[40];
		uint32_t number;

		snprintf(url, sizeof url, "http://s%d/%d", i % SITES, i);
		assert_int_equal(store_page_add(s, text(url), 7, &number, &err), 1);
	}
	assert_int_equal(store_commit(s, &err), 0);
	return s;
}

/* A visit as a crawl writes it: the page is read, a capture may be kept, the page and the
 * visit name it. */
static void visit(struct store *s, uint32_t page, int64_t time, enum store_second how,
                  bool keep, uint64_t *ret_capture)
{
	struct store_capture c = { .page = page, .time = time, .length = time,
		.status = (time / 7 + page + how) % 2 ? 200 : 404,
		.title = text("A title"), .links = text("/x /y"), .etag = text("\"1\"") };
	struct store_visit v = { .cycle = 1, .page = page, .time = time, .status = 200,
	                         .score = NAN, .probability = 0.5f };
	struct store_page p, was;
	struct err err;

	assert_int_equal(store_page_get(s, page, &p, &err), 1);
	was = p;
	p.visits++;
	p.changes += keep;
	p.last_visit = time;
	p.fails = (uint32_t)time % 3;
	if (keep) {
		if (store_capture_put(s, &c, how, &err) > STORE_KNOWN)
			p.capture = c.id;
		v.capture = *ret_capture = c.id;
	}
	assert_int_equal(store_page_update(s, &was, &p, &err), 0);
	assert_int_equal(store_visit_add(s, &v, &err), 0);
}

static void trust(struct store *s, const char *site, uint32_t doubt)
{
	struct store_hint h, was;
	struct err err;

	assert_int_equal(store_hint_get(s, text(site), &h, &err), 0);
	was = h;
	h.checks++;
	h.hits += doubt & 1;
	h.read = 100 * doubt;
	h.doubt = doubt;
	assert_int_equal(store_hint_update(s, text(site), &was, &h, &err), 0);
}

static void robots(struct store *s, const char *origin, int64_t time)
{
	struct store_robots r = { .origin = text(origin), .time = time, .status = 200,
	                          .body = text("Disallow:"), .tried = time }, got;
	struct err err;

	assert_int_equal(store_robots_put(s, &r, 1, &err), 0);
	assert_int_equal(store_robots_get(s, text(origin), &got, &err), 1);
	assert_int_equal(got.time, time);
}

/* ---- all that a store has, as text ---- */

static int print_page(void *out, const struct store_page *p, struct err *err)
{
	(void)err;
	buf_printf(out, "page %u %u %u %lld %u %llu %.*s\n", p->number, p->visits, p->changes,
	           (long long)p->last_visit, p->fails, (unsigned long long)p->capture,
	           (int)p->given.size, p->given.s ? p->given.s : "");
	return 0;
}

static int print_capture(void *out, const struct store_capture *c, struct err *err)
{
	(void)err;
	buf_printf(out, "capture %llu %u %lld %lld %s %s %s\n", (unsigned long long)c->id, c->page,
	           (long long)c->time, (long long)c->length, c->title.s, c->links.s,
	           c->etag.s ? c->etag.s : "none");
	return 0;
}

static int print_visit(void *out, const struct store_visit *v, struct err *err)
{
	(void)err;
	buf_printf(out, "visit %u %u %lld %llu\n", v->order, v->page, (long long)v->time,
	           (unsigned long long)v->capture);
	return 0;
}

static int print_hint(void *out, struct text site, const struct store_hint *h, struct err *err)
{
	(void)err;
	buf_printf(out, "hint %.*s %u %u %lld %u\n", (int)site.size, site.s, h->checks, h->hits,
	           (long long)h->read, h->doubt);
	return 0;
}

static int print_robots(void *out, const struct store_robots *r, struct err *err)
{
	(void)err;
	buf_printf(out, "robots %.*s %lld\n", (int)r->origin.size, r->origin.s,
	           (long long)r->time);
	return 0;
}

static void print_all(struct store *s, struct buf *out)
{
	struct err err;

	buf_init(out, BUF_NO_LIMIT);
	assert_int_equal(store_pages(s, 0, print_page, out, &err), 0);
	assert_int_equal(store_captures(s, NULL, 0, print_capture, out, &err), 0);
	assert_int_equal(store_visits(s, 0, UINT32_MAX, print_visit, out, &err), 0);
	assert_int_equal(store_hints(s, print_hint, out, &err), 0);
	assert_int_equal(store_robots(s, NULL, 0, print_robots, out, &err), 0);
}

static void check_equal(struct store *one, struct store *both)
{
	struct buf a, b;

	print_all(one, &a);
	print_all(both, &b);
	assert_string_equal(buf_text(&a), buf_text(&b));
	buf_release(&a);
	buf_release(&b);
}

/* ---- tests ---- */

static void put_rows(struct store *s)
{
	struct err err;

	assert_int_equal(store_begin(s, &err), 0);
	assert_int_equal(store_write(s, &err), 0);
	assert_int_equal(store_commit(s, &err), 0);
}

static void test_as_if_one_by_one(void **state)
{
	char path[2][SCRATCH_PATH];

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct store *s[2] = { open_store("gathered", path[0]), open_store("direct", path[1]) };
		struct rng g;
		struct err err;

		rng_init(&g, seed);
		store_gather(s[0]);
		assert_int_equal(store_begin(s[1], &err), 0);
		for (int i = 0; i < STEPS; i++) {
			uint32_t page = (uint32_t)rng_below(&g, PAGES), what = (uint32_t)rng_below(&g, 10);
			int64_t time = 1000 + (int64_t)rng_below(&g, 60);       /* often taken */
			enum store_second how = (enum store_second)rng_below(&g, 3);
			uint64_t made[2] = { 0, 0 };
			char name[20];

			snprintf(name, sizeof name, "http://s%u", page % SITES);
			for (int k = 0; k < 2; k++) {
				if (what < 6)
					visit(s[k], page, time, how, what < 5, &made[k]);
				else if (what == 6)
					trust(s[k], name, page);
				else if (what == 7)
					robots(s[k], name, time);
				else if (what == 8)
					assert_int_equal(store_page_given(s[k], page, text("u"), text(name),
					                                  &err), 0);
			}
			/* new headers, of a capture that is there for certain */
			if (made[1] && rng_below(&g, 3) == 0)
				for (int k = 0; k < 2; k++)
					assert_int_equal(store_captures_refresh(s[k], &(struct store_headers){
						made[1], text(name), { 0 }, { 0 } }, 1, &err), 0);
			if (i % 37 == 36) {
				put_rows(s[0]);
				check_equal(s[0], s[1]);
				store_gather(s[0]);
			}
		}
		put_rows(s[0]);
		assert_int_equal(store_commit(s[1], &err), 0);
		check_equal(s[0], s[1]);
		for (int k = 0; k < 2; k++)
			store_close(s[k]);
	}
}

/* Others write while rows wait, and no change of theirs is lost. */
static void test_others_write_meanwhile(void **state)
{
	char path[SCRATCH_PATH];
	struct store *s = open_store("mine", path), *other;
	uint64_t capture = 0, id;
	struct store_page p;
	struct store_hint h;
	struct err err;

	(void)state;
	assert_int_equal(store_open(&other, path, STORE_EXISTING, &err), 0);
	store_gather(s);
	visit(s, 3, 2000, STORE_FIRST, true, &capture);
	trust(s, "s0", 1);
	assert_int_equal(store_begin(other, &err), 0);
	visit(other, 3, 1000, STORE_FIRST, true, &id);
	assert_true(id && id != capture);
	trust(other, "s0", 1);
	assert_int_equal(store_page_weigh(other, 3, 5, &err), 0);
	assert_int_equal(store_commit(other, &err), 0);
	assert_int_equal(store_page_get(s, 3, &p, &err), 1);    /* theirs and ours */
	assert_int_equal(p.visits, 2);
	assert_int_equal(p.last_visit, 2000);
	assert_true(p.capture == capture);
	put_rows(s);
	assert_int_equal(store_page_get(other, 3, &p, &err), 1);
	assert_int_equal(p.visits, 2);
	assert_int_equal(p.changes, 2);
	assert_int_equal(p.last_visit, 2000);
	assert_true(p.capture == capture && p.weight > 4);
	assert_int_equal(store_hint_get(other, text("s0"), &h, &err), 0);
	assert_int_equal(h.checks, 2);
	store_close(other);
	store_close(s);
}

/* What waits is dropped by a rollback, and with the program. */
static void test_what_waits_may_be_dropped(void **state)
{
	char path[SCRATCH_PATH];
	struct store *s = open_store("dropped", path), *fresh = open_store("fresh", path);
	uint64_t capture;
	struct err err;

	(void)state;
	store_gather(s);
	visit(s, 3, 2000, STORE_FIRST, true, &capture);
	robots(s, "http://s1", 5);
	store_rollback(s);
	check_equal(s, fresh);
	store_gather(s);
	visit(s, 4, 2000, STORE_FIRST, true, &capture);
	assert_int_equal(store_begin(s, &err), 0);
	assert_int_equal(store_write(s, &err), 0);
	store_rollback(s);
	check_equal(s, fresh);
	store_gather(s);
	visit(s, 4, 2000, STORE_FIRST, true, &capture);
	store_close(s);
	store_close(fresh);
}

/* ---- rows that were read ahead ---- */

static void foresee(struct store *s, struct rng *g)
{
	const struct text sites[] = { text("http://s0"), text("http://s1"), text("http://s2"),
	                              text("http://s0") };
	uint32_t pages[PAGES];
	struct err err;
	size_t n = 1 + rng_below(g, PAGES - 1);

	for (size_t i = 0; i < n; i++)
		pages[i] = (uint32_t)rng_below(g, PAGES);
	assert_int_equal(store_foresee(s, &(struct store_ahead){
		.pages = pages, .n_pages = n, .sites = sites, .n_sites = rng_below(g, 5),
		.origins = sites, .n_origins = rng_below(g, 5) }, &err), 0);
}

static void print_reads(struct store *s, uint32_t page, struct buf *out)
{
	struct store_capture c;
	struct store_robots r;
	struct store_hint h;
	struct store_page p;
	struct err err;
	char site[20];

	snprintf(site, sizeof site, "http://s%u", page % SITES);
	buf_init(out, BUF_NO_LIMIT);
	assert_int_equal(store_page_get(s, page, &p, &err), 1);
	buf_printf(out, "page %u %s %u %u %lld %u %s\n", p.number, p.url.s, p.visits, p.changes,
	           (long long)p.last_visit, p.fails, p.given.s ? p.given.s : "");
	if (p.capture) {
		assert_int_equal(store_copy_get(s, p.capture, &c, &err), 1);
		buf_printf(out, "copy %u %lld %lld %s %s\n", c.page, (long long)c.time,
		           (long long)c.length, c.title.s, c.etag.s ? c.etag.s : "none");
	}
	assert_int_equal(store_hint_get(s, text(site), &h, &err), 0);
	buf_printf(out, "hint %u %u %lld %u\n", h.checks, h.hits, (long long)h.read, h.doubt);
	if (store_robots_get(s, text(site), &r, &err) == 1)
		buf_printf(out, "robots %lld %s\n", (long long)r.time, r.body.s);
}

static void check_reads(struct store *far, struct store *direct)
{
	for (uint32_t page = 0; page < PAGES; page++) {
		struct buf a, b;

		print_reads(far, page, &a);
		print_reads(direct, page, &b);
		assert_string_equal(buf_text(&a), buf_text(&b));
		buf_release(&a);
		buf_release(&b);
	}
}

/* Reads of rows that were read ahead are as if they had not been: after our own changes,
 * after a batch, and, from the next batch on, after changes of another program. */
static void read_ahead(const char *kind, bool far)
{
	char path[2][PG_URL + SCRATCH_PATH];

	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct store *s[3] = { open_store(kind, path[0]), open_store("direct", path[1]) };
		struct err err;
		struct rng g;

		rng_init(&g, seed);
		assert_int_equal(store_open(&s[2], path[0], STORE_EXISTING, &err), 0);
		assert_true(store_is_far(s[0]) == far && !store_is_far(s[1]));
		store_gather(s[0]);
		for (int i = 0; i < STEPS / 4; i++) {
			uint32_t page = (uint32_t)rng_below(&g, PAGES), what = (uint32_t)rng_below(&g, 10);
			int64_t time = 1000 + i;
			uint64_t made[2] = { 0, 0 };
			char name[20];

			snprintf(name, sizeof name, "http://s%u", page % SITES);
			for (int k = 0; k < 2; k++) {
				if (what < 3)
					visit(s[k], page, time, STORE_FIRST, true, &made[k]);
				else if (what == 3)
					trust(s[k], name, page);
				else if (what == 4)
					robots(s[k], name, time);
				if (made[k] && i % 3 == 0)
					assert_int_equal(store_captures_refresh(s[k], &(struct store_headers){
						made[k], text(name), { 0 }, { 0 } }, 1, &err), 0);
			}
			if (what >= 5 && what < 8)
				foresee(s[0], &g);
			if (what >= 8)
				put_rows(s[0]);
			if (what == 9) {
				for (int k = 2; k >= 1; k--) {
					visit(s[k], page, time, STORE_FIRST, true, &made[0]);
					trust(s[k], name, page);
					robots(s[k], name, time);
				}
				put_rows(s[0]);
			}
			if (what >= 8)
				store_gather(s[0]);
			check_reads(s[0], s[1]);
		}
		for (int k = 0; k < 3; k++)
			store_close(s[k]);
	}
}

static void test_read_ahead(void **state)
{
	(void)state;
	read_ahead("postgres", true);
	read_ahead("gathered", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_if_one_by_one),
		cmocka_unit_test(test_others_write_meanwhile),
		cmocka_unit_test(test_what_waits_may_be_dropped),
		cmocka_unit_test(test_read_ahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
