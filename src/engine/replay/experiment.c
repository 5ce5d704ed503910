/* SPDX-License-Identifier: Apache-2.0 */
/* experiment.c - many runs of replay and their means; see experiment.h. */
#include "engine/replay/experiment.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/thread/pool.h"
#include "policy/catalogue/catalogue.h"

/* Finds "=A..B" with whole numbers; false if there is none. */
static bool find_range(const char *spec, const char **ret_at, size_t *ret_size, long *ret_lo,
                       long *ret_hi)
{
	for (const char *eq = strchr(spec, '='); eq; eq = strchr(eq + 1, '=')) {
		char *end, *end2;
		long lo = strtol(eq + 1, &end, 10), hi;

		if (end == eq + 1 || strncmp(end, "..", 2))
			continue;
		hi = strtol(end + 2, &end2, 10);
		if (end2 == end + 2)
			continue;
		*ret_at = eq + 1;
		*ret_size = (size_t)(end2 - eq - 1);
		*ret_lo = lo;
		*ret_hi = hi;
		return true;
	}
	return false;
}

static int add_spec(const char *spec, size_t size, struct option_list *ret,
                    struct arena *arena, struct err *err)
{
	if (ret->n >= EXPERIMENT_POLICIES_MAX)
		return err_set(err, E_LIMIT, "more than %d policies", EXPERIMENT_POLICIES_MAX);
	mem_grow((void **)&ret->v, &ret->cap, ret->n + 1, sizeof *ret->v);
	ret->v[ret->n++] = arena_strndup(arena, spec, size);
	return 0;
}

/* The start of the next policy in "a,b:x=1,y=2,c", or NULL.  Commas also separate the
 * parameters of one policy; those contain `=`. */
static const char *next_policy(const char *spec)
{
	for (const char *comma = strchr(spec, ','); comma; comma = strchr(comma + 1, ',')) {
		const char *name = comma + 1;
		size_t size = strcspn(name, ",:=");
		bool plain = !memchr(spec, ':', (size_t)(comma - spec));

		if (name[size] != '=' && (plain || policy_find(name, size)))
			return name;
	}
	return NULL;
}

int policy_expand(const char *spec, struct option_list *ret, struct arena *arena,
                  struct err *err)
{
	const struct policy_ops *ops;
	const char *at, *next = next_policy(spec);
	size_t size;
	long lo, hi;
	int rc = 0;

	if (next) {
		rc = policy_expand(arena_strndup(arena, spec, (size_t)(next - 1 - spec)), ret, arena,
		                   err);
		return rc < 0 ? rc : policy_expand(next, ret, arena, err);
	}
	if (!strcmp(spec, "all")) {
		for (size_t i = 0; (ops = policy_at(i)) && rc == 0; i++)
			rc = add_spec(ops->name, strlen(ops->name), ret, arena, err);
		return rc;
	}
	if (!find_range(spec, &at, &size, &lo, &hi))
		return add_spec(spec, strlen(spec), ret, arena, err);
	if (hi < lo || hi - lo >= EXPERIMENT_POLICIES_MAX)
		return err_set(err, E_USAGE, "policy '%s': the range %.*s is empty or too long", spec,
		               (int)size, at);
	for (long k = lo; k <= hi && rc == 0; k++) {
		char one[512];

		snprintf(one, sizeof one, "%.*s%ld%s", (int)(at - spec), spec, k, at + size);
		rc = policy_expand(one, ret, arena, err);
	}
	return rc;
}

int policy_list_needs(const struct option_list *specs, unsigned *ret, struct err *err)
{
	unsigned needs = 0;

	for (size_t i = 0; i < specs->n; i++) {
		struct policy *p;
		int rc = policy_new(&p, specs->v[i], err);

		if (rc < 0)
			return rc;
		needs |= policy_needs(p);
		policy_free(p);
	}
	*ret = needs;
	return 0;
}

struct jobs {
	struct experiment *x;
	struct replay replay;           /* copy of x->replay, with our cycle_done() */
	uint64_t seed;
	size_t n_done;
	unsigned threads;
	atomic_size_t left;             /* runs that have not ended */
	pthread_mutex_t lock;
	void (*done)(void *arg, size_t n, size_t total);
	void *arg;
};

/* Add a run's sites to those of its policy at once: memory grows with the policies, not
 * with the seeds. */
static void gather_sites(struct policy_result *p, struct replay_run *run, uint32_t n_sites)
{
	if (!p->sites) {
		p->sites = run->sites;
	} else {
		for (uint32_t s = 0; s < n_sites; s++) {
			p->sites[s].downloads += run->sites[s].downloads;
			p->sites[s].changed += run->sites[s].changed;
			p->sites[s].copies += run->sites[s].copies;
			p->sites[s].fresh += run->sites[s].fresh;
		}
		free(run->sites);
	}
	run->sites = NULL;
}

