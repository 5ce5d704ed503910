/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycles on a living origin: what they find is what replay of the same history
 * finds; what a kill at any moment leaves is whole, and the next start goes on.
 *
 * FRESHET_CRASHES=N sets the number of kills (default 10).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "demo/origin.h"
#include "engine/archive/analyse.h"
#include "engine/replay/experiment.h"
#include "engine/replay/replay.h"
#include "warc/warc.h"
#include "../../../lib/bed.h"
#include "../../../lib/living_history.h"
#include "../../../lib/whole.h"

#define DAY 86400

struct stage {
	struct origin_world world;
	struct origin *origin;
	struct bed bed;
	uint32_t n_never;               /* URLs under care that were never there */
};

static void never_url(const struct stage *s, uint32_t i, char out[128])
{
	snprintf(out, 128, "http://127.0.1.%u:%u/n%u/never-%u.html", i % 2 + 1,
	         origin_port(s->origin), i % 5, i);
}

static void url_of(const struct stage *s, uint32_t page, char out[128])
{
	char path[64];

	living_path(&s->world.living, page, path);
	snprintf(out, 128, "http://127.0.1.%u:%u%s", living_site(&s->world.living, page) + 1,
	         origin_port(s->origin), path);
}

static int compare_urls(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void open_store(struct stage *s)
{
	struct err err;

	assert_int_equal(store_open(&s->bed.store, s->bed.db, STORE_EXISTING, &err), 0);
}

static void setup(struct stage *s, unsigned n_pages, uint32_t n_never, uint64_t seed)
{
	char (*urls)[128];
	uint32_t n;

	*s = (struct stage){ .world = { .living = LIVING_DEFAULTS }, .n_never = n_never };
	s->world.living.seed = seed;
	s->world.living.n_pages = n_pages;
	s->world.living.death_rate = 0.004;
	s->world.now = s->world.living.start;
	s->origin = origin_start(origin_world_answer, &s->world);
	bed_open(&s->bed, "127.0.1.0/24");
	n = living_count(&s->world.living);
	urls = mem_array(n + n_never, sizeof *urls);
	for (uint32_t i = 0; i < n; i++)
		url_of(s, i, urls[i]);
	for (uint32_t i = 0; i < n_never; i++)
		never_url(s, i, urls[n++]);
	qsort(urls, n, sizeof *urls, compare_urls);
	for (uint32_t i = 0; i < n; i++)
		bed_add(&s->bed, "%s", urls[i]);
	free(urls);
	s->bed.opts.budget = (struct share){ 100, true };
	s->bed.opts.cycle_seconds = 14 * DAY;
}

static void teardown(struct stage *s)
{
	bed_close(&s->bed);
	origin_stop(s->origin);
}

static struct crawl_report cycle(struct stage *s, const char *policy, double budget, int64_t now)
{
	s->bed.opts.policy = policy;
	s->bed.opts.budget = (struct share){ budget, budget == 100 };
	s->bed.opts.now = s->world.now = now;
	return bed_cycle(&s->bed);
}

/* The same, by a process of its own that is killed at so many requests. */
static void killed_cycle(struct stage *s, const char *policy, double budget, int64_t now,
                         uint32_t at)
{
	uint32_t batch = s->bed.opts.batch;

	s->bed.opts.policy = policy;
	s->bed.opts.budget = (struct share){ budget, budget == 100 };
	s->bed.opts.now = s->world.now = now;
	s->bed.opts.batch = 3;
	assert_int_equal(bed_killed_cycle(&s->bed, at), at < budget);
	s->bed.opts.batch = batch;
}

static void living_url(void *arg, uint32_t page, char out[128])
{
	url_of(arg, page, out);
}

/* The same history for replay. */
static void make_history(struct stage *s, struct history *h, int64_t end)
{
	const struct living *l = &s->world.living;

	history_init(h, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS);
	living_history(l, end, 14 * DAY, h, living_url, s);
	for (uint32_t i = 0; i < s->n_never; i++) {
		struct record rec = { .time = l->start, .length = -1, .offset = -1, .status = 404 };
		char url[128];

		never_url(s, i, url);
		rec.url = (struct text){ url, strlen(url) };
		assert_int_equal(history_add(h, &rec, &(struct err){ 0 }), 0);
	}
	assert_int_equal(history_finish(h, &(struct err){ 0 }), 0);
}

/* The plan of each cycle as one hash over URLs in order, and what was found. */
struct plans { struct stage *s; uint64_t of[16]; };

static uint64_t add_visit(uint64_t hash, const char *url, size_t size, enum outcome o)
{
	return hash_bytes(url, size, hash * 31 + (uint64_t)o + 1);
}

static void note_replayed(void *arg, const struct replay_cycle *c)
{
	struct plans *p = arg;

	for (size_t i = 0; i < c->n_seen; i++)
		p->of[c->cycle] = add_visit(p->of[c->cycle], pages_url(c->pages, c->seen[i].page),
		                            pages_url_size(c->pages, c->seen[i].page),
		                            c->seen[i].outcome);
}

static int note_visited(void *arg, const struct store_visit *v, struct err *err)
{
	struct plans *p = arg;
	struct store_page page;

	assert_int_equal(store_page_get(p->s->bed.store, v->page, &page, err), 1);
	p->of[v->cycle - 1] = add_visit(p->of[v->cycle - 1], page.url.s, page.url.size,
	                                (enum outcome)v->outcome);
	return 0;
}

static unsigned needs_of(const char *spec)
{
	unsigned needs;

	assert_int_equal(policy_list_needs(&(struct option_list){ .v = &spec, .n = 1 }, &needs,
	                                   NULL), 0);
	return needs;
}

/* Also if every other cycle is killed in its middle and gone on with; with no ceiling, as
 * replay has it, and with one.  Some pages fail for ever, some directories for a while. */
static void test_live_equals_replay(void **state)
{
	static const char *const policies[] = { "random", "round-robin", "site", "frequency",
		"neighbour:by=dir,d=1", "neighbour:by=link,d=1", "tide", "thompson", "lambda",
		"automaton", "evidence", "liverank" };
#ifdef __SANITIZE_ADDRESS__
	enum { STEP = 3 };              /* eight of these trials are enough for the sanitizers */
#else
	enum { STEP = 1 };
#endif
	enum { CYCLES = 6, BUDGET = 20 };
	unsigned bound = 0;

	(void)state;
	for (size_t k = 0; k < 2 * sizeof policies / sizeof *policies; k += STEP) {
		const char *policy = policies[k / 2];
		struct replay_opts ro = { .cycle_seconds = 14 * DAY,
			.budget = { BUDGET, false }, .site_share = { k % 2 ? 20 : 100, true } };
		struct history h;
		struct replay replay;
		struct replay_run run;
		struct stage s;
		struct plans planned = { 0 }, visited = { .s = &s };
		struct err err;
		uint32_t found = 0, given_up = 0, failed = 0, resting = 0;

		setup(&s, 6, 60, 3);
		s.world.living.fail_rate = 0.002;
		s.world.living.trouble_rate = 0.004;
		s.world.living.trouble_days = 20;
		s.bed.opts.site_share = ro.site_share;
		s.bed.opts.fetch.connections = 1;       /* answers come in the order asked */
		ro.start = s.world.living.start;
		ro.end = ro.start + CYCLES * 14 * DAY;
		make_history(&s, &h, ro.end);
		ro.each_cycle = note_replayed;
		ro.each_arg = &planned;
		assert_int_equal(replay_open(&replay, &h, &ro, needs_of(policy), &err), 0);
		replay_run(&replay, policy, 1, &run);
		assert_int_equal(run.code, 0);
		killed_cycle(&s, "oldest", 100, ro.start, 50);
		assert_int_equal(cycle(&s, "oldest", 100, ro.start).cycle.fresh,
		                 living_count(&s.world.living));
		for (uint32_t i = 0; i < CYCLES; i++) {
			int64_t now = ro.start + (i + 1) * 14 * DAY;
			struct crawl_report r;

			if (i % 2)
				killed_cycle(&s, policy, BUDGET, now, 5 + 5 * (i / 2));
			r = cycle(&s, policy, BUDGET, now);
			assert_true(r.resumed == i % 2);
			assert_int_equal(r.cycle.downloads, run.cycles[i].downloads);
			assert_int_equal(r.cycle.changed + r.cycle.gone, run.cycles[i].changed);
			assert_int_equal(r.cycle.gone, run.cycles[i].gone);
			assert_int_equal(r.cycle.failed, run.cycles[i].failed);
			assert_int_equal(r.resting, run.cycles[i].resting);
			assert_int_equal(r.cycle.blocked + r.cycle.fresh, 0);
			found += run.cycles[i].changed;
			failed += r.cycle.failed;
			resting += r.resting;
			given_up += r.given_up;
		}
		assert_true(found > CYCLES);
		assert_true(failed > 2 && resting > 2);
		assert_true(k % 2 || !given_up);
		bound += given_up > 0;
		assert_int_equal(store_visits(s.bed.store, 2, UINT32_MAX, note_visited,
		                              &visited, &err), 0);
		/* the same pages, in the same order, and the same of each */
		assert_memory_equal(planned.of, visited.of, sizeof planned.of);
		replay_run_release(&run);
		replay_close(&replay);
		history_release(&h);
		teardown(&s);
	}
	assert_true(bound > 3 / STEP);
}

/* Clusters are made of the copies and visits that a cycle began with, also by the process
 * that goes on with it: killed cycles ask for what whole ones ask for. */
static void test_clusters_survive_a_kill(void **state)
{
	static const char *const policies[] = { "cluster:k=4", "neighbour:by=cluster,k=6,d=0" };

	(void)state;
	for (size_t k = 0; k < sizeof policies / sizeof *policies; k++) {
		uint64_t hash[2] = { 0 };

		for (int kill = 0; kill < 2; kill++) {
			struct stage s;

			setup(&s, 6, 20, 3);
			s.bed.opts.fetch.connections = 1;       /* answers come in the order asked */
			for (uint32_t i = 0; i < 4; i++) {
				int64_t now = s.world.living.start + i * 14 * DAY;

				/* all in children: OpenMP does not outlive a fork */
				if (kill && i)
					killed_cycle(&s, policies[k], 60, now, 20 + 5 * i);
				killed_cycle(&s, i ? policies[k] : "oldest", i ? 60 : 100, now,
				             UINT32_MAX);
			}
			hash[kill] = bed_hash_visits(&s.bed, true);
			teardown(&s);
		}
		if (hash[0] != hash[1])
			fail_msg("%s: killed cycles differ", policies[k]);
	}
}

/* ---- crash matrix ---- */

struct audit {
	uint32_t n_pages, cycle, n_visits;
	uint8_t *seen;                  /* of the cycle looked at */
	uint32_t counted[OUTCOME_BLOCKED + 1];
	struct store_cycle last;
	VEC(struct store_capture) captures;
	struct strtab files;
};

static int audit_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct audit *a = arg;

	(void)err;
	assert_false(a->seen[v->page]);         /* no page twice in a cycle */
	a->seen[v->page] = 1;
	a->n_visits++;
	a->counted[v->outcome]++;
	return 0;
}

