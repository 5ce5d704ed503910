/* SPDX-License-Identifier: Apache-2.0 */
/* The library within an open cycle: two clients, what is given back, crashes; and recorded
 * history through ask and tell, against replay.  FRESHET_DATA=folder: on $FRESHET_DATA/trace,
 * and not on a made-up world. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../../lib/scratch.h"
#include "../../../lib/trace.h"
#include "base/io/input.h"
#include "base/io/json.h"
#include "base/math/rng.h"
#include "base/when.h"
#include "engine/history/trace.h"
#include "freshet.h"
#include "web/url/url.h"

#define DAY 86400
#define NOW INT64_C(1767225600)

static void begin(struct freshet *f, const char *client, const char *policy, uint32_t budget)
{
	struct freshet_cycle_options o = { .size = sizeof o, .client = client, .policy = policy,
	                                   .budget = budget, .delay = -1, .seed = 1,
	                                   .cycle_seconds = 14 * DAY };

	assert_int_equal(freshet_cycle_begin(f, &o), 0);
}

static struct freshet_asked ask(struct freshet *f, uint32_t want)
{
	struct freshet_ask_options o = { .size = sizeof o, .want = want };
	struct freshet_asked a = { .size = sizeof a };

	if (freshet_ask(f, &o, &a) < 0)
		fail_msg("%s", freshet_error(f));
	return a;
}

static int tell(struct freshet *f, const char *lease, int status, const char *digest)
{
	struct freshet_told t = { .size = sizeof t, .lease = lease, .status = status,
	                          .digest = digest };

	return freshet_tell(f, &t);
}

/* Forty pages, a budget of ten, two clients on handles of their own. */
static void test_two_clients(void **state)
{
	struct freshet_ask_options many = { .size = sizeof many, .want = UINT32_MAX };
	struct freshet_asked a, b;
	char folder[SCRATCH_PATH], url[64], first[64];
	struct freshet *f, *g;

	(void)state;
	scratch_folder(folder, "clients");
	assert_int_equal(freshet_create(&f, folder), 0);
	for (int i = 0; i < 40; i++) {
		snprintf(url, sizeof url, "http://s%d.example/", i);
		assert_int_equal(freshet_add(f, url), 1);
	}
	assert_int_equal(freshet_open(&g, folder), 0);
	begin(f, "f", "random", 10);
	begin(g, "g", "random", 10);
	assert_int_equal(freshet_ask(f, &many, &(struct freshet_asked){ .size = sizeof a }),
	                 FRESHET_E_LIMIT);
	a = ask(f, 4);
	b = ask(g, 4);
	assert_int_equal(a.n, 4);
	assert_int_equal(b.n, 4);
	assert_int_equal(a.budget, 10);
	for (uint32_t i = 0; i < a.n; i++)
		for (uint32_t k = 0; k < b.n; k++)
			assert_string_not_equal(a.offers[i]->url, b.offers[k]->url);
	assert_int_equal(tell(f, a.offers[0]->lease, 200, "one"), 1);
	assert_int_equal(tell(f, a.offers[0]->lease, 200, "one"), 0);   /* known already */
	assert_int_equal(tell(f, "nonsense", 200, "one"), FRESHET_E_USAGE);
	assert_int_equal(freshet_release(f, a.offers[1]->lease), 0);
	/* another call, and one that fails, in the middle of it */
	assert_int_equal(freshet_add(f, "http://new.example/"), 1);
	assert_true(freshet_add(f, "http://bad host/") < 0);
	snprintf(first, sizeof first, "%s", a.offers[2]->url);
	/* f crashes with two pages in its hands, comes again under its name, and has them */
	freshet_close(f);
	assert_int_equal(freshet_open(&f, folder), 0);
	begin(f, "f", NULL, 0);
	a = ask(f, 2);
	assert_int_equal(a.n, 2);
	assert_true(a.offers[0]->again && a.offers[1]->again);
	assert_true(!strcmp(a.offers[0]->url, first) || !strcmp(a.offers[1]->url, first));
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(tell(f, a.offers[i]->lease, 404, NULL), 1);
	for (uint32_t i = 0; i < b.n; i++)
		assert_int_equal(tell(g, b.offers[i]->lease, 200, "b"), 1);
	a = ask(f, 100);
	assert_int_equal(a.n, 3);               /* 10 less 7: what was released came back */
	for (uint32_t i = 0; i < a.n; i++)
		assert_int_equal(tell(f, a.offers[i]->lease, 200, "c"), 1);
	a = ask(f, 100);
	assert_true(a.n == 0 && a.done);
	assert_int_equal(freshet_cycle_end(f), 1);
	assert_int_equal(freshet_cycle_end(g), 0);
	freshet_close(f);
	freshet_close(g);
}

