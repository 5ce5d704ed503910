/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life_judge.c - what answers say: of a page, of HEAD at its host, of a sibling.
 *
 * HEAD tells enough of a page that is not there, of one that is no text, and of
 * where it redirects to.  That a text is a page in earnest only its words tell, so
 * a GET follows (of the place where HEAD ended, not of the way there).  What HEAD
 * says is not there is asked by GET until the host has confirmed itself
 * TRUSTED times in a row.  A host where HEAD mostly had to be followed by GET, that
 * knows no HEAD (405, 501), or where GET found what HEAD denied, is asked by GET from
 * then on: on a host of living pages a test then costs one request.
 *
 * Siblings are asked for once a directory and run, when the first page there seems
 * to live; the others wait for the answer.
 */
#include "engine/crawl/life_inner.h"

#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "base/status.h"
#include "web/url/url.h"

#define TRUSTED 3
#define WASTE_ALLOWED 3
#define RNG_SIBLING (RNG_USER + 41)

enum { KIND_PAGE, KIND_PROBE };         /* values of fetch_request.site */

static struct life_host *host_of(struct life *l, const char *url)
{
	struct url_parts p;
	uint32_t i;
	bool fresh;

	url_split(url, strlen(url), &p);
	i = strtab_intern(&l->hosts, url, p.path, &fresh);
	if (fresh)
		vec_push(&l->host, (struct life_host){ 0 });
	return &l->host.v[i];
}

enum fetch_method life_method(struct crawl *c, const char *url, bool *ret_second_opinion)
{
	const struct life_host *h = host_of(c->life, url);

	*ret_second_opinion = h->agreed < TRUSTED;
	return c->opts->life.get_first || h->lies || h->wasted > h->decided + WASTE_ALLOWED ?
		FETCH_GET : FETCH_HEAD;
}

static const char *url_of(const struct crawl *c, const struct life_slot *s)
{
	return pages_url(&c->resumed->has.loaded.pages,
	                 engine_lease(&c->resumed->engine, s->lease)->offer.page);
}

void life_reconsider(void *self, uint32_t slot, enum fetch_method *method,
                     bool *second_opinion)
{
	struct crawl *c = self;
	struct life_slot *s = &c->life->slots.v[slot];

	s->asked = *method = life_method(c, url_of(c, s), second_opinion);
}

/* Is it a kind of document whose words can say "not found"? */
static bool may_be_text(const struct fetch_result *r)
{
	const char *v;
	size_t n;

	if (!fetch_header(r->head, r->head_size, "Content-Type", &v, &n) || !n)
		return true;
	if (n >= 5 && !strncasecmp(v, "text/", 5))
		return true;
	for (size_t i = 0; i + 3 <= n; i++)
		if (!strncasecmp(v + i, "xml", 3) || !strncasecmp(v + i, "html", n - i < 4 ? 3 : 4))
			return true;
	return false;
}

/* The status says that the server does not support HEAD; it says nothing of the page. */
static bool knows_no_head(int status)
{
	return status == 405 || status == 501;
}

static bool wants_body(const struct fetch_result *r)
{
	return r->method == FETCH_HEAD && r->error == FETCH_OK &&
	       ((status_is_page(r->status) && may_be_text(r)) || knows_no_head(r->status));
}

static void learn_of_head(struct life_host *h, const struct life_slot *s,
                          const struct fetch_result *r)
{
	bool good = r->error == FETCH_OK && r->status < 400;

	if (s->asked != FETCH_HEAD || !r->requests)
		return;
	if (r->method == FETCH_GET) {           /* HEAD was repeated as GET */
		h->wasted++;
		h->lies |= good || knows_no_head(r->head_status);
		h->agreed = good ? 0 : h->agreed + (r->status >= 400);
	} else if (wants_body(r)) {
		h->wasted++;
	} else {
		h->decided++;
	}
}

