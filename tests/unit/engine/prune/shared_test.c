/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two shards of a fleet name the same archive files after a split.  Pruning and merging them, shard
 * after shard, is killed at every step, or done by two programs at the same moment: each copy that
 * should stay can be read, and in the end the files on the disk are those that rows name, no file
 * is named by two shards, and none is left over.
 *
 * Sanitized only.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/map.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "engine/archive/content.h"
#include "engine/prune/prune.h"
#include "repo/fleet/fleet.h"
#include "warc/warc_write.h"
#include "../../../lib/pg.h"
#include "../../../lib/scratch.h"

#define PAGES 6                 /* each of a domain of its own */
#define FILES 3
#define EACH 3                  /* versions of a page in each file */
#define DAY 86400
#define START 1767225600        /* 2026-01-01 */

static struct err err;
#define GOOD(call) do { if ((call) < 0) fail_msg("%s: %s", #call, err.text); } while (0)

struct place { char dir[SCRATCH_PATH], url[PG_URL]; struct fleet *fleet; const char *worker; };

static struct text text(const char *s)
{
	return (struct text){ s, strlen(s) };
}

static struct store *open_shard(struct place *p, int32_t shard, int64_t fence)
{
	struct store *s;
	struct buf where;

	buf_init(&where, 4096);
	fleet_url(p->url, shard, fence, p->worker, &where);
	GOOD(store_open(&s, buf_text(&where), fence ? STORE_EXISTING : STORE_READ, &err));
	buf_release(&where);
	return s;
}

static struct fleet_lease claim(struct place *p, int32_t shard)
{
	struct fleet_lease l;

	if (fleet_claim(p->fleet, "north", 0, shard, &l, &err) != 1)
		fail_msg("shard %d cannot be had", shard);
	return l;
}

/* ---- a shard that was split ---- */

static void write_one(struct place *p, struct warc_writer *w, struct store *s, unsigned page,
                      int64_t time, const char *body)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
	char url[60], row_name[400], digest_text[WARC_DIGEST_TEXT];
	struct warc_digest digest;
	struct warc_hasher hasher = { 0 };
	struct warc_capture c = { .time = time, .url = url, .head = head,
		.head_size = sizeof head - 1, .body = body, .body_size = strlen(body),
		.payload_digest = &digest, .request = "GET / HTTP/1.1\r\n\r\n", .request_size = 18 };
	struct warc_packer *packer = warc_packer_new((struct warc_packing){ 0 });
	struct warc_packed packed;
	struct warc_position at;
	struct store_page was, now;
	struct store_capture row = { .page = page, .time = time, .status = 200, .length = -1,
		.bytes_text = -1, .words = -1, .images = -1, .tables = -1, .emails = -1,
		.outlinks = -1 };

	snprintf(url, sizeof url, "http://domain%u.example/", page);
	warc_hasher_begin(&hasher, WARC_SHA1);
	warc_hasher_add(&hasher, body, strlen(body));
	warc_hasher_end(&hasher, &digest);
	warc_hasher_release(&hasher);
	warc_digest_bare(&digest, digest_text);
	warc_packed_init(&packed);
	GOOD(warc_pack_next(packer, &c, warc_writer_ids(w, 1), &packed, &err));
	GOOD(warc_write_packed(w, &packed, &at, &err));
	snprintf(row_name, sizeof row_name, "%s%s", p->worker ? "w/shard-0/" : "", at.filename);
	row.file = text(row_name);
	if (p->worker)
		row.worker = text(p->worker);
	row.offset = (int64_t)at.offset;
	row.size = (int64_t)at.length;
	row.digest = text(digest_text);
	GOOD(store_capture_add(s, &row, &err));
	GOOD(store_page_get(s, page, &was, &err));
	now = was;
	now.capture = row.id;
	GOOD(store_page_update(s, &was, &now, &err));
	warc_packed_release(&packed);
	warc_packer_free(packer);
}

static void fill(struct place *p, struct store *s, const char *folder)
{
	char url[60], body[4000];

	GOOD(store_begin(s, &err));
	for (unsigned i = 0; i < PAGES; i++) {
		uint32_t number;

		snprintf(url, sizeof url, "http://domain%u.example/", i);
		GOOD(store_page_add(s, text(url), 1, &number, &err));
	}
	for (unsigned f = 0; f < FILES; f++) {
		struct warc_writer_options o = { .folder = folder, .prefix = "freshet", .host = "h",
		                                 .seed = f + 1 };
		struct warc_writer *w;

		GOOD(warc_writer_open(&w, &o, &err));
		for (unsigned v = f * EACH; v < (f + 1) * EACH; v++)
			for (unsigned i = 0; i < PAGES; i++) {
				int n = snprintf(body, sizeof body, "page %u version %u ", i, v);

				for (unsigned k = 0; k < 400; k++)
					body[(size_t)n + k] = (char)('a' + rng_mix(v * 1000 + k) % 26);
				body[n + 400] = '\0';
				write_one(p, w, s, i, START + DAY * v, body);
			}
		GOOD(warc_writer_close(w, &err));
	}
	GOOD(store_commit(s, &err));
}