static int count_change(void *arg, const struct freshet_change *c)
{
	((int *)arg)[c->kind]++;
	return 0;
}

static int stop_at_once(void *arg, const char *what, uint64_t done, uint64_t total)
{
	(void)arg;
	(void)what;
	(void)done;
	(void)total;
	return 1;
}

/* What makes no sense is left out, the rest is one cycle; the same digest is no change. */
static void test_tell_all(void **state)
{
	struct freshet_hooks hooks = { .size = sizeof hooks, .progress = stop_at_once };
	struct freshet_asked asked = { .size = sizeof asked };
	struct freshet_told t[4], *told[4];
	int kinds[3] = { 0 };
	char folder[SCRATCH_PATH];
	struct freshet *f;

	(void)state;
	for (int i = 0; i < 4; i++) {
		t[i] = (struct freshet_told){ .size = sizeof t[i], .status = 200, .digest = "x",
		                              .add = 1 };
		told[i] = &t[i];
	}
	t[0].url = "http://a.example/";
	t[1].url = "http://bad host/";
	t[2].url = "http://b.example/";
	t[3].url = "http://c.example/";
	scratch_folder(folder, "all");
	assert_int_equal(freshet_create(&f, folder), 0);
	assert_int_equal(freshet_tell_all(f, (const struct freshet_told *const *)told, 4), 3);
	t[2].digest = "y";
	assert_int_equal(freshet_tell_all(f, (const struct freshet_told *const *)told, 3), 2);
	assert_int_equal(freshet_changes(f, NULL, count_change, kinds), 0);
	assert_int_equal(kinds[FRESHET_NEW_PAGE], 3);
	assert_int_equal(kinds[FRESHET_CHANGED_PAGE], 1);
	assert_int_equal(freshet_tell_all(f, NULL, SIZE_MAX), FRESHET_E_LIMIT);
	assert_int_equal(freshet_tell_all(f, NULL, 0), 0);
	/* an ask recalls these cycles; it may be stopped, and asked again */
	assert_int_equal(freshet_listen(f, &hooks), 0);
	assert_int_equal(freshet_ask(f, NULL, &asked), FRESHET_E_STOP);
	assert_int_equal(freshet_listen(f, NULL), 0);
	assert_int_equal(freshet_ask(f, NULL, &asked), 0);
	assert_int_equal(asked.n, 1);
	freshet_close(f);
}

/* A crawler that fetches from a recorded history. */
struct crawler {
	struct freshet *f;
	struct history *h;
	int64_t now;
	uint32_t downloads, hits;
	bool late;                      /* every fifth answer comes a round later */
	VEC(char *) held;               /* leases, and URLs behind them */
	uint64_t *copy;                 /* by page: key of our copy; 0: gone */
};

/* An oracle of its own counts the changes: what we had against what is there. */
static void answer(struct crawler *c, const char *lease, const char *url)
{
	uint32_t page = trace_page(c->h, url);
	int64_t at = history_at(c->h, page, c->now, false);
	const struct capture *k = &c->h->captures.v[at];
	uint64_t key = k->gone ? 0 : k->key;
	char digest[20];

	c->downloads++;
	c->hits += key != c->copy[page];
	c->copy[page] = key;
	snprintf(digest, sizeof digest, "%016llx", (unsigned long long)key);
	assert_int_equal(tell(c->f, lease, key ? 200 : 404, key ? digest : NULL), 1);
}

