/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analyse.h - read the body of a page and fill in its record.
 *
 * The same for every source: an imported or replayed WARC, and a page just fetched.  The
 * content encoding is undone (with a cap), and the page is read once
 * (web/page/extract.h). This sets prose, tags, simhash, counts, title, links and robots
 * of the record; they are valid until the next call.
 *
 * Links: each once, in page order, at most RECORD_LINKS_MAX; "/path" for the same scheme
 * and host, absolute otherwise.  A body that cannot be decoded is a document without
 * text: all its digests are of its bytes.
 */
#ifndef ENGINE_ARCHIVE_ANALYSE_H
#define ENGINE_ARCHIVE_ANALYSE_H

#include "base/buf.h"
#include "base/map.h"
#include "base/sandbox/cell.h"
#include "engine/archive/ignore.h"
#include "engine/archive/record.h"
#include "web/page/extract.h"
#include "web/text/terms.h"

struct analyse_input {
	struct text url;               /* canonical; nothing: links are not read */
	struct text content_type, content_encoding;    /* header values, or nothing */
	const char *body;               /* transfer encoding removed */
	size_t size;
	unsigned robots;                /* of X-Robots-Tag headers: enum robots_tag, or-ed */
};

struct analyser {                       /* after analyser_init() */
	struct extract extract;
	struct extract_options options; /* what the digests leave out; the caller may change it */
	const struct ignore_list *rules;        /* set: elements left out, by site */
	struct word_counter *words;     /* if set, counts the words of the page; valid only if
	                                   the record got its facts */
	bool look_for_phrase;           /* set: does the page say that nothing is here? */
	bool not_found;                 /* it does */
	struct buf url, type, decoded, links, robots;
	struct buf asked, answer;       /* to and from a cell */
	struct map seen;                /* links; 1: may be followed */
	char prose[17], tags[17];
};

void analyser_init(struct analyser *a);
void analyser_release(struct analyser *a);
/* Give a large answer of a cell back; what was found in it goes, too. */
void analyser_rest(struct analyser *a);
/* In a cell if there are any (base/sandbox/cell.h), else here.  E_READER: it broke down. */
MUST_CHECK int analyse(struct analyser *a, const struct analyse_input *in, struct record *r,
                       struct err *err);

/* Many pages: as if analyse() were called for each, but cells get ANALYSE_TOGETHER in one message.
 * Each has an analyser of its own. */
struct analyse_job {
	struct analyser *analyser;
	const struct analyse_input *in;
	struct record *record;
	int rc;                         /* what came of it */
	struct err *err;
};
#define ANALYSE_TOGETHER CELL_TOGETHER
#define ANALYSE_TOGETHER_BYTES ((size_t)256 << 10)     /* of bodies: more does not stay near a processor */
void analyse_all(struct analyse_job *jobs, size_t n);
/* So many pages wait to be read together, and have so many bytes: may another wait, too? */
bool analyse_may_wait(size_t n, size_t bytes);

void analyse_here(struct analyser *a, const struct analyse_input *in, struct record *r);
/* What runs in the cell; in analyse_cell.c. */
int analyse_cell(const struct text *parts, size_t n, struct buf *answer, struct err *err);

#endif
