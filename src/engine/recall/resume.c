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
}

static int read_store(struct resumed *r, struct store *s, const struct resume_opts *opts,
                      struct err *err)
{
	struct inventory_opts io = { .goal = opts->goal, .weight = opts->weight,
	                             .site_by_domain = opts->site_by_domain,
	                             .before_cycle = opts->before_cycle,
	                             .progress = opts->progress };
	struct recall_opts ro = { .before_cycle = opts->before_cycle,
	                          .keep = opts->keep, .progress = opts->progress };
	int rc;

	if (r->policy)
		io.needs = policy_needs(r->policy);
	rc = inventory_open(&r->has, s, &io, err);
	if (rc < 0)
		return rc;
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

int resume(struct resumed *r, struct store *s, const struct resume_opts *opts, struct err *err)
{
	int rc = 0;

	*r = (struct resumed){ 0 };
	if (opts->policy)
		rc = make_policy(&r->policy, opts->policy, err);
	if (rc == 0)
		rc = store_freeze(s, err);
	if (rc < 0)
		return rc;
	rc = read_store(r, s, opts, err);
	store_thaw(s);
	return rc;
}

void resume_release(struct resumed *r)
{
	engine_release(&r->engine);
	policy_free(r->policy);
	inventory_release(&r->has);
	*r = (struct resumed){ 0 };
}
