/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_keep.c - one outcome: what it means, and where it is kept.
 *
 * Judged as replay judges (engine/history.c): 2xx and redirects that lead nowhere
 * are states of a living page, compared with our copy by the detector; 304 is
 * "same"; 404 and 410 say that it is gone; everything else says nothing.  An
 * answer that was cut by time or disconnect is archived as truncated, but is a
 * failure.  A page that no request was made for is blocked.
 *
 * After a crash the archive may be longer than the store knows.  The setting
 * state.warc, written with each batch, says how long the open file was then;
 * the rest is cut off, and the file gets its final name.
 */
#include "engine/crawl_inner.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/keep.h"

#define STATE_KEY "state.warc"

static bool is_line(const char *line, const char *end, const char *name)
{
	size_t n = strlen(name);

	return (size_t)(end - line) > n && line[n] == ':' && !strncasecmp(line, name, n);
}

/* The head as it is archived: what was undone is renamed, the length is true, a
 * status line of HTTP/2 is written as everybody reads it. */
static void archive_head(struct crawl *c, const struct fetch_result *r)
{
	const char *line = r->head, *end = r->head + r->head_size;
	bool undone = r->decoded != r->body;

	buf_clear(&c->head);
	if (r->head_size > 7 && !memcmp(line, "HTTP/2 ", 7)) {
		buf_str(&c->head, "HTTP/1.1 ");
		line += 7;
	}
	while (line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		stop = stop ? stop + 1 : end;
		if (stop - line <= 2 && (*line == '\r' || *line == '\n'))
			break;
		if (is_line(line, stop, "Transfer-Encoding") ||
		    (undone && (is_line(line, stop, "Content-Encoding") ||
		                is_line(line, stop, "Content-Length"))))
			buf_str(&c->head, "X-Archive-Orig-");
		buf_add(&c->head, line, (size_t)(stop - line));
		line = stop;
	}
	if (undone)
		buf_printf(&c->head, "Content-Length: %zu\r\n", r->decoded_size);
	buf_str(&c->head, "\r\n");
}

static bool same_text(struct text a, struct slice b)
{
	return a.s && b.s && a.size == b.size && !memcmp(a.s, b.s, a.size);
}

static bool same_content(const struct crawl *c, const struct store_capture *copy,
                         const struct record *rec)
{
	const struct detector *d = &c->opts->detect;

	if (same_text(copy->digest, rec->digest))
		return true;
	switch (d->kind) {
	case DETECT_BYTES:
		break;
	case DETECT_TEXT:
		return same_text(copy->prose, rec->prose);
	case DETECT_TAGS:
		return same_text(copy->tags, rec->tags);
	case DETECT_NEAR:
		return copy->has_simhash && rec->has_simhash &&
			(unsigned)__builtin_popcountll(copy->simhash ^ rec->simhash) <= d->bits;
	}
	return false;
}

/* Everything that is read out of an answer; the record lives in the crawl. */
static void read_answer(struct crawl *c, const struct fetch_result *r, struct record *rec,
                        char mime[128], char digest[WARC_DIGEST_TEXT],
                        struct warc_digest *payload)
{
	struct analyse_input in = { .url = { r->url, strlen(r->url) }, .body = r->decoded,
		.size = r->decoded_size };
	const char *v;
	size_t n, k = 0;

	*rec = (struct record){ .url = in.url, .status = r->status,
		.length = (int64_t)r->decoded_size, .offset = -1, .record_size = -1,
		.facts = { -1, -1, -1, -1, -1, -1 } };
	warc_hasher_begin(&c->hasher, WARC_SHA1);
	warc_hasher_add(&c->hasher, r->decoded, r->decoded_size);
	warc_hasher_end(&c->hasher, payload);
	warc_digest_bare(payload, digest);
	rec->digest = (struct slice){ digest, strlen(digest) };
	if (fetch_header(r->head, r->head_size, "Content-Type", &v, &n)) {
		in.content_type = (struct slice){ v, n };
		for (; k < n && k < 127 && v[k] != ';' && !isspace((unsigned char)v[k]); k++)
			mime[k] = (char)tolower((unsigned char)v[k]);
		rec->mime = (struct slice){ mime, k };
	}
	/* validators of where a redirect led say nothing about the page's own URL */
	if (!r->n_hops && fetch_header(r->head, r->head_size, "ETag", &v, &n))
		rec->etag = (struct slice){ v, n };
	if (!r->n_hops && fetch_header(r->head, r->head_size, "Last-Modified", &v, &n))
		rec->modified = (struct slice){ v, n };
	if (r->status >= 200 && r->status <= 399 && r->status != 304)
		analyse(&c->analyser, &in, rec);
}

static struct text to_text(struct slice s)
{
	return (struct text){ s.size ? s.s : NULL, s.size };
}

