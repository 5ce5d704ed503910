/* SPDX-License-Identifier: Apache-2.0 */
/* api_replay.c - a policy on recorded history; include/freshet.h is its manual. */
#include "engine/api/api.h"
#include "engine/replay/experiment.h"
#include "engine/replay/replay.h"
#include "engine/history/trace.h"

static bool see_reading(void *arg, uint64_t done, uint64_t total)
{
	return api_progress(arg, "reading", done, total);
}

struct cycles { struct freshet *f; uint64_t done, total; };

static bool see_cycle(void *arg)
{
	struct cycles *c = arg;

	return api_progress(c->f, "replaying", ++c->done, c->total);
}

static int check_options(struct freshet *f, const struct freshet_replay_options *o)
{
	if (!(o->budget_percent >= 0 && o->budget_percent <= 100))
		return err_set(&f->err, E_USAGE, "the budget is a percentage from 0 to 100");
	if (o->cycle_seconds < 0)
		return err_set(&f->err, E_USAGE, "the length of a cycle is below 0");
	return 0;
}

static int give_measures(struct freshet *f, const struct replay *r,
                         const struct replay_run *run, struct freshet_measures *ret)
{
#define MEAN(field) replay_mean(run, offsetof(struct cycle_measure, field))
	struct freshet_measures m = {
		.pages = r->n_repository, .cycles = r->n_cycles, .budget = r->budget,
		.change_ratio = MEAN(change_ratio),
		.change_ratio_cycle = MEAN(change_ratio_cycle),
		.weighted_change_ratio = MEAN(weighted_change_ratio),
		.freshness = MEAN(freshness), .age_days = MEAN(age_days),
		.freshness_time = run->time.freshness, .age_time_days = run->time.age_days,
		.max_unvisited_days = replay_max(run, offsetof(struct cycle_measure,
		                                               max_unvisited_days)),
	};
#undef MEAN

	return api_give(f, ret, &m, sizeof m);
}

static int run_replay(struct freshet *f, const char *const *paths, size_t n_paths,
                      const struct freshet_replay_options *o, struct freshet_measures *ret)
{
	const char *policy = o->policy ? o->policy : "auto";
	struct cycles cycles = { .f = f };
	struct replay_opts ro = {
		.cycle_seconds = o->cycle_seconds ? o->cycle_seconds : 14 * DAY_SECONDS,
		.budget = { o->budget_percent > 0 ? o->budget_percent : 2, true },
		.cycle_done = see_cycle, .done_arg = &cycles,
	};
	struct option_list specs = { .v = &policy, .n = 1 };
	struct trace_report report = { .report = api_warn, .progress = see_reading, .arg = f };
	struct replay_run run = { 0 };
	struct replay r = { 0 };
	struct history h;
	unsigned needs = 0;
	int aim = 0, rc = api_choice(f, "aim", o->aim ? o->aim : AIM_DEFAULT, AIM_CHOICES, &aim);

	if (rc < 0)
		return rc;
	ro.aim = (enum aim)aim;
	history_init(&h, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS);
	if ((rc = policy_list_needs(&specs, &needs, &f->err)) == 0 &&
	    (rc = trace_load(&h, paths, n_paths, &report, &f->err)) == 0 &&
	    (rc = replay_open(&r, &h, &ro, needs, &f->err)) == 0) {
		cycles.total = r.n_cycles;
		replay_run(&r, policy, o->seed, &run);
		rc = run.code;
		f->err = rc < 0 ? run.err : f->err;
	}
	if (rc == 0)
		rc = give_measures(f, &r, &run, ret);
	replay_run_release(&run);
	replay_close(&r);
	history_release(&h);
	return rc;
}

int freshet_replay(struct freshet *f, const char *const *paths, size_t n_paths,
                   const struct freshet_replay_options *options, struct freshet_measures *ret)
{
	struct freshet_replay_options o;
	int rc = api_begin(f, API_NOTHING);

	if (rc < 0)
		return rc;
	rc = API_TAKE(f, o, options);
	if (rc == 0)
		rc = check_options(f, &o);
	if (rc == 0 && !(paths && n_paths))
		rc = err_set(&f->err, E_USAGE, "no history: name a file");
	for (size_t i = 0; rc == 0 && i < n_paths; i++)
		if (!paths[i])
			rc = err_set(&f->err, E_USAGE, "file %zu of the history has no name", i);
	if (rc == 0)
		rc = run_replay(f, paths, n_paths, &o, ret);
	return api_end(f, rc);
}
