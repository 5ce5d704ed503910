/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which captures stay, against rules written out naively; and pruning and merging that are
 * killed at every one of their steps: each copy that should stay can be read afterwards, and
 * the next run ends where one that was never killed does.
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

#include "base/math/rng.h"
#include "base/mem.h"
#include "engine/archive/content.h"
#include "engine/crawl/crawl_inner.h"
#include "engine/prune/rewrite.h"
#include "warc/warc_write.h"
#include "../../../lib/pg.h"
#include "../../../lib/scratch.h"

/* ---- which stay ---- */

/* Is there a reason to keep c[i]? */
static bool naive(const struct prune_rule *rule, const struct prune_capture *c, size_t n,
                  uint64_t newest, size_t i)
{
	size_t copies_after = 0, last_copy = n, before_since = n;

	if (c[i].time >= rule->since || c[i].id == newest || i + 1 == n)
		return true;
	for (size_t j = i + 1; j < n; j++)
		copies_after += c[j].copy;
	if (copies_after < rule->versions)
		return true;
	for (size_t j = 0; j < n; j++) {
		last_copy = c[j].copy ? j : last_copy;
		if (c[j].copy && c[j].time < rule->since && rule->since != INT64_MAX)
			before_since = j;
	}
	if (i == last_copy || i == before_since)
		return true;
	/* is it what a revisit that stays speaks of? */
	for (size_t j = i + 1; j < n && c[i].copy; j++) {
		size_t same = n, any = n;

		if (!c[j].revisit || !naive(rule, c, n, newest, j))
			continue;
		for (size_t k = 0; k < j; k++) {
			any = c[k].copy ? k : any;
			if (c[k].copy && (!c[j].digest || c[k].digest == c[j].digest))
				same = k;
		}
		if (i == (same < n ? same : any))
			return true;
	}
	return false;
}

static void test_choose(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 3000; seed++) {
		struct prune_capture c[12] = { 0 };
		size_t n = rng_mix(seed) % 12 + 1;
		struct prune_rule rule = {
			.since = rng_mix(seed + 77) % 3 ? (int64_t)(rng_mix(seed + 5) % 120) : INT64_MAX,
			.versions = (uint32_t)(rng_mix(seed + 9) % 4),
		};
		uint64_t newest = rng_mix(seed + 3) % (n + 1);

		for (size_t i = 0; i < n; i++) {
			uint64_t r = rng_mix(seed * 1000 + i);

			c[i] = (struct prune_capture){ .id = i + 1, .time = (int64_t)(10 * i),
				.digest = r / 7 % 4, .revisit = r % 3 == 0, .copy = r % 3 == 1 };
		}
		prune_choose(&rule, c, n, newest);
		for (size_t i = 0; i < n; i++)
			if (c[i].keep != naive(&rule, c, n, newest, i))
				fail_msg("seed %llu: capture %zu of %zu", (unsigned long long)seed, i, n);
	}
}

/* By hand: a page that changed twice, and was looked at in between. */
static void test_by_hand(void **state)
{
	struct prune_rule three = { .since = INT64_MAX, .versions = 2 };
	struct prune_rule recent = { .since = 55 };
	struct prune_capture c[] = {
		{ .id = 1, .time = 10, .digest = 1, .copy = true },
		{ .id = 2, .time = 20, .digest = 2, .copy = true },
		{ .id = 3, .time = 30, .digest = 2, .revisit = true },
		{ .id = 4, .time = 40, .digest = 3, .copy = true },
		{ .id = 5, .time = 50, .digest = 3, .revisit = true },
		{ .id = 6, .time = 60, .digest = 3, .revisit = true },
	};

	(void)state;
	prune_choose(&three, c, 6, 4);
	assert_true(!c[0].keep && c[1].keep && c[2].keep && c[3].keep && c[4].keep && c[5].keep);
	prune_choose(&recent, c, 6, 4);
	assert_true(!c[0].keep && !c[1].keep && !c[2].keep && c[3].keep && !c[4].keep &&
	            c[5].keep);
}

