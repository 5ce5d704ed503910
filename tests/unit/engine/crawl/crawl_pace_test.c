/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a cycle takes: little longer than its pages would if they were known beforehand,
 * and no longer because one host hangs.
 *
 * Pauses between requests to a host are what takes time here, not work, and every
 * comparison is a ratio of two cycles of the same run; it is made again before it fails.
 * FRESHET_SEEDS=N takes pauses of 0.3 s, makes N worlds and prints what they took and found.
 *
 * Plain only.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "demo/origin.h"
#include "../../../lib/bed.h"

#define DAY 86400
#define PAGES_MOST 5000
#define TRIES 3                 /* for a machine that is busy with other things, */
#define SLACK 0.5               /* and seconds */

struct stage {
	struct origin_world world;
	struct origin *origin;
	struct bed bed;
	unsigned hangs;                 /* the host that never answers, from 1; 0: none */
};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static unsigned n_seeds(void)
{
	const char *n = getenv("FRESHET_SEEDS");

	return n ? (unsigned)atoi(n) : 0;
}

static double pause_of_hosts(void)
{
	return n_seeds() ? 0.3 : 0.1;
}

static void answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	struct stage *s = arg;
	unsigned hangs;

	while ((hangs = __atomic_load_n(&s->hangs, __ATOMIC_SEQ_CST)) &&
	       (unsigned)atoi(strrchr(q->host, '.') + 1) == hangs)
		usleep(10000);
	origin_world_answer(&s->world, q, r);
}

static void add_page(struct stage *s, uint32_t page)
{
	const struct living *l = &s->world.living;
	char path[64];

	living_path(l, page, path);
	bed_add(&s->bed, "http://127.0.1.%u:%u%s", living_site(l, page) + 1,
	        origin_port(s->origin), path);
}

static void setup(struct stage *s, uint64_t seed, unsigned hosts)
{
	*s = (struct stage){ .world = { .living = LIVING_DEFAULTS } };
	s->world.living.seed = seed;
	s->world.living.n_sites = hosts;
	s->world.living.burst_rate = 0.01;
	s->world.living.change_rate = 0.01;
	s->world.now = s->world.living.start;
	s->origin = origin_start(answer, s);
	bed_open(&s->bed, "127.0.1.0/24");
	s->bed.opts.fetch.ignore_robots = true;
	s->bed.opts.site_share = (struct share){ 100, true };
	s->bed.opts.cycle_seconds = 14 * DAY;
	s->bed.opts.batch = 100000;
	for (uint32_t i = 0; i < living_count(&s->world.living); i++)
		add_page(s, i);
	alarm(600);
}

static void teardown(struct stage *s)
{
	alarm(0);
	__atomic_store_n(&s->hangs, 0, __ATOMIC_SEQ_CST);
	bed_close(&s->bed);
	origin_stop(s->origin);
}

/* One cycle, two weeks after the last; how long it took. */
static double cycle(struct stage *s, const char *policy, uint32_t budget, double pause,
                    struct crawl_report *ret)
{
	double began = seconds();

	s->world.now += 14 * DAY;
	s->bed.opts.now = s->world.now;
	s->bed.opts.policy = policy;
	s->bed.opts.budget = (struct share){ budget, false };
	s->bed.opts.fetch.polite.delay = pause;
	*ret = bed_cycle(&s->bed);
	return seconds() - began;
}

/* Every page is known, and a policy has learnt a little. */
static void teach(struct stage *s, const char *policy, uint32_t budget)
{
	struct crawl_report r;

	cycle(s, "oldest", living_count(&s->world.living), 0, &r);
	cycle(s, policy, budget, 0, &r);
	cycle(s, policy, budget, 0, &r);
}

struct list { uint32_t pages[PAGES_MOST], n; };

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct list *l = arg;

	(void)err;
	l->pages[l->n++] = v->page;
	return 0;
}

/* How long the pages of the last cycle take that are known beforehand. */
static double known_beforehand(struct stage *s, uint32_t number)
{
	static struct list list;
	struct crawl_report r;
	struct err err;

	list.n = 0;
	assert_int_equal(store_visits(s->bed.store, number, number + 1, see_visit,
	                              &list, &err), 0);
	bed_renew(&s->bed, "known");
	for (uint32_t i = 0; i < list.n; i++)
		add_page(s, list.pages[i]);
	s->world.now -= 14 * DAY;
	return cycle(s, "oldest", list.n, pause_of_hosts(), &r);
}

struct pace { double took, known; uint32_t found; };

static struct pace pace_of(const char *policy, uint64_t seed)
{
	struct stage s;
	struct crawl_report r;
	struct pace p;

	setup(&s, seed, 30);
	teach(&s, policy, 300);
	p.took = cycle(&s, policy, 300, pause_of_hosts(), &r);
	p.found = r.cycle.changed + r.cycle.gone;
	assert_int_equal(r.cycle.downloads, 300);
	p.known = known_beforehand(&s, r.cycle.number);
	teardown(&s);
	return p;
}

