/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - begin, the way of a request, end; see serve.h. */
#include "serve/serve.h"

#include <malloc.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/stop.h"
#include "serve/access.h"
#include "serve/desk.h"
#include "serve/fleet/fleet.h"
#include "serve/guard.h"
#include "serve/hub.h"
#include "serve/job/jobs.h"
#include "serve/http/systemd.h"
#include "serve/serve_inner.h"
#include "serve/webhooks.h"

#define PEM_MAX (1u << 20)
#define PER_ADDRESS 256                 /* connections of one address */
#define ARENAS 2                        /* that malloc has for all threads: with one for each, what
                                         * one has freed is not there for the others, and a service
                                         * that stays grows by half */

/* ---- a request ---- */

static bool knows_params(const struct route *t, const struct uri *u, struct http_answer *a)
{
	for (size_t i = 0; i < u->n_params; i++) {
		struct text rest = { t->params, strlen(t->params) }, word;
		bool known = false;

		while (!known && text_word(&rest, &word))
			known = strlen(u->params[i].key) == word.size &&
			        !strncmp(u->params[i].key, word.s, word.size);
		if (!known) {
			http_problem(a, 400, "no parameter '%.60s' here; there %s%s", u->params[i].key,
			             *t->params ? "are: " : "is none", t->params);
			return false;
		}
	}
	return true;
}

/* In the thread of the sockets: it must not wait. */
static void admit(void *arg, struct http_request *r, struct http_answer *a)
{
	struct serve *s = arg;
	struct call *c = arena_alloc(&r->keep, sizeof *c);
	enum right right;
	char methods[64];

	*c = (struct call){ .serve = s, .request = r };
	if (!guard_host(s, r, a) || !guard_origin(r, a))
		return;
	c->route = route_find(r, c->args, methods);
	if (!c->route && *methods) {
		http_problem(a, 405, "%s is not for this path; it takes %s", r->method, methods);
		http_answer_header(a, "Allow", "%s", methods);
		return;
	}
	if (!c->route) {
		http_problem(a, 404, "there is no such path; /v1/openapi.json lists them");
		return;
	}
	if (c->route->right != RIGHT_NONE) {
		right = access_judge(s->access, r, &c->who, a);
		if (a->status)
			guard_rate(s->guard, access_peer(s, r), (double)time(NULL), a);
		if (a->status)
			return;
		if (right < c->route->right) {
			http_problem(a, 403, "this token has the right %s; this needs one that was made by "
			             "`freshet token add NAME --right %s`", right_name(right),
			             right_name(c->route->right));
			return;
		}
	}
	if (!guard_rate(s->guard, c->who ? c->who : access_peer(s, r), (double)time(NULL), a) ||
	    !knows_params(c->route, &r->uri, a))
		return;
	r->body_max = c->route->body_max;
	r->lane = c->route->lane;
	r->route = c;
}

/* Is this nothing that a service over a fleet does?  Then the answer is there. */
static bool fleet_refuses(struct call *c)
{
	static const struct { const char *path, *method, *why; } no[] = {
		{ "/v1/cycles", "POST", "the cycles of a fleet are begun by its workers (`freshet work`), when "
		  "they are due" },
		{ "/v1/cycles/current", "DELETE", "the cycles of a fleet end by themselves; stop its workers" },
		{ "/v1/replays", "POST", "histories of a fleet are replayed elsewhere: `freshet export cdxj`, "
		  "`freshet replay --shards`" },
	};

	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		if (!strncmp(c->route->path, no[i].path, strlen(no[i].path)) &&
		    !strcmp(c->route->method, no[i].method)) {
			http_problem(c->answer, 409, "%s", no[i].why);
			return true;
		}
	return false;
}

static void handle(void *arg, struct http_request *r, struct http_answer *a)
{
	struct call *c = (struct call *)(uintptr_t)r->route;

	(void)arg;
	c->answer = a;
	json_to_buf(&c->j, &a->body);
	if (!c->serve->fleet || !fleet_refuses(c))
		c->route->run(c);
	if (!a->status)
		http_problem(a, 500, "the answer was forgotten");
}