static void answer_held(struct crawler *c)
{
	for (size_t i = 0; i < c->held.n; i += 2) {
		answer(c, c->held.v[i], c->held.v[i + 1]);
		free(c->held.v[i]);
		free(c->held.v[i + 1]);
	}
	c->held.n = 0;
}

static double crawl_cycle(struct crawler *c, uint32_t budget)
{
	struct freshet_asked a;

	c->downloads = c->hits = 0;
	begin(c->f, "crawler", "tide", budget);
	assert_int_equal(freshet_clock(c->f, c->now), 0);
	for (a = ask(c->f, 7); !a.done; a = ask(c->f, 7)) {
		size_t before = c->held.n;

		for (uint32_t i = 0; i < a.n; i++) {
			if (c->late && rng_draw(1, (uint64_t)c->now, c->downloads + i, 5) % 5 == 0) {
				vec_push(&c->held, strdup(a.offers[i]->lease));
				vec_push(&c->held, strdup(a.offers[i]->url));
			} else {
				answer(c, a.offers[i]->lease, a.offers[i]->url);
			}
		}
		assert_true(a.n || c->held.n);
		if (before >= 10 || !a.n)
			answer_held(c);
	}
	assert_int_equal(freshet_cycle_end(c->f), 1);
	assert_int_equal(c->downloads, budget);
	return (double)c->hits / c->downloads;
}

/* ---- the copies that a replay begins with ---- */

/* By page: a line of the index for its copy at the start; time 0: none so far. */
struct first { int64_t time; char *line; };

/* The index line again, with the digest that the crawler tells of this content. */
static char *write_line(const char *when, const char *json, size_t size, uint64_t key)
{
	const char *p = json;
	struct json_member m;
	struct buf out;

	buf_init(&out, BUF_NO_LIMIT);
	buf_printf(&out, "- %.14s {\"digest\":\"%016llx\"", when, (unsigned long long)key);
	while (json_next(&p, json + size, &m) > 0) {
		const char *quote = m.type == JSON_STRING ? "\"" : "";

		if ((m.key_size == 6 && !memcmp(m.key, "digest", 6)) ||
		    (m.key_size == 5 && !memcmp(m.key, "terms", 5)))
			continue;
		buf_printf(&out, ",\"%.*s\":%s%.*s%s", (int)m.key_size, m.key, quote,
		           (int)m.value_size, m.value, quote);
	}
	buf_str(&out, "}\n");
	return out.data;
}

static void take_line(struct crawler *c, struct first *firsts, const char *line, size_t size,
                      int64_t start)
{
	const char *when = strchr(line, ' ') + 1, *json = strchr(when, ' ') + 1, *p = json;
	struct json_member m;
	struct buf url;
	uint32_t page = MAP_NONE;
	int64_t time, at;

	assert_true(when_parse(when, 14, &time));
	buf_init(&url, BUF_NO_LIMIT);
	while (time <= start && json_next(&p, line + size, &m) > 0)
		if (m.key_size == 3 && !memcmp(m.key, "url", 3) &&
		    url_canonical(m.value, m.value_size, &url, NULL) == 0)
			page = strtab_find(&c->h->urls, url.data, url.size);
	buf_release(&url);
	if (page == MAP_NONE || (at = history_at(c->h, page, start, false)) < 0 ||
	    c->h->captures.v[at].gone || time < firsts[page].time)
		return;
	free(firsts[page].line);
	c->copy[page] = c->h->captures.v[at].key;
	firsts[page] = (struct first){ time, write_line(when, json, size - (size_t)(json - line),
	                                                c->copy[page]) };
}

/* Links and sizes come with them, as for who has an archive; of digests alone a policy
 * learns less. */
