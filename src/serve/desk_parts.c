/* SPDX-License-Identifier: Apache-2.0 */
/*
 * desk_parts.c - lease and tell over the shards of a fleet that the service holds (fleet/parts.h).
 *
 * Lines of a request to tell are divided by shard: all lines of a shard are kept together or none,
 * and an Idempotency-Key counts in each.  Which body it came with is a state of the fleet, written
 * before any line is kept, so another body finds it whatever shards it is for.  Outcomes of shards that are not held here go into their
 * inboxes.  Shards that are held here come first, each in a batch of its own.  If one of them fails, the
 * request does: sent again, with the same key, it counts once in those that had it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "cli/frame/command.h"
#include "serve/desk.h"
#include "serve/fleet/fleet.h"

/* ---- lease ---- */

/* The cycle of the fleet, and whether it is over. */
static int stand(struct serve_fleet *f, const struct parts_asked *p, struct client_asked *ret,
                 struct err *err)
{
	struct fleet_cycle c = { 0 };
	size_t n = 0;
	int rc = serve_fleet_cycle(f, false, &c, &n, err);
	bool over;

	if (rc == 0 && p->offers.n && c.done >= n)      /* these are of the next one */
		rc = serve_fleet_cycle(f, true, &c, &n, err);
	over = c.number && c.done >= n;
	ret->cycle = (struct store_cycle){ .number = c.number, .time = c.opened, .budget = c.budget,
	                                   .downloads = (uint32_t)c.downloads, .open = !over };
	ret->offers = p->offers.v;
	ret->n = p->offers.n;
	ret->answer = p->offers.n ? CLIENT_OFFERS : over ? CLIENT_DONE : CLIENT_WAIT;
	ret->wait = p->wait ? p->wait : 1;
	return rc;
}

static void lease(struct call *c, const struct client_asking *a)
{
	struct serve_fleet *f = c->serve->fleet;
	struct parts_asked asked = { 0 };
	struct client_asked r = { 0 };
	struct err err = { 0 };
	double began = desk_seconds();
	int rc = parts_ask(serve_fleet_parts(f), a, &c->request->keep, &asked, &err);

	if (rc == 0)
		rc = stand(f, &asked, &r, &err);
	if (rc == 0)
		desk_print_asked(c, &r);
	desk_note_asked(c->serve->desk, a->name, rc == 0 ? &r : NULL, desk_seconds() - began);
	vec_release(&asked.offers);
	desk_answer_asked(c, rc, &err);
}

void desk_parts_lease(struct call *c, const struct client_asking *a)
{
	if (!c->serve->opts.fleet.take)
		http_problem(c->answer, 409, "this service has taken no shards: start it with --take N");
	else if (a->anew)
		http_problem(c->answer, 409, "the cycles are those of the fleet: the next one begins when it "
		             "is due (setting every)");
	else
		lease(c, a);
}

/* ---- tell ---- */

struct dividing {
	struct telling *t;
	struct fleet_shard *shards;
	size_t n_shards;
	VEC(int32_t) shard;             /* of each line; -1: done with it */
	struct tell_batch refused;      /* lines that no shard takes */
};

/* Leases are named SHARD.CYCLE-NUMBER: the shard is taken off.  -1: it is no such name. */
static int32_t shard_of_lease(struct text *lease)
{
	int32_t shard = 0;
	size_t i = 0;

	for (; i < lease->size && i < 6 && lease->s[i] >= '0' && lease->s[i] <= '9'; i++)
		shard = shard * 10 + (lease->s[i] - '0');
	if (!i || i >= lease->size || lease->s[i] != '.')
		return -1;
	*lease = (struct text){ lease->s + i + 1, lease->size - i - 1 };
	return shard;
}

static void refuse(struct dividing *v, size_t i, const char *why)
{
	tell_refuse(&v->refused, v->t->line.v[i].number, why);
	v->refused.stats.n_bad++;
	v->shard.v[i] = -1;
}

static void find_shards(struct dividing *v)
{
	for (size_t i = 0; i < v->t->told.n; i++) {
		struct told *told = &v->t->told.v[i];
		int32_t shard = told->lease.s ? shard_of_lease(&told->lease) :
		                fleet_shard_of(v->shards, v->n_shards,
		                               shard_hash(told->url.s, told->url.size));

		vec_push(&v->shard, shard);
		if (shard < 0)
			refuse(v, i, "it names no lease of this fleet: SHARD.CYCLE-NUMBER");
	}
}

static bool has_lines(const struct dividing *v, int32_t shard)
{
	for (size_t i = 0; i < v->shard.n; i++)
		if (v->shard.v[i] == shard)
			return true;
	return false;
}

static void done_with(struct dividing *v, int32_t shard)
{
	for (size_t i = 0; i < v->shard.n; i++)
		if (v->shard.v[i] == shard)
			v->shard.v[i] = -1;
}

/* The shard is not held here any more.  Was it when the same request came before? */
static int hear_again(struct dividing *v, int32_t shard, struct err *err)
{
	struct tell_batch b;
	int rc;

	if (!v->t->key)
		return 0;
	tell_batch_begin(&b, v->t);
	rc = serve_fleet_store(v->t->call->serve->fleet, shard, &b.store, err);
	if (rc == 0 && (rc = tell_batch_heard(&b, err)) > 0)
		done_with(v, shard);
	store_close(b.store);
	tell_batch_end(&b);
	return rc < 0 ? rc : 0;
}

