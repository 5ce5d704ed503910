/* SPDX-License-Identifier: Apache-2.0 */
/* living_history.c - see living_history.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/archive/analyse.h"
#include "living_history.h"
#include "warc/warc.h"

struct writing {
	struct warc_hasher hasher;
	struct analyser analyser;
	struct buf body;
};

/* A page as it is: its digest and what its HTML tells. */
static void describe(struct writing *w, char text[WARC_DIGEST_TEXT], struct record *rec)
{
	struct warc_digest d;

	warc_hasher_begin(&w->hasher, WARC_SHA1);
	warc_hasher_add(&w->hasher, w->body.data, w->body.size);
	warc_hasher_end(&w->hasher, &d);
	warc_digest_bare(&d, text);
	if (rec->status == 200)
		analyse_here(&w->analyser, &(struct analyse_input){ .url = rec->url,
			.content_type = { "text/html", 9 }, .body = w->body.data,
			.size = w->body.size }, rec);
	rec->length = (int64_t)w->body.size;
	rec->digest = (struct text){ text, strlen(text) };
}

void living_history(const struct living *l, int64_t end, int64_t cycle_seconds,
                    struct history *h, void (*url_of)(void *arg, uint32_t page, char out[128]),
                    void *arg)
{
	struct writing w = { 0 };
	struct err err;

	buf_init(&w.body, 1 << 20);
	analyser_init(&w.analyser);
	for (uint32_t i = 0; i < living_count(l); i++) {
		int64_t last = -1;
		char url[128], text[WARC_DIGEST_TEXT];

		url_of(arg, i, url);
		for (int64_t t = l->start; t <= end; t += l->slot) {
			struct living_state st = living_at(l, i, t);
			struct record rec = { .url = { url, strlen(url) }, .time = t, .length = -1,
				.offset = -1, .status = st.failure ? st.failure :
				st.dead && !st.soft ? 410 : 200 };

			if (st.failure ? (t - l->start) % cycle_seconds != 0 :
			    t > l->start && st.modified == last)
				continue;
			if (!st.failure) {
				last = st.modified;
				buf_clear(&w.body);
				living_body(l, i, st, &w.body);
				describe(&w, text, &rec);
			}
			assert_int_equal(history_add(h, &rec, &err), 0);
		}
	}
	warc_hasher_release(&w.hasher);
	analyser_release(&w.analyser);
	buf_release(&w.body);
}
