/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_warc.c - captures as WARC records, read back and written anew; see
 * export.h.
 *
 * Captures are taken in the order of file and offset, so every file is read once
 * from front to back.  The block goes over byte for byte; header fields that
 * describe it (time, URL, address, truncation, digests, what a revisit refers to)
 * are kept, ids are new.  A revisit that does not name its original gets the
 * page's newest earlier capture of its digest.
 *
 * Memory: 24 bytes a capture, and one block.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/when.h"
#include "engine/archive/content.h"
#include "engine/archive/export.h"
#include "warc/warc_write.h"
#include "web/url/url.h"

struct place { uint64_t id; int64_t offset; uint32_t file; };

struct writing {
	struct export *e;
	struct strtab files;
	VEC(struct place) places;
	struct content content;
	struct buf block, url, refers_url;
	struct warc_writer *writer;
	struct err lost_why;            /* of a file that cannot be read, */
	uint64_t n_lost;                /* and its captures */
};

static int note_place(void *arg, const struct store_capture *c, struct err *err)
{
	struct writing *w = arg;
	struct place p = { .id = c->id, .offset = c->offset };

	(void)err;
	if (!c->file.s || c->offset < 0) {
		w->e->n_missing++;
		return 0;
	}
	p.file = strtab_intern(&w->files, c->file.s, c->file.size, NULL);
	vec_push(&w->places, p);
	return 0;
}

