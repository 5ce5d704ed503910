/* SPDX-License-Identifier: Apache-2.0 */
/*
 * anew.c - archive files that are mostly unused are written anew; see prune.h and sweep.h.
 *
 * Files are taken with the most unused first, so that a disk that is nearly full gets room
 * for the next.
 *
 * A record is used if a capture lies there.  Its request, and redirects on the way to it,
 * stay with it.  The dictionary in front of a .warc.zst goes over first.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/map.h"
#include "engine/prune/sweep.h"
#include "warc/warc.h"
#include "warc/warc_write.h"

#define UNUSED_MIN 0.2          /* of a file that is written anew */

/* A record of the old file. */
struct piece {
	uint64_t offset;
	uint64_t id, of;                /* hashes of its id, and of the one it goes with; 0: none */
	bool hop;                       /* a redirect: it goes with the next answer */
	bool answer, info, keep;
};

struct walk { VEC(struct piece) pieces; struct map by_id; char *map; uint64_t size; };

static uint64_t hash_field(const struct field *f)
{
	return f ? hash_bytes(f->value, f->value_size, 0) | 1 : 0;
}

/* The records of a file, in their order. */
static int walk(struct sweep *w, uint32_t i, struct walk *k, struct err *err)
{
	struct warc_reader r = { 0 };
	char path[4200];
	int rc;

	snprintf(path, sizeof path, "%.3900s/warc/%s", w->p->folder, strtab_get(&w->names, i));
	rc = warc_open(&r, path, err);
	if (rc < 0)
		return rc;
	while ((rc = warc_next(&r, err)) > 0) {
		const struct warc_record *rec = &r.record;
		struct piece p = { .offset = rec->offset, .id = hash_field(rec->id) };

		p.info = rec->type == WARC_INFO;
		p.answer = rec->type == WARC_RESPONSE || rec->type == WARC_REVISIT ||
		           rec->type == WARC_RESOURCE;
		p.hop = p.answer && fields_find(&rec->fields, WARC_FIELD_HOP_OF);
		p.of = p.answer ? 0 : hash_field(rec->concurrent_to);
		map_put(&k->by_id, p.id, (uint32_t)k->pieces.n);
		if (rec->resynced || (k->pieces.n &&
		                      k->pieces.v[k->pieces.n - 1].offset >= p.offset)) {
			rc = sweep_unfit(w, i, "damaged, or not compressed record by record", err);
			break;
		}
		vec_push(&k->pieces, p);
	}
	if (rc == 0 && r.n_damaged)
		rc = sweep_unfit(w, i, "damaged", err);
	warc_close(&r);
	return rc;
}

static uint64_t end_of(const struct walk *k, size_t i)
{
	return i + 1 < k->pieces.n ? k->pieces.v[i + 1].offset : k->size;
}

/* Which records stay?  E_PARSE: a capture lies where no record does. */
static int mark(struct sweep *w, uint32_t i, struct walk *k, struct err *err)
{
	const struct file *f = &w->files.v[i];
	size_t at = 0;
	bool keep = false;

	for (size_t u = f->first; u < f->first + f->n; u++) {
		const struct used *used = &w->used.v[u];

		while (at < k->pieces.n && k->pieces.v[at].offset < (uint64_t)used->offset)
			at++;
		if (at == k->pieces.n || k->pieces.v[at].offset != (uint64_t)used->offset ||
		    end_of(k, at) - (uint64_t)used->offset != (uint64_t)used->size)
			return sweep_unfit(w, i, "the tables say of it what is not so", err);
		k->pieces.v[at].keep = true;
	}
	for (size_t n = k->pieces.n; n-- > 0; ) {       /* redirects, from behind */
		struct piece *p = &k->pieces.v[n];

		if (p->hop && !p->keep)
			p->keep = keep;
		if (p->answer)
			keep = p->keep;
	}
	for (size_t n = 0; n < k->pieces.n; n++) {
		struct piece *p = &k->pieces.v[n];
		uint32_t with = p->of ? map_get(&k->by_id, p->of) : MAP_NONE;

		if (!p->answer && !p->info)
			p->keep = with == MAP_NONE || k->pieces.v[with].keep;
	}
	return 0;
}

static uint64_t unused_bytes(const struct walk *k)
{
	uint64_t n = 0;

	for (size_t i = 0; i < k->pieces.n; i++)
		n += k->pieces.v[i].keep || k->pieces.v[i].info ? 0 :
		     end_of(k, i) - k->pieces.v[i].offset;
	return n;
}

static int copy_kept(struct sweep *w, uint32_t i, const struct walk *k, struct rewrite *new,
                     struct err *err)
{
	const struct file *f = &w->files.v[i];
	size_t u = f->first;
	int rc = 0;

	for (size_t n = 0; n < k->pieces.n && rc == 0; n++) {
		const struct piece *p = &k->pieces.v[n];

		if (!p->keep)
			continue;
		for (; u < f->first + f->n && (uint64_t)w->used.v[u].offset == p->offset; u++)
			vec_push(&new->moved, ((struct store_moved){ .capture = w->used.v[u].id,
				.offset = (int64_t)new->size, .size = w->used.v[u].size }));
		sweep_step(w, "copy a record");
		rc = rewrite_copy(new, k->map + p->offset, (size_t)(end_of(k, n) - p->offset), err);
	}
	return rc;
}

int sweep_anew(struct sweep *w, uint32_t i, struct err *err)
{
	struct walk k = { 0 };
	struct rewrite new = { .fd = -1 };
	int rc = sweep_map(w, i, &k.map, &k.size, err);

	if (rc == 0)
		rc = walk(w, i, &k, err);
	if (rc == 0)
		rc = mark(w, i, &k, err);
	if (rc == 0 && (w->files.v[i].shared ||
	                (double)unused_bytes(&k) >= UNUSED_MIN * (double)k.size)) {
		rc = rewrite_begin(&new, w->p, w->to, sweep_base(strtab_get(&w->names, i)),
		                   sweep_front(k.map, k.size), err);
		if (rc == 0)
			rc = copy_kept(w, i, &k, &new, err);
		if (rc == 0)
			rc = rewrite_end(&new, err);
		if (rc < 0)
			rewrite_abandon(&new);
		else if ((rc = sweep_replace(w, &i, 1, &new, err)) == 0)
			rc = 1;
	}
	if (k.map)
		munmap(k.map, (size_t)k.size);
	vec_release(&k.pieces);
	map_release(&k.by_id);
	return rc;
}

static double used_share(const struct file *f)
{
	return f->shared ? 0 : f->size ? (double)f->bytes / (double)f->size : 1;
}

static int write_all_anew(struct sweep *w, struct err *err)
{
	int rc = 0;

	while (rc == 0) {
		uint32_t best = MAP_NONE;
		struct err why = { 0 };

		for (uint32_t i = 0; i < w->files.n; i++) {
			const struct file *f = &w->files.v[i];

			if (f->there && f->n && !f->kept && used_share(f) <= 1 - UNUSED_MIN &&
			    (best == MAP_NONE || used_share(f) < used_share(&w->files.v[best])))
				best = i;
		}
		if (best == MAP_NONE)
			break;
		w->files.v[best].kept = true;
		rc = sweep_anew(w, best, &why);
		w->p->files_rewritten += rc > 0;
		rc = rc < 0 ? sweep_leave(w, best, rc, &why, err) : 0;
	}
	return rc;
}
int sweep_run(struct prune *p, struct err *err)
{
	return sweep_files(p, write_all_anew, err);
}
