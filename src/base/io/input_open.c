/* SPDX-License-Identifier: Apache-2.0 */
/* input_open.c - files, parts of files, sources and memory are opened as a stream; see input.h. */
#include "base/io/input_inner.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUT_SIZE (256 * 1024)

static int start(struct input *in, struct input **ret, struct err *err)
{
	int rc = codec_init(&in->codec, &in->raw, err);

	if (rc < 0) {
		input_close(in);
		return rc;
	}
	in->cap = OUT_SIZE;
	in->out = mem_alloc(in->cap + 1);
	*ret = in;
	return 0;
}

/* The part of a file from `from` on; size 0: all of it. */
static void take_part(struct input *in, uint64_t from, uint64_t size, uint64_t file_size)
{
	in->raw.base = in->raw_start = from;
	in->raw.end = size ? from + size : 0;
	in->raw_size = size ? size : file_size > from ? file_size - from : 0;
}

int input_open(struct input **ret, const char *path, struct err *err)
{
	bool standard = strcmp(path, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	struct input *in;
	struct stat st;

	if (fd < 0)
		return err_errno(err, E_IO, "%s: cannot open", path);
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		close(fd);
		return err_set(err, E_IO, "%s: is a folder; name the files in it", path);
	}
	in = mem_zalloc(1, sizeof *in);
	in->name = mem_strdup(standard ? "standard input" : path);
	in->raw.name = in->name;
	in->raw.fd = fd;
	in->raw.buf = mem_alloc(RAW_SIZE);
	in->raw.data = in->raw.buf;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		off_t at = lseek(fd, 0, SEEK_CUR);

		in->raw.seekable = at >= 0;
		take_part(in, at > 0 ? (uint64_t)at : 0, 0, (uint64_t)st.st_size);
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	}
	return start(in, ret, err);
}

int input_open_part(struct input **ret, const char *path, uint64_t offset, uint64_t size,
                    struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct input *in;

	if (size == 0) {
		if (fd >= 0)
			close(fd);
		return input_open_memory(ret, "", 0, path, err);
	}
	if (fd < 0 || lseek(fd, (off_t)offset, SEEK_SET) < 0) {
		err_errno(err, E_IO, "%s: cannot open", path);
		if (fd >= 0)
			close(fd);
		return E_IO;
	}
	in = mem_zalloc(1, sizeof *in);
	in->name = mem_strdup(path);
	in->raw.name = in->name;
	in->raw.fd = fd;
	in->raw.seekable = true;
	in->raw.buf = mem_alloc(RAW_SIZE);
	in->raw.data = in->raw.buf;
	take_part(in, offset, size, 0);
	return start(in, ret, err);
}

int input_open_source(struct input **ret, const struct input_source *source,
                      const char *name, struct err *err)
{
	struct input *in = mem_zalloc(1, sizeof *in);

	in->name = mem_strdup(name);
	in->raw.name = in->name;
	in->raw.fd = -1;
	in->raw.source = source;
	in->raw.buf = mem_alloc(RAW_SIZE);
	in->raw.data = in->raw.buf;
	return start(in, ret, err);
}

int input_open_memory(struct input **ret, const void *data, size_t size,
                      const char *name, struct err *err)
{
	return input_open_memory_at(ret, data, size, 0, name, err);
}

int input_open_memory_at(struct input **ret, const void *data, size_t size,
                         uint64_t offset, const char *name, struct err *err)
{
	struct input *in = mem_zalloc(1, sizeof *in);
	size_t from = offset < size ? (size_t)offset : size;
	int rc;

	in->name = mem_strdup(name);
	in->raw.name = in->name;
	in->raw.fd = -1;
	in->raw.eof = true;
	in->raw.data = data ? data : "";
	in->raw.len = size;
	in->raw.pos = in->raw_start = from;
	in->raw_size = size - from;
	rc = from ? codec_front(&in->codec, &in->raw, err) : 0;
	if (rc < 0) {
		input_close(in);
		return rc;
	}
	return start(in, ret, err);
}

void input_close(struct input *in)
{
	if (!in)
		return;
	codec_release(&in->codec);
	if (in->raw.fd > STDIN_FILENO)
		close(in->raw.fd);
	if (in->raw.source && in->raw.source->close)
		in->raw.source->close(in->raw.source->arg);
	vec_release(&in->marks);
	free(in->raw.buf);
	free(in->out);
	free(in->name);
	free(in);
}

const char *input_name(const struct input *in)
{
	return in->name;
}
