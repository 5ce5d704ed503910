/* SPDX-License-Identifier: Apache-2.0 */
/* secret_file.c - files that only their owner may read; see secret_file.h. */
#include "fetch/asking/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_file(int fd, const char *path, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_errno(err, E_IO, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, E_USAGE, "%s: is no file", path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return err_set(err, E_USAGE, "%s: belongs to another user, so it is not used", path);
	if (st.st_mode & 077)
		return err_set(err, E_USAGE, "%s: others may read or write it (mode %03o), so it is not "
		               "used; chmod 600 it", path, (unsigned)st.st_mode & 0777);
	if (st.st_size > SECRET_FILE_MAX)
		return err_set(err, E_LIMIT, "%s: has more than %d bytes", path, SECRET_FILE_MAX);
	return 0;
}

int secret_file_read(const char *path, struct buf *out, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;
	size_t before = out->size;
	ssize_t n = 0;

	if (fd < 0)
		return err_errno(err, E_IO, "%s", path);
	rc = check_file(fd, path, err);
	while (rc == 0) {
		char *room = buf_room(out, 4096);

		n = room ? read(fd, room, 4096) : 0;
		if (n > 0)
			out->size += (size_t)n;
		if (n <= 0 && !(n < 0 && errno == EINTR))
			break;
		if (out->size - before > SECRET_FILE_MAX)
			rc = err_set(err, E_LIMIT, "%s: has more than %d bytes", path, SECRET_FILE_MAX);
	}
	if (rc == 0 && n < 0)
		rc = err_errno(err, E_IO, "%s", path);
	if (rc == 0 && memchr(buf_text(out) + before, '\0', out->size - before))
		rc = err_set(err, E_PARSE, "%s: is no text", path);
	close(fd);
	return rc;
}

void secret_release(struct buf *b)
{
	if (b->data)
		explicit_bzero(b->data, b->cap);
	buf_release(b);
}
