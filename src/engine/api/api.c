/* SPDX-License-Identifier: Apache-2.0 */
/* api.c - the public library over the engine; include/freshet.h is its manual. */
#include "freshet.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "engine/book/import.h"
#include "engine/book/keep.h"
#include "engine/recall/dry.h"
#include "engine/replay/experiment.h"
#include "engine/replay/replay.h"
#include "engine/view/trace.h"
#include "web/url/url.h"

#define DEFAULT_POLICY "auto"
#define CONFIRMATIONS 2

struct freshet {
	struct store *store;
	struct err err;
	struct store_cycle cycle;       /* open while outcomes are told */
	struct map had;                 /* of it: see keep_once() */
	int lock;                       /* held meanwhile, or -1 */
	char folder[4096];              /* of the archive, whose lock it is */
};

const char *freshet_version(void)
{
	return FRESHET_VERSION;
}

static int64_t clock_or(int64_t t)
{
	return t ? t : (int64_t)time(NULL);
}

static int open_dir(struct freshet **ret, const char *dir, enum store_mode mode)
{
	struct freshet *f = mem_zalloc(1, sizeof *f);
	char path[4096];

	*ret = f;
	f->lock = -1;
	snprintf(f->folder, sizeof f->folder, "%.4000s/warc", dir);
	if (snprintf(path, sizeof path, "%s/freshet.db", dir) >= (int)sizeof path)
		return err_set(&f->err, E_USAGE, "the path is too long");
	if (mode == STORE_CREATE && mkdir(dir, 0777) && errno != EEXIST)
		return err_errno(&f->err, E_IO, "%s", dir);
	return store_open(&f->store, path, mode, &f->err);
}

int freshet_open(struct freshet **ret, const char *dir)
{
	return open_dir(ret, dir, STORE_EXISTING);
}

int freshet_create(struct freshet **ret, const char *dir)
{
	return open_dir(ret, dir, STORE_CREATE);
}

static void let_go(struct freshet *f)
{
	if (f->lock >= 0)
		close(f->lock);
	f->lock = -1;
}

void freshet_close(struct freshet *f)
{
	if (!f)
		return;
	store_close(f->store);
	let_go(f);
	map_release(&f->had);
	free(f);
}

const char *freshet_error(const struct freshet *f)
{
	return f->err.text;
}

int freshet_add(struct freshet *f, const char *url)
{
	struct import i = { .store = f->store, .now = clock_or(0) };
	int rc = import_url(&i, url, &f->err);

	return rc < 0 ? rc : (int)i.stats.n_pages;
}

int freshet_weigh(struct freshet *f, const char *url, double weight)
{
	struct import i = { .store = f->store, .now = clock_or(0), .weigh = true,
	                    .weight = weight };
	int rc = import_url(&i, url, &f->err);

	return rc < 0 ? rc : 0;
}

/* The place of a name among choices, or the usual one of a NULL. */
static int find_choice(const char *name, const char *choices, const char *usual,
                       unsigned *ret, struct err *err)
{
	size_t size = strlen(name ? name : usual);

	*ret = 0;
	for (const char *p = choices; *p; ++*ret) {
		size_t n = strcspn(p, "|");

		if (n == size && !memcmp(p, name ? name : usual, n))
			return 0;
		p += n + (p[n] == '|');
	}
	return err_set(err, E_USAGE, "'%s' is none of %s", name, choices);
}

int freshet_import(struct freshet *f, const char *path)
{
	struct import i = { .store = f->store, .now = clock_or(0) };
	struct import_settings *as;
	int rc = import_settings_load(&as, &i, &f->err);

	i.latest = i.now + IMPORT_FUTURE;
	if (rc == 0)
		rc = import_file(&i, path, &f->err);
	import_settings_free(as);
	return rc;
}

int freshet_plan(struct freshet *f, const struct freshet_plan_options *options,
                 int (*each)(void *arg, const struct freshet_page *page), void *arg)
{
	struct resume_opts ro = {
		.policy = options->policy ? options->policy : DEFAULT_POLICY,
		.seed = options->seed,
		.cycle_seconds = options->cycle_seconds ? options->cycle_seconds : DAY_SECONDS,
	};
	struct resumed r;
	unsigned aim, weight;
	int rc = find_choice(options->aim, AIM_CHOICES, AIM_DEFAULT, &aim, &f->err);

	if (rc == 0)
		rc = find_choice(options->weight, WEIGHT_CHOICES, "none", &weight, &f->err);
	if (rc < 0)
		return rc;
	ro.aim = (enum aim)aim;
	ro.weight = (enum weight_by)weight;
	rc = resume(&r, f->store, &ro, &f->err);
	r.engine.ceiling.usual = true;  /* as `freshet plan` has it */
	if (rc == 0)
		rc = dry_cycle(&r, clock_or(options->now), options->budget, &f->err);
	for (size_t i = 0; rc == 0 && i < r.engine.cycle.n_seen; i++) {
		const struct seen *s = &r.engine.cycle.seen[i];
		struct freshet_page page = {
			.url = pages_url(&r.has.loaded.pages, s->page), .score = (double)s->score,
			.probability = (double)s->probability, .reason = reason_name(s->reason),
		};

		if (each(arg, &page))
			break;
	}
	resume_release(&r);
	return rc;
}