/* Note where redirects led, those of earlier requests included. */
static void note_way(struct life_slot *s, const struct fetch_result *r)
{
	if (!r->n_hops)
		return;
	if (!s->answer.redirects)
		s->first_status = r->hops[0].status;
	s->answer.redirects += (unsigned)r->n_hops;
	free(s->final_url);
	s->final_url = mem_strdup(r->url);
	s->answer.final_url = s->final_url;
	s->answer.final_size = strlen(s->final_url);
}

/* The text of an answer: its simhash, and whether it says that nothing is here. */
static bool read_text(struct life *l, const struct fetch_result *r,
                      struct liveness_answer *a)
{
	struct analyse_input in = { .body = r->decoded, .size = r->decoded_size };
	struct record rec = { .facts = { -1, -1, -1, -1, -1, -1 } };
	struct err why;
	const char *v;
	size_t n;

	if (r->method != FETCH_GET || r->error != FETCH_OK || !status_is_page(r->status))
		return false;
	if (fetch_header(r->head, r->head_size, "Content-Type", &v, &n))
		in.content_type = (struct text){ v, n };
	l->analyser.look_for_phrase = true;
	if (analyse(&l->analyser, &in, &rec, &why) < 0) {
		log_warn("%s: %s", r->url, why.text);
		return false;
	}
	if (rec.facts.text < 0)         /* no text */
		return false;
	a->simhash = rec.simhash;
	a->not_found_phrase = l->analyser.not_found;
	return true;
}

/* The status to judge by; 0: no answer.  If a host rests because it asked us to (429, 503),
 * we know nothing of the page.  If it rests because it does not answer, the page is dead. */
static int status_of(const struct fetch_result *r, const struct life_host *h)
{
	if (r->error == FETCH_OK || r->error == FETCH_REDIRECT)
		return r->status;
	if (r->error == FETCH_BACKOFF && !h->silent)
		return r->status ? r->status : 503;
	return 0;
}

/* ---- siblings ---- */

static uint32_t probe_of(struct life *l, const char *url)
{
	struct url_parts p;
	size_t dir;
	uint32_t i;
	bool fresh;

	url_split(url, strlen(url), &p);
	for (dir = p.query; url[dir - 1] != '/'; dir--)
		;
	i = strtab_intern(&l->dirs, url, dir, &fresh);
	if (fresh)
		vec_push(&l->probes, (struct life_probe){ .waiting = LIFE_NONE });
	return i;
}

static void ask_sibling(struct crawl *c, uint32_t number, const char *url)
{
	struct life *l = c->life;
	struct life_probe *p = &l->probes.v[number];
	const struct store_cycle *row = &c->report->cycle;
	struct fetch_request q = { .page = number, .site = KIND_PROBE, .next = true,
	                           .any_type = true };
	struct err why;

	buf_clear(&l->url);
	if (liveness_sibling(url, strlen(url), rng_draw(row->seed, row->number, number,
	                     RNG_SIBLING), &l->url, &why) < 0) {
		p->state = PROBE_KNOWN; /* the URL is too long for a sibling: pages are believed */
		return;
	}
	q.url = buf_text(&l->url);
	p->state = PROBE_ASKED;
	fetch_add(c->fetch, &q);
}

uint32_t life_lease(const struct life *l, const struct fetch_sent *request)
{
	return request->site == KIND_PROBE ? 0 : l->slots.v[request->page].lease;
}

/* The page seems to live; or does the server answer every URL like this? */
static int judge_by_sibling(struct crawl *c, uint32_t slot, const struct life_probe *p,
                            struct err *err)
{
	struct life_slot *s = &c->life->slots.v[slot];
	const char *url = url_of(c, s);
	double similarity = s->is_text && p->is_text ? -1 : 0;
	bool alive = liveness_by_sibling(url, strlen(url), &s->answer, &p->answer, similarity,
	                                 NULL);

	return life_write(c, slot, alive ? LIVENESS_REAL_200 : LIVENESS_SOFT_404, FETCH_OK, err);
}

