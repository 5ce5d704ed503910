/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_trap.c - traps and shapes of any canonical URL. */
#include <stdlib.h>

#include "web/rules/trap.h"
#include "web/url/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf url, shape;

	buf_init(&url, URL_SIZE_MAX);
	buf_init(&shape, BUF_NO_LIMIT);
	if (url_canonical((const char *)data, size, &url, NULL) == 0) {
		char *exact = malloc(url.size);         /* so that reading past it is seen */

		if (!exact)
			abort();
		for (size_t i = 0; i < url.size; i++)
			exact[i] = url.data[i];
		if ((unsigned)trap_find(exact, url.size, 1700000000) >= N_TRAPS)
			abort();
		trap_shape(exact, url.size, &shape);
		if (!shape.size || shape.size > url.size + 1)
			abort();
		free(exact);
	}
	buf_release(&url);
	buf_release(&shape);
	return 0;
}
