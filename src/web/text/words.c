/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - splitting text into words, hashing them on the way.
 *
 * words_edges.c finds where runs of letters, digits and bytes beyond ASCII begin and end;
 * here, in a loop without surprises, is each run looked at.  A run of ASCII is a word; it
 * is put in lower case and hashed sixteen bytes at once (bit 0x40 tells letters
 * from digits, so lower case is one shift).  A run with other characters is read
 * one by one.
 */
#include "web/text/words.h"

#include <string.h>

#include "base/map.h"
#include "base/utf8.h"
#include "web/text/simd.h"
#include "web/text/unicode.h"
#include "web/text/words_edges.h"

#define HIGH_BITS 0x8080808080808080u
#define K1 0x9e3779b97f4a7c15u
#define K2 0xbf58476d1ce4e5b9u
#define K3 0x94d049bb133111ebu

/* Two numbers to one through the whole of their product. */
static SIMD_INLINE uint64_t fold_product(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static SIMD_INLINE uint64_t mix(uint64_t h, uint64_t low, uint64_t high)
{
	return fold_product(h ^ low ^ K1, high ^ K2);
}

static SIMD_INLINE uint64_t finish(uint64_t h)
{
	h *= K3;
	return h ^ h >> 32;
}

/* Sixteen bytes at a time, the last ones filled up with NUL. */
uint64_t words_hash(const char *word, size_t size)
{
	uint64_t h = size;

	for (; size > 16; word += 16, size -= 16)
		h = mix(h, hash_load(word, 8), hash_load(word + 8, 8));
	if (size > 8)
		h = mix(h, hash_load(word, 8), hash_load(word + 8, size - 8));
	else
		h = mix(h, hash_load(word, size), 0);
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

/* The feature that a word is: itself with the one before. */
static SIMD_INLINE uint64_t feature(uint64_t hash, uint64_t last)
{
	return finish(hash + (last << 23 | last >> 41));
}

static void flush(struct words *w)
{
	simhash_add(&w->simhash, w->batch, w->n_batch);
	w->n_batch = 0;
}

static inline void push(struct words *w, uint64_t hash)
{
	if (w->n_batch == WORDS_BATCH)
		flush(w);
	w->batch[w->n_batch++] = feature(hash, w->last);
	w->last = hash;
}

static inline void take(struct words *w, const char *word, size_t size, uint64_t hash)
{
	w->n++;
	if (w->each)
		w->each(w->arg, word, size, hash);
	if (!w->no_simhash)
		push(w, w->fold_digits ? folded_hash(word, size) : hash);
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
			size_t m = utf8_put(unicode_lower(c), out);

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

/* A word of at most 16 bytes as two numbers; bytes behind it are zero. */
struct short_word {
	uint64_t x, y;
	bool ascii;
};

static SIMD_INLINE struct short_word read_short(const char *p, size_t size)
{
	/* as many ones as the word has bytes, by where one begins to read */
	static const unsigned char ones[32] = {
		255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	};
#ifdef __SSE2__
	__m128i v = _mm_and_si128(_mm_loadu_si128((const void *)p),
		_mm_loadu_si128((const void *)(ones + 16 - size)));

	return (struct short_word){ (uint64_t)_mm_cvtsi128_si64(v),
		(uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(v, v)), !_mm_movemask_epi8(v) };
#else
	uint64_t x, y, ones_x, ones_y;

	memcpy(&x, p, 8);
	memcpy(&y, p + 8, 8);
	memcpy(&ones_x, ones + 16 - size, 8);
	memcpy(&ones_y, ones + 24 - size, 8);
	x &= ones_x;
	y &= ones_y;
	return (struct short_word){ x, y, !((x | y) & HIGH_BITS) };
#endif
}

/* A run that is not a short word of ASCII, or of which more is asked. */
static void take_odd(struct words *w, const char *text, const struct words_window *in, size_t i)
{
	size_t from = in->edge[2 * i], size = (size_t)in->edge[2 * i + 1] - from;
	struct short_word s = { 0 };

	if (size <= 16)
		s = read_short(in->lower + from, size);
	if (s.ascii) {
		uint64_t word[2] = { s.x, s.y };

		take(w, (const char *)word, size, mix(size, s.x, s.y));
	} else {
		take_run(w, text + from, size);
	}
}

/* n runs of a window; there is room in the batch for all of them. */
static SIMD_INLINE void take_words(struct words *w, const char *text,
                                   const struct words_window *in, size_t n)
{
	bool plain = !w->each && !w->fold_digits && !w->no_simhash;
	uint64_t *out = w->batch + w->n_batch, last = w->last;
	size_t odd = 0;

	for (size_t i = 0; i < n; i++) {
		size_t from = in->edge[2 * i], size = (size_t)in->edge[2 * i + 1] - from;

		if (size <= 16 && plain) {
			struct short_word s = read_short(in->lower + from, size);
			uint64_t h = mix(size, s.x, s.y);

			if (s.ascii) {
				*out++ = feature(h, last);
				last = h;
				continue;
			}
		}
		odd++;
		w->n_batch = (size_t)(out - w->batch);
		w->last = last;
		take_odd(w, text, in, i);
		out = w->batch + w->n_batch;
		last = w->last;
	}
	w->n += n - odd;
	w->n_batch = (size_t)(out - w->batch);
	w->last = last;
}

/*
 * By windows, so that what is found in one stays in the cache.  A run that
 * reaches the end of a window begins the next one, unless it fills it: then its
 * end is looked for on its own.
 */
static SIMD_INLINE void add_text(struct words *w, const char *text, size_t size,
                                 size_t (*find)(const char *, size_t, struct words_window *))
{
	const char *p = text, *end = text + size;
	struct words_window in;

	while (p < end) {
		size_t n = (size_t)(end - p), n_edges;
		bool last = n <= WORDS_WINDOW;

		n = last ? n : WORDS_WINDOW;
		n_edges = find(p, n, &in);
		if (!last && n_edges && in.edge[n_edges - 1] == WORDS_WINDOW) {
			n_edges -= 2;
			n = in.edge[n_edges];
		}
		if (w->n_batch + WORDS_WINDOW / 2 + 1 > WORDS_BATCH)
			flush(w);       /* words have a byte between them */
		if (!n) {               /* one run fills the window */
			while (p + n < end && (p[n] & 0x80 || words_is_ascii(p[n])))
				n++;
			take_run(w, p, n);
		} else {
			take_words(w, p, &in, n_edges / 2);
		}
		p += n;
	}
	flush(w);
}

#ifdef SIMD_HAS_V3
SIMD_V3 static void add_text_v3(struct words *w, const char *text, size_t size)
{
	add_text(w, text, size, words_edges_v3);
}
#endif

void words_add(struct words *w, const char *text, size_t size)
{
#ifdef SIMD_HAS_V3
	if (simd_v3()) {
		add_text_v3(w, text, size);
		return;
	}
#endif
	add_text(w, text, size, words_edges);
}
