/* SPDX-License-Identifier: Apache-2.0 */
/* robots_tag.c - what a page asks of robots; see robots_tag.h. */
#include "web/rules/robots_tag.h"

#include <string.h>
#include <strings.h>

static bool is_word(const char *s, size_t size, const char *word)
{
	return strlen(word) == size && !strncasecmp(s, word, size);
}

static bool is_gap(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == ',' || c == ';';
}

bool robots_tag_is_ours(const char *name, size_t size)
{
	while (size && is_gap(*name))
		name++, size--;
	while (size && is_gap(name[size - 1]))
		size--;
	return is_word(name, size, "robots") || is_word(name, size, ROBOTS_TAG_NAME) ||
	       is_word(name, size, "*");
}

unsigned robots_tag_words(const char *text, size_t size)
{
	const char *end = text + size;
	unsigned tags = 0;

	while (text < end) {
		const char *word;

		while (text < end && is_gap(*text))
			text++;
		for (word = text; text < end && !is_gap(*text); text++)
			;
		size = (size_t)(text - word);
		if (is_word(word, size, "nofollow") || is_word(word, size, "none"))
			tags |= ROBOTS_TAG_NOFOLLOW;
		if (is_word(word, size, "noindex") || is_word(word, size, "none"))
			tags |= ROBOTS_TAG_NOINDEX;
	}
	return tags;
}

/* Is the text before a colon the name of a robot?  A name is one word.  It is not a
 * directive with a value ("max-snippet: 9"), and not the hour of a date (after the comma in
 * "Mon, 1 Jan 2029 10:00"). */
static bool is_name(const char *s, size_t size)
{
	static const char *const words[] = { "unavailable_after", "max-snippet",
		"max-image-preview", "max-video-preview" };

	while (size && is_gap(*s))
		s++, size--;
	while (size && is_gap(s[size - 1]))
		size--;
	for (size_t i = 0; i < size; i++)
		if (is_gap(s[i]))
			return false;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (is_word(s, size, words[i]))
			return false;
	return true;
}

unsigned robots_tag_header(const char *value, size_t size)
{
	const char *end = value + size;
	unsigned tags = 0;
	bool ours = true;               /* until a robot is named */

	while (value < end) {
		const char *stop = memchr(value, ',', (size_t)(end - value)), *colon;

		stop = stop ? stop : end;
		colon = memchr(value, ':', (size_t)(stop - value));
		if (colon && is_name(value, (size_t)(colon - value))) {
			ours = robots_tag_is_ours(value, (size_t)(colon - value));
			value = colon + 1;
		}
		if (ours)
			tags |= robots_tag_words(value, (size_t)(stop - value));
		value = stop < end ? stop + 1 : end;
	}
	return tags;
}

void robots_tag_put(unsigned tags, struct buf *out)
{
	if (tags & ROBOTS_TAG_NOFOLLOW)
		buf_str(out, "nofollow");
	if (tags & ROBOTS_TAG_NOINDEX)
		buf_str(out, tags & ROBOTS_TAG_NOFOLLOW ? " noindex" : "noindex");
}

unsigned robots_tag_kept(const char *text, size_t size, size_t *ret_links)
{
	size_t at = 0, n;
	unsigned tags = 0;

	while (at < size) {             /* words come first, then links */
		const char *blank = memchr(text + at, ' ', size - at);

		n = blank ? (size_t)(blank - text) - at : size - at;
		if (is_word(text + at, n, "nofollow"))
			tags |= ROBOTS_TAG_NOFOLLOW;
		else if (is_word(text + at, n, "noindex"))
			tags |= ROBOTS_TAG_NOINDEX;
		else if (n)
			break;
		at += n + (blank != NULL);
	}
	if (ret_links)
		*ret_links = at;
	return tags;
}
