/* SPDX-License-Identifier: Apache-2.0 */
/* desk.c - see desk.h. */
#include "serve/desk.h"

#include <time.h>

#include "cli/frame/command.h"
#include "cli/print/ask_print.h"
#include "serve/http/body.h"
#include "serve/job/jobs.h"
#include "serve/fleet/fleet.h"

#define HOSTS_MAX 1000                  /* that a lease may name */

double desk_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- open and close ---- */

bool desk_is_warm(struct desk *d)
{
	bool warm;

	pthread_mutex_lock(&d->shown);
	warm = d->warm;
	pthread_mutex_unlock(&d->shown);
	return warm;
}

int desk_open(struct desk **ret, struct serve *s, struct err *err)
{
	struct desk *d = mem_zalloc(1, sizeof *d);
	int rc;

	d->serve = s;
	d->opts = s->opts.client;
	pthread_mutex_init(&d->lock, NULL);
	pthread_mutex_init(&d->shown, NULL);
	*ret = d;
	if (s->fleet) {
		d->warm = true;         /* engines come with the shards */
		return 0;
	}
	if ((rc = serve_store(s, STORE_EXISTING, &d->store, err)) < 0) {
		desk_close(d);
		*ret = NULL;
		return rc;
	}
	store_cache(d->store, (uint64_t)s->opts.cache);
	client_open(&d->client, d->store, &d->opts);
	if ((rc = desk_threads_start(d, err)) < 0) {
		desk_close(d);
		*ret = NULL;
		return rc;
	}
	return 0;
}

