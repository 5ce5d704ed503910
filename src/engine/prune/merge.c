/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.c - small archive files become large ones; see prune.h.
 *
 * Whole files are taken over, byte for byte, so every record stays.  Files are merged with those
 * that have the same dictionary in front, which the new file has once.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/prune/sweep.h"
#include "warc/warc_write.h"

#define SMALL_MAX ((uint64_t)100 << 20) /* bytes of a file that is merged */

/* The captures of an old file lie `by` bytes further on in the new one. */
static void move_all(struct sweep *w, uint32_t i, struct rewrite *new, int64_t by)
{
	const struct file *f = &w->files.v[i];

	for (size_t u = f->first; u < f->first + f->n; u++)
		vec_push(&new->moved, ((struct store_moved){ .capture = w->used.v[u].id,
			.offset = w->used.v[u].offset + by, .size = w->used.v[u].size }));
}

static int merge_group(struct sweep *w, const uint32_t *group, size_t n, struct err *err)
{
	struct rewrite new = { .fd = -1 };
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		struct text front;
		char *map;
		uint64_t size;

		rc = sweep_map(w, group[i], &map, &size, err);
		if (rc < 0)
			break;
		front = sweep_front(map, size);
		if (i == 0)
			rc = rewrite_begin(&new, w->p, w->to, sweep_base(strtab_get(&w->names, group[0])),
			                   front, err);
		move_all(w, group[i], &new, (int64_t)new.size - (int64_t)front.size);
		sweep_step(w, "copy a file");
		if (rc == 0)
			rc = rewrite_copy(&new, map + front.size, (size_t)size - front.size, err);
		munmap(map, (size_t)size);
	}
	if (rc == 0)
		rc = rewrite_end(&new, err);
	if (rc < 0) {
		if (new.p)
			rewrite_abandon(&new);
		return rc;
	}
	w->p->files_merged += n;
	return sweep_replace(w, group, n, &new, err);
}

struct small { uint64_t front; const char *name; uint32_t file; };

static int by_front(const void *pa, const void *pb)
{
	const struct small *a = pa, *b = pb;

	return a->front != b->front ? (a->front < b->front ? -1 : 1) : strcmp(a->name, b->name);
}

/* A hash of how the file is compressed. */
static int hash_front(struct sweep *w, uint32_t i, uint64_t *ret, struct err *err)
{
	const char *name = strtab_get(&w->names, i);
	struct text front;
	uint64_t size;
	char *map;
	int rc = sweep_map(w, i, &map, &size, err);

	if (rc < 0)
		return rc;
	front = sweep_front(map, size);
	*ret = hash_bytes(front.s, front.size, (uint64_t)name[strlen(name) - 1]);
	munmap(map, (size_t)size);
	return 0;
}

/* What a shard has in files that others name, too, becomes files of its own. */
static int part_shared(struct sweep *w, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < w->files.n && rc == 0; i++) {
		struct file *f = &w->files.v[i];
		struct err why = { 0 };

		if (!f->shared || !f->there || !f->n || f->kept)
			continue;
		f->kept = true;
		rc = sweep_anew(w, i, &why);
		w->p->files_rewritten += rc > 0;
		rc = rc < 0 ? sweep_leave(w, i, rc, &why, err) : 0;
	}
	return rc;
}

/* Small files one after the other, as many as fit into one. */
static int merge_small(struct sweep *w, struct err *err)
{
	VEC(struct small) small = { 0 };
	VEC(uint32_t) group = { 0 };
	struct err why = { 0 };
	uint64_t size = 0, front = 0;
	int rc = 0;

	for (uint32_t i = 0; i < w->files.n && rc == 0; i++) {
		const struct file *f = &w->files.v[i];
		struct small s = { .file = i };

		if (!f->there || !f->n || f->kept || f->size >= SMALL_MAX)
			continue;
		if ((rc = hash_front(w, i, &s.front, &why)) == 0)
			vec_push(&small, s);
		else
			rc = sweep_leave(w, i, rc, &why, err);
	}
	for (size_t i = 0; i < small.n; i++)
		small.v[i].name = strtab_get(&w->names, small.v[i].file);
	if (small.n)
		qsort(small.v, small.n, sizeof *small.v, by_front);
	for (size_t i = 0; i <= small.n && rc == 0; i++) {
		bool last = i == small.n;

		if (group.n && (last || small.v[i].front != front ||
		                size + w->files.v[small.v[i].file].size > WARC_FILE_MAX)) {
			if (group.n > 1)
				rc = merge_group(w, group.v, group.n, &why);
			if (rc < 0)
				rc = sweep_leave(w, group.v[0], rc, &why, err);
			group.n = 0;
			size = 0;
		}
		if (!last) {
			vec_push(&group, small.v[i].file);
			size += w->files.v[small.v[i].file].size;
			front = small.v[i].front;
		}
	}
	vec_release(&small);
	vec_release(&group);
	return rc;
}

int prune_merge(struct prune *p, struct err *err)
{
	/* a sweep of their own: the files that they become are small files, too */
	int rc = p->fleet ? sweep_files(p, part_shared, err) : 0;

	return rc < 0 ? rc : sweep_files(p, merge_small, err);
}
