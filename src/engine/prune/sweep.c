/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.c - the archive files: those that no capture names go, those that are mostly unused
 * are written anew; see prune.h.
 *
 * The tables say which records are used: nothing else is remembered, so a sweep that was
 * broken off is simply begun again.  Files are taken with the most unused first, so that a
 * disk that is nearly full gets room for the next.
 *
 * A record is used if a capture lies there.  Its request, and redirects on the way to it,
 * stay with it.  The dictionary in front of a .warc.zst goes over first.
 *
 * Memory: 40 bytes a capture.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "engine/prune/rewrite.h"
#include "engine/prune/sweep.h"
#include "warc/warc.h"
#include "warc/warc_write.h"

#define REQUEST_SIZE 500        /* bytes of a record beside that of a capture: a guess */
#define UNUSED_MIN 0.2          /* of a file that is written anew */
#define OWN_STATE "warc"        /* of a crawl: its last file, see engine/crawl/crawl_repair.c */

void sweep_step(const struct sweep *w, const char *what)
{
	if (w->p->step)
		w->p->step(w->p->arg, what);
}

/* The number of a file that is ours by its name; MAP_NONE: it is not. */
static uint32_t number_of(struct sweep *w, struct text worker, struct text name)
{
	uint32_t i;
	bool is_new;

	if (!rewrite_is_own(worker, name, &name))
		return MAP_NONE;
	i = strtab_intern(&w->names, name.s, name.size, &is_new);
	if (is_new)
		vec_push(&w->files, (struct file){ 0 });
	return i;
}

static int see_file(void *arg, struct text worker, struct text name, struct err *err)
{
	struct sweep *w = arg;
	uint32_t i = number_of(w, worker, name);

	(void)err;
	if (i != MAP_NONE)
		w->files.v[i].known = true;
	return 0;
}

static int see_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct sweep *w = arg;
	struct used u = { .id = c->id, .offset = c->offset, .size = c->size };

	(void)err;
	if (!c->file.s || (u.file = number_of(w, c->worker, c->file)) == MAP_NONE)
		return 0;
	w->files.v[u.file].n++;
	w->files.v[u.file].bytes += c->size > 0 ? (uint64_t)c->size + REQUEST_SIZE : 0;
	if (c->offset < 0 || c->size <= 0)
		w->files.v[u.file].kept = true;         /* we cannot say what lies where */
	vec_push(&w->used, u);
	return 0;
}

