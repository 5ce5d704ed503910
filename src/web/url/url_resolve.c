/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_resolve.c - resolve a link against its page.
 *
 * Nearly every link is a path or a URL already written as the canonical form has
 * it.  Such a link is copied behind its part of the base and looked at on the way,
 * sixteen bytes at a time: bytes that need encoding, "%", and segments that begin
 * with a dot send it the long way (url.c), "../" at its front is climbed at once, a
 * fragment is cut.  A host goes the short way if it is a short name without port.
 */
#include <string.h>

#include "web/html/html_scan.h"
#include "web/url/url_put.h"

#define ROOM_AHEAD 16                   /* bytes that may be overwritten after a link */

void url_base(const char *url, size_t size, struct url_base *ret)
{
	struct url_parts p;
	uint32_t dir;

	url_split(url, size, &p);
	for (dir = p.query; url[dir - 1] != '/'; dir--)
		;
	ret->url = url;
	ret->size = (uint32_t)size;
	ret->path = p.path;
	ret->dir = dir;
	ret->query = p.query;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

#ifdef __SSE2__
static inline __m128i equal(__m128i v, char c)
{
	return _mm_cmpeq_epi8(v, _mm_set1_epi8(c));
}

/* Bytes that the canonical form encodes both in a path and in a query. */
static inline unsigned odd_bytes(__m128i v)
{
	__m128i brackets = _mm_sub_epi8(_mm_or_si128(v, _mm_set1_epi8(0x20)), _mm_set1_epi8('{'));
	__m128i plain = _mm_cmpgt_epi8(v, _mm_set1_epi8(' '));  /* signed: ASCII only */
	__m128i odd = _mm_or_si128(
		_mm_or_si128(
			_mm_or_si128(equal(_mm_and_si128(v, _mm_set1_epi8('\xfe')), '"'), equal(v, '%')),
			_mm_or_si128(equal(_mm_and_si128(v, _mm_set1_epi8('\xfd')), '<'), equal(v, '`'))),
		_mm_or_si128(
			_mm_or_si128(equal(v, '^'), equal(v, 0x7f)),
			_mm_cmpeq_epi8(_mm_min_epu8(brackets, _mm_set1_epi8(2)), brackets)));

	return 0xffffu & (unsigned)_mm_movemask_epi8(_mm_or_si128(odd, _mm_andnot_si128(plain,
		_mm_set1_epi8('\xff'))));
}

/* A bit for each of sixteen bytes: here the link is not, or may not be, canonical.
 * *after_slash: was the byte before them a slash?  On return: is the last of them one? */
static inline unsigned stop_bits(__m128i v, unsigned *after_slash, bool colons)
{
	unsigned slash = (unsigned)_mm_movemask_epi8(equal(v, '/')) << 1 | *after_slash;
	unsigned stop = odd_bytes(v) | ((unsigned)_mm_movemask_epi8(equal(v, '.')) & slash);

	*after_slash = slash >> 16;
	return colons ? stop : stop | (unsigned)_mm_movemask_epi8(equal(v, ':'));
}

/* The byte at n is not canonical.  If a fragment begins there, the size of the link
 * without it; else -1. */
static ptrdiff_t stopped_at(const char *p, size_t n, size_t size)
{
	if (p[n] != '#')
		return -1;
	for (size_t i = n; i < size; i++)       /* url.c will refuse it, with a reason */
		if ((p[i] >= 0 && p[i] < 0x20) || p[i] == 0x7f)
			return -1;
	return (ptrdiff_t)n;
}

/*
 * Copy a link that follows a slash; returns its size without the fragment, or -1 if it is
 * not canonical.  The last sixteen bytes are read together, though some were read before.
 */
static inline ptrdiff_t copy_link(char *to, const char *p, size_t size, bool colons)
{
	unsigned after_slash = 1, stop;
	__m128i v;

	if (size < 16) {
		char few[16] = { 0 };

		memcpy(few, p, size);
		memcpy(to, few, 16);
		v = _mm_loadu_si128((const void *)few);
		stop = stop_bits(v, &after_slash, colons) & ((1u << size) - 1);
		return stop ? stopped_at(p, (size_t)__builtin_ctz(stop), size) : (ptrdiff_t)size;
	}
	for (size_t at = 0;;) {
		v = _mm_loadu_si128((const void *)(p + at));
		_mm_storeu_si128((void *)(to + at), v);
		stop = stop_bits(v, &after_slash, colons);
		if (stop)
			return stopped_at(p, at + (size_t)__builtin_ctz(stop), size);
		if (at + 16 == size)
			return (ptrdiff_t)size;
		at += 16;
		if (at + 16 > size) {
			at = size - 16;
			after_slash = 0;
		}
	}
}

/* Sixteen bytes of a host: what is in no name of lower case, and dots. */
struct host_bits {
	unsigned odd, dot;
};

static inline struct host_bits host_bits(const char *p)
{
	__m128i v = _mm_loadu_si128((const void *)p);
	__m128i alpha = _mm_sub_epi8(v, _mm_set1_epi8('a')), dot = equal(v, '.');
	__m128i digit = _mm_sub_epi8(v, _mm_set1_epi8('0'));
	__m128i name = _mm_or_si128(
		_mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(alpha, _mm_set1_epi8(25)), alpha),
		             _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit)),
		_mm_or_si128(dot, _mm_or_si128(equal(v, '-'), equal(v, '_'))));

	return (struct host_bits){ 0xffffu & ~(unsigned)_mm_movemask_epi8(name),
		(unsigned)_mm_movemask_epi8(dot) };
}

/*
 * The size of "http://host/" or "https://host/" at the beginning of a link, if it is
 * already canonical and within the first 32 bytes; else 0.
 */
