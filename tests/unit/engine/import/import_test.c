/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Import of archives that are whole, cut, and damaged at random:
 * nothing that was not there comes in, what is lost is said; and what is exported
 * again passes the strict judge of tests/lib.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <unistd.h>

#include "../../../lib/pack.h"
#include "../../../lib/warc_valid.h"
#include "../../../lib/scratch.h"
#include "base/map.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "engine/export/export.h"
#include "engine/import/import.h"
#include "engine/import/import_words.h"

#define N_RECORDS 6
/* Each trial is an import of its own, into tables of its own, which take 10 ms to make; under
 * the sanitizers several times as long. */
#ifdef __SANITIZE_ADDRESS__
#define CUT_STEP 14             /* bytes; near the ends of records, every byte */
#define N_CORRUPTIONS 70
#else
#define CUT_STEP 4
#define N_CORRUPTIONS 300
#endif
#define NEAR 2                  /* bytes */

struct made {
	struct buf file;
	size_t end[N_RECORDS + 1];      /* of each member */
};

static void put(struct made *m, int i, const char *type, const char *extra, const char *http)
{
	struct buf text;
	char digest[64];

	buf_init(&text, BUF_NO_LIMIT);
	warc_valid_sha1(http, strlen(http), digest);
	buf_printf(&text, "WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:uuid:%08d-1111-4111-"
	           "8111-111111111111>\r\nWARC-Date: 2024-03-%02dT00:00:00Z\r\nWARC-Target-URI: "
	           "http://a.example/%d\r\nWARC-Block-Digest: %s\r\n%s"
	           "Content-Type: application/http; msgtype=response\r\nContent-Length: %zu\r\n\r\n"
	           "%s\r\n\r\n", type, i, i + 1, i % 3, digest, extra, strlen(http), http);
	pack_gzip(&m->file, text.data, text.size);
	m->end[i + 1] = m->file.size;
	buf_release(&text);
}

static void make(struct made *m)
{
	char http[400], extra[400], digest[64];

	*m = (struct made){ 0 };
	buf_init(&m->file, BUF_NO_LIMIT);
	for (int i = 0; i < 4; i++) {
		snprintf(http, sizeof http, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
		         "<title>%d</title><p>number %d <a href='/%d'>next</a>", i, i * 7, i + 1);
		put(m, i, "response", "", http);
	}
	warc_valid_sha1("<title>1</title><p>number 7 <a href='/2'>next</a>", 49, digest);
	snprintf(extra, sizeof extra, "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/"
	         "identical-payload-digest\r\nWARC-Refers-To-Target-URI: http://a.example/1\r\n"
	         "WARC-Refers-To-Date: 2024-03-02T00:00:00Z\r\nWARC-Payload-Digest: %s\r\n", digest);
	put(m, 4, "revisit", extra, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n");
	put(m, 5, "revisit", "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/"
	    "server-not-modified\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n");
}

/* What an import brought: each capture as one text. */
struct brought {
	struct strtab captures;
	unsigned n_reports, n_named;
	const char *path;
	struct import_stats stats;
	struct store *store;
	int rc;                         /* of the import */
};

static int note_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct brought *b = arg;
	struct store_page p;
	char text[600];

	assert_int_equal(store_page_get(b->store, c->page, &p, err), 1);
	snprintf(text, sizeof text, "%.*s %lld %d %d %.*s %.*s %.*s %.*s %lld",
	         (int)p.url.size, p.url.s, (long long)c->time, c->status, c->revisit,
	         (int)c->digest.size, c->digest.s ? c->digest.s : "", (int)c->prose.size,
	         c->prose.s ? c->prose.s : "", (int)c->title.size, c->title.s ? c->title.s : "",
	         (int)c->links.size, c->links.s ? c->links.s : "", (long long)c->length);
	strtab_intern(&b->captures, text, strlen(text), NULL);
	return 0;
}

static void note_report(void *arg, const char *text)
{
	struct brought *b = arg;

	b->n_reports++;
	b->n_named += strstr(text, b->path) != NULL;
}

