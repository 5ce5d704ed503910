/* SPDX-License-Identifier: Apache-2.0 */
/* replay_search.h - search quality in replay: the shared ideal, and each run's
 * index of its copies. */
#ifndef ENGINE_REPLAY_REPLAY_SEARCH_H
#define ENGINE_REPLAY_REPLAY_SEARCH_H

#include "engine/replay/replay.h"

struct replay_search {
	struct search_set set;
	struct search_ideal ideal;
	uint32_t n_dropped;             /* queries without a word of the collection */
};

/* words: index is the word's number (NULL: queries can only be drawn); queries: a file,
 * or NULL to draw them.  Sets r->search. */
MUST_CHECK int replay_search_open(struct replay_search *s, struct replay *r,
                                  const struct search_opts *opts, const char *queries,
                                  const struct strtab *words, struct err *err);
void replay_search_close(struct replay_search *s);

/* Set the document of a page to this capture (PAGE_NONE or gone: no document). */
void replay_search_put(struct search_index *x, const struct replay *r, uint32_t page,
                       uint32_t capture);
void replay_search_begin(struct search_index *x, const struct replay *r,
                         const uint32_t *copy);
/* current: the capture that is current, by page. */
void replay_search_measure(struct search_index *x, const struct replay *r, uint32_t cycle,
                           const uint32_t *current,
                           bool (*fresh)(const void *arg, uint32_t page), const void *arg,
                           struct search_measure *m);

#endif
