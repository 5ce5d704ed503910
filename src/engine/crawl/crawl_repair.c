/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_repair.c - the archive after a crash.
 *
 * A file that was being written anew (engine/prune) is deleted: the old one is still there.
 *
 * The open file may be longer than the store knows.  The state `warc` of the worker, written with each
 * batch, says how long it was then; the rest is cut off, and the file gets
 * its final name.  An open file that the store knows nothing of is kept aside under
 * another name: it may be somebody's only copy.  So is one that the state names and no capture:
 * its answers broke off, or their captures were left out of the batch.
 *
 * Neither the setting nor the folder is trusted.  A name is that of a file in the
 * folder, never a path; only a regular file that has no other name is cut, and no link
 * is followed.  Everything is on the disk before the crawl goes on.
 */
#include "engine/crawl/crawl_inner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "engine/prune/prune.h"

#define STATE_KEY "warc"
#define NAME_SIZE 256
#define OPEN_SIZE (sizeof WARC_OPEN_END - 1)
#define ASIDE_MAX 1000          /* files of one name that can be set aside */

struct repair {
	struct store *store;
	const char *folder;
	int fd;                         /* of the folder */
	char name[NAME_SIZE];           /* the file that the store knows, or "" */
	off_t size;
	bool known;                     /* captures lie in it */
	struct crawl_report *report;
};

static int is_no_name(const char *state, struct err *err)
{
	char shown[200];

	return err_set(err, E_STORE, "settings, the state of this worker, " STATE_KEY ": '%s' is no name "
	               "and size of an archive file; remove the row if you made it",
	               log_quote(state, strlen(state), shown, sizeof shown));
}

int crawl_state_save(struct crawl *c, struct err *err)
{
	char state[NAME_SIZE + 32];

	if (!c->batch.last.length)
		return 0;
	snprintf(state, sizeof state, "%s %llu", c->batch.last.filename,
	         (unsigned long long)c->batch.last.end);
	return store_state_put(c->store, STORE_OF_WORKER, STATE_KEY, state, err);
}

static int load_state(struct repair *r, struct store *s, struct err *err)
{
	char *state = NULL, size[19] = "";
	int end = 0, rc = store_state_get(s, STORE_OF_WORKER, STATE_KEY, &state, err);

	if (rc <= 0)
		return rc;
	rc = 0;
	if (sscanf(state, "%255[A-Za-z0-9._-] %18[0-9]%n", r->name, size, &end) == 2)
		r->size = (off_t)strtoll(size, NULL, 10);
	if (!r->size || state[end] || r->name[0] == '.')
		rc = is_no_name(state, err);
	free(state);
	return rc;
}

static int failed(const struct repair *r, const char *name, struct err *err)
{
	return err_errno(err, E_IO, "%s/%s", r->folder, name);
}

static int rename_to(const struct repair *r, const char *from, const char *to,
                     struct err *err)
{
	if (renameat(r->fd, from, r->fd, to) || fsync(r->fd))
		return failed(r, from, err);
	return 0;
}