static void bring(struct brought *b, const char *path, bool keep_open)
{
	struct import i = { .now = 1700000000, .report = note_report, .arg = b };
	struct err err = { 0 };

	*b = (struct brought){ .path = path };
	assert_int_equal(store_open(&b->store, "sqlite::memory:", STORE_CREATE, &err), 0);
	i.store = b->store;
	b->rc = import_file(&i, path, &err);
	if (b->rc)              /* what looks like nothing we know is refused as a whole */
		assert_int_equal(b->rc, E_PARSE);
	b->stats = i.stats;
	assert_int_equal(store_captures(b->store, NULL, 0, note_capture, b, &err), 0);
	assert_int_equal(b->captures.n, b->stats.n_captures);
	if (!keep_open)
		store_close(b->store);
}

static void write_file(const char *path, const void *data, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	fclose(f);
}

/* Every capture is one of the whole archive's. */
static void assert_inside(const struct brought *part, const struct brought *all)
{
	for (uint32_t i = 0; i < part->captures.n; i++)
		assert_int_not_equal(strtab_find(&all->captures, strtab_get(&part->captures, i),
		                                 strtab_size(&part->captures, i)), MAP_NONE);
}

static void whole(void **state)
{
	struct made m;
	struct brought b;
	char path[SCRATCH_PATH];

	(void)state;
	make(&m);
	scratch_file(path, "made.warc.gz", m.file.data, m.file.size);
	bring(&b, path, true);
	assert_int_equal(b.rc, 0);
	assert_int_equal(b.stats.n_captures, N_RECORDS);
	assert_int_equal(b.stats.n_pages, 3);
	assert_int_equal(b.n_reports, 0);
	/* again: nothing new */
	{
		struct import i = { .store = b.store, .now = 1 };

		assert_int_equal(import_file(&i, path, NULL), 0);
		assert_int_equal(i.stats.n_pages, 0);
		assert_int_equal(i.stats.n_captures, 0);
		assert_int_equal(i.stats.n_doubles, N_RECORDS);
	}
	store_close(b.store);
	strtab_release(&b.captures);
	buf_release(&m.file);
}

/* Whether a cut after so many bytes is tried. */
static bool cut_tried(const struct made *m, size_t size)
{
	bool near = size % CUT_STEP == 1 % CUT_STEP;

	for (int i = 0; i <= N_RECORDS; i++)
		near |= size + NEAR >= m->end[i] && size <= m->end[i] + NEAR;
	return near;
}

static void cut_anywhere(void **state)
{
	struct made m;
	struct brought all, part;
	char path[SCRATCH_PATH];

	(void)state;
	make(&m);
	scratch_file(path, "made.warc.gz", m.file.data, m.file.size);
	bring(&all, path, false);
	for (size_t size = 1; size < m.file.size; size++) {
		unsigned complete = 0;
		bool boundary = false;

		if (!cut_tried(&m, size))
			continue;
		for (int i = 1; i <= N_RECORDS; i++) {
			complete += m.end[i] <= size;
			boundary |= m.end[i] == size;
		}
		if (truncate(path, (off_t)size))
			fail();
		write_file(path, m.file.data, size);
		bring(&part, path, false);
		assert_inside(&part, &all);
		/* the first bytes of a gzip file may look like a list of URLs */
		assert_true(part.stats.n_captures == complete);
		if (!boundary) {
			assert_true(part.n_reports > 0 && part.n_named == part.n_reports);
			assert_true(part.stats.n_bad > 0);
		}
		strtab_release(&part.captures);
	}
	strtab_release(&all.captures);
	buf_release(&m.file);
}

