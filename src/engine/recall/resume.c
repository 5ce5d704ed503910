/* SPDX-License-Identifier: Apache-2.0 */
/* resume.c - an inventory, and an engine that recalls; see resume.h. */
#include "engine/recall/resume.h"

#include "policy/catalogue/catalogue.h"

static int make_policy(struct policy **ret, const char *spec, struct err *err)
{
	int rc = policy_new(ret, spec, err);

	if (rc == 0 && (*ret)->ops->only_replay)
		rc = err_set(err, E_USAGE, "policy '%s' knows what no crawler can know: it is for "
		             "replay only", spec);
	return rc;
}

static void start_engine(struct resumed *r, const struct resume_opts *opts)
{
	struct view *v = &r->engine.view;

	engine_init(&r->engine, &r->has.loaded.pages, r->policy, 0);
	inventory_view(&r->has, v);
	v->seed = opts->seed;
	v->goal = opts->goal;
	v->aim = opts->aim;
	v->cycle_seconds = opts->cycle_seconds;
	v->n_shards = opts->n_shards;
}

static int read_pages(struct resumed *r, struct store *s, const struct resume_opts *opts,
                      struct err *err)
{
	struct inventory_opts io = { .goal = opts->goal, .weight = opts->weight,
	                             .site_by_domain = opts->site_by_domain,
	                             .as_planned = true, .cache = opts->snapshot,
	                             .before_cycle = opts->before_cycle,
	                             .progress = opts->progress };

	if (r->policy)
		io.needs = policy_needs(r->policy);
	return inventory_open(&r->has, s, &io, err);
}

static int recall_visits(struct resumed *r, struct store *s, const struct resume_opts *opts,
                         struct err *err)
{
	struct recall_opts ro = { .before_cycle = opts->before_cycle,
	                          .states_then = opts->states_then,
	                          .snapshot = opts->snapshot, .progress = opts->progress };
	int rc;

	start_engine(r, opts);
	rc = recall(&r->engine, &r->has.loaded, s, &ro, &r->recalled, err);
	if (rc > 0) {
		engine_release(&r->engine);
		policy_free(r->policy);
		r->policy = NULL;
		if (opts->policy && (rc = make_policy(&r->policy, opts->policy, err)) < 0)
			return rc;
		start_engine(r, opts);
		ro.no_snapshot = true;
		rc = recall(&r->engine, &r->has.loaded, s, &ro, &r->recalled, err);
	}
	return rc;
}

/* Pages that the caller leaves out are not here. */
static void leave_out(struct resumed *r, const struct resume_opts *opts)
{
	struct loaded *l = &r->has.loaded;

	for (uint32_t i = 0; i < l->pages.n && opts->leave_out; i++) {
		if (!opts->leave_out(opts->leave_arg, pages_url(&l->pages, i),
		                     pages_url_size(&l->pages, i)))
			continue;
		r->engine.visits.state[i] &= (uint8_t)~PAGE_HERE;
		l->n_here -= l->visits.state[i] == PAGE_HERE;
		if (l->visits.state[i])
			l->visits.state[i] = PAGE_OUT;
	}
}

/* What the past makes of the engine; the pages are there. */
static int know(struct resumed *r, struct store *s, const struct resume_opts *opts,
                struct err *err)
{
	int rc = recall_visits(r, s, opts, err);

	if (rc == 0)
		leave_out(r, opts);
	if (rc == 0 && opts->goal == GOAL_CHANGED) {
		rc = site_rules_load(&r->sites, s, &r->has.loaded.pages, opts->cycle_seconds, err);
		site_rules_apply(&r->sites, &r->engine);
	}
	return rc;
}

int resume(struct resumed *r, struct store *s, const struct resume_opts *opts, struct err *err)
{
	int rc = 0;

	*r = (struct resumed){ 0 };
	if (opts->policy)
		rc = make_policy(&r->policy, opts->policy, err);
	if (rc == 0 && (rc = store_others(s, &r->others, err)) == 0 &&
	    (rc = store_past(s, &r->past, err)) == 0)
		rc = store_freeze(s, err);
	if (rc < 0)
		return rc;
	rc = read_pages(r, s, opts, err);
	if (rc == 0)
		rc = know(r, s, opts, err);
	store_thaw(s);
	return rc;
}

/* 1: the store has what its pages were read from.  0: not, or that cannot be told; or there are
 * columns of features, which count what is told to them. */