static void new_place(struct place *p, const char *worker)
{
	char folder[SCRATCH_LONG];
	struct fleet_split done;
	struct fleet_lease l;
	struct store *s;

	*p = (struct place){ .worker = worker };
	scratch_folder(p->dir, "d");
	pg_url(p->url);
	snprintf(folder, sizeof folder, "%s/warc", p->dir);
	mkdir(folder, 0777);
	if (worker) {
		snprintf(folder, sizeof folder, "%s/warc/w", p->dir);
		mkdir(folder, 0777);
		snprintf(folder, sizeof folder, "%s/warc/w/shard-0", p->dir);
		mkdir(folder, 0777);
	}
	GOOD(store_open(&s, p->url, STORE_CREATE, &err));
	store_close(s);
	GOOD(fleet_open(&p->fleet, p->url, &err));
	l = claim(p, 0);
	s = open_shard(p, 0, l.fence);
	fill(p, s, folder);
	store_close(s);
	GOOD(fleet_split(p->fleet, &l, NULL, &done, &err));
	assert_int_equal(done.shard, 1);
	assert_true(done.pages[0] >= 2 && done.pages[1] >= 2);
	GOOD(fleet_release(p->fleet, &l, &err));
}

static void end_place(struct place *p)
{
	fleet_close(p->fleet);
	scratch_remove(p->dir);
}

/* ---- what is there ---- */

struct looking { struct place *p; struct store *s; struct content content; char *out; };

static int look(void *arg, const struct store_capture *c, struct err *e)
{
	struct looking *l = arg;
	struct store_page page;

	GOOD(store_page_get(l->s, c->page, &page, &err));
	if (content_load(&l->content, c, page.url, e) < 0)
		fail_msg("capture %llu: %s", (unsigned long long)c->id, e->text);
	sprintf(l->out + strlen(l->out), "%.*s %lld\n", (int)page.url.size, page.url.s,
	        (long long)c->time);
	return 0;
}

/* All captures of both shards, each read back from its file. */
static char *read_all(struct place *p)
{
	struct looking l = { .p = p, .out = mem_zalloc(1, 20000) };

	for (int32_t shard = 0; shard < 2; shard++) {
		l.s = open_shard(p, shard, 0);
		content_init(&l.content, p->dir, 1 << 20);
		GOOD(store_captures(l.s, NULL, 0, look, &l, &err));
		content_release(&l.content);
		store_close(l.s);
	}
	return l.out;
}

struct named { struct strtab names; unsigned twice; };

static int name_file(void *arg, struct text worker, struct text name, struct err *e)
{
	struct named *n = arg;
	bool is_new;

	(void)worker, (void)e;
	strtab_intern(&n->names, name.s, name.size, &is_new);
	n->twice += !is_new;
	return 0;
}

static unsigned count_files(const char *path, const char *below, struct named *n)
{
	unsigned found = 0;
	struct dirent *e;
	DIR *d = opendir(path);

	assert_non_null(d);
	while ((e = readdir(d))) {
		char in[SCRATCH_LONG + 300], name[600];
		struct stat st;

		if (e->d_name[0] == '.')
			continue;
		snprintf(in, sizeof in, "%.900s/%s", path, e->d_name);
		snprintf(name, sizeof name, "%.200s%s", below, e->d_name);
		assert_int_equal(stat(in, &st), 0);
		if (S_ISDIR(st.st_mode)) {
			strcat(name, "/");
			found += count_files(in, name, n);
			continue;
		}
		found++;
		if (strtab_find(&n->names, name, strlen(name)) == MAP_NONE)
			fail_msg("%s: no row names it", name);
	}
	closedir(d);
	return found;
}

