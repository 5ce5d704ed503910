/* SPDX-License-Identifier: Apache-2.0 */
/* store_row.c - calls for one row, made of those for arrays; see store.h. */
#include <string.h>

#include "repo/store_backend.h"
#include "repo/store_gather.h"
#include "web/url/url.h"

static void keep(struct buf *b, struct text t, size_t *ret_at)
{
	*ret_at = b->size;
	if (t.s) {
		buf_add(b, t.s, t.size);
		buf_byte(b, 0);
	}
}

/* ---- pages ---- */

int store_page_add(struct store *s, struct text url, int64_t added, uint32_t *ret_number,
                   struct err *err)
{
	struct store_page p = { .url = url, .added = added, .weight = 1 };
	bool fresh = false;
	int rc = store_pages_add(s, &p, 1, &fresh, err);

	*ret_number = p.number;
	return rc < 0 ? rc : fresh;
}

struct got_page { struct store *s; struct store_page *ret; };

static int take_page(void *arg, const struct store_page *p, struct err *err)
{
	struct got_page *g = arg;
	struct buf *text = &g->s->page;
	size_t url, given;

	(void)err;
	buf_clear(text);
	keep(text, p->url, &url);
	keep(text, p->given, &given);
	*g->ret = *p;
	g->ret->url.s = text->data + url;
	if (p->given.s)
		g->ret->given.s = text->data + given;
	return 1;
}

int store_page_get(struct store *s, uint32_t number, struct store_page *ret, struct err *err)
{
	struct got_page g = { s, ret };

	return store_pages_get(s, &number, 1, take_page, &g, err);
}

int store_page_find(struct store *s, struct text url, struct store_page *ret, struct err *err)
{
	uint32_t number = STORE_NONE;
	int rc = store_pages_find(s, &url, 1, &number, err);

	return rc < 0 || number == STORE_NONE ? rc : store_page_get(s, number, ret, err);
}

struct store_page_change store_page_diff(const struct store_page *was,
                                         const struct store_page *now)
{
	struct store_page_change c = {
		.number = now->number, .to = *now, .visits = (int64_t)now->visits - was->visits,
		.changes = (int64_t)now->changes - was->changes,
	};

	c.set |= was->last_visit != now->last_visit ? STORE_SET_LAST_VISIT : 0;
	c.set |= was->last_change != now->last_change ? STORE_SET_LAST_CHANGE : 0;
	c.set |= was->fails != now->fails ? STORE_SET_FAILS : 0;
	c.set |= was->fails_gone != now->fails_gone ? STORE_SET_FAILS_GONE : 0;
	c.set |= was->state != now->state ? STORE_SET_STATE : 0;
	c.set |= was->capture != now->capture ? STORE_SET_CAPTURE : 0;
	c.set |= was->hint != now->hint ? STORE_SET_HINT : 0;
	c.set |= was->hint_seen != now->hint_seen ? STORE_SET_HINT_SEEN : 0;
	c.set |= was->found != now->found ? STORE_SET_FOUND : 0;
	c.set |= was->touched != now->touched || was->notifier != now->notifier ?
	         STORE_SET_TOUCHED : 0;
	c.set |= was->weight < now->weight || was->weight > now->weight ? STORE_SET_WEIGHT : 0;
	return c;
}

int store_page_update(struct store *s, const struct store_page *was,
                      const struct store_page *now, struct err *err)
{
	struct store_page_change c = store_page_diff(was, now);

	return c.set || c.visits || c.changes ? store_pages_change(s, &c, 1, err) : 0;
}

int store_page_weigh(struct store *s, uint32_t number, double weight, struct err *err)
{
	struct store_page_change c = { .number = number, .set = STORE_SET_WEIGHT,
	                               .to = { .weight = weight } };

	if (!(weight >= 0 && weight <= STORE_WEIGHT_MAX))
		return err_set(err, E_USAGE, "the weight of a page is a number from 0 to %g",
		               STORE_WEIGHT_MAX);
	return store_pages_change(s, &c, 1, err);
}

