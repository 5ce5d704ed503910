/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analyse.h - the body of a page into what a record tells of it.
 *
 * One way for every source: a WARC that is imported or replayed, and a page just
 * fetched.  Content encoding is undone (capped), the page is read once
 * (web/page/extract.h), and prose, tags, simhash, counts, title, links and robots of the
 * record are set.  They live until the next call.
 *
 * Links are those inside the page, each once, in page order, at most
 * RECORD_LINKS_MAX: "/path" if they stay on the page's scheme and host, absolute
 * if not.  A body that cannot be decoded is a document without text: its bytes
 * stand for all digests.
 */
#ifndef ENGINE_ARCHIVE_ANALYSE_H
#define ENGINE_ARCHIVE_ANALYSE_H

#include "base/buf.h"
#include "base/map.h"
#include "engine/archive/ignore.h"
#include "engine/archive/record.h"
#include "web/page/extract.h"
#include "web/text/terms.h"

struct analyse_input {
	struct slice url;               /* canonical */
	struct slice content_type, content_encoding;    /* header values, or nothing */
	const char *body;               /* transfer encoding removed */
	size_t size;
	unsigned robots;                /* of X-Robots-Tag headers: enum robots_tag, or-ed */
};

struct analyser {                       /* after analyser_init() */
	struct extract extract;
	struct extract_options options; /* what the digests leave out; may be changed */
	const struct ignore_list *rules;        /* set: elements left out, by site */
	struct word_counter *words;     /* set: counts the words of the page; only if the
	                                   record got its facts they are of this one */
	struct buf url, type, decoded, links, robots;
	struct map seen;                /* links; 1: one that may be followed */
	char prose[17], tags[17];
};

void analyser_init(struct analyser *a);
void analyser_release(struct analyser *a);
void analyse(struct analyser *a, const struct analyse_input *in, struct record *r);

#endif
