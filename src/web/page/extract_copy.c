/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_copy.c - text into the page's text, white space put right on the way.
 *
 * A run of text between two tags is short, some 27 bytes, so what costs is not the
 * bytes but the questions: does it begin with white space, end with it, how long is
 * it?  Thirty-two bytes become two masks, white space and markup, from which all
 * of that is computed; in most runs nothing is left to guess but whether there is
 * text at all.  Single white space inside is copied as a space with the rest.
 */
#include "web/page/extract_inner.h"
#include "web/text/simd.h"

#define COPY_PIECE 4096
#define WINDOW 32

static inline bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Write the pending white space, unless nothing was written before it. */
static inline char *put_pending(char *q, unsigned wait, const char *begin)
{
	static const char what[] = { [PENDING_NONE] = ' ', [PENDING_SPACE] = ' ',
	                             [PENDING_LINE] = '\n' };

	*q = what[wait];
	return q + (wait && q != begin);
}

/* Write the pending white space and a byte.  White space is not written: it becomes
 * pending. */
static inline char *copy_byte(char *q, char c, unsigned *wait, const char *begin)
{
	if (is_blank(c)) {
		*wait = *wait ? *wait : PENDING_SPACE;
		return q;
	}
	q = put_pending(q, *wait, begin);
	*q++ = c;
	*wait = PENDING_NONE;
	return q;
}

#ifdef __SSE2__
struct window {
	unsigned blanks, marks;         /* a bit for each byte: white space; < & NUL */
};

/* All ones where there is white space other than a space. */
static inline __m128i other_blanks(__m128i v)
{
	__m128i x = _mm_sub_epi8(v, _mm_set1_epi8('\t'));

	return _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8('\r' - '\t')), x);
}

static inline unsigned blank_bits(__m128i v)
{
	return (unsigned)_mm_movemask_epi8(_mm_or_si128(other_blanks(v),
		_mm_cmpeq_epi8(v, _mm_set1_epi8(' '))));
}

static inline unsigned mark_bits(__m128i v)
{
	return (unsigned)_mm_movemask_epi8(_mm_or_si128(
		_mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('<')),
		             _mm_cmpeq_epi8(v, _mm_set1_epi8('&'))),
		_mm_cmpeq_epi8(v, _mm_setzero_si128())));
}

static inline __m128i load_16(const char *p)
{
	return _mm_loadu_si128((const void *)p);
}

static inline struct window look(const char *p)
{
	__m128i a = load_16(p), b = load_16(p + 16);

	return (struct window){ blank_bits(a) | blank_bits(b) << 16,
	                        mark_bits(a) | mark_bits(b) << 16 };
}

static inline void copy_16(const char *p, char *q)
{
	__m128i v = load_16(p), other = other_blanks(v);

	_mm_storeu_si128((void *)q, _mm_or_si128(_mm_andnot_si128(other, v),
		_mm_and_si128(other, _mm_set1_epi8(' '))));
}

/* Copying window by window: next byte to read, next to write, what is pending. */
struct copying {
	const char *p;
	char *q;
	unsigned wait;
};

/*
 * Copy text from c->p on, while two windows fit before `end`; stop at `stop` or a little
 * after it.  True: the text ended at markup.
 */
static inline bool copy_windows(struct copying *c, const char *stop, const char *end,
                                const char *begin)
{
	const char *p = c->p;
	char *q = c->q;
	unsigned wait = c->wait;
	bool ended = false;

	while (p < stop && end - p >= 2 * WINDOW) {
		struct window w = look(p);
		unsigned lead, size, halt;

		if (w.blanks == ~0u) {
			wait = wait ? wait : PENDING_SPACE;
			p += WINDOW;
			continue;
		}
		lead = (unsigned)__builtin_ctz(~w.blanks);
		wait = lead && !wait ? PENDING_SPACE : wait;
		w.blanks >>= lead;
		w.marks >>= lead;
		p += lead;
		if (w.marks & 1) {
			ended = true;
			break;
		}
		q = put_pending(q, wait, begin);
		copy_16(p, q);
		copy_16(p + 16, q + 16);
		halt = w.marks | (w.blanks & (w.blanks | w.marks) >> 1);
		if (!halt) {            /* white space at its end goes into the next window */
			size = WINDOW - lead - (w.blanks >> (WINDOW - 1 - lead) & 1);
			p += size;
			q += size;
			wait = PENDING_NONE;
			continue;
		}
		size = (unsigned)__builtin_ctz(halt);
		w.blanks >>= size;
		wait = w.blanks & 1 ? PENDING_SPACE : PENDING_NONE;
		q += size;
		size += (unsigned)__builtin_ctz(~w.blanks);
		p += size;
		if (size < WINDOW && w.marks >> size & 1) {
			ended = true;
			break;
		}
	}
	*c = (struct copying){ p, q, wait };
	return ended;
}
#endif

const char *extract_copy_text(struct buf *out, unsigned *pending, const char *p,
                              const char *end)
{
	const char *stop = end - p > COPY_PIECE ? p + COPY_PIECE : end;
	char *room = buf_room(out, (size_t)(stop - p) + 2 * WINDOW), *q = room;
	unsigned wait = *pending;

	if (!room)
		return p;
#ifdef __SSE2__
	struct copying c = { p, q, wait };
	bool ended = copy_windows(&c, stop, end, out->data);

	p = c.p;
	q = c.q;
	wait = c.wait;
	if (ended)
		stop = p;
#endif
	for (; p < stop && *p != '<' && *p != '&' && *p; p++)
		q = copy_byte(q, *p, &wait, out->data);
	*pending = wait;
	out->size += (size_t)(q - room);
	return p;
}

/* Byte by byte: pieces are short here (references, text that the tokenizer cleaned) or
 * rare (raw text). */
void extract_add_text(struct buf *out, unsigned *pending, const char *p, size_t size)
{
	const char *end = p + size;
	char *room = buf_room(out, size + 1), *q = room;
	unsigned wait = *pending;

	if (!room)
		return;
	for (; p < end; p++)
		q = copy_byte(q, *p, &wait, out->data);
	*pending = wait;
	out->size += (size_t)(q - room);
}
