/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract.h - read everything we need from a page, in one pass over its tags.
 *
 * Visible text: what a reader without scripts sees.  Left out are comments; the
 * content of script, style, template, title, iframe, noembed, noframes and
 * datalist; elements with the attribute hidden, with style display:none or
 * visibility:hidden, and dialogs that are not open.  Kept are noscript (nothing
 * here runs scripts), textarea, options, closed details and aria-hidden (it is
 * on the screen).  White space runs are one space; elements that begin a new line
 * on screen begin a new line here; other tags separate nothing, so <b>w</b>ord is
 * one word.  NUL characters are dropped.
 *
 * Counts: images are <img> (and the old <image>), tables <table>, out-links <a> and
 * <area> with href, with any target, everywhere but in templates.  E-mail addresses are
 * counted in the visible text and in mailto links.
 *
 * Links: <a>, <area>, <link rel=canonical>, meta refresh and frames, resolved
 * against the first <base href> before them, canonical, in page order with
 * repetitions; only http and https URLs are links.
 */
#ifndef WEB_PAGE_EXTRACT_H
#define WEB_PAGE_EXTRACT_H

#include "base/buf.h"
#include "web/html/encoding.h"
#include "web/html/html.h"
#include "web/page/extract_region.h"
#include "web/text/digest.h"
#include "web/text/words.h"
#include "web/url/url.h"

#define EXTRACT_SIZE_MAX  (32u << 20)   /* bytes of a page as UTF-8; the rest is not read */
#define EXTRACT_LINKS_MAX 50000
#define EXTRACT_TITLE_MAX 1024

enum page_type { PAGE_HTML, PAGE_TEXT, PAGE_OTHER };
enum link_kind { LINK_A, LINK_AREA, LINK_CANONICAL, LINK_REFRESH, LINK_FRAME };

struct extract_options {
	bool no_bytes;                  /* do not compute digest.bytes */
	bool fold_digits;               /* in digest.text and digest.simhash */
	bool tag_attributes;            /* digest.tags: attribute names, sorted */
	bool tag_values;                /* and values of alt lang role title label aria-* */
	const struct ignore *ignore;    /* not in text, tags, simhash digests */
	/* each word, in lower case; may be NULL */
	void (*word)(void *arg, const char *word, size_t size, uint64_t hash);
	void *arg;
};

struct extract_input {
	const char *data;
	size_t size;
	const char *content_type;       /* value of the header, or NULL */
	const char *url;                /* canonical; NULL: links are not read */
};

struct page_link {
	uint32_t url, size;             /* in links_pool */
	enum link_kind kind;
	bool nofollow;                  /* rel says so */
};

struct page {                           /* all in the extractor's memory */
	enum page_type type;
	const char *encoding;           /* "" for PAGE_OTHER */
	const char *title, *text;
	size_t title_size, text_size;
	uint64_t words;
	uint32_t images, tables, emails, outlinks;
	const struct page_link *links;
	size_t n_links;
	bool links_cut;
	unsigned robots;                /* of <meta>: enum robots_tag, or-ed */
	const char *links_pool;
	struct digest digest;
};

struct extract {                        /* zeroed: ready; one per thread */
	const struct extract_options *options;
	struct html html;
	struct encoding encoding;
	struct buf text, title, tags, pool, base;
	unsigned pending;               /* white space before the next character */
	struct region hidden, ignored, template, in_title;
	bool has_title, has_base;
	const char *url;
	struct url_base on;             /* base of relative links */
	VEC(struct page_link) links;
	VEC(struct digest_gap) gaps;
	struct page page;
};

void extract_release(struct extract *x);
/* Read a page; the result is valid until the next call. */
const struct page *extract_page(struct extract *x, const struct extract_input *in,
                                const struct extract_options *options);

static inline const char *page_link_url(const struct page *p, size_t i)
{
	return p->links_pool + p->links[i].url;
}

/* HTML, text or other, by Content-Type or, without one, by the first bytes. */
enum page_type extract_type(const char *content_type, const char *data, size_t size);
/* E-mail addresses in a text. */
uint32_t extract_count_emails(const char *text, size_t size);

#endif
