/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain, gzip and zstd input: the first byte chooses how it is read (by pieces, by
 * lines, by peeking), and where it lies: in memory or, if it is large, in a file, a part of one, a
 * pipe, or behind a function.  The rest is the file.  Whatever it holds, positions only
 * grow, offsets stay inside the file, and reading comes to an end.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io/input.h"

#define OUT_MAX (4u << 20)              /* a bomb is only looked at this far */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int step(struct input *in, unsigned how, struct err *err)
{
	char block[777], *line;
	const char *peeked;
	size_t n;
	long got;
	int rc;

	switch (how % 3) {
	case 0:
		got = input_read(in, block, 1 + how, err);
		return got > 0 ? 1 : (int)got;
	case 1:
		rc = input_line(in, 1 + how * 16, &line, &n, err);
		if (rc > 0 && (n > 1 + how * 16 || line[n] != '\0'))
			abort();
		return rc == E_LIMIT ? 1 : rc;
	default:
		rc = input_peek(in, how * 8, &peeked, &n, err);
		if (rc < 0 || n == 0)
			return rc;
		if (input_member_bytes(in) > n)
			abort();
		input_skip(in, how & 64 ? input_member_bytes(in) : 1 + n / 2);
		return 1;
	}
}

/* ---- where it lies ---- */

#define TOLD_MAX 300000                 /* bytes of a function that tells a file again and again, */
#define TIMES_MAX 900                   /* so often at most */

struct teller { const uint8_t *data; size_t size, at, times; };

static long tell(void *arg, void *out, size_t size, struct err *err)
{
	struct teller *t = arg;
	size_t n = t->at == t->size ? 0 : t->size - t->at;

	(void)err;
	if (!n && t->times && t->times--)
		n = t->size - (t->at = 0);
	n = n < size ? n : size;
	memcpy(out, t->data + t->at, n);
	t->at += n;
	return (long)n;
}

static int at_number(struct input **ret, int fd, size_t from, size_t size, struct err *err)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return from || size ? input_open_part(ret, path, from, size, err) : input_open(ret, path, err);
}

static int in_file(struct input **ret, const uint8_t *data, size_t size, bool part, struct err *err)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC), rc;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	rc = at_number(ret, fd, part ? size / 3 : 0, part ? size / 2 : 0, err);
	close(fd);
	return rc;
}

static int in_pipe(struct input **ret, const uint8_t *data, size_t size, struct err *err)
{
	int ends[2], rc;

	if (size > 65536)               /* as much as a pipe takes while nobody reads it */
		return -1;
	if (pipe(ends) || write(ends[1], data, size) != (ssize_t)size || close(ends[1]))
		abort();
	rc = at_number(ret, ends[0], 0, 0, err);
	close(ends[0]);
	return rc;
}

/* *ret_size: of the file. */
static int open_somewhere(struct input **ret, unsigned how, const uint8_t *data, size_t size,
                          size_t *ret_size, struct err *err)
{
	static struct teller teller;
	static const struct input_source source = { INPUT_ANY, tell, NULL, &teller };

	*ret_size = size;
	if (how < 192)
		return input_open_memory_at(ret, data, size, how == 191 ? size / 4 : 0, "fuzz", err);
	if (how < 208)
		return in_file(ret, data, size, false, err);
	if (how < 216)
		return in_file(ret, data, size, true, err);
	if (how < 232)
		return in_pipe(ret, data, size, err);
	teller = (struct teller){ .data = data, .size = size };
	if (size && how >= 248)
		teller.times = TOLD_MAX / size < TIMES_MAX ? TOLD_MAX / size : TIMES_MAX;
	*ret_size = size * (teller.times + 1);
	return input_open_source(ret, &source, "fuzz", err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t position = 0, lost, offset = 0;
	struct input *in;
	struct err err;
	size_t of_file;
	char probed[16];

	if (size == 0 || open_somewhere(&in, data[0], data + 1, size - 1, &of_file, &err) < 0)
		return 0;
	while (input_position(in) < OUT_MAX) {
		int rc = step(in, data[0], &err);

		if (input_position(in) < position || input_file_offset(in) > of_file ||
		    input_raw_position(in) > of_file || input_raw_size(in) > of_file ||
		    input_probe(in, position, probed, sizeof probed) > (long)sizeof probed)
			abort();
		position = input_position(in);
		if (rc > 0)
			continue;
		if (rc != E_PARSE)
			break;
		rc = input_resync(in, &lost, &err);
		if (rc <= 0)
			break;
		if (input_file_offset(in) <= offset && offset)  /* always forward */
			abort();
		offset = input_file_offset(in);
	}
	input_close(in);
	return 0;
}
