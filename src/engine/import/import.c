/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.c - files into a repository, archives in batches; see import.h.
 *
 * Records of an archive go to the store by the thousand, in their order: their pages in one
 * call, then their captures in one.  Where the tables are at network distance a call is a
 * round trip.  At the end of a batch the visits of all pages that got a capture are written
 * anew (import_visits.c).
 */
#include "engine/import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io/input.h"
#include "base/mem.h"
#include "engine/archive/archive_name.h"
#include "engine/import/import_words.h"

#define BATCH_CAPTURES 20000
#define PART_CAPTURES 1000      /* that go to the store in one call, */
#define PART_BYTES (8 << 20)    /* or so many bytes */

/* A record that waits.  A page may have none: capture.time is then of no meaning. */
struct waiting {
	struct text url, given;
	struct store_capture capture;
	bool has_capture;
};

int import_show(struct import *i, uint64_t n_done, struct err *err)
{
	return i->progress && i->progress(i->arg, n_done) ?
	       err_set(err, E_STOP, "the import was stopped; what it had read is kept") : 0;
}

struct archiving {
	struct import *i;
	const char *path;               /* of the archive */
	struct buf told, name;          /* a record's file, and the name we keep for it */
	struct arena texts;             /* of the part that waits */
	VEC(struct waiting) part;
	VEC(uint32_t) touched;          /* pages to settle at the end of the batch */
	uint32_t in_batch;
	bool open;
	bool piped;                     /* path is no file that could be read again */
	bool remote;                    /* nor are the files that it names */
	enum archive_kind kind;
	struct import_words words;
};

static int compare_numbers(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return a < b ? -1 : a > b;
}

static struct text keep(struct archiving *a, struct text t)
{
	return t.s ? (struct text){ arena_strndup(&a->texts, t.s, t.size), t.size } : t;
}

/* Put the captures of pages that are taken; came[] says which are. */
static int put_captures(struct archiving *a, const struct store_page *pages,
                        const uint8_t *came, struct err *err)
{
	VEC(struct store_capture) rows = { 0 };
	uint8_t *what = mem_zalloc(a->part.n + 1, 1);
	int rc = 0;

	for (size_t k = 0; k < a->part.n && rc == 0; k++) {
		struct waiting *w = &a->part.v[k];

		if (came[k] == IMPORT_OUTSIDE)
			continue;
		if (came[k])
			rc = store_page_given(a->i->store, pages[k].number, w->url, w->given, err);
		w->capture.page = pages[k].number;
		if (w->has_capture)
			vec_push(&rows, w->capture);
		else
			a->i->stats.n_known += !came[k];
	}
	if (rc == 0)
		rc = store_captures_put(a->i->store, rows.v, rows.n, STORE_BEST, what, err);
	for (size_t k = 0; k < rows.n && rc == 0; k++) {
		uint32_t page = rows.v[k].page;

		a->i->stats.n_captures += what[k] == STORE_ADDED;
		a->i->stats.n_doubles += what[k] != STORE_ADDED;
		if (what[k] && (!a->touched.n || a->touched.v[a->touched.n - 1] != page))
			vec_push(&a->touched, page);
	}
	vec_release(&rows);
	free(what);
	return rc;
}

static int write_part(struct archiving *a, struct err *err)
{
	struct store_page *pages = mem_zalloc(a->part.n + 1, sizeof *pages);
	uint8_t *came = mem_zalloc(a->part.n + 1, 1);
	int rc;

	for (size_t k = 0; k < a->part.n; k++)
		pages[k] = (struct store_page){ .url = a->part.v[k].url, .weight = 1,
		                                .added = a->i->now };
	rc = import_pages(a->i, pages, a->part.n, came, err);
	if (rc >= 0)
		rc = put_captures(a, pages, came, err);
	a->part.n = 0;
	arena_reset(&a->texts);
	free(pages);
	free(came);
	return rc;
}

