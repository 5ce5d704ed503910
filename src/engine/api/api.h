/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - inside the library: the handle, and how a call begins and ends.
 *
 *     int freshet_x(struct freshet *f, const struct freshet_x_options *options)
 *     {
 *             struct freshet_x_options o;
 *             int rc = api_begin(f, API_STORE);
 *
 *             if (rc < 0)
 *                     return rc;
 *             rc = API_TAKE(f, o, options);
 *             ...
 *             return api_end(f, rc);
 *     }
 */
#ifndef ENGINE_API_API_H
#define ENGINE_API_API_H

#include <stdbool.h>

#include "base/io/progress.h"
#include "base/mem.h"
#include "base/when.h"
#include "engine/recall/planning.h"
#include "freshet.h"
#include "repo/store.h"

struct freshet {
	struct store *store;            /* NULL: there is no repository */
	struct err err;
	bool busy;                      /* within a call */
	int64_t now;                    /* of trials; 0: the clock */
	struct freshet_hooks hooks;
	struct progress progress;       /* of the call, for those who know only that */
	struct arena texts;             /* handed out by the last call */
	struct api_client *client;      /* who asks and tells; NULL: nobody has so far */
	char folder[4096];              /* of the repository, */
	char archive[4096];             /* and of its archive */
};

enum api_need { API_NOTHING, API_STORE };

/* Negative, as the caller of the library gets it: not now, or not with this handle. */
MUST_CHECK int api_begin(struct freshet *f, enum api_need need);
/* What the call returns: rc, as the public codes have it. */
int api_end(struct freshet *f, int rc);

/* A struct of the caller's into ours, which may be older or newer.  A NULL is all zero. */
MUST_CHECK int api_take(struct freshet *f, void *to, size_t size, const void *from,
                        const char *name);
#define API_TAKE(f, to, from) api_take(f, &(to), sizeof (to), from, #from)
/* Fails if `to` has no room for a result: NULL, or its size was not set. */
MUST_CHECK int api_check_result(struct freshet *f, const void *to);
/* Ours into the caller's, as far as that goes. */
MUST_CHECK int api_give(struct freshet *f, void *to, const void *from, size_t size);

void api_warn(void *f, const char *text);       /* for report() of readers */
/* For progress() of readers; true: stop. */
bool api_progress(struct freshet *f, const char *what, uint64_t done, uint64_t total);

struct progress *api_watch(struct freshet *f);  /* the same, for who knows only that */

int64_t api_now(const struct freshet *f, int64_t t);    /* t, or now if it is 0 */
const char *api_text(struct freshet *f, struct text t); /* for the caller; NULL stays NULL */

/* In api_settings.c: what the repository's settings say, over the defaults. */
struct api_settings {
	const char *policy;
	struct share budget, site_share, retry_share, notifier_share;
	int64_t every, max_age, confirmations;
	int aim, weight;
	double delay;
};
MUST_CHECK int api_settings(struct freshet *f, struct api_settings *ret);
/* The number of a choice by its name. */
MUST_CHECK int api_choice(struct freshet *f, const char *what, const char *name,
                          const char *choices, int *ret);

/* In api_cycle.c. */
void api_client_close(struct freshet *f);

#endif