static bool is_free(const struct repair *r, const char *name)
{
	return faccessat(r->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT;
}

/* Rename the file so that no reader takes it for an archive. */
static int set_aside(struct repair *r, const char *open_name, struct err *err)
{
	int stem = (int)(strlen(open_name) - OPEN_SIZE), rc;
	char aside[NAME_SIZE + 32];

	for (int i = 0; i < ASIDE_MAX; i++) {
		snprintf(aside, sizeof aside, i ? "%.*s.aside-%d" : "%.*s.aside", stem, open_name, i);
		if (!is_free(r, aside))
			continue;
		rc = rename_to(r, open_name, aside, err);
		if (rc == 0) {
			r->report->n_aside++;
			snprintf(r->report->aside, sizeof r->report->aside, "%s", aside);
		}
		return rc;
	}
	return err_set(err, E_IO, "%s/%s: the store does not know it, and %d such files are kept "
	               "aside; look through them and remove what you do not want", r->folder,
	               open_name, ASIDE_MAX);
}

/* Cut the file back to the size that the store knows.  1: done; 0: there is no such file. */
static int cut_back(const struct repair *r, const char *name, struct err *err)
{
	int fd = openat(r->fd, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int rc = 1;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 && (errno == ELOOP || errno == ENXIO || errno == EISDIR))
		return err_set(err, E_IO, "%s/%s: is no file of its own but a link or a folder, and "
		               "is not written to; put the archive file there", r->folder, name);
	if (fd < 0 || fstat(fd, &st))
		rc = failed(r, name, err);
	else if (!S_ISREG(st.st_mode))
		rc = err_set(err, E_IO, "%s/%s: is no file, and is not written to", r->folder, name);
	else if (st.st_size > r->size && st.st_nlink > 1)
		rc = err_set(err, E_IO, "%s/%s: must be cut to %lld bytes but has another name, too "
		             "(a hard link); put a copy in its place", r->folder, name,
		             (long long)r->size);
	else if (st.st_size > r->size && (ftruncate(fd, r->size) || fsync(fd)))
		rc = failed(r, name, err);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Names of a fleet's files have the folders before. */
static int see_file(void *arg, struct text worker, struct text name, struct err *err)
{
	struct repair *r = arg;
	size_t n = strlen(r->name);

	(void)worker;
	(void)err;
	r->known = name.size >= n && !memcmp(name.s + name.size - n, r->name, n) &&
	           (name.size == n || name.s[name.size - n - 1] == '/');
	return r->known;
}

/* Finish a file that was open when the program ended. */
static int end_file(struct repair *r, const char *open_name, struct err *err)
{
	size_t n = strlen(open_name) - OPEN_SIZE;
	struct stat st;
	int rc;

	if (fstatat(r->fd, open_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return 0;               /* not made by us */
	if (n != strlen(r->name) || memcmp(open_name, r->name, n) || !is_free(r, r->name))
		return set_aside(r, open_name, err);
	rc = store_files(r->store, see_file, r, err);
	if (rc < 0 || !r->known)
		return rc < 0 ? rc : set_aside(r, open_name, err);
	rc = cut_back(r, open_name, err);
	return rc <= 0 ? rc : rename_to(r, open_name, r->name, err);
}

static int repair_folder(struct repair *r, struct err *err)
{
	DIR *d = fdopendir(r->fd);
	struct dirent *e;
	int rc = 0;

	if (!d) {
		rc = err_errno(err, E_IO, "%s", r->folder);
		close(r->fd);
		return rc;
	}
	if (*r->name)                   /* its last records may be uncommitted */
		rc = cut_back(r, r->name, err);
	while (rc >= 0 && (e = readdir(d))) {
		size_t n = strlen(e->d_name);

		if (n > OPEN_SIZE && n < NAME_SIZE - 5 &&
		    !strcmp(e->d_name + n - OPEN_SIZE, WARC_OPEN_END))
			rc = end_file(r, e->d_name, err);
	}
	closedir(d);
	return rc < 0 ? rc : 0;
}

int crawl_repair(struct store *s, const char *folder, struct crawl_report *report,
                 struct err *err)
{
	int rc = rewrite_repair(s, folder, err);

	return rc < 0 ? rc : crawl_finish_files(s, folder, report, err);
}

bool crawl_has_open_files(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	bool any = false;

	while (d && !any && (e = readdir(d))) {
		size_t n = strlen(e->d_name);

		any = n > OPEN_SIZE && !strcmp(e->d_name + n - OPEN_SIZE, WARC_OPEN_END);
	}
	if (d)
		closedir(d);
	return any;
}

int crawl_finish_files(struct store *s, const char *folder, struct crawl_report *report,
                       struct err *err)
{
	struct repair r = { .store = s, .folder = folder, .report = report };
	int rc = load_state(&r, s, err);

	if (rc < 0)
		return rc;
	r.fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return r.fd < 0 ? err_errno(err, E_IO, "%s", folder) : repair_folder(&r, err);
}
