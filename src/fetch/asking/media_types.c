/* SPDX-License-Identifier: Apache-2.0 */
/* media_types.c - lists of media types; see media_types.h. */
#include "fetch/asking/media_types.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define BETWEEN ", "

static size_t token_size(const char *s, size_t size)
{
	size_t n = 0;

	while (n < size && (isalnum((unsigned char)s[n]) || (s[n] && strchr("!#$&^_.+-", s[n]))))
		n++;
	return n;
}

/* type/subtype, type and a star, or two stars. */
static bool is_type(const char *s, size_t size)
{
	const char *slash = memchr(s, '/', size);
	size_t first, second;

	if (!slash)
		return false;
	first = (size_t)(slash - s);
	second = size - first - 1;
	if (second == 1 && slash[1] == '*')
		return (first == 1 && *s == '*') || (first && token_size(s, first) == first);
	return first && second && token_size(s, first) == first &&
	       token_size(slash + 1, second) == second;
}

int media_types_check(const char *list, struct err *err)
{
	const char *p = list + strspn(list, BETWEEN);

	if (strlen(list) > MEDIA_TYPES_MAX)
		return err_set(err, E_USAGE, "accept: longer than %d bytes", MEDIA_TYPES_MAX);
	if (!*p)
		return err_set(err, E_USAGE, "accept: names no media type, such as text/html");
	while (*p) {
		size_t size = strcspn(p, BETWEEN);

		if (!is_type(p, size))
			return err_set(err, E_USAGE, "accept: '%.*s' is no media type, such as text/html or "
			               "text/*", size < 100 ? (int)size : 100, p);
		p += size;
		p += strspn(p, BETWEEN);
	}
	return 0;
}

bool media_types_has(const char *list, const char *type, size_t size)
{
	size_t n = 0;

	while (n < size && type[n] != ';' && type[n] != ' ' && type[n] != '\t')
		n++;
	if (!n)
		return true;
	while (*(list += strspn(list, BETWEEN))) {
		size_t rule = strcspn(list, BETWEEN);

		if (list[rule - 1] == '*' && (*list == '*' ||
		                              (n >= rule && !strncasecmp(list, type, rule - 1))))
			return true;
		if (rule == n && !strncasecmp(list, type, n))
			return true;
		list += rule;
	}
	return false;
}
