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
#include "web/text/words.h"

#include <string.h>

#include "base/map.h"
#include "base/utf8.h"
#include "web/text/simd.h"
#include "web/text/unicode.h"

#define HIGH_BITS 0x8080808080808080u
#define K1 0x9e3779b97f4a7c15u
#define K2 0xbf58476d1ce4e5b9u
#define K3 0x94d049bb133111ebu
#define WINDOW 1024

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

static inline bool is_ascii_word(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9');
}

/* One bit for each of 16 bytes: a letter, a digit, or beyond ASCII; and the bytes
 * in lower case to `lower`, where they are letters or digits. */
static inline uint64_t read_16(const char *p, char *lower)
{
#ifdef __SSE2__
	__m128i v = _mm_loadu_si128((const void *)p);
	__m128i alpha = _mm_sub_epi8(_mm_or_si128(v, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
	__m128i digit = _mm_sub_epi8(v, _mm_set1_epi8('0'));
	__m128i is = _mm_or_si128(
		_mm_cmpeq_epi8(_mm_min_epu8(alpha, _mm_set1_epi8(25)), alpha),
		_mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit));

	_mm_storeu_si128((void *)lower, _mm_or_si128(v, _mm_srli_epi16(
		_mm_and_si128(v, _mm_set1_epi8(0x40)), 1)));
	return (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_or_si128(is, v));
#else
	uint64_t mask = 0;

	for (int i = 0; i < 16; i++) {
		lower[i] = (char)(p[i] | (p[i] & 0x40) >> 1);
		mask |= (uint64_t)(is_ascii_word(p[i]) || p[i] & 0x80) << i;
	}
	return mask;
#endif
}

static inline uint64_t read_64(const char *p, char *lower)
{
	return read_16(p, lower) | read_16(p + 16, lower + 16) << 16 |
	       read_16(p + 32, lower + 32) << 32 | read_16(p + 48, lower + 48) << 48;
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

/* A piece of text being looked at. */
struct window {
	uint16_t edge[WINDOW + 8];      /* begin and end of each run; written ahead */
	char lower[WINDOW + 80];        /* its bytes in lower case; read ahead */
};

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
static void take_odd(struct words *w, const char *text, const struct window *in, size_t i)
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
                                   const struct window *in, size_t n)
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

/* Sixty-four bytes at `at` of a window: out gets the edges of runs among them. */
static SIMD_INLINE uint16_t *put_edges(uint16_t *out, size_t at, uint64_t word,
                                       uint64_t *open)
{
	uint64_t edges = word ^ (word << 1 | *open);    /* begins, and behind ends */

	*open = word >> 63;
	for (; edges; edges &= edges - 1)
		*out++ = (uint16_t)(at + (size_t)__builtin_ctzll(edges));
	return out;
}

static inline uint16_t *read_edges(uint16_t *out, size_t at, const char *p, char *lower,
                                   uint64_t *open)
{
	return put_edges(out, at, read_64(p, lower), open);
}

/* The edges of all runs in a window, 64 bytes at a time; a run that is open at its end
 * is closed there.  Returns their number. */
static SIMD_INLINE size_t find_by(const char *text, size_t size, struct window *in,
                                  uint16_t *(*read)(uint16_t *, size_t, const char *, char *,
                                                    uint64_t *))
{
	uint16_t *out = in->edge;
	uint64_t open = 0;
	char tail[64];

	for (size_t at = 0; at < size; at += 64) {
		const char *p = text + at;

		if (size - at < 64) {
			memset(tail, ' ', sizeof tail);
			memcpy(tail, p, size - at);
			p = tail;
		}
		out = read(out, at, p, in->lower + at, &open);
	}
	if (open)
		*out++ = (uint16_t)size;
	return (size_t)(out - in->edge);
}

static size_t find_edges(const char *text, size_t size, struct window *in)
{
	return find_by(text, size, in, read_edges);
}

#ifdef SIMD_HAS_V3
SIMD_V3 static inline uint32_t read_32(const char *p, char *lower)
{
	__m256i v = _mm256_loadu_si256((const void *)p);
	__m256i alpha = _mm256_sub_epi8(_mm256_or_si256(v, _mm256_set1_epi8(0x20)),
		_mm256_set1_epi8('a'));
	__m256i digit = _mm256_sub_epi8(v, _mm256_set1_epi8('0'));
	__m256i is = _mm256_or_si256(
		_mm256_cmpeq_epi8(_mm256_min_epu8(alpha, _mm256_set1_epi8(25)), alpha),
		_mm256_cmpeq_epi8(_mm256_min_epu8(digit, _mm256_set1_epi8(9)), digit));

	_mm256_storeu_si256((void *)lower, _mm256_or_si256(v, _mm256_srli_epi16(
		_mm256_and_si256(v, _mm256_set1_epi8(0x40)), 1)));
	return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(is, v));
}

/* Eight edges at a time, more than there are: nothing to guess. */
SIMD_V3 static inline uint16_t *put_edges_v3(uint16_t *out, size_t at, uint64_t word,
                                             uint64_t *open)
{
	uint64_t edges = word ^ (word << 1 | *open);
	size_t n = (size_t)_mm_popcnt_u64(edges);

	*open = word >> 63;
	for (size_t i = 0; i < n; i += 8) {
#pragma GCC unroll 8
		for (size_t k = 0; k < 8; k++) {
			out[i + k] = (uint16_t)(at + _tzcnt_u64(edges));
			edges = _blsr_u64(edges);
		}
	}
	return out + n;
}

SIMD_V3 static inline uint16_t *read_edges_v3(uint16_t *out, size_t at, const char *p,
                                              char *lower, uint64_t *open)
{
	return put_edges_v3(out, at, read_32(p, lower) | (uint64_t)read_32(p + 32, lower + 32) << 32,
	                    open);
}

SIMD_V3 static size_t find_edges_v3(const char *text, size_t size, struct window *in)
{
	return find_by(text, size, in, read_edges_v3);
}
#endif

/*
 * By windows, so that what is found in one stays in the cache.  A run that
 * reaches the end of a window begins the next one, unless it fills it: then its
 * end is looked for on its own.
 */
static SIMD_INLINE void add_text(struct words *w, const char *text, size_t size,
                                 size_t (*find)(const char *, size_t, struct window *))
{
	const char *p = text, *end = text + size;
	struct window in;

	while (p < end) {
		size_t n = (size_t)(end - p), n_edges;
		bool last = n <= WINDOW;

		n = last ? n : WINDOW;
		n_edges = find(p, n, &in);
		if (!last && n_edges && in.edge[n_edges - 1] == WINDOW) {
			n_edges -= 2;
			n = in.edge[n_edges];
		}
		if (w->n_batch + WINDOW / 2 + 1 > WORDS_BATCH)
			flush(w);       /* words have a byte between them */
		if (!n) {               /* one run fills the window */
			while (p + n < end && (p[n] & 0x80 || is_ascii_word(p[n])))
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
	add_text(w, text, size, find_edges_v3);
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
	add_text(w, text, size, find_edges);
}
