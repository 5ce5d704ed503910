/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - splitting text into words, hashing them on the way.
 *
 * Sixty-four bytes at a time become a mask of letters, digits and bytes beyond
 * ASCII, and the mask a list of where its runs of ones begin and end; only then,
 * in a loop without surprises, is each run looked at.  A run of ASCII is a word; it
 * is put in lower case and hashed sixteen bytes at once (bit 0x40 tells letters
 * from digits, so lower case is one shift).  A run with other characters is read
 * one by one.
 */
#include "web/words.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "web/unicode.h"

#define LETTERS 0x4040404040404040u
#define HIGH_BITS 0x8080808080808080u
#define K1 0x9e3779b97f4a7c15u
#define K2 0xbf58476d1ce4e5b9u
#define K3 0x94d049bb133111ebu
#define WINDOW 4096

/* Two numbers to one through the whole of their product. */
static inline uint64_t fold_product(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t mix(uint64_t h, uint64_t low, uint64_t high)
{
	return fold_product(h ^ low ^ K1, high ^ K2);
}

static inline uint64_t finish(uint64_t h)
{
	h *= K3;
	return h ^ h >> 32;
}

static inline uint64_t load(const char *p, size_t n)
{
	uint64_t x = 0;

	memcpy(&x, p, n);
	return x;
}

/* Sixteen bytes at a time, the last ones filled up with NUL. */
uint64_t words_hash(const char *word, size_t size)
{
	uint64_t h = size;

	for (; size > 16; word += 16, size -= 16)
		h = mix(h, load(word, 8), load(word + 8, 8));
	if (size > 8)
		h = mix(h, load(word, 8), load(word + 8, size - 8));
	else
		h = mix(h, load(word, size), 0);
	return h;
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

/* The features are words with the one before. */
static void flush(struct words *w)
{
	uint64_t last = w->last;

	for (size_t i = 0; i < w->n_batch; i++) {
		uint64_t hash = w->batch[i];

		w->batch[i] = finish(hash + (last << 23 | last >> 41));
		last = hash;
	}
	w->last = last;
	simhash_add(&w->simhash, w->batch, w->n_batch);
	w->n_batch = 0;
}

static inline void push(struct words *w, uint64_t hash)
{
	if (w->n_batch == WORDS_BATCH)
		flush(w);
	w->batch[w->n_batch++] = hash;
}

static inline void take(struct words *w, const char *word, size_t size, uint64_t hash)
{
	w->n++;
	if (w->each)
		w->each(w->arg, word, size, hash);
	if (!w->no_simhash)
		push(w, w->fold_digits ? folded_hash(word, size) : hash);
}

static inline uint64_t lower_8(uint64_t x)
{
	return x | (x & LETTERS) >> 1;
}

/* An ASCII word of any size, anywhere. */
static void take_ascii(struct words *w, const char *p, size_t size)
{
	char lower[WORD_SIZE_MAX];

	if (size > WORD_SIZE_MAX)
		size = WORD_SIZE_MAX;
	for (size_t i = 0; i < size; i++)
		lower[i] = (char)(p[i] | (p[i] & 0x40) >> 1);
	take(w, lower, size, words_hash(lower, size));
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

static inline bool is_ascii_word(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9');
}

/* One bit for each of 16 bytes: a letter, a digit, or beyond ASCII. */
static inline uint64_t mask_16(const char *p)
{
#ifdef __SSE2__
	__m128i v = _mm_loadu_si128((const void *)p);
	__m128i alpha = _mm_sub_epi8(_mm_or_si128(v, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
	__m128i digit = _mm_sub_epi8(v, _mm_set1_epi8('0'));
	__m128i is = _mm_or_si128(
		_mm_cmpeq_epi8(_mm_min_epu8(alpha, _mm_set1_epi8(25)), alpha),
		_mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit));

	return (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_or_si128(is, v));
#else
	uint64_t mask = 0;

	for (int i = 0; i < 16; i++)
		mask |= (uint64_t)(is_ascii_word(p[i]) || p[i] & 0x80) << i;
	return mask;
#endif
}

static inline uint64_t word_mask(const char *p)
{
	return mask_16(p) | mask_16(p + 16) << 16 | mask_16(p + 32) << 32 |
	       mask_16(p + 48) << 48;
}

/* A run of letters, digits and bytes beyond ASCII. */
static void take_run(struct words *w, const char *p, size_t size)
{
	const char *end = p + size;

	for (size_t i = 0; i < size; i++)
		if (p[i] & 0x80) {
			while (p < end)
				p = take_other(w, p, end);
			return;
		}
	take_ascii(w, p, size);
}

/*
 * n runs of a window, begin and end of each in `edge`.  The commonest, a word of
 * at most 16 ASCII bytes, is two numbers whatever its length.
 */
static void take_words(struct words *w, const char *text, const uint16_t *edge, size_t n,
                       const char *end)
{
	/* which bytes of the first and of the second number belong to it */
#define ONES(n) (~(uint64_t)0 >> 8 * (8 - (n)))
	static const uint64_t first[17] = {
		0, ONES(1), ONES(2), ONES(3), ONES(4), ONES(5), ONES(6), ONES(7), ONES(8),
		ONES(8), ONES(8), ONES(8), ONES(8), ONES(8), ONES(8), ONES(8), ONES(8),
	};
	static const uint64_t second[17] = {
		[9] = ONES(1), ONES(2), ONES(3), ONES(4), ONES(5), ONES(6), ONES(7), ONES(8),
	};
#undef ONES
	bool plain = !w->each && !w->fold_digits && !w->no_simhash;
	ptrdiff_t readable = end - text - 16;   /* last place to read 16 bytes from */
	size_t taken = 0;

	for (; n--; edge += 2) {
		const char *p = text + edge[0];
		size_t size = (size_t)edge[1] - edge[0];
		uint64_t x, y, h;

		if (size > 16 || edge[0] > readable) {
			take_run(w, p, size);
			continue;
		}
		memcpy(&x, p, 8);
		memcpy(&y, p + 8, 8);
		x &= first[size];
		y &= second[size];
		if ((x | y) & HIGH_BITS) {
			take_run(w, p, size);
			continue;
		}
		x = lower_8(x);
		y = lower_8(y);
		h = mix(size, x, y);
		if (plain) {
			taken++;
			push(w, h);
		} else {
			uint64_t word[2] = { x, y };

			take(w, (const char *)word, size, h);
		}
	}
	w->n += taken;
}

/* The edges of all runs in a window; a run that is open at its end is closed
 * there.  Returns their number. */
static size_t find_edges(const char *text, size_t size, uint16_t *edge)
{
	uint64_t open = 0;
	uint16_t *out = edge;
	char tail[64];

	for (size_t at = 0; at < size; at += 64) {
		uint64_t word, edges;

		if (size - at >= 64) {
			word = word_mask(text + at);
		} else {
			memset(tail, ' ', sizeof tail);
			memcpy(tail, text + at, size - at);
			word = word_mask(tail);
		}
		/* one where a run begins, one behind its end */
		edges = word ^ (word << 1 | open);
		open = word >> 63;
		while (edges) {
			*out++ = (uint16_t)(at + (size_t)__builtin_ctzll(edges));
			edges &= edges - 1;
		}
	}
	if (open)
		*out++ = (uint16_t)size;
	return (size_t)(out - edge);
}

/*
 * By windows, so that what is found in one stays in the cache.  A run that
 * reaches the end of a window begins the next one, unless it fills it: then its
 * end is looked for on its own.
 */
void words_add(struct words *w, const char *text, size_t size)
{
	const char *p = text, *end = text + size;
	uint16_t edge[WINDOW + 2];

	while (p < end) {
		size_t n = (size_t)(end - p), n_edges;
		bool last = n <= WINDOW;

		n_edges = find_edges(p, last ? n : WINDOW, edge);
		n = last ? n : WINDOW;
		if (!last && n_edges && edge[n_edges - 1] == WINDOW) {
			n_edges -= 2;
			n = edge[n_edges];
		}
		if (!n) {               /* one run fills the window */
			while (p + n < end && (p[n] & 0x80 || is_ascii_word(p[n])))
				n++;
			take_run(w, p, n);
		} else {
			take_words(w, p, edge, n_edges / 2, end);
		}
		p += n;
	}
	flush(w);
}
