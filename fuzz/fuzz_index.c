/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of index servers: the number of pages, and the key at the end.  What is left of
 * an answer is its beginning, and the key has no blank, no end of a line, and a cap.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/index/index_server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), key[INDEX_KEY_MAX];
	size_t left = size;
	int64_t pages;

	memcpy(text, data, size);
	text[size] = '\0';
	pages = index_page_count(text, size);
	if (pages < -1 || pages > 999999999 || index_page_lines(text, size) > size)
		abort();
	if (index_page_key(text, &left, key) &&
	    (left >= size || !*key || strpbrk(key, " \t\r\n") || strlen(key) >= sizeof key))
		abort();
	free(text);
	return 0;
}
