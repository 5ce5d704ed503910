/* SPDX-License-Identifier: Apache-2.0 */
/* client_ask.c - another crawler asks for pages; see client.h. */
#include "engine/client/client_inner.h"

#include <string.h>

#include "engine/cycle/cycle.h"

struct wishing {
	struct client *c;
	const struct client_asking *a;
	int64_t until;
	struct map hosts;               /* pages in its hands, by site */
	struct map only;                /* sites that it wants, if it named any */
	VEC(struct due { uint32_t number; bool again; }) due;   /* leases that it gets */
};

static uint32_t in_hand(const struct wishing *w, uint32_t page)
{
	uint32_t n = map_get(&w->hosts, w->c->resumed.engine.view.site[page]);

	return n == MAP_NONE ? 0 : n;
}

static void took(struct wishing *w, uint32_t page)
{
	map_put(&w->hosts, w->c->resumed.engine.view.site[page], in_hand(w, page) + 1);
}

static bool fits(void *arg, const struct offer *o)
{
	struct wishing *w = arg;

	if (w->a->n_hosts && map_get(&w->only, w->c->resumed.engine.view.site[o->page]) == MAP_NONE)
		return false;
	/* to drop it is an event, which waits while the policy thinks */
	if (w->c->plans && !engine_has_room(&w->c->resumed.engine, o))
		return false;
	if ((w->a->per_host && in_hand(w, o->page) >= w->a->per_host) ||
	    client_slot(w->c, o->page, w->a->now, false) >= w->until)
		return false;
	return true;
}

static const char *copy_text(struct client *c, struct text t)
{
	return t.s && t.size ? arena_strndup(&c->texts, t.s, t.size) : NULL;
}

static uint64_t lease_key(const struct client *c, uint32_t number)
{
	return (uint64_t)c->ledger.last.row.number << 32 | number;
}

/* An offer as its client sees it, but for robots.txt. */
static int show(struct client *c, uint32_t number, bool again, struct err *err)
{
	const struct store_lease *row = ledger_lease(&c->ledger, number);
	struct client_offer o = {
		.url = pages_url(&c->resumed.has.loaded.pages, row->page), .not_before = row->from,
		.until = row->until, .max_requests = row->requests, .score = (double)row->score,
		.probability = (double)row->probability,
		.reason = reason_name(row->reason < N_REASONS ? row->reason : REASON_NONE),
		.again = again,
	};
	struct store_capture copy;
	struct store_page p;
	int rc = store_page_get(c->store, row->page, &p, err);

	ledger_id(row->cycle, number, o.lease);
	if (rc > 0) {
		o.last_visit = p.last_visit;
		o.given = copy_text(c, p.given);
		if (p.capture && (rc = store_capture_get(c->store, p.capture, &copy, err)) > 0) {
			o.etag = copy_text(c, copy.etag);
			o.last_modified = copy_text(c, copy.modified);
		}
	}
	if (!o.given)
		o.given = o.url;
	vec_push(&c->offers, o);
	map_put(&c->shown, lease_key(c, number), 1);
	return rc < 0 ? rc : 0;
}

/* All that the client gets, from one read of their pages. */
static int show_due(struct wishing *w, struct err *err)
{
	struct client *c = w->c;
	VEC(uint32_t) pages = { 0 };
	int rc;

	for (size_t i = 0; i < w->due.n; i++)
		vec_push(&pages, ledger_lease(&c->ledger, w->due.v[i].number)->page);
	rc = store_foresee(c->store, &(struct store_ahead){ .pages = pages.v, .n_pages = pages.n },
	                   err);
	for (size_t i = 0; i < w->due.n && rc == 0; i++)
		rc = show(c, w->due.v[i].number, w->due.v[i].again, err);
	vec_release(&pages);
	return rc < 0 ? rc : client_robots(c, w->a->agent, w->a->now, err);
}

/* What a client has and has not told. */
static void give_again(struct wishing *w)
{
	struct client *c = w->c;

	for (uint32_t i = ledger_first(&c->ledger); w->a->name && *w->a->name &&
	     i <= c->ledger.leases.n; i++) {
		const struct store_lease *row = ledger_lease(&c->ledger, i);

		if (row->state != STORE_LEASE_OUT || row->page >= c->resumed.engine.view.n_pages ||
		    !ledger_is_of(&c->ledger, i, w->a->name))
			continue;
		took(w, row->page);
		if (w->due.n < w->a->want &&
		    !(w->a->once && map_get(&c->shown, lease_key(c, i)) != MAP_NONE))
			vec_push(&w->due, ((struct due){ i, true }));
	}
}

/* Write an offer of the engine down, with the requests that are held for it. */
static int lease_out(struct wishing *w, uint32_t lease, struct err *err)
{
	struct client *c = w->c;
	struct engine *e = &c->resumed.engine;
	const struct offer *o = &engine_lease(e, lease)->offer;
	uint32_t most = w->a->max_requests ? w->a->max_requests : 1, n = 0;
	struct store_lease row = {
		.page = o->page, .until = w->until, .score = o->score,
		.probability = o->probability, .reason = o->reason,
	};
	int rc;

	while (n < most && engine_spend(e, lease))
		n++;
	if (!n) {                       /* its owner has had its part */
		engine_drop(e, lease);
		rc = ledger_offer(&c->ledger, &row, err);
		return rc < 0 ? rc : ledger_close(&c->ledger, (uint32_t)c->ledger.leases.n,
		                                  STORE_LEASE_DROPPED, err);
	}
	row.client.s = w->a->name ? w->a->name : "";
	row.client.size = strlen(row.client.s);
	row.requests = n;
	row.from = client_slot(c, o->page, w->a->now, true);
	took(w, o->page);
	rc = ledger_offer(&c->ledger, &row, err);
	if (rc == 0)
		vec_push(&w->due, ((struct due){ (uint32_t)c->ledger.leases.n, false }));
	return rc;
}

