/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal alive on a made web of thousands of pages whose fates are known: dead ones,
 * redirects, servers that say 200 to everything, pages that say "page not found"
 * with 200, servers that do not know HEAD, hosts where nobody listens.
 *
 * Sanitized only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/map.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "demo/origin.h"
#include "../../../lib/bed.h"
#include "../../../lib/whole.h"

#define HOSTS 30
#define DIRS 5
#define PAGES 20                /* of a directory: 3,000 in all */

/* What a host does with pages that are gone; by its number. */
enum manner { HONEST, SOFT_ALL, SOFT_PHRASE, TO_HOME, NO_HEAD, SILENT, N_MANNERS };
enum fate { LIVES, MOVED, GONE };

struct web { uint64_t seed; struct origin *origin; uint32_t slow_ms; };

static enum manner manner_of(unsigned host)
{
	return (enum manner)(host % N_MANNERS);
}

/* Hosts, then directories, then pages die; what moved has a new place. */
static enum fate fate_of(const struct web *w, unsigned host, unsigned dir, unsigned page)
{
	double h = rng_unit(rng_draw(w->seed, 1, host, RNG_WORLD));
	double d = rng_unit(rng_draw(w->seed, 2, host * 100 + dir, RNG_WORLD));
	double p = rng_unit(rng_draw(w->seed, 3, host * 10000 + dir * 100 + page, RNG_WORLD));

	if (manner_of(host) == SILENT || h < 0.3 || d < 0.4 || p < 0.15)
		return GONE;
	return p < 0.25 ? MOVED : LIVES;
}

static void page_body(struct origin_reply *r, unsigned host, unsigned dir, unsigned page)
{
	struct rng g;

	rng_init(&g, rng_draw(7, host, dir, page));
	buf_printf(&r->body, "<html><title>Page %u</title><body>", page);
	for (int i = 0; i < 60; i++)
		buf_printf(&r->body, "w%u ", (unsigned)rng_below(&g, 100000));
	buf_str(&r->body, "</body></html>");
	buf_str(&r->headers, "Content-Type: text/html\n");
}

static void say_gone(struct origin_reply *r, enum manner m, bool known)
{
	buf_str(&r->headers, "Content-Type: text/html\n");
	if (m == SOFT_ALL) {
		buf_str(&r->body, "<html><title>Welcome</title><body>We looked everywhere, but what "
		        "you want is elsewhere today. Try the search box.</body></html>");
	} else if (m == SOFT_PHRASE && known) {
		buf_str(&r->body, "<html><title>Sorry: Page  Not Found</title><body>x</body></html>");
	} else if (m == TO_HOME) {
		r->status = 302;
		buf_str(&r->headers, "Location: /\n");
	} else {
		r->status = 404;
		buf_str(&r->body, "<html><body>404</body></html>");
	}
}

static void answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	const struct web *w = arg;
	unsigned host = 0, dir, page;
	char end;
	bool moved;
	enum manner m;

	sscanf(q->host, "127.0.2.%u", &host);
	m = manner_of(host - 1);
	r->delay_ms = w->slow_ms;
	if (!strcmp(q->path, "/robots.txt")) {
		r->status = 404;
	} else if (m == NO_HEAD && !strcmp(q->method, "HEAD")) {
		r->status = 405;
	} else if (!strcmp(q->path, "/")) {
		buf_str(&r->body, "<html><body>Home of all that moved</body></html>");
		buf_str(&r->headers, "Content-Type: text/html\n");
	} else if (sscanf(q->path, "/d%u/p%u.html%c", &dir, &page, &end) == 2 && dir < DIRS &&
	           page < PAGES) {
		enum fate f = fate_of(w, host - 1, dir, page);

		if (f == LIVES) {
			page_body(r, host, dir, page);
		} else if (f == MOVED) {        /* pairs move to one place */
			r->status = 301;
			buf_printf(&r->headers, "Location: /new/d%u-%u.html\n", dir, page / 2);
		} else {
			say_gone(r, m, true);
		}
	} else {
		moved = sscanf(q->path, "/new/d%u-%u.html%c", &dir, &page, &end) == 2 && dir < DIRS;
		if (moved)
			page_body(r, host, dir + 50, page);
		else
			say_gone(r, m, false);
	}
}

