/* SPDX-License-Identifier: Apache-2.0 */
/* html_sax.h - the peer that reads pages: libxml2's HTML push parser with SAX callbacks
 * that count tags, links and words. */
#ifndef BENCH_HTML_SAX_H
#define BENCH_HTML_SAX_H

#include <ctype.h>
#include <libxml/HTMLparser.h>
#include <stdint.h>
#include <string.h>

struct sax_sums {
	uint64_t tags, links, words, bytes;
};

static inline void sax_on_start(void *arg, const xmlChar *name, const xmlChar **attrs)
{
	struct sax_sums *s = arg;

	s->tags++;
	if (name[0] == 'a' && !name[1])
		for (; attrs && attrs[0]; attrs += 2)
			s->links += !strcmp((const char *)attrs[0], "href");
}

static inline void sax_on_text(void *arg, const xmlChar *text, int size)
{
	struct sax_sums *s = arg;
	int in_word = 0;

	for (int i = 0; i < size; i++) {
		int is = isalnum(text[i]) || text[i] & 0x80;

		s->words += (uint64_t)(is && !in_word);
		in_word = is;
	}
	s->bytes += (uint64_t)size;
}

static inline void sax_read(const char *data, size_t size, struct sax_sums *s)
{
	htmlSAXHandler sax = { .startElement = sax_on_start, .characters = sax_on_text };
	htmlParserCtxtPtr ctx = htmlCreatePushParserCtxt(&sax, s, NULL, 0, NULL,
	                                                 XML_CHAR_ENCODING_UTF8);

	htmlParseChunk(ctx, data, (int)size, 0);
	htmlParseChunk(ctx, NULL, 0, 1);
	htmlFreeParserCtxt(ctx);
}

#endif
