/* SPDX-License-Identifier: Apache-2.0 */
/* serve_inner.h - what the files of this room share. */
#ifndef SERVE_SERVE_INNER_H
#define SERVE_SERVE_INNER_H

#include <pthread.h>

#include "base/io/json.h"
#include "repo/store.h"
#include "serve/http/http.h"
#include "serve/serve.h"
#include "serve/token/tokens.h"

/* Which threads handle it: answers from memory or a few rows; lease and tell; whatever reads
 * the whole repository. */
enum { LANE_QUICK, LANE_LEASE, LANE_SLOW };

struct serve {
	struct serve_opts opts;
	struct http *http;
	char address[64], url[300];     /* where we listen */
	uint16_t port;
	bool loopback, tls;
	int64_t started;
	uint64_t answered[6];           /* by the first digit of the status; atomic */
	struct guard *guard;
	struct access *access;
	struct desk *desk;
	struct jobs *jobs;
	struct hub *hub;
	struct webhooks *webhooks;
	struct serve_fleet *fleet;      /* all its shards; NULL: there is one store */
};

/* serve.c: settings have changed; what is to be done about twice a second. */
void serve_renew(struct serve *s);
void serve_tick(struct serve *s);
/* Seconds on a clock that never goes back, and goes on while the machine sleeps. */
double serve_uptime(void);

/* A request that has found its route. */
struct call {
	struct serve *serve;
	const struct route *route;
	struct http_request *request;
	struct http_answer *answer;
	const char *who;                /* the name of the token, or NULL */
	const char *args[2];            /* the parts of the path that stand for {...} */
	struct json j;                  /* writes into the body */
};

typedef void route_run(struct call *c);

struct route {
	const char *method, *path;
	enum right right;
	int lane;
	route_run *run;
	const char *command;            /* words of a command line, for route_command; or NULL */
	const char *params;             /* "a b c": parameters that it takes */
	size_t body_max;                /* 0: it takes no body */
	const char *summary;
};

/* routes.c */
/* NULL: *ret_methods has the methods that there are ("" : no such path). */
const struct route *route_find(const struct http_request *r, const char *args[2],
                               char ret_methods[64]);
const struct route *route_at(size_t i);                 /* NULL past the last */

/* by_command.c */
route_run route_command, route_page_command, route_content;
/* The command whose document it answers with, or NULL. */
struct command;
const struct command *route_command_of(const struct route *r);
/* Run a command for this thread with these words after its name; its output into `out`. */
MUST_CHECK int command_answer(struct serve *s, const char *words, const char *const *more,
                              size_t n_more, struct buf *out, struct err *err);
/* The answer to an error. */
void answer_error(struct call *c, int rc, const struct err *err);
/* The body is a document: type, ETag or 304. */
void answer_json(struct call *c);
/* 202: a job was told to stop. */
void answer_stopping(struct call *c);
/* Open the repository for this request; on failure the answer is there.  To be closed. */
struct store *call_store(struct call *c, enum store_mode mode);
/* The page that {page} names, a number or a URL, and the store that has it, to be closed.  NULL: the
 * answer is there.  The texts of the page are gone with the next get; url lives as long as the
 * request. */
struct store *call_page(struct call *c, struct store_page *ret, const char **ret_url);
/* A parameter as a number; false: the answer is there. */
bool call_number(struct call *c, const char *key, int64_t def, int64_t min, int64_t max,
                 int64_t *ret);

/* The repository of the service. */
MUST_CHECK int serve_store(const struct serve *s, enum store_mode mode, struct store **ret,
                           struct err *err);

/* control.c, replays.c */
route_run route_cycle_start, route_cycle_stop, route_setting_put, route_page_add, route_page_remove;
route_run route_page_touched;
route_run route_replay_start, route_replays, route_replay, route_replay_stop;
/* pages.c */
route_run route_pages, route_history;
/* metrics.c, health.c, assets.c */
route_run route_metrics, route_healthz, route_readyz, route_openapi, route_asset;

#endif
