/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.c - files into a repository, in batches; see import.h.
 *
 * A URL list is sorted within each batch before it goes to the store: pages of a
 * directory get neighbouring numbers, so that what is planned together lies
 * together in memory, and lines that are repeated meet.
 */
#include "engine/book/import.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io/input.h"
#include "base/io/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/archive/place.h"
#include "engine/book/import_words.h"
#include "web/url/url.h"

#define BATCH_URLS 200000
#define BATCH_BYTES ((size_t)32 << 20)
#define BATCH_CAPTURES 20000

struct listed { uint32_t offset; float weight; };       /* weight NAN: not told */

struct batch {
	struct buf pool;                /* canonical URLs, NUL-terminated */
	VEC(struct listed) urls;
};

static void report(struct import *i, const char *path, uint64_t line, const char *why,
                   const char *text, size_t size)
{
	char shown[200], message[900];

	i->stats.n_bad++;
	if (!i->report)
		return;
	log_quote(text, size, shown, sizeof shown);
	snprintf(message, sizeof message, "%s:%llu: %s: %s", path, (unsigned long long)line, why,
	         shown);
	i->report(i->arg, message);
}

int import_commit(struct import *i, struct err *err)
{
	int rc = store_commit(i->store, err);

	if (rc == 0)
		i->kept = i->stats;
	return rc;
}

int import_show(struct import *i, uint64_t n_done, struct err *err)
{
	return i->progress && i->progress(i->arg, n_done) ?
	       err_set(err, E_STOP, "the import was stopped; what it had read is kept") : 0;
}