static struct store_capture to_capture(const struct record *rec)
{
	return (struct store_capture){
		.status = rec->status, .revisit = rec->revisit, .mime = to_text(rec->mime),
		.digest = to_text(rec->digest), .prose = to_text(rec->prose),
		.tags = to_text(rec->tags), .title = to_text(rec->title),
		.etag = to_text(rec->etag), .modified = to_text(rec->modified),
		.has_simhash = rec->has_simhash, .simhash = rec->simhash, .length = rec->length,
		.bytes_text = rec->facts.text, .words = rec->facts.words,
		.images = rec->facts.images, .tables = rec->facts.tables,
		.emails = rec->facts.emails, .outlinks = rec->facts.outlinks,
		.links = to_text(rec->links), .terms = to_text(rec->terms),
		.offset = -1, .size = -1,
	};
}

static enum outcome judge(const struct crawl *c, const struct fetch_result *r,
                          const struct store_capture *copy, const struct record *rec)
{
	if (r->error != FETCH_OK)
		return r->requests ? OUTCOME_FAILED :
			r->error == FETCH_DNS ? OUTCOME_FAILED : OUTCOME_BLOCKED;
	if (r->status == 404 || r->status == 410)
		return OUTCOME_GONE;
	if (r->status == 304)
		return copy ? OUTCOME_SAME : OUTCOME_FAILED;
	if (r->status < 200 || r->status > 399)
		return OUTCOME_FAILED;
	return copy && same_content(c, copy, rec) ? OUTCOME_SAME : OUTCOME_CHANGED;
}

/* Write the answer, or that it was as before, and say where. */
static int archive(struct crawl *c, const struct fetch_result *r, int64_t time,
                   const struct store_capture *copy, struct record *rec,
                   const struct warc_digest *payload, bool same, struct warc_place *ret,
                   struct err *err)
{
	struct warc_capture w = { .time = time, .url = r->url, .head = NULL,
		.ip_address = r->ip[0] ? r->ip : NULL, .payload_digest = payload,
		.truncated = r->truncated != FETCH_WHOLE ? fetch_cut_name(r->truncated) : NULL,
		.body = r->decoded, .body_size = r->decoded_size };
	struct warc_digest original;

	if (same && (r->status == 304 || same_text(copy->digest, rec->digest)) &&
	    copy->digest.s && warc_digest_parse(copy->digest.s, copy->digest.size, &original)) {
		w.revisit = r->status == 304 ? WARC_NOT_MODIFIED : WARC_IDENTICAL_DIGEST;
		w.refers_to_url = r->url;
		w.refers_to_time = copy->time;
		w.payload_digest = &original;
		rec->revisit = true;
	} else if (r->status == 304) {
		return 0;               /* nothing to refer to */
	}
	archive_head(c, r);
	w.head = c->head.data;
	w.head_size = c->head.size;
	return warc_write_capture(c->warc, &w, ret, err);
}

static void count(struct crawl *c, const struct fetch_result *r, enum outcome o, bool fresh)
{
	struct store_cycle *row = &c->report->cycle;

	row->fresh += fresh && o == OUTCOME_CHANGED;
	row->changed += !fresh && o == OUTCOME_CHANGED;
	row->same += o == OUTCOME_SAME;
	row->gone += o == OUTCOME_GONE;
	row->failed += o == OUTCOME_FAILED;
	row->blocked += o == OUTCOME_BLOCKED;
	if (o >= OUTCOME_FAILED)
		c->report->reasons[r->error]++;
}

/* Our copy of a page, in memory of its own: rows live only until the next. */
struct own_copy {
	struct store_capture row;
	struct arena keep;
	bool there;
};

static struct text kept(struct arena *a, struct text t)
{
	return (struct text){ t.s ? arena_strndup(a, t.s, t.size) : NULL, t.size };
}

static int get_copy(struct crawl *c, uint32_t page, struct own_copy *ret, struct err *err)
{
	struct store_page p;
	int rc = store_page_get(c->store, page, &p, err);

	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "no page %u", page);
	if (!p.capture)
		return 0;
	rc = store_capture_get(c->store, p.capture, &ret->row, err);
	if (rc <= 0)
		return rc;
	ret->there = true;
	ret->row.digest = kept(&ret->keep, ret->row.digest);
	ret->row.prose = kept(&ret->keep, ret->row.prose);
	ret->row.tags = kept(&ret->keep, ret->row.tags);
	return 0;
}

static int keep_answer(struct crawl *c, const struct fetch_result *r,
                       const struct own_copy *mine, struct kept_visit *v,
                       enum outcome *ret_outcome, struct err *err)
{
	const struct store_capture *copy = mine->there ? &mine->row : NULL;
	struct warc_place place = { 0 };
	struct store_capture row;
	struct warc_digest payload;
	struct record rec;
	char mime[128], digest[WARC_DIGEST_TEXT];
	int rc = 0;

