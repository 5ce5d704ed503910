/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain, gzip and zstd input: the first byte chooses how it is read (by pieces, by
 * lines, by peeking), the rest is the file.  Whatever it holds, positions only
 * grow, offsets stay inside the file, and reading comes to an end.
 */
#include <stdint.h>
#include <stdlib.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t position = 0, lost, offset = 0;
	struct input *in;
	struct err err;

	if (size == 0 || input_open_memory(&in, data + 1, size - 1, "fuzz", &err) < 0)
		return 0;
	while (input_position(in) < OUT_MAX) {
		int rc = step(in, data[0], &err);

		if (input_position(in) < position || input_file_offset(in) > size - 1 ||
		    input_raw_position(in) > size - 1)
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