static int decide(struct crawl *c, uint32_t slot, enum fetch_error error, struct err *err)
{
	struct life *l = c->life;
	struct life_slot *s = &l->slots.v[slot];
	const char *url = url_of(c, s);
	enum liveness_class target;
	struct life_probe *p;
	struct url_parts parts;
	uint32_t number;

	liveness_classify(&s->answer, &target);
	url_split(url, strlen(url), &parts);
	if (target != LIVENESS_REAL_200 || parts.end - parts.path == 1)
		return life_write(c, slot, target, error, err);
	number = probe_of(l, url);
	p = &l->probes.v[number];
	if (p->state == PROBE_NEW)
		ask_sibling(c, number, url);
	if (p->state == PROBE_KNOWN)
		return judge_by_sibling(c, slot, p, err);
	s->next = p->waiting;
	p->waiting = slot;
	return 0;
}

static int probe_answered(struct crawl *c, const struct fetch_result *r, struct err *err)
{
	struct life *l = c->life;
	struct life_probe *p = &l->probes.v[r->page];
	uint32_t slot = p->waiting;
	bool stopped = r->error == FETCH_STOPPED || r->error == FETCH_BUDGET;
	int rc = 0;

	c->report->life.probes += r->requests + r->robots;
	/* redirects of a probe cost no budget */
	c->life->spent -= (r->requests > 1 ? r->requests - 1 : 0) + r->robots;
	p->waiting = LIFE_NONE;
	/* no answer: pages that wait are believed, and the next page probes again */
	p->state = stopped || !r->status ? PROBE_NEW : PROBE_KNOWN;
	p->answer = (struct liveness_answer){ .status = status_of(r, &(struct life_host){ 0 }),
		.redirects = (unsigned)r->n_hops };
	p->is_text = read_text(l, r, &p->answer);
	free(p->final_url);
	p->final_url = NULL;
	if (r->n_hops) {
		p->final_url = mem_strdup(r->url);
		p->answer.final_url = p->final_url;
		p->answer.final_size = strlen(p->final_url);
	}
	while (slot != LIFE_NONE && rc == 0) {
		uint32_t next = l->slots.v[slot].next;

		if (stopped)
			life_drop(c, slot);
		else
			rc = judge_by_sibling(c, slot, p, err);
		slot = next;
	}
	return rc;
}

/* ---- pages ---- */

/* Ask before the other pages of the host: a test ends before the next begins.  So an
 * interrupted run loses little, and we know soon how the host behaves. */
static void ask_body(struct crawl *c, uint32_t slot, const char *url)
{
	struct fetch_request q = { .page = slot, .url = url, .method = FETCH_GET, .next = true,
	                           .any_type = true };

	c->life->slots.v[slot].asked = FETCH_GET;
	fetch_add(c->fetch, &q);
}

static int page_answered(struct crawl *c, const struct fetch_result *r, struct err *err)
{
	struct life *l = c->life;
	struct life_slot *s = &l->slots.v[r->page];
	struct life_host *h;

	if (r->error == FETCH_STOPPED || r->error == FETCH_BUDGET) {
		c->life->spent -= r->requests == 0;
		life_drop(c, r->page);
		return 0;
	}
	s->time = c->opts->now ? c->report->cycle.time : r->time ? r->time : time(NULL);
	h = host_of(l, url_of(c, s));
	learn_of_head(h, s, r);
	s->requests += r->requests;
	s->robots += r->robots;
	if (life_forbidden(s, r->error))
		c->life->spent--;
	note_way(s, r);
	s->answer.status = status_of(r, h);
	h->silent = !s->answer.status && !s->answer.redirects;
	if (wants_body(r)) {
		if (!life_may_spend(c)) {
			life_drop(c, r->page);
			return 0;
		}
		ask_body(c, r->page, r->url);
		return 0;
	}
	s->is_text = read_text(l, r, &s->answer);
	return decide(c, r->page, r->error, err);
}

int life_answered(struct crawl *c, const struct fetch_result *r, struct err *err)
{
	c->life->spent -= r->unused;
	return r->site == KIND_PROBE ? probe_answered(c, r, err) : page_answered(c, r, err);
}
