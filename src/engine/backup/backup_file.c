/* SPDX-License-Identifier: Apache-2.0 */
/* backup_file.c - see backup_file.h. */
#include "engine/backup/backup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"

#define PART ((size_t)1 << 20)

static int failed(const char *path, struct err *err)
{
	return err_errno(err, E_IO, "%s", path);
}

/* As many bytes as there are, at most size; negative: errno says why. */
static ssize_t read_at(int fd, char *data, size_t size, off_t at)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, data + done, size - done, at + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int write_at(int fd, const char *data, size_t size, off_t at)
{
	while (size) {
		ssize_t n = pwrite(fd, data, size, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		data += n;
		size -= (size_t)n;
		at += n;
	}
	return 0;
}

/* Copy [from, to) and hash it; 1, or 0: there is less. */
static int copy_part(int in, int out, uint64_t from, uint64_t to, char *room, uint64_t *hash)
{
	for (uint64_t at = from; at < to; ) {
		size_t want = to - at < PART ? (size_t)(to - at) : PART;
		ssize_t n = read_at(in, room, want, (off_t)at);

		if (n < 0 || (size_t)n < want)
			return n < 0 ? -1 : 0;
		*hash = hash_bytes(room, want, *hash);
		if (out >= 0 && write_at(out, room, want, (off_t)at))
			return -1;
		at += want;
	}
	return 1;
}

static int copy_open(int in, int out, const char *to, uint64_t have, uint64_t size,
                     struct err *err)
{
	uint64_t sent = 0, got = 0;
	char *room = mem_alloc(PART);
	int rc = copy_part(in, out, have, size, room, &sent);

	if (rc < 0 || (rc > 0 && fsync(out)))
		rc = failed(to, err);
	if (rc > 0) {                           /* from the disk, not from memory */
		(void)posix_fadvise(out, 0, 0, POSIX_FADV_DONTNEED);
		if (copy_part(out, -1, have, size, room, &got) < 0)
			rc = failed(to, err);
		else if (got != sent)
			rc = err_set(err, E_IO, "%s: what was written is not what is read: the disk fails, "
			             "or another program writes there", to);
	}
	free(room);
	return rc;
}

/* Is the end of what there is the same in both? */
static bool same_end(int in, int out, uint64_t have)
{
	size_t n = have < PART ? (size_t)have : PART;
	char *a = mem_alloc(PART), *b = mem_alloc(PART);
	bool same = read_at(in, a, n, (off_t)(have - n)) == (ssize_t)n &&
	            read_at(out, b, n, (off_t)(have - n)) == (ssize_t)n && !memcmp(a, b, n);

	free(a);
	free(b);
	return same;
}

static int copy_over(int in, const char *to, uint64_t size, struct err *err)
{
	char part[BACKUP_PATH + 8];
	int out, rc;

	snprintf(part, sizeof part, "%s.part", to);
	out = open(part, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (out < 0)
		return failed(part, err);
	rc = copy_open(in, out, part, 0, size, err);
	if (close(out) && rc > 0)
		rc = failed(part, err);
	if (rc > 0 && rename(part, to))
		rc = failed(to, err);
	return rc;
}

static int copy_more(int in, const char *to, uint64_t size, uint64_t *ret_copied,
                     struct err *err)
{
	int out = open(to, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666), rc = 1;
	struct stat st;
	uint64_t have;

	if (out < 0 || fstat(out, &st)) {
		rc = failed(to, err);
		if (out >= 0)
			close(out);
		return rc;
	}
	have = (uint64_t)st.st_size;
	if (have > size || !same_end(in, out, have)) {
		rc = copy_over(in, to, size, err);
		*ret_copied = size;
	} else if (have < size) {
		rc = copy_open(in, out, to, have, size, err);
		*ret_copied = size - have;
	}
	if (close(out) && rc > 0)
		rc = failed(to, err);
	return rc;
}

int backup_file_copy(const char *from, const char *to, uint64_t size, uint64_t *ret_copied,
                     struct err *err)
{
	int in = open(from, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC), rc = 1;
	struct stat st;

	*ret_copied = 0;
	if (in < 0 && errno == ELOOP)   /* in a stranger's repository it may lead to any file */
		return err_set(err, E_IO, "%s: is a link: only files of the folder itself are copied", from);
	if (in < 0)
		return errno == ENOENT ? 0 : failed(from, err);
	if (fstat(in, &st))
		rc = failed(from, err);
	else if (!S_ISREG(st.st_mode))
		rc = err_set(err, E_IO, "%s: is no file", from);
	else if ((uint64_t)st.st_size < size)
		rc = 0;
	if (rc > 0)
		rc = copy_more(in, to, size, ret_copied, err);
	close(in);
	return rc;
}

int backup_file_write(const char *path, const char *text, struct err *err)
{
	char part[BACKUP_PATH + 8];
	int fd, rc = 0;

	snprintf(part, sizeof part, "%s.part", path);
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0 || write_at(fd, text, strlen(text), 0) || fsync(fd))
		rc = failed(part, err);
	if (fd >= 0 && close(fd) && rc == 0)
		rc = failed(part, err);
	if (rc == 0 && rename(part, path))
		rc = failed(path, err);
	return rc;
}

int backup_file_hash(const char *path, uint64_t *ret, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	struct stat st;
	char *room = mem_alloc(PART);

	*ret = 0;
	if (fd < 0 || fstat(fd, &st) ||
	    copy_part(fd, -1, 0, (uint64_t)st.st_size, room, ret) < 0)
		rc = failed(path, err);
	if (fd >= 0)
		close(fd);
	free(room);
	return rc;
}

int backup_file_sync_folder(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

	if (fd < 0 || fsync(fd))
		rc = failed(path, err);
	if (fd >= 0)
		close(fd);
	return rc;
}
