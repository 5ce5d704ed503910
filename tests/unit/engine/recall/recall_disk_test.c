/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recalling from a disk that fails.  The visits of a cycle are read by one thread while
 * another tells those of the cycle before.  Each read of the tables fails once, whichever
 * thread it is in: recall() ends with an error that says so, and the same store, read again,
 * tells every visit.
 *
 * Reads are counted and failed below SQLite, in its layer of files.
 */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <sqlite3.h>

#include "engine/recall/recall.h"
#include "../../../lib/scratch.h"

#define PAGES 400
#define CYCLES 8

/* ---- the disk ---- */

static sqlite3_vfs disk;
static sqlite3_io_methods calls;
static const sqlite3_vfs *real;
static int (*real_read)(sqlite3_file *, void *, int, sqlite3_int64);
static atomic_int n_reads, bad_read, n_aside;   /* bad_read: 0: none; n_aside: not in main() */
static pthread_t main_thread;

static int disk_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
	int read = atomic_fetch_add(&n_reads, 1) + 1;

	if (read != atomic_load(&bad_read))
		return real_read(f, to, n, at);
	atomic_fetch_add(&n_aside, !pthread_equal(pthread_self(), main_thread));
	return SQLITE_IOERR_READ;
}

static int disk_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *ret)
{
	int rc = real->xOpen((sqlite3_vfs *)(uintptr_t)real, name, f, flags, ret);

	(void)v;
	if (rc != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB))
		return rc;
	calls = *f->pMethods;
	real_read = calls.xRead;
	calls.xRead = disk_read;
	f->pMethods = &calls;
	return rc;
}

static void disk_insert(void)
{
	real = sqlite3_vfs_find(NULL);
	disk = *real;
	disk.zName = "failing";
	disk.xOpen = disk_open;
	assert_int_equal(sqlite3_vfs_register(&disk, 1), SQLITE_OK);
	main_thread = pthread_self();
}

/* ---- the policy: a sum of what it hears ---- */

static uint64_t heard;

static void ear_tell(struct policy *p, const struct view *v, const struct seen *s)
{
	const uint32_t numbers[] = { v->cycle, s->page, s->outcome };

	(void)p;
	heard = hash_bytes(numbers, sizeof numbers, heard);
}

static const struct policy_ops ear_ops = { .name = "ear", .tell = ear_tell };

/* ---- the past ---- */

static void make_past(const char *path)
{
	struct store *s;
	struct err err;

	assert_int_equal(store_open(&s, path, STORE_CREATE, &err), 0);
	assert_int_equal(store_begin(s, &err), 0);
	for (int i = 0; i < PAGES; i++) {
		char url[60];
		struct store_page p = { .added = 1, .weight = 1, .url = { url, (size_t)snprintf(url,
			sizeof url, "http://site%d.example/%d", i % 4, i) } };
		bool is_new;

		assert_int_equal(store_pages_add(s, &p, 1, &is_new, &err), 0);
	}
	for (uint32_t c = 1; c <= CYCLES; c++) {
		struct store_cycle row = { .number = c, .time = 1700000000 + c * DAY_SECONDS,
			.budget = PAGES, .policy = { "x", 1 }, .pages = PAGES };

		assert_int_equal(store_cycle_put(s, &row, &err), 0);
		for (uint32_t i = 0; i < PAGES; i++) {
			struct store_visit v = { .cycle = c, .page = i, .time = row.time, .score = NAN,
				.probability = NAN, .outcome = (c + i) % 3 == 0, .status = 200,
				.hit = (c + i) % 3 == 0 };

			assert_int_equal(store_visit_add(s, &v, &err), 0);
		}
	}
	assert_int_equal(store_commit(s, &err), 0);
	store_close(s);
}

static int recall_all(struct store *s, struct err *err)
{
	struct recall_opts o = { 0 };
	struct pages_opts po = { 0 };
	struct policy policy = { .ops = &ear_ops };
	struct recalled r;
	struct loaded loaded;
	struct engine e;
	struct err other;
	int rc;

	heard = 0;
	atomic_store(&n_reads, -100000);        /* of the pages: not what this is about */
	assert_int_equal(load_pages(&loaded, s, &po, &other), 0);
	atomic_store(&n_reads, 0);
	engine_init(&e, &loaded.pages, &policy, 0);
	e.view.cycle_seconds = DAY_SECONDS;
	rc = recall(&e, &loaded, s, &o, &r, err);
	engine_release(&e);
	loaded_release(&loaded);
	return rc;
}

static void a_failing_read_is_an_error(void **state)
{
	char path[SCRATCH_PATH];
	uint64_t want;
	struct store *s;
	struct err err;
	int n;

	(void)state;
	disk_insert();
	make_past(scratch_path(path, "past.db"));
	assert_int_equal(store_open(&s, path, STORE_READ, &err), 0);
	assert_int_equal(recall_all(s, &err), 0);
	store_close(s);
	want = heard;
	n = atomic_load(&n_reads);
	assert_in_range(n, 3 * CYCLES, 1000);   /* pages of the file in every cycle */
	for (int at = 1; at <= n; at++) {
		assert_int_equal(store_open(&s, path, STORE_READ, &err), 0);
		atomic_store(&bad_read, at);
		assert_int_equal(recall_all(s, &err), E_STORE);
		assert_non_null(strstr(err.text, path));
		assert_non_null(strstr(err.text, "disk I/O error (is the disk full, or failing?)"));
		atomic_store(&bad_read, 0);
		assert_int_equal(recall_all(s, &err), 0);
		assert_true(heard == want);
		store_close(s);
	}
	print_message("%d reads failed, %d of them beside the first thread\n", n,
	              atomic_load(&n_aside));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_failing_read_is_an_error) };

	return cmocka_run_group_tests_name("recall from a failing disk", tests, NULL, NULL);
}