static int is_same(const struct resumed *r, struct store *s, struct err *err)
{
	uint64_t others = 0;
	int rc = r->has.copies.now ? 0 : store_others(s, &others, err);

	return rc < 0 ? rc : others && others == r->others;
}

int resume_anew(struct resumed *r, struct store *s, const struct resume_opts *opts,
                struct err *err)
{
	int rc = store_freeze(s, err);

	if (rc == 0 && (rc = is_same(r, s, err)) == 0) {
		store_thaw(s);
		resume_release(r);
		return resume(r, s, opts, err);
	}
	if (rc < 0)
		return rc;
	engine_release(&r->engine);
	site_rules_release(&r->sites);
	policy_free(r->policy);
	r->policy = NULL;
	rc = opts->policy ? make_policy(&r->policy, opts->policy, err) : 0;
	if (rc == 0)
		rc = know(r, s, opts, err);
	store_thaw(s);
	return rc;
}

void resume_release(struct resumed *r)
{
	engine_release(&r->engine);
	site_rules_release(&r->sites);
	policy_free(r->policy);
	inventory_release(&r->has);
	*r = (struct resumed){ 0 };
}

/* ---- the same engine for the next cycle ---- */

void resume_ended(struct resumed *r, uint32_t cycle)
{
	r->next = r->engine.cycle.n_first ? 0 : cycle + 1;
}

/* Can it be used again with these options?  Not with clusters, which are made of the copies at the
 * start; not with weights, which depend on how many pages are here; and not where pages are left
 * out: a fresh engine would see something else. */
static bool is_for(const struct resumed *r, const struct resume_opts *o)
{
	const struct view *v = &r->engine.view;

	return r->next && r->next == o->before_cycle && epoch_first(r->next) != r->next &&
	       !strcmp(r->policy->spec, o->policy) && v->seed == o->seed &&
	       v->cycle_seconds == o->cycle_seconds && v->aim == o->aim && v->goal == o->goal &&
	       v->n_shards == o->n_shards && o->goal == GOAL_CHANGED && !v->weight && o->weight == WEIGHT_NONE &&
	       !o->site_by_domain && !o->leave_out && !(policy_needs(r->policy) & NEED_CLUSTERS);
}

static int see_page(void *arg, const struct store_page *p, struct err *err)
{
	(void)p;
	(void)err;
	*(bool *)arg = true;
	return 1;
}

/* 1: nobody else has written, we have added no page, and the user keeps none out. */
static int is_untouched(const struct resumed *r, struct store *s, struct err *err)
{
	const struct loaded *l = &r->has.loaded;
	uint64_t others, past;
	bool more = false;
	int rc = store_others(s, &others, err);

	for (uint32_t i = 0; i < l->pages.n; i++)
		more |= l->visits.state[i] == PAGE_OUT;

	if (rc == 0)
		rc = store_past(s, &past, err);
	if (rc == 0)
		rc = store_pages(s, l->pages.n, see_page, &more, err);
	return rc < 0 ? rc : others && others == r->others && past == r->past && !more;
}

static int set_state(void *arg, const struct store_page *p, struct err *err)
{
	struct resumed *r = arg;

	(void)err;
	r->has.loaded.visits.state[p->number] = p->state == STORE_PAGE_HERE ? PAGE_HERE : 0;
	return 0;
}

/* The state of each page that was visited is what the store says. */
static int take_states(struct resumed *r, struct store *s, struct err *err)
{
	const struct cycle *c = &r->engine.cycle;
	struct loaded *l = &r->has.loaded;
	uint32_t *pages = mem_array(c->n_seen + 1, sizeof *pages);
	int rc;

	for (size_t i = 0; i < c->n_seen; i++)
		pages[i] = c->seen[i].page;
	rc = store_pages_get(s, pages, c->n_seen, set_state, r, err);
	free(pages);
	l->n_here = 0;
	for (uint32_t i = 0; i < l->pages.n; i++) {
		r->engine.visits.state[i] = l->visits.state[i];
		l->n_here += l->visits.state[i] == PAGE_HERE;
	}
	return rc;
}

int resume_again(struct resumed *r, struct store *s, const struct resume_opts *opts,
                 struct err *err)
{
	int rc = r->next && is_for(r, opts) ? is_untouched(r, s, err) : 0;

	if (rc > 0) {
		r->next = 0;
		r->recalled.n_own_cycles++;
		rc = take_states(r, s, err);
		return rc < 0 ? rc : 1;
	}
	resume_release(r);
	return rc < 0 ? rc : resume(r, s, opts, err);
}