/* By URL; of the same one in the order of the list, as the pool has it. */
static int compare_urls(const void *pa, const void *pb, void *pool)
{
	const struct listed *a = pa, *b = pb;
	int c = strcmp((const char *)pool + a->offset, (const char *)pool + b->offset);

	return c ? c : a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int write_batch(struct import *i, struct batch *b, struct err *err)
{
	uint32_t number = 0;
	int rc;

	if (!b->urls.n)
		return 0;
	qsort_r(b->urls.v, b->urls.n, sizeof *b->urls.v, compare_urls, b->pool.data);
	rc = store_begin(i->store, err);
	for (size_t k = 0; k < b->urls.n && rc >= 0; k++) {
		const struct listed *l = &b->urls.v[k];
		const char *url = b->pool.data + l->offset;

		if (k && !strcmp(url, b->pool.data + l[-1].offset)) {
			i->stats.n_known++;
		} else {
			rc = store_page_add(i->store, (struct text){ url, strlen(url) }, i->now,
			                    &number, err);
			i->stats.n_pages += rc == 1;
			i->stats.n_known += rc == 0;
		}
		if (rc >= 0 && !isnan(l->weight))
			rc = store_page_weigh(i->store, number, (double)l->weight, err);
	}
	if (rc >= 0)
		rc = import_commit(i, err);
	else
		store_rollback(i->store);
	buf_clear(&b->pool);
	b->urls.n = 0;
	return rc;
}

/* The URL of a line: without blanks around; empty for comments. */
static void trim(char **line, size_t *size)
{
	while (*size && isspace((unsigned char)**line)) {
		++*line;
		--*size;
	}
	while (*size && isspace((unsigned char)(*line)[*size - 1]))
		--*size;
	if (*size && **line == '#')
		*size = 0;
}

/* A whole text as a number from 0 to STORE_WEIGHT_MAX, else a NAN. */
static float weight_of(const char *s, size_t size)
{
	char text[40], *end;
	double v;

	if (!size || size >= sizeof text || !(isdigit((unsigned char)*s) || *s == '.'))
		return NAN;
	memcpy(text, s, size);
	text[size] = '\0';
	v = strtod(text, &end);
	return *end || !(v >= 0 && v <= STORE_WEIGHT_MAX) ? NAN : (float)v;
}

/* The `url` of a line of JSON, as `freshet export pages` and crawlers list their pages,
 * and its `weight`, if there is one.  NULL, or what is wrong. */
static const char *take_json(char **line, size_t *size, float *ret_weight)
{
	const char *p = *line, *end = p + *size;
	struct json_member m;
	char *url = NULL;
	long n = 0;

	while (json_next(&p, end, &m) > 0) {
		if (m.key_size == 3 && !memcmp(m.key, "url", 3) && m.type == JSON_STRING && !url) {
			url = *line + (m.value - *line);
			n = json_unescape(&m, url);
		}
		if (m.key_size == 6 && !memcmp(m.key, "weight", 6) && m.type != JSON_NULL) {
			*ret_weight = weight_of(m.value, m.value_size);
			if (isnan(*ret_weight))
				return "weight is no number from 0 to 1e9";
		}
	}
	if (!url || n <= 0)
		return "no url in this JSON";
	*line = url;
	*size = (size_t)n;
	return NULL;
}

/* A second column: a number behind the URL is its weight. */
static float take_weight(const char *line, size_t *size)
{
	size_t from = *size, end;
	float w;

	while (from && !isspace((unsigned char)line[from - 1]))
		from--;
	end = from;
	while (end && isspace((unsigned char)line[end - 1]))
		end--;
	w = end ? weight_of(line + from, *size - from) : NAN;
	if (!isnan(w))
		*size = end;
	return w;
}

static void add_line(struct import *i, struct batch *b, const char *path, uint64_t n,
                     char *line, size_t size)
{
	struct listed l = { (uint32_t)b->pool.size, NAN };
	const char *wrong = NULL;
	struct err why;

	if (*line == '{')
		wrong = take_json(&line, &size, &l.weight);
	else
		l.weight = take_weight(line, &size);
	if (wrong) {
		report(i, path, n, wrong, line, size);
		return;
	}
	if (url_canonical(line, size, &b->pool, &why) < 0) {
		report(i, path, n, why.text, line, size);
		return;
	}
	buf_byte(&b->pool, 0);
	vec_push(&b->urls, l);
}

/* Compression was damaged: say so and go on at the next member.  0: there is none. */
static int pass_damage(struct import *i, struct input *in, const char *path, uint64_t n,
                       struct err *why)
{
	uint64_t lost = 0;

	report(i, path, n, why->text, "", 0);
	return input_resync(in, &lost, why);
}

static int import_urls(struct import *i, struct input *in, const char *path, struct err *err)
{
	struct batch b = { 0 };
	struct err why = { 0 };
	uint64_t n = 0;
	char *line;
	size_t size;
	int rc, wrote;

	buf_init(&b.pool, BUF_NO_LIMIT);
	for (;;) {
		rc = input_line(in, IMPORT_LINE_MAX, &line, &size, &why);
		if (rc == 0)
			break;
		n++;
		if (rc == E_LIMIT) {
			report(i, path, n, "line too long", "", 0);
			continue;
		}
		if (rc == E_PARSE) {
			rc = pass_damage(i, in, path, n, &why);
			if (rc > 0)
				continue;
		}
		if (rc <= 0)
			break;
		trim(&line, &size);
		if (size) {
			i->stats.n_lines++;
			add_line(i, &b, path, n, line, size);
		}
		if (b.urls.n >= BATCH_URLS || b.pool.size >= BATCH_BYTES) {
			rc = write_batch(i, &b, &why);
			if (rc >= 0)
				rc = import_show(i, n, &why);
			if (rc < 0)
				break;
		}
	}
	/* what was read before the file failed us is kept */
	if (rc != E_STORE && (wrote = write_batch(i, &b, rc < 0 ? NULL : &why)) < 0 && rc >= 0)
		rc = wrote;
	if (rc < 0 && err)
		*err = why;
	buf_release(&b.pool);
	vec_release(&b.urls);
	return rc;
}

struct archiving {
	struct import *i;
	const char *path;               /* of the archive */
	struct buf told, place;         /* a record's file, and the name we keep for it */
	VEC(uint32_t) touched;          /* pages to settle at the end of the batch */
	uint32_t in_batch;
	bool open;
	bool piped;                     /* path is no file that could be read again */
	enum archive_kind kind;
	struct import_words words;
};

static int compare_numbers(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return a < b ? -1 : a > b;
}

static int end_batch(struct archiving *a, struct err *err)
{
	int rc = 0;

	if (!a->open)
		return 0;
	rc = import_words_keep(&a->words, a->i->store, err);
	if (a->touched.n)
		qsort(a->touched.v, a->touched.n, sizeof *a->touched.v, compare_numbers);
	for (size_t k = 0; k < a->touched.n && rc >= 0; k++)
		if (!k || a->touched.v[k] != a->touched.v[k - 1])
			rc = settle_page(a->i->store, a->i->detector, a->touched.v[k], err);
	if (rc >= 0)
		rc = import_commit(a->i, err);
	else
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
		buf_clear(&a->place);
		buf_add(&a->told, told.s, told.size);
		place_name(a->i->folder, a->path, buf_text(&a->told), &a->place);
	}
	return (struct text){ a->place.data, a->place.size };
}