struct stage {
	struct web web;
	struct bed bed;
	uint32_t n_alive;               /* distinct places, by the world itself */
	struct strtab truth, urls;      /* truth: the living places */
};

static void add_truth(struct stage *s, unsigned h, unsigned d, unsigned p)
{
	char text[100];
	bool fresh;

	if (fate_of(&s->web, h, d, p) == GONE)
		return;
	if (fate_of(&s->web, h, d, p) == LIVES)
		snprintf(text, sizeof text, "http://127.0.2.%u:%u/d%u/p%u.html", h + 1,
		         origin_port(s->web.origin), d, p);
	else
		snprintf(text, sizeof text, "http://127.0.2.%u:%u/new/d%u-%u.html", h + 1,
		         origin_port(s->web.origin), d, p / 2);
	strtab_intern(&s->truth, text, strlen(text), &fresh);
	s->n_alive += fresh;
}

static void setup(struct stage *s, uint64_t seed)
{
	*s = (struct stage){ .web = { .seed = seed } };
	s->web.origin = origin_start(answer, &s->web);
	bed_open(&s->bed, "127.0.2.0/24");
	for (unsigned i = 0; i < HOSTS * DIRS * PAGES; i++) {
		unsigned h = i / (DIRS * PAGES), d = i / PAGES % DIRS, p = i % PAGES;
		char url[100];
		int n = snprintf(url, sizeof url, "http://127.0.2.%u:%u/d%u/p%u.html", h + 1,
		                 manner_of(h) == SILENT ? 2 : origin_port(s->web.origin), d, p);

		bed_add(&s->bed, "%s", url);
		strtab_intern(&s->urls, url, (size_t)n, NULL);
		add_truth(s, h, d, p);
	}
	s->bed.opts.goal = GOAL_ALIVE;
	s->bed.opts.policy = "auto";
	s->bed.opts.budget = (struct share){ 0 };
	s->bed.opts.life.target = 0.8;
}

static void teardown(struct stage *s)
{
	bed_close(&s->bed);
	origin_stop(s->web.origin);
	strtab_release(&s->truth);
	strtab_release(&s->urls);
}

struct audit { struct stage *s; uint32_t n; bool *seen; };

static int audit_found(void *arg, const struct life_found *f, struct err *err)
{
	struct audit *a = arg;
	uint32_t i = strtab_find(&a->s->truth, f->url, strlen(f->url));

	(void)err;
	if (i == MAP_NONE)
		fail_msg("%s (%s) is listed and does not live", f->url, f->page);
	assert_false(a->seen[i]);       /* each place once */
	a->seen[i] = true;
	a->n++;
	return 0;
}

/* Nothing dead is listed, nothing twice; returns how many are. */
static uint32_t audit(struct stage *s, uint32_t cycle)
{
	struct audit a = { s, 0, mem_zalloc(s->truth.n + 1ul, 1) };
	struct err err;

	assert_int_equal(life_list(s->bed.store, cycle, audit_found, &a, &err), 0);
	free(a.seen);
	return a.n;
}

/* Pages that must be tested in the order of the list until 80 % are found. */
static uint32_t list_order(const struct stage *s, double share)
{
	uint32_t found = 0, tests = 0, hits = 0;

	for (uint32_t i = 0; i < HOSTS * DIRS * PAGES; i++)
		hits += fate_of(&s->web, i / (DIRS * PAGES), i / PAGES % DIRS, i % PAGES) != GONE;
	while (found < share * hits) {
		found += fate_of(&s->web, tests / (DIRS * PAGES), tests / PAGES % DIRS,
		                 tests % PAGES) != GONE;
		tests++;
	}
	return tests;
}

static void test_finds_the_living_with_few_requests(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct crawl_report r;
		struct stage s;
		uint32_t listed;

		setup(&s, seed);
		r = bed_cycle(&s.bed);
		listed = audit(&s, r.cycle.number);
		assert_int_equal(listed, r.life.alive);
		assert_true(r.life.reached);
		assert_true(listed >= 0.8 * s.n_alive);
		assert_true(r.life.soft_404 > 20);
		assert_true(r.life.classes[LIVENESS_NO_ANSWER] > 0);
		assert_true(r.life.classes[LIVENESS_NOT_FOUND] > 0);
		assert_true(r.life.targets > 0 && r.life.targets < r.life.redirects_alive);
		/* all requests, siblings and robots.txt too, against one a page in list order */
		if (life_requests(&r.life, r.cycle.downloads) >= list_order(&s, 0.8))
			fail_msg("%llu requests, list order %u", (unsigned long long)
			         life_requests(&r.life, r.cycle.downloads), list_order(&s, 0.8));
		teardown(&s);
	}
}

