/* SPDX-License-Identifier: Apache-2.0 */
/* head.c - see head.h. */
#include "serve/http/head.h"

#include <stdbool.h>
#include <string.h>

struct text head_host(const char *host)
{
	bool bracket = *host == '[';
	size_t size = bracket ? strcspn(host, "]") : strcspn(host, ":");
	const char *rest = host + size + (bracket && host[size]);

	if (*rest == ':')
		rest += 1 + strspn(rest + 1, "0123456789");
	if (*rest || (bracket && host[size] != ']'))
		return (struct text){ "", 0 };
	return bracket ? (struct text){ host + 1, size - 1 } : (struct text){ host, size };
}

const char *head_cookie(const char *s, const char *name, struct arena *keep)
{
	size_t size = strlen(name);

	while (*s) {
		size_t len;

		s += strspn(s, " ;");
		len = strcspn(s, ";");
		if (len > size && !strncmp(s, name, size) && s[size] == '=')
			return arena_strndup(keep, s + size + 1, len - size - 1);
		s += len;
	}
	return NULL;
}
