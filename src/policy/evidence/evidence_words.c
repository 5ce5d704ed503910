/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence_words.c - the words of file names, each a group of the site's pages.
 *
 * A name often tells by one of its words whether the page was kept: all the
 * "...-terms-of-service" went together, all the "...Builder" stayed.  Words are runs of
 * digits and runs of letters, cut where a capital begins a new one (fooBarHTMLPage is
 * foo, bar, html, page), in lower case; bytes beyond ASCII are small letters.  A page
 * is in the group of each of its first 16 words, once.
 *
 * Cost.  O(bytes of names) once; 4 bytes a page and 4 for each of its words.
 */
#include <ctype.h>

#include "base/map.h"
#include "policy/evidence/evidence.h"

#define WORD_BYTES 64           /* of a word that tell it from others */

enum kind { OTHER, DIGIT, CAPITAL, SMALL };

static enum kind kind_of(char byte)
{
	unsigned char c = (unsigned char)byte;

	return isdigit(c) ? DIGIT : isupper(c) ? CAPITAL : islower(c) || c >= 0x80 ? SMALL : OTHER;
}

static const char *run_end(const char *s, const char *end, enum kind kind)
{
	while (s < end && kind_of(*s) == kind)
		s++;
	return s;
}

/* The end of the word that begins at s. */
static const char *word_end(const char *s, const char *end)
{
	const char *e = run_end(s, end, kind_of(*s));

	if (kind_of(*s) != CAPITAL || e == end || kind_of(*e) != SMALL)
		return e;
	/* the last capital belongs to what follows: Page, or HTML of HTMLPage */
	return e - s == 1 ? run_end(e, end, SMALL) : e - 1;
}

int evidence_words(const char *s, const char *end, uint64_t seed, uint64_t *ret_words)
{
	int n = 0;

	while (s < end && n < EVIDENCE_WORDS_MAX) {
		const char *e = kind_of(*s) == OTHER ? s : word_end(s, end);
		char low[WORD_BYTES];
		size_t size = 0;
		int same = 0;

		for (; s < e; s++)
			if (size < sizeof low)
				low[size++] = (char)tolower((unsigned char)*s);
		if (!size) {
			s++;
			continue;
		}
		ret_words[n] = hash_bytes(low, size, seed);
		while (ret_words[same] != ret_words[n])
			same++;
		n += same == n;
	}
	return n;
}
