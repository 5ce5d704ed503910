/* SPDX-License-Identifier: Apache-2.0 */
/* digest.c - XXH3 over what counts; the only file that sees xxhash. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "web/text/digest.h"

#define FOLD_PIECE 4096

void digest_bytes(const void *data, size_t size, uint64_t ret[2])
{
	XXH128_hash_t h = XXH3_128bits(data, size);

	ret[0] = h.low64;
	ret[1] = h.high64;
}

uint64_t digest_64(const void *data, size_t size)
{
	return XXH3_64bits(data, size);
}

/* Hash with each run of digits as one 0.  A run may continue in the next call. */
static void add_folded(XXH3_state_t *s, const char *p, size_t size, bool *in_digits)
{
	char out[FOLD_PIECE];
	size_t n = 0;

	for (size_t i = 0; i < size; i++) {
		bool digit = p[i] >= '0' && p[i] <= '9';

		if (!digit || !*in_digits)
			out[n++] = digit ? '0' : p[i];
		*in_digits = digit;
		if (n == sizeof out) {
			XXH3_64bits_update(s, out, n);
			n = 0;
		}
	}
	XXH3_64bits_update(s, out, n);
}

uint64_t digest_text(const char *text, size_t size, const struct digest_gap *gaps,
                     size_t n_gaps, bool fold)
{
	XXH3_state_t s;
	bool in_digits = false;
	size_t from = 0;

	if (!n_gaps && !fold)
		return digest_64(text, size);
	XXH3_64bits_reset(&s);
	for (size_t i = 0; i <= n_gaps; i++) {
		size_t to = i < n_gaps ? gaps[i].from : size;

		if (fold)
			add_folded(&s, text + from, to - from, &in_digits);
		else
			XXH3_64bits_update(&s, text + from, to - from);
		if (i < n_gaps)
			from = gaps[i].to;
	}
	return XXH3_64bits_digest(&s);
}
