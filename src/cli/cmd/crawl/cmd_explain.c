/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_explain.c - `freshet explain`: why a page would, or would not, be fetched. */
#include <math.h>
#include <stdio.h>

#include "cli/cmd/crawl/plan_opts.h"
#include "cli/print/failing_print.h"

static const struct option_spec explain_options[] = { PLAN_OPTIONS, OPT_END };

/* Why a page that the user keeps out is not asked for, and how to change that. */
static const char *care_text(unsigned care)
{
	return care & CARE_REMOVED ? "it was removed; `freshet add` brings it back" :
	       care & CARE_SCOPE ? "it is out of scope; `freshet get` shows include and exclude" :
	       care & CARE_PAUSED ? "it is paused; `freshet resume` ends that" :
	       "its site is paused; `freshet resume --site` ends that";
}

/* Why no plan has it. */
static void verdict_text(const struct explanation *x, int64_t since)
{
	const char *why = x->page.care ? care_text(x->page.care) :
		x->page.state == STORE_PAGE_GONE ? "it is gone" :
		x->page.state == STORE_PAGE_LEFT ? "it is another name of a page that is under care, "
		"or a link that led nowhere" :
		x->failing.times && x->failing.until ? "it, or its site, rests" :
		x->failing.until ? "its site fails, and rests" : "the policy leaves it out";
	char t[21];

	printf("verdict      it is not asked for: %s\n", why);
	if (since) {
		when_iso(since, t);
		printf("since        %s\n", t);
	}
	if (!x->failing.times && x->failing.until) {
		when_iso(x->failing.until, t);
		printf("rests until  %s\n", t);
	}
	failing_page_text(&x->failing);
}

/* What a notifier said, and how often it was right. */
static void touched_text(const struct explanation *x)
{
	const struct touch_known *k = &x->touched;
	char t[21];

	if (!x->is_touched)
		return;
	when_iso(x->page.touched, t);
	printf("touched      %s by %s: it was right in %u of %u checks here, %u of %u everywhere: %s\n",
	       t, k->notifier, k->site.hits, k->site.checks, k->all.hits, k->all.checks,
	       k->rank == TOUCH_RIGHT ? "believed" : k->rank == TOUCH_WRONG ? "not believed" :
	       "on trial");
}

static void touched_json(struct json *j, const struct explanation *x)
{
	const struct touch_known *k = &x->touched;
	char t[21];

	if (!x->is_touched)
		return;
	when_iso(x->page.touched, t);
	json_kstr(j, "touched", t);
	json_kstr(j, "notifier", k->notifier);
	json_kstr(j, "notifier_is", touch_rank_name(k->rank));
	json_kint(j, "notifier_checks", k->site.checks);
	json_kint(j, "notifier_right", k->site.hits);
	json_kint(j, "notifier_checks_all", k->all.checks);
	json_kint(j, "notifier_right_all", k->all.hits);
}

static void explain_text(const struct explanation *x, const struct planning *p,
                         const struct plan_opts *o, int64_t since)
{
	uint32_t n = x->page.number;
	char t[21];

	printf("url          %s\npolicy       %s\naim          %s\n",
	       pages_url(&p->r.has.loaded.pages, n), o->policy, aim_name((enum aim)o->aim));
	if (!x->seen) {
		verdict_text(x, since);
		return;
	}
	printf("rank         %zu of %zu, budget %u: %s%s\n", x->rank, x->n, p->budget,
	       x->cycles <= 1 ? "in the next cycle" : "not in the next cycle",
	       x->cycles > 1 || !x->failing.times ? "" :
	       x->failing.outcome == OUTCOME_BLOCKED ? ", but its last visit was blocked" :
	       ", but its last visit failed");
	failing_page_text(&x->failing);
	if (x->cycles > 1)
		printf("would come   in about %u cycles, if nothing changed meanwhile\n", x->cycles);
	printf("reason       %s\nscore        %.4f\n", reason_text(x->seen->reason),
	       (double)x->seen->score);
	if (!isnan(x->probability))
		printf("probability  %.4f\n", x->probability);
	touched_text(x);
	printf("visits       %u, %u of them found a change", x->page.visits, x->page.changes);
	failing_page_counts(&x->failing);
	putchar('\n');
	if (x->page.last_visit) {
		when_iso(x->page.last_visit, t);
		printf("last visit   %s\n", t);
	}
}

static void explain_json(const struct explanation *x, const struct planning *p,
                         const struct plan_opts *o, int64_t since, const struct moved_page *m)
{
	struct json j;
	char t[21];

	cli_json_begin(&j, "explain");
	json_kstr(&j, "url", pages_url(&p->r.has.loaded.pages, x->page.number));
	json_kstr(&j, "policy", o->policy);
	json_kstr(&j, "aim", aim_name((enum aim)o->aim));
	if (x->why)
		json_kstr(&j, "explain", x->why);
	json_kint(&j, "budget", p->budget);
	json_kbool(&j, "asked", x->seen != NULL);
	json_kstr(&j, "state", store_state_name(x->page.state));
	json_kstr(&j, "care", store_care_name(x->page.care));
	if (since) {
		when_iso(since, t);
		json_kstr(&j, "care_since", t);
	}
	json_kbool(&j, "in_next_cycle", x->seen && x->cycles <= 1);
	if (x->seen) {
		json_kint(&j, "rank", (int64_t)x->rank);
		json_kint(&j, "of", (int64_t)x->n);
		json_kint(&j, "cycles", x->cycles);
		json_knum(&j, "score", (double)x->seen->score);
		json_knum(&j, "probability", x->probability);
		json_kstr(&j, "reason", reason_name(x->seen->reason));
		json_kstr(&j, "because", reason_text(x->seen->reason));
	}
	json_kint(&j, "visits", x->page.visits);
	json_kint(&j, "changes", x->page.changes);
	if (!x->failing.times && x->failing.until) {
		when_iso(x->failing.until, t);
		json_kstr(&j, "site_rests_until", t);
	}
	failing_page_json(&j, &x->failing);
	touched_json(&j, x);
	moved_page_json(m, &j);
	cli_json_end(&j);
}

static int explain_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct plan_opts *o = opts;
	struct plan_work p = { 0 };
	struct explanation x = { 0 };
	struct moved_page m = { 0 };
	int64_t since = 0;
	uint32_t page;
	int rc = plan_open(&p, cli, o, err);

	(void)n_args;
	if (rc == 0)
		rc = repository_page(p.store, args[0], &x.page, err);
	if (rc == 0 && x.page.care)
		rc = care_since(p.store, x.page.number, &since, err);
	page = x.page.number;
	if (rc == 0)
		rc = moved_page_load(&m, p.store, page, err);
	if (rc == 0 && (rc = store_page_get(p.store, page, &x.page, err)) > 0)
		rc = planning_explain(&p.plan, &x, err);
	if (rc == 0) {
		plan_say_choice(x.why, o->policy);
		if (cli->common.json)
			explain_json(&x, &p.plan, o, since, &m);
		else
			explain_text(&x, &p.plan, o, since);
		if (!cli->common.json)
			moved_page_text(&m);
	}
	moved_page_release(&m);
	plan_close(&p);
	return rc;
}

const struct command command_explain = {
	.name = "explain",
	.on_fleet = FLEET_PAGE,
	.arguments = "URL",
	.summary = "why a page would, or would not, be fetched in the next cycle",
	.examples = "  freshet -C crawl explain https://example.org/news/\n",
	.options = explain_options,
	.opts_size = sizeof(struct plan_opts),
	.n_args_min = 1,
	.n_args_max = 1,
	.read = true,
	.run = explain_run,
};
