/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_records.c - captures as WARC records, read back and packed anew; see
 * export_records.h.
 *
 * Captures are taken in the order of file and offset, so every file is read once
 * from front to back.  The block goes over byte for byte; header fields that
 * describe it (time, URL, address, truncation, digests, what a revisit refers to)
 * are kept, ids are new.  A revisit that does not name its original gets the
 * page's newest earlier capture of its digest.
 *
 * Memory: 24 bytes a capture, and one block.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/when.h"
#include "engine/archive/content.h"
#include "engine/export/export_records.h"
#include "web/url/url.h"

struct position { uint64_t id; int64_t offset; uint32_t file; };

struct writing {
	struct export *e;
	struct strtab files;
	VEC(struct position) positions;
	struct content content;
	struct buf block, url, refers_url;
	struct warc_packer *packer;
	struct warc_packed packed;
	const struct export_sink *sink;
	struct err lost_why;            /* of a file that cannot be read, */
	uint64_t n_lost;                /* and its captures */
};

static int note_position(void *arg, const struct store_capture *c, struct err *err)
{
	struct writing *w = arg;
	struct position p = { .id = c->id, .offset = c->offset };

	(void)err;
	if (!c->file.s || c->offset < 0) {
		w->e->n_missing++;
		return 0;
	}
	p.file = strtab_intern(&w->files, c->file.s, c->file.size, NULL);
	vec_push(&w->positions, p);
	return 0;
}

static int compare_positions(const void *pa, const void *pb)
{
	const struct position *a = pa, *b = pb;

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
	rc = store_captures(w->e->store, &c->page, 1, find_original, &o, err);
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
static const char *value_of(struct arena *arena, const struct field *f)
{
	return f ? arena_strndup(arena, f->value, f->value_size) : NULL;
}

/* Pack the record that was loaded last. */
static int pack_record(struct writing *w, const struct store_capture *c, struct arena *arena,
                        struct warc_capture *out, struct err *err)
{
	const struct warc_content *body = &w->content.body;
	size_t head = body->is_http ? body->head.size : 0;
	struct warc_ids ids = w->sink->ids(w->sink->arg);

	if (w->content.warc.record.type == WARC_RESOURCE) {
		struct warc_out resource = {
			.type = "resource", .time = c->time, .url = out->url, .block = w->block.data,
			.block_size = w->block.size,
			.content_type = value_of(arena, w->content.warc.record.content_type),
		};

		return warc_pack_record(w->packer, &resource, ids, &w->packed, err);
	}
	out->head = w->block.data;
	out->head_size = head;
	out->body = buf_text(&w->block) + head;
	out->body_size = w->block.size - head;
	return warc_pack_capture(w->packer, out, ids, &w->packed, err);
}

static int export_one(struct writing *w, const struct store_capture *c, struct arena *arena,
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
	out.ip_address = value_of(arena, rec->ip_address);
	out.truncated = value_of(arena, rec->truncated);
	/* as the archive spells it */
	out.url = value_of(arena, rec->target_uri);
	out.page = c->target.s ? buf_text(&w->url) : NULL;
	if (rec->type == WARC_REVISIT) {
		rc = refer(w, c, &out, &refers, err);
		if (rc <= 0)
			return rc < 0 ? rc : err_set(err, E_PARSE, "%s: a revisit whose original is "
			                             "not known", buf_text(&w->url));
	}
	rc = content_block(&w->content, &w->block, err);
	if (rc == 0)
		rc = pack_record(w, c, arena, &out, err);
	return rc < 0 ? rc : w->sink->put(w->sink->arg, &w->packed, out.url, c, err);
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

static int export_positions(struct writing *w, struct err *err)
{
	struct arena arena = { 0 };
	struct err why = { 0 };
	int rc = 0;

	for (size_t i = 0; i < w->positions.n && rc == 0; i++) {
		struct store_capture c;
		struct store_page p;

		if ((rc = store_capture_get(w->e->store, w->positions.v[i].id, &c, err)) <= 0 ||
		    (rc = store_page_get(w->e->store, c.page, &p, err)) <= 0) {
			rc = rc < 0 ? rc : err_set(err, E_STORE, "table captures, row %llu, column page: it, "
				       "or its page, is not there; restore a backup",
				       (unsigned long long)w->positions.v[i].id);
			break;
		}
		buf_clear(&w->url);
		buf_add(&w->url, p.url.s, p.url.size);
		if (i && w->positions.v[i].file != w->positions.v[i - 1].file)
			report_file(w);
		rc = export_one(w, &c, &arena, &why);
		arena_reset(&arena);
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
	arena_release(&arena);
	return rc;
}

int export_records(struct export *e, struct warc_packing packing,
                   const struct export_sink *sink, struct err *err)
{
	struct writing w = { .e = e, .sink = sink };
	int rc;

	buf_init(&w.block, CONTENT_BLOCK_MAX);
	buf_init(&w.url, URL_SIZE_MAX);
	buf_init(&w.refers_url, URL_SIZE_MAX);
	content_init(&w.content, e->folder, 0);
	warc_packed_init(&w.packed);
	w.packer = warc_packer_new(packing);
	rc = store_captures(e->store, NULL, 0, note_position, &w, err);
	if (rc == 0 && w.positions.n)
		qsort(w.positions.v, w.positions.n, sizeof *w.positions.v, compare_positions);
	if (rc == 0)
		rc = export_positions(&w, err);
	warc_packer_free(w.packer);
	warc_packed_release(&w.packed);
	content_release(&w.content);
	buf_release(&w.block);
	buf_release(&w.url);
	buf_release(&w.refers_url);
	vec_release(&w.positions);
	strtab_release(&w.files);
	return rc;
}
