/* SPDX-License-Identifier: Apache-2.0 */
/* policy.c - the memory of a policy, and its calls; see policy.h. */
#include "policy/policy.h"

#include <math.h>

#include "policy/plan.h"

void policy_free(struct policy *p)
{
	if (!p)
		return;
	if (p->ops->release)
		p->ops->release(p);
	if (p->ops->options)
		option_release(p->ops->options, p->opts);
	free(p->opts);
	free(p->state);
	mem_big_free(p->page_mem, (size_t)p->n_pages * p->ops->page_size);
	arena_release(&p->texts);
	free(p);
}

unsigned policy_needs(const struct policy *p)
{
	return p->ops->needs ? p->ops->needs(p->opts) : 0;
}

double policy_patience(const struct policy *p)
{
	return p->ops->patience;
}

void policy_size(struct policy *p, uint32_t n_pages)
{
	size_t size = p ? (size_t)n_pages * p->ops->page_size : 0;

	if (!p)
		return;
	mem_big_free(p->page_mem, (size_t)p->n_pages * p->ops->page_size);
	p->page_mem = size ? mem_big(size) : NULL;
	p->n_pages = n_pages;
}

bool policy_can_freeze(const struct policy *p)
{
	return !p || p->ops->freeze;
}

void policy_freeze(struct policy *p, const struct view *v, struct frozen *f)
{
	f->bad |= !policy_can_freeze(p);
	if (!p || f->bad)
		return;
	frozen_rows(f, p->page_mem, p->n_pages, p->ops->page_size);
	p->ops->freeze(p, v, f);
}

void policy_freeze_nothing(struct policy *p, const struct view *v, struct frozen *f)
{
	(void)p;
	(void)v;
	(void)f;
}

double policy_probability(struct policy *p, const struct view *v, uint32_t page)
{
	return p->ops->probability ? p->ops->probability(p, v, page) : NAN;
}

bool policy_demand(struct policy *p, const struct view *v, struct demand_limits *limits,
                   struct demand *ret)
{
	bool can;

	*ret = (struct demand){ .limits = limits };
	can = p->ops->comparable && p->ops->demand && p->ops->demand(p, v, ret);
	demand_limit(ret);
	return can;
}

void policy_begin(struct policy *p, const struct view *v)
{
	if (p && p->ops->begin)
		p->ops->begin(p, v);
}

void policy_ask(struct policy *p, const struct view *v, struct plan *plan)
{
	p->ops->ask(p, v, plan);
	plan_finish(plan);
}

void policy_tell(struct policy *p, const struct view *v, const struct seen *seen)
{
	if (p && p->ops->tell)
		p->ops->tell(p, v, seen);
}

void policy_soon(const struct policy *p, const struct view *v, uint32_t page, bool near)
{
	if (p && p->ops->soon)
		p->ops->soon(p, v, page, near);
}

void policy_end(struct policy *p, const struct view *v)
{
	if (p && p->ops->end)
		p->ops->end(p, v);
}

const char *policy_explain(const struct policy *p)
{
	return p && p->ops->explain ? p->ops->explain(p) : NULL;
}

const char *policy_chosen(const struct policy *p)
{
	return p->ops->chosen ? p->ops->chosen(p) : p->spec;
}

void policy_hold(struct policy *p, const char *chosen)
{
	if (p->ops->hold)
		p->ops->hold(p, chosen);
}

static const struct { const char *name, *text; } reasons[] = {
#define REASON(code, number, name, text) [number] = { name, text },
#include "base/reasons.def"
#undef REASON
};

const char *reason_name(unsigned reason)
{
	return reasons[reason < N_REASONS ? reason : 0].name;
}

const char *reason_text(unsigned reason)
{
	return reasons[reason < N_REASONS ? reason : 0].text;
}

const char *outcome_name(enum outcome o)
{
	static const char *const names[] = { "same", "changed", "gone", "failed", "blocked" };

	return names[o];
}

const char *aim_name(enum aim aim)
{
	static const char *const names[] = { "changes", "freshness", "age" };

	return names[aim];
}

bool aim_find(const char *name, enum aim *ret)
{
	for (int a = AIM_CHANGES; a <= AIM_AGE; a++)
		if (strcmp(name, aim_name((enum aim)a)) == 0) {
			*ret = (enum aim)a;
			return true;
		}
	return false;
}

const char *weight_name(enum weight_by weight)
{
	static const char *const names[] = { "none", "pagerank", "given" };

	return names[weight];
}
