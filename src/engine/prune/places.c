/* SPDX-License-Identifier: Apache-2.0 */
/* places.c - the archive files of a fleet that lie on this machine; see prune.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/prune/prune.h"

static DIR *open_in(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !d)
		close(fd);
	return d;
}

/* level 0: warc/, 1: WORKER, 2: shard-K. */
static void look(struct prune_places *p, DIR *d, int level)
{
	struct dirent *e;
	struct stat st;

	while ((e = readdir(d))) {
		size_t n = strlen(e->d_name);
		DIR *in;

		if (*e->d_name == '.')
			continue;
		if (level != 1 && rewrite_is_ours(e->d_name, n) &&
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode)) {
			p->files++;
			p->bytes += (uint64_t)st.st_size;
		} else if (level < 2 && (level == 0 || !strncmp(e->d_name, "shard-", 6)) &&
		           (in = open_in(dirfd(d), e->d_name))) {
			if (level == 0)
				strtab_intern(&p->workers, e->d_name, n, NULL);
			look(p, in, level + 1);
			closedir(in);
		}
	}
}

int prune_places(struct prune_places *ret, const char *folder, struct err *err)
{
	char path[4200];
	DIR *d;

	snprintf(path, sizeof path, "%.4000s/warc", folder);
	d = open_in(AT_FDCWD, path);
	if (!d)
		return errno == ENOENT ? 0 : err_errno(err, E_IO, "%s", path);
	look(ret, d, 0);
	closedir(d);
	return 0;
}

void prune_places_release(struct prune_places *p)
{
	strtab_release(&p->workers);
}
