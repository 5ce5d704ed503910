/* SPDX-License-Identifier: Apache-2.0 */
/* copy_digest.c - a hash of every field of every row; see copy.h. */
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "repo/copy/copy.h"

struct digesting { struct store *s; struct copy_digest *tables; };

static const char *const names[N_COPY_TABLES] = {
	"pages", "captures", "visits", "cycles", "rounds", "leases", "care", "tags", "hints",
	"robots", "words", "settings", "states", "sent"
};

const char *copy_table_name(enum copy_table t)
{
	return names[t];
}

static void add_number(struct copy_digest *d, uint64_t v)
{
	d->hash = hash_bytes(&v, sizeof v, d->hash);
}

static void add_numbers(struct copy_digest *d, const int64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_number(d, (uint64_t)v[i]);
}
#define ADD(d, ...) add_numbers(d, (const int64_t[]){ __VA_ARGS__ }, \
	sizeof (const int64_t[]){ __VA_ARGS__ } / sizeof(int64_t))

static void add_real(struct copy_digest *d, double v)
{
	uint64_t bits;

	v = isnan(v) ? -1e300 : v + 0;          /* one kind of each */
	memcpy(&bits, &v, sizeof bits);
	add_number(d, bits);
}

/* A text that is not there is another than an empty one. */
static void add_text(struct copy_digest *d, struct text t)
{
	add_number(d, t.s ? t.size : UINT64_MAX);
	if (t.s)
		d->hash = hash_bytes(t.s, t.size, d->hash);
}

static struct copy_digest *table(void *arg, enum copy_table t)
{
	struct copy_digest *d = &((struct digesting *)arg)->tables[t];

	d->rows++;
	return d;
}

static int see_page(void *arg, const struct store_page *p, struct err *err)
{
	struct copy_digest *d = table(arg, COPY_PAGES);

	(void)err;
	add_text(d, p->url);
	add_text(d, p->given);
	ADD(d, p->number, p->added, p->last_visit, p->last_change, p->visits, p->changes, p->fails,
	    p->fails_gone, p->state, (int64_t)p->capture, p->hint, p->hint_seen, p->found, p->care,
	    p->touched, p->notifier);
	add_real(d, p->weight);
	return 0;
}

static int see_capture(void *arg, const struct store_capture *row, struct err *err)
{
	struct copy_digest *d = table(arg, COPY_CAPTURES);
	struct store_capture c = *row;

	(void)err;
	for (size_t i = 0; i < STORE_CAPTURE_TEXTS; i++)
		add_text(d, *store_capture_text(&c, i));
	ADD(d, (int64_t)c.id, c.page, c.time, c.status, c.revisit, c.has_simhash,
	    c.has_simhash ? (int64_t)c.simhash : 0, c.length, c.bytes_text, c.words, c.images,
	    c.tables, c.emails, c.outlinks, c.offset, c.size);
	return 0;
}

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct copy_digest *d = table(arg, COPY_VISITS);

	(void)err;
	ADD(d, v->cycle, v->page, v->time, v->outcome, v->reason, v->cause, v->extra, v->status,
	    v->hit, (int64_t)v->capture, v->order, v->place, v->goal);
	add_real(d, (double)v->score);
	add_real(d, (double)v->probability);
	return 0;
}

static int see_round(void *arg, uint32_t number, uint32_t after, struct err *err)
{
	(void)err;
	ADD(table(arg, COPY_ROUNDS), number, after);
	return 0;
}

static int see_lease(void *arg, const struct store_lease *l, struct err *err)
{
	struct copy_digest *d = table(arg, COPY_LEASES);

	(void)err;
	add_text(d, l->client);
	ADD(d, l->cycle, l->place, l->page, l->from, l->until, l->requests, l->order, l->state,
	    l->reason);
	add_real(d, (double)l->score);
	add_real(d, (double)l->probability);
	return 0;
}

