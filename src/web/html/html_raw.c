/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_raw.c - where raw text ends.
 *
 * RCDATA and RAWTEXT end at "</name" followed by space, '/' or '>', the name
 * being that of the start tag ("appropriate end tag").  Script data ends so too,
 * except where "<!--" and a nested "<script" have hidden the end: the standard's
 * script data escaped and double escaped states, which are the loop below.
 * Each byte is looked at a bounded number of times.
 */
#include "web/html/html_inner.h"
#include "web/html/html_scan.h"

/* Is "name" here, then space, '/' or '>'?  Only letters can match: the
 * standard reads nothing else into such a name. */
static bool is_name_then_end(const char *p, const char *end,
                             const char *name, size_t size)
{
	if (!size || (size_t)(end - p) <= size || !(scan_class_of(p[size]) & ENDS_TAG_NAME))
		return false;
	for (size_t i = 0; i < size; i++)
		if (!(scan_class_of(p[i]) & IS_ALPHA) || scan_lower(p[i]) != name[i])
			return false;
	return true;
}

/* p behind "</" */
static bool is_end_tag(const struct html *t, const char *p)
{
	return is_name_then_end(p, t->end, t->last_start, t->last_start_size);
}

const char *html_find_end_tag(const struct html *t, const char *p)
{
	while ((p = memchr(p, '<', (size_t)(t->end - p)))) {
		if (t->end - p > 2 && p[1] == '/' && is_end_tag(t, p + 2))
			return p;
		p++;
	}
	return t->end;
}

/*
 * In escaped text behind a '<': the end tag ends the script (NULL is returned);
 * "<script" opens double escaping, "</script" closes it.  Returns where reading
 * goes on.
 */
static const char *escaped_less_than(const struct html *t, const char *p, bool *twice)
{
	const char *end = t->end;

	if (!*twice) {
		if (p < end && *p == '/')
			return is_end_tag(t, p + 1) ? NULL : p + 1;
		if (!is_name_then_end(p, end, "script", 6))
			return p;
		*twice = true;
		return p + 7;           /* past "script" and the byte after it */
	}
	if (p < end && *p == '/') {
		if (!is_name_then_end(p + 1, end, "script", 6))
			return p + 1;
		*twice = false;
		return p + 8;
	}
	return p;
}

/* p behind "<!--"; returns the end tag (*ret_found), or where the escape ends. */
static const char *escaped(const struct html *t, const char *p, bool *ret_found)
{
	const char *end = t->end;
	unsigned dashes = 2;
	bool twice = false;

	*ret_found = false;
	while (p < end) {
		char c = *p;

		if (c == '-') {
			dashes++;
			p++;
		} else if (c == '<') {
			const char *next = escaped_less_than(t, p + 1, &twice);

			if (!next) {
				*ret_found = true;
				return p;
			}
			p = next;
			dashes = 0;
		} else if (c == '>' && dashes >= 2) {
			return p + 1;
		} else {
			dashes = 0;
			p = scan_4(p + 1, end, '-', '<', '-', '<');
		}
	}
	return end;
}

const char *html_find_script_end(const struct html *t, const char *p)
{
	const char *end = t->end;
	bool found;

	while ((p = memchr(p, '<', (size_t)(end - p)))) {
		if (end - p > 2 && p[1] == '/' && is_end_tag(t, p + 2))
			return p;
		if (end - p >= 4 && !memcmp(p, "<!--", 4)) {
			p = escaped(t, p + 4, &found);
			if (found)
				return p;
		} else {
			p++;
		}
	}
	return end;
}
