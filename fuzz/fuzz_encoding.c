/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_encoding.c - any bytes under any encoding become valid UTF-8 in bounds.
 * The first byte chooses the charset, the second the limit; 0 lets it be found.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "web/html/encoding.h"
#include "web/text/unicode.h"
#include "web/text/words.h"

#define CHECK(condition) do { if (!(condition)) abort(); } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const charsets[] = {
#define ENCODING(name, iconv_name, labels) name,
#include "web/html/encoding.def"
#undef ENCODING
	};
	static struct encoding e;
	size_t n = sizeof charsets / sizeof charsets[0], max, text_size;
	const char *charset, *text;
	struct words w;

	if (size < 2)
		return 0;
	charset = data[0] && data[0] <= n ? charsets[data[0] - 1] : NULL;
	max = data[1] < 128 ? 1u << 20 : data[1];
	encoding_decode(&e, (const char *)data + 2, size - 2, charset,
	                charset ? strlen(charset) : 0, max, &text, &text_size);
	CHECK(text_size <= max && unicode_valid(text, text_size) == text_size);
	CHECK(encoding_find(e.name, strlen(e.name)) == e.name);
	encoding_charset((const char *)data, size, &max);
	memset(&w, 0, sizeof w);
	words_add(&w, text, text_size);
	CHECK(w.n <= text_size);
	return 0;
}
