/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.c - the lock of the repository: flock() on a file beside the database.
 *
 * The kernel lets go of it when the program ends, however it ends.  (The database itself
 * must not be opened for this: closing it would drop the locks that SQLite has on it.)  The
 * file is deleted when the lock is given back; so whoever got the lock looks whether the
 * file is still the one of that name.  Where no file can be made there is no lock, as on
 * file systems that have none.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "repo/sqlite/store_sqlite.h"

#define TRIES 100               /* somebody deletes the file whenever we have opened it */

static void lock_path(const struct store_sqlite *s, char out[sizeof s->path + 8])
{
	snprintf(out, sizeof s->path + 8, "%s-lock", s->path);
}

static bool is_named(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

int sqlite_lock(struct store *base, struct err *err)
{
	struct store_sqlite *s = self(base);
	char path[sizeof s->path + 8];

	lock_path(s, path);
	for (int i = 0; i < TRIES && s->lock < 0; i++) {
		int fd = open(path, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);

		if (fd < 0)
			return 0;
		if (flock(fd, LOCK_EX | LOCK_NB)) {
			bool taken = errno == EWOULDBLOCK;

			close(fd);
			return !taken ? 0 : err_set(err, E_BUSY, "%s: another freshet is at work on "
			                            "this repository (cycle, run, live or tell): wait "
			                            "until it ends, or stop it", s->path);
		}
		if (is_named(fd, path))
			s->lock = fd;
		else
			close(fd);
	}
	return 0;
}

void sqlite_unlock(struct store *base)
{
	struct store_sqlite *s = self(base);
	char path[sizeof s->path + 8];

	if (s->lock < 0)
		return;
	lock_path(s, path);
	unlink(path);
	close(s->lock);
	s->lock = -1;
}