static void run_job(void *arg, size_t i)
{
	struct jobs *jobs = arg;
	struct experiment *x = jobs->x;
	struct policy_result *p = &x->results[i / x->n_seeds];
	size_t k = i % x->n_seeds;

	replay_run(&jobs->replay, p->spec, jobs->seed + k, &p->runs[k]);
	pthread_mutex_lock(&jobs->lock);
	if (p->runs[k].sites)
		gather_sites(p, &p->runs[k], x->replay->pages.tree.n_sites);
	pthread_mutex_unlock(&jobs->lock);
	atomic_fetch_sub(&jobs->left, 1);
}

/* Where fewer runs are left than threads, each has several. */
static unsigned threads_of_a_run(void *arg)
{
	struct jobs *jobs = arg;
	size_t left = atomic_load(&jobs->left);

	return left < jobs->threads ? jobs->threads / (unsigned)left : 1;
}

static bool cycle_done(void *arg)
{
	struct jobs *jobs = arg;
	const struct experiment *x = jobs->x;

	pthread_mutex_lock(&jobs->lock);
	jobs->done(jobs->arg, ++jobs->n_done,
	           x->n_results * x->n_seeds * (size_t)x->replay->n_cycles);
	pthread_mutex_unlock(&jobs->lock);
	return false;
}

static struct estimate over_seeds(const struct policy_result *p, uint32_t n, size_t offset,
                                  double (*of)(const struct replay_run *, size_t))
{
	struct stat_mean m = { 0 };

	for (uint32_t k = 0; k < n; k++)
		stat_add(&m, of(&p->runs[k], offset));
	return (struct estimate){ m.mean, stat_se(&m) };
}

static double of_time(const struct replay_run *run, size_t offset)
{
	return replay_number(&run->time, offset);
}

/* A count's share of the downloads, over all cycles of a run. */
static double share_of_downloads(const struct replay_run *run, size_t offset)
{
	double sum = 0, downloads = 0;

	for (uint32_t c = 0; c < run->n_cycles; c++) {
		sum += *(const uint32_t *)((const char *)&run->cycles[c] + offset);
		downloads += run->cycles[c].downloads;
	}
	return downloads > 0 ? sum / downloads : 0;
}

/* Mean over the seeds that reached the share, if all did. */
static void summarise_cost(struct policy_result *p, uint32_t n_seeds)
{
	for (int a = 0; a < REPLAY_ALPHAS; a++) {
		struct stat_mean m = { 0 };
		bool all = true;

		for (uint32_t k = 0; k < n_seeds; k++) {
			all &= p->runs[k].cost[a] > 0;
			stat_add(&m, p->runs[k].cost[a]);
		}
		if (all)
			p->cost[a] = (struct estimate){ m.mean, stat_se(&m) };
	}
}

static void summarise(struct policy_result *p, const struct experiment *x)
{
	uint32_t n = x->n_seeds, n_cycles = x->replay->n_cycles;

#define MEASURE(f, of) p->f = over_seeds(p, n, offsetof(struct cycle_measure, f), of)
	MEASURE(change_ratio, replay_mean);
	MEASURE(change_ratio_cycle, replay_mean);
	MEASURE(weighted_change_ratio, replay_mean);
	MEASURE(freshness, replay_mean);
	MEASURE(weighted_freshness, replay_mean);
	MEASURE(freshness_before, replay_mean);
	MEASURE(ndcg, replay_mean);
	MEASURE(age_days, replay_mean);
	MEASURE(max_unvisited_days, replay_max);
	MEASURE(freshness_at_k, replay_mean);
	MEASURE(map_at_k, replay_mean);
	MEASURE(embarrassment, replay_mean);
#undef MEASURE
#define TIME(f, g) p->f = over_seeds(p, n, offsetof(struct replay_time, g), of_time)
	TIME(freshness_time, freshness);
	TIME(weighted_freshness_time, weighted_freshness);
	TIME(age_time_days, age_days);
	TIME(weighted_age_time_days, weighted_age_days);
#undef TIME
	p->late_share = over_seeds(p, n, offsetof(struct cycle_measure, late), share_of_downloads);
	p->sample_share = over_seeds(p, n, offsetof(struct cycle_measure, samples),
	                             share_of_downloads);
	summarise_cost(p, n);
	p->by_cycle = mem_zalloc(n_cycles, sizeof *p->by_cycle);
	p->freshness_by_cycle = mem_zalloc(n_cycles, sizeof *p->freshness_by_cycle);
	p->age_by_cycle = mem_zalloc(n_cycles, sizeof *p->age_by_cycle);
	for (uint32_t k = 0; k < n; k++) {
		p->plan_seconds += p->runs[k].plan_seconds / n;
		p->total_seconds += p->runs[k].total_seconds / n;
		stat_merge(&p->search.freshness, &p->runs[k].search.freshness);
		stat_merge(&p->search.map, &p->runs[k].search.map);
		stat_merge(&p->search.embarrassment, &p->runs[k].search.embarrassment);
		for (uint32_t c = 0; c < n_cycles; c++) {
			p->by_cycle[c] += p->runs[k].cycles[c].change_ratio / n;
			p->freshness_by_cycle[c] += p->runs[k].cycles[c].freshness / n;
			p->age_by_cycle[c] += p->runs[k].cycles[c].age_all_days / n;
		}
	}
}

