/* SPDX-License-Identifier: Apache-2.0 */
/* planning.c - from a repository to a plan, and why; see planning.h. */
#include "engine/recall/planning.h"

#include <math.h>
#include <string.h>

#include "engine/archive/ignore.h"
#include "policy/catalogue/catalogue.h"
#include "web/page/change.h"

/* Touched pages come first. */
static int begin_with(struct planning *p, struct err *err)
{
	struct engine_rules *r = &p->r.engine.rules;
	struct touch_rule rule = { p->opts.notifier_share, p->budget, p->r.engine.view.n_pages,
	                           p->opts.now };
	int rc = touch_choose(&p->touched, p->store, &rule, err);

	r->reserved = p->touched.v.v;
	r->n_reserved = p->touched.v.n;
	r->reserved_most = (uint32_t)p->touched.v.n;
	return rc;
}

static int see_newest(void *arg, const struct store_cycle *c, struct err *err)
{
	struct store_cycle *newest = arg;

	(void)err;
	newest->number = c->number;
	newest->open = c->open;
	return 0;
}

/* Caches can be written only when a cycle could begin now, not while one is open. */
static int allow_caches(struct resume_opts *ro, struct store *s, struct err *err)
{
	struct store_cycle newest = { 0 };
	int rc = store_cycles(s, STORE_NEWEST, see_newest, &newest, err);

	ro->snapshot = newest.number && !newest.open && ro->goal == GOAL_CHANGED;
	if (ro->snapshot)
		ro->before_cycle = newest.number + 1;
	return rc;
}

int planning_open(struct planning *p, struct store *s, const struct planning_opts *opts,
                  struct err *err)
{
	int rc;

	p->opts = *opts;
	p->store = s;
	rc = opts->resume.snapshot ? allow_caches(&p->opts.resume, s, err) : 0;
	if (rc == 0)
		rc = resume(&p->r, s, &p->opts.resume, err);
	if (rc < 0)
		return rc;
	rc = guarantee_cycles(opts->max_age, opts->resume.cycle_seconds,
	                      &p->r.engine.rules.max_age, err);
	if (rc < 0)
		return rc;
	p->r.engine.ceiling.share = opts->site_share;
	p->r.engine.ceiling.usual = opts->resume.goal == GOAL_CHANGED;
	p->r.engine.retry.share = opts->retry_share;
	p->budget = (uint32_t)share_of(opts->budget, p->r.has.loaded.n_here);
	return opts->resume.goal == GOAL_CHANGED ? begin_with(p, err) : 0;
}

int planning_make(struct planning *p, struct err *err)
{
	return dry_cycle(&p->r, p->opts.now, p->budget, p->opts.resume.progress, err);
}

void planning_release(struct planning *p)
{
	resume_release(&p->r);
	arena_release(&p->texts);
	vec_release(&p->touched.v);
}

static const char *copy_text(struct arena *a, const char *s)
{
	return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

static void find_page(struct explanation *x, const struct engine *e)
{
	x->n = e->cycle.n_seen;
	for (size_t i = 0; i < x->n && !x->seen; i++) {
		if (e->cycle.seen[i].page == x->page.number) {
			x->seen = &e->cycle.seen[i];
			x->rank = i + 1;
		}
	}
}

/* A plan of every page.  With all of the budget auto would choose another policy, so it keeps
 * to the one that it chose. */
static int plan_all(struct planning *p, struct err *err)
{
	struct resume_opts ro = p->opts.resume;
	uint32_t max_age = p->r.engine.rules.max_age;
	const char *chosen = copy_text(&p->texts, policy_chosen(p->r.policy));
	int rc;

	rc = resume_anew(&p->r, p->store, &ro, err);
	if (rc < 0)
		return rc;
	policy_hold(p->r.policy, chosen);
	p->r.engine.rules.max_age = max_age;
	p->r.engine.retry.share = (struct share){ 100, true };
	return dry_cycle(&p->r, p->opts.now, p->r.has.loaded.n_here, ro.progress, err);
}

int planning_explain(struct planning *p, struct explanation *ret, struct err *err)
{
	struct explanation x = { .page = ret->page };
	int rc = failing_page(p->store, x.page.number, &x.failing, err);

	if (rc == 0)
		x.failing.until = failing_rest(&p->r, x.page.number, p->opts.now);
	if (rc == 0)
		rc = touch_known(p->store, &x.page, &x.touched, err);
	x.is_touched = rc > 0;
	rc = rc > 0 ? 0 : rc;
	if (rc == 0 && x.page.care) {           /* no plan has it */
		x.probability = (double)NAN;
		*ret = x;
		return 0;
	}
	if (rc == 0)
		rc = planning_make(p, err);
	if (rc < 0)
		return rc;
	x.why = copy_text(&p->texts, policy_explain(p->r.policy));
	find_page(&x, &p->r.engine);
	if (!x.seen) {
		rc = plan_all(p, err);
		if (rc < 0)
			return rc;
		find_page(&x, &p->r.engine);
		x.late = true;
	}
	/* in a plan of everything each page is sure to come: that says nothing */
	x.probability = x.seen && !x.late ? (double)x.seen->probability : (double)NAN;
	x.cycles = p->budget ? (uint32_t)((x.rank + p->budget - 1) / p->budget) : 0;
	if (x.late && x.cycles < 2)
		x.cycles = 2;
	*ret = x;
	return 0;
}

int planning_check(const char *name, const char *value, struct err *err)
{
	struct ignore_list rules = { 0 };
	struct policy *policy = NULL;
	struct detector detect;
	int rc = 0;

	if (!strcmp(name, "policy"))
		rc = policy_new(&policy, value, err);
	else if (!strcmp(name, "detect"))
		rc = detector_parse(&detect, value, err);
	else if (!strcmp(name, "ignore"))
		rc = ignore_list_add(&rules, value, err);
	if (rc == 0)
		policy_free(policy);
	ignore_list_release(&rules);
	return rc;
}