static int compare_places(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* The page's newest earlier capture that can be the original of a revisit. */
struct original { const struct store_capture *of; int64_t time; struct warc_digest digest; };

static int find_original(void *arg, const struct store_capture *c, struct err *err)
{
	struct original *o = arg;
	struct warc_digest digest;

	(void)err;
	if (c->time >= o->of->time)
		return 1;
	if (c->revisit || c->status < 200 || c->status > 399 || !c->digest.s ||
	    !warc_digest_parse(c->digest.s, c->digest.size, &digest))
		return 0;
	if (!o->of->digest.s || (c->digest.size == o->of->digest.size &&
	                         !memcmp(c->digest.s, o->of->digest.s, c->digest.size))) {
		o->time = c->time;
		o->digest = digest;
	}
	return 0;
}

/* Set what a revisit refers to: as its record says, or from the store.  0: not found. */
static int refer(struct writing *w, const struct store_capture *c, struct warc_capture *out,
                 struct warc_digest *digest, struct err *err)
{
	const struct warc_record *rec = &w->content.warc.record;
	struct original o = { .of = c };
	int rc;

	digest->hash = WARC_HASH_NONE;
	if (c->digest.s && !warc_digest_parse(c->digest.s, c->digest.size, digest))
		digest->hash = WARC_HASH_NONE;
	out->payload_digest = digest;
	out->revisit = w->content.body.is_http && w->content.body.http.status == 304 ?
	               WARC_NOT_MODIFIED : WARC_IDENTICAL_DIGEST;
	if (rec->refers_to_uri && rec->refers_to_date && digest->hash != WARC_HASH_NONE &&
	    when_parse(rec->refers_to_date->value, rec->refers_to_date->value_size,
	               &out->refers_to_time)) {
		buf_clear(&w->refers_url);
		buf_add(&w->refers_url, rec->refers_to_uri->value, rec->refers_to_uri->value_size);
		out->refers_to_url = buf_text(&w->refers_url);
		return 1;
	}
	rc = store_captures(w->e->store, c->page, find_original, &o, err);
	if (rc < 0)
		return rc;
	if (o.digest.hash == WARC_HASH_NONE)
		return 0;
	*digest = o.digest;
	out->refers_to_time = o.time;
	out->refers_to_url = out->url;
	return 1;
}

/* A header value as a string of its own, in `keep`. */
static const char *value_of(struct arena *keep, const struct field *f)
{
	return f ? arena_strndup(keep, f->value, f->value_size) : NULL;
}

/* Write the record that was loaded last. */
static int write_record(struct writing *w, const struct store_capture *c, struct arena *keep,
                        struct warc_capture *out, struct err *err)
{
	const struct warc_content *body = &w->content.body;
	size_t head = body->is_http ? body->head.size : 0;
	struct warc_place placed;

	if (w->content.warc.record.type == WARC_RESOURCE) {
		struct warc_out resource = {
			.type = "resource", .time = c->time, .url = out->url, .block = w->block.data,
			.block_size = w->block.size,
			.content_type = value_of(keep, w->content.warc.record.content_type),
		};

		return warc_write_record(w->writer, &resource, &placed, err);
	}
	out->head = w->block.data;
	out->head_size = head;
	out->body = buf_text(&w->block) + head;
	out->body_size = w->block.size - head;
	return warc_write_capture(w->writer, out, &placed, err);
}

static int export_one(struct writing *w, const struct store_capture *c, struct arena *keep,
                      struct err *err)
{
	struct text url = { w->url.data, w->url.size };
	struct warc_capture out = { .time = c->time };
	struct warc_digest digest, refers = { 0 };
	const struct warc_record *rec = &w->content.warc.record;
	int rc = content_load(&w->content, c, url, err);

	if (rc < 0)
		return rc;
	digest = w->content.body.digest;
	out.payload_digest = &digest;
	out.ip_address = value_of(keep, rec->ip_address);
	out.truncated = value_of(keep, rec->truncated);
	/* as the archive spells it */
	out.url = value_of(keep, rec->target_uri);
	out.page = c->target.s ? buf_text(&w->url) : NULL;
	if (rec->type == WARC_REVISIT) {
		rc = refer(w, c, &out, &refers, err);
		if (rc <= 0)
			return rc < 0 ? rc : err_set(err, E_PARSE, "%s: a revisit whose original is "
			                             "not known", buf_text(&w->url));
	}
	rc = content_block(&w->content, &w->block, err);
	return rc < 0 ? rc : write_record(w, c, keep, &out, err);
}

/* One warning a file that cannot be read, with the number of its captures. */
static void report_file(struct writing *w)
{
	struct err e;

	if (w->n_lost && w->e->report) {
		(void)err_set(&e, E_IO, "%s: %llu capture%s in it %s lost", w->lost_why.text,
		              (unsigned long long)w->n_lost, w->n_lost == 1 ? "" : "s",
		              w->n_lost == 1 ? "is" : "are");
		w->e->report(w->e->arg, e.text);
	}
	w->n_lost = 0;
}

static void lose(struct writing *w, bool file, const struct err *why)
{
	w->e->n_lost++;
	if (file) {
		w->lost_why = *why;
		w->n_lost++;
	} else if (w->e->report) {
		w->e->report(w->e->arg, why->text);
	}
}

static int export_places(struct writing *w, struct err *err)
{
	struct arena keep = { 0 };
	struct err why = { 0 };
	int rc = 0;

	for (size_t i = 0; i < w->places.n && rc == 0; i++) {
		struct store_capture c;
		struct store_page p;

		if ((rc = store_capture_get(w->e->store, w->places.v[i].id, &c, err)) <= 0 ||
		    (rc = store_page_get(w->e->store, c.page, &p, err)) <= 0) {
			rc = rc < 0 ? rc : err_set(err, E_STORE, "a capture went away");
			break;
		}
		buf_clear(&w->url);
		buf_add(&w->url, p.url.s, p.url.size);
		if (i && w->places.v[i].file != w->places.v[i - 1].file)
			report_file(w);
		rc = export_one(w, &c, &keep, &why);
		arena_reset(&keep);
		w->e->n_written += rc == 0;
		if (rc == E_PARSE || rc == E_LIMIT || rc == E_USAGE ||
		    (rc == E_IO && !w->content.map)) {
			lose(w, rc == E_IO, &why);
			rc = 0;
		} else if (rc < 0 && err) {
			*err = why;
		}
	}
	report_file(w);
	arena_release(&keep);
	return rc;
}

int export_warc(struct export *e, const char *to, uint64_t seed, struct err *err)
{
	struct writing w = { .e = e };
	struct warc_writer_options options = { .folder = to, .prefix = "freshet", .host = "export",
	                                       .software = "freshet", .seed = seed };
	struct err later;
	int rc, closed = 0;

	if (mkdir(to, 0777) && errno != EEXIST)
		return err_errno(err, E_IO, "%s", to);
	buf_init(&w.block, CONTENT_BLOCK_MAX);
	buf_init(&w.url, URL_SIZE_MAX);
	buf_init(&w.refers_url, URL_SIZE_MAX);
	content_init(&w.content, e->folder, 0);
	rc = store_captures(e->store, STORE_NONE, note_place, &w, err);
	if (rc == 0)
		rc = warc_writer_open(&w.writer, &options, err);
	if (rc == 0) {
		if (w.places.n)
			qsort(w.places.v, w.places.n, sizeof *w.places.v, compare_places);
		rc = export_places(&w, err);
		closed = warc_writer_close(w.writer, rc < 0 ? &later : err);
	}
	content_release(&w.content);
	buf_release(&w.block);
	buf_release(&w.url);
	buf_release(&w.refers_url);
	vec_release(&w.places);
	strtab_release(&w.files);
	return rc < 0 ? rc : closed;
}