int store_page_given(struct store *s, uint32_t number, struct text url, struct text given,
                     struct err *err)
{
	struct store_page_change c = { .number = number, .set = STORE_SET_GIVEN,
	                               .to = { .given = given } };

	if (!given.size || given.size > URL_SIZE_MAX ||
	    (given.size == url.size && !memcmp(given.s, url.s, url.size)))
		return 0;
	return store_pages_change(s, &c, 1, err);
}

/* ---- captures and visits ---- */

struct text *store_capture_text(struct store_capture *c, size_t i)
{
	struct text *const texts[STORE_CAPTURE_TEXTS] = {
		&c->mime, &c->digest, &c->prose, &c->tags, &c->title, &c->etag, &c->modified,
		&c->links, &c->terms, &c->robots, &c->target, &c->worker, &c->file,
	};

	return texts[i];
}

int store_capture_put(struct store *s, struct store_capture *c, enum store_second how,
                      struct err *err)
{
	uint8_t what = STORE_KNOWN;
	int rc;

	c->id = 0;
	rc = store_captures_put(s, c, 1, how, &what, err);

	return rc < 0 ? rc : what;
}

int store_capture_add(struct store *s, struct store_capture *c, struct err *err)
{
	return store_capture_put(s, c, STORE_FIRST, err);
}

struct got_capture { struct store *s; struct store_capture *ret; };

static int take_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct got_capture *g = arg;
	struct buf *b = &g->s->capture;
	size_t at[STORE_CAPTURE_TEXTS];

	(void)err;
	*g->ret = *c;
	buf_clear(b);
	for (size_t i = 0; i < STORE_CAPTURE_TEXTS; i++)
		keep(b, *store_capture_text(g->ret, i), &at[i]);
	for (size_t i = 0; i < STORE_CAPTURE_TEXTS; i++) {      /* the buffer grows no more */
		struct text *t = store_capture_text(g->ret, i);

		if (t->s)
			t->s = b->data + at[i];
	}
	return 1;
}

int store_capture_get(struct store *s, uint64_t id, struct store_capture *ret, struct err *err)
{
	struct got_capture g = { s, ret };

	return store_captures_get(s, &id, 1, take_capture, &g, err);
}

int store_copy_get(struct store *s, uint64_t id, struct store_capture *ret, struct err *err)
{
	struct got_capture g = { s, ret };

	if (!s->gathering)
		return s->ops->copies_get(s, &id, 1, take_capture, &g, err);
	return gather_copy_get(s, s->gather, id, take_capture, &g, err);
}

int store_visit_add(struct store *s, const struct store_visit *v, struct err *err)
{
	return store_visits_add(s, v, 1, err);
}

/* ---- sites ---- */

int store_hint_get(struct store *s, struct text site, struct store_hint *ret, struct err *err)
{
	return store_hints_get(s, &site, 1, ret, err);
}

int store_hint_update(struct store *s, struct text site, const struct store_hint *was,
                      const struct store_hint *now, struct err *err)
{
	struct store_hint_change c = {
		.site = site, .checks = (int64_t)now->checks - was->checks,
		.hits = (int64_t)now->hits - was->hits, .told = (int64_t)now->told - was->told,
		.read = now->read, .doubt = now->doubt, .set_doubt = now->doubt != was->doubt,
	};

	return store_hints_change(s, &c, 1, err);
}

struct got_robots { struct store *s; struct store_robots *ret; };

static int take_robots(void *arg, const struct store_robots *r, struct err *err)
{
	struct got_robots *g = arg;
	struct buf *b = &g->s->robots;
	size_t origin, body;

	(void)err;
	buf_clear(b);
	keep(b, r->origin, &origin);
	keep(b, r->body, &body);
	*g->ret = *r;
	g->ret->origin.s = b->data + origin;
	if (r->body.s)
		g->ret->body.s = b->data + body;
	return 1;
}

int store_robots_get(struct store *s, struct text origin, struct store_robots *ret,
                     struct err *err)
{
	struct got_robots g = { s, ret };

	return store_robots(s, &origin, 1, take_robots, &g, err);
}