	read_answer(c, r, &rec, mime, digest, &payload);
	v->outcome = judge(c, r, copy, &rec);
	/* answers about the page, and good pages that were cut */
	if (v->outcome <= OUTCOME_GONE || (r->status == 200 && r->truncated != FETCH_WHOLE))
		rc = archive(c, r, v->time, copy, &rec, &payload, v->outcome == OUTCOME_SAME,
		             &place, err);
	if (rc < 0)
		return rc;
	if (place.length) {
		c->last = place;
		row = to_capture(&rec);
		row.file = (struct text){ place.filename, strlen(place.filename) };
		row.offset = (int64_t)place.offset;
		row.size = (int64_t)place.length;
		if (rec.revisit)
			row.digest = copy->digest;
		if (v->outcome <= OUTCOME_GONE)
			v->capture = &row;
	}
	rc = keep_visit(c->store, v, c->opts->confirmations, ret_outcome, err);
	count(c, r, *ret_outcome, !copy);
	return rc;
}

int crawl_keep(struct crawl *c, const struct offer *o, uint32_t order,
               const struct fetch_result *r, struct delivery *ret, struct err *err)
{
	struct kept_visit v = {
		.page = o->page, .cycle = c->report->cycle.number, .status = r->status,
		.time = c->opts->now ? c->report->cycle.time : r->time ? r->time : time(NULL),
		.score = o->score, .probability = o->probability, .reason = o->reason,
		.order = order,
	};
	struct own_copy mine = { 0 };
	enum outcome outcome = OUTCOME_FAILED;
	int rc = get_copy(c, o->page, &mine, err);

	if (rc == 0)
		rc = keep_answer(c, r, &mine, &v, &outcome, err);
	arena_release(&mine.keep);
	ret->outcome = outcome;
	ret->hit = outcome == OUTCOME_CHANGED || outcome == OUTCOME_GONE;
	ret->first = !mine.there && outcome < OUTCOME_FAILED;
	return rc;
}

int crawl_commit(struct crawl *c, struct err *err)
{
	char state[320];
	int rc = warc_writer_sync(c->warc, err);

	c->report->cycle.downloads = c->spent -
		(uint32_t)(c->fetch ? fetch_pending(c->fetch) : 0);
	if (rc == 0 && c->last.length) {
		snprintf(state, sizeof state, "%s %llu", c->last.filename,
		         (unsigned long long)(c->last.offset + c->last.length));
		rc = store_setting_put(c->store, STATE_KEY, state, err);
	}
	if (rc < 0 || (rc = store_cycle_put(c->store, &c->report->cycle, err)) < 0 ||
	    (rc = store_commit(c->store, err)) < 0)
		return rc;
	c->in_batch = 0;
	c->batch_began = crawl_seconds();
	return store_begin(c->store, err);
}

/* Cut a file back to `size`, or remove it if nothing of it is known. */
static int cut_back(const char *path, const char *final, off_t size, struct err *err)
{
	struct stat st;

	if (stat(path, &st))
		return 0;
	if (!size)
		return unlink(path) ? err_errno(err, E_IO, "%s", path) : 0;
	if (st.st_size > size && truncate(path, size))
		return err_errno(err, E_IO, "%s", path);
	if (strcmp(path, final) && rename(path, final))
		return err_errno(err, E_IO, "%s", path);
	return 0;
}

int crawl_repair(struct store *s, const char *folder, struct err *err)
{
	char *state = NULL, name[256] = "", path[4400], final[4400];
	unsigned long long size = 0;
	struct dirent *e;
	DIR *d = opendir(folder);
	int rc = store_setting_get(s, STATE_KEY, &state, err);

	if (rc > 0 && sscanf(state, "%255s %llu", name, &size) != 2)
		name[0] = '\0';
	free(state);
	if (!d)
		return rc < 0 ? rc : err_errno(err, E_IO, "%s", folder);
	rc = rc < 0 ? rc : 0;
	if (name[0]) {                  /* finished, but not committed to the end */
		snprintf(final, sizeof final, "%.4000s/%s", folder, name);
		rc = cut_back(final, final, (off_t)size, err);
	}
	while (rc == 0 && (e = readdir(d))) {
		size_t n = strlen(e->d_name);

		if (n <= 5 || n > 250 || strcmp(e->d_name + n - 5, ".open"))
			continue;
		snprintf(path, sizeof path, "%.4000s/%s", folder, e->d_name);
		snprintf(final, sizeof final, "%.4000s/%.*s", folder, (int)n - 5, e->d_name);
		rc = cut_back(path, final, n - 5 == strlen(name) &&
		              !memcmp(name, e->d_name, n - 5) ? (off_t)size : 0, err);
	}
	closedir(d);
	return rc;
}
