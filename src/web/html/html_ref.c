/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_ref.c - character references, and making ranges read as they should.
 *
 * The names are one sorted table of fixed rows.  The longest name that begins
 * the text is found by narrowing the table letter by letter: the rows that share
 * the letters read so far are neighbours.  At most 32 letters are read, so time is
 * bounded whatever stands there.
 */
#include "base/utf8.h"
#include "web/html/html_inner.h"
#include "web/html/html_scan.h"

struct entity {
	char name[32];                  /* no NUL when it fills the row */
	uint8_t name_size, text_size;
	char text[6];
};

#define FIRST(letter, number)
#define ENTITY(name, text) { name, sizeof(name) - 1, sizeof(text) - 1, text },
static const struct entity entities[] = {
#include "web/html/entities.inc"
};
#undef FIRST
#undef ENTITY

/* Where the names of a letter begin; they end where the next letter's begin. */
static const uint16_t first_row[128] = {
#define FIRST(letter, number) [letter] = (number),
#define ENTITY(name, text)
#include "web/html/entities.inc"
#undef FIRST
#undef ENTITY
};

#define N_ENTITIES (sizeof entities / sizeof entities[0])
#define NAME_MAX_SIZE 32

/* First row in [lo, hi) whose letter i is not below c (rows share letters 0..i-1;
 * a row that ends there has letter NUL). */
static size_t lower_row(size_t lo, size_t hi, size_t i, unsigned char c)
{
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if ((unsigned char)entities[mid].name[i] < c)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The longest entity that begins the text (a letter), or NULL. */
static const struct entity *find_entity(const char *data, size_t size)
{
	const struct entity *best = NULL;
	unsigned char letter = (unsigned char)data[0];
	size_t lo = first_row[letter];
	size_t hi = letter == 'Z' ? first_row['a'] :
	            letter == 'z' ? N_ENTITIES : first_row[letter + 1];

	/* all letters begin names, so no row of first_row is unset */
	for (size_t i = 1; i < size && i < NAME_MAX_SIZE; i++) {
		unsigned char c = (unsigned char)data[i];

		lo = lower_row(lo, hi, i, c);
		hi = lower_row(lo, hi, i, (unsigned char)(c + 1));
		if (lo == hi || c == 0 || c >= 127)
			break;
		if (entities[lo].name_size == i + 1)
			best = &entities[lo];
	}
	return best;
}

/* What a number stands for: windows-1252 where C1 controls were meant. */
static uint32_t reference_char(uint32_t c)
{
	static const uint16_t c1[32] = {
		0x20ac, 0x81, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
		0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8d, 0x017d, 0x8f,
		0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
		0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d, 0x017e, 0x0178,
	};

	if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0xfffd;
	return c >= 0x80 && c < 0xa0 ? c1[c - 0x80] : c;
}

static int digit_of(char c, bool hex)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (hex && scan_class_of(c) & IS_ALPHA && scan_lower(c) <= 'f')
		return scan_lower(c) - 'a' + 10;
	return -1;
}

static size_t numeric_reference(const char *data, size_t size, char *out,
                                size_t *ret_out_size)
{
	size_t i = 2;
	bool hex = size > 2 && (data[2] == 'x' || data[2] == 'X');
	uint32_t c = 0;
	int digit;

	if (hex)
		i++;
	if (i >= size || digit_of(data[i], hex) < 0)
		return 0;
	for (; i < size && (digit = digit_of(data[i], hex)) >= 0; i++)
		if (c <= 0x10ffff)
			c = c * (hex ? 16 : 10) + (uint32_t)digit;
	if (i < size && data[i] == ';')
		i++;
	*ret_out_size = utf8_put(reference_char(c), out);
	return i;
}

size_t html_reference(const char *data, size_t size, bool in_attribute,
                      char *out, size_t *ret_out_size)
{
	const struct entity *e;
	size_t used;

	if (size < 2)
		return 0;
	if (data[1] == '#')
		return numeric_reference(data, size, out, ret_out_size);
	if (!(scan_class_of(data[1]) & IS_ALPHA))
		return 0;
	/* most references by far are these */
	if (size >= 4 && data[3] == ';' && data[2] == 't' && (data[1] == 'l' || data[1] == 'g')) {
		*out = data[1] == 'l' ? '<' : '>';
		*ret_out_size = 1;
		return 4;
	}
	if (size >= 5 && !memcmp(data + 1, "amp;", 4)) {
		*out = '&';
		*ret_out_size = 1;
		return 5;
	}
	if (size >= 6 && !memcmp(data + 1, "nbsp;", 5)) {
		*ret_out_size = utf8_put(0xa0, out);
		return 6;
	}
	e = find_entity(data + 1, size - 1);
	if (!e)
		return 0;
	used = 1u + e->name_size;
	if (in_attribute && data[used - 1] != ';' && used < size &&
	    (data[used] == '=' || scan_class_of(data[used]) & (IS_ALPHA | IS_DIGIT)))
		return 0;
	memcpy(out, e->text, sizeof e->text);
	*ret_out_size = e->text_size;
	return used;
}

void html_clean(struct html *t, struct html_str *s)
{
	const char *p = s->data, *end;
	unsigned dirt = s->dirt;
	char *out, *q;

	if (!dirt)
		return;
	/* the result may be longer: a NUL becomes 3 bytes, a reference grows by 1/5 at most */
	q = out = arena_alloc(&t->scratch, s->size * 3 + 8);
	end = p + s->size;
	while (p < end) {
		char c = *p;
		size_t out_size, used;

		if (c == '&' && dirt & HTML_HAS_REF &&
		    (used = html_reference(p, (size_t)(end - p), true, q, &out_size))) {
			p += used;
			q += out_size;
			continue;
		}
		p++;
		if (c == '\r') {
			if (p < end && *p == '\n')
				continue;
			c = '\n';
		} else if (c == '\0') {
			q += utf8_put(0xfffd, q);
			continue;
		} else if (dirt & HTML_HAS_UPPER) {
			c = scan_lower(c);
		}
		*q++ = c;
	}
	*s = (struct html_str){ out, (size_t)(q - out), HTML_CLEAN };
}
