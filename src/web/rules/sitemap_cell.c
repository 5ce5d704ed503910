/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sitemap_cell.c - a sitemap is read in a cell; see sitemap.h and base/sandbox/cell.h.
 *
 * There go the bytes, unpacked, as far as they could be had; here come the entries and the
 * report.  A sitemap may have taken the cell over: each location must be canonical and within
 * the scope, and there are no more of them than a sitemap may have.
 */
#include "web/rules/sitemap_inner.h"

#include <string.h>

#include "base/buf.h"
#include "base/sandbox/cell.h"
#include "base/sandbox/parcel.h"

#define PIECE ((size_t)64 << 10)
#define ENTRY_ROOM 64                   /* bytes of an answer for an entry, beside its URL */
#define ENTRY_LEAST 9                   /* bytes of a sitemap that make an entry */
#define FACTOR 3                        /* a byte may become three, in a canonical URL */

enum flag { IS_SITEMAP = 1, HAS_LASTMOD = 2 };

/* ---- in the cell ---- */

struct memory { const char *data; size_t left; bool cut; };

/* What could not be unpacked further ends with an error of its own. */
static long read_memory(void *arg, void *data, size_t size, struct err *err)
{
	struct memory *m = arg;

	if (size > m->left)
		size = m->left;
	if (!size && m->cut)
		return err_set(err, E_IO, "the rest could not be read");
	memcpy(data, m->data, size);
	m->data += size;
	m->left -= size;
	return (long)size;
}

static int put_entry(void *context, const struct sitemap_entry *e, struct err *err)
{
	struct buf *answer = context;

	(void)err;
	parcel_put(answer, true);
	parcel_put_text(answer, (struct text){ e->url, e->url_size });
	parcel_put(answer, (e->is_sitemap ? IS_SITEMAP : 0) | (e->has_lastmod ? HAS_LASTMOD : 0));
	parcel_put(answer, (uint64_t)e->lastmod);
	return 0;
}

int sitemap_cell(const struct text *parts, size_t n, struct buf *answer, struct err *err)
{
	struct parcel p = { parts[0].s, parts[0].size, n != 2 };
	struct memory m = { parts[1].s, parts[1].size, parcel_number(&p) != 0 };
	uint64_t scope = parcel_number(&p), depth = parcel_number(&p);
	struct text url = parcel_text(&p);
	struct sitemap_source source = { .url = url.s, .url_size = url.size,
		.scope = (enum sitemap_scope)scope, .depth = (unsigned)depth };
	struct input_source bytes = { INPUT_PLAIN, read_memory, NULL, &m };
	struct sitemap_report report = { 0 };
	struct err why = { 0 };
	struct input *in;
	int rc;

	if (p.bad)
		return err_set(err, E_PARSE, "the work makes no sense");
	rc = input_open_source(&in, &bytes, "a sitemap", &why);
	if (rc == 0) {
		rc = sitemap_read_here(in, &source, put_entry, answer, &report, &why);
		input_close(in);
	}
	parcel_put(answer, false);
	parcel_put(answer, report.refused);
	parcel_put(answer, report.outside);
	parcel_put(answer, report.bad_dates);
	parcel_put(answer, report.index);
	parcel_put(answer, report.text);
	parcel_put(answer, report.cut);
	parcel_put(answer, (uint64_t)rc);
	buf_add(answer, why.text, sizeof why.text);
	return 0;
}

/* ---- here ---- */

struct taking {
	const struct sitemap_source *source;
	struct sitemap_home home;
	struct sitemap_report *report;
	struct buf canonical;
	struct err why;                 /* what the cell says of the sitemap */
};

static bool take_entry(struct parcel *p, struct sitemap_entry *ret)
{
	struct text url = parcel_text(p);
	uint64_t flags = parcel_number(p);

	*ret = (struct sitemap_entry){ .url = url.s, .url_size = url.size,
		.is_sitemap = flags & IS_SITEMAP, .has_lastmod = flags & HAS_LASTMOD,
		.lastmod = (int64_t)parcel_number(p) };
	return !p->bad && url.s;
}

static bool is_sound(struct taking *t, const struct sitemap_entry *e)
{
	buf_clear(&t->canonical);
	return url_canonical(e->url, e->url_size, &t->canonical, NULL) == 0 &&
	       t->canonical.size == e->url_size &&
	       !memcmp(t->canonical.data, e->url, e->url_size) &&
	       sitemap_in_scope(t->source, &t->home, e->is_sitemap, e->url, e->url_size);
}

