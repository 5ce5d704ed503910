/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_folder.c - what lies in the folder: archive files that no row knows, what was left
 * of work that broke off, the journal of requests, caches; see check.h.
 *
 * An archive file is known before it is complete, and a file that is written anew is named by
 * the state of the worker.  So a complete file with a name of ours that the tables do not
 * know now, though it was there before they were asked, belongs to nobody: it came with a
 * copy of the folder, or the tables are older than it.  Unless it holds nothing but answers
 * that broke off: these are archived, and no row refers to them.
 */
#include "engine/check/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/prune/prune.h"
#include "engine/recall/snapshot.h"
#include "engine/recall/visit_counts.h"
#include "engine/view/cachefile.h"
#include "engine/view/kept_links.h"
#include "engine/view/tally.h"
#include "warc/warc.h"
#include "warc/warc_write.h"

#define ASIDE ".aside"
#define ASIDE_MAX 1000          /* files of one name that can be set aside */
#define NAME_MAX_SIZE 256

struct folder {
	struct check *c;
	int fd;                         /* of warc/ */
	struct strtab there;            /* complete files with a name of ours */
	struct strtab known;            /* names that the tables have */
	uint64_t n_open, n_aside, n_part;
};

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end);
}

/* Rename to NAME.aside, or the first such name that is free. */
static int set_aside(struct check *c, int fd, const char *folder, const char *name,
                     struct err *err)
{
	char aside[NAME_MAX_SIZE + 32];

