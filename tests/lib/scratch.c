/* SPDX-License-Identifier: Apache-2.0 */
/* scratch.c - the files a test makes; see scratch.h. */
#include "scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT_MAX 200

static char root[ROOT_MAX];
static pid_t owner;
static unsigned n_paths;

static void give_up(const char *what)
{
	perror(what);
	abort();
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

void scratch_remove(const char *path)
{
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) < 0)
		give_up(path);
}

static void remove_root(void)
{
	if (getpid() == owner)
		scratch_remove(root);
}

char *scratch_path(char ret[SCRATCH_PATH], const char *name)
{
	const char *tmp = getenv("TMPDIR");

	if (!owner) {
		int n = snprintf(root, sizeof root, "%s/freshet-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");

		if (n >= (int)sizeof root || !mkdtemp(root) || atexit(remove_root))
			give_up("the folder for temporary files");
		owner = getpid();
	}
	snprintf(ret, SCRATCH_PATH, "%s/%u-%s", root, ++n_paths, name);
	return ret;
}

char *scratch_folder(char ret[SCRATCH_PATH], const char *name)
{
	if (mkdir(scratch_path(ret, name), 0777) < 0)
		give_up(ret);
	return ret;
}

char *scratch_file(char ret[SCRATCH_PATH], const char *name, const void *data, size_t size)
{
	FILE *f = fopen(scratch_path(ret, name), "w");

	if (!f || fwrite(data, 1, size, f) != size || fclose(f))
		give_up(ret);
	return ret;
}