int experiment_run(struct experiment *x, const struct replay *r,
                   const struct option_list *specs, uint64_t seed, uint32_t n_seeds,
                   unsigned threads, void (*done)(void *arg, size_t n, size_t total),
                   void *arg, struct err *err)
{
	struct jobs jobs = { .x = x, .replay = *r, .seed = seed, .done = done, .arg = arg,
	                     .threads = threads ? threads : pool_threads(),
	                     .left = specs->n * n_seeds };

	*x = (struct experiment){ .replay = r, .n_results = specs->n, .n_seeds = n_seeds,
	                          .seed = seed };
	x->results = mem_zalloc(specs->n, sizeof *x->results);
	for (size_t i = 0; i < specs->n; i++) {
		x->results[i].spec = specs->v[i];
		x->results[i].runs = mem_zalloc(n_seeds, sizeof *x->results[i].runs);
	}
	jobs.replay.opts.threads = threads_of_a_run;
	jobs.replay.opts.cycle_done = done ? cycle_done : NULL;
	jobs.replay.opts.done_arg = &jobs;
	pthread_mutex_init(&jobs.lock, NULL);
	pool_run(threads, specs->n * n_seeds, run_job, &jobs);
	pthread_mutex_destroy(&jobs.lock);
	for (size_t i = 0; i < specs->n; i++) {
		for (uint32_t k = 0; k < n_seeds; k++) {
			if (x->results[i].runs[k].code < 0) {
				*err = x->results[i].runs[k].err;
				return x->results[i].runs[k].code;
			}
		}
		summarise(&x->results[i], x);
	}
	return 0;
}

void experiment_release(struct experiment *x)
{
	for (size_t i = 0; i < x->n_results; i++) {
		for (uint32_t k = 0; k < x->n_seeds; k++)
			replay_run_release(&x->results[i].runs[k]);
		free(x->results[i].runs);
		free(x->results[i].by_cycle);
		free(x->results[i].sites);
		free(x->results[i].freshness_by_cycle);
		free(x->results[i].age_by_cycle);
	}
	free(x->results);
	*x = (struct experiment){ 0 };
}

static enum aim aim_of(const struct experiment *x)
{
	return x->replay->opts.goal == GOAL_ALIVE ? AIM_CHANGES : x->replay->opts.aim;
}

double experiment_merit(const struct experiment *x, size_t i)
{
	const struct policy_result *p = &x->results[i];
	bool weighted = x->replay->opts.weight != WEIGHT_NONE;

	switch (aim_of(x)) {
	case AIM_FRESHNESS:
		return weighted ? p->weighted_freshness_time.mean : p->freshness_time.mean;
	case AIM_AGE:
		return -(weighted ? p->weighted_age_time_days.mean : p->age_time_days.mean);
	default:
		return weighted ? p->weighted_change_ratio.mean : p->change_ratio.mean;
	}
}

struct stat_test experiment_compare(const struct experiment *x, size_t a, size_t b)
{
	const struct policy_result *p = &x->results[a], *q = &x->results[b];

	switch (aim_of(x)) {
	case AIM_FRESHNESS:
		return stat_paired(p->freshness_by_cycle, q->freshness_by_cycle,
		                   x->replay->n_cycles);
	case AIM_AGE:
		return stat_paired(p->age_by_cycle, q->age_by_cycle, x->replay->n_cycles);
	default:
		return stat_paired(p->by_cycle, q->by_cycle, x->replay->n_cycles);
	}
}

const char *search_kind_name(enum search_kind kind)
{
	static const char *const names[] = { "freshness_at_k", "map_at_k", "embarrassment" };

	return names[kind];
}

static const struct stat_mean *search_mean(const struct policy_result *p,
                                           enum search_kind kind)
{
	return kind == SEARCH_FRESHNESS ? &p->search.freshness :
	       kind == SEARCH_MAP ? &p->search.map : &p->search.embarrassment;
}

struct stat_test experiment_compare_search(const struct experiment *x, size_t a, size_t b,
                                           enum search_kind kind)
{
	return stat_welch(search_mean(&x->results[a], kind), search_mean(&x->results[b], kind));
}
