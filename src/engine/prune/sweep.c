/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.c - the archive files: which of their records are used; those that no capture names
 * go; see prune.h.  What is done with the others is the caller's (anew.c, merge.c).
 *
 * The tables say which records are used: nothing else is remembered, so a sweep that was
 * broken off is simply begun again.
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

#include "base/little.h"
#include "base/map.h"
#include "engine/prune/rewrite.h"
#include "engine/prune/sweep.h"
#include "warc/warc.h"
#include "warc/warc_write.h"

#define REQUEST_SIZE 500        /* bytes of a record beside that of a capture: a guess */
#define OWN_STATE "warc"        /* of a crawl: its last file, see engine/crawl/crawl_repair.c */

void sweep_step(const struct sweep *w, const char *what)
{
	if (w->p->step)
		w->p->step(w->p->arg, what);
}

static struct text owner(const struct prune *p)
{
	return (struct text){ p->worker, p->worker ? strlen(p->worker) : 0 };
}

const char *sweep_base(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* The number of a file that is ours by its name; MAP_NONE: it is not. */
static uint32_t number_of(struct sweep *w, struct text worker, struct text name)
{
	struct text own = owner(w->p);
	uint32_t i;
	bool is_new;

	if (own.s ? worker.size != own.size || memcmp(worker.s, own.s, own.size) ||
	            !rewrite_is_workers(worker, name) : !rewrite_is_own(worker, name, &name))
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

static int see_shared(void *arg, struct text worker, struct text name, struct err *err)
{
	struct sweep *w = arg;
	uint32_t i = number_of(w, worker, name);

	(void)err;
	if (i != MAP_NONE)
		w->files.v[i].shared = true;
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
		rc = store_files_shared(w->p->store, see_shared, w, err);
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
	size_t n;
	char *state = NULL;
	int rc = store_state_get(s, STORE_OF_WORKER, OWN_STATE, &state, err);

	name = sweep_base(name);
	n = strlen(name);
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
		rc = store_file_drop(s, owner(w->p), (struct text){ name, strlen(name) }, err);
	if (rc == 0 && !w->p->worker)
		rc = store_file_drop(s, owner(w->p), (struct text){ whole, strlen(whole) }, err);
	if (rc == 0)
		rc = store_commit(s, err);
	if (rc < 0)
		store_rollback(s);
	return rc;
}

/* The folder that a file is in. */
static int open_folder(struct sweep *w, const char *name)
{
	char folder[128] = ".";
	const char *base = sweep_base(name);

	if (base > name)
		snprintf(folder, sizeof folder, "%.*s", (int)(base - name), name);
	return openat(w->fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int unlink_file(struct sweep *w, const char *name, struct err *err)
{
	int folder = open_folder(w, name), rc = 0;

	if (unlinkat(w->fd, name, 0) && errno != ENOENT)
		rc = err_errno(err, E_IO, "%s/warc/%s: cannot delete", w->p->folder, name);
	/* or it is back after a power failure, when no row knows it any more */
	if (rc == 0 && (folder < 0 || fsync(folder)))
		rc = err_errno(err, E_IO, "%s/warc/%s: its folder", w->p->folder, name);
	if (folder >= 0)
		close(folder);
	return rc;
}

/* Delete a file that no capture lies in, then its row.  The tables that say so are on the
 * disk before.  While another shard names it, the row goes and the file stays.  1: it was deleted. */
static int delete_file(struct sweep *w, uint32_t i, struct err *err)
{
	const char *name = strtab_get(&w->names, i);
	struct text text = { name, strlen(name) };
	struct file *f = &w->files.v[i];
	bool last = true, there;
	int rc = store_sync(w->p->store, err);

	if (rc == 0 && f->shared) {
		sweep_step(w, "leave a file");
		rc = store_file_leave(w->p->store, owner(w->p), text, &last, err);
	}
	f->shared = false;
	if (rc < 0 || !last) {
		f->there = f->there && rc < 0;
		return rc;
	}
	sweep_step(w, "delete a file");
	if (f->there && (rc = unlink_file(w, name, err)) < 0)
		return rc;
	there = f->there;
	f->there = false;
	sweep_step(w, "forget a file");
	rc = drop_row(w, name, err);
	return rc < 0 ? rc : there;
}

/* Its row says that it is here; is it on another machine? */
static bool is_elsewhere(struct sweep *w, uint32_t i)
{
	int folder = -1;

	if (!w->p->fleet || w->files.v[i].there)
		return false;
	if (w->p->worker && (folder = open_folder(w, strtab_get(&w->names, i))) >= 0)
		close(folder);
	return folder < 0;
}

static int delete_unused(struct sweep *w, struct err *err)
{
	char open[REWRITE_NAME + 136];
	int rc = 0;

	for (uint32_t i = 0; i < w->files.n && rc >= 0; i++) {
		struct file *f = &w->files.v[i];

		snprintf(open, sizeof open, "%s" WARC_OPEN_END, strtab_get(&w->names, i));
		if (!f->known || f->n || is_elsewhere(w, i) ||
		    faccessat(w->fd, open, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			continue;               /* .open: a cycle was broken off, and goes on with it */
		rc = delete_file(w, i, err);
		w->p->files_deleted += rc > 0;
	}
	return rc < 0 ? rc : 0;
}

/* ---- for the work on files ---- */

int sweep_unfit(struct sweep *w, uint32_t i, const char *why, struct err *err)
{
	w->files.v[i].kept = true;
	return err_set(err, E_PARSE, "%s/warc/%s: %s", w->p->folder, strtab_get(&w->names, i), why);
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
		return sweep_unfit(w, i, "cannot be read", err);
	*ret = map;
	*ret_size = (uint64_t)st.st_size;
	return 0;
}

/* What is in front of the records: the dictionary of a .warc.zst, a skippable frame. */
struct text sweep_front(const char *map, uint64_t size)
{
	uint64_t n;

	if (size < 8)
		return (struct text){ map, 0 };
	n = 8 + little_get(map + 4, 4);
	return (struct text){ map, (little_get32(map) & ~15u) == 0x184D2A50 && n <= size ?
	                           (size_t)n : 0 };
}

/* The new file takes the place of the old ones, which are `n` numbers. */
int sweep_replace(struct sweep *w, const uint32_t *old, size_t n, const struct rewrite *new,
                   struct err *err)
{
	uint32_t at = number_of(w, owner(w->p), (struct text){ new->row, strlen(new->row) });
	int rc = 0;

	w->files.v[at] = (struct file){ .there = true, .known = true, .size = new->size,
	                                .kept = true };
	for (size_t i = 0; i < n && rc >= 0; i++) {
		w->files.v[old[i]].n = 0;
		rc = delete_file(w, old[i], err);
	}
	return rc < 0 ? rc : 0;
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

/* ---- all of it ---- */

/* The folder for new files, and what a crash left in it. */
static int open_to(struct sweep *w, struct err *err)
{
	const struct prune *p = w->p;
	char folder[4300], below[128] = ".";
	int rc;

	if (p->worker)
		snprintf(below, sizeof below, "%.64s/shard-%d", p->worker, p->shard);
	snprintf(folder, sizeof folder, "%.4000s/warc/%s", p->folder, below);
	if (p->worker && mkdirat(w->fd, below, 0777) && errno != EEXIST)
		return err_errno(err, E_IO, "%s", folder);
	rc = rewrite_repair(p->store, folder, err);
	if (rc < 0)
		return rc;
	w->to = openat(w->fd, below, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return w->to < 0 ? err_errno(err, E_IO, "%s", folder) : 0;
}

int sweep_files(struct prune *p, int (*work)(struct sweep *, struct err *), struct err *err)
{
	struct sweep w = { .p = p, .to = -1 };
	char folder[4200];
	int rc;

	snprintf(folder, sizeof folder, "%.4000s/warc", p->folder);
	w.fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w.fd < 0 && errno == ENOENT)
		return 0;               /* nothing was ever fetched here */
	if (w.fd < 0)
		return err_errno(err, E_IO, "%s", folder);
	rc = open_to(&w, err);
	if (rc == 0)
		rc = load(&w, err);
	count(&w, &p->files_before, &p->bytes_before);
	if (rc == 0)
		rc = delete_unused(&w, err);
	if (rc == 0 && work)
		rc = work(&w, err);
	count(&w, &p->files_after, &p->bytes_after);
	if (w.to >= 0)
		close(w.to);
	close(w.fd);
	strtab_release(&w.names);
	vec_release(&w.files);
	vec_release(&w.used);
	return rc;
}

int prune_unused(struct prune *p, struct err *err)
{
	return sweep_files(p, NULL, err);
}
