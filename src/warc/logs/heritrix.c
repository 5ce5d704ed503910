/* SPDX-License-Identifier: Apache-2.0 */
/* heritrix.c - lines of crawl.log; see logs.h. */
#include <ctype.h>
#include <string.h>

#include "base/when.h"
#include "warc/logs/logs.h"

#define COLUMNS 10                      /* that are read */
#define COLUMNS_MIN 8
#define DIGITS 14                       /* of a time; three more are milliseconds */

static size_t split(const char *line, size_t size, struct text *columns)
{
	struct text rest = { line, size };
	size_t n = 0;

	while (n < COLUMNS && text_word(&rest, &columns[n]))
		n++;
	return n;
}

/* An integer of at most 18 digits. */
static bool number(struct text t, int64_t *ret)
{
	bool minus = t.size && *t.s == '-';
	int64_t n = 0;

	if (t.size <= minus || t.size > 18)
		return false;
	for (size_t i = minus; i < t.size; i++) {
		if (!isdigit((unsigned char)t.s[i]))
			return false;
		n = n * 10 + (t.s[i] - '0');
	}
	*ret = minus ? -n : n;
	return true;
}

static bool is_time(struct text t, int64_t *ret)
{
	return t.size >= 20 && t.s[4] == '-' && t.s[10] == 'T' && when_parse(t.s, t.size, ret);
}

bool logs_is_heritrix(const char *line, size_t size)
{
	struct text c[COLUMNS];
	int64_t time, status;

	return split(line, size, c) >= 4 && is_time(c[0], &time) && number(c[1], &status) &&
	       memchr(c[3].s, ':', c[3].size);
}

static bool is_web(struct text url)
{
	return (url.size > 7 && !memcmp(url.s, "http://", 7)) ||
	       (url.size > 8 && !memcmp(url.s, "https://", 8));
}

enum logs_verdict logs_heritrix(const char *line, size_t size, struct logs_visit *ret,
                                const char **ret_reason)
{
	struct text c[COLUMNS] = { { 0 } };
	size_t n = split(line, size, c);
	int64_t status, time;

	if (n == 0)
		return LOGS_OTHER;
	*ret_reason = NULL;
	if (n < COLUMNS_MIN)
		*ret_reason = "a line of crawl.log with too few columns";
	else if (!is_time(c[0], &time))
		*ret_reason = "a line of crawl.log that does not begin with a time";
	else if (!number(c[1], &status) || status > 999 || status < -10000)
		*ret_reason = "a line of crawl.log without a status";
	if (*ret_reason)
		return LOGS_BAD;
	if (status < 100 || !is_web(c[3]))
		return LOGS_OTHER;      /* names, failures, what rules left out */
	*ret = (struct logs_visit){ .url = c[3], .time = time, .status = (int)status };
	/* when it began, if it is told */
	if (n > 8 && c[8].size >= DIGITS && memchr(c[8].s, '+', c[8].size))
		(void)when_parse(c[8].s, DIGITS, &ret->time);
	if (!number(c[2], &ret->length) || ret->length < 0)
		ret->length = -1;
	if (c[6].size > 1 && memchr(c[6].s, '/', c[6].size))
		ret->mime = c[6];
	if (n > 9 && c[9].size > 5 && memchr(c[9].s, ':', c[9].size))
		ret->digest = c[9];
	return LOGS_VISIT;
}