/* All of the answer is looked at before any of it is used. */
static bool take_answer(void *arg, const char *answer, size_t size)
{
	struct parcel p = { answer, size, false };
	struct taking *t = arg;
	struct sitemap_report *r = t->report;
	uint64_t n_sitemaps = 0;
	struct sitemap_entry e;
	int64_t rc;

	*r = (struct sitemap_report){ 0 };
	while (parcel_number(&p)) {
		if (++r->entries > SITEMAP_URLS_MAX || !take_entry(&p, &e) || !is_sound(t, &e))
			return false;
		n_sitemaps += e.is_sitemap;
	}
	r->refused = parcel_number(&p);
	r->outside = parcel_number(&p);
	r->bad_dates = parcel_number(&p);
	r->index = parcel_number(&p) != 0;
	r->text = parcel_number(&p) != 0;
	r->cut = parcel_number(&p) != 0;
	rc = (int64_t)parcel_number(&p);
	if (p.bad || p.left != sizeof t->why.text || rc > 0 || rc <= ERR_FIRST ||
	    !(cell_may_say((int)rc) || rc == E_IO) || r->refused > SITEMAP_BYTES_MAX ||
	    r->outside > SITEMAP_BYTES_MAX || r->bad_dates > r->entries ||
	    n_sitemaps != (r->index ? r->entries : 0))
		return false;
	t->why.code = (int)rc;
	memcpy(t->why.text, p.at, sizeof t->why.text);
	cell_clean(t->why.text, sizeof t->why.text);
	return true;
}

/* All that can be had of it, and a piece more than may be read, so that the cell sees that it is
 * longer.  What ended it early is *why. */
static void load(struct input *in, struct buf *ret, struct err *why)
{
	long n = 1;

	while (n > 0 && ret->size <= SITEMAP_BYTES_MAX) {
		char *to = buf_room(ret, PIECE);

		n = input_read(in, to, PIECE, why);
		if (n > 0)
			ret->size += (size_t)n;
	}
	why->code = n < 0 ? (int)n : 0;
}

static int deliver(const struct taking *t, const struct buf *answer, sitemap_visit *visit,
                   void *context, struct err *err)
{
	struct parcel p = { answer->data, answer->size, false };
	struct sitemap_entry e;
	int rc = 0;

	t->report->entries = 0;
	while (rc == 0 && parcel_number(&p) && take_entry(&p, &e)) {
		t->report->entries++;
		rc = visit(context, &e, err);
	}
	if (rc || !t->why.code)
		return rc;
	if (err)
		*err = t->why;
	return t->why.code;
}

int sitemap_read(struct input *in, const struct sitemap_source *source, sitemap_visit *visit,
                 void *context, struct sitemap_report *ret, struct err *err)
{
	struct taking t = { .source = source, .report = ret };
	struct buf bytes, params, answer;
	struct err cut = { 0 };
	size_t most;
	int rc;

	if (!cells_do(CELL_SITEMAP))
		return sitemap_read_here(in, source, visit, context, ret, err);
	*ret = (struct sitemap_report){ 0 };
	buf_init(&bytes, BUF_NO_LIMIT);
	buf_init(&params, BUF_NO_LIMIT);
	buf_init(&answer, BUF_NO_LIMIT);
	buf_init(&t.canonical, URL_SIZE_MAX);
	sitemap_home(&t.home, source);
	load(in, &bytes, &cut);
	parcel_put(&params, cut.code != 0);
	parcel_put(&params, source->scope);
	parcel_put(&params, source->depth);
	parcel_put_text(&params, (struct text){ source->url, source->url_size });
	most = FACTOR * bytes.size + (bytes.size / ENTRY_LEAST + 1) * (ENTRY_ROOM + source->url_size);
	if (most > (size_t)SITEMAP_URLS_MAX * (ENTRY_ROOM + URL_SIZE_MAX))
		most = (size_t)SITEMAP_URLS_MAX * (ENTRY_ROOM + URL_SIZE_MAX);
	most += PIECE;
	rc = cell_call(CELL_SITEMAP, (struct text[]){ { params.data, params.size },
	               { buf_text(&bytes), bytes.size } }, 2, most, &answer, take_answer, &t, err);
	if (rc < 0)
		*ret = (struct sitemap_report){ 0 };
	else if (t.why.code == E_IO)
		t.why = cut;
	if (rc == 0)
		rc = deliver(&t, &answer, visit, context, err);
	buf_release(&bytes);
	buf_release(&params);
	buf_release(&answer);
	buf_release(&t.canonical);
	return rc;
}
