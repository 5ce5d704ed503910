/* SPDX-License-Identifier: Apache-2.0 */
/* liveness.c - status classes and soft 404s; liveness.h is the manual. */
#include "web/rules/liveness.h"

#include <string.h>

#include "base/math/rng.h"
#include "base/status.h"
#include "web/url/url.h"

const char *liveness_name(enum liveness_class c)
{
	static const char *const name[LIVENESS_CLASSES] = {
		[LIVENESS_NO_ANSWER] = "no answer", [LIVENESS_NOT_FOUND] = "404",
		[LIVENESS_REDIRECT] = "redirect", [LIVENESS_SOFT_404] = "soft 404",
		[LIVENESS_REAL_200] = "real 200", [LIVENESS_OTHER] = "other",
	};

	return (unsigned)c < LIVENESS_CLASSES ? name[c] : "other";
}

static bool is_redirect(int status)
{
	return status == 301 || status == 302 || status == 303 || status == 307
	       || status == 308;
}

static enum liveness_class classify_end(const struct liveness_answer *a)
{
	if (!a->status)
		return LIVENESS_NO_ANSWER;
	if (status_is_gone(a->status))
		return LIVENESS_NOT_FOUND;
	if (status_is_page(a->status))
		return a->not_found_phrase ? LIVENESS_SOFT_404 : LIVENESS_REAL_200;
	return LIVENESS_OTHER;          /* a redirect left unfollowed too */
}

enum liveness_class liveness_classify(const struct liveness_answer *a,
                                      enum liveness_class *ret_target)
{
	enum liveness_class end = classify_end(a);

	if (ret_target)
		*ret_target = end;
	return a->redirects || is_redirect(a->status) ? LIVENESS_REDIRECT : end;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Does the phrase (lower case, single blanks) begin at s? */
static bool phrase_at(const char *s, const char *end, const char *phrase)
{
	for (; *phrase; phrase++) {
		if (*phrase != ' ') {
			if (s == end || (*s >= 'A' && *s <= 'Z' ? *s | 0x20 : *s) != *phrase)
				return false;
			s++;
			continue;
		}
		/* a no-break space is written U+00A0 */
		if (s == end || !(is_blank(*s) || (end - s >= 2 && !memcmp(s, "\xc2\xa0", 2))))
			return false;
		while (s < end && (is_blank(*s) || (end - s >= 2 && !memcmp(s, "\xc2\xa0", 2))))
			s += *s == '\xc2' ? 2 : 1;
	}
	return true;
}

bool liveness_has_phrase(const char *text, size_t size)
{
	const char *end = text + size;

	for (const char *s = text; s < end; s++) {
		char c = *s | 0x20;

		if ((c == 'p' && phrase_at(s, end, "page not found"))
		    || (c == 'e' && phrase_at(s, end, "error 404")))
			return true;
	}
	return false;
}

int liveness_sibling(const char *url, size_t size, uint64_t draw, struct buf *out,
                     struct err *err)
{
	char name[LIVENESS_SIBLING_SIZE];
	struct url_parts p;
	struct rng r;
	size_t dir;

	url_split(url, size, &p);
	for (dir = p.query; url[dir - 1] != '/'; dir--)
		;
	if (dir + sizeof name > URL_SIZE_MAX || dir + sizeof name > out->max - out->size)
		return err_set(err, E_LIMIT, "no room for a sibling of a URL of %zu bytes",
		               size);
	rng_init(&r, draw);
	for (size_t i = 0; i < sizeof name; i++)
		name[i] = (char)('a' + rng_below(&r, 26));
	buf_add(out, url, dir);
	buf_add(out, name, sizeof name);
	return 0;
}

static bool failed(const struct liveness_answer *a)
{
	return a->status < 200 || a->status >= 300;
}

/* Where an answer was found: its final URL, or the one asked for (NULL). */
static bool same_place(const struct liveness_answer *a, const struct liveness_answer *b)
{
	return a->final_url && b->final_url && a->final_size == b->final_size
	       && !memcmp(a->final_url, b->final_url, a->final_size);
}

bool liveness_by_sibling(const char *url, size_t size,
                         const struct liveness_answer *page,
                         const struct liveness_answer *sibling, double similarity,
                         enum liveness_reason *ret_reason)
{
	enum liveness_reason reason;
	struct url_parts p;
	int bits = __builtin_popcountll(page->simhash ^ sibling->simhash);

	url_split(url, size, &p);
	if (failed(page))
		reason = LIVENESS_BY_ERROR;
	else if (failed(sibling))
		reason = LIVENESS_BY_HONESTY;
	else if (p.end - p.path == 1)
		reason = LIVENESS_BY_ROOT;
	else if (page->redirects != sibling->redirects)
		reason = LIVENESS_BY_REDIRECTS;
	else if (same_place(page, sibling))
		reason = LIVENESS_BY_PLACE;
	else if (similarity >= 0 ? similarity >= LIVENESS_SIMILARITY_MIN
	                         : bits <= LIVENESS_SIMHASH_MAX)
		reason = LIVENESS_BY_LIKENESS;
	else
		reason = LIVENESS_BY_DIFFERENCE;
	if (ret_reason)
		*ret_reason = reason;
	return reason == LIVENESS_BY_HONESTY || reason == LIVENESS_BY_ROOT
	       || reason == LIVENESS_BY_REDIRECTS || reason == LIVENESS_BY_DIFFERENCE;
}