static void test_names(void **state)
{
	static const char *const good[] = {
		"freshet-20260101000000-00000-host.warc.gz", "freshet-20260101000000-1-h-r12.warc.gz",
	};
	static const char *const bad[] = {
		"", "freshet-2026010100000-00000-host.warc.gz", "crawl-20260101000000-00000-host.warc.gz",
		"freshet-20260101000000-00000-ho/st.warc.gz", "freshet-20260101000000-00000-host.warc",
		"freshet-20260101000000--host.warc.gz", "../freshet-20260101000000-00000-h.warc.gz",
	};

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(rewrite_is_ours(good[i], strlen(good[i])));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(rewrite_is_ours(bad[i], strlen(bad[i])));
}

/* ---- killed at every step ---- */

#define PAGES 4
#define FILES 3
#define EACH 4                  /* versions of a page in each file */
#define DAY 86400
#define START 1767225600        /* 2026-01-01 */

struct place { char dir[SCRATCH_PATH], where[PG_URL + SCRATCH_PATH]; struct store *store; };

static struct err err;
static struct warc_packing packing;     /* of the archive files */
#define GOOD(call) do { if ((call) < 0) fail_msg("%s: %s", #call, err.text); } while (0)

static void write_one(struct warc_writer *w, struct store *s, unsigned page, int64_t time,
                      const char *url, const char *body, bool revisit)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
	static const char hop_head[] = "HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n";
	struct warc_digest digest;
	struct warc_hasher hasher = { 0 };
	struct warc_capture hop = { .time = time, .url = "http://hop.example/", .head = hop_head,
		.head_size = sizeof hop_head - 1, .body = "", .hop_of = "http://hop.example/",
		.request = "GET / HTTP/1.1\r\n\r\n", .request_size = 18 };
	struct warc_capture c = { .time = time, .url = url, .head = head,
		.head_size = sizeof head - 1, .body = body, .body_size = strlen(body),
		.request = "GET / HTTP/1.1\r\n\r\n", .request_size = 18 };
	struct warc_packer *packer = warc_packer_new(packing);
	struct warc_packed packed;
	struct warc_position at;
	char text[WARC_DIGEST_TEXT];
	struct store_capture row = { .page = page, .time = time, .status = 200,
		.revisit = revisit, .length = -1, .bytes_text = -1, .words = -1, .images = -1,
		.tables = -1, .emails = -1, .outlinks = -1, .links = { body, strlen(body) } };

	warc_hasher_begin(&hasher, WARC_SHA1);
	warc_hasher_add(&hasher, body, strlen(body));
	warc_hasher_end(&hasher, &digest);
	warc_hasher_release(&hasher);
	warc_digest_bare(&digest, text);
	c.payload_digest = &digest;
	if (revisit) {
		c.revisit = WARC_IDENTICAL_DIGEST;
		c.refers_to_url = url;
		c.refers_to_time = START;
	}
	warc_packed_init(&packed);
	if (page == 1) {        /* redirects led there */
		GOOD(warc_pack_next(packer, &hop, warc_writer_ids(w, 1), &packed, &err));
		c.page = "http://hop.example/";
	}
	GOOD(warc_pack_next(packer, &c, warc_writer_ids(w, 1), &packed, &err));
	GOOD(warc_write_packed(w, &packed, &at, &err));
	row.file = (struct text){ at.filename, strlen(at.filename) };
	row.offset = (int64_t)at.offset;
	row.size = (int64_t)at.length;
	row.digest = (struct text){ text, strlen(text) };
	if (c.page)
		row.target = (struct text){ url, strlen(url) };
	GOOD(store_capture_add(s, &row, &err));
	if (!revisit) {
		struct store_page was, now;

		GOOD(store_page_get(s, page, &was, &err));
		now = was;
		now.capture = row.id;
		GOOD(store_page_update(s, &was, &now, &err));
	}
	warc_packed_release(&packed);
	warc_packer_free(packer);
}