/* Without a target everything is tested: the verdicts are the truth. */
static void test_every_page_rightly(void **state)
{
	struct crawl_report r;
	struct origin_log *log;
	struct stage s;
	size_t n, heads = 0;

	(void)state;
	setup(&s, 3);
	s.bed.opts.life.target = 0;
	s.bed.opts.policy = "liverank:order=random";
	r = bed_cycle(&s.bed);
	assert_int_equal(r.life.tested, HOSTS * DIRS * PAGES);
	assert_int_equal(audit(&s, r.cycle.number), s.n_alive);
	assert_true(r.life.ended && !r.life.estimated);
	log = origin_read_log(s.web.origin, &n);
	for (size_t i = 0; i < n; i++)
		heads += !strcmp(log[i].method, "HEAD");
	free(log);
	assert_true(heads > 100);
	/* what the origin saw is what was counted, but for hosts where nobody listens */
	assert_int_equal(r.life.classes[LIVENESS_NO_ANSWER], HOSTS / N_MANNERS * DIRS * PAGES);
	assert_int_equal(n, life_requests(&r.life, r.cycle.downloads) -
	                 HOSTS / N_MANNERS * (DIRS * PAGES + 1));
	teardown(&s);
}

static void test_budget_ends_it(void **state)
{
	struct crawl_report r;
	struct stage s;

	(void)state;
	setup(&s, 4);
	s.bed.opts.life.target = 0;
	s.bed.opts.life.estimate = true;
	s.bed.opts.budget = (struct share){ 500, false };
	r = bed_cycle(&s.bed);
	assert_true(r.cycle.downloads <= 500 && r.cycle.downloads > 480);
	assert_true(r.life.estimated && r.life.low <= r.life.high);
	/* given again, it comes on top, and no page is tested twice */
	r = bed_cycle(&s.bed);
	assert_true(r.resumed && r.cycle.number == 1);
	assert_true(r.cycle.downloads <= 1000 && r.cycle.downloads > 960);
	assert_int_equal(audit(&s, 1), r.life.alive);
	teardown(&s);
}

static int check_visit(void *arg, const struct store_visit *v, struct err *err)
{
	(void)arg;
	(void)err;
	assert_int_equal(v->goal, GOAL_ALIVE);
	return 0;
}

static int check_page(void *arg, const struct store_page *p, struct err *err)
{
	(void)arg;
	(void)err;
	assert_true(p->visits == 0 && p->changes == 0 && p->last_visit == 0);
	return 0;
}

/* Tests of life teach nothing of changes: counters stay, a policy of the other
 * goal is told of none of them, one of this goal of all. */
static void test_goals_are_kept_apart(void **state)
{
	static const char *const policies[] = { "oldest", "evidence" };
	struct crawl_report r;
	struct stage s;
	struct err err;

	(void)state;
	setup(&s, 7);
	s.bed.opts.budget = (struct share){ 200, false };
	s.bed.opts.life.target = 0;
	r = bed_cycle(&s.bed);
	assert_int_equal(store_visits(s.bed.store, 1, 2, check_visit, NULL, &err), 0);
	assert_int_equal(store_pages(s.bed.store, 0, check_page, NULL, &err), 0);
	for (int goal = 0; goal < 2; goal++) {
		struct resume_opts o = { .policy = policies[goal], .seed = 1,
			.cycle_seconds = 86400, .goal = goal ? GOAL_ALIVE : GOAL_CHANGED };
		struct resumed resumed;

		assert_int_equal(resume(&resumed, s.bed.store, &o, &err), 0);
		assert_int_equal(resumed.recalled.n_told, goal ? r.life.tested : 0);
		resume_release(&resumed);
	}
	teardown(&s);
}

static int count_page(void *arg, const struct store_visit *v, struct err *err)
{
	uint32_t *times = arg;

	(void)err;
	times[v->page]++;
	return 0;
}