static struct text our_terms(struct archiving *a, struct text terms)
{
	struct err why = { 0 };
	struct text ours = import_words_terms(&a->words, a->path, terms, &why);

	if (why.code && a->i->report)
		a->i->report(a->i->arg, why.text);
	return ours;
}

static int add_record(void *arg, const struct record *r, struct err *err)
{
	struct archiving *a = arg;
	struct import *i = a->i;
	struct store_capture c;
	uint32_t page;
	int rc;

	if (i->latest && r->time > i->latest) {
		i->stats.n_future++;
		return 0;
	}
	rc = store_page_add(i->store, r->url, i->now, &page, err);
	if (rc < 0)
		return rc;
	i->stats.n_pages += rc == 1;
	record_to_capture(r, &c);
	c.page = page;
	if (a->kind == ARCHIVE_CDX && r->terms.s)
		c.terms = our_terms(a, r->terms);
	if (r->file.s)
		c.file = file_name(a, r->file);
	if (a->kind == ARCHIVE_WARC && a->piped) {
		c.file = (struct text){ 0 };    /* a pipe: nobody can read there again */
		c.offset = c.size = -1;
	}
	rc = store_capture_put(i->store, &c, err);
	if (rc < 0)
		return rc;
	i->stats.n_captures += rc == 1;
	i->stats.n_doubles += rc != 1;
	if (rc && (!a->touched.n || a->touched.v[a->touched.n - 1] != page))
		vec_push(&a->touched, page);
	if (++a->in_batch < BATCH_CAPTURES)
		return 0;
	rc = end_batch(a, err);
	return rc < 0 ? rc : begin_batch(a, err);
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
	buf_init(&a->told, PLACE_SIZE_MAX);
	buf_init(&a->place, PLACE_SIZE_MAX);
	if (rc == 0) {
		reader->detector = a->i->detector;
		reader->rules = a->i->rules;
		reader->lexicon = a->kind == ARCHIVE_WARC ? &a->words.words : NULL;
		rc = archive_read_input(reader, in, a->kind, err);
	} else {
		input_close(in);
	}
	/* what was read before the file failed us is kept; what the store failed is not */
	kept = rc == E_STORE ? rc : end_batch(a, rc < 0 ? NULL : err);
	if (kept < 0)
		store_rollback(a->i->store);
	vec_release(&a->touched);
	buf_release(&a->told);
	buf_release(&a->place);
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
	struct archive_reader reader = { .record = add_record, .report = report_archive,
	                                 .arg = &a };
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

int import_url(struct import *i, const char *url, struct err *err)
{
	struct batch b = { 0 };
	struct err why = { 0 };
	struct buf text;
	int rc;

	buf_init(&text, URL_SIZE_MAX);
	buf_init(&b.pool, BUF_NO_LIMIT);
	if (!strstr(url, "://"))
		buf_str(&text, "http://");
	buf_str(&text, url);
	rc = url_canonical(buf_text(&text), text.size, &b.pool, &why);
	if (rc == 0) {
		struct listed l = { 0, i->weigh ? (float)i->weight : NAN };

		buf_byte(&b.pool, 0);
		vec_push(&b.urls, l);
		rc = write_batch(i, &b, err);
	} else {
		char shown[200];

		rc = err_set(err, E_USAGE, "'%s' is no URL of a page: %s",
		             log_quote(url, strlen(url), shown, sizeof shown), why.text);
	}
	buf_release(&text);
	buf_release(&b.pool);
	vec_release(&b.urls);
	return rc;
}
