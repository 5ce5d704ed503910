/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.h - `freshet serve`: a repository behind HTTP.
 *
 * A request is routed by one table (routes.def): method, path, who may, which lane, which
 * function.  Most reads are commands: the function runs `freshet COMMAND --json` within the
 * process and answers with its document, so there is one way to say a thing.  docs/service.md
 * is the manual.
 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include <signal.h>
#include <stdint.h>

#include "base/err.h"
#include "base/option/option.h"
#include "engine/client/client.h"
#include "serve/fleet/fleet.h"

struct gate;

struct serve_opts {
	const char *folder, *store;     /* store may be NULL; of a fleet: with shard and fence */
	int32_t shard;                  /* of a fleet: the one that is served, under its lease; -1 */
	struct serve_fleet_opts fleet;  /* if all shards are served */
	const char *listen;             /* ADDRESS:PORT */
	const char *tls_cert, *tls_key; /* files, or NULL */
	struct option_list names;       /* of this host, as clients may call it */
	bool behind_proxy;
	bool no_sandbox;                /* nor have its jobs one */
	int64_t rate;                   /* requests a second of one client */
	int64_t connections, timeout;   /* timeout: seconds for a request */
	int64_t cache;                  /* bytes of the tables that lease and tell keep in memory */
	const struct gate *gate;        /* addresses that webhooks may have; NULL: global ones */
	struct client_opts client;      /* of cycles that are opened by leases */
	int64_t every;                  /* seconds between cycles of our own; 0: none */
	struct option_list cycle_words; /* options of these, as `freshet cycle` takes them */
	const char *program;            /* the path of this program */
	volatile sig_atomic_t *stop;
	/* Read the settings of cycles again, into `client`. */
	int (*renew)(void *arg, struct client_opts *client, struct err *err);
	void (*ready)(void *arg, const char *url);      /* it answers now */
	void *arg;
};

/* Until *stop is set. */
MUST_CHECK int serve_run(const struct serve_opts *opts, struct err *err);

#endif