static int audit_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	struct audit *a = arg;

	(void)err;
	a->last = *c;
	return 0;
}

static int audit_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct audit *a = arg;
	struct store_capture copy = *c;

	(void)err;
	strtab_intern(&a->files, c->file.s, c->file.size, NULL);
	vec_push(&a->captures, copy);
	return 0;
}

/* Records of all archive files that are complete; damage fails. */
static uint32_t count_records(const struct stage *s, const char *open_ok)
{
	DIR *d = opendir(s->bed.warc);
	struct dirent *e;
	uint32_t n = 0;

	while ((e = readdir(d))) {
		struct warc_reader r = { 0 };
		char path[SCRATCH_LONG];
		struct err err;
		size_t len = strlen(e->d_name);

		if (e->d_name[0] == '.' || (open_ok && !strcmp(e->d_name + len - 5, ".open")) ||
		    strstr(e->d_name, ".warc.gz.aside"))        /* of no visit; see crawl_repair.c */
			continue;
		snprintf(path, sizeof path, "%s/%s", s->bed.warc, e->d_name);
		assert_int_equal(warc_open(&r, path, &err), 0);
		while (warc_next(&r, &err) > 0)
			n += r.record.type == WARC_RESPONSE || r.record.type == WARC_REVISIT;
		assert_int_equal(r.n_damaged, 0);
		warc_close(&r);
	}
	closedir(d);
	return n;
}

