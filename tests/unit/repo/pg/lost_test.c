/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection that is cut at any byte: what was committed is there once, what was rolled
 * back is not, scans and journals are whole.  tests/lib/cutter.py is the bad network.
 *
 * Each batch adds ten pages, ten visits and one to a counter, so the numbers at the end are
 * known.  LOST_CUTS, LOST_SEEDS: more of it (scripts/trial-postgres).
 *
 * Sanitized only.
 */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "repo/store.h"
#include "../../../lib/pg.h"
#include "../../../lib/scratch.h"
#include "../../../lib/whole.h"

#define PAGES 10                /* of a batch */
#define LARGE_PAGES 2000
#define LARGE_URL 1500

static int number_of(const char *name, int usual)
{
	const char *s = getenv(name);

	return s ? atoi(s) : usual;
}

/* The cutter, and the URL of the store behind it.  Returns its process. */
static pid_t start_cutter(const char *folder, unsigned seed, int cuts, int bytes, int *ret_in,
                          char url[PG_URL])
{
	char direct[PG_URL], server[200], ready[SCRATCH_LONG];
	char texts[3][16];
	char *host;
	int in[2];
	pid_t child;

	host = strstr(pg_url(direct), "host=");
	assert_non_null(host);
	snprintf(server, sizeof server, "%.*s", (int)strcspn(host + 5, "&"), host + 5);
	snprintf(url, PG_URL, "%.*s%s%s&patience=30", (int)(host + 5 - direct), direct, folder,
	         host + 5 + strlen(server));
	snprintf(texts[0], 16, "%u", seed);
	snprintf(texts[1], 16, "%d", cuts);
	snprintf(texts[2], 16, "%d", bytes);
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		dup2(in[0], 0);
		execlp("python3", "python3", "tests/lib/cutter.py", server, folder, texts[0], texts[1],
		       texts[2], (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	*ret_in = in[1];
	snprintf(ready, sizeof ready, "%s/ready", folder);
	for (int i = 0; i < 3000 && access(ready, F_OK); i++)
		usleep(10000);
	return child;
}

static int cuts_so_far(const char *folder)
{
	char path[SCRATCH_LONG];
	int n = -1;
	FILE *f;

	snprintf(path, sizeof path, "%s/cuts", folder);
	if ((f = fopen(path, "r"))) {
		if (fscanf(f, "%d", &n) != 1)
			n = -1;
		fclose(f);
	}
	return n;
}

#define DO(call) do { \
		int rc_ = (call); \
		if (rc_ < 0) \
			fail_msg("batch %u: %s: %s", b, #call, err.text); \
	} while (0)

static int count_page(void *arg, const struct store_page *p, struct err *err)
{
	(void)err;
	assert_int_equal(p->number, *(uint32_t *)arg);
	++*(uint32_t *)arg;
	return 0;
}

static int count_visit(void *arg, const struct store_visit *v, struct err *err)
{
	(void)err;
	assert_int_equal(v->order, ++*(uint32_t *)arg);
	return 0;
}

static int count_sent(void *arg, const struct store_sent *sent, struct err *err)
{
	(void)err;
	assert_int_equal(sent->place, ++*(uint32_t *)arg);
	return 0;
}

/* Write the rows of batch b.  At most one second of a page is used, so captures differ. */
static void write_batch(struct store *s, uint32_t b)
{
	struct store_page_change one = { .number = 0, .visits = 1 };
	struct store_page pages[PAGES];
	struct store_visit visits[PAGES];
	struct store_capture captures[PAGES];
	char urls[PAGES][40];
	uint8_t put[PAGES];
	bool fresh[PAGES];
	struct err err;

	for (uint32_t i = 0; i < PAGES; i++) {
		int size = snprintf(urls[i], sizeof urls[i], "http://h.example/%u/%u", b, i);

		pages[i] = (struct store_page){ .url = { urls[i], (size_t)size }, .weight = 1 };
		visits[i] = (struct store_visit){ .cycle = 1, .page = b * PAGES + i,
			.time = 1700000000 + b, .score = NAN, .probability = NAN };
		captures[i] = (struct store_capture){ .page = b * PAGES + i, .time = 1700000000 + b,
			.status = 200, .links = { urls[i], (size_t)size } };
	}
	DO(store_pages_add(s, pages, PAGES, fresh, &err));
	for (uint32_t i = 0; i < PAGES; i++)
		assert_true(fresh[i] && pages[i].number == b * PAGES + i);
	DO(store_captures_put(s, captures, PAGES, STORE_FIRST, put, &err));
	for (uint32_t i = 0; i < PAGES; i++)
		assert_int_equal(put[i], STORE_ADDED);
	DO(store_visits_add(s, visits, PAGES, &err));
	DO(store_pages_change(s, &one, 1, &err));
}

static void walk(struct store *s, const char *folder, int cuts)
{
	struct store_counts counts;
	struct store_page p;
	uint32_t b, n;
	struct err err;

	for (b = 0; !b || (cuts_so_far(folder) < cuts && b < 3000); b++) {
		struct store_sent sent = { .cycle = 1, .place = b + 1 };

		DO(store_begin(s, &err));
		if (b % 5 == 4) {               /* first for nothing */
			write_batch(s, b);
			store_rollback(s);
			DO(store_begin(s, &err));
		}
		write_batch(s, b);
		if (b % 2 == 0)
			DO(store_sent_start(s, &sent, 1, &err));        /* goes on beside the batch */
		if (b % 3 == 1)
			DO(store_sent_done(s, true, &err));
		n = 0;
		if (b % 7 == 3)                 /* the batch is sent before its end */
			DO(store_pages(s, 0, count_page, &n, &err));
		assert_true(n == 0 || n == (b + 1) * PAGES);
		if (b % 2 == 0) {
			DO(store_commit(s, &err));
		} else {                        /* and beside its commit; then what is next waits */
			DO(store_commit_start(s, &err));
			DO(store_sent_start(s, &sent, 1, &err));
			if (b % 4 == 1)
				DO(store_commit_done(s, b % 8 == 1, &err));
		}
		n = 0;
		if (b % 9 == 5)
			DO(store_visits(s, 1, 2, count_visit, &n, &err));
		assert_true(n == 0 || n == (b + 1) * PAGES);
	}
	n = 0;
	DO(store_sent(s, count_sent, &n, &err));
	assert_int_equal(n, b);
	DO(store_count(s, &counts, &err));
	assert_int_equal(counts.pages, b * PAGES);
	assert_int_equal(counts.captures, b * PAGES);
	assert_int_equal(counts.visits, b * PAGES);
	DO(store_page_get(s, 0, &p, &err));
	assert_int_equal(p.visits, b);
	n = 0;
	DO(store_visits(s, 1, 2, count_visit, &n, &err));
	assert_int_equal(n, b * PAGES);
	DO(whole_check(s, &err));
}

static void test_cut_anywhere(void **state)
{
	int cuts = number_of("LOST_CUTS", 6);

	(void)state;
	for (unsigned seed = 1; seed <= (unsigned)number_of("LOST_SEEDS", 1); seed++) {
		char folder[SCRATCH_PATH], bad[SCRATCH_LONG], url[PG_URL];
		struct store *s = NULL;
		struct err err;
		int in, rc;
		pid_t cutter;

		scratch_folder(folder, "cut");
		cutter = start_cutter(folder, seed, cuts, 60000, &in, url);
		if (store_open(&s, url, STORE_CREATE, &err) < 0)
			fail_msg("%s", err.text);
		store_close(s);
		snprintf(bad, sizeof bad, "%s/bad", folder);
		close(open(bad, O_CREAT | O_WRONLY, 0666));
		while ((rc = store_open(&s, url, STORE_EXISTING, &err)) < 0)
			usleep(10000);          /* a command that cannot begin is run again */
		assert_int_equal(store_lock(s, &err), 0);
		walk(s, folder, cuts);
		assert_true(cuts_so_far(folder) >= cuts);
		store_close(s);
		close(in);
		waitpid(cutter, NULL, 0);
	}
}

/* A server that stays away: status 5, and the message says what to do. */
static void test_away_for_long(void **state)
{
	char folder[SCRATCH_PATH], url[PG_URL];
	struct store_page p;
	struct store *s;
	struct err err;
	char *patience;
	int in;
	pid_t cutter;

	(void)state;
	scratch_folder(folder, "cut");
	cutter = start_cutter(folder, 1, 0, 1, &in, url);
	patience = strstr(url, "&patience=30");
	assert_non_null(patience);
	memcpy(patience, "&patience=1 ", 12);
	patience[11] = '\0';
	assert_int_equal(store_open(&s, url, STORE_CREATE, &err), 0);
	close(in);                              /* the network goes away */
	waitpid(cutter, NULL, 0);
	assert_int_equal(store_page_get(s, 0, &p, &err), E_STORE);
	assert_int_equal(err_exit_status(E_STORE), 5);
	assert_non_null(strstr(err.text, "given up after 1 s"));
	store_close(s);
}

/* Pages of a batch that is larger than all buffers on the way. */
static void write_large(struct store *s, bool *ret_any_new)
{
	static char urls[LARGE_PAGES][LARGE_URL];
	static struct store_page pages[LARGE_PAGES];
	static bool fresh[LARGE_PAGES];
	struct err err;
	uint32_t b = 0;

	for (uint32_t i = 0; i < LARGE_PAGES; i++) {
		int size = snprintf(urls[i], sizeof urls[i], "http://h.example/%u/%0*u", i,
		                    LARGE_URL - 40, i);

		pages[i] = (struct store_page){ .url = { urls[i], (size_t)size }, .weight = 1 };
	}
	DO(store_pages_add(s, pages, LARGE_PAGES, fresh, &err));
	*ret_any_new = false;
	for (uint32_t i = 0; i < LARGE_PAGES; i++) {
		assert_int_equal(pages[i].number, i);
		*ret_any_new |= fresh[i];
	}
}

/* Cuts in the middle of COPY: a batch of new pages, captures and visits that all go so, of some
 * megabytes, of which each connection carries less until the cuts are over. */
static void test_cut_in_copy(void **state)
{
	int cuts = number_of("LOST_CUTS", 6) / 2;
	char folder[SCRATCH_PATH], bad[SCRATCH_LONG], url[PG_URL];
	static struct store_capture captures[LARGE_PAGES];
	static struct store_visit visits[LARGE_PAGES];
	static uint8_t put[LARGE_PAGES];
	struct store_counts counts;
	uint32_t b = 0, n = 0;
	struct store *s;
	struct err err;
	bool any_new;
	int in;
	pid_t cutter;

	(void)state;
	scratch_folder(folder, "cut");
	cutter = start_cutter(folder, 7, cuts, 3000000, &in, url);
	DO(store_open(&s, url, STORE_CREATE, &err));
	store_close(s);
	snprintf(bad, sizeof bad, "%s/bad", folder);
	close(open(bad, O_CREAT | O_WRONLY, 0666));
	while (store_open(&s, url, STORE_EXISTING, &err) < 0)
		usleep(10000);
	DO(store_begin(s, &err));
	write_large(s, &any_new);
	assert_true(any_new);
	for (uint32_t i = 0; i < LARGE_PAGES; i++) {
		captures[i] = (struct store_capture){ .page = i, .time = 1700000000, .status = 200 };
		visits[i] = (struct store_visit){ .cycle = 1, .page = i, .time = 1700000000,
			.score = NAN, .probability = NAN };
	}
	DO(store_captures_put(s, captures, LARGE_PAGES, STORE_FIRST, put, &err));
	DO(store_visits_add(s, visits, LARGE_PAGES, &err));
	DO(store_commit(s, &err));
	assert_true(cuts_so_far(folder) >= (cuts ? 1 : 0));
	DO(store_count(s, &counts, &err));
	assert_int_equal(counts.pages, LARGE_PAGES);
	assert_int_equal(counts.captures, LARGE_PAGES);
	assert_int_equal(counts.visits, LARGE_PAGES);
	DO(store_visits(s, 1, 2, count_visit, &n, &err));
	assert_int_equal(n, LARGE_PAGES);
	DO(whole_check(s, &err));
	store_close(s);
	close(in);
	waitpid(cutter, NULL, 0);
}

/* A server that is frozen in the middle of a batch, so that connections stay open and nothing
 * comes: status 5, and when it wakes the batch is there as a whole or not at all. */
static void test_frozen(void **state)
{
	char folder[SCRATCH_PATH], url[PG_URL];
	struct store_counts counts;
	uint32_t b = 0;
	struct store *s;
	struct err err;
	bool any_new;
	int in;
	pid_t cutter;

	(void)state;
	scratch_folder(folder, "cut");
	cutter = start_cutter(folder, 1, 0, 1, &in, url);
	snprintf(strstr(url, "&patience=30"), 40, "&patience=1&connect_timeout=2");
	DO(store_open(&s, url, STORE_CREATE, &err));
	DO(store_begin(s, &err));
	write_large(s, &any_new);
	assert_true(any_new);
	kill(cutter, SIGSTOP);
	assert_int_equal(store_commit(s, &err), E_STORE);
	assert_non_null(strstr(err.text, "given up after 1 s"));
	store_rollback(s);
	store_close(s);
	kill(cutter, SIGCONT);
	DO(store_open(&s, url, STORE_EXISTING, &err));
	DO(store_count(s, &counts, &err));
	assert_true(counts.pages == 0 || counts.pages == LARGE_PAGES);
	DO(store_begin(s, &err));
	write_large(s, &any_new);
	assert_true(any_new == !counts.pages);
	DO(store_commit(s, &err));
	DO(store_count(s, &counts, &err));
	assert_int_equal(counts.pages, LARGE_PAGES);
	DO(whole_check(s, &err));
	store_close(s);
	close(in);
	waitpid(cutter, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_cut_in_copy),
		cmocka_unit_test(test_away_for_long),
		cmocka_unit_test(test_frozen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
