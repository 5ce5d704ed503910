/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_tag.c - start and end tags with their attributes.
 *
 * Names and values stay ranges of the input; a name with capitals or NULs is put
 * right at once (it is compared), a value only when the caller asks for it.
 * Duplicate attributes are found by the packed last eight bytes of the name; a
 * tag with more than a handful gets a small hash table, so that a tag with many
 * thousand attributes costs linear time too.
 */
#include "web/html/html_inner.h"
#include "web/html/html_scan.h"

#include "base/map.h"

#define FEW_ATTRS 12

#define S (IS_SPACE | ENDS_TAG_NAME | ENDS_ATTR_NAME | ENDS_UNQUOTED)
#define U (IS_UPPER | IS_ALPHA)
#define L IS_ALPHA
const unsigned char scan_class[256] = {
	['\0'] = IS_NUL, ['\t'] = S, ['\n'] = S, ['\f'] = S, ['\r'] = S, [' '] = S,
	['/'] = ENDS_TAG_NAME | ENDS_ATTR_NAME, ['='] = ENDS_ATTR_NAME,
	['>'] = ENDS_TAG_NAME | ENDS_ATTR_NAME | ENDS_UNQUOTED,
	['0'] = IS_DIGIT, ['1'] = IS_DIGIT, ['2'] = IS_DIGIT, ['3'] = IS_DIGIT,
	['4'] = IS_DIGIT, ['5'] = IS_DIGIT, ['6'] = IS_DIGIT, ['7'] = IS_DIGIT,
	['8'] = IS_DIGIT, ['9'] = IS_DIGIT,
	['A'] = U, ['B'] = U, ['C'] = U, ['D'] = U, ['E'] = U, ['F'] = U, ['G'] = U,
	['H'] = U, ['I'] = U, ['J'] = U, ['K'] = U, ['L'] = U, ['M'] = U, ['N'] = U,
	['O'] = U, ['P'] = U, ['Q'] = U, ['R'] = U, ['S'] = U, ['T'] = U, ['U'] = U,
	['V'] = U, ['W'] = U, ['X'] = U, ['Y'] = U, ['Z'] = U,
	['a'] = L, ['b'] = L, ['c'] = L, ['d'] = L, ['e'] = L, ['f'] = L, ['g'] = L,
	['h'] = L, ['i'] = L, ['j'] = L, ['k'] = L, ['l'] = L, ['m'] = L, ['n'] = L,
	['o'] = L, ['p'] = L, ['q'] = L, ['r'] = L, ['s'] = L, ['t'] = L, ['u'] = L,
	['v'] = L, ['w'] = L, ['x'] = L, ['y'] = L, ['z'] = L,
};
#undef S
#undef U
#undef L

#ifdef __SSE2__
/* The size of a name that ends within sixteen bytes, at a byte of class `stop`, and needs
 * no cleaning; nearly all names are like that.  Else 0. */
static inline size_t short_name(const char *p, const char *end, unsigned stop)
{
	__m128i v, upper, ends;
	unsigned mask;
	size_t n;

	if (end - p < 16)
		return 0;
	v = _mm_loadu_si128((const void *)p);
	upper = _mm_sub_epi8(v, _mm_set1_epi8('A'));
	upper = _mm_cmpeq_epi8(_mm_min_epu8(upper, _mm_set1_epi8(25)), upper);
	ends = _mm_or_si128(
		_mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('>')),
		             _mm_cmpeq_epi8(v, _mm_set1_epi8('/'))),
		_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(' ')), v));
	if (stop == ENDS_ATTR_NAME)
		ends = _mm_or_si128(ends, _mm_cmpeq_epi8(v, _mm_set1_epi8('=')));
	mask = (unsigned)_mm_movemask_epi8(_mm_or_si128(ends, upper));
	if (!mask)
		return 0;
	n = (size_t)__builtin_ctz(mask);
	return scan_class_of(p[n]) & stop ? n : 0;      /* not a capital, not a control */
}

/* The key of a name of n > 0 bytes with eight readable from p on. */
static inline uint64_t short_key(const char *p, size_t n)
{
	uint64_t x;

	memcpy(&x, n > 8 ? p + n - 8 : p, 8);
	x = __builtin_bswap64(x);
	return n > 8 ? x : x >> (64 - 8 * n);
}
#endif

/* Read a name up to a byte of class `stop`: its range, what in it needs cleaning (dirt),
 * and its key. */
static inline const char *read_name(const char *p, const char *end, unsigned stop,
                                    struct html_str *ret, uint64_t *ret_key)
{
	const char *from = p;
	uint64_t key = 0;
	unsigned seen = 0;

#ifdef __SSE2__
	size_t n = stop ? short_name(p, end, stop) : 0;

	if (n) {
		*ret_key = short_key(p, n);
		*ret = (struct html_str){ p, n, HTML_CLEAN };
		return p + n;
	}
#endif
	for (; p < end; p++) {
		unsigned class = scan_class_of(*p);

		if (class & stop)
			break;
		seen |= class;
		key = key << 8 | ((unsigned char)*p | (class & IS_UPPER) << 4);
	}
	*ret_key = key;
	ret->data = from;
	ret->size = (size_t)(p - from);
	ret->dirt = (seen & IS_UPPER ? HTML_HAS_UPPER : 0u) |
	            (seen & IS_NUL ? HTML_HAS_NUL : 0u);
	return p;
}

static bool same_name(const struct html_attr *a, const struct html_attr *b)
{
	return a->key == b->key && a->name_size == b->name_size &&
	       (a->name_size <= 8 || !memcmp(a->name, b->name, a->name_size));
}