/* Page 3 never changes: revisits. */
static void fill(struct place *p)
{
	char folder[SCRATCH_PATH + 10], url[60], body[4000];

	snprintf(folder, sizeof folder, "%s/warc", p->dir);
	mkdir(folder, 0777);
	GOOD(store_open(&p->store, p->where, STORE_CREATE, &err));
	GOOD(store_begin(p->store, &err));
	for (unsigned i = 0; i < PAGES; i++) {
		uint32_t number;

		snprintf(url, sizeof url, "http://a.example/%u", i);
		GOOD(store_page_add(p->store, (struct text){ url, strlen(url) }, 1, &number, &err));
	}
	for (unsigned f = 0; f < FILES; f++) {
		struct warc_writer_options o = { .folder = folder, .prefix = "freshet", .host = "h",
		                                 .seed = f + 1, .packing = packing };
		struct warc_writer *w;

		GOOD(warc_writer_open(&w, &o, &err));
		for (unsigned v = 0; v < EACH; v++)
			for (unsigned i = 0; i < PAGES; i++) {
				unsigned version = i == 3 ? 0 : f * EACH + v;
				int n = snprintf(body, sizeof body, "page %u version %u ", i, version);

				for (unsigned k = 0; k < 400; k++)
					body[(size_t)n + k] = (char)('a' + rng_mix(version * 1000 + k) % 26);
				body[n + 400] = '\0';
				snprintf(url, sizeof url, "http://a.example/%u", i);
				write_one(w, p->store, i, START + DAY * (f * EACH + v), url, body,
				          i == 3 && (f || v));
			}
		GOOD(warc_writer_close(w, &err));
	}
	GOOD(store_commit(p->store, &err));
}

struct looking { struct place *p; struct content content; char *out; };

static int look(void *arg, const struct store_capture *c, struct err *e)
{
	struct looking *l = arg;
	struct store_page page;

	GOOD(store_page_get(l->p->store, c->page, &page, &err));
	if (content_load(&l->content, c, page.url, e) < 0)
		fail_msg("capture %llu: %s", (unsigned long long)c->id, e->text);
	sprintf(l->out + strlen(l->out), "%u %lld %d %.*s\n", c->page, (long long)c->time,
	        c->revisit, (int)c->digest.size, c->digest.s);
	return 0;
}

/* All captures, each read back from its file. */
static char *read_all(struct place *p)
{
	struct looking l = { .p = p, .out = mem_zalloc(1, 20000) };

	content_init(&l.content, p->dir, 1 << 20);
	GOOD(store_captures(p->store, NULL, 0, look, &l, &err));
	content_release(&l.content);
	return l.out;
}

/* Names and number of the files in warc/; of those that are no archive. */
static unsigned count_files(const struct place *p, unsigned *ret_odd)
{
	char folder[SCRATCH_PATH + 10];
	unsigned n = 0;
	struct dirent *e;
	DIR *d;

	snprintf(folder, sizeof folder, "%s/warc", p->dir);
	d = opendir(folder);
	*ret_odd = 0;
	while ((e = readdir(d))) {
		size_t size = strlen(e->d_name);

		if (e->d_name[0] == '.')
			continue;
		n++;
		*ret_odd += size < 9 || (strcmp(e->d_name + size - 8, ".warc.gz") &&
		                         strcmp(e->d_name + size - 9, ".warc.zst"));
	}
	closedir(d);
	return n;
}

static int steps_left;

static void step(void *arg, const char *what)
{
	(void)arg, (void)what;
	if (steps_left-- == 0)
		kill(getpid(), SIGKILL);
}

static void run(struct place *p, bool merge)
{
	struct prune r = { .store = p->store, .folder = p->dir, .now = START + DAY * 100,
		.rule = { .since = INT64_MAX, .versions = 2 }, .step = step };

	GOOD(merge ? prune_merge(&r, &err) : prune_run(&r, &err));
	assert_int_equal(r.files_left, 0);
}

