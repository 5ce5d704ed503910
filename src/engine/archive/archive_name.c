/* SPDX-License-Identifier: Apache-2.0 */
/* archive_name.c - names of archive files; see archive_name.h. */
#include "engine/archive/archive_name.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "warc/warc_write.h"

/* The file's real path, from malloc, or NULL. */
static char *find(const char *source, const char *told)
{
	const char *slash = strrchr(source, '/');
	struct buf beside;
	char *real;

	if (!strcmp(source, told) || told[0] == '/')
		return realpath(told, NULL);
	/* an index names the files beside it */
	buf_init(&beside, ARCHIVE_NAME_MAX);
	if (slash)
		buf_add(&beside, source, (size_t)(slash - source) + 1);
	buf_str(&beside, told);
	real = realpath(buf_text(&beside), NULL);
	buf_release(&beside);
	return real;
}

void archive_name_make(const char *folder, const char *source, const char *told,
                       struct buf *out)
{
	char *real = find(source, told);
	char *root = real && folder ? realpath(folder, NULL) : NULL;
	size_t n = root ? strlen(root) : 0;

	if (!real)
		buf_str(out, told);
	else if (n && !strncmp(real, root, n) && real[n] == '/')
		buf_str(out, real + n + 1);
	else
		buf_str(out, real);
	free(real);
	free(root);
}

void archive_name_path(const char *folder, const char *name, struct buf *out)
{
	size_t at = out->size, whole;

	if (name[0] != '/')
		buf_printf(out, "%s/", folder ? folder : ".");
	buf_str(out, name);
	if (name[0] == '/' || access(buf_text(out) + at, F_OK) == 0)
		return;
	out->size = at;
	buf_printf(out, "%s/warc/%s", folder ? folder : ".", name);
	if (access(buf_text(out) + at, F_OK) == 0)
		return;
	whole = out->size;
	buf_str(out, WARC_OPEN_END);
	if (access(buf_text(out) + at, F_OK)) {
		out->size = whole;
		out->data[whole] = '\0';
	}
}