/* What the store says of its newest cycle must agree with itself. */
static void audit(struct stage *s, struct audit *a)
{
	struct err err;

	if (whole_check(s->bed.store, &err) < 0)
		fail_msg("%s", err.text);
	*a = (struct audit){ .n_pages = living_count(&s->world.living) };
	a->seen = mem_zalloc(a->n_pages, 1);
	assert_int_equal(store_cycles(s->bed.store, 0, audit_cycle, a, &err), 0);
	assert_int_equal(store_visits(s->bed.store, a->last.number, a->last.number + 1,
	                              audit_visit, a, &err), 0);
	assert_int_equal(a->counted[OUTCOME_CHANGED], a->last.changed + a->last.fresh);
	assert_int_equal(a->counted[OUTCOME_SAME], a->last.same);
	assert_int_equal(a->counted[OUTCOME_GONE], a->last.gone);
	assert_int_equal(a->n_visits, a->last.downloads);
	assert_true(a->last.downloads <= a->last.budget);
	free(a->seen);
}

/* What the origin was asked for since: no page twice, not more than the budget. */
static size_t check_asked(const struct stage *s, size_t since, uint32_t budget)
{
	size_t n;
	struct origin_log *log = origin_read_log(s->origin, &n);
	struct strtab asked = { 0 };
	uint32_t counted = 0;

	for (size_t i = since; i < n; i++) {
		char url[240];
		int size = snprintf(url, sizeof url, "%s%s", log[i].host, log[i].path);
		bool is_new;

		if (!strcmp(log[i].path, "/robots.txt"))
			continue;
		strtab_intern(&asked, url, (size_t)size, &is_new);
		if (!is_new)
			fail_msg("%s was asked for twice in a cycle", url);
		counted++;
	}
	assert_true(counted <= budget);
	strtab_release(&asked);
	free(log);
	return n;
}