/* Run it in a process that kills itself at a step; false: it came to its end. */
static bool killed(struct place *p, bool merge, int at)
{
	int status;
	pid_t child;

	store_close(p->store);
	p->store = NULL;
	fflush(NULL);
	child = fork();
	if (child == 0) {
		steps_left = at;
		if (store_open(&p->store, p->where, STORE_EXISTING, &err) < 0)
			_exit(9);
		run(p, merge);
		store_close(p->store);
		_exit(0);
	}
	waitpid(child, &status, 0);
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
	GOOD(store_open(&p->store, p->where, STORE_EXISTING, &err));
	return WIFSIGNALED(status);
}

static void new_place(struct place *p, bool pg)
{
	scratch_folder(p->dir, "d");
	if (pg)
		pg_url(p->where);
	else
		snprintf(p->where, sizeof p->where, "sqlite:%s/freshet.db", p->dir);
	fill(p);
}

static void end_place(struct place *p)
{
	store_close(p->store);
	scratch_remove(p->dir);
}

/* How it ends if nothing happens. */
static char *undisturbed(bool pg, bool merge, unsigned *ret_files)
{
	struct place p;
	unsigned odd;
	char *after;

	new_place(&p, pg);
	steps_left = INT32_MAX;
	run(&p, merge);
	after = read_all(&p);
	*ret_files = count_files(&p, &odd);
	assert_int_equal(odd, 0);
	end_place(&p);
	return after;
}

/* Under the sanitizers every third step: odd ones and even ones. */
#ifdef __SANITIZE_ADDRESS__
#define STEPS 3
#else
#define STEPS 1
#endif

/* every: kill at each step, or at some. */
static void kill_at_steps(bool pg, bool merge, int every)
{
	unsigned want_files, odd;
	char *want = undisturbed(pg, merge, &want_files);
	bool go_on = true;
	int at = 0;

	for (; go_on; at += every) {
		struct crawl_report report = { 0 };
		char folder[SCRATCH_PATH + 10], *got;
		struct place p;

		new_place(&p, pg);
		go_on = killed(&p, merge, at);
		free(read_all(&p));             /* all that the tables name is there */
		snprintf(folder, sizeof folder, "%s/warc", p.dir);
		if (at % 2) {           /* a cycle begins: nothing half-made is left */
			GOOD(crawl_repair(p.store, folder, &report, &err));
			assert_int_equal(report.n_aside, 0);
			count_files(&p, &odd);
			assert_int_equal(odd, 0);
		}
		steps_left = INT32_MAX;
		run(&p, merge);
		got = read_all(&p);
		assert_string_equal(got, want);
		assert_int_equal(count_files(&p, &odd), want_files);
		assert_int_equal(odd, 0);
		free(got);
		end_place(&p);
	}
	assert_true(at > 8);
	free(want);
}

static void test_killed_prune(void **state) { (void)state; kill_at_steps(false, false, STEPS); }
static void test_killed_merge(void **state) { (void)state; kill_at_steps(false, true, STEPS); }
static void test_killed_prune_pg(void **state) { (void)state; kill_at_steps(true, false, 7); }
static void test_killed_merge_pg(void **state) { (void)state; kill_at_steps(true, true, 5); }

/* .warc.zst, behind a dictionary: each file has it once. */
static void test_killed_zstd(void **state)
{
	struct warc_dictionary *dictionary;
	size_t sizes[64];
	struct buf samples, made;

	(void)state;
	buf_init(&samples, BUF_NO_LIMIT);
	buf_init(&made, BUF_NO_LIMIT);
	for (unsigned i = 0; i < 64; i++) {
		size_t before = samples.size;

		buf_printf(&samples, "WARC/1.1 HTTP/1.1 200 OK Content-Type: text/plain page %u version", i);
		for (unsigned k = 0; k < 300; k++)
			buf_printf(&samples, "%c", (char)('a' + rng_mix(i / 8 * 1000 + k) % 26));
		sizes[i] = samples.size - before;
	}
	assert_int_equal(warc_dictionary_train(&made, samples.data, sizes, 64, &err), 1);
	GOOD(warc_dictionary_make(&dictionary, made.data, made.size, &err));
	packing = (struct warc_packing){ WARC_ZSTD, dictionary };
	kill_at_steps(false, false, 7);
	kill_at_steps(false, true, 5);
	packing = (struct warc_packing){ 0 };
	warc_dictionary_free(dictionary);
	buf_release(&samples);
	buf_release(&made);
}

