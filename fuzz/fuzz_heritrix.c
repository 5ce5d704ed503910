/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of Heritrix's crawl.log: a visit has a URL inside of its line, and a status of HTTP. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "warc/logs/logs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *p = text, *end = text + size;

	memcpy(text, data, size);
	while (p < end) {
		char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((stop ? stop : end) - p);
		struct logs_visit v;
		const char *why = NULL;
		enum logs_verdict verdict = logs_heritrix(p, n, &v, &why);

		(void)logs_is_heritrix(p, n);
		if ((verdict == LOGS_BAD) != (why != NULL) || verdict == LOGS_MORE)
			abort();
		if (verdict == LOGS_VISIT &&
		    (v.url.s < p || v.url.s + v.url.size > p + n || v.status < 100 || v.status > 999 ||
		     v.length < -1 || v.time == INT64_MIN))
			abort();
		p += n + 1;
	}
	free(text);
	return 0;
}
