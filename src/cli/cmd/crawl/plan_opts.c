/* SPDX-License-Identifier: Apache-2.0 */
/* plan_opts.c - see plan_opts.h. */
#include "cli/cmd/crawl/plan_opts.h"

#include <math.h>

#include "cli/frame/shards.h"

void plan_close(struct plan_work *p)
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

int plan_open(struct plan_work *p, struct cli *cli, struct plan_opts *o, struct err *err)
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
		.snapshot = repository_is_usual(cli),
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

void plan_say_choice(const char *why, const char *policy)
{
	if (why)
		log_info("%s chose %s", policy, why);
}