/* What every answer carries. */
static void done(void *arg, struct http_request *r, struct http_answer *a)
{
	struct serve *s = arg;

	(void)r;
	__atomic_fetch_add(&s->answered[a->status / 100 < 6 ? a->status / 100 : 0], 1,
	                   __ATOMIC_RELAXED);
	http_answer_header(a, "X-Content-Type-Options", "nosniff");
	http_answer_header(a, "Referrer-Policy", "no-referrer");
	http_answer_header(a, "X-Frame-Options", "DENY");
	http_answer_header(a, "Cross-Origin-Resource-Policy", "same-origin");
	http_answer_header(a, "Cache-Control", "no-cache");
}

void serve_renew(struct serve *s)
{
	struct client_opts opts = s->opts.client;
	struct err err = { 0 };

	if (!s->opts.renew)
		return;
	if (s->opts.renew(s->opts.arg, &opts, &err) < 0)
		log_warn("%s", err.text);
	else
		desk_renew(s->desk, &opts);
}

double serve_uptime(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void serve_tick(struct serve *s)
{
	int64_t now = (int64_t)time(NULL);

	desk_clean(s->desk, now);
	access_renew(s->access);
}

/* The service manager hears that we live: locks that requests need come free.  No store is asked:
 * that one is slow is no reason to kill us. */
static void say_alive(void *arg)
{
	struct serve *s = arg;
	struct desk_counts counts;

	desk_counts(s->desk, &counts);
	hub_listeners(s->hub);
	systemd_alive(serve_uptime());
}

/* ---- begin and end ---- */

/* "127.0.0.1:8390", "[::1]:8390", ":8390" is loopback. */
static int parse_listen(struct serve *s, struct err *err)
{
	const char *text = s->opts.listen, *colon = strrchr(text, ':');
	struct text host = { text, colon ? (size_t)(colon - text) : 0 };
	char *end;
	unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;

	if (host.size > 1 && host.s[0] == '[' && host.s[host.size - 1] == ']')
		host = (struct text){ host.s + 1, host.size - 2 };
	if (!host.size)
		host = (struct text){ "127.0.0.1", 9 };
	if (!colon || !colon[1] || *end || port > 65535 || host.size >= sizeof s->address)
		return err_set(err, E_USAGE, "--listen: wants ADDRESS:PORT, as 127.0.0.1:8390 or "
		               "[::1]:8390");
	snprintf(s->address, sizeof s->address, "%.*s", (int)host.size, host.s);
	s->port = (uint16_t)port;
	s->loopback = !strncmp(s->address, "127.", 4) || !strcmp(s->address, "::1");
	return 0;
}

/* A socket of the service manager's is where it says. */
static int take_listener(struct serve *s, int *ret, struct err *err)
{
	struct sockaddr_storage at = { 0 };
	socklen_t size = sizeof at;
	char port[8];

	*ret = systemd_listener();
	if (*ret < 0)
		return parse_listen(s, err);
	if (getsockname(*ret, (struct sockaddr *)&at, &size) ||
	    getnameinfo((struct sockaddr *)&at, size, s->address, sizeof s->address, port, sizeof port,
	                NI_NUMERICHOST | NI_NUMERICSERV))
		return err_set(err, E_USAGE, "the socket that was handed over is none of TCP");
	s->port = (uint16_t)strtoul(port, NULL, 10);
	s->loopback = !strncmp(s->address, "127.", 4) || !strcmp(s->address, "::1");
	return 0;
}

static int read_file(const char *path, struct buf *ret, struct err *err)
{
	FILE *f = fopen(path, "re");
	char bytes[4096];
	size_t n;

	if (!f)
		return err_errno(err, E_IO, "%s", path);
	while ((n = fread(bytes, 1, sizeof bytes, f)) > 0)
		buf_add(ret, bytes, n);
	fclose(f);
	return ret->size && !ret->full ? 0 : err_set(err, E_IO, "%s: is no PEM file", path);
}

/* Elsewhere than on loopback: tokens, and nobody reads along. */
static int check_safety(const struct serve *s, struct err *err)
{
	bool safe = s->tls || s->opts.behind_proxy, tokens = access_has_tokens(s->access);

	if ((s->loopback && !s->opts.behind_proxy) || (safe && tokens))
		return 0;
	return err_set(err, E_USAGE, "%s: %s%s%s", s->loopback ? "--behind-proxy" : s->address,
	               s->loopback ? "others can come here through the proxy; " :
	               "others can come here; ",
	               tokens ? "" : "make a token first (`freshet token add NAME`)",
	               safe ? "" : tokens ? "give --tls-cert and --tls-key, or --behind-proxy if a "
	               "proxy does TLS" : ", and give --tls-cert and --tls-key, or --behind-proxy");
}

static int start(struct serve *s, int listener, struct err *err)
{
	unsigned cores = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	struct http_opts ho = {
		.address = s->address, .port = s->port, .listener = listener,
		.lanes = { [LANE_QUICK] = { 4, 1000 }, [LANE_LEASE] = { 4, 1000 },
		           [LANE_SLOW] = { cores > 2 ? cores / 2 : 1, 100 } },
		.connections = (unsigned)s->opts.connections, .seconds = (unsigned)s->opts.timeout,
		.per_address = s->loopback || s->opts.behind_proxy ? 0 : PER_ADDRESS,
		.admit = admit, .handle = handle, .done = done, .tick = say_alive, .arg = s,
	};
	struct buf cert, key;
	int rc = 0;

	buf_init(&cert, PEM_MAX);
	buf_init(&key, PEM_MAX);
	if (s->tls && (rc = read_file(s->opts.tls_cert, &cert, err)) == 0 &&
	    (rc = read_file(s->opts.tls_key, &key, err)) == 0) {
		ho.tls_cert = buf_text(&cert);
		ho.tls_key = buf_text(&key);
	}
	if (rc == 0)
		rc = http_start(&s->http, &ho, err);
	buf_release(&cert);
	buf_release(&key);
	if (rc < 0)
		return rc;
	s->port = http_port(s->http);
	snprintf(s->url, sizeof s->url, strchr(s->address, ':') ? "%s://[%s]:%u" : "%s://%s:%u",
	         s->tls ? "https" : "http", s->address, s->port);
	return 0;
}

int serve_run(const struct serve_opts *opts, struct err *err)
{
	struct serve s = { .opts = *opts, .started = (int64_t)time(NULL), .tls = opts->tls_cert };
	int listener, rc;

	mallopt(M_ARENA_MAX, ARENAS);
	rc = take_listener(&s, &listener, err);
	if (rc == 0 && opts->fleet.url)
		rc = serve_fleet_open(&s.fleet, &opts->fleet, &opts->client, opts->stop, err);
	if (rc == 0)
		rc = access_new(&s.access, &s, err);
	if (rc == 0)
		rc = check_safety(&s, err);
	if (rc < 0) {
		access_free(s.access);
		serve_fleet_close(s.fleet);
		return rc;
	}
	s.guard = guard_new((double)opts->rate);
	s.jobs = jobs_new(&(struct job_base){ opts->program, opts->folder, opts->store, opts->no_sandbox });
	rc = desk_open(&s.desk, &s, err);
	if (rc == 0)
		rc = hub_start(&s.hub, &s, err);
	if (rc == 0)
		rc = webhooks_start(&s.webhooks, &s, err);
	if (rc == 0)
		rc = start(&s, listener, err);
	if (rc == 0 && s.fleet)
		serve_fleet_start(s.fleet);
	if (rc == 0) {
		opts->ready(opts->arg, s.url);
		systemd_notify("READY=1");
	}
	while (rc == 0 && !stop_is_set(opts->stop)) {
		struct timespec t = { 0, 200000000 };

		nanosleep(&t, NULL);
	}
	systemd_notify("STOPPING=1");
	if (s.fleet && rc == 0)
		rc = serve_fleet_stop(s.fleet, err);
	jobs_stop(s.jobs, JOB_CYCLE, 0);
	hub_stop(s.hub);
	http_stop(s.http);
	hub_free(s.hub);
	webhooks_stop(s.webhooks);
	jobs_free(s.jobs);
	desk_close(s.desk);
	guard_free(s.guard);
	access_free(s.access);
	serve_fleet_close(s.fleet);
	return rc;
}
