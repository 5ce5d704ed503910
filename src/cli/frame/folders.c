/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folders.c - see folders.h.
 *
 * Files are chosen by name, not by content: word lists, logs and reports are often in the
 * same folder and would look like lists of URLs.  Subfolders are ignored.
 */
#include "cli/frame/folders.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "repo/place.h"

static bool ends_in(const char *s, size_t size, const char *end)
{
	size_t n = strlen(end);

	return size > n && !memcmp(s + size - n, end, n);
}

static bool is_archive(const char *name)
{
	static const char *const packed[] = { ".gz", ".zst" };
	static const char *const kinds[] = { ".warc", ".wacz", ".cdx", ".cdxj" };
	size_t size = strlen(name);

	for (size_t i = 0; i < 2; i++) {
		if (ends_in(name, size, packed[i])) {
			size -= strlen(packed[i]);
			break;
		}
	}
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (ends_in(name, size, kinds[i]))
			return name[0] != '.';
	return false;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && !place_is_repository(path);
}

static void add(struct option_list *list, const char *name)
{
	mem_grow((void **)&list->v, &list->cap, list->n + 1, sizeof *list->v);
	list->v[list->n++] = name;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int add_folder(struct option_list *list, const char *path, struct arena *arena,
                      struct err *err)
{
	size_t before = list->n, size = strlen(path);
	DIR *d = opendir(path);
	struct dirent *e;

	if (!d)
		return err_errno(err, E_IO, "%s", path);
	while (size > 1 && path[size - 1] == '/')
		size--;
	while ((e = readdir(d))) {
		char full[4096];

		if (is_archive(e->d_name) && (size_t)snprintf(full, sizeof full, "%.*s/%s", (int)size,
		                                              path, e->d_name) < sizeof full)
			add(list, arena_strndup(arena, full, strlen(full)));
	}
	closedir(d);
	if (list->n == before)
		return err_set(err, E_IO, "%s: is a folder without .warc, .cdx or .cdxj files; name "
		               "the files in it", path);
	qsort(list->v + before, list->n - before, sizeof *list->v, compare_names);
	return 0;
}

int folders_expand(int n_args, char **args, struct option_list *ret, struct arena *arena,
                   struct err *err)
{
	int rc = 0;

	for (int i = 0; i < n_args && rc == 0; i++) {
		if (is_folder(args[i]))
			rc = add_folder(ret, args[i], arena, err);
		else
			add(ret, args[i]);
	}
	return rc;
}
