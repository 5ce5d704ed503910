/* SPDX-License-Identifier: Apache-2.0 */
/* own_header.c - headers that a user may send; see own_header.h. */
#include "fetch/asking/own_header.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Names that begin so are the fetcher's: "if-" is If-None-Match and all its like. */
static const struct { const char *name, *why; } managed[] = {
	{ "host", NULL }, { "range", NULL }, { "if-", NULL }, { "connection", NULL },
	{ "keep-alive", NULL }, { "content-", NULL }, { "transfer-encoding", NULL },
	{ "te", NULL }, { "trailer", NULL }, { "upgrade", NULL }, { "expect", NULL },
	{ "http2-settings", NULL }, { "proxy-", NULL }, { "accept-encoding", NULL },
	{ "accept", "--accept" }, { "user-agent", "--user-agent" },
};

/* A name with one of these in it is a secret's. */
static const char *const secret_words[] = {
	"auth", "cookie", "token", "secret", "passw", "apikey", "api-key", "api_key",
	"access-key", "credential", "session",
};

static bool is_token(const char *s, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)s[i]) && !strchr("!#$%&'*+-.^_`|~", s[i]))
			return false;
	return size > 0;
}

static bool fits(const char *name, size_t size, const char *rule)
{
	size_t n = strlen(rule);

	return rule[n - 1] == '-' ? size > n && !strncasecmp(name, rule, n) :
	       size == n && !strncasecmp(name, rule, n);
}

size_t own_header_value(const char *line, size_t size)
{
	const char *colon = memchr(line, ':', size);
	size_t at = colon ? (size_t)(colon - line) + 1 : size;

	while (at < size && (line[at] == ' ' || line[at] == '\t'))
		at++;
	return at;
}

static int check_name(const char *name, size_t size, bool secret, struct err *err)
{
	char shown[64];

	snprintf(shown, sizeof shown, "%.*s", (int)size, name);
	for (size_t i = 0; i < sizeof managed / sizeof *managed; i++)
		if (fits(name, size, managed[i].name))
			return managed[i].why ?
				err_set(err, E_USAGE, "header: %s is set by %s", shown, managed[i].why) :
				err_set(err, E_USAGE, "header: %s is written by freshet itself, and cannot be "
				        "set", shown);
	if (secret)
		return fits(name, size, "cookie") ?
			err_set(err, E_USAGE, "header: cookies go into the file of --cookies") : 0;
	for (size_t i = 0; i < sizeof secret_words / sizeof *secret_words; i++)
		if (strcasestr(shown, secret_words[i]))
			return err_set(err, E_USAGE, "header: %s looks like a secret, and --header goes to "
			               "every host and into the archive; put it into a file for --%s", shown,
			               fits(name, size, "cookie") ? "cookies" : "credentials");
	return 0;
}

int own_header_check(const char *line, size_t size, bool secret, struct err *err)
{
	const char *colon = memchr(line, ':', size);

	if (size > OWN_HEADER_MAX)
		return err_set(err, E_USAGE, "header: longer than %d bytes", OWN_HEADER_MAX);
	for (size_t i = 0; i < size; i++)
		if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 0x7f)
			return err_set(err, E_USAGE, "header: holds control bytes, such as the end of a line");
	if (!colon || !is_token(line, (size_t)(colon - line)))
		return err_set(err, E_USAGE, "header: write it as 'Name: value'");
	if (own_header_value(line, size) == size)
		return err_set(err, E_USAGE, "header: %.*s has no value", (int)(colon - line), line);
	return check_name(line, (size_t)(colon - line), secret, err);
}

int own_header_check_text(const char *text, struct err *err)
{
	unsigned n = 0;
	int rc = 0;

	for (; *text && rc == 0; n++) {
		size_t size = strcspn(text, "\n");

		rc = n < OWN_HEADERS_MAX ? own_header_check(text, size, false, err) :
		     err_set(err, E_USAGE, "header: more than %d of them", OWN_HEADERS_MAX);
		text += size + (text[size] == '\n');
	}
	return rc < 0 ? rc : n ? 0 : err_set(err, E_USAGE, "header: write it as 'Name: value'");
}