/* Put attribute i into the table of names, unless its name is there. */
static bool seen_before(struct html *t, size_t i)
{
	const struct html_attr *a = &t->attrs.v[i];
	size_t mask = t->seen_size - 1;
	size_t at = (size_t)hash_bytes(a->name, a->name_size, 0) & mask;

	for (; t->seen[at]; at = (at + 1) & mask)
		if (same_name(&t->attrs.v[t->seen[at] - 1], a))
			return true;
	t->seen[at] = (uint32_t)i + 1;
	return false;
}

static bool is_duplicate(struct html *t, size_t i)
{
	if (i < FEW_ATTRS) {
		for (size_t k = 0; k < i; k++)
			if (same_name(&t->attrs.v[k], &t->attrs.v[i]))
				return true;
		return false;
	}
	if (i == FEW_ATTRS || i * 2 > t->seen_size) {   /* begin, or grow */
		for (t->seen_size = 64; t->seen_size < i * 4; )
			t->seen_size *= 2;
		if (t->seen_size > t->seen_cap) {
			t->seen_cap = t->seen_size;
			t->seen = mem_resize(t->seen, t->seen_cap, sizeof *t->seen);
		}
		memset(t->seen, 0, t->seen_size * sizeof *t->seen);
		for (size_t k = 0; k < i; k++)
			seen_before(t, k);
	}
	return seen_before(t, i);
}

/* A value in quotes: behind the quote to behind the closing one; NULL: none. */
static const char *read_quoted(const char *p, const char *end, char quote,
                               struct html_str *ret)
{
	const char *from = p;
	unsigned dirt = 0;

	for (;; p++) {
		p = scan_4(p, end, quote, '&', '\r', '\0');
		if (p == end)
			return NULL;
		if (*p == quote)
			break;
		dirt |= *p == '&' ? HTML_HAS_REF : *p == '\r' ? HTML_HAS_CR : HTML_HAS_NUL;
	}
	*ret = (struct html_str){ from, (size_t)(p - from), dirt };
	return p + 1;
}

static const char *read_unquoted(const char *p, const char *end, struct html_str *ret)
{
	const char *from = p;
	unsigned dirt = 0;

	for (; p < end && !(scan_class_of(*p) & ENDS_UNQUOTED); p++) {
		if (*p == '&')
			dirt |= HTML_HAS_REF;
		else if (!*p)
			dirt |= HTML_HAS_NUL;
	}
	*ret = (struct html_str){ from, (size_t)(p - from), dirt };
	return p;
}

/* Attribute name at p and its value; NULL at the end of input. */
static const char *read_attr(struct html *t, const char *p, bool keep)
{
	const char *end = t->end, *q;
	struct html_attr a;
	struct html_str name;
	bool name_has_nul;

	a.value = (struct html_str){ p, 0, HTML_CLEAN };
	if (*p == '=') {                /* a name may begin with '=' */
		q = read_name(p + 1, end, ENDS_ATTR_NAME, &name, &a.key);
		name.data = p;
		name.size++;
		a.key |= name.size <= 8 ? (uint64_t)'=' << 8 * (name.size - 1) : 0;
		p = q;
	} else {
		p = read_name(p, end, ENDS_ATTR_NAME, &name, &a.key);
	}
	q = scan_space(p, end);
	if (q < end && *q == '=') {
		p = scan_space(q + 1, end);
		if (p == end)
			return NULL;
		if (*p == '"' || *p == '\'')
			p = read_quoted(p + 1, end, *p, &a.value);
		else if (*p != '>')
			p = read_unquoted(p, end, &a.value);
	} else {
		p = q;
	}
	if (!p || p == end)
		return NULL;
	if (!keep || t->attrs.n >= HTML_ATTRS_MAX)
		return p;
	name_has_nul = name.dirt & HTML_HAS_NUL;
	if (name.dirt)
		html_clean(t, &name);
	a.name = name.data;
	a.name_size = name.size;
	if (name_has_nul)               /* U+FFFD took its place: a new key */
		read_name(a.name, a.name + a.name_size, 0, &name, &a.key);
	vec_push(&t->attrs, a);
	if (t->attrs.n > 1 && is_duplicate(t, t->attrs.n - 1))
		t->attrs.n--;
	return p;
}

bool html_read_tag(struct html *t, enum html_kind kind, const char *name)
{
	struct html_token *k = &t->token;
	const char *p, *end = t->end;
	bool self_closing = false;
	uint64_t key;

	if (t->scratch.total)
		arena_reset(&t->scratch);
	t->attrs.n = 0;
	p = read_name(name, end, ENDS_TAG_NAME, &k->text, &key);
	for (;;) {
		p = scan_space(p, end);
		if (p == end)
			break;
		if (*p == '>') {
			k->kind = kind;
			if (k->text.dirt)
				html_clean(t, &k->text);
			k->tag = html_tag_find_key(key, k->text.data, k->text.size);
			k->attrs = t->attrs.v;
			k->n_attrs = t->attrs.n;
			k->self_closing = self_closing;
			t->p = p + 1;
			return true;
		}
		if (*p == '/') {
			self_closing = end - p > 1 && p[1] == '>';
			p++;
			continue;
		}
		p = read_attr(t, p, kind == HTML_START_TAG);
		if (!p)
			break;
	}
	t->p = end;                     /* the input ends inside the tag: dropped */
	return false;
}

struct html_attr *html_attr(struct html *t, const char *name)
{
	size_t size = strlen(name);
	uint64_t key = html_key(name, size);

	for (size_t i = 0; i < t->token.n_attrs; i++) {
		struct html_attr *a = &t->token.attrs[i];

		if (html_name_is(a, key, size) && !memcmp(a->name, name, size)) {
			html_value(t, a);
			return a;
		}
	}
	return NULL;
}
