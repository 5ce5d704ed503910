/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_urls.c - lists of URLs into a repository, in batches; see import.h.
 *
 * A list is sorted within each batch before it goes to the store: pages of a
 * directory get neighbouring numbers, so that what is planned together lies
 * together in memory, and lines that are repeated meet.
 */
#include "engine/import/import.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/input.h"
#include "base/io/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "web/url/url.h"

#define BATCH_URLS 200000
#define PART_URLS 5000          /* that go to the store in one call */
#define BATCH_BYTES ((size_t)32 << 20)

/* Offsets in the pool; given 0: the URL was written so.  weight NAN: not told. */
struct listed { uint32_t offset, given; float weight; };

struct batch {
	struct buf pool;                /* canonical URLs, and some as given, NUL-terminated */
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
	snprintf(message, sizeof message, "%s:%llu: %s%s%s", path, (unsigned long long)line, why,
	         size ? ": " : "", shown);
	i->report(i->arg, message);
}

/* By URL; of the same one in the order of the list, as the pool has it. */
static int compare_urls(const void *pa, const void *pb, void *pool)
{
	const struct listed *a = pa, *b = pb;
	int c = strcmp((const char *)pool + a->offset, (const char *)pool + b->offset);

	return c ? c : a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Without a scheme: does it begin with a host?  That has a dot or a port. */
static bool has_host(struct text url)
{
	size_t n = 0;

	while (n < url.size && !strchr("/?#", url.s[n]))
		n++;
	return memchr(url.s, '.', n) || memchr(url.s, ':', n) ||
	       (n == 9 && !strncasecmp(url.s, "localhost", 9));
}

/* Append the canonical form of a URL as a user writes it; a missing scheme is http. */
static int put_canonical(struct text given, struct buf *out, struct err *why)
{
	struct buf text;
	int rc;

	if (memmem(given.s, given.size, "://", 3))
		return url_canonical(given.s, given.size, out, why);
	if (!has_host(given))
		return err_set(why, E_PARSE, "it begins neither with http:// or https:// nor with a "
		               "host that has a dot");
	buf_init(&text, URL_SIZE_MAX);
	buf_str(&text, "http://");
	buf_add(&text, given.s, given.size);
	rc = url_canonical(buf_text(&text), text.size, out, why);
	buf_release(&text);
	return rc;
}

/* Append a URL to a batch: the canonical form, and what the user wrote if it differs. */
static int list_url(struct import *i, struct batch *b, struct text given, float weight,
                    struct err *why)
{
	struct listed l = { .offset = (uint32_t)b->pool.size, .weight = weight };
	int rc = put_canonical(given, &b->pool, why);
	size_t n = b->pool.size - l.offset;

	if (rc < 0)
		return rc;
	if (i->takes && !i->takes(i->arg, (struct text){ b->pool.data + l.offset, n }, true,
	                          weight)) {
		b->pool.size = l.offset;
		return 0;
	}
	buf_byte(&b->pool, 0);
	if (given.size != n || memcmp(given.s, b->pool.data + l.offset, n)) {
		l.given = (uint32_t)b->pool.size;
		buf_add(&b->pool, given.s, given.size);
		buf_byte(&b->pool, 0);
	}
	vec_push(&b->urls, l);
	return 0;
}

struct listed_as { float weight; uint32_t times; };     /* weight NAN: not told */

/* A part of a batch: one row a URL, which may have stood in the list several times. */
struct part {
	VEC(struct store_page) rows;
	VEC(struct listed_as) as;       /* of each */
	VEC(struct store_page_change) changes;
	uint8_t *came;                  /* what import_pages() said */
};

static struct text pooled(const struct batch *b, uint32_t offset)
{
	const char *s = b->pool.data + offset;

	return (struct text){ s, strlen(s) };
}

/* The last weight counts, and the first way of writing the URL. */
static void add_listed(struct part *p, const struct batch *b, const struct listed *l)
{
	struct store_page *row = &p->rows.v[p->rows.n - 1];
	struct listed_as *as = &p->as.v[p->rows.n - 1];
	struct text given = l->given ? pooled(b, l->given) : (struct text){ 0 };

	as->times++;
	if (!isnan(l->weight))
		row->weight = (double)(as->weight = l->weight);
	if (given.size && given.size <= URL_SIZE_MAX && !row->given.s)
		row->given = given;
}

static int write_part(struct import *i, struct part *p, struct err *err)
{
	int rc = import_pages(i, p->rows.v, p->rows.n, p->came, err);

	for (size_t k = 0; k < p->rows.n && rc == 0; k++) {
		struct store_page_change c = { .number = p->rows.v[k].number, .to = p->rows.v[k] };

		if (p->came[k] == IMPORT_OUTSIDE)
			continue;
		i->stats.n_known += p->as.v[k].times - (p->came[k] == 1);
		c.set |= isnan(p->as.v[k].weight) ? 0 : STORE_SET_WEIGHT;
		c.set |= c.to.given.s ? STORE_SET_GIVEN : 0;
		if (p->came[k] == 0 && c.set)
			vec_push(&p->changes, c);
	}
	if (rc == 0)
		rc = store_pages_change(i->store, p->changes.v, p->changes.n, err);
	p->rows.n = p->as.n = p->changes.n = 0;
	return rc;
}

static int write_batch(struct import *i, struct batch *b, struct err *err)
{
	struct part p = { 0 };
	int rc;

	if (!b->urls.n)
		return 0;
	p.came = mem_zalloc(PART_URLS, 1);
	qsort_r(b->urls.v, b->urls.n, sizeof *b->urls.v, compare_urls, b->pool.data);
	rc = store_begin(i->store, err);
	for (size_t k = 0; k < b->urls.n && rc == 0; k++) {
		const struct listed *l = &b->urls.v[k];
		struct store_page row = { .url = pooled(b, l->offset), .added = i->now, .weight = 1 };

		if (!p.rows.n || strcmp(row.url.s, p.rows.v[p.rows.n - 1].url.s)) {
			if (p.rows.n == PART_URLS)
				rc = write_part(i, &p, err);
			vec_push(&p.rows, row);
			vec_push(&p.as, ((struct listed_as){ NAN, 0 }));
		}
		add_listed(&p, b, l);
	}
	if (rc == 0)
		rc = write_part(i, &p, err);
	if (rc == 0)
		rc = import_commit(i, err);
	if (rc < 0) {
		store_rollback(i->store);
		import_forget(i);
	}
	vec_release(&p.rows);
	vec_release(&p.as);
	vec_release(&p.changes);
	free(p.came);
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
	const char *wrong = NULL;
	float weight = NAN;
	struct err why;

	if (*line == '{')
		wrong = take_json(&line, &size, &weight);
	else
		weight = take_weight(line, &size);
	if (!wrong && list_url(i, b, (struct text){ line, size }, weight, &why) < 0)
		wrong = why.text;
	if (wrong)
		report(i, path, n, wrong, line, size);
}

/* Compression was damaged: say so and go on at the next member.  0: there is none. */
static int pass_damage(struct import *i, struct input *in, const char *path, uint64_t n,
                       struct err *why)
{
	uint64_t lost = 0;

	report(i, path, n, why->text, "", 0);
	return input_resync(in, &lost, why);
}

int import_urls(struct import *i, struct input *in, const char *path, struct err *err)
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

int import_url(struct import *i, const char *url, struct err *err)
{
	struct batch b = { 0 };
	struct err why = { 0 };
	int rc;

	if (i->weigh && !(i->weight >= 0 && i->weight <= STORE_WEIGHT_MAX))
		return err_set(err, E_USAGE, "the weight of a page is a number from 0 to %g",
		               STORE_WEIGHT_MAX);
	buf_init(&b.pool, BUF_NO_LIMIT);
	rc = list_url(i, &b, (struct text){ url, strlen(url) }, i->weigh ? (float)i->weight : NAN,
	              &why);
	if (rc == 0) {
		rc = write_batch(i, &b, err);
	} else {
		char shown[200];

		rc = err_set(err, E_USAGE, "'%s' is no URL of a page: %s",
		             log_quote(url, strlen(url), shown, sizeof shown), why.text);
	}
	buf_release(&b.pool);
	vec_release(&b.urls);
	return rc;
}
