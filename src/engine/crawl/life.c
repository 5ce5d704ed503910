/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.c - the source that tests pages for life; see life.h.
 *
 * A page takes one request of the budget when it is handed over; what follows
 * (GET after HEAD, redirect hops, retries) takes one each, asked for before it is
 * made.  As many requests as there are pages under test are held back, so that a
 * test that was begun can be ended; one that cannot is dropped, and its page comes
 * again when the run is gone on with.  Siblings cost no budget (they are counted
 * apart), for whether a page needs one depends on which page came first.
 *
 * When there is enough, what waits for its host is taken back from the fetcher.
 */
#include "engine/crawl/life_inner.h"

#include <string.h>

#include "base/mem.h"
#include "web/url/url.h"

#define BATCH 200
#define BATCH_SECONDS 5

void life_fetch_options(struct fetch_options *o)
{
	o->max_body = LIVENESS_BODY_MAX;
	o->max_redirects = LIVENESS_REDIRECTS_MAX;
	o->head = life_reconsider;
}

/* How many crawlers share the list.  It is read from the policy's spec, because a resumed
 * run keeps its policy, whatever the options say. */
static uint32_t parts_of(const char *policy)
{
	const char *s = strncmp(policy, "liverank:", 9) ? NULL : strstr(policy, "parts=");

	return s ? (uint32_t)strtoul(s + 6, NULL, 10) : 1;
}

static void begin(struct crawl *c)
{
	struct life *l = mem_zalloc(1, sizeof *l);

	analyser_init(&l->analyser);
	buf_init(&l->url, URL_SIZE_MAX);
	l->free_slot = LIFE_NONE;
	l->parts = parts_of(c->report->policy);
	l->spent = c->report->cycle.downloads;
	l->verdict = mem_zalloc(c->resumed->has.loaded.pages.n + 1ul, 1);
	c->life = l;
}

/* How large the opening sample may be, and when it ends; when all pages are known
 * that were here when the run began. */
static void set_sample(struct crawl *c)
{
	const struct life_opts *o = &c->opts->life;
	struct engine *e = &c->resumed->engine;
	uint64_t n = 0, most;

	for (uint32_t i = 0; i < e->view.n_pages; i++)
		n += (e->visits.state[i] & PAGE_HERE) != 0;
	c->report->life.pages = n;
	if (o->target <= 0 && !o->sample_only && !o->estimate)
		return;
	most = o->sample.value > 0 ? share_of(o->sample, n) : n * 15 / 100;
	if (most < LIFE_SAMPLE_LEAST && o->sample.value <= 0)
		most = LIFE_SAMPLE_LEAST;
	if (most > c->budget / 4)
		most = c->budget / 4;
	e->sample.rule.most = (uint32_t)(most < n ? most : n);
	e->sample.rule.hits = LIFE_SAMPLE_HITS;
	e->sample.rule.least = n / 100 > LIFE_SAMPLE_LEAST ? (uint32_t)(n / 100) :
	                       LIFE_SAMPLE_LEAST;
}

void life_free(struct life *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->probes.n; i++)
		free(l->probes.v[i].final_url);
	for (size_t i = 0; i < l->slots.n; i++)
		free(l->slots.v[i].final_url);
	vec_release(&l->host);
	vec_release(&l->probes);
	vec_release(&l->slots);
	strtab_release(&l->hosts);
	strtab_release(&l->dirs);
	strtab_release(&l->found);
	analyser_release(&l->analyser);
	buf_release(&l->url);
	free(l->verdict);
	free(l);
}

static uint32_t new_slot(struct life *l)
{
	uint32_t i = l->free_slot;

	if (i == LIFE_NONE) {
		i = (uint32_t)l->slots.n;
		vec_push(&l->slots, (struct life_slot){ 0 });
	} else {
		l->free_slot = l->slots.v[i].next;
	}
	l->n_open++;
	return i;
}

void life_free_slot(struct life *l, uint32_t slot)
{
	struct life_slot *s = &l->slots.v[slot];

	free(s->final_url);
	*s = (struct life_slot){ .next = l->free_slot };
	l->free_slot = slot;
	l->n_open--;
}

void life_drop(struct crawl *c, uint32_t slot)
{
	uint32_t lease = c->life->slots.v[slot].lease;

	engine_put_off(&c->resumed->engine, lease);
	crawl_quiet_answered(c, lease);
	life_free_slot(c->life, slot);
}

static void ask_page(struct crawl *c, uint32_t lease)
{
	struct life *l = c->life;
	uint32_t slot = new_slot(l);
	struct life_slot *s = &l->slots.v[slot];
	struct fetch_request q = { .page = slot, .any_type = true };

	q.url = pages_url(&c->resumed->has.loaded.pages,
	                  engine_lease(&c->resumed->engine, lease)->offer.page);
	q.method = life_method(c, q.url, &q.second_opinion);
	*s = (struct life_slot){ .lease = lease, .next = LIFE_NONE, .asked = q.method,
	                         .second_opinion = q.second_opinion };
	fetch_add(c->fetch, &q);
	crawl_quiet_asked(c, lease);
	l->spent++;
}

static bool may_ask(struct crawl *c)
{
	const struct life *l = c->life;

	return crawl_has_room(c, l->n_open) && (l->n_open ?
		l->spent + l->n_open + 1 < c->budget : l->spent < c->budget);
}

static int take_answer(struct crawl *c, struct err *err)
{
	const struct fetch_result *r;
	int rc;

	if (fetch_next(c->fetch, 0.2, &r) != FETCH_GOT)
		return crawl_sent_check(c, err);
	rc = life_answered(c, r, err);
	crawl_sent_flush(c, true);
	if (rc >= 0)
		rc = crawl_sent_check(c, err);
	if (rc < 0)
		return rc;
	if (c->batch.n >= (c->opts->batch ? c->opts->batch : BATCH) ||
	    crawl_seconds() - c->batch.began > BATCH_SECONDS)
		return crawl_commit(c, err);
	return 0;
}

int live_run(struct crawl *c, struct err *err)
{
	struct life *l = c->life;
	int rc = 0;

	while (rc == 0) {
		uint32_t lease;

		l->over = l->over || crawl_stopped(c) || life_enough(c);
		while (!l->over && may_ask(c) && crawl_ask(c, 0, &lease))
			ask_page(c, lease);
		if (crawl_stopped(c))
			crawl_stop_asking(c);
		else if (l->over)
			fetch_stop(c->fetch);
		if (!fetch_pending(c->fetch))
			break;
		rc = take_answer(c, err);
	}
	if (rc == 0)
		rc = crawl_commit(c, err);
	if (rc == 0 && crawl_stopped(c)) {
		c->report->stopped = true;
		rc = err_set(err, E_STOP, "stopped; what was found is kept, the next start goes on");
	}
	return rc;
}

/* The run so far, from the store. */
static int recall_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct crawl *c = arg;

	c->resumed->engine.visits.state[v->page] |= PAGE_HERE;  /* when the run began */
	return life_recall(c, v, err);
}

int life_start(struct crawl *c, struct err *err)
{
	struct engine *e = &c->resumed->engine;
	uint32_t cycle = c->report->cycle.number;
	int rc = 0;

	begin(c);
	if (c->report->resumed && (rc = life_state(c, err)) == 0)
		rc = store_visits(c->store, cycle, cycle + 1, recall_visit, c, err);
	set_sample(c);
	e->rules.no_fill = c->life->parts > 1;        /* the rest is for the other crawlers */
	return rc;
}