static int settle_pages(struct archiving *a, struct err *err)
{
	size_t n = 0;

	if (a->touched.n)
		qsort(a->touched.v, a->touched.n, sizeof *a->touched.v, compare_numbers);
	for (size_t k = 0; k < a->touched.n; k++)
		if (!k || a->touched.v[k] != a->touched.v[k - 1])
			a->touched.v[n++] = a->touched.v[k];
	return import_visits_rewrite(a->i->store, a->i->detectors, a->touched.v, n, err);
}

static int end_batch(struct archiving *a, struct err *err)
{
	int rc;

	if (!a->open)
		return 0;
	rc = write_part(a, err);
	if (rc >= 0)
		rc = import_words_write(&a->words, a->i->store, err);
	if (rc >= 0)
		rc = settle_pages(a, err);
	if (rc >= 0)
		rc = import_commit(a->i, err);
	if (rc < 0)
		store_rollback(a->i->store);
	a->open = false;
	a->in_batch = 0;
	a->touched.n = 0;
	if (rc >= 0)
		rc = import_show(a->i, a->i->stats.n_captures + a->i->stats.n_doubles, err);
	return rc < 0 ? rc : 0;
}

/* At once, for the words of the next record are numbered before we see it. */
static int begin_batch(struct archiving *a, struct err *err)
{
	int rc = store_begin(a->i->store, err);

	a->open = rc == 0;
	return rc < 0 ? rc : import_words_follow(&a->words, a->i->store, err);
}

/* Where the record lies, as the repository will look for it. */
static struct text file_name(struct archiving *a, struct text told)
{
	if (a->told.size != told.size || memcmp(a->told.data, told.s, told.size)) {
		buf_clear(&a->told);
		buf_clear(&a->name);
		buf_add(&a->told, told.s, told.size);
		archive_name_make(a->i->folder, a->path, buf_text(&a->told), &a->name);
	}
	return (struct text){ a->name.data, a->name.size };
}

static struct text our_terms(struct archiving *a, struct text terms)
{
	struct err why = { 0 };
	struct text ours = import_words_terms(&a->words, a->path, terms, &why);

	if (why.code && a->i->report)
		a->i->report(a->i->arg, why.text);
	return ours;
}

static int add_waiting(struct archiving *a, const struct waiting *w, struct err *err)
{
	int rc = 0;

	vec_push(&a->part, *w);
	if (a->part.n >= PART_CAPTURES || a->texts.total >= PART_BYTES)
		rc = write_part(a, err);
	if (rc < 0 || ++a->in_batch < BATCH_CAPTURES)
		return rc;
	rc = end_batch(a, err);
	return rc < 0 ? rc : begin_batch(a, err);
}

static int add_record(void *arg, const struct record *r, struct err *err)
{
	struct archiving *a = arg;
	struct import *i = a->i;
	struct waiting w = { .has_capture = true };
	struct store_capture *c = &w.capture;

	if (i->latest && r->time > i->latest) {
		i->stats.n_future++;
		return 0;
	}
	w.url = keep(a, r->url);
	w.given = keep(a, r->given);
	record_to_capture(r, c);
	if (a->kind == ARCHIVE_CDX && r->terms.s)
		c->terms = our_terms(a, r->terms);
	if (r->file.s && !a->remote)
		c->file = file_name(a, r->file);
	if (a->remote || (archive_has_content(a->kind) && a->piped)) {
		c->file = (struct text){ 0 };   /* a pipe: nobody can read there again */
		c->offset = c->size = -1;
	}
	for (size_t k = 0; k < STORE_CAPTURE_TEXTS; k++)
		*store_capture_text(c, k) = keep(a, *store_capture_text(c, k));
	return add_waiting(a, &w, err);
}

/* A page that another crawler knows and never fetched. */
static int add_page(void *arg, const struct record *r, struct err *err)
{
	struct archiving *a = arg;
	struct waiting w = { .url = keep(a, r->url), .given = keep(a, r->given) };

	return add_waiting(a, &w, err);
}

