/* SPDX-License-Identifier: Apache-2.0 */
/* nutch.c - the text of `readdb -dump`; see logs.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/when.h"
#include "warc/logs/logs.h"

#define INTERVAL_MAX (INT64_C(100) * 366 * DAY_SECONDS)

/* Minutes east of Greenwich.  Java writes the zone of the machine by its name. */
static const struct { const char *name; int minutes; } zones[] = {
	{ "UTC", 0 }, { "GMT", 0 }, { "WET", 0 }, { "WEST", 60 }, { "BST", 60 }, { "CET", 60 },
	{ "CEST", 120 }, { "EET", 120 }, { "EEST", 180 }, { "MSK", 180 }, { "JST", 540 },
	{ "KST", 540 }, { "AEST", 600 }, { "AEDT", 660 }, { "EST", -300 }, { "EDT", -240 },
	{ "CST", -360 }, { "CDT", -300 }, { "MST", -420 }, { "MDT", -360 }, { "PST", -480 },
	{ "PDT", -420 },
};

bool logs_java_time(const char *s, size_t size, int64_t *ret)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	char text[64], day[4], month[4], zone[12];
	struct tm tm = { 0 };
	const char *at;
	int end = 0;

	if (size >= sizeof text)
		return false;
	memcpy(text, s, size);
	text[size] = '\0';
	if (sscanf(text, "%3[A-Za-z] %3[A-Za-z] %2d %2d:%2d:%2d %11[A-Za-z0-9:+-] %4d%n", day, month,
	           &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, zone, &tm.tm_year, &end) != 8 ||
	    (size_t)end != size || strlen(month) != 3)
		return false;
	at = strstr(months, month);
	if (!at || (at - months) % 3 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour < 0 ||
	    tm.tm_hour > 23 || tm.tm_min < 0 || tm.tm_min > 59 || tm.tm_sec < 0 || tm.tm_sec > 60 ||
	    tm.tm_year < 1970)
		return false;
	tm.tm_mon = (int)(at - months) / 3;
	tm.tm_year -= 1900;
	*ret = (int64_t)timegm(&tm);
	for (size_t i = 0; i < sizeof zones / sizeof *zones; i++)
		if (!strcmp(zone, zones[i].name))
			*ret -= (int64_t)zones[i].minutes * 60;
	return true;
}

/* The size of the URL that a line begins with; 0: it begins no URL. */
static size_t url_of(const char *line, size_t size)
{
	static const char version[] = "Version: ";
	const char *tab = size ? memchr(line, '\t', size) : NULL;
	size_t n = tab ? (size_t)(tab - line) : 0, left = size - n;

	if (!tab || !memmem(line, n, ":", 1))
		return 0;
	while (left && *tab == '\t') {
		tab++;
		left--;
	}
	return left > sizeof version - 1 && !memcmp(tab, version, sizeof version - 1) ? n : 0;
}

bool logs_is_nutch(const char *line, size_t size)
{
	return url_of(line, size) > 0;
}

static bool begins(const char *line, size_t size, const char *key, const char **ret_value)
{
	size_t n = strlen(key);

	if (size < n || memcmp(line, key, n))
		return false;
	*ret_value = line + n;
	return true;
}

/* What Nutch's number of a status says of the page, as HTTP has it; 0: nothing. */
static int http_status(int status)
{
	switch (status) {
	case 2: case 6: case 7:         /* fetched, not modified, a duplicate of another */
		return 200;
	case 3:
		return 404;
	case 4:
		return 302;
	case 5:
		return 301;
	default:
		return 0;
	}
}

/* The lines of a URL are over. */
static enum logs_verdict end_url(struct logs_nutch *n, struct logs_visit *ret,
                                 const char **ret_reason)
{
	*ret = (struct logs_visit){ .url = { n->url, n->url_size }, .time = INT64_MIN, .length = -1 };
	n->url_size = 0;
	if (n->bad || n->status < 0) {
		*ret_reason = "a URL of a Nutch dump whose status, fetch time or interval cannot be read";
		return LOGS_BAD;
	}
	ret->status = http_status(n->status);
	if (ret->status && n->known_time && n->next - n->interval > 0)
		ret->time = n->next - n->interval;
	return LOGS_VISIT;
}

static void take_field(struct logs_nutch *n, const char *line, size_t size)
{
	const char *v, *end = line + size;
	char text[24];
	size_t digits = 0;

	if (begins(line, size, "Fetch time: ", &v)) {
		n->known_time = logs_java_time(v, (size_t)(end - v), &n->next);
		n->bad = n->bad || !n->known_time;
		return;
	}
	if (!begins(line, size, "Status: ", &v) && !begins(line, size, "Retry interval: ", &v))
		return;
	while (v + digits < end && digits < 18 && isdigit((unsigned char)v[digits]))
		digits++;
	memcpy(text, v, digits);
	text[digits] = '\0';
	if (!digits) {
		n->bad = true;
	} else if (*line == 'S') {
		n->status = digits <= 3 ? atoi(text) : 0;
	} else {
		n->interval = strtoll(text, NULL, 10);
		n->bad = n->bad || n->interval > INTERVAL_MAX;
	}
}

enum logs_verdict logs_nutch(struct logs_nutch *n, const char *line, size_t size,
                             struct logs_visit *ret, const char **ret_reason)
{
	size_t url = url_of(line, size);

	if (size == 0)
		return n->url_size ? end_url(n, ret, ret_reason) : LOGS_OTHER;
	if (url == 0) {
		if (n->url_size)
			take_field(n, line, size);
		return n->url_size ? LOGS_MORE : LOGS_OTHER;
	}
	if (url > sizeof n->url || n->url_size) {
		*ret_reason = url > sizeof n->url ? "a URL that is too long" :
		              "a URL before the empty line behind the one before it";
		n->url_size = 0;
		return LOGS_BAD;
	}
	memcpy(n->url, line, url);
	n->url_size = url;
	n->known_time = n->bad = false;
	n->next = n->interval = 0;
	n->status = -1;
	return LOGS_MORE;
}
