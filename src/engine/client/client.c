/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.c - the calls of other crawlers, each one transaction; see client.h.  client_ask.c
 * has the one that asks for pages.
 */
#include "engine/client/client_inner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/book/lock.h"
#include "engine/cycle/cycle.h"

void client_open(struct client **ret, struct store *s, const struct client_opts *opts)
{
	struct client *c = mem_zalloc(1, sizeof *c);

	c->store = s;
	c->opts = *opts;
	pthread_mutex_init(&c->thinking, NULL);
	pthread_cond_init(&c->thought, NULL);
	*ret = c;
}

void client_close(struct client *c)
{
	if (!c)
		return;
	client_unload(c);
	ledger_release(&c->ledger);
	arena_release(&c->texts);
	vec_release(&c->offers);
	vec_release(&c->events);
	vec_release(&c->touched.v);
	map_release(&c->shown);
	pthread_cond_destroy(&c->thought);
	pthread_mutex_destroy(&c->thinking);
	free(c);
}

/* ---- a call ---- */

/* Take the lock, and read what others have written since. */
int client_enter(struct client *c, struct err *err)
{
	bool fresh = false;
	int rc = lock_wait(c->store, err);

	if (rc == 0 && c->loaded)
		rc = ledger_is_fresh(&c->ledger, &fresh, err);
	if (rc == 0 && !fresh) {
		client_unload(c);
		ledger_release(&c->ledger);
		rc = ledger_load(&c->ledger, c->store, err);
		c->loaded = rc == 0;
	}
	return rc;
}

/* The batch; without a lock (no file can be made there) somebody may have been faster. */
int client_begin(struct client *c, struct err *err)
{
	bool fresh;
	int rc = store_begin(c->store, err);

	if (rc == 0)
		rc = ledger_is_fresh(&c->ledger, &fresh, err);
	if (rc == 0 && !fresh)
		rc = err_set(err, E_BUSY, "another program has just changed the cycle: try again");
	return rc;
}

/* What a call that failed has done is as if it had never been. */
int client_leave(struct client *c, int rc)
{
	if (rc < 0) {
		store_rollback(c->store);
		client_unload(c);
		ledger_release(&c->ledger);
		c->loaded = false;
	}
	store_unlock(c->store);
	return rc;
}

int client_commit(struct client *c, struct err *err)
{
	int rc = client_rounds_save(c, err);

	if (rc == 0)
		rc = client_fleet_save(c, err);
	if (rc == 0)
		rc = ledger_save(&c->ledger, err);
	return rc < 0 ? rc : store_commit(c->store, err);
}

/* ---- tell, release ---- */

int client_tell(struct client *c, const struct told *told, size_t n, int64_t now,
                void (*each)(void *arg, size_t i, const char *why), void *arg,
                struct tell_stats *ret, struct err *err)
{
	return client_tell_and(c, told, n, now, each, NULL, arg, ret, err);
}

int client_tell_and(struct client *c, const struct told *told, size_t n, int64_t now,
                    void (*each)(void *arg, size_t i, const char *why),
                    int (*keep)(void *arg, const struct tell_stats *t, struct err *err),
                    void *arg, struct tell_stats *ret, struct err *err)
{
	struct tell t = { .store = c->store, .now = now, .event = client_event, .arg = c,
	                  .confirmations = c->opts.confirmations ? c->opts.confirmations : 1 };
	int rc = client_enter(c, err);
	bool open;

	if (rc == 0 && (rc = client_begin(c, err)) == 0)
		rc = tell_begin(&t, &c->ledger, err);
	open = c->ledger.open;
	for (size_t i = 0; i < n && rc == 0; i++)
		tell_expect(&t, &told[i]);
	if (rc == 0)
		rc = tell_foresee(&t, err);
	for (size_t i = 0; i < n && rc == 0; i++) {
		const char *why;

		rc = tell_one(&t, &told[i], &why, err);
		t.stats.n_bad += rc == 0 && why;
		if (rc == 0 && each)
			each(arg, i, why);
	}
	if (rc == 0 && (open || t.stats.n_lines)) {
		rc = tell_end(&t, err);
		if (rc == 0 && keep)
			rc = keep(arg, &t.stats, err);
		if (rc == 0)
			rc = store_commit(c->store, err);
	} else if (rc == 0) {
		store_rollback(c->store);
	}
	if (rc == 0 && !open) {                 /* a cycle of its own has come and gone */
		client_unload(c);
		ledger_release(&c->ledger);
		c->loaded = false;
	}
	c->whole &= !t.stats.n_late;    /* which the engine does not hear of */
	tell_release(&t);
	if (rc == 0 && ret)
		*ret = t.stats;
	return client_leave(c, rc);
}

static void note_why(void *arg, size_t i, const char *why)
{
	(void)i;
	*(const char **)arg = why;
}

int client_give_back(struct client *c, const char *lease, int64_t now, struct err *err)
{
	struct told told = { .lease = { lease, strlen(lease) }, .outcome = TOLD_GIVEN_BACK,
	                     .weight = NAN };
	const char *why = NULL;
	int rc = client_tell(c, &told, 1, now, note_why, &why, NULL, err);

	return rc == 0 && why ? err_set(err, E_USAGE, "%s: %s", lease, why) : rc;
}
