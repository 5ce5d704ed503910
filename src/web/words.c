/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - splitting text into words, hashing them on the way.
 *
 * ASCII words are the fast path: a table says how far the word goes, and eight
 * letters at a time are put in lower case and hashed as one number (bit 0x40
 * tells letters from digits, so lower case is one shift).  A word with any other
 * character is first written in lower case to a small buffer.
 */
#include "web/words.h"

#include <string.h>

#include "web/unicode.h"

#define LETTERS 0x4040404040404040u
#define K1 0x9e3779b97f4a7c15u
#define K2 0xbf58476d1ce4e5b9u

static const unsigned char kind_of[256] = {
	['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1,
	['7'] = 1, ['8'] = 1, ['9'] = 1,
	['A'] = 1, ['B'] = 1, ['C'] = 1, ['D'] = 1, ['E'] = 1, ['F'] = 1, ['G'] = 1,
	['H'] = 1, ['I'] = 1, ['J'] = 1, ['K'] = 1, ['L'] = 1, ['M'] = 1, ['N'] = 1,
	['O'] = 1, ['P'] = 1, ['Q'] = 1, ['R'] = 1, ['S'] = 1, ['T'] = 1, ['U'] = 1,
	['V'] = 1, ['W'] = 1, ['X'] = 1, ['Y'] = 1, ['Z'] = 1,
	['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1, ['g'] = 1,
	['h'] = 1, ['i'] = 1, ['j'] = 1, ['k'] = 1, ['l'] = 1, ['m'] = 1, ['n'] = 1,
	['o'] = 1, ['p'] = 1, ['q'] = 1, ['r'] = 1, ['s'] = 1, ['t'] = 1, ['u'] = 1,
	['v'] = 1, ['w'] = 1, ['x'] = 1, ['y'] = 1, ['z'] = 1,
	[0x80 ... 0xff] = 2,
};

static inline uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * K1;
	return h ^ h >> 29;
}

static inline uint64_t finish(uint64_t h)
{
	h *= K2;
	h ^= h >> 32;
	h *= K1;
	return h ^ h >> 29;
}

static inline uint64_t load(const char *p, size_t n)
{
	uint64_t x = 0;

	memcpy(&x, p, n);
	return x;
}

/* Up to eight bytes of [p, p + n), reading past them where the text goes on. */
static inline uint64_t load_part(const char *p, size_t n, const char *end)
{
	uint64_t x;

	if (end - p >= 8) {
		memcpy(&x, p, 8);
		return n < 8 ? x & (((uint64_t)1 << 8 * n) - 1) : x;
	}
	return load(p, n);
}

uint64_t words_hash(const char *word, size_t size)
{
	uint64_t h = size;

	for (; size > 8; word += 8, size -= 8)
		h = mix(h, load(word, 8));
	return finish(mix(h, load(word, size)));
}

/* The hash of a word whose runs of digits are each one 0. */
static uint64_t folded_hash(const char *word, size_t size)
{
	char out[WORD_SIZE_MAX];
	size_t n = 0;

	for (size_t i = 0; i < size; i++) {
		bool digit = word[i] >= '0' && word[i] <= '9';

		if (!digit)
			out[n++] = word[i];
		else if (!n || out[n - 1] != '0')
			out[n++] = '0';
	}
	return words_hash(out, n);
}

static inline void take(struct words *w, const char *word, size_t size, uint64_t hash)
{
	w->n++;
	if (w->each)
		w->each(w->arg, word, size, hash);
	if (w->no_simhash)
		return;
	if (w->fold_digits)
		hash = folded_hash(word, size);
	simhash_add(&w->simhash, finish(hash + (w->last << 23 | w->last >> 41)));
	w->last = hash;
}

/* An ASCII word; `end`: of the text, up to where reading is allowed. */
static void take_ascii(struct words *w, const char *p, size_t size, const char *end)
{
	size_t left = size > WORD_SIZE_MAX ? WORD_SIZE_MAX : size;
	uint64_t h = left, x;
	char lower[WORD_SIZE_MAX + 8], *q = lower;

	size = left;
	for (; left > 8; p += 8, left -= 8) {
		x = load(p, 8);
		x |= (x & LETTERS) >> 1;
		h = mix(h, x);
		memcpy(q, &x, 8);
		q += 8;
	}
	x = load_part(p, left, end);
	x |= (x & LETTERS) >> 1;
	memcpy(q, &x, 8);
	take(w, lower, size, finish(mix(h, x)));
}

/* A word in lower case with other characters than ASCII. */
static void take_utf8(struct words *w, const char *word, size_t size)
{
	take(w, word, size, words_hash(word, size));
}

/* CJK characters from p on: all pairs; returns the end of the run. */
static const char *take_cjk(struct words *w, const char *p, const char *end)
{
	char pair[8];
	size_t before = 0, n_chars = 0;

	while (p < end) {
		uint32_t c;
		size_t n = unicode_get(p, (size_t)(end - p), &c);

		if (unicode_kind(c) != UNICODE_CJK)
			break;
		memcpy(pair + before, p, n);
		if (n_chars++)
			take_utf8(w, pair, before + n);
		memmove(pair, p, n);
		before = n;
		p += n;
	}
	if (n_chars == 1)
		take_utf8(w, pair, before);
	return p;
}

/* A word at p that holds more than ASCII (or no word at all): its end. */
static const char *take_other(struct words *w, const char *p, const char *end)
{
	char word[WORD_SIZE_MAX + 4];
	size_t size = 0;
	bool full = false;

	while (p < end) {
		uint32_t c;
		size_t n = unicode_get(p, (size_t)(end - p), &c);
		enum unicode_kind kind = unicode_kind(c);

		if (kind != UNICODE_WORD) {
			if (size)
				break;
			return kind == UNICODE_CJK ? take_cjk(w, p, end) : p + n;
		}
		if (!full) {
			char out[4];
			size_t m = unicode_put(unicode_lower(c), out);

			full = size + m > WORD_SIZE_MAX;
			if (!full) {
				memcpy(word + size, out, m);
				size += m;
			}
		}
		p += n;
	}
	take_utf8(w, word, size);
	return p;
}

void words_add(struct words *w, const char *text, size_t size)
{
	const char *p = text, *end = text + size;

	for (;;) {
		const char *from;

		while (p < end && !kind_of[(unsigned char)*p])
			p++;
		if (p == end)
			return;
		for (from = p; p < end && kind_of[(unsigned char)*p] == 1; p++)
			;
		if (p < end && kind_of[(unsigned char)*p] == 2)
			p = take_other(w, from, end);
		else
			take_ascii(w, from, (size_t)(p - from), end);
	}
}