static int by_place(const void *pa, const void *pb)
{
	const struct used *a = pa, *b = pb;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int load(struct sweep *w, struct err *err)
{
	struct stat st;
	int rc = store_files(w->p->store, see_file, w, err);

	if (rc == 0)
		rc = store_captures(w->p->store, NULL, 0, see_capture, w, err);
	if (w->used.n)
		qsort(w->used.v, w->used.n, sizeof *w->used.v, by_place);
	for (size_t i = w->used.n; i-- > 0; )
		w->files.v[w->used.v[i].file].first = i;
	for (uint32_t i = 0; i < w->files.n && rc == 0; i++) {
		struct file *f = &w->files.v[i];

		if (fstatat(w->fd, strtab_get(&w->names, i), &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		f->there = true;
		f->size = (uint64_t)st.st_size;
	}
	return rc;
}

static void count(const struct sweep *w, uint64_t *ret_files, uint64_t *ret_bytes)
{
	*ret_files = *ret_bytes = 0;
	for (size_t i = 0; i < w->files.n; i++) {
		*ret_files += w->files.v[i].there;
		*ret_bytes += w->files.v[i].there ? w->files.v[i].size : 0;
	}
}

/* ---- deleting ---- */

/* A crawl looks after its last file when it begins: not after one that is gone. */
static int forget_last(struct sweep *w, const char *name, struct err *err)
{
	struct store *s = w->p->store;
	size_t n = strlen(name);
	char *state = NULL;
	int rc = store_state_get(s, STORE_OF_WORKER, OWN_STATE, &state, err);

	if (rc > 0 && !strncmp(state, name, n) && state[n] == ' ')
		rc = store_state_put(s, STORE_OF_WORKER, OWN_STATE, NULL, err);
	free(state);
	return rc < 0 ? rc : 0;
}

static int drop_row(struct sweep *w, const char *name, struct err *err)
{
	struct store *s = w->p->store;
	char whole[REWRITE_NAME + 8];
	int rc = store_begin(s, err);

	snprintf(whole, sizeof whole, "warc/%s", name);
	if (rc == 0)
		rc = forget_last(w, name, err);
	if (rc == 0)
		rc = store_file_drop(s, (struct text){ 0 }, (struct text){ name, strlen(name) }, err);
	if (rc == 0)
		rc = store_file_drop(s, (struct text){ 0 }, (struct text){ whole, strlen(whole) },
		                     err);
	if (rc == 0)
		rc = store_commit(s, err);
	if (rc < 0)
		store_rollback(s);
	return rc;
}

/* Delete a file that no capture lies in, then its row.  The tables that say so are on the
 * disk before. */
static int delete_file(struct sweep *w, uint32_t i, struct err *err)
{
	const char *name = strtab_get(&w->names, i);
	struct file *f = &w->files.v[i];
	int rc = store_sync(w->p->store, err);

	if (rc < 0)
		return rc;
	sweep_step(w, "delete a file");
	if (f->there && unlinkat(w->fd, name, 0) && errno != ENOENT)
		return err_errno(err, E_IO, "%s/warc/%s: cannot delete", w->p->folder, name);
	/* or it is back after a power failure, when no row knows it any more */
	if (f->there && fsync(w->fd))
		return err_errno(err, E_IO, "%s/warc", w->p->folder);
	sweep_step(w, "forget a file");
	f->there = false;
	return drop_row(w, name, err);
}

static int delete_unused(struct sweep *w, struct err *err)
{
	char open[REWRITE_NAME + 8];
	int rc = 0;

	for (uint32_t i = 0; i < w->files.n && rc == 0; i++) {
		struct file *f = &w->files.v[i];

		snprintf(open, sizeof open, "%s" WARC_OPEN_END, strtab_get(&w->names, i));
		if (!f->known || f->n || faccessat(w->fd, open, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			continue;               /* .open: a cycle was broken off, and goes on with it */
		w->p->files_deleted += f->there;
		rc = delete_file(w, i, err);
	}
	return rc;
}

/* ---- writing anew ---- */

/* A record of the old file. */
struct piece {
	uint64_t offset;
	uint64_t id, of;                /* hashes of its id, and of the one it goes with; 0: none */
	bool hop;                       /* a redirect: it goes with the next answer */
	bool answer, info, keep;
};

struct walk { VEC(struct piece) pieces; struct map by_id; char *map; uint64_t size; };

static int left(struct sweep *w, uint32_t i, const char *why, struct err *err)
{
	w->files.v[i].kept = true;
	return err_set(err, E_PARSE, "%s/warc/%s: %s", w->p->folder, strtab_get(&w->names, i), why);
}

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
			rc = left(w, i, "damaged, or not compressed record by record", err);
			break;
		}
		vec_push(&k->pieces, p);
	}
	if (rc == 0 && r.n_damaged)
		rc = left(w, i, "damaged", err);
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
			return left(w, i, "the tables say of it what is not so", err);
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

int sweep_map(struct sweep *w, uint32_t i, char **ret, uint64_t *ret_size, struct err *err)
{
	const char *name = strtab_get(&w->names, i);
	int fd = openat(w->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	void *map = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return left(w, i, "cannot be read", err);
	*ret = map;
	*ret_size = (uint64_t)st.st_size;
	return 0;
}

/* What is in front of the records: the dictionary of a .warc.zst, a skippable frame. */
struct text sweep_front(const char *map, uint64_t size)
{
	const unsigned char *m = (const unsigned char *)map;
	uint64_t magic, n;

	if (size < 8)
		return (struct text){ map, 0 };
	magic = m[0] | (uint64_t)m[1] << 8 | (uint64_t)m[2] << 16 | (uint64_t)m[3] << 24;
	n = 8 + (m[4] | (uint64_t)m[5] << 8 | (uint64_t)m[6] << 16 | (uint64_t)m[7] << 24);
	return (struct text){ map, (magic & ~UINT64_C(15)) == 0x184D2A50 && n <= size ?
	                           (size_t)n : 0 };
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

/* The new file takes the place of the old ones, which are `n` numbers. */
int sweep_replace(struct sweep *w, const uint32_t *old, size_t n, const struct rewrite *new,
                   struct err *err)
{
	uint32_t at = number_of(w, (struct text){ 0 },
	                        (struct text){ new->name, strlen(new->name) });
	int rc = 0;

	w->files.v[at] = (struct file){ .there = true, .known = true, .size = new->size,
	                                .kept = true };
	for (size_t i = 0; i < n && rc == 0; i++) {
		w->files.v[old[i]].n = 0;
		rc = delete_file(w, old[i], err);
	}
	return rc;
}

/* 1: written anew; 0: it is well used. */
static int write_anew(struct sweep *w, uint32_t i, struct err *err)
{
	struct walk k = { 0 };
	struct rewrite new = { .fd = -1 };
	int rc = sweep_map(w, i, &k.map, &k.size, err);

	if (rc == 0)
		rc = walk(w, i, &k, err);
	if (rc == 0)
		rc = mark(w, i, &k, err);
	if (rc == 0 && (double)unused_bytes(&k) >= UNUSED_MIN * (double)k.size) {
		rc = rewrite_begin(&new, w->p, w->fd, strtab_get(&w->names, i),
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

/* An error of one file does not end the sweep: it is left as it is. */
int sweep_leave(struct sweep *w, uint32_t i, int rc, const struct err *why, struct err *err)
{
	if (rc != E_PARSE && rc != E_IO) {
		if (err)
			*err = *why;
		return rc;
	}
	w->files.v[i].kept = true;
	w->p->files_left++;
	if (w->p->report)
		w->p->report(w->p->arg, why->text);
	return 0;
}

static double used_share(const struct file *f)
{
	return f->size ? (double)f->bytes / (double)f->size : 1;
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
		rc = write_anew(w, best, &why);
		w->p->files_rewritten += rc > 0;
		rc = rc < 0 ? sweep_leave(w, best, rc, &why, err) : 0;
	}
	return rc;
}

/* ---- both ---- */

int sweep_files(struct prune *p, int (*work)(struct sweep *, struct err *), struct err *err)
{
	struct sweep w = { .p = p };
	char folder[4200];
	int rc;

	snprintf(folder, sizeof folder, "%.4000s/warc", p->folder);
	rc = rewrite_repair(p->store, folder, err);
	if (rc < 0)
		return rc;
	w.fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w.fd < 0 && errno == ENOENT)
		return 0;               /* nothing was ever fetched here */
	if (w.fd < 0)
		return err_errno(err, E_IO, "%s", folder);
	rc = load(&w, err);
	count(&w, &p->files_before, &p->bytes_before);
	if (rc == 0)
		rc = delete_unused(&w, err);
	if (rc == 0)
		rc = work(&w, err);
	count(&w, &p->files_after, &p->bytes_after);
	close(w.fd);
	strtab_release(&w.names);
	vec_release(&w.files);
	vec_release(&w.used);
	return rc;
}

int sweep_run(struct prune *p, struct err *err)
{
	return sweep_files(p, write_all_anew, err);
}