static void report_archive(void *arg, const char *text)
{
	struct archiving *a = arg;

	if (a->i->report)
		a->i->report(a->i->arg, text);
}

static int import_archive(struct archiving *a, struct archive_reader *reader,
                          struct input *in, struct err *err)
{
	int rc = store_begin(a->i->store, err), kept;

	a->open = rc == 0;
	if (rc == 0)
		rc = import_words_load(&a->words, a->i->store, a->i->stem, true, err);
	a->words.list = a->i->word_list;
	buf_init(&a->told, ARCHIVE_NAME_MAX);
	buf_init(&a->name, ARCHIVE_NAME_MAX);
	if (rc == 0) {
		reader->detectors = a->i->detectors;
		reader->rules = a->i->rules;
		reader->lexicon = archive_has_content(a->kind) ? &a->words.words : NULL;
		rc = archive_read_input(reader, in, a->kind, err);
	} else {
		input_close(in);
	}
	/* what was read before the file failed us is kept; what the store failed is not */
	kept = rc == E_STORE ? rc : end_batch(a, rc < 0 ? NULL : err);
	if (kept < 0) {
		store_rollback(a->i->store);
		import_forget(a->i);
	}
	vec_release(&a->touched);
	vec_release(&a->part);
	arena_release(&a->texts);
	buf_release(&a->told);
	buf_release(&a->name);
	import_words_release(&a->words);
	return rc < 0 ? rc : kept;
}

static void report_future(struct import *i, const char *path, uint64_t n)
{
	char message[900];

	if (!n || !i->report)
		return;
	snprintf(message, sizeof message, "%s: %llu capture%s dated in the future and left out; is "
	         "the clock of this machine right?", path, (unsigned long long)n,
	         n == 1 ? " is" : "s are");
	i->report(i->arg, message);
}

int import_file(struct import *i, const char *path, struct err *err)
{
	uint64_t n_future = i->stats.n_future;
	struct archiving a = { .i = i, .path = path };
	struct archive_reader reader = { .record = add_record, .page = add_page,
	                                 .report = report_archive, .arg = &a };
	struct stat st;
	struct input *in;
	int rc;

	a.piped = !strcmp(path, "-") || (stat(path, &st) == 0 && !S_ISREG(st.st_mode));
	if (import_is_bvgraph(path))
		return import_bvgraph(i, path, err);
	rc = archive_open(&reader, path, &in, &a.kind, err);
	if (rc == 0 && a.kind == ARCHIVE_SITEMAP) {
		rc = import_sitemap(i, in, path, 0, err);       /* closes it, as the next */
	} else if (rc == 0 && a.kind == ARCHIVE_GRAPH) {
		rc = import_graph(i, in, path, err);
	} else if (rc == 0 && a.kind != ARCHIVE_URLS) {
		rc = import_archive(&a, &reader, in, err);
	} else if (rc == 0) {
		rc = import_urls(i, in, path, err);
		input_close(in);
	}
	i->stats.n_bad += reader.stats.n_bad;
	i->stats.n_other += reader.stats.n_other;
	report_future(i, path, i->stats.n_future - n_future);
	return rc;
}

int import_index(struct import *i, struct input *in, const char *name, struct err *err)
{
	struct archiving a = { .i = i, .path = name, .remote = true };
	struct archive_reader reader = { .record = add_record, .report = report_archive,
	                                 .arg = &a };
	int rc = archive_sniff(in, &a.kind, err);

	if (rc == 0 && a.kind != ARCHIVE_CDX)
		rc = err_set(err, E_PARSE, "%s: the answer is no index but looks like a %s", name,
		             a.kind == ARCHIVE_UNKNOWN ? "binary file" : archive_kind_name(a.kind));
	if (rc < 0)
		input_close(in);
	else
		rc = import_archive(&a, &reader, in, err);
	i->stats.n_bad += reader.stats.n_bad;
	return rc;
}
