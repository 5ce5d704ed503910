/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of live pages: counted when they should be, the same as those that import
 * counts in the archive of the crawl, kept with the captures whatever the batches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <cmocka.h>

#include "base/mem.h"
#include "engine/import/import.h"
#include "web/text/terms.h"
#include "../../../lib/bed.h"
#include "../../../lib/origin_tape.h"

#define DAY 86400
#define START 1700000000
#define PAGES 40

struct stage {
	struct origin_tape *origin;
	int round;
	struct bed bed;
};

/* /0 changes every round, /1 never, /2 is no text; the others now and then. */
static void answer(void *arg, const char *path, const char *request, struct buf *head,
                   struct buf *body)
{
	const struct stage *s = arg;
	int n = atoi(path + 1), v = n ? s->round * (n % 3) / 2 : s->round;

	(void)request;
	if (!strcmp(path, "/robots.txt")) {
		buf_str(head, "HTTP/1.1 404 Not Found\r\n");
		return;
	}
	buf_printf(head, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\n",
	           n == 2 ? "image/png" : "text/html; charset=utf-8");
	if (n == 0)
		buf_printf(body, "<title>the page</title><p>Rivers and <b>ri</b>vers, fast river; "
		           "%s caf\xc3\xa9", v ? "summer" : "winter");
	else
		for (int i = 0; i < 200; i++)
			buf_printf(body, "<i>word%c%d the river</i> ", 'a' + (n + v) % 26,
			           (i * n * n + v) % (50 + n));
}

static void new_store(struct stage *s, const char *name)
{
	bed_renew(&s->bed, name);
	s->round = 0;
	s->bed.opts.words = CRAWL_WORDS_YES;
	s->bed.opts.stem = NULL;
	s->bed.opts.policy = "oldest";
	s->bed.opts.batch = 0;
}

static void add_pages(struct stage *s)
{
	for (int i = 0; i < PAGES; i++)
		bed_add(&s->bed, "http://127.0.0.1:%u/%d", origin_tape_port(s->origin), i);
}

static void setup(struct stage *s)
{
	*s = (struct stage){ 0 };
	s->origin = origin_tape_start(answer, s);
	bed_open(&s->bed, "127.0.0.1");
	s->bed.opts.budget = (struct share){ PAGES, false };
}

static void teardown(struct stage *s)
{
	bed_close(&s->bed);
	origin_tape_stop(s->origin);
}

static void cycle(struct stage *s)
{
	s->bed.opts.now = START + s->round * DAY;
	assert_int_equal(bed_cycle(&s->bed).cycle.downloads, PAGES);
	s->round++;
}

static void import_from(struct stage *s, const char *folder, const char *stem)
{
	struct import i = { .store = s->bed.store, .folder = s->bed.dir, .now = START, .stem = stem };
	DIR *d = opendir(folder);
	struct dirent *e;
	struct err err;

	while ((e = readdir(d))) {
		char path[SCRATCH_LONG];

		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		if (e->d_name[0] != '.' && import_file(&i, path, &err) < 0)
			fail_msg("%s", err.text);
	}
	closedir(d);
}

/* ---- what a store says, in words ---- */

struct told {
	VEC(char *) words;
	VEC(char *) pages;              /* "page time: word:count word:count" */
	uint32_t n_terms;               /* captures that have some */
};

static int see_word(void *arg, uint32_t number, struct text word, struct err *err)
{
	struct told *t = arg;

	(void)err;
	assert_int_equal(number, t->words.n);
	vec_push(&t->words, mem_strndup(word.s, word.size));
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int see_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct told *t = arg;
	struct term_vector v = { 0 };
	VEC(char *) list = { 0 };
	struct buf line;
	char one[128];

	if (c->revisit)
		return 0;
	buf_init(&line, BUF_NO_LIMIT);
	buf_printf(&line, "%lld %.*s:", (long long)c->time, (int)c->digest.size, c->digest.s);
	if (c->terms.s)
		assert_int_equal(terms_parse(&v, c->terms.s, c->terms.size, err), 0);
	t->n_terms += v.terms.n > 0;
	for (size_t i = 0; i < v.terms.n; i++) {
		assert_true(v.terms.v[i].id < t->words.n);
		snprintf(one, sizeof one, " %s:%u", t->words.v[v.terms.v[i].id], v.terms.v[i].count);
		vec_push(&list, mem_strdup(one));
	}
	if (list.n)
		qsort(list.v, list.n, sizeof *list.v, by_text);
	for (size_t i = 0; i < list.n; i++) {
		buf_str(&line, list.v[i]);
		free(list.v[i]);
	}
	vec_push(&t->pages, mem_strdup(buf_text(&line)));
	vec_release(&list);
	term_vector_release(&v);
	buf_release(&line);
	return 0;
}

static void read_store(struct store *s, struct told *t)
{
	struct err err;

	*t = (struct told){ 0 };
	assert_int_equal(store_words(s, 0, see_word, t, &err), 0);
	assert_int_equal(store_captures(s, NULL, 0, see_capture, t, &err), 0);
	if (t->pages.n)
		qsort(t->pages.v, t->pages.n, sizeof *t->pages.v, by_text);
}

