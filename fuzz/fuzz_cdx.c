/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index files.  What parses lies inside its line, and written out again it parses
 * to the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/input.h"
#include "warc/cdx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(struct text a, struct text b)
{
	if (a.size != b.size || (a.size && memcmp(a.s, b.s, a.size)))
		abort();
}

static bool is_ascii(struct text s)
{
	for (size_t i = 0; i < s.size; i++)
		if ((unsigned char)s.s[i] >= 0x80)
			return false;           /* may become U+FFFD */
	return true;
}

static void write_again(const struct cdx_line *line)
{
	struct cdx_layout layout = { .letters = "" };
	struct cdx_line back;
	const char *reason;
	struct buf out;

	buf_init(&out, BUF_NO_LIMIT);
	if (cdx_write(&out, line, true, NULL) == 0) {
		if (cdx_parse(&layout, out.data, out.size - 1, &back, &reason) != CDX_CAPTURE)
			abort();
		same(line->surt, back.surt);
		if (is_ascii(line->url))
			same(line->url, back.url);
		if (is_ascii(line->title))
			same(line->title, back.title);
		if (line->time != back.time || line->status != back.status ||
		    line->length != back.length || line->words != back.words ||
		    line->outlinks != back.outlinks)
			abort();
	}
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cdx_reader r;
	struct cdx_line line;
	struct input *in;

	if (input_open_memory(&in, data, size, "fuzz", NULL) < 0)
		return 0;
	cdx_open_input(&r, in);
	for (int n = 0; n < 2000 && cdx_next(&r, &line, NULL) > 0; n++) {
		struct text terms = line.terms, links = line.links, link;
		uint32_t id, count;
		uint64_t hash;

		while (terms.s && cdx_next_term(&terms, &id, &count))
			;
		while (links.s && text_word(&links, &link))
			if (link.size == 0)
				abort();
		(void)cdx_hex64(line.tags, &hash);
		write_again(&line);
	}
	cdx_close(&r);
	return 0;
}
