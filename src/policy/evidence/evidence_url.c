/* SPDX-License-Identifier: Apache-2.0 */
/* evidence_url.c - a URL cut up, the form of its name, and what its text says by itself. */
#include <ctype.h>

#include "base/map.h"
#include "policy/evidence/evidence.h"

void evidence_cut_url(const char *url, struct evidence_cut *c)
{
	const char *s = strstr(url, "://");

	c->host = s ? s + 3 : url;
	c->host_end = c->path = c->host + strcspn(c->host, "/?#");
	c->end = c->path + strcspn(c->path, "?#");
	for (c->name = c->end; c->name > c->path && c->name[-1] != '/'; c->name--)
		;
	for (c->name_end = c->end; c->name_end > c->name && c->name_end[-1] != '.'; c->name_end--)
		;
	/* without the dot; a name without one, or only one in front, is all name */
	c->name_end = c->name_end > c->name + 1 ? c->name_end - 1 : c->end;
}

static int depth_of(const struct evidence_cut *c)
{
	int n = 0;

	for (const char *s = c->path; s < c->end; s++)
		n += *s == '/';
	return n;
}

static bool is_letter(char c)
{
	return isalpha((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* The kind of name, hashed: runs of digits as 0, of letters as a, and of words behind
 * two that are joined alike nothing, so that 2016-01-25-our-new-site is 0-0-0-a-a. */
uint64_t evidence_form(const struct evidence_cut *c, uint64_t seed)
{
	char out[64];
	size_t n = 0;

	for (const char *s = c->name; s < c->name_end && n < sizeof out;) {
		bool digit = isdigit((unsigned char)*s), letter = is_letter(*s);

		out[n++] = digit ? '0' : letter ? 'a' : *s;
		do
			s++;
		while (s < c->name_end && ((digit && isdigit((unsigned char)*s)) ||
		                           (letter && is_letter(*s))));
		if (letter && n >= 5 && out[n - 3] == 'a' && out[n - 5] == 'a' &&
		    out[n - 2] == out[n - 4])
			n -= 2;
	}
	return hash_bytes(out, n, seed);
}

static bool is_digit_at(const char *s, const char *end)
{
	return s < end && isdigit((unsigned char)*s);
}

/* (19|20)dd[/-]d anywhere in the path */
static bool has_date(const struct evidence_cut *c)
{
	for (const char *s = c->path; s + 6 <= c->end; s++)
		if (((s[0] == '1' && s[1] == '9') || (s[0] == '2' && s[1] == '0')) &&
		    is_digit_at(s + 2, c->end) && is_digit_at(s + 3, c->end) &&
		    (s[4] == '/' || s[4] == '-') && is_digit_at(s + 5, c->end))
			return true;
	return false;
}

/* v?d+(.d+)+ at the beginning of a part */
static bool has_version(const struct evidence_cut *c)
{
	for (const char *s = c->path; s < c->end; s++) {
		const char *t = s + 1;

		if (*s != '/')
			continue;
		if (t < c->end && *t == 'v')
			t++;
		if (!is_digit_at(t, c->end))
			continue;
		while (is_digit_at(t, c->end))
			t++;
		if (t < c->end && *t == '.' && is_digit_at(t + 1, c->end))
			return true;
	}
	return false;
}

struct evidence_static evidence_find_static(const struct evidence_cut *c)
{
	int depth = depth_of(c);
	size_t length = (size_t)(c->end - c->path);
	bool digit = false;

	for (const char *s = c->name; s < c->end; s++)
		digit |= isdigit((unsigned char)*s) != 0;
	return (struct evidence_static){
		.depth = (uint8_t)(depth < UINT8_MAX ? depth : UINT8_MAX),
		.length = (uint16_t)(length < UINT16_MAX ? length : UINT16_MAX),
		.flags = (uint8_t)(digit << STATIC_DIGIT | has_date(c) << STATIC_DATE |
		                   has_version(c) << STATIC_VERSION |
		                   (c->name == c->end) << STATIC_EMPTY),
	};
}
