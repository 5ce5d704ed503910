/* SPDX-License-Identifier: Apache-2.0 */
/* Dumps of Nutch's crawl database: each URL once, its length below the cap, its time sane. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "warc/logs/logs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(struct logs_nutch *n, const char *line, size_t size)
{
	struct logs_visit v;
	const char *why = NULL;
	enum logs_verdict verdict = logs_nutch(n, line, size, &v, &why);

	if ((verdict == LOGS_BAD) != (why != NULL))
		abort();
	if (verdict == LOGS_VISIT && (!v.url.size || v.url.size > LOGS_URL_MAX ||
	                              (v.time != INT64_MIN && (v.time <= 0 || !v.status))))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct logs_nutch *n = calloc(1, sizeof *n);
	char *text = malloc(size + 1), *p = text, *end = text + size;

	memcpy(text, data, size);
	while (p < end) {
		char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t length = (size_t)((stop ? stop : end) - p);

		take(n, p, length);
		p += length + 1;
	}
	take(n, "", 0);
	free(text);
	free(n);
	return 0;
}
