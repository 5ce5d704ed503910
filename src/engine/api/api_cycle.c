/* SPDX-License-Identifier: Apache-2.0 */
/* api_cycle.c - ask and tell within the open cycle; include/freshet.h is their manual. */
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "engine/api/api.h"
#include "engine/client/client.h"
#include "web/url/url.h"

#define WANT_USUAL 100
#define TELL_MOST 1000000       /* outcomes of one call */

/* The client of the handle, made of options and settings; to begin with, of settings. */
struct api_client {
	struct client *client;
	struct arena texts;             /* of its options, for as long as it lives */
	const char *name;               /* or NULL */
	bool anew;
	/* the last answer, which outlives the tells that follow it: */
	struct arena answer;
	VEC(struct freshet_offer) offers;
	VEC(const struct freshet_offer *) list;
};

static const char *copy_text(struct arena *a, const char *s)
{
	return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

void api_client_close(struct freshet *f)
{
	struct api_client *c = f->client;

	if (!c)
		return;
	client_close(c->client);
	arena_release(&c->texts);
	arena_release(&c->answer);
	vec_release(&c->offers);
	vec_release(&c->list);
	free(c);
	f->client = NULL;
}

static int client_make(struct freshet *f, const struct freshet_cycle_options *o)
{
	struct client_opts co;
	struct api_settings s;
	struct api_client *c;
	int rc = api_settings(f, &s);

	if (rc == 0 && o->aim)
		rc = api_choice(f, "aim", o->aim, AIM_CHOICES, &s.aim);
	if (rc == 0 && o->weight)
		rc = api_choice(f, "weight", o->weight, WEIGHT_CHOICES, &s.weight);
	if (rc == 0 && (o->cycle_seconds < 0 || isnan(o->delay) || o->delay > 3600))
		rc = err_set(&f->err, E_USAGE, "a time is below 0 or too long");
	if (rc == 0 && o->client && strlen(o->client) > LEDGER_NAME_MAX)
		rc = err_set(&f->err, E_LIMIT, "the name of a client has %d bytes at most",
		             LEDGER_NAME_MAX);
	if (rc < 0)
		return rc;
	api_client_close(f);
	f->client = c = mem_zalloc(1, sizeof *c);
	co = (struct client_opts){
		.policy = copy_text(&c->texts, o->policy ? o->policy : s.policy), .seed = o->seed,
		.budget = o->budget ? (struct share){ o->budget, false } : s.budget,
		.rules = { .aim = (enum aim)s.aim, .weight = (enum weight_by)s.weight,
		           .every = o->cycle_seconds ? o->cycle_seconds : s.every,
		           .max_age = s.max_age, .site_share = s.site_share,
		           .retry_share = s.retry_share },
		.notifier_share = s.notifier_share,
		.delay = o->delay < 0 ? 0 : o->delay > 0 ? o->delay : s.delay,
		.confirmations = (unsigned)s.confirmations,
		.progress = api_watch(f),
	};
	c->name = copy_text(&c->texts, o->client);
	c->anew = o->anew != 0;
	client_open(&c->client, f->store, &co);
	return 0;
}

/* Who did not begin a cycle goes by the settings. */
static int client_have(struct freshet *f)
{
	return f->client ? 0 : client_make(f, &(struct freshet_cycle_options){ 0 });
}

int freshet_cycle_begin(struct freshet *f, const struct freshet_cycle_options *options)
{
	struct freshet_cycle_options o;
	int rc = api_begin(f, API_STORE);

	if (rc < 0)
		return rc;
	rc = API_TAKE(f, o, options);
	if (rc == 0)
		rc = client_make(f, &o);
	return api_end(f, rc);
}

static int give_asked(struct freshet *f, const struct client_asked *a,
                      struct freshet_asked *ret)
{
	struct api_client *c = f->client;
	struct freshet_asked asked = {
		.n = (uint32_t)a->n, .done = a->answer == CLIENT_DONE,
		.wait = a->answer == CLIENT_WAIT ? a->wait : 0, .cycle = a->cycle.number,
		.budget = a->cycle.budget, .spent = a->cycle.downloads,
	};

	c->offers.n = c->list.n = 0;
	arena_reset(&c->answer);
	for (size_t i = 0; i < a->n; i++) {
		const struct client_offer *from = &a->offers[i];
		struct freshet_offer o = {
			.size = sizeof o, .lease = copy_text(&c->answer, from->lease),
			.url = copy_text(&c->answer, from->url), .etag = copy_text(&c->answer, from->etag),
			.given = copy_text(&c->answer, from->given),
			.last_modified = copy_text(&c->answer, from->last_modified),
			.last_visit = from->last_visit,
			.not_before = from->not_before, .until = from->until,
			.max_requests = from->max_requests, .again = from->again,
			.score = from->score, .probability = from->probability, .reason = from->reason,
			.robots = from->robots, .robots_read = from->robots_read,
			.crawl_delay = from->crawl_delay,
		};

		vec_push(&c->offers, o);
	}
	for (size_t i = 0; i < a->n; i++)
		vec_push(&c->list, &c->offers.v[i]);
	asked.offers = c->list.v;
	return api_give(f, ret, &asked, sizeof asked);
}

int freshet_ask(struct freshet *f, const struct freshet_ask_options *options,
                struct freshet_asked *ret)
{
	struct freshet_ask_options o;
	struct client_asked asked = { 0 };
	struct client_asking asking;
	int rc = api_begin(f, API_STORE);

	if (rc < 0)
		return rc;
	rc = API_TAKE(f, o, options);
	if (rc == 0)
		rc = api_check_result(f, ret);
	if (rc == 0 && (o.want > CLIENT_WANT_MAX || o.lease_seconds < 0))
		rc = err_set(&f->err, E_LIMIT, "%u pages at most at a time, and a time for them",
		             CLIENT_WANT_MAX);
	if (rc == 0)
		rc = client_have(f);
	if (rc < 0)
		return api_end(f, rc);
	asking = (struct client_asking){
		.name = f->client->name, .agent = o.agent, .want = o.want ? o.want : WANT_USUAL,
		.per_host = o.per_host, .max_requests = o.max_requests,
		.seconds = o.lease_seconds, .now = api_now(f, 0), .anew = f->client->anew, .once = true,
	};
	rc = client_ask(f->client->client, &asking, &asked, &f->err);
	if (rc == 0) {
		f->client->anew = false;
		rc = give_asked(f, &asked, ret);
	}
	return api_end(f, rc);
}

static struct text text_of(const char *s)
{
	return (struct text){ s, s ? strlen(s) : 0 };
}

/* As the engine numbers them. */
static const int outcomes[] = {
	[FRESHET_BY_STATUS] = TOLD_NOTHING, [FRESHET_SAME] = OUTCOME_SAME,
	[FRESHET_CHANGED] = OUTCOME_CHANGED, [FRESHET_GONE] = OUTCOME_GONE,
	[FRESHET_FAILED] = OUTCOME_FAILED, [FRESHET_BLOCKED] = OUTCOME_BLOCKED,
};

/* Checked as a line of a file is; the canonical URL lives until the call ends. */
static int take_told(struct freshet *f, const struct freshet_told *told, struct told *ret)
{
	struct freshet_told t;
	struct err why = { 0 };
	struct buf url;
	int rc = told ? API_TAKE(f, t, told) : err_set(&f->err, E_USAGE, "nothing is told");

	if (rc < 0)
		return rc;
	if (!t.lease && !t.url)
		return err_set(&f->err, E_USAGE, "neither lease nor url");
	if ((unsigned)t.outcome > FRESHET_BLOCKED)
		return err_set(&f->err, E_USAGE, "%d is no outcome", (int)t.outcome);
	if (t.status && (t.status < 100 || t.status > 999))
		return err_set(&f->err, E_USAGE, "%d is no status of HTTP", (int)t.status);
	if (t.outcome == FRESHET_BY_STATUS && !t.status)
		return err_set(&f->err, E_USAGE, "neither outcome nor status");
	if (t.requests > TELL_REQUESTS_MAX)
		return err_set(&f->err, E_USAGE, "a page costs %d requests at most", TELL_REQUESTS_MAX);
	if (!isnan(t.probability) && !(t.probability >= 0 && t.probability <= 1))
		return err_set(&f->err, E_USAGE, "a probability is a number from 0 to 1");
	*ret = (struct told){
		.lease = text_of(t.lease), .outcome = outcomes[t.outcome], .status = t.status,
		.digest = text_of(t.digest), .etag = text_of(t.etag),
		.modified = text_of(t.last_modified), .links = text_of(t.links),
		.cause = t.cause ? cause_find(t.cause, strlen(t.cause)) : CAUSE_NONE,
		.requests = t.requests, .time = t.time,
		.score = t.score != 0 ? (float)t.score : NAN,
		.probability = t.probability > 0 ? (float)t.probability : NAN, .weight = NAN,
		.add = t.add != 0,
	};
	if (!t.url)
		return 0;
	buf_init(&url, URL_SIZE_MAX);
	rc = url_canonical(t.url, strlen(t.url), &url, &why);
	if (rc < 0)
		rc = err_set(&f->err, E_USAGE, "this is no URL of a page: %s", why.text);
	else
		ret->url = (struct text){ arena_strndup(&f->texts, url.data, url.size), url.size };
	ret->given = text_of(t.url);
	buf_release(&url);
	return rc;
}

/* One that is told alone has its own answer. */
struct hearing { struct freshet *f; bool alone; int refused; };

static void hear(void *arg, size_t i, const char *why)
{
	struct hearing *a = arg;
	char text[300];

	if (!why)
		return;
	if (a->alone) {
		a->refused = err_set(&a->f->err, E_USAGE, "%s", why);
		return;
	}
	snprintf(text, sizeof text, "outcome %zu: %s", i, why);
	api_warn(a->f, text);
}

/* How many were kept. */
static int tell_many(struct freshet *f, const struct told *told, size_t n, bool alone)
{
	struct hearing a = { .f = f, .alone = alone };
	struct tell_stats stats = { 0 };
	int rc = client_have(f);

	if (rc == 0)
		rc = client_tell(f->client->client, told, n, api_now(f, 0), hear, &a, &stats, &f->err);
	if (rc < 0 || a.refused)
		return rc < 0 ? rc : a.refused;
	if (stats.n_future)
		api_warn(f, "a time in the future was told: taken for now");
	return stats.n_lines > INT_MAX ? INT_MAX : (int)stats.n_lines;
}

int freshet_tell(struct freshet *f, const struct freshet_told *told)
{
	struct told t;
	int rc = api_begin(f, API_STORE);

	if (rc < 0)
		return rc;
	rc = take_told(f, told, &t);
	return api_end(f, rc < 0 ? rc : tell_many(f, &t, 1, true));
}

int freshet_tell_all(struct freshet *f, const struct freshet_told *const *told, size_t n)
{
	VEC(struct told) all = { 0 };
	int rc = api_begin(f, API_STORE);

	if (rc < 0)
		return rc;
	if (n > TELL_MOST || (n && !told))
		rc = err_set(&f->err, E_LIMIT, "%d outcomes at most at a time", TELL_MOST);
	for (size_t i = 0; i < n && rc == 0; i++) {
		struct told t;
		char text[sizeof f->err.text + 40];

		if (take_told(f, told[i], &t) == 0) {
			vec_push(&all, t);
			continue;
		}
		snprintf(text, sizeof text, "outcome %zu: %s", i, f->err.text);
		api_warn(f, text);
	}
	if (rc == 0 && all.n)
		rc = tell_many(f, all.v, all.n, false);
	vec_release(&all);
	return api_end(f, rc);
}

int freshet_release(struct freshet *f, const char *lease)
{
	int rc = api_begin(f, API_STORE);

	if (rc < 0)
		return rc;
	rc = lease ? client_have(f) : err_set(&f->err, E_USAGE, "no lease");
	if (rc == 0)
		rc = client_give_back(f->client->client, lease, api_now(f, 0), &f->err);
	return api_end(f, rc < 0 ? rc : 0);
}

int freshet_cycle_end(struct freshet *f)
{
	struct store_cycle ended;
	int rc = api_begin(f, API_STORE);

	if (rc < 0)
		return rc;
	rc = client_have(f);
	if (rc == 0)
		rc = client_end(f->client->client, api_now(f, 0), &ended, &f->err);
	return api_end(f, rc);
}