static void run_child(struct stage *s, int64_t now)
{
	struct crawl_report r;
	struct err err;

	s->bed.opts.now = now;
	if (store_open(&s->bed.store, s->bed.db, STORE_EXISTING, &err) < 0)
		_exit(9);
	_exit(crawl_cycle(s->bed.store, &s->bed.opts, &r, &err) < 0 ? 8 : 0);
}

static void test_killed_at_any_moment(void **state)
{
	const char *env = getenv("FRESHET_CRASHES");
	int kills = env ? atoi(env) : 10, killed = 0, completed = 0, midway = 0;
	struct stage s;
	struct audit a;
	struct rng r;
	uint32_t captures = 0, not_had = 0;
	struct crawl_report last;
	size_t asked;
	int64_t now;

	(void)state;
	/* enough that the budget can be spent: some die, and some rest since they lapsed twice */
	setup(&s, 10 + (unsigned)kills / 5, 0, 5);
	rng_init(&r, 11);
	s.bed.opts.batch = 5;
	now = s.world.now;
	cycle(&s, "oldest", 100, now);
	asked = check_asked(&s, 0, UINT32_MAX);
	store_close(s.bed.store);
	s.bed.opts.policy = "random";
	s.bed.opts.budget = (struct share){ 60, false };
	for (int i = 0; killed < kills && i < 10 * kills; i++) {        /* some end before */
		pid_t pid;

		s.world.now = now + DAY * 14 * (1 + completed);
		s.bed.store = NULL;
		pid = fork();
		if (!pid)
			run_child(&s, s.world.now);
		killed += bed_kill(pid, s.origin, &r, 40);
		open_store(&s);
		audit(&s, &a);
		midway += a.last.open && a.n_visits > 0;
		if (!a.last.open && a.last.number == (uint32_t)completed + 2) {
			assert_int_equal(a.last.downloads, 60); /* the budget, exactly */
			asked = check_asked(&s, asked, 60);
			completed++;
		}
		store_close(s.bed.store);
		count_records(&s, ".open");
	}
	assert_int_equal(killed, kills);
	assert_true(midway > kills / 4 && completed >= kills / 20);
	/* Whatever is open now is finished by one start without a kill. */
	open_store(&s);
	s.world.now = now + DAY * 14 * (1 + completed);
	last = cycle(&s, "random", 60, s.world.now);
	audit(&s, &a);
	assert_false(a.last.open);
	assert_int_equal(last.visits, a.n_visits);
	for (int i = 0; i < FETCH_N_ERRORS; i++)
		not_had += last.reasons[i];
	assert_int_equal(not_had, last.cycle.failed + last.cycle.blocked);
	assert_int_equal(a.last.downloads, 60);
	check_asked(&s, asked, 60);
	assert_int_equal(store_captures(s.bed.store, NULL, 0, audit_capture, &a,
	                                &(struct err){ 0 }), 0);
	captures = (uint32_t)a.captures.n;
	assert_int_equal(count_records(&s, NULL), captures);    /* nothing lost, nothing doubled */
	print_message("%d kills (%d in the middle of a cycle), %d cycles completed between "
	              "them, %u captures in %u archive files, all whole\n", killed, midway,
	              completed, captures, a.files.n);
	vec_release(&a.captures);
	strtab_release(&a.files);
	teardown(&s);
}

