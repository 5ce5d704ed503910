/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_plan.c - `freshet plan`: what would be fetched. */
#include <math.h>
#include <stdio.h>

#include "cli/cmd/crawl/plan_opts.h"

enum format { FORMAT_TABLE, FORMAT_URLS, FORMAT_JSONL };

static const struct option_spec plan_options[] = {
	PLAN_OPTIONS,
	OPT_TEXT(plan_opts, tag, NULL, "TAG", "show only pages of the plan that have this tag"),
	OPT_CHOICE(plan_opts, format, "table|urls|jsonl", "table",
	           "a table; URLs only; or JSON Lines that `freshet tell` takes back"),
	OPT_END
};

/* What a crawler needs to ask for the page, as `freshet ask` has it. */
static int print_copy(struct json *j, struct store *s, uint32_t page, struct err *err)
{
	struct store_capture c = { 0 };
	struct store_page p = { 0 };
	char t[15];
	int rc = store_page_get(s, page, &p, err);

	if (rc > 0) {
		json_key(j, "given");
		p.given.size ? json_strn(j, p.given.s, p.given.size) :
		               json_strn(j, p.url.s, p.url.size);
	}
	if (rc > 0 && p.capture)
		rc = store_capture_get(s, p.capture, &c, err);
	if (rc < 0)
		return rc;
	json_key(j, "etag");
	c.etag.size ? json_strn(j, c.etag.s, c.etag.size) : json_null(j);
	json_key(j, "last_modified");
	c.modified.size ? json_strn(j, c.modified.s, c.modified.size) : json_null(j);
	if (p.last_visit)
		when_digits(p.last_visit, t);
	json_kstr(j, "last_visit", p.last_visit ? t : NULL);
	return 0;
}

static int print_jsonl(const struct planning *p, struct json *j, struct err *err)
{
	const struct engine *e = &p->r.engine;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < e->cycle.n_seen; i++) {
		const struct seen *s = &e->cycle.seen[i];

		json_object(j);
		json_kstr(j, "url", pages_url(&p->r.has.loaded.pages, s->page));
		json_kint(j, "rank", (int64_t)i + 1);
		rc = print_copy(j, p->store, s->page, err);
		json_knum(j, "score", (double)s->score);
		json_knum(j, "probability", (double)s->probability);
		json_kstr(j, "reason", reason_name(s->reason));
		json_kint(j, "round", s->round);
		json_end_object(j);
		if (!j->depth)
			json_newline(j);
	}
	return rc;
}

static int print_json(const struct planning *p, const struct plan_opts *o, struct err *err)
{
	struct json j;
	char t[15];
	int rc;

	when_digits(o->now, t);
	cli_json_begin(&j, "plan");
	json_kstr(&j, "time", t);
	json_kstr(&j, "policy", o->policy);
	json_kstr(&j, "aim", aim_name((enum aim)o->aim));
	json_kstr(&j, "weight", weight_name((enum weight_by)o->weight));
	if (policy_explain(p->r.policy))
		json_kstr(&j, "explain", policy_explain(p->r.policy));
	json_kint(&j, "budget", p->budget);
	if (p->r.engine.cycle.guarantee_broken)
		json_kbool(&j, "guarantee_broken", true);
	json_kint(&j, "resting", p->r.engine.retry.n_resting);
	json_key(&j, "plan");
	json_array(&j);
	rc = print_jsonl(p, &j, err);
	json_end_array(&j);
	cli_json_end(&j);
	return rc;
}

static void print_table(struct cli *cli, const struct planning *p)
{
	static const char *const heads[] = { "rank", "score", "probability", "<reason", "<url" };
	const struct engine *e = &p->r.engine;
	struct table *t = table_new(heads, 5);

	for (size_t i = 0; i < e->cycle.n_seen; i++) {
		const struct seen *s = &e->cycle.seen[i];

		table_cell(t, "%zu", i + 1);
		table_cell(t, "%.4f", (double)s->score);
		if (isnan(s->probability))
			table_cell(t, "-");
		else
			table_cell(t, "%.4f", (double)s->probability);
		table_cell(t, "%s", reason_name(s->reason));
		table_cell(t, "%s", pages_url(&p->r.has.loaded.pages, s->page));
	}
	table_finish(cli, t);
}

/* Leave the pages without the tag out of what is shown. */
static void show_tagged(struct plan_work *p)
{
	struct cycle *c = &p->plan.r.engine.cycle;
	size_t n = 0;

	for (size_t i = 0; i < c->n_seen; i++)
		if (tagged_has(&p->tagged, c->seen[i].page))
			c->seen[n++] = c->seen[i];
	c->n_seen = n;
}

static int plan_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct plan_opts *o = opts;
	struct plan_work p = { 0 };
	const struct engine *e = &p.plan.r.engine;
	struct json j;
	int rc = plan_open(&p, cli, o, err);

	(void)n_args;
	(void)args;
	if (rc == 0)
		rc = planning_make(&p.plan, err);
	if (rc == 0)
		rc = tagged_load(&p.tagged, p.store, o->tag, err);
	if (rc == 0)
		show_tagged(&p);
	if (rc == 0)
		plan_say_choice(policy_explain(p.plan.r.policy), o->policy);
	if (rc == 0 && e->cycle.guarantee_broken)
		log_warn("the budget cannot keep --max-age: raise one of them");
	if (rc == 0 && e->retry.n_resting)
		log_info("%u page%s after failures%s", e->retry.n_resting,
		         e->retry.n_resting == 1 ? " rests" : "s rest",
		         o->max_age ? ", and --max-age does not hold for them" : "");
	if (rc == 0 && cli->common.json) {
		rc = print_json(&p.plan, o, err);
	} else if (rc == 0 && o->format == FORMAT_JSONL) {
		json_to_file(&j, stdout);
		rc = print_jsonl(&p.plan, &j, err);
	} else if (rc == 0 && o->format == FORMAT_URLS) {
		for (size_t i = 0; i < e->cycle.n_seen; i++)
			puts(pages_url(&p.plan.r.has.loaded.pages, e->cycle.seen[i].page));
	} else if (rc == 0) {
		print_table(cli, &p.plan);
	}
	plan_close(&p);
	return rc;
}

const struct command command_plan = {
	.name = "plan",
	.on_fleet = FLEET_EACH,
	.arguments = "",
	.summary = "what would be fetched, with score, probability and reason; fetches nothing",
	.description =
		"A policy that looks at its first downloads before it goes on is shown as if nothing\n"
		"could be learnt from them. Another crawler can do the fetching: give it\n"
		"`--format urls` or `--format jsonl`, and hand its outcomes to `freshet tell`. Such a plan\n"
		"made in one go costs changes that the policy would have found by learning on the way\n"
		"(`tide`: .66 to .72 of its downloads changed instead of .85 on one history): where you\n"
		"can, use `freshet ask` in batches.\n"
		"\n"
		"The score is the policy's own: a chance of change, an age, a rate; policies that mix\n"
		"reasons or add noise do not list by falling score. The probability is that with which\n"
		"chance chose the page; - where it cannot be told. `freshet replay --logged` rests on it.",
	.examples =
		"  freshet -C crawl plan --budget 100 --policy site\n"
		"  freshet -C crawl plan --format jsonl > plan.jsonl\n",
	.options = plan_options,
	.opts_size = sizeof(struct plan_opts),
	.n_args_min = 0,
	.n_args_max = 0,
	.read = true,
	.run = plan_run,
};
