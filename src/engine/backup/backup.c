/* SPDX-License-Identifier: Apache-2.0 */
/* backup.c - see backup.h. */
#include "engine/backup/backup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "engine/archive/archive_name.h"
#include "engine/backup/backup_file.h"
#include "engine/prune/prune.h"

#define TRIES 5                 /* with newer tables, since files went meanwhile */
#define OWN_STATE "warc"        /* of a crawl: its last file and how long it was then */
#define DICTIONARY "warc/dictionary.zstd"
#define AGAIN 1

/* An archive file that the tables name. */
struct needed { uint64_t used; bool whole; };   /* bytes in use; all that is there */

struct copying {
	struct backup *b;
	struct store *s;                /* the tables that are copied */
	struct strtab names;
	VEC(struct needed) files;
	char tables[BACKUP_PATH];       /* of the copy */
};

static void path_in(char out[BACKUP_PATH], const char *folder, const char *name)
{
	snprintf(out, BACKUP_PATH, "%.2000s/%.2300s", folder, name);
}

/* ---- may we write there? ---- */

/* The hashes of tables that a backup may have there; 0: it is none. */
static int read_mark(const char *to, uint64_t ret[2])
{
	char path[BACKUP_PATH];
	FILE *f;
	int n;

	path_in(path, to, BACKUP_MARK);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fscanf(f, "freshet backup %16" SCNx64 " %16" SCNx64, &ret[0], &ret[1]);
	fclose(f);
	return n == 2;
}

static bool is_empty(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	bool empty = d != NULL;

	while (empty && (e = readdir(d)))       /* a mark that was never completed is nothing */
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		        !strcmp(e->d_name, BACKUP_MARK ".part");
	if (d)
		closedir(d);
	return empty;
}

static int look(struct copying *k, struct err *err)
{
	struct backup *b = k->b;
	uint64_t may[2], is;
	struct stat st;
	char log[BACKUP_PATH + 8], warc[BACKUP_PATH];
	int rc;

	if (mkdir(b->to, 0777) && errno != EEXIST)
		return err_errno(err, E_IO, "%s: no folder can be made there", b->to);
	path_in(k->tables, b->to, "freshet.db");
	snprintf(log, sizeof log, "%s-wal", k->tables);
	b->first = access(k->tables, F_OK) != 0;
	if (!read_mark(b->to, may)) {
		if (!is_empty(b->to))
			return err_set(err, E_USAGE, "%s: is no backup, and not empty; name another folder",
			               b->to);
		may[0] = may[1] = 0;
	} else if (!b->first && !b->no_tables) {
		rc = backup_file_hash(k->tables, &is, err);
		if (rc < 0)
			return rc;
		if ((is != may[0] && is != may[1]) || (stat(log, &st) == 0 && st.st_size))
			return err_set(err, E_USAGE, "%s: its tables are not those that the last backup "
			               "wrote: it was crawled from, and is a repository of its own now; "
			               "name another folder", b->to);
	}
	/* from now on it is a backup: what a kill leaves can be gone on with */
	path_in(log, b->to, BACKUP_MARK);
	if (!b->unmarked && access(log, F_OK)) {
		rc = backup_file_write(log, "freshet backup 0000000000000000 0000000000000000\n", err);
		if (rc == 0)
			rc = backup_file_sync_folder(b->to, err);
		if (rc < 0)
			return rc;
	}
	path_in(warc, b->to, "warc");
	return mkdir(warc, 0777) && errno != EEXIST ? err_errno(err, E_IO, "%s", warc) : 0;
}

/* ---- which files ---- */

static struct needed *file_of(struct copying *k, struct text name)
{
	bool is_new;
	uint32_t i = strtab_intern(&k->names, name.s, name.size, &is_new);

	if (is_new)
		vec_push(&k->files, ((struct needed){ .whole = true }));
	return &k->files.v[i];
}

static bool leads_out(struct text name)
{
	return !name.size || name.s[0] == '/' || memmem(name.s, name.size, "..", 2);
}

static int see_file(void *arg, struct text worker, struct text name, struct err *err)
{
	struct copying *k = arg;

	(void)err;
	if (worker.s || leads_out(name))
		k->b->n_outside++;
	else
		file_of(k, name);
	return 0;
}

