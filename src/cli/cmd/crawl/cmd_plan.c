/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_plan.c - `freshet plan` and `freshet explain`: what would be fetched. */
#include <math.h>
#include <stdio.h>

#include "cli/frame/scope_options.h"
#include "cli/frame/shards.h"
#include "cli/frame/tagged.h"
#include "cli/print/failing_print.h"
#include "engine/book/care.h"
#include "engine/recall/planning.h"

struct plan_opts {
	const char *policy;
	struct share budget;
	int64_t every, now;
	int goal, aim, weight, format;
	int64_t max_age;
	struct share site_share, retry_share, notifier_share;
	struct option_list include, exclude;
	const char *tag;
};

enum format { FORMAT_TABLE, FORMAT_URLS, FORMAT_JSONL };

#define PLAN_OPTIONS \
	{ .name = "policy", .type = OPTION_TEXT, .def = "auto", .arg = "SPEC", \
	  .offset = offsetof(struct plan_opts, policy), .setting = true, \
	  .help = "the policy: name or name:key=value,..." }, \
	SETTING_AIM(plan_opts), \
	{ .name = "budget", .type = OPTION_SHARE, .def = "2%", .arg = "N|N%", \
	  .offset = offsetof(struct plan_opts, budget), .setting = true, \
	  .help = "downloads of a cycle, as a number or a share of the pages" }, \
	{ .name = "every", .type = OPTION_DURATION, .def = "1d", .arg = "DURATION", \
	  .offset = offsetof(struct plan_opts, every), .setting = true, \
	  .help = "time between cycles" }, \
	{ .name = "max-age", .type = OPTION_DURATION, .arg = "DURATION", \
	  .offset = offsetof(struct plan_opts, max_age), .setting = true, \
	  .help = "no page stays unvisited longer" }, \
	{ .name = "site-share", .type = OPTION_SHARE, .arg = "N|N%", \
	  .offset = offsetof(struct plan_opts, site_share), .setting = true, \
	  .help = "no domain gets more of a cycle, unless it has more of the pages; default: " \
	          "its share of the pages and half of the rest" }, \
	{ .name = "notifier_share", .type = OPTION_SHARE, .def = TOUCH_SHARE, .arg = "N|N%", \
	  .offset = offsetof(struct plan_opts, notifier_share), .setting = true, \
	  .help = "pages that a notifier touched get at most this part of a cycle, for each " \
	          "notifier" }, \
	{ .name = "retry_share", .type = OPTION_SHARE, .def = "5%", .arg = "N|N%", \
	  .offset = offsetof(struct plan_opts, retry_share), .setting = true, \
	  .help = "pages that failed and have rested get at most this part of a cycle, one " \
	          "request at least" }, \
	SCOPE_OPTIONS(plan_opts), \
	OPT_CHOICE(plan_opts, goal, "changed|alive", "changed", "what counts as a hit"), \
	OPT_TIME(plan_opts, now, NULL, "plan as if it were this time")

static const struct option_spec plan_options[] = {
	PLAN_OPTIONS,
	OPT_TEXT(plan_opts, tag, NULL, "TAG", "show only pages of the plan that have this tag"),
	OPT_CHOICE(plan_opts, format, "table|urls|jsonl", "table",
	           "a table; URLs only; or JSON Lines that `freshet tell` takes back"),
	OPT_END
};

static const struct option_spec explain_options[] = { PLAN_OPTIONS, OPT_END };

/* The command's own: the repository, the settings in force, and the plan. */
struct plan_work {
	struct store *store;
	struct arena texts;
	struct progress progress;
	struct planning plan;
	struct care_rules care;
	struct tagged tagged;           /* which pages are shown */
};

static void plan_close(struct plan_work *p)
{
	planning_release(&p->plan);
	care_rules_release(&p->care);
	tagged_release(&p->tagged);
	store_close(p->store);
	arena_release(&p->texts);
}

static bool is_outside(void *arg, const char *url, size_t size)
{
	return (care_rules_say(arg, url, size) & CARE_SCOPE) != 0;
}

/* Resume the repository with the options and settings in force. */
/* A number of requests is the fleet's: a shard is planned with its part by pages.  (Workers grant
 * parts by what the shards bid, while the cycle runs.) */
static struct share part_of_shard(const struct cli *cli, struct share budget)
{
	const struct shards *s = cli->shards;
	double all = 0, own = 0;

	if (shards_count(cli) < 2 || budget.percent || cli->common.shard >= 0)
		return budget;
	for (size_t i = 0; i < s->n; i++) {
		all += (double)s->list[i].pages;
		own += s->list[i].shard == cli->shard ? (double)s->list[i].pages : 0;
	}
	budget.value = all > 0 && own > 0 ? fmax(1, floor(budget.value * own / all + 0.5)) :
	               budget.value;
	return budget;
}

static int plan_open(struct plan_work *p, struct cli *cli, struct plan_opts *o,
                     struct err *err)
{
	struct planning_opts po = { 0 };
	int rc = repository_read(cli, &p->store, err);

	if (rc == 0)
		rc = repository_settings(cli, p->store, &p->texts, err);
	if (rc < 0)
		return rc;
	if (!o->now)
		o->now = clock_now();
	po.resume = (struct resume_opts){
		.policy = o->policy, .seed = (uint64_t)cli->common.seed, .goal = (enum goal)o->goal,
		.aim = (enum aim)o->aim, .weight = (enum weight_by)o->weight,
		.cycle_seconds = o->every, .n_shards = shards_count(cli), .progress = &p->progress,
	};
	if (cli_given(cli, "include") || cli_given(cli, "exclude")) {
		rc = scope_options_load(cli, p->store, &o->include, &o->exclude, &p->care, err);
		po.resume.leave_out = is_outside;
		po.resume.leave_arg = &p->care;
	}
	if (rc < 0)
		return rc;
	po.budget = part_of_shard(cli, o->budget);
	po.max_age = o->max_age;
	po.site_share = o->site_share;
	po.retry_share = o->retry_share;
	po.notifier_share = o->notifier_share;
	po.now = o->now;
	return planning_open(&p->plan, p->store, &po, err);
}

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

static void print_table(const struct planning *p)
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
	table_print(t, stdout);
	table_free(t);
}

/* What the policy says of itself: what auto chose, and why. */
static void say_choice(const char *why, const char *policy)
{
	if (why)
		log_info("%s chose %s", policy, why);
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
		say_choice(policy_explain(p.plan.r.policy), o->policy);
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
		print_table(&p.plan);
	}
	plan_close(&p);
	return rc;
}

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
		say_choice(x.why, o->policy);
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