static void random_corruptions(void **state)
{
	struct made m;
	struct brought all, part;
	struct rng r;
	char path[SCRATCH_PATH], *copy;

	(void)state;
	make(&m);
	rng_init(&r, 7);
	scratch_file(path, "made.warc.gz", m.file.data, m.file.size);
	copy = mem_alloc(m.file.size);
	bring(&all, path, false);
	for (int n = 0; n < N_CORRUPTIONS; n++) {
		bool hit[N_RECORDS] = { false };
		unsigned untouched = 0;

		memcpy(copy, m.file.data, m.file.size);
		for (size_t k = 1 + rng_below(&r, 4); k > 0; k--) {
			size_t at = rng_below(&r, (uint32_t)m.file.size);

			copy[at] = (char)rng_below(&r, 256);
			for (int i = 0; i < N_RECORDS; i++)
				hit[i] |= at >= m.end[i] && at < m.end[i + 1];
		}
		for (int i = 0; i < N_RECORDS; i++)
			untouched += !hit[i];
		write_file(path, copy, m.file.size);
		bring(&part, path, false);
		assert_inside(&part, &all);
		if (!hit[0]) {          /* else it may not be taken for an archive at all */
			assert_int_equal(part.rc, 0);
			assert_true(part.stats.n_captures >= untouched);
		}
		if (part.stats.n_captures < N_RECORDS)
			assert_true(part.n_reports > 0 || part.rc);
		strtab_release(&part.captures);
	}
	strtab_release(&all.captures);
	buf_release(&m.file);
	free(copy);
}

static int note_terms(void *arg, const struct store_capture *c, struct err *err)
{
	char *out = arg;

	(void)err;
	snprintf(out + strlen(out), 100, "[%.*s]", (int)c->terms.size, c->terms.s ? c->terms.s : "");
	return 0;
}

static int note_word(void *arg, uint32_t number, struct text word, struct err *err)
{
	char *out = arg;

	(void)err;
	snprintf(out + strlen(out), 100, "%u=%.*s ", number, (int)word.size, word.s);
	return 0;
}

/* Two indexes with lists of their own, and one without: one list in the end. */
static void word_lists_are_joined(void **state)
{
	static const struct { const char *folder, *list, *terms; } cases[] = {
		{ "1", "cat\ndog\nbird\n", "0:2 2:1" }, { "2", "bird\nfish\ncat\n", "0:5 1:7 2:9 3:1" },
		{ "3", NULL, "0:1" }, { "4", "a\na\n", "0:1" },
	};
	char folder[SCRATCH_PATH], name[SCRATCH_LONG], line[300], got[400] = "";
	struct brought b = { .path = folder };
	struct import i = { .now = 1, .report = note_report, .arg = &b };

	(void)state;
	scratch_folder(folder, "words");
	assert_int_equal(store_open(&i.store, "sqlite::memory:", STORE_CREATE, NULL), 0);
	for (size_t k = 0; k < 4; k++) {
		snprintf(line, sizeof line, "example,a)/%s 20240101000000 {\"url\":\"http://a.example/%s\","
		         "\"status\":\"200\",\"digest\":\"X\",\"terms\":\"%s\"}\n", cases[k].folder,
		         cases[k].folder, cases[k].terms);
		snprintf(name, sizeof name, "%s/x.cdxj", folder);
		write_file(name, line, strlen(line));
		snprintf(name, sizeof name, "%s/words.txt", folder);
		unlink(name);
		if (cases[k].list)
			write_file(name, cases[k].list, strlen(cases[k].list));
		snprintf(name, sizeof name, "%s/x.cdxj", folder);
		assert_int_equal(import_file(&i, name, NULL), 0);
		assert_int_equal(b.n_reports, k < 2 ? 0 : k - 1);
	}
	assert_int_equal(store_captures(i.store, NULL, 0, note_terms, got, NULL), 0);
	assert_string_equal(got, "[0:2 2:1][2:5 3:7 0:9][][]");
	got[0] = '\0';
	assert_int_equal(store_words(i.store, 0, note_word, got, NULL), 0);
	assert_string_equal(got, "0=cat 1=dog 2=bird 3=fish ");
	store_close(i.store);
}