/* What stays: by hand, and with its request and its redirect, valid to another reader. */
static void test_rewritten(void **state)
{
	struct place p;
	unsigned files, odd;
	char *after = undisturbed(false, false, &files), *was = after, folder[SCRATCH_PATH + 10];
	unsigned n = 0, hops = 0, requests = 0;
	struct dirent *e;
	DIR *d;

	(void)state;
	for (char *s = after; *s; s++)
		n += *s == '\n';
	/* pages 0, 1, 2: two versions; page 3: one copy, and all its revisits */
	assert_int_equal(n, 3 * 2 + FILES * EACH);
	free(was);
	new_place(&p, false);
	steps_left = INT32_MAX;
	run(&p, false);
	snprintf(folder, sizeof folder, "%s/warc", p.dir);
	d = opendir(folder);
	while ((e = readdir(d))) {
		struct warc_reader r = { 0 };
		char path[SCRATCH_PATH + 300];

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		GOOD(warc_open(&r, path, &err));
		while (warc_next(&r, &err) > 0) {
			hops += fields_find(&r.record.fields, WARC_FIELD_HOP_OF) != NULL;
			requests += r.record.type == WARC_REQUEST;
		}
		assert_int_equal(r.n_damaged, 0);
		warc_close(&r);
	}
	closedir(d);
	assert_int_equal(hops, 2);              /* those of the two versions of page 1 */
	assert_int_equal(requests, n + 2);
	(void)odd;
	end_place(&p);
}

/* Names of 234 bytes: with "-r1" nobody would know them as ours. */
struct renaming { char folder[SCRATCH_PATH + 10]; VEC(struct store_moved) moved; };

static int lengthen(void *arg, const struct store_capture *c, struct err *e)
{
	struct renaming *r = arg;
	char from[SCRATCH_PATH + 100], to[SCRATCH_PATH + 300], *name = mem_zalloc(1, 235);

	(void)e;
	memset(name, 'h', 234);
	memcpy(name, c->file.s, c->file.size - 8);
	memcpy(name + 226, ".warc.gz", 8);
	snprintf(from, sizeof from, "%s/%.*s", r->folder, (int)c->file.size, c->file.s);
	snprintf(to, sizeof to, "%s/%s", r->folder, name);
	assert_true(rename(from, to) == 0 || access(to, F_OK) == 0);
	vec_push(&r->moved, ((struct store_moved){ .capture = c->id, .file = { name, 234 },
	                     .offset = c->offset, .size = c->size }));
	return 0;
}

static void test_long_names(void **state)
{
	struct renaming r = { 0 };
	struct prune prune = { .now = START + DAY * 100,
		.rule = { .since = INT64_MAX, .versions = 2 } };
	struct place p;
	unsigned odd;

	(void)state;
	new_place(&p, false);
	snprintf(r.folder, sizeof r.folder, "%s/warc", p.dir);
	GOOD(store_captures(p.store, NULL, 0, lengthen, &r, &err));
	GOOD(store_begin(p.store, &err));
	GOOD(store_captures_move(p.store, r.moved.v, r.moved.n, &err));
	GOOD(store_commit(p.store, &err));
	prune.store = p.store;
	prune.folder = p.dir;
	GOOD(prune_run(&prune, &err));
	GOOD(prune_merge(&prune, &err));
	assert_true(prune.files_left > 0);
	assert_int_equal(prune.files_rewritten + prune.files_merged, 0);
	free(read_all(&p));             /* all that the tables name is there */
	count_files(&p, &odd);
	assert_int_equal(odd, 0);
	for (size_t i = 0; i < r.moved.n; i++)
		free((char *)(uintptr_t)r.moved.v[i].file.s);
	vec_release(&r.moved);
	end_place(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_rewritten),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_killed_prune),
		cmocka_unit_test(test_killed_merge),
		cmocka_unit_test(test_killed_zstd),
		cmocka_unit_test(test_killed_prune_pg),
		cmocka_unit_test(test_killed_merge_pg),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