/* A signal: what is in flight is kept, the cycle stays open and is gone on with. */
static volatile sig_atomic_t stop_flag;

static void stop_soon(void *arg, uint32_t spent, uint32_t budget)
{
	(void)arg, (void)budget;
	if (spent >= 40)
		stop_flag = 1;
}

/* What a report counts is that of the whole cycle, however often it was broken off. */
static void test_counts_are_whole(void **state)
{
	struct crawl_report r[2];
	struct err err;

	(void)state;
	for (int broken = 0; broken < 2; broken++) {
		struct stage s;
		int starts = 0, rc;

		setup(&s, 20, 0, 7);
		s.bed.opts.confirmations = 2;       /* so that those gone fail at first */
		cycle(&s, "oldest", 100, s.world.now);
		s.bed.opts.now = s.world.now += 200 * DAY;
		s.bed.opts.stop = &stop_flag;
		s.bed.opts.progress = broken ? stop_soon : NULL;
		s.bed.opts.fetch.connections = 4;
		do {
			stop_flag = 0;
			rc = crawl_cycle(s.bed.store, &s.bed.opts, &r[broken], &err);
			s.bed.opts.progress = NULL;
			starts++;
		} while (rc == E_STOP);
		assert_int_equal(rc, 0);
		assert_int_equal(starts, 1 + broken);
		teardown(&s);
	}
	assert_true(r[0].reasons[FETCH_OK] > 0);
	assert_int_equal(r[0].reasons[FETCH_OK], r[0].cycle.failed);
	assert_memory_equal(r[0].reasons, r[1].reasons, sizeof r[0].reasons);
	assert_int_equal(r[0].visits, r[1].visits);
	assert_int_equal(r[0].answered, r[1].answered);
	assert_int_equal(r[0].unasked, r[1].unasked);
	assert_int_equal(r[0].fetch.bytes, r[1].fetch.bytes);
	assert_int_equal(r[0].fetch.robots_requests, r[1].fetch.robots_requests);
	assert_true(r[0].fetch.robots_requests > 0);
}

static void test_stopped_and_gone_on(void **state)
{
	struct crawl_report r;
	struct stage s;
	struct err err;
	uint32_t before;

	(void)state;
	setup(&s, 10, 0, 7);
	s.bed.opts.stop = &stop_flag;
	s.bed.opts.progress = stop_soon;
	s.bed.opts.fetch.connections = 4;
	s.bed.opts.now = s.world.now;
	stop_flag = 0;
	assert_int_equal(crawl_cycle(s.bed.store, &s.bed.opts, &r, &err), E_STOP);
	assert_true(r.stopped && r.cycle.open);
	before = r.cycle.fresh;
	assert_true(before > 0 && before < living_count(&s.world.living));
	stop_flag = 0;
	s.bed.opts.progress = NULL;
	assert_int_equal(crawl_cycle(s.bed.store, &s.bed.opts, &r, &err), 0);
	assert_true(r.resumed && !r.stopped && !r.cycle.open);
	assert_int_equal(r.cycle.number, 1);
	assert_int_equal(r.cycle.fresh, living_count(&s.world.living));
	assert_int_equal(r.cycle.downloads, r.cycle.budget);
	teardown(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live_equals_replay),
		cmocka_unit_test(test_clusters_survive_a_kill),
		cmocka_unit_test(test_stopped_and_gone_on),
		cmocka_unit_test(test_counts_are_whole),
		cmocka_unit_test(test_killed_at_any_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
