/* SPDX-License-Identifier: Apache-2.0 */
/* A file of credentials and a file of cookies: no line that is sent can hold the end of a
 * line, no message quotes the file, and what masks a secret leaves none of it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fetch/asking/asking.h"
#include "fetch/asking/media_types.h"
#include "fetch/asking/own_header.h"

#define MUST(x) do { if (!(x)) abort(); } while (0)
#define URL "https://a.example.org/x/y"

static void check_lines(const struct buf *b)
{
	const char *s = buf_text(b);

	for (size_t i = 0; i < b->size; i++)
		MUST(((unsigned char)s[i] >= ' ' && s[i] != 0x7f) || s[i] == '\0' || s[i] == '\t');
	MUST(!b->size || !s[b->size - 1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *s = size ? (const char *)data : "";
	struct asking_rules a = { 0 };
	struct asking_extra *e = asking_extra_new();
	struct err err = { 0 };
	struct buf copy;
	char *text;

	if (login_list_parse(&a.logins, s, size, "logins", &err) < 0)
		MUST(!strncmp(err.text, "logins, line ", 13));
	if (cookie_list_parse(&a.cookies, s, size, "jar", &err) < 0)
		MUST(!strncmp(err.text, "jar, line ", 10));
	text = strndup(s, size);
	a.headers = text;
	asking_for(&a, URL, strlen(URL), 1000, e);
	check_lines(&e->open);
	check_lines(&e->secret);
	buf_init(&copy, BUF_NO_LIMIT);
	buf_add(&copy, s, size);
	asking_mask(e, copy.data, copy.size);
	MUST(!asking_shows(e, buf_text(&copy), copy.size) || memchr(buf_text(&e->hidden), '*',
	                                                             e->hidden.size));
	(void)!media_types_check(text, &err);
	(void)media_types_has(text, s, size);
	(void)!own_header_check_text(text, &err);
	buf_release(&copy);
	asking_extra_free(e);
	asking_release(&a);
	free(text);
	return 0;
}