/* One batch of a program that counts words. */
static void count_word(struct import_words *w, struct store *s, const char *word)
{
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(import_words_follow(w, s, NULL), 0);
	strtab_intern(&w->words.words, word, strlen(word), NULL);
	assert_int_equal(import_words_write(w, s, NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);
}

/* A cycle and an import side by side, batch by batch: one list, without gap or double. */
static void programs_share_words(void **state)
{
	char folder[SCRATCH_PATH], name[SCRATCH_LONG], got[400] = "";
	struct import_words w[3] = { 0 };
	struct store *s[3];
	struct err err;

	(void)state;
	scratch_folder(folder, "shared");
	snprintf(name, sizeof name, "%s/words.db", folder);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(store_open(&s[i], name, i ? STORE_EXISTING : STORE_CREATE, NULL), 0);
		assert_int_equal(import_words_load(&w[i], s[i], i < 2 ? NULL : "english", false, NULL),
		                 0);
	}
	count_word(&w[0], s[0], "cat");
	count_word(&w[1], s[1], "dog");
	count_word(&w[1], s[1], "cat");
	count_word(&w[0], s[0], "bird");
	count_word(&w[1], s[1], "fish");
	assert_int_equal(store_words(s[0], 0, note_word, got, NULL), 0);
	assert_string_equal(got, "0=cat 1=dog 2=bird 3=fish ");
	got[0] = '\0';
	assert_int_equal(store_words(s[0], 3, note_word, got, NULL), 0);
	assert_string_equal(got, "3=fish ");
	/* who wanted stems came too late */
	assert_int_equal(import_words_follow(&w[2], s[2], &err), E_USAGE);
	for (int i = 0; i < 3; i++) {
		import_words_release(&w[i]);
		store_close(s[i]);
	}
}

/* What we write again passes the judge, and brings the same captures. */
static void exported_is_valid(void **state)
{
	char folder[SCRATCH_PATH], name[SCRATCH_LONG], data[65536];
	struct made m;
	struct brought first, again;
	struct valid_file valid;
	struct export e = { 0 };
	struct dirent *entry;
	size_t size;
	FILE *f;
	DIR *d;
	char path[SCRATCH_PATH];

	(void)state;
	make(&m);
	scratch_file(path, "made.warc.gz", m.file.data, m.file.size);
	bring(&first, path, true);
	scratch_folder(folder, "export");
	e.store = first.store;
	assert_int_equal(export_warc(&e, folder, 1, NULL), 0);
	assert_int_equal(e.n_written, N_RECORDS);
	assert_int_equal(e.n_missing + e.n_lost, 0);
	store_close(first.store);
	d = opendir(folder);
	while ((entry = readdir(d)) && entry->d_name[0] == '.')
		;
	assert_non_null(entry);
	snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
	f = fopen(name, "r");
	size = fread(data, 1, sizeof data, f);
	fclose(f);
	warc_valid(&valid, entry->d_name, data, size);
	assert_string_equal(valid.error, "");
	assert_int_equal(valid.n, N_RECORDS + 1);
	assert_string_equal(valid.v[5].type, "revisit");
	assert_non_null(strstr(valid.v[6].profile, "server-not-modified"));
	assert_string_equal(valid.v[6].refers_date, "2024-03-03T00:00:00Z");
	warc_valid_release(&valid);
	bring(&again, name, false);
	assert_int_equal(again.captures.n, N_RECORDS);
	/* all but the 304, which now names its original's digest, are the same */
	for (uint32_t i = 0, n = 0; i < N_RECORDS; i++) {
		n += strtab_find(&first.captures, strtab_get(&again.captures, i),
		                 strtab_size(&again.captures, i)) != MAP_NONE;
		if (i == N_RECORDS - 1)
			assert_int_equal(n, N_RECORDS - 1);
	}
	closedir(d);
	strtab_release(&first.captures);
	strtab_release(&again.captures);
	buf_release(&m.file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(random_corruptions),
		cmocka_unit_test(exported_is_valid),
		cmocka_unit_test(word_lists_are_joined),
		cmocka_unit_test(programs_share_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