static int see_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	struct digesting *g = arg;
	struct copy_digest *d = table(arg, COPY_CYCLES);
	int rc;

	add_text(d, c->policy);
	ADD(d, c->number, c->time, c->open, c->clients, c->goal, (int64_t)c->seed, c->budget,
	    c->pages, c->downloads, c->fresh, c->changed, c->same, c->gone, c->failed, c->blocked);
	add_real(d, c->seconds_plan);
	add_real(d, c->seconds_total);
	rc = store_rounds(g->s, c->number, see_round, g, err);
	return rc < 0 ? rc : store_leases(g->s, c->number, see_lease, g, err);
}

static int see_care(void *arg, const struct store_care *c, struct err *err)
{
	(void)err;
	ADD(table(arg, COPY_CARE), c->cycle, c->page, c->care, c->time);
	return 0;
}

static int see_tagged(void *arg, uint32_t page, struct err *err)
{
	(void)err;
	ADD(table(arg, COPY_TAGS), page);
	return 0;
}

static int see_tag(void *arg, struct text tag, uint64_t n_pages, struct err *err)
{
	struct digesting *g = arg;

	(void)n_pages;
	add_text(&g->tables[COPY_TAGS], tag);
	return store_tagged(g->s, tag, see_tagged, g, err);
}

static int see_hint(void *arg, struct text site, const struct store_hint *h, struct err *err)
{
	struct copy_digest *d = table(arg, COPY_HINTS);

	(void)err;
	add_text(d, site);
	ADD(d, h->checks, h->hits, h->told, h->read, h->doubt);
	return 0;
}

static int see_robots(void *arg, const struct store_robots *r, struct err *err)
{
	struct copy_digest *d = table(arg, COPY_ROBOTS);

	(void)err;
	add_text(d, r->origin);
	add_text(d, r->body);
	ADD(d, r->time, r->status, r->cut, r->tried, r->failing);
	return 0;
}

static int see_word(void *arg, uint32_t number, struct text word, struct err *err)
{
	struct copy_digest *d = table(arg, COPY_WORDS);

	(void)err;
	add_number(d, number);
	add_text(d, word);
	return 0;
}

static void add_pair(struct copy_digest *d, const char *key, const char *value)
{
	add_text(d, (struct text){ key, strlen(key) });
	add_text(d, (struct text){ value, strlen(value) });
}

static int see_setting(void *arg, const char *key, const char *value, struct err *err)
{
	(void)err;
	add_pair(table(arg, COPY_SETTINGS), key, value);
	return 0;
}

static int see_state(void *arg, const char *key, const char *value, struct err *err)
{
	(void)err;
	if (strcmp(key, COPY_STATE_KEY))
		add_pair(table(arg, COPY_STATES), key, value);
	return 0;
}

static int see_sent(void *arg, const struct store_sent *s, struct err *err)
{
	(void)err;
	ADD(table(arg, COPY_SENT), s->cycle, s->page, s->place, s->reason, s->read);
	return 0;
}

int copy_digest(struct store *s, struct copy_digest ret[N_COPY_TABLES], struct err *err)
{
	struct digesting g = { s, ret };
	int rc;

	memset(ret, 0, N_COPY_TABLES * sizeof *ret);
	if ((rc = store_pages(s, 0, see_page, &g, err)) < 0 ||
	    (rc = store_captures_since(s, 0, see_capture, &g, err)) < 0 ||
	    (rc = store_visits(s, 0, UINT32_MAX, see_visit, &g, err)) < 0 ||
	    (rc = store_cycles(s, 0, see_cycle, &g, err)) < 0 ||
	    (rc = store_care_log(s, STORE_NONE, 0, UINT32_MAX, see_care, &g, err)) < 0 ||
	    (rc = store_tags(s, STORE_NONE, see_tag, &g, err)) < 0 ||
	    (rc = store_hints(s, see_hint, &g, err)) < 0 ||
	    (rc = store_robots(s, NULL, 0, see_robots, &g, err)) < 0 ||
	    (rc = store_words(s, 0, see_word, &g, err)) < 0 ||
	    (rc = store_settings(s, see_setting, &g, err)) < 0 ||
	    (rc = store_states(s, STORE_OF_SHARD, see_state, &g, err)) < 0 ||
	    (rc = store_states(s, STORE_OF_WORKER, see_state, &g, err)) < 0)
		return rc;
	return store_sent(s, see_sent, &g, err);
}