static int see_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct copying *k = arg;
	struct needed *n;

	(void)err;
	if (!c->file.s || c->worker.s || leads_out(c->file) || c->offset < 0)
		return 0;
	n = file_of(k, c->file);
	if (c->size > 0 && n->used < (uint64_t)(c->offset + c->size))
		n->used = (uint64_t)(c->offset + c->size);
	return 0;
}

/* The file that a crawl writes is as long as the tables know. */
static int see_last(struct copying *k, struct err *err)
{
	char *state = NULL, name[257];
	unsigned long long size;
	int rc = store_state_get(k->s, STORE_OF_WORKER, OWN_STATE, &state, err);

	if (rc > 0 && sscanf(state, "%256[A-Za-z0-9._-] %llu", name, &size) == 2) {
		struct needed *n = file_of(k, (struct text){ name, strlen(name) });

		n->whole = false;
		n->used = size;
	}
	free(state);
	return rc < 0 ? rc : 0;
}

static int find_files(struct copying *k, struct err *err)
{
	int rc = store_files(k->s, see_file, k, err);

	if (rc == 0)
		rc = store_captures(k->s, NULL, 0, see_capture, k, err);
	return rc < 0 ? rc : see_last(k, err);
}

/* ---- copying ---- */

/* Folders on the way to a file of that name. */
static int make_folders(const char *to, const char *name, struct err *err)
{
	char path[BACKUP_PATH];

	path_in(path, to, name);
	for (char *slash = path + strlen(to) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		if (mkdir(path, 0777) && errno != EEXIST)
			return err_errno(err, E_IO, "%s", path);
	}
	return 0;
}

/* Where the file lies now, and where it is to lie: warc/NAME, or its path in the folder. */
static void find_paths(const struct copying *k, const char *name, char from[BACKUP_PATH],
                       char below[BACKUP_PATH])
{
	const char *folder = k->b->folder;
	struct buf path;

	buf_init(&path, BACKUP_PATH - 1);
	archive_name_path(folder, name, &path);
	snprintf(from, BACKUP_PATH, "%s", buf_text(&path));
	path_in(below, folder, name);
	if (access(below, F_OK))
		snprintf(below, BACKUP_PATH, "warc/%.2300s", name);
	else
		snprintf(below, BACKUP_PATH, "%.2300s", name);
	buf_release(&path);
}

/* AGAIN: a file went meanwhile. */
static int copy_one(struct copying *k, uint32_t i, struct err *err)
{
	const char *name = strtab_get(&k->names, i);
	struct needed *n = &k->files.v[i];
	char from[BACKUP_PATH], below[BACKUP_PATH], to[BACKUP_PATH];
	struct backup *b = k->b;
	uint64_t copied, size = n->used;
	struct stat st;
	int rc;

	find_paths(k, name, from, below);
	if (stat(from, &st))
		return n->used ? AGAIN : 0;     /* no copy lies in it any more */
	if (n->whole && (uint64_t)st.st_size > size)
		size = (uint64_t)st.st_size;
	rc = make_folders(b->to, below, err);
	path_in(to, b->to, below);
	if (rc == 0)
		rc = backup_file_copy(from, to, size, &copied, err);
	if (rc <= 0)
		return rc < 0 ? rc : AGAIN;
	b->n_files++;
	b->n_copied += copied > 0;
	b->bytes += size;
	b->bytes_copied += copied;
	progress_bytes(&b->progress, b->bytes, 0);
	return 0;
}

static int copy_files(struct copying *k, struct err *err)
{
	char from[BACKUP_PATH], to[BACKUP_PATH], warc[BACKUP_PATH];
	uint64_t copied;
	struct stat st;
	int rc = 0;

	progress_start(&k->b->progress, "archives", "MiB", 0);
	for (uint32_t i = 0; i < k->files.n && rc == 0; i++)
		rc = copy_one(k, i, err);
	path_in(from, k->b->folder, DICTIONARY);
	path_in(to, k->b->to, DICTIONARY);
	if (rc == 0 && stat(from, &st) == 0 &&
	    (rc = backup_file_copy(from, to, (uint64_t)st.st_size, &copied, err)) > 0)
		rc = 0;
	path_in(warc, k->b->to, "warc");
	return rc ? rc : backup_file_sync_folder(warc, err);
}

static int show_pages(void *arg, uint64_t done, uint64_t total)
{
	struct progress *p = arg;

	p->total = total;
	return progress_set(p, done);
}