/* The files that rows name are those that are there; each is of one shard. */
static unsigned check_files(struct place *p)
{
	char path[SCRATCH_LONG];
	struct named n = { 0 };
	unsigned found;

	for (int32_t shard = 0; shard < 2; shard++) {
		struct store *s = open_shard(p, shard, 0);

		GOOD(store_files(s, name_file, &n, &err));
		store_close(s);
	}
	assert_int_equal(n.twice, 0);
	snprintf(path, sizeof path, "%s/warc", p->dir);
	found = count_files(path, "", &n);
	assert_int_equal(found, n.names.n);
	strtab_release(&n.names);
	return found;
}

/* ---- the work ---- */

static int steps_left;
static bool merge;

static void step(void *arg, const char *what)
{
	(void)arg, (void)what;
	if (steps_left-- == 0)
		kill(getpid(), SIGKILL);
}

static void turn(struct place *p, int32_t shard, bool first)
{
	struct fleet_lease l = claim(p, shard);
	struct prune r = { .store = open_shard(p, shard, l.fence), .folder = p->dir,
		.worker = p->worker, .shard = shard, .fleet = true, .now = START + DAY * 100,
		.rule = { .since = INT64_MAX, .versions = 2 }, .step = step };

	if (first && !merge)
		GOOD(prune_rows(&r, &err));
	GOOD(first ? prune_unused(&r, &err) : merge ? prune_merge(&r, &err) : sweep_run(&r, &err));
	assert_int_equal(r.files_left, 0);
	store_close(r.store);
	GOOD(fleet_release(p->fleet, &l, &err));
}

/* As prune_fleet() of the command line does it. */
static void run(struct place *p)
{
	for (int first = 1; first >= 0; first--)
		for (int32_t shard = 0; shard < 2; shard++)
			turn(p, shard, first);
}

/* In a process that kills itself at a step; false: it came to its end. */
static bool killed(struct place *p, int at)
{
	int status;
	pid_t child;

	fleet_close(p->fleet);
	p->fleet = NULL;
	fflush(NULL);
	child = fork();
	if (child == 0) {
		steps_left = at;
		GOOD(fleet_open(&p->fleet, p->url, &err));
		run(p);
		_exit(0);
	}
	waitpid(child, &status, 0);
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
	assert_true(pg_sql(p->url, "UPDATE fleet_shards SET until = clock_timestamp()"));
	GOOD(fleet_open(&p->fleet, p->url, &err));
	return WIFSIGNALED(status);
}

/* Each place is a fleet that is split first: all steps take minutes (-DEVERY=1). */
#ifndef EVERY
#define EVERY 19
#endif

static void kill_at_steps(const char *worker, bool merging, int from)
{
	struct place p;
	bool go_on = true;
	char *want, *got;
	unsigned files;
	int at = from % EVERY;

	merge = merging;
	new_place(&p, worker);
	steps_left = INT32_MAX;
	run(&p);
	want = read_all(&p);
	files = check_files(&p);
	end_place(&p);
	for (; go_on; at += EVERY) {
		new_place(&p, worker);
		go_on = killed(&p, at);
		free(read_all(&p));             /* all that the tables name is there */
		steps_left = INT32_MAX;
		run(&p);
		got = read_all(&p);
		assert_string_equal(got, want);
		assert_int_equal(check_files(&p), files);
		free(got);
		end_place(&p);
	}
	assert_true(at > 20);
	free(want);
}

static void test_killed_prune(void **state) { (void)state; kill_at_steps("w", false, 0); }
static void test_killed_merge(void **state) { (void)state; kill_at_steps("w", true, 7); }
static void test_killed_no_worker(void **state) { (void)state; kill_at_steps(NULL, false, 13); }

/* Each shard by a program of its own, at the same moment. */
static void test_together(void **state)
{
	(void)state;
	merge = false;
	for (int round = 0; round < 3; round++) {
		struct place p;
		pid_t child[2];
		int status;

		new_place(&p, "w");
		fleet_close(p.fleet);
		steps_left = INT32_MAX;
		fflush(NULL);
		for (int32_t shard = 0; shard < 2; shard++)
			if ((child[shard] = fork()) == 0) {
				GOOD(fleet_open(&p.fleet, p.url, &err));
				turn(&p, shard, true);
				turn(&p, shard, false);
				_exit(0);
			}
		for (int i = 0; i < 2; i++) {
			waitpid(child[i], &status, 0);
			assert_int_equal(status, 0);
		}
		GOOD(fleet_open(&p.fleet, p.url, &err));
		free(read_all(&p));
		/* a file that both left in the first round stays with the one that came last */
		run(&p);
		check_files(&p);
		end_place(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_prune),
		cmocka_unit_test(test_killed_merge),
		cmocka_unit_test(test_killed_no_worker),
		cmocka_unit_test(test_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
