/* SPDX-License-Identifier: Apache-2.0 */
/* check_rows.c - see check_rows.h. */
#include "engine/check/check_rows.h"

#include <stdlib.h>

void check_rows_begin(struct check_rows *r, const struct check_capture *v, size_t n)
{
	if (!r->rows)
		r->rows = mem_zalloc(CHECK_WINDOW, sizeof *r->rows);
	r->v = v;
	r->n = n;
	r->n_read = 0;
}

void check_rows_release(struct check_rows *r)
{
	free(r->rows);
	arena_release(&r->texts);
	map_release(&r->urls);
	vec_release(&r->url_of);
}

static struct text keep(struct check_rows *r, struct text t)
{
	return t.s ? (struct text){ arena_strndup(&r->texts, t.s, t.size), t.size } : t;
}

static int see_row(void *arg, const struct store_capture *c, struct err *err)
{
	struct check_rows *r = arg;
	struct check_row *row;

	(void)err;
	while (r->filling < r->n_read && r->v[r->first + r->filling].id != c->id)
		r->filling++;
	if (r->filling == r->n_read)
		return 0;
	row = &r->rows[r->filling++];
	row->there = true;
	row->capture = (struct store_capture){
		.id = c->id, .page = c->page, .time = c->time, .status = c->status,
		.revisit = c->revisit, .digest = keep(r, c->digest), .target = keep(r, c->target),
		.file = keep(r, c->file), .worker = keep(r, c->worker), .offset = c->offset,
		.size = c->size,
	};
	return 0;
}

static int see_url(void *arg, const struct store_page *p, struct err *err)
{
	struct check_rows *r = arg;
	uint32_t i = map_get(&r->urls, p->number);

	(void)err;
	if (i != MAP_NONE)
		r->url_of.v[i] = keep(r, p->url);
	return 0;
}

/* The URLs of their pages, which are read once each. */
static int read_urls(struct check_rows *r, struct err *err)
{
	VEC(uint32_t) pages = { 0 };
	int rc;

	map_clear(&r->urls);
	r->url_of.n = 0;
	for (size_t i = 0; i < r->n_read; i++) {
		bool is_new;

		map_intern(&r->urls, r->rows[i].capture.page, (uint32_t)r->url_of.n, &is_new);
		if (!is_new)
			continue;
		vec_push(&r->url_of, ((struct text){ 0 }));
		vec_push(&pages, r->rows[i].capture.page);
	}
	rc = store_pages_get(r->store, pages.v, pages.n, see_url, r, err);
	if (rc == E_STORE) {            /* one makes no sense, which was said; the others do */
		for (size_t i = 0; i < pages.n && (rc == 0 || rc == E_STORE); i++)
			rc = store_pages_get(r->store, &pages.v[i], 1, see_url, r, err);
		rc = rc == E_STORE ? 0 : rc;
	}
	for (size_t i = 0; i < r->n_read && rc == 0; i++)
		r->rows[i].url = r->url_of.v[map_get(&r->urls, r->rows[i].capture.page)];
	vec_release(&pages);
	return rc;
}

static int load_rows(struct check_rows *r, size_t first, struct err *err)
{
	uint64_t ids[CHECK_WINDOW];
	int rc;

	arena_reset(&r->texts);
	r->first = first;
	r->n_read = r->n - first < CHECK_WINDOW ? r->n - first : CHECK_WINDOW;
	r->filling = 0;
	for (size_t i = 0; i < r->n_read; i++) {
		ids[i] = r->v[first + i].id;
		r->rows[i] = (struct check_row){ .capture.page = r->v[first + i].page };
	}
	rc = store_captures_get(r->store, ids, r->n_read, see_row, r, err);
	return rc < 0 ? rc : read_urls(r, err);
}

int check_rows_get(struct check_rows *r, size_t i, const struct check_row **ret,
                   struct err *err)
{
	int rc = 0;

	if (i < r->first || i >= r->first + r->n_read)
		rc = load_rows(r, i, err);
	if (rc == 0)
		*ret = &r->rows[i - r->first];
	return rc;
}
