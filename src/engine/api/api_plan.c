/* SPDX-License-Identifier: Apache-2.0 */
/* api_plan.c - plans and explanations; include/freshet.h is their manual. */
#include <math.h>

#include "engine/api/api.h"
#include "engine/import/import.h"
#include "web/url/url.h"

/* What the caller asks for goes before the repository's settings. */
static int open_planning(struct freshet *f, struct planning *p,
                         const struct freshet_plan_options *options)
{
	struct freshet_plan_options o;
	struct planning_opts po = { 0 };
	struct api_settings s;
	int rc = API_TAKE(f, o, options);

	if (rc == 0)
		rc = api_settings(f, &s);
	if (rc == 0 && o.aim)
		rc = api_choice(f, "aim", o.aim, AIM_CHOICES, &s.aim);
	if (rc == 0 && o.weight)
		rc = api_choice(f, "weight", o.weight, WEIGHT_CHOICES, &s.weight);
	if (rc == 0 && o.cycle_seconds < 0)
		rc = err_set(&f->err, E_USAGE, "the time between cycles is below 0");
	if (rc < 0)
		return rc;
	po.resume = (struct resume_opts){
		.policy = o.policy ? o.policy : s.policy, .seed = o.seed,
		.cycle_seconds = o.cycle_seconds ? o.cycle_seconds : s.every,
		.aim = (enum aim)s.aim, .weight = (enum weight_by)s.weight, .progress = api_watch(f),
	};
	po.budget = o.budget ? (struct share){ o.budget, false } : s.budget;
	po.max_age = s.max_age;
	po.site_share = s.site_share;
	po.retry_share = s.retry_share;
	po.notifier_share = s.notifier_share;
	po.now = api_now(f, o.now);
	return planning_open(p, f->store, &po, &f->err);
}

static void hand_out(const struct planning *p,
                     int (*each)(void *arg, const struct freshet_page *page), void *arg)
{
	for (size_t i = 0; i < p->r.engine.cycle.n_seen; i++) {
		const struct seen *s = &p->r.engine.cycle.seen[i];
		struct freshet_page page = {
			.size = sizeof page, .url = pages_url(&p->r.has.loaded.pages, s->page),
			.score = (double)s->score, .probability = (double)s->probability,
			.reason = reason_name(s->reason),
		};

		if (each(arg, &page))
			return;
	}
}

int freshet_plan(struct freshet *f, const struct freshet_plan_options *options,
                 int (*each)(void *arg, const struct freshet_page *page), void *arg)
{
	struct planning p = { 0 };
	int rc = api_begin(f, API_STORE);

	if (rc < 0)
		return rc;
	rc = each ? open_planning(f, &p, options) :
	     err_set(&f->err, E_USAGE, "nobody takes the plan");
	if (rc == 0)
		rc = planning_make(&p, &f->err);
	if (rc == 0)
		hand_out(&p, each, arg);
	planning_release(&p);
	return api_end(f, rc);
}

/* As a user types it: a missing scheme is http. */
static int find_page(struct freshet *f, const char *url, struct store_page *ret)
{
	struct buf text, canonical;
	struct err why = { 0 };
	int rc;

	if (!url)
		return err_set(&f->err, E_USAGE, "no URL");
	buf_init(&text, URL_SIZE_MAX);
	buf_init(&canonical, URL_SIZE_MAX);
	if (!strstr(url, "://"))
		buf_str(&text, "http://");
	buf_str(&text, url);
	rc = url_canonical(buf_text(&text), text.size, &canonical, &why);
	if (rc < 0)
		rc = err_set(&f->err, E_USAGE, "this is no URL of a page: %s", why.text);
	else
		rc = store_page_find(f->store, (struct text){ canonical.data, canonical.size }, ret,
		                     &f->err);
	if (rc == 0)
		rc = err_set(&f->err, E_USAGE, "%s: not in this repository", buf_text(&canonical));
	buf_release(&text);
	buf_release(&canonical);
	return rc < 0 ? rc : 0;
}

static int give_explanation(struct freshet *f, const struct planning *p,
                            const struct explanation *x, struct freshet_explanation *ret)
{
	const char *url = pages_url(&p->r.has.loaded.pages, x->page.number);
	struct freshet_explanation e = {
		.url = arena_strndup(&f->texts, url, strlen(url)), .asked = x->seen != NULL,
		.in_next_cycle = x->seen && x->cycles <= 1, .budget = p->budget,
		.probability = x->probability, .visits = x->page.visits, .changes = x->page.changes,
		.last_visit = x->page.last_visit, .failed_in_row = x->failing.times,
		.rests_until = x->failing.until,
	};

	if (x->why)
		e.policy_says = arena_strndup(&f->texts, x->why, strlen(x->why));
	if (x->seen) {
		e.rank = x->rank;
		e.of = x->n;
		e.cycles = x->cycles;
		e.score = (double)x->seen->score;
		e.reason = reason_name(x->seen->reason);
		e.because = reason_text(x->seen->reason);
	}
	return api_give(f, ret, &e, sizeof e);
}

int freshet_explain(struct freshet *f, const char *url,
                    const struct freshet_plan_options *options,
                    struct freshet_explanation *ret)
{
	struct planning p = { 0 };
	struct explanation x = { 0 };
	int rc = api_begin(f, API_STORE);

	if (rc < 0)
		return rc;
	rc = find_page(f, url, &x.page);
	if (rc == 0)
		rc = open_planning(f, &p, options);
	if (rc == 0)
		rc = planning_explain(&p, &x, &f->err);
	if (rc == 0)
		rc = give_explanation(f, &p, &x, ret);
	planning_release(&p);
	return api_end(f, rc);
}