static inline size_t plain_authority(const char *ref, size_t size)
{
	unsigned from, at, more = (unsigned)(size < 32 ? size : 32) - 16;
	struct host_bits a, b;
	uint64_t odd, dot;

	if (size < 16 || memcmp(ref, "http", 4))
		return 0;
	from = ref[4] == 's' ? 8 : 7;
	if (memcmp(ref + from - 3, "://", 3))
		return 0;
	a = host_bits(ref);
	b = host_bits(ref + more);
	odd = (a.odd | (uint64_t)b.odd << more) >> from;
	dot = (a.dot | (uint64_t)b.dot << more) >> from;
	if (!odd)
		return 0;
	at = (unsigned)__builtin_ctzll(odd);            /* the host's size */
	dot &= ((uint64_t)1 << at) - 1;
	/* no empty label, and no last one that begins like an address */
	if (!at || ref[from + at] != '/' || dot & (dot >> 1 | 1 | (uint64_t)1 << (at - 1)) ||
	    scan_class_of(dot ? ref[from + 64 - (unsigned)__builtin_clzll(dot)] : ref[from]) &
	    IS_DIGIT)
		return 0;
	return from + at + 1;
}

/* Copy a link that is canonical already; false if it is not, or if there is no
 * room yet. */
static bool resolve_plain(const struct url_base *b, const char *ref, size_t size,
                          struct buf *out)
{
	const char *from = b->url;
	size_t keep = b->dir, root = b->path + 1, authority;
	bool colons = true;
	ptrdiff_t n;
	char *room;

	if (*ref == '/') {
		keep = root;
		ref++, size--;
		if (size && *ref == '/')
			return false;
	} else if ((authority = plain_authority(ref, size))) {
		from = ref;
		keep = authority;
		ref += keep, size -= keep;
	} else if (size >= root && !memcmp(ref, from, root)) {
		keep = root;            /* scheme and host of the page itself */
		ref += keep, size -= keep;
	} else {
		if (*ref == '?' || *ref == '#')
			return false;
		for (; size >= 3 && !memcmp(ref, "../", 3); ref += 3, size -= 3)
			if (keep > root)
				for (keep--; keep > root && from[keep - 1] != '/'; keep--)
					;
		colons = false;
	}
	if (keep + size > URL_SIZE_MAX || out->full ||
	    keep + size + ROOM_AHEAD >= out->cap - out->size ||
	    keep + size > out->max - out->size)
		return false;
	room = out->data + out->size;
	n = copy_link(room + keep, ref, size, colons);
	if (n < 0) {
		*room = '\0';
		return false;
	}
	memcpy(room, from, keep);
	out->size += keep + (size_t)n;
	out->data[out->size] = '\0';
	return true;
}
#else
static bool resolve_plain(const struct url_base *b, const char *ref, size_t size,
                          struct buf *out)
{
	(void)b, (void)ref, (void)size, (void)out;
	return false;
}
#endif

static int resolve_absolute(const char *ref, const char *end, size_t n, struct buf *out,
                            struct err *err)
{
	char text[URL_SIZE_MAX * 4 + URL_HOST_MAX + 16];
	char *d = url_put_absolute(text, ref, end, n, true, err);

	return d ? url_finish(text, d, out, err) : E_PARSE;
}

static int resolve_odd(const struct url_base *b, const char *ref, const char *end,
                       struct buf *out, struct err *err)
{
	char text[URL_SIZE_MAX * 4 + URL_HOST_MAX + 16], *d;
	bool https = b->url[4] == 's';
	size_t n = b->dir;

	if (end - ref >= 2 && (ref[0] == '/' || ref[0] == '\\')
	    && (ref[1] == '/' || ref[1] == '\\')) {
		if (ref[0] == '\\' || ref[1] == '\\')
			return err_set(err, E_PARSE, "backslash before the host");
		n = https ? 8 : 7;
		memcpy(text, b->url, n);
		d = url_put_hierarchy(text + n, ref + 2, end, https, true, err);
		return d ? url_finish(text, d, out, err) : E_PARSE;
	}
	if (ref == end || *ref == '#')
		n = b->size;
	else if (*ref == '?')
		n = b->query;
	else if (*ref == '/')
		n = b->path + 1, ref++;
	memcpy(text, b->url, n);
	d = url_put_path(text + b->path + 1, text + n, ref, end, true, err);
	return d ? url_finish(text, d, out, err) : E_PARSE;
}

int url_resolve_on(const struct url_base *b, const char *ref, size_t ref_size, struct buf *out,
                   struct err *err)
{
	const char *end = ref + ref_size;
	size_t n;

	if (ref_size && (is_blank(*ref) || is_blank(end[-1]))) {
		while (ref < end && is_blank(*ref))
			ref++;
		while (ref < end && is_blank(end[-1]))
			end--;
	}
	if (ref < end && resolve_plain(b, ref, (size_t)(end - ref), out))
		return 0;
	if (end - ref > URL_SIZE_MAX || b->size > URL_SIZE_MAX)
		return err_set(err, E_LIMIT, "URL of more than %d bytes", URL_SIZE_MAX);
	n = url_scheme_size(ref, end);
	return n ? resolve_absolute(ref, end, n, out, err) : resolve_odd(b, ref, end, out, err);
}

int url_resolve(const char *base, size_t base_size, const char *ref, size_t ref_size,
                struct buf *out, struct err *err)
{
	struct url_base b;

	if (base_size > URL_SIZE_MAX)
		return err_set(err, E_LIMIT, "URL of more than %d bytes", URL_SIZE_MAX);
	url_base(base, base_size, &b);
	return url_resolve_on(&b, ref, ref_size, out, err);
}