static void forget(struct told *t)
{
	for (size_t i = 0; i < t->words.n; i++)
		free(t->words.v[i]);
	for (size_t i = 0; i < t->pages.n; i++)
		free(t->pages.v[i]);
	vec_release(&t->words);
	vec_release(&t->pages);
}

/* Does any page have exactly these words? */
static bool has_page(const struct told *t, const char *words)
{
	for (size_t i = 0; i < t->pages.n; i++)
		if (!strcmp(strchr(t->pages.v[i], ':'), words))
			return true;
	return false;
}

static bool has_word(const struct told *t, const char *word)
{
	for (size_t i = 0; i < t->words.n; i++)
		if (!strcmp(t->words.v[i], word))
			return true;
	return false;
}

static uint32_t terms_of(struct stage *s)
{
	struct told t;
	uint32_t n;

	read_store(s->bed.store, &t);
	n = t.n_terms;
	assert_true(n > 0 || t.words.n == 0);
	forget(&t);
	return n;
}

/* ---- */

static void compare_with_import(struct stage *s, const char *stem)
{
	struct told live, read;
	char folder[SCRATCH_LONG];

	read_store(s->bed.store, &live);
	snprintf(folder, sizeof folder, "%s", s->bed.warc);
	new_store(s, stem ? "read-stems" : "read");
	import_from(s, folder, stem);
	read_store(s->bed.store, &read);
	assert_int_equal(live.pages.n, read.pages.n);
	for (size_t i = 0; i < live.pages.n; i++)
		assert_string_equal(live.pages.v[i], read.pages.v[i]);
	assert_int_equal(live.words.n, read.words.n);
	for (size_t i = 0; i < live.words.n; i++)
		assert_true(has_word(&read, live.words.v[i]));
	assert_true(live.n_terms > PAGES && live.n_terms == read.n_terms);
	forget(&live);
	forget(&read);
}

static void test_live_is_as_imported(void **state)
{
	struct told t;
	struct stage s;

	(void)state;
	setup(&s);
	new_store(&s, "live");
	add_pages(&s);
	s.bed.opts.batch = 3;
	for (int i = 0; i < 4; i++)
		cycle(&s);
	read_store(s.bed.store, &t);
	/* by hand: stop words and the title are left out */
	assert_true(has_page(&t, ": caf\xc3\xa9:1 fast:1 river:1 rivers:2 winter:1"));
	assert_true(has_page(&t, ": caf\xc3\xa9:1 fast:1 river:1 rivers:2 summer:1"));
	assert_false(has_word(&t, "the"));
	forget(&t);
	compare_with_import(&s, NULL);
	teardown(&s);
}

static void test_stems(void **state)
{
	struct told t;
	struct stage s;

	(void)state;
	setup(&s);
	new_store(&s, "stems");
	add_pages(&s);
	s.bed.opts.stem = "english";
	cycle(&s);
	s.bed.opts.stem = "french";         /* the first words have settled it */
	cycle(&s);
	read_store(s.bed.store, &t);
	assert_true(has_page(&t, ": caf\xc3\xa9:1 fast:1 river:3 winter:1"));
	assert_true(has_page(&t, ": caf\xc3\xa9:1 fast:1 river:3 summer:1"));
	assert_false(has_word(&t, "rivers"));
	forget(&t);
	compare_with_import(&s, "english");
	teardown(&s);
}

/* By itself: if there are words, or the policy looks at them. */
static void test_when(void **state)
{
	static const struct { const char *policy; bool counts; } cases[] = {
		{ "oldest", false }, { "cluster:features=url", false },
		{ "cluster:features=static", false }, { "cluster:features=content", true },
		{ "neighbour:by=cluster", true }, { "neighbour:by=dir", false },
	};
	char name[16], folder[SCRATCH_LONG];
	struct stage s;
	uint32_t before;

	(void)state;
	setup(&s);
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof name, "p%d", i);
		new_store(&s, name);
		add_pages(&s);
		s.bed.opts.words = CRAWL_WORDS_AUTO;
		s.bed.opts.policy = cases[i].policy;
		cycle(&s);
		if (terms_of(&s) != (cases[i].counts ? PAGES - 1 : 0))  /* one is a picture */
			fail_msg("%s: %u pages have terms", cases[i].policy, terms_of(&s));
	}
	snprintf(folder, sizeof folder, "%s", s.bed.warc);
	new_store(&s, "imported");
	s.bed.opts.words = CRAWL_WORDS_AUTO;
	import_from(&s, folder, NULL);
	before = terms_of(&s);
	assert_int_equal(before, PAGES - 1);
	s.round = 1;
	cycle(&s);
	assert_true(terms_of(&s) > before);
	before = terms_of(&s);
	s.bed.opts.words = CRAWL_WORDS_NO;
	cycle(&s);
	assert_int_equal(terms_of(&s), before);
	teardown(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live_is_as_imported),
		cmocka_unit_test(test_stems),
		cmocka_unit_test(test_when),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