static void begin_copies(struct crawler *c, const glob_t *files, const char *folder,
                         int64_t start)
{
	struct first *firsts = calloc(c->h->n_pages, sizeof *firsts);
	char path[SCRATCH_LONG];
	struct err err;
	FILE *out;

	for (size_t i = 0; i < files->gl_pathc; i++) {
		struct input *in;
		char *line;
		size_t size;

		assert_int_equal(input_open(&in, files->gl_pathv[i], &err), 0);
		while (input_line(in, 1 << 24, &line, &size, &err) > 0)
			take_line(c, firsts, line, size, start);
		input_close(in);
	}
	snprintf(path, sizeof path, "%s/start.cdxj", folder);
	out = fopen(path, "w");
	assert_non_null(out);
	for (uint32_t p = 0; p < c->h->n_pages; p++)
		if (firsts[p].line) {
			fputs(firsts[p].line, out);
			free(firsts[p].line);
		}
	assert_int_equal(fclose(out), 0);
	free(firsts);
	if (freshet_import(c->f, path) < 0)
		fail_msg("%s", freshet_error(c->f));
}

/* The files of a history, and the history itself. */
static void find_history(const char *folder, glob_t *files, struct history *h)
{
	const char *data = getenv("FRESHET_DATA");
	char path[SCRATCH_LONG];
	struct world_opts wo;
	struct err err = { 0 };

	history_init(h, (struct detector){ .kind = DETECT_BYTES }, 0);
	if (data) {
		snprintf(path, sizeof path, "%s/trace/*.cdxj.gz", data);
	} else {
		trace_world_defaults(&wo);
		wo.sites = 12;
		snprintf(path, sizeof path, "%s/world.cdxj", folder);
		assert_int_equal(world_write(&wo, path, &(struct world_stats){ 0 }, &err), 0);
	}
	assert_int_equal(glob(path, 0, NULL, files), 0);
	assert_int_equal(trace_load(h, (const char *const *)files->gl_pathv, files->gl_pathc,
	                            &(struct trace_report){ 0 }, &err), 0);
}

/* ChangeRatio of the library, as a part of what replay has on the same history. */
static double part_of_replay(bool late)
{
	struct freshet_replay_options ro = { .size = sizeof ro, .policy = "tide", .seed = 1,
	                                     .budget_percent = 2, .cycle_seconds = 14 * DAY };
	struct freshet_measures m = { .size = sizeof m };
	char folder[SCRATCH_PATH];
	struct crawler c = { .late = late };
	struct history h;
	double sum = 0;
	glob_t files;
	int64_t start;

	scratch_folder(folder, "world");
	assert_int_equal(freshet_create(&c.f, folder), 0);
	find_history(folder, &files, &h);
	assert_int_equal(freshet_replay(c.f, (const char *const *)files.gl_pathv, files.gl_pathc,
	                                &ro, &m), 0);
	c.h = &h;
	c.copy = calloc(h.n_pages, sizeof *c.copy);
	start = (h.begin + DAY - 1) / DAY * DAY;
	/* as replay: a page that is gone is believed at once, and no domain has a ceiling */
	assert_int_equal(freshet_set(c.f, "confirmations", "1"), 0);
	assert_int_equal(freshet_set(c.f, "site-share", "100%"), 0);
	assert_int_equal(freshet_clock(c.f, start), 0);
	begin_copies(&c, &files, folder, start);
	globfree(&files);
	for (uint32_t i = 1; i <= m.cycles; i++) {
		c.now = start + i * 14 * DAY;
		sum += crawl_cycle(&c, m.budget);
	}
	print_message("%u pages, %u cycles of %u: replay %.4f, library%s %.4f\n", m.pages,
	              m.cycles, m.budget, m.change_ratio, late ? ", every fifth late" : "",
	              sum / m.cycles);
	assert_true(m.change_ratio > 0.1);
	freshet_close(c.f);
	history_release(&h);
	vec_release(&c.held);
	free(c.copy);
	return sum / m.cycles / m.change_ratio;
}

#ifndef __SANITIZE_ADDRESS__
static void test_history(void **state)
{
	(void)state;
	assert_true(part_of_replay(false) >= 0.97);
}
#endif

static void test_history_late(void **state)
{
	(void)state;
	assert_true(part_of_replay(true) >= 0.95);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_clients),
		cmocka_unit_test(test_tell_all),
#ifndef __SANITIZE_ADDRESS__            /* the next one has all its steps, and some more */
		cmocka_unit_test(test_history),
#endif
		cmocka_unit_test(test_history_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