/* All lines of a shard that is held here. */
static int tell_part(struct dividing *v, int32_t shard, struct err *err)
{
	struct parts *d = serve_fleet_parts(v->t->call->serve->fleet);
	struct part *p = part_enter(d, shard);
	struct tell_batch b;
	int rc;

	if (!p)
		return hear_again(v, shard, err);
	tell_batch_begin(&b, v->t);
	b.store = part_store(p);
	b.client = part_client(p);
	for (size_t i = 0; i < v->shard.n; i++)
		if (v->shard.v[i] == shard) {
			vec_push(&b.told, v->t->told.v[i]);
			vec_push(&b.line, v->t->line.v[i].number);
		}
	done_with(v, shard);
	rc = tell_batch_run(&b, part_now(p), err);
	part_leave(d, p);
	tell_batch_end(&b);
	return rc;
}

/* The rest is for the inboxes of shards that others hold, or nobody. */
static int mail(struct dividing *v, struct err *err)
{
	struct fleet *f = serve_fleet_ledger(v->t->call->serve->fleet);
	VEC(struct fleet_entry) entries = { 0 };
	int rc;

	for (size_t i = 0; i < v->shard.n; i++) {
		if (v->shard.v[i] < 0)
			continue;
		if (v->t->told.v[i].lease.s) {
			refuse(v, i, "the shard of this lease is not held here any more: its pages have lapsed, or "
			       "another service has them");
			continue;
		}
		vec_push(&entries, ((struct fleet_entry){ v->shard.v[i], 0, "tell", v->t->line.v[i].text }));
	}
	rc = fleet_inbox_put(f, entries.v, entries.n, err);
	v->t->mailed = rc == 0 ? entries.n : 0;
	vec_release(&entries);
	return rc;
}

/* ---- keys ---- */

#define BODY_PREFIX "body."             /* then a key; with it: when, and the digest of the body */

/* The key belongs to the body that it came with first: another one has its answer. */
static int claim_key(struct telling *t, struct err *err)
{
	struct fleet *f = serve_fleet_ledger(t->call->serve->fleet);
	char name[128], value[128], digest[65] = "", *kept = NULL;
	int rc;

	if (!t->key)
		return 0;
	snprintf(name, sizeof name, BODY_PREFIX "%s", t->key);
	snprintf(value, sizeof value, "%lld %s", (long long)time(NULL), t->digest);
	rc = fleet_state_swap(f, name, NULL, value, err);
	if (rc == 0 && (rc = fleet_state_get(f, name, &kept, err)) > 0 &&
	    (sscanf(kept, "%*d %64s", digest) != 1 || strcmp(digest, t->digest)))
		tell_other_body(t);
	free(kept);
	return rc < 0 ? rc : 0;
}

struct claimed { int64_t before; VEC(char *) old; };    /* keys, each with its value after it */

static int see_claim(void *arg, const char *key, const char *value, struct err *err)
{
	struct claimed *c = arg;

	(void)err;
	if (!strncmp(key, BODY_PREFIX, strlen(BODY_PREFIX)) && strtoll(value, NULL, 10) < c->before) {
		vec_push(&c->old, mem_strdup(key));
		vec_push(&c->old, mem_strdup(value));
	}
	return 0;
}

void desk_parts_forget(struct serve_fleet *f, int64_t before)
{
	struct claimed c = { .before = before };
	struct store *s = NULL;
	struct err err;
	int rc = serve_fleet_store(f, 0, &s, &err);

	if (rc == 0)
		rc = store_states(s, STORE_OF_FLEET, see_claim, &c, &err);
	for (size_t i = 0; i < c.old.n; i += 2) {
		if (rc >= 0)
			rc = fleet_state_swap(serve_fleet_ledger(f), c.old.v[i], c.old.v[i + 1], NULL, &err);
		free(c.old.v[i]);
		free(c.old.v[i + 1]);
	}
	if (rc < 0)
		log_warn("%s: old idempotency keys stay for now", err.text);
	vec_release(&c.old);
	store_close(s);
}

/* ---- the request ---- */

int desk_parts_tell(struct telling *t, struct err *err)
{
	struct dividing v = { .t = t };
	int rc = claim_key(t, err);

	if (rc == 0 && !t->call->answer->status)
		rc = serve_fleet_shards(t->call->serve->fleet, &v.shards, &v.n_shards, err);
	tell_batch_begin(&v.refused, t);
	if (rc == 0 && v.n_shards)
		find_shards(&v);
	for (size_t i = 0; i < v.n_shards && rc == 0 && !t->call->answer->status; i++)
		if (has_lines(&v, v.shards[i].shard))
			rc = tell_part(&v, v.shards[i].shard, err);
	if (rc == 0 && !t->call->answer->status)
		rc = mail(&v, err);
	tell_batch_end(&v.refused);
	vec_release(&v.shard);
	free(v.shards);
	return rc;
}