static int begin_cycle(struct freshet *f, int64_t now)
{
	uint32_t number, ended;
	int rc = keep_lock(f->folder, &f->lock, &f->err);

	if (rc < 0)
		return rc;
	rc = store_begin(f->store, &f->err);
	if (rc == 0)
		rc = keep_next_cycle(f->store, &number, &ended, &f->err);
	if (rc < 0) {
		store_rollback(f->store);
		let_go(f);
		return rc;
	}
	f->cycle = (struct store_cycle){ .number = number, .time = now, .open = true,
	                                 .policy = { "told", 4 } };
	return 0;
}

int freshet_tell(struct freshet *f, const struct freshet_told *told)
{
	struct kept_visit v = {
		.time = clock_or(told->time), .outcome = (enum outcome)told->outcome,
		.score = (float)told->score,
		.probability = told->probability > 0 ? (float)told->probability : NAN,
	};
	enum outcome o = OUTCOME_FAILED;
	struct buf url;
	int rc;

	if ((unsigned)told->outcome > FRESHET_FAILED)
		return err_set(&f->err, E_USAGE, "%d is no outcome", (int)told->outcome);
	buf_init(&url, URL_SIZE_MAX);
	rc = url_canonical(told->url, strlen(told->url), &url, &f->err);
	if (rc == 0 && !f->cycle.open)
		rc = begin_cycle(f, v.time);
	v.cycle = f->cycle.number;
	if (rc == 0)
		rc = store_page_add(f->store, (struct text){ url.data, url.size }, v.time, &v.page,
		                    &f->err);
	if (rc >= 0 && !keep_once(&f->had, v.page, v.outcome))
		rc = err_set(&f->err, E_USAGE, "%s: was told of before in this cycle", told->url);
	if (rc >= 0)
		rc = keep_visit(f->store, &v, CONFIRMATIONS, &o, &f->err);
	buf_release(&url);
	if (rc < 0)
		return rc;
	f->cycle.downloads++;
	f->cycle.changed += o == OUTCOME_CHANGED;
	f->cycle.same += o == OUTCOME_SAME;
	f->cycle.gone += o == OUTCOME_GONE;
	f->cycle.failed += o == OUTCOME_FAILED;
	return 0;
}

int freshet_end_cycle(struct freshet *f)
{
	int rc;

	if (!f->cycle.open)
		return 0;
	f->cycle.open = false;
	f->cycle.budget = f->cycle.downloads;
	rc = store_cycle_put(f->store, &f->cycle, &f->err);
	if (rc == 0)
		rc = store_commit(f->store, &f->err);
	if (rc < 0)
		store_rollback(f->store);
	map_clear(&f->had);
	let_go(f);
	return rc;
}

int freshet_replay(struct freshet *f, const char *const *paths, int n_paths,
                   const struct freshet_replay_options *options, struct freshet_measures *ret)
{
	const char *policy = options->policy ? options->policy : DEFAULT_POLICY;
	struct replay_opts ro = {
		.cycle_seconds = options->cycle_seconds ? options->cycle_seconds : 14 * DAY_SECONDS,
		.budget = { options->budget_percent > 0 ? options->budget_percent : 2, true },
	};
	struct option_list specs = { .v = &policy, .n = 1 };
	struct trace_report report = { 0 };
	struct replay_run run = { 0 };
	struct replay r = { 0 };
	struct history h;
	unsigned needs = 0, aim;
	int rc = find_choice(options->aim, AIM_CHOICES, AIM_DEFAULT, &aim, &f->err);

	if (rc < 0)
		return rc;
	ro.aim = (enum aim)aim;
	history_init(&h, (struct detector){ .kind = DETECT_BYTES }, WANT_LINKS);
	if ((rc = policy_list_needs(&specs, &needs, &f->err)) == 0 &&
	    (rc = trace_load(&h, paths, (size_t)n_paths, &report, &f->err)) == 0 &&
	    (rc = replay_open(&r, &h, &ro, needs, &f->err)) == 0) {
		replay_run(&r, policy, options->seed, &run);
		rc = run.code;
		f->err = rc < 0 ? run.err : f->err;
	}
	if (rc == 0) {
#define MEAN(field) replay_mean(&run, offsetof(struct cycle_measure, field))
		*ret = (struct freshet_measures){
			.pages = r.n_repository, .cycles = r.n_cycles, .budget = r.budget,
			.change_ratio = MEAN(change_ratio),
			.change_ratio_cycle = MEAN(change_ratio_cycle),
			.weighted_change_ratio = MEAN(weighted_change_ratio),
			.freshness = MEAN(freshness), .age_days = MEAN(age_days),
			.freshness_time = run.time.freshness, .age_time_days = run.time.age_days,
			.max_unvisited_days = replay_max(&run, offsetof(struct cycle_measure,
			                                               max_unvisited_days)),
		};
#undef MEAN
	}
	replay_run_release(&run);
	replay_close(&r);
	history_release(&h);
	return rc;
}