	for (int i = 0; i < ASIDE_MAX; i++) {
		snprintf(aside, sizeof aside, i ? "%.255s" ASIDE "-%d" : "%.255s" ASIDE, name, i);
		if (faccessat(fd, aside, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			continue;
		if (renameat(fd, name, fd, aside) || fsync(fd))
			return err_errno(err, E_IO, "%s/%s: cannot be set aside", folder, name);
		(void)c;
		return 0;
	}
	return err_set(err, E_IO, "%s/%s: %d such files are set aside already; look through them "
	               "and remove what you do not want", folder, name, ASIDE_MAX);
}

/* ---- archive files ---- */

static void list(struct folder *f, DIR *d)
{
	struct dirent *e;

	while ((e = readdir(d))) {
		struct stat st;

		if (e->d_name[0] == '.' || strlen(e->d_name) >= NAME_MAX_SIZE ||
		    fstatat(f->fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		f->n_open += ends_in(e->d_name, WARC_OPEN_END);
		f->n_aside += strstr(e->d_name, ASIDE) != NULL;
		f->n_part += ends_in(e->d_name, ".part");
		if (rewrite_is_ours(e->d_name, strlen(e->d_name)))
			strtab_intern(&f->there, e->d_name, strlen(e->d_name), NULL);
	}
}

static int see_file(void *arg, struct text worker, struct text name, struct err *err)
{
	struct folder *f = arg;
	struct text own;

	(void)err;
	if (rewrite_is_own(worker, name, &own))
		strtab_intern(&f->known, own.s, own.size, NULL);
	return 0;
}

/* The files that the tables know now. */
static int ask(struct folder *f, struct err *err)
{
	struct store *now;
	char *rewritten = NULL;
	int rc = check_look_again(f->c, &now, err);

	if (rc == 0)
		rc = store_files(now, see_file, f, err);
	if (rc == 0 &&
	    (rc = store_state_get(now, STORE_OF_WORKER, REWRITE_STATE, &rewritten, err)) > 0) {
		strtab_intern(&f->known, rewritten, strlen(rewritten), NULL);
		if (!f->c->at_work)
			check_found(f->c, CHECK_LEFTOVER, CHECK_NOTE, "warc/%s: it was being written anew "
			            "when prune or compact broke off; the next start deletes it, the old "
			            "file is still there", rewritten);
	}
	free(rewritten);
	return rc < 0 ? rc : 0;
}

/* Is there nothing in it that a row could refer to? */
static bool only_broken_off(const char *folder, const char *name)
{
	char path[4200 + NAME_MAX_SIZE];
	struct warc_reader r;
	bool only = true;
	int rc;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	if (warc_open(&r, path, NULL) < 0)
		return false;
	while (only && (rc = warc_next(&r, NULL)) > 0)
		only = r.record.truncated || r.record.type == WARC_INFO ||
			r.record.type == WARC_REQUEST || r.record.type == WARC_METADATA;
	only = only && rc == 0 && !r.n_damaged && r.n_records;
	warc_close(&r);
	return only;
}

static int find_orphans(struct folder *f, const char *folder, struct err *err)
{
	struct check *c = f->c;
	int rc = 0;

	for (uint32_t i = 0; i < f->there.n && rc == 0; i++) {
		const char *name = strtab_get(&f->there, i);

		if (strtab_find(&f->known, name, strlen(name)) != MAP_NONE ||
		    faccessat(f->fd, name, F_OK, AT_SYMLINK_NOFOLLOW))
			continue;
		if (only_broken_off(folder, name)) {
			check_found(c, CHECK_LEFTOVER, CHECK_NOTE, "warc/%s: holds only answers that "
			            "broke off; it may be removed", name);
			continue;
		}
		if (c->repair)
			rc = set_aside(c, f->fd, folder, name, err);
		if (rc == 0)
			check_found(c, CHECK_ORPHAN, c->repair ? CHECK_MENDED : CHECK_WRONG, "warc/%s: no "
			            "row knows this archive file%s", name, c->repair ?
			            "; it is set aside, and `freshet import` reads it" :
			            "; `freshet import` takes its copies in");
	}
	return rc;
}

static void say_leftovers(const struct folder *f)
{
	struct check *c = f->c;

	if (f->n_open && !c->at_work)
		check_found(c, CHECK_LEFTOVER, CHECK_NOTE, "%llu archive file%s of a cycle that broke "
		            "off; the next cycle goes on", (unsigned long long)f->n_open,
		            f->n_open == 1 ? "" : "s");
	if (f->n_aside)
		check_found(c, CHECK_LEFTOVER, CHECK_NOTE, "%llu archive file%s set aside (warc/*"
		            ASIDE "): import them, or remove them", (unsigned long long)f->n_aside,
		            f->n_aside == 1 ? "" : "s");
	if (f->n_part && !c->at_work)
		check_found(c, CHECK_LEFTOVER, CHECK_NOTE, "%llu file%s that w%s never completed "
		            "(warc/*.part): remove them", (unsigned long long)f->n_part,
		            f->n_part == 1 ? "" : "s", f->n_part == 1 ? "as" : "ere");
}

static int check_archives(struct check *c, struct err *err)
{
	struct folder f = { .c = c };
	char path[4200];
	DIR *d;
	int rc = 0;

	snprintf(path, sizeof path, "%.4000s/warc", c->folder);
	d = opendir(path);
	if (!d)
		return errno == ENOENT ? 0 : err_errno(err, E_IO, "%s", path);
	f.fd = dirfd(d);
	list(&f, d);
	rc = ask(&f, err);
	if (rc == 0 && !c->shared)
		rc = find_orphans(&f, path, err);
	if (rc == 0)
		say_leftovers(&f);
	closedir(d);
	strtab_release(&f.there);
	strtab_release(&f.known);
	return rc;
}

/* ---- beside the tables ---- */

/* Set a file beside the tables aside, by the end of its name. */
static int aside_beside(struct check *c, const char *end, struct err *err)
{
	char folder[4200], name[4200];
	const char *slash, *file = store_file(c->store);
	int fd, rc;

	snprintf(folder, sizeof folder, "%.4100s", file);
	slash = strrchr(folder, '/');
	snprintf(name, sizeof name, "%s%s", slash ? file + (slash - folder) + 1 : file, end);
	if (slash)
		folder[slash - folder + (slash == folder)] = '\0';
	else
		snprintf(folder, sizeof folder, ".");
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, E_IO, "%s", folder);
	rc = set_aside(c, fd, folder, name, err);
	close(fd);
	return rc;
}

static int see_sent(void *arg, const struct store_sent *sent, struct err *err)
{
	const struct check *c = arg;

	return sent->page < c->n_pages || c->at_work ? 0 :
		err_set(err, E_STORE, "the journal of requests: page %u is not there", sent->page);
}

static int check_journal(struct check *c, struct err *err)
{
	struct err why = { 0 };
	bool mend = c->repair && store_file(c->store) && !store_is_far(c->store);
	int rc = store_sent(c->store, see_sent, c, &why);

	if (rc != E_STORE) {
		if (rc < 0 && err)
			*err = why;
		return rc;
	}
	rc = mend ? aside_beside(c, "-sent", err) : 0;
	if (rc == 0)
		check_found(c, CHECK_JOURNAL, mend ? CHECK_MENDED : CHECK_WRONG, "%s%s", why.text,
		            mend ? " (set aside)" : "");
	return rc;
}

static int check_cache(struct check *c, const char *end, struct err *err)
{
	int rc = 0;

	if (cachefile_check(store_file(c->store), end) != CACHEFILE_DAMAGED)
		return 0;
	if (c->repair)
		rc = aside_beside(c, end, err);
	if (rc == 0)
		check_found(c, CHECK_CACHE, c->repair ? CHECK_MENDED : CHECK_WRONG, "%s%s: damaged; %s",
		            store_file(c->store), end,
		            c->repair ? "it is set aside, and made again" : "it is not used, and may go");
	return rc;
}

int check_folder(struct check *c, struct err *err)
{
	int rc = check_archives(c, err);

	if (rc == 0)
		rc = check_journal(c, err);
	if (rc == 0)
		rc = check_cache(c, SNAPSHOT_END, err);
	if (rc >= 0)
		rc = check_cache(c, KEPT_LINKS_END, err);
	if (rc == 0)
		rc = check_cache(c, VISIT_COUNTS_END, err);
	return rc < 0 ? rc : check_cache(c, TALLY_END, err);
}