void desk_close(struct desk *d)
{
	if (!d)
		return;
	desk_threads_stop(d);
	client_close(d->client);
	store_close(d->store);
	for (size_t i = 0; i < d->clients.n; i++)
		free(d->clients.v[i].name);
	vec_release(&d->clients);
	strtab_release(&d->names);
	pthread_mutex_destroy(&d->shown);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

void desk_renew(struct desk *d, const struct client_opts *opts)
{
	pthread_mutex_lock(&d->lock);
	d->opts = *opts;
	if (d->serve->fleet) {          /* a part keeps what it began with */
		parts_renew(serve_fleet_parts(d->serve->fleet), opts);
	} else {
		client_close(d->client);
		client_open(&d->client, d->store, &d->opts);
	}
	pthread_mutex_unlock(&d->lock);
}

struct desk_client *desk_note_client(struct desk *d, const char *name)
{
	bool is_new;
	uint32_t at;

	name = name ? name : "";
	if (d->clients.n >= DESK_CLIENTS_MAX && strtab_find(&d->names, name, strlen(name)) == MAP_NONE)
		name = "";
	at = strtab_intern(&d->names, name, strlen(name), &is_new);
	if (is_new)
		vec_push(&d->clients, ((struct desk_client){ .name = mem_strdup(name) }));
	d->clients.v[at].seen = (int64_t)time(NULL);
	return &d->clients.v[at];
}

/* ---- lease ---- */

static bool read_asking(struct call *c, const struct body *b, struct client_asking *a)
{
	struct http_answer *to = c->answer;
	int64_t count, per_host, seconds_held, max_requests;
	const char **hosts;

	if (!body_int(b, to, "count", 100, 1, CLIENT_WANT_MAX, &count) ||
	    !body_int(b, to, "per_host", 0, 0, INT32_MAX, &per_host) ||
	    !body_int(b, to, "seconds", CLIENT_FOR, 1, 30 * DAY_SECONDS, &seconds_held) ||
	    !body_int(b, to, "max_requests", 1, 1, 1000, &max_requests) ||
	    !body_text(b, to, "client", &a->name) || !body_text(b, to, "agent", &a->agent) ||
	    !body_flag(b, to, "new", &a->anew) ||
	    !body_texts(b, to, "hosts", HOSTS_MAX, &c->request->keep, &hosts, &a->n_hosts))
		return false;
	a->hosts = hosts;
	a->want = (uint32_t)count;
	a->per_host = (uint32_t)per_host;
	a->seconds = seconds_held;
	a->max_requests = (uint32_t)max_requests;
	return true;
}

void desk_print_asked(struct call *c, const struct client_asked *r)
{
	cli_json_schema(&c->j, "ask");
	ask_print_json(&c->j, r);
	cli_json_end(&c->j);
}

void desk_answer_asked(struct call *c, int rc, const struct err *err)
{
	if (rc == E_USAGE)              /* the open cycle does not allow it */
		http_problem(c->answer, 409, "%s", err->text);
	else if (rc < 0)
		answer_error(c, rc, err);
	else
		answer_json(c);
}

void desk_note_asked(struct desk *d, const char *client, const struct client_asked *r,
                     double seconds)
{
	size_t fresh = 0;       /* what it has already is not leased once more */

	for (size_t i = 0; r && i < r->n; i++)
		fresh += !r->offers[i].again;
	pthread_mutex_lock(&d->shown);
	if (r) {
		desk_note_client(d, client)->leased += fresh;
		d->counts.leased += fresh;
		d->cycle = r->cycle;
		d->begun = r->cycle.number != 0;
	}
	d->counts.asks++;
	d->counts.seconds_ask += seconds;
	pthread_mutex_unlock(&d->shown);
}

/* A cycle is being opened: nobody waits for the lock that long. */
static void answer_wait(struct call *c, struct client_asked *r)
{
	struct desk *d = c->serve->desk;

	r->answer = CLIENT_WAIT;
	r->wait = 1;
	pthread_mutex_lock(&d->shown);
	r->cycle = d->cycle;
	d->counts.asks++;
	pthread_mutex_unlock(&d->shown);
	desk_print_asked(c, r);
	answer_json(c);
}

void route_lease(struct call *c)
{
	struct desk *d = c->serve->desk;
	struct body *b = body_parse(c->request, c->answer,
	                            "count per_host seconds max_requests client agent hosts new");
	struct client_asking a = { .now = (int64_t)time(NULL) };
	struct client_asked r = { 0 };
	struct err err = { 0 };
	double began = desk_seconds();
	int rc;

	if (!b || !read_asking(c, b, &a)) {
		body_free(b);
		return;
	}
	if (c->serve->fleet) {
		desk_parts_lease(c, &a);
		body_free(b);
		return;
	}
	if (jobs_running(c->serve->jobs, JOB_CYCLE)) {
		http_problem(c->answer, 409, "a cycle of our own fetcher runs: ask when it is over, or stop "
		             "it (DELETE /v1/cycles/current)");
		body_free(b);
		return;
	}
	if (desk_opens_cycle(d)) {
		body_free(b);
		answer_wait(c, &r);
		return;
	}
	pthread_mutex_lock(&d->lock);
	rc = client_ask(d->client, &a, &r, &err);
	if (rc == 0)
		desk_print_asked(c, &r);
	desk_note_asked(d, a.name, rc == 0 ? &r : NULL, desk_seconds() - began);
	desk_leave(d);
	body_free(b);
	desk_answer_asked(c, rc, &err);
}

/* POST /v1/lease/end: the cycle is over. */
void route_lease_end(struct call *c)
{
	struct desk *d = c->serve->desk;
	struct store_cycle row;
	struct err err = { 0 };
	int rc;

	if (c->serve->fleet) {
		http_problem(c->answer, 409, "the cycle is that of the fleet: it ends when all shards have "
		             "done their part, or the next is due");
		return;
	}
	pthread_mutex_lock(&d->lock);
	rc = client_end(d->client, (int64_t)time(NULL), &row, &err);
	pthread_mutex_lock(&d->shown);
	if (rc > 0)
		d->cycle = row;
	pthread_mutex_unlock(&d->shown);
	pthread_mutex_unlock(&d->lock);
	if (rc < 0) {
		answer_error(c, rc, &err);
	} else if (rc == 0) {
		http_problem(c->answer, 409, "no cycle is open for other crawlers");
	} else {
		cli_json_schema(&c->j, "end");
		json_kint(&c->j, "cycle", row.number);
		json_kint(&c->j, "budget", row.budget);
		json_kint(&c->j, "downloads", row.downloads);
		json_kint(&c->j, "changed", row.changed);
		cli_json_end(&c->j);
		answer_json(c);
	}
}

/* ---- beside ---- */

void desk_print(struct desk *d, struct json *j)
{
	pthread_mutex_lock(&d->shown);
	json_key(j, "leases");
	if (!d->begun) {
		json_null(j);
	} else {
		json_object(j);
		json_kint(j, "cycle", d->cycle.number);
		json_kbool(j, "open", d->cycle.open);
		json_kint(j, "budget", d->cycle.budget);
		json_kint(j, "spent", d->cycle.downloads);
		json_kint(j, "leased", (int64_t)d->counts.leased);
		json_kint(j, "told", (int64_t)d->counts.told);
		json_key(j, "clients");
		json_array(j);
		for (size_t i = 0; i < d->clients.n && i < 100; i++) {
			char t[21];

			when_iso(d->clients.v[i].seen, t);
			json_object(j);
			json_kstr(j, "client", d->clients.v[i].name);
			json_kstr(j, "seen", t);
			json_kint(j, "leased", (int64_t)d->clients.v[i].leased);
			json_kint(j, "told", (int64_t)d->clients.v[i].told);
			json_end_object(j);
		}
		json_end_array(j);
		json_end_object(j);
	}
	pthread_mutex_unlock(&d->shown);
}

void desk_counts(struct desk *d, struct desk_counts *ret)
{
	pthread_mutex_lock(&d->shown);
	*ret = d->counts;
	pthread_mutex_unlock(&d->shown);
}