/* Ask the engine until it has no more, or there is enough. */
static int fill(struct wishing *w, bool impatient, enum ask *ret, struct err *err)
{
	struct client *c = w->c;
	bool queue_only = c->ahead;
	uint32_t lease;
	size_t n;
	int rc = 0;

	*ret = ASK_OFFERS;
	/* one by one: who gets a page decides which may follow */
	while (rc == 0 && w->due.n < w->a->want && *ret == ASK_OFFERS) {
		struct asking a = { .want = 1, .impatient = impatient, .fits = fits, .arg = w,
		                    .queue_only = queue_only };

		*ret = engine_ask(&c->resumed.engine, &a, &lease, &n);
		impatient = false;
		if (*ret == ASK_GRANT) {
			bool more;

			rc = client_fleet_more(c, &more, err);
			*ret = more ? ASK_OFFERS : *ret;
			continue;
		}
		if (*ret == ASK_OFFERS)
			rc = lease_out(w, lease, err);
	}
	return rc;
}

/* How long to wait: until the engine would not wait any longer, or an offer lapses. */
static int64_t wait_seconds(struct client *c, int64_t now)
{
	int64_t at = c->ledger.waited + CLIENT_PATIENCE;

	for (uint32_t i = ledger_first(&c->ledger); i <= c->ledger.leases.n; i++) {
		const struct store_lease *row = ledger_lease(&c->ledger, i);

		if (row->state == STORE_LEASE_OUT && row->until < at)
			at = row->until;
	}
	return at > now ? at - now : 1;
}

static int serve(struct client *c, const struct client_asking *a, struct client_asked *ret,
                 struct err *err)
{
	struct wishing w = { .c = c, .a = a,
	                     .until = a->now + (a->seconds > 0 ? a->seconds : CLIENT_FOR) };
	struct engine *e = &c->resumed.engine;
	struct ledger *l = &c->ledger;
	bool impatient = l->waited && a->now >= l->waited + CLIENT_PATIENCE;
	enum ask what = ASK_OFFERS;
	int rc;

	give_again(&w);
	for (size_t i = 0; i < a->n_hosts; i++) {
		uint32_t site = strtab_find(&c->resumed.has.loaded.pages.site_names, a->hosts[i],
		                            strlen(a->hosts[i]));

		if (site != MAP_NONE)
			map_put(&w.only, site, 1);
	}
	rc = fill(&w, impatient, &what, err);
	c->dry = what == ASK_DONE || (what == ASK_GRANT && c->grants_over);
	if (rc == 0)
		rc = show_due(&w, err);
	if (c->offers.n) {
		ret->answer = CLIENT_OFFERS;
		l->waited = 0;
	} else if (what == ASK_DONE) {
		ret->answer = CLIENT_DONE;
	} else if (what == ASK_GRANT) {
		ret->answer = CLIENT_WAIT;
		ret->wait = 1;
	} else if (c->plans || (c->ahead && engine_is_due(e, UINT32_MAX, impatient))) {
		ret->answer = CLIENT_WAIT;      /* a round is about to come */
		ret->wait = 1;
		c->impatient |= impatient;
		l->waited = impatient ? a->now : l->waited;
	} else {
		ret->answer = CLIENT_WAIT;
		if (!l->waited || a->now >= l->waited + CLIENT_PATIENCE)
			l->waited = a->now;
		ret->wait = wait_seconds(c, a->now);
	}
	l->last.row.seconds_plan += e->cycle.plan_seconds - c->seconds_counted;
	c->seconds_counted = e->cycle.plan_seconds;
	ret->offers = c->offers.v;
	ret->n = c->offers.n;
	map_release(&w.hosts);
	map_release(&w.only);
	vec_release(&w.due);
	return rc;
}

int client_ask(struct client *c, const struct client_asking *a, struct client_asked *ret,
               struct err *err)
{
	int rc;

	*ret = (struct client_asked){ 0 };
	c->offers.n = 0;
	arena_reset(&c->texts);
	if (!a->want || a->want > CLIENT_WANT_MAX)
		return err_set(err, E_USAGE, "pages can be asked for by 1 to %d", CLIENT_WANT_MAX);
	if (a->name && strlen(a->name) > LEDGER_NAME_MAX)
		return err_set(err, E_USAGE, "the name of a client has at most %d bytes",
		               LEDGER_NAME_MAX);
	rc = client_enter(c, err);
	if (rc == 0 && c->ahead && !client_stands(c, a)) {      /* somebody else prepares it */
		c->wanted = true;
		c->wanted_anew |= a->anew;
		*ret = (struct client_asked){ .answer = CLIENT_WAIT, .wait = 1,
		                              .cycle = c->ledger.last.row };
		return client_leave(c, 0);
	}
	if (rc == 0 && (rc = client_open_cycle(c, a, ret, err)) > 0) {
		ret->answer = CLIENT_DONE;      /* pages that come later must not wait for its end */
		ret->cycle = c->ledger.last.row;
		return client_leave(c, 0);
	}
	if (rc == 0 && (rc = serve(c, a, ret, err)) == 0)
		rc = client_commit(c, err);
	if (rc == 0) {
		ret->cycle = c->ledger.last.row;
		ret->begun |= c->news.begun;
		ret->taken_off += c->news.taken_off;
		ret->ended = c->news.ended ? c->news.ended : ret->ended;
		c->news = (struct client_news){ 0 };
	}
	return client_leave(c, rc);
}