/* A file that the tables name may not be there: was it there when they were copied? */
static int is_lost(struct copying *k, struct err *err)
{
	for (uint32_t i = 0; i < k->files.n; i++) {
		char from[BACKUP_PATH], below[BACKUP_PATH];
		struct stat st;

		find_paths(k, strtab_get(&k->names, i), from, below);
		if (k->files.v[i].used && (stat(from, &st) ||
		                           (uint64_t)st.st_size < k->files.v[i].used))
			return err_set(err, E_IO, "%s: is not there, or shorter than the tables say; "
			               "`freshet check` says what is lost, and --repair lets a backup be "
			               "made", from);
	}
	return err_set(err, E_BUSY, "%s: archive files come and go: try again", k->b->folder);
}

/* ---- the new tables take the place of the old ---- */

static int put_tables(struct copying *k, const char *part, struct err *err)
{
	char mark[BACKUP_PATH], text[100];
	uint64_t now[2] = { 0, 0 };
	int rc = backup_file_hash(part, &now[0], err);

	if (rc == 0 && access(k->tables, F_OK) == 0)
		rc = backup_file_hash(k->tables, &now[1], err);
	if (rc == 0 && !k->b->unmarked) {
		path_in(mark, k->b->to, BACKUP_MARK);
		snprintf(text, sizeof text, "freshet backup %016" PRIx64 " %016" PRIx64 "\n", now[0],
		         now[1]);
		rc = backup_file_write(mark, text, err);
		if (rc == 0)
			rc = backup_file_sync_folder(k->b->to, err);
	}
	if (rc == 0 && rename(part, k->tables))
		rc = err_errno(err, E_IO, "%s", k->tables);
	return rc < 0 ? rc : backup_file_sync_folder(k->b->to, err);
}

/* Files of ours in the copy that its tables do not name. */
static int delete_unknown(struct copying *k, struct err *err)
{
	char path[BACKUP_PATH];
	struct dirent *e;
	DIR *d;

	path_in(path, k->b->to, "warc");
	d = opendir(path);
	if (!d)
		return err_errno(err, E_IO, "%s", path);
	while ((e = readdir(d))) {
		char within[300];

		snprintf(within, sizeof within, "warc/%.255s", e->d_name);
		if (!rewrite_is_ours(e->d_name, strlen(e->d_name)) ||
		    strtab_find(&k->names, e->d_name, strlen(e->d_name)) != MAP_NONE ||
		    strtab_find(&k->names, within, strlen(within)) != MAP_NONE)
			continue;
		k->b->n_deleted += unlinkat(dirfd(d), e->d_name, 0) == 0;
	}
	closedir(d);
	return 0;
}

/* AGAIN: with newer tables. */
static int run_once(struct copying *k, struct err *err)
{
	struct backup *b = k->b;
	char part[BACKUP_PATH + 8];
	struct stat st;
	int rc;

	snprintf(part, sizeof part, "%s.part", k->tables);
	b->n_files = b->n_copied = b->bytes = b->bytes_copied = b->n_outside = 0;
	progress_start(&b->progress, "tables", "pages", 0);
	rc = b->open(b->arg, &k->s, err);
	if (rc < 0)
		return rc;
	if (!b->no_tables)
		rc = store_backup(k->s, part, show_pages, &b->progress, err);
	if (rc == 0)
		rc = find_files(k, err);
	if (rc == 0)
		rc = copy_files(k, err);
	if (rc == 0 && !b->no_tables && stat(part, &st) == 0)
		b->bytes_tables = (uint64_t)st.st_size;
	if (rc == 0 && !b->no_tables)
		rc = put_tables(k, part, err);
	store_close(k->s);
	k->s = NULL;
	return rc;
}

int backup_run(struct backup *b, struct err *err)
{
	struct copying k = { .b = b };
	int rc = look(&k, err);

	for (int i = 0; i < TRIES && (rc == 0 || rc == AGAIN); i++) {
		strtab_release(&k.names);
		k.names = (struct strtab){ 0 };
		k.files.n = 0;
		rc = run_once(&k, err);
		if (rc == 0)
			break;
	}
	if (rc == AGAIN)
		rc = is_lost(&k, err);
	if (rc == 0)
		rc = delete_unknown(&k, err);
	progress_end(&b->progress);
	strtab_release(&k.names);
	vec_release(&k.files);
	return rc;
}