static void setup_whole(struct stage *s)
{
	setup(s, 5);
	s->bed.opts.batch = 20;
	s->bed.opts.fetch.connections = 1;      /* answers come in the order asked */
	s->bed.opts.life.target = 0;
	s->bed.opts.life.estimate = true;
}

/* A run that is killed again and again asks for the same pages in the same order, for
 * the same reasons, as one that is left alone: no page twice, answers that were lost in
 * their place. */
static void test_kills_change_nothing(void **state)
{
	static const uint32_t kills[] = { 30, 333, 700, 710, 1500, 2222, 2990 };
	struct crawl_report r;
	struct stage s;
	uint64_t whole;
	struct err err;

	(void)state;
	setup_whole(&s);
	assert_true(bed_cycle(&s.bed).life.ended);
	whole = bed_hash_visits(&s.bed, false);
	teardown(&s);
	setup_whole(&s);
	for (size_t i = 0; i < sizeof kills / sizeof *kills; i++)
		assert_true(bed_killed_cycle(&s.bed, kills[i]));
	r = bed_cycle(&s.bed);
	assert_true(r.resumed && r.life.ended);
	assert_int_equal(audit(&s, 1), r.life.alive);
	assert_true(bed_hash_visits(&s.bed, false) == whole);
	assert_int_equal(whole_check(s.bed.store, &err), 0);
	teardown(&s);
}

/* Crawlers that begin with a copy of the tested sample share the rest: no page
 * twice, none left out; of a static order without target not even a sample. */
static void test_parts_are_disjoint_and_whole(void **state)
{
	static const char *const orders[] = { "liverank:order=pagerank", "liverank:order=alive-dead" };
	enum { PARTS = 3 };

	(void)state;
	for (int k = 0; k < 2; k++) {
		uint32_t times[HOSTS * DIRS * PAGES] = { 0 };
		uint64_t sampled = 0;
		struct stage s;
		struct err err;
		char cmd[SCRATCH_LONG], policy[100];

		setup(&s, 6);
		s.bed.opts.policy = orders[k];
		if (k) {
			s.bed.opts.life = (struct life_opts){ .sample_only = true };
			sampled = bed_cycle(&s.bed).life.tested;
			assert_true(sampled >= 100 && sampled < 1000);
		}
		store_close(s.bed.store);
		snprintf(cmd, sizeof cmd, "cp %s %s/first.db", s.bed.db, s.bed.dir);
		assert_int_equal(system(cmd), 0);
		for (int part = 0; part < PARTS; part++) {
			struct crawl_report r;

			snprintf(cmd, sizeof cmd, "cd %s && rm warc.db* && cp first.db warc.db",
			         s.bed.dir);
			assert_int_equal(system(cmd), 0);
			assert_int_equal(store_open(&s.bed.store, s.bed.db, STORE_EXISTING, &err), 0);
			snprintf(policy, sizeof policy, "%s,part=%d,parts=%d", orders[k], part, PARTS);
			s.bed.opts.policy = policy;
			s.bed.opts.life = (struct life_opts){ 0 };
			/* the first is stopped half-way and gone on with */
			s.bed.opts.budget = (struct share){ part ? 0 : 300, false };
			r = bed_cycle(&s.bed);
			if (!part) {
				s.bed.opts.budget.value = 0;
				r = bed_cycle(&s.bed);
			}
			assert_int_equal(store_visits(s.bed.store, 1, 2, count_page, times,
			                              &err), 0);
			audit(&s, r.cycle.number);
			if (part < PARTS - 1)
				store_close(s.bed.store);
		}
		for (size_t i = 0; i < HOSTS * DIRS * PAGES; i++) {
			if (times[i] == PARTS && sampled)
				sampled--;      /* of the common sample */
			else
				assert_int_equal(times[i], 1);
		}
		assert_int_equal(sampled, 0);
		teardown(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_the_living_with_few_requests),
		cmocka_unit_test(test_every_page_rightly),
		cmocka_unit_test(test_budget_ends_it),
		cmocka_unit_test(test_goals_are_kept_apart),
		cmocka_unit_test(test_kills_change_nothing),
		cmocka_unit_test(test_parts_are_disjoint_and_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
