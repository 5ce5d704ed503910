/* SPDX-License-Identifier: Apache-2.0 */
/* The head of an answer that a program of the user's wrote: what is kept of it is a head of
 * HTTP, without lines that are not the page's, and reading it again gives the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fetch/program/program.h"

#define MUST(x) do { if (!(x)) abort(); } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf out, again;
	int64_t length, length_again;
	unsigned requests, requests_again;
	int status = 0, status_again = 0;

	buf_init(&out, BUF_NO_LIMIT);
	buf_init(&again, BUF_NO_LIMIT);
	if (!program_read_head((const char *)data, size, &out, &status, &length, &requests)) {
		MUST(status >= 100 && status <= 599 && length >= -1);
		MUST(out.size >= 4 && !memcmp(out.data + out.size - 4, "\r\n\r\n", 4));
		MUST(!memchr(out.data, 0, out.size));
		MUST(!strcasestr(buf_text(&out), "\nContent-Encoding:"));
		MUST(!strcasestr(buf_text(&out), "\nFreshet-"));
		MUST(!program_read_head(out.data, out.size, &again, &status_again, &length_again,
		                        &requests_again));
		MUST(status == status_again && length == length_again && !requests_again);
		MUST(again.size == out.size && !memcmp(again.data, out.data, out.size));
	}
	buf_release(&out);
	buf_release(&again);
	return 0;
}