/* 300 requests, 30 hosts. */
static void test_as_if_known_beforehand(void **state)
{
	struct pace p = { 0 };

	(void)state;
	for (unsigned i = 1; i <= n_seeds(); i++) {
		p = pace_of("tide", i);
		printf("seed %u: %.2f s, known beforehand %.2f s, ratio %.3f, found %u\n", i, p.took,
		       p.known, p.took / p.known, p.found);
	}
	for (int i = 0; i < TRIES; i++) {
		p = pace_of("tide", 1);
		if (p.took <= 1.1 * p.known + SLACK)
			return;
	}
	fail_msg("%.2f s, and %.2f s when known beforehand", p.took, p.known);
}

/* ---- a host that hangs ---- */

#define HANGING 7
#define GIVE_UP 4               /* seconds without an answer: what does not hang is done */

struct watch {
	struct stage *s;
	size_t seen, others;            /* answers, of them those of other hosts */
	double last;                    /* of these */
	bool over;
};

static void look(struct watch *w)
{
	size_t n;
	struct origin_log *log = origin_read_log(w->s->origin, &n);

	for (; w->seen < n; w->seen++)
		if (strcmp(log[w->seen].host, "127.0.1.7")) {
			w->others++;
			w->last = log[w->seen].start;
		}
	free(log);
}

/* Looks on while a cycle goes, from a thread of its own; when nothing comes any more the host
 * answers again. */
static void *watch(void *arg)
{
	struct watch *w = arg;

	while (!__atomic_load_n(&w->over, __ATOMIC_SEQ_CST) &&
	       __atomic_load_n(&w->s->hangs, __ATOMIC_SEQ_CST)) {
		usleep(50000);
		look(w);
		if (seconds() - w->last > GIVE_UP)
			__atomic_store_n(&w->s->hangs, 0, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

struct hang { double took; size_t others, all; };

/* How long the pages of the other hosts take. */
static struct hang others_of(struct stage *s, const char *policy, uint32_t budget,
                             double pause, bool hangs)
{
	struct watch w = { .s = s, .last = seconds() };
	struct crawl_report r;
	struct hang h;
	double began;
	pthread_t thread;

	look(&w);
	w.others = 0;
	w.last = began = seconds();
	s->hangs = hangs ? HANGING : 0;
	assert_int_equal(pthread_create(&thread, NULL, watch, &w), 0);
	cycle(s, policy, budget, pause, &r);
	__atomic_store_n(&w.over, true, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
	if (!hangs)
		look(&w);
	h = (struct hang){ w.last - began, w.others, 0 };
	look(&w);
	h.all = w.others;
	return h;
}

static void never_in_time(struct stage *s)
{
	s->bed.opts.fetch.connect_timeout = s->bed.opts.fetch.head_timeout =
		s->bed.opts.fetch.whole_timeout = 1e6;
}

/* 50 hosts, one of them hangs: the pages of the others take no longer for it. */
static void check_hanging_host(const char *policy)
{
	struct hang well = { 0 }, ill = { 0 };

	for (int i = 0; i < TRIES; i++) {
		struct stage s;

		setup(&s, 1, 50);
		never_in_time(&s);
		s.bed.opts.fetch.connections = 16;
		teach(&s, policy, 1000);
		well = others_of(&s, policy, 1000, pause_of_hosts(), false);
		ill = others_of(&s, policy, 1000, pause_of_hosts(), true);
		teardown(&s);
		if (n_seeds())
			printf("%s: %.2f s, %zu of %zu pages while it hung; %.2f s, %zu pages without\n",
			       policy, ill.took, ill.others, ill.all, well.took, well.others);
		assert_in_range(ill.others, ill.all - 5, ill.all);
		if (ill.took / (double)ill.others <= 1.1 * well.took / (double)well.others + SLACK / 1000)
			return;
	}
	fail_msg("%s: %.2f s for %zu pages, and %.2f s for %zu when none hangs", policy, ill.took,
	         ill.others, well.took, well.others);
}

static void test_hanging_tide(void **state)
{
	(void)state;
	check_hanging_host("tide");
}

static void test_hanging_auto(void **state)
{
	(void)state;
	check_hanging_host("auto");
}

static void test_hanging_oldest(void **state)
{
	(void)state;
	check_hanging_host("oldest");
}

/* A host that hangs has most of the pages: they take the place of no others. */
static void check_many_pages(const char *policy, unsigned pages, unsigned connections)
{
	struct stage s;
	struct hang h;
	uint32_t n;

	setup(&s, 1, HANGING - 1);
	never_in_time(&s);
	s.bed.opts.fetch.connections = connections;
	n = living_count(&s.world.living);
	for (unsigned i = 0; i < pages; i++)
		bed_add(&s.bed, "http://127.0.1.%u:%u/more/%u", HANGING, origin_port(s.origin), i);
	h = others_of(&s, policy, pages + n, 0, true);
	assert_int_equal(h.all, n);
	assert_int_equal(h.others, n);
	teardown(&s);
}

/* More than are handed to the fetcher at a time. */
static void test_hanging_window(void **state)
{
	(void)state;
	check_many_pages("oldest", 9000, 128);
}

/* More than there are connections: the next round is planned all the same. */
static void test_hanging_rounds(void **state)
{
	(void)state;
	check_many_pages("tide", 600, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_if_known_beforehand),
		cmocka_unit_test(test_hanging_tide),
		cmocka_unit_test(test_hanging_auto),
		cmocka_unit_test(test_hanging_oldest),
		cmocka_unit_test(test_hanging_window),
		cmocka_unit_test(test_hanging_rounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
