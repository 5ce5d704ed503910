/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Archives.  The first byte says which records are loaded and how much of a body
 * is kept; the rest is the file.  Nothing is held beyond that, offsets only grow,
 * and a record called whole has no digest that says otherwise.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/io/input.h"
#include "warc/warc.h"

#define OUT_MAX (8u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct warc_content c;
	struct warc_reader r;
	struct input *in;
	uint64_t position = 0;
	struct buf plain;

	if (size == 0 || input_open_memory(&in, data + 1, size - 1, "fuzz", NULL) < 0)
		return 0;
	warc_open_input(&r, in);
	warc_content_init(&c, data[0] & 2 ? 100 : 100000);
	buf_init(&plain, 100000);
	while (warc_next(&r, NULL) > 0 && input_position(in) < OUT_MAX) {
		if (r.start < position || r.record.offset > size - 1 || r.record.length < 0)
			abort();
		position = r.start + 1;
		if ((data[0] & 1) && (r.n_records & 1))
			continue;
		if (warc_load(&r, &c, NULL) != 1)
			continue;
		if (c.body.size > c.body_max || c.block_check == WARC_CHECK_WRONG ||
		    c.body_size > (uint64_t)r.record.length ||
		    r.record.file_size > size - 1)
			abort();
		if (c.is_http && c.http.content_encoding) {
			buf_clear(&plain);
			(void)!http_decode(&plain, c.http.content_encoding->value,
			                   c.http.content_encoding->value_size, buf_text(&c.body),
			                   c.body.size, NULL);
		}
	}
	buf_release(&plain);
	warc_content_release(&c);
	warc_close(&r);
	return 0;
}
