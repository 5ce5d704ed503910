/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutator.c - inputs are changed along their structure; libFuzzer calls it, for the target that
 * MUTATE names.
 *
 * An input is a row of pieces between separators (grammars.def): a piece is dropped, doubled,
 * exchanged with another, repeated, or becomes a word that the parser knows, a number one at the
 * edge of a type.  One in four changes is libFuzzer's own, of bytes.  Afterwards, three times of
 * four, lengths of records are made true again (warc, http), for a wrong one hides all that
 * follows; gzip is unpacked before and packed again after.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define PIECES_MAX 2048
#define WORK_MAX ((size_t)1 << 20)

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

struct grammar { const char *target, *separators; const char *const *words; };

#define GRAMMAR(target, separators, ...) \
	{ #target, separators, (const char *const []){ __VA_ARGS__, NULL } },
static const struct grammar grammars[] = {
#include "grammars.def"
};

static const char *const numbers[] = {
	"0", "-1", "1", "255", "65535", "65536", "2147483647", "2147483648", "4294967295",
	"4294967296", "9223372036854775807", "18446744073709551615", "99999999999999999999",
	"0x7fffffff", "1e999", "007",
};

static uint64_t state;

static size_t below(size_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return n ? (size_t)(state >> 33) % n : 0;
}

/* ---- one change ---- */

/* Put `with` in the place of [at, at + old). */
static size_t put(uint8_t *data, size_t size, size_t max, size_t at, size_t old, const void *with,
                  size_t n)
{
	if (size - old + n > max)
		return size;
	memmove(data + at + n, data + at + old, size - at - old);
	memcpy(data + at, with, n);
	return size - old + n;
}

static size_t change(const struct grammar *g, uint8_t *data, size_t size, size_t max)
{
	static uint8_t copy[WORK_MAX];
	size_t edges[PIECES_MAX + 2], n = 0, a, b, n_words = 0;
	const char *word;

	edges[n++] = 0;
	for (size_t i = 0; i < size && n <= PIECES_MAX; i++)
		if (strchr(g->separators, data[i]) && data[i])
			edges[n++] = i + 1;
	edges[n] = size;
	a = edges[below(n)];
	b = a;
	for (size_t i = 0; i < n; i++)          /* up to three pieces */
		if (edges[i] == a)
			b = edges[i + 1 + below(3) < n ? i + 1 + below(2) : i + 1];
	if (b < a || b - a > sizeof copy)
		b = a;
	memcpy(copy, data + a, b - a);
	while (g->words[n_words])
		n_words++;
	word = below(6) ? g->words[below(n_words)] : numbers[below(sizeof numbers / sizeof *numbers)];
	switch (below(6)) {
	case 0: return put(data, size, max, a, b - a, "", 0);
	case 1: return put(data, size, max, a, 0, copy, b - a);
	case 2: return put(data, size, max, edges[below(n)], 0, copy, b - a);
	case 3: return put(data, size, max, a, below(2) ? b - a : 0, word, strlen(word));
	case 4:
		for (size_t k = below(below(8) ? 8 : 1000); k; k--)
			size = put(data, size, max, a, 0, copy, b - a);
		return size;
	default:                                /* a number, if there is one */
		while (a < size && (data[a] < '0' || data[a] > '9'))
			a++;
		for (b = a; b < size && data[b] >= '0' && data[b] <= '9'; b++)
			;
		word = numbers[below(sizeof numbers / sizeof *numbers)];
		return b > a ? put(data, size, max, a, b - a, word, strlen(word)) : size;
	}
}

/* ---- lengths ---- */

/* Every Content-Length: counts up to the next record, or to the end. */
static size_t mend_lengths(uint8_t *data, size_t size, size_t max, const char *record)
{
	size_t at = 0;

	for (;;) {
		uint8_t *line = size > at ? memmem(data + at, size - at, "Content-Length:", 15) : NULL;
		uint8_t *body, *next;
		size_t from, digits = 0;
		char text[24];

		if (!line)
			return size;
		from = (size_t)(line - data) + 15;
		body = memmem(line, size - (size_t)(line - data), "\r\n\r\n", 4);
		if (!body)
			return size;
		body += 4;
		next = memmem(body, size - (size_t)(body - data), record, strlen(record));
		snprintf(text, sizeof text, " %zu", (size_t)((next ? next : data + size) - body));
		while (from + digits < size && data[from + digits] != '\r' && data[from + digits] != '\n')
			digits++;
		size = put(data, size, max, from, digits, text, strlen(text));
		at = from;
	}
}

/* ---- gzip ---- */

static size_t unpack(const uint8_t *data, size_t size, uint8_t *out, size_t max)
{
	z_stream z = { .next_in = (uint8_t *)(uintptr_t)data, .avail_in = (unsigned)size,
	               .next_out = out, .avail_out = (unsigned)max };

	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return 0;
	(void)inflate(&z, Z_FINISH);
	inflateEnd(&z);
	return max - z.avail_out;
}

static size_t pack(const uint8_t *data, size_t size, uint8_t *out, size_t max)
{
	z_stream z = { .next_in = (uint8_t *)(uintptr_t)data, .avail_in = (unsigned)size,
	               .next_out = out, .avail_out = (unsigned)max };
	int rc;

	if (deflateInit2(&z, (int)below(10), Z_DEFLATED, 15 + 16, 8, (int)below(5)) != Z_OK)
		return 0;
	rc = deflate(&z, Z_FINISH);
	deflateEnd(&z);
	return rc == Z_STREAM_END ? max - z.avail_out : 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	static uint8_t plain[WORK_MAX], packed[WORK_MAX];
	const struct grammar *g = grammars;
	const uint8_t *member = size ? memmem(data, size, "\x1f\x8b\x08", 3) : NULL;
	size_t n;

	while (strcmp(g->target, MUTATE))
		g++;
	state = seed;
	below(1);
	if (below(4) == 0)
		return LLVMFuzzerMutate(data, size, max);
	if (member && below(2)) {
		size_t front = (size_t)(member - data);

		n = unpack(member, size - front, plain, sizeof plain / 2);
		n = change(g, plain, n, sizeof plain);
		n = pack(plain, n, packed, sizeof packed);
		if (n && front + n <= max) {
			memcpy(data + front, packed, n);
			return front + n;
		}
	}
	for (n = 1 + below(3); n; n--)
		size = change(g, data, size, max);
	if (!strcmp(MUTATE, "warc") && below(4))
		size = mend_lengths(data, size, max, "\r\n\r\nWARC/");
	if (!strcmp(MUTATE, "http") && below(4))
		size = mend_lengths(data, size, max, "\r\n\r\nHTTP/");
	return size ? size : LLVMFuzzerMutate(data, size, max);
}
