/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycle.c - the loop itself, the file to read first; see cycle.h.
 *
 * Guarantee.  A page visited in cycle c must be visited again by c + max_age.
 * Every cycle reserves the smallest even pace that meets all deadlines known
 * now: with D_j pages due within j cycles, max over j of ceil(D_j / j), oldest
 * first.  Where the policy itself visits old pages the reserve shrinks to
 * nothing.  If it passes the budget the guarantee cannot be kept; the cycle
 * then goes to the oldest pages as far as it reaches and says so.
 *
 * Sample.  The pages in the repository with the smallest hashes of (seed, cycle,
 * page), in that order: a simple random sample that is the same after a crash.  It is asked for
 * before the policy is, in rounds that are as long as the hits still wanted need;
 * the policy is told of it like of its own pages.
 */
#include "engine/cycle.h"

#include <math.h>
#include <time.h>

#include "base/rng.h"

#define MAX_AGE_MOST 1000000    /* cycles; a longer age is kept as if it were this */

void engine_init(struct engine *e, const struct pages *p, struct policy *policy,
                 int64_t start)
{
	*e = (struct engine){ .policy = policy };
	visits_init(&e->visits, p->n, start);
	pages_view(p, &e->visits, &e->view);
	policy_size(policy, p->n);
}

void engine_release(struct engine *e)
{
	visits_release(&e->visits);
	plan_release(&e->plan);
	ceiling_release(&e->ceiling);
	retry_release(&e->retry);
	free(e->seen);
	free(e->sample);
	free(e->made_at);
	free(e->deliveries);
}

double engine_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

uint32_t guarantee_need(const struct view *v, uint32_t max_age)
{
	uint64_t *due, sum = 0, need = 0;

	if (!max_age)
		return 0;
	if (max_age > MAX_AGE_MOST)
		max_age = MAX_AGE_MOST;
	due = mem_zalloc((size_t)max_age + 1, sizeof *due);
	for (uint32_t i = 0; i < v->n_pages; i++) {
		uint32_t age = view_age(v, i);

		if (!view_open(v, i))
			continue;
		/* cycles in which it can still be visited in time, this one included */
		due[age >= max_age ? 1 : age ? max_age - age + 1 : max_age]++;
	}
	for (uint32_t j = 1; j <= max_age; j++) {
		sum += due[j];
		if ((sum + j - 1) / j > need)
			need = (sum + j - 1) / j;
	}
	free(due);
	return need > UINT32_MAX ? UINT32_MAX : (uint32_t)need;
}

int guarantee_cycles(int64_t max_age, int64_t cycle_seconds, uint32_t *ret, struct err *err)
{
	*ret = 0;
	if (max_age <= 0 || cycle_seconds <= 0)
		return 0;
	if (max_age < cycle_seconds)
		return err_set(err, E_USAGE, "max-age: shorter than one cycle: choose a longer age, or "
		               "a shorter cycle");
	max_age /= cycle_seconds;
	*ret = (uint32_t)(max_age < MAX_AGE_MOST ? max_age : MAX_AGE_MOST);
	return 0;
}

static void ask_reserved(struct engine *e)
{
	plan_limit(&e->plan, e->reserved_most);
	for (size_t i = 0; i < e->n_reserved && plan_room(&e->plan); i++) {
		const struct offer *o = &e->reserved[i];

		plan_take(&e->plan, o->page, o->score, o->probability, o->reason);
	}
	plan_finish(&e->plan);
}

/* Pages that rest, or are back from a rest, are not part of it. */
static void ask_guarantee(struct engine *e)
{
	uint32_t need;

	retry_hide(&e->retry, &e->view, e->visits.state);
	need = guarantee_need(&e->view, e->max_age);
	e->guarantee_broken = need > e->view.room;
	e->n_guaranteed = need > e->view.room ? e->view.room : need;
	plan_limit(&e->plan, e->n_guaranteed);
	for (uint32_t i = 0; i < e->view.n_pages && e->n_guaranteed; i++)
		plan_offer(&e->plan, i, (double)view_age(&e->view, i), 1, REASON_GUARANTEE);
	plan_finish(&e->plan);
	retry_show(&e->retry, &e->view, e->visits.state);
}

/* The policy asks for no more: the papers fill up at random. */
static void ask_fill(struct engine *e)
{
	struct sampler s = { 0 };
	uint32_t page;

	sampler_begin(&s, &e->view, RNG_FILL);
	while (plan_room(&e->plan) && (page = sampler_next(&s, &e->view)) != PAGE_NONE)
		plan_take(&e->plan, page, 0, NAN, REASON_FILL);
	sampler_release(&s);
}

struct drawn { uint64_t draw; uint32_t page; };

static int compare_drawn(const void *pa, const void *pb)
{
	const struct drawn *a = pa, *b = pb;

	if (a->draw != b->draw)
		return a->draw < b->draw ? -1 : 1;
	return a->page < b->page ? -1 : a->page > b->page;
}

static void draw_sample(struct engine *e)
{
	const struct view *v = &e->view;
	VEC(struct drawn) d = { 0 };
	uint32_t here = 0, want;
	double below;

	e->n_sample = e->sample_at = 0;
	e->n_sample_hits = e->n_sample_known = 0;
	e->sampling = e->sample_most > 0;
	if (!e->sampling)
		return;
	for (uint32_t i = 0; i < v->n_pages; i++)
		here += (v->state[i] & PAGE_HERE) != 0;
	want = e->sample_most < here ? e->sample_most : here;
	/* a share of the hashes that surely holds so many: mean and five deviations */
	for (below = want + 5 * sqrt(want) + 20; d.n < want; below *= 2) {
		d.n = 0;
		for (uint32_t i = 0; i < v->n_pages; i++) {
			struct drawn x = { rng_draw(v->seed, v->cycle, i, RNG_SAMPLE), i };

			if ((v->state[i] & PAGE_HERE) && rng_unit(x.draw) * here < below)
				vec_push(&d, x);
		}
	}
	if (d.n)
		qsort(d.v, d.n, sizeof *d.v, compare_drawn);
	e->sample = mem_resize(e->sample, want + 1ul, sizeof *e->sample);
	for (uint32_t i = 0; i < want; i++)
		e->sample[i] = d.v[i].page;
	e->n_sample = want;
	vec_release(&d);
}

static bool sample_ended(const struct engine *e)
{
	return e->sample_at >= e->n_sample ||
	       (e->n_sample_hits >= e->sample_hits && e->n_sample_known >= e->sample_least);
}

/* As many as the hits still wanted should need, at the rate so far. */
static void ask_sample(struct engine *e)
{
	double rate = (e->n_sample_hits + 1.0) / (e->n_sample_known + 2.0);
	double want = fmax(((double)e->sample_hits - e->n_sample_hits) / rate,
	                   (double)e->sample_least - e->n_sample_known);

	plan_limit(&e->plan, (uint32_t)fmin(fmax(want, 0) + 10, 1e9));
	while (plan_room(&e->plan) && e->sample_at < e->n_sample)
		plan_take(&e->plan, e->sample[e->sample_at++], 0,
		          (double)e->n_sample / e->view.n_pages, REASON_RANDOM);
	plan_finish(&e->plan);
}

/* A page that was never visited, nor copied by us, has been so since the first cycle:
 * what others tell of it (`freshet tell`) is not of the time since 1970. */
static int64_t seconds_since(const struct engine *e, uint32_t page)
{
	int64_t last = e->visits.last_visit[page];

	return last ? e->view.now - last :
	       (int64_t)view_age(&e->view, page) * e->view.cycle_seconds;
}

static uint32_t seen_requests(const struct seen *s)
{
	return (s->outcome != OUTCOME_BLOCKED) + s->extra;
}

static void note_visit(struct engine *e, const struct offer *o, const struct delivery *d)
{
	struct seen seen = {
		.page = o->page, .outcome = d->outcome, .hit = d->hit,
		.known = d->outcome < OUTCOME_FAILED,
		.gap = view_age(&e->view, o->page),
		.gap_seconds = seconds_since(e, o->page),
		.score = o->score, .probability = o->probability, .reason = o->reason,
		.round = e->view.round, .failure = (uint8_t)d->failure, .extra = d->extra,
	};
	uint32_t requests = seen_requests(&seen);

	mem_grow((void **)&e->seen, &e->cap_seen, e->n_seen + 1, sizeof *e->seen);
	e->seen[e->n_seen++] = seen;
	e->n_spent += requests;
	ceiling_told(&e->ceiling, &e->view, e->visits.state, o->page, requests);
	retry_told(&e->retry, &e->view, e->visits.state, o->page,
	           d->outcome < OUTCOME_FAILED ? FAILURE_NO : d->failure, requests);
	if (!d->first)
		policy_tell(e->policy, &e->view, &seen);
	e->n_sample_known += seen.known && o->reason == REASON_RANDOM;
	e->n_sample_hits += seen.known && d->hit && o->reason == REASON_RANDOM;
	if (!seen.known)
		return;
	e->visits.last_cycle[o->page] = e->view.cycle;
	e->visits.last_visit[o->page] = e->view.now;
	/* gone, or recovered once for all: it cannot be asked for again */
	if (d->outcome == OUTCOME_GONE || e->view.goal == GOAL_ALIVE)
		e->visits.state[o->page] &= (uint8_t)~PAGE_HERE;
}

static void begin_cycle(struct engine *e, int64_t now, uint32_t budget)
{
	e->view.now = now;
	e->view.cycle++;
	e->view.round = 0;
	e->view.budget = e->view.room = budget;
	e->n_seen = 0;
	e->n_spent = e->n_guaranteed = 0;
	e->fetch_seconds = 0;
	e->guarantee_broken = false;
	draw_sample(e);
	retry_begin(&e->retry, &e->view, e->visits.state);
	ceiling_begin(&e->ceiling, &e->view, e->visits.state);
	policy_begin(e->policy, &e->view);
}

static void end_cycle(struct engine *e)
{
	policy_end(e->policy, &e->view);
	ceiling_end(&e->ceiling, &e->view, e->visits.state);
	retry_end(&e->retry, &e->view, e->visits.state);
	for (size_t i = 0; i < e->n_seen; i++)
		e->visits.state[e->seen[i].page] &= (uint8_t)~PAGE_TAKEN;
}

static struct delivery recalled(const struct seen *s)
{
	return (struct delivery){ .outcome = s->outcome, .hit = s->hit, .kept = true,
		.first = !s->known && s->outcome < OUTCOME_FAILED, .extra = s->extra,
		.failure = (enum failure)s->failure };
}

static void recall_visits(struct engine *e, const struct seen *visits, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct seen *s = &visits[i];
		struct offer o = { s->page, s->score, s->probability, s->reason };
		struct delivery d = recalled(s);

		e->visits.state[s->page] |= PAGE_TAKEN;
		ceiling_recall(&e->ceiling, &e->view, e->visits.state, s->page);
		note_visit(e, &o, &d);
	}
}

void engine_recall(struct engine *e, int64_t now, uint32_t budget,
                   const struct seen *visits, size_t n)
{
	begin_cycle(e, now, budget);
	for (size_t i = 0; i < n; i++)
		if (recalled(&visits[i]).first)
			retry_told(&e->retry, &e->view, e->visits.state, visits[i].page, FAILURE_NO, 1);
		else
			recall_visits(e, &visits[i], 1);
	end_cycle(e);
}

/* Answers to the plan that were known when the cycle was broken off; the number of
 * those that were not. */
static size_t take_made(struct engine *e)
{
	size_t n = e->plan.n_taken, missing = n;

	mem_grow((void **)&e->deliveries, &e->cap_deliveries, n, sizeof *e->deliveries);
	memset(e->deliveries, 0, n * sizeof *e->deliveries);
	for (size_t i = 0; i < n && e->n_untold; i++) {
		uint32_t *at = &e->made_at[e->plan.taken[i].page];

		if (!*at)
			continue;
		e->deliveries[i] = recalled(&e->made[*at - 1]);
		*at = 0;
		e->n_untold--;
		missing--;
	}
	return missing;
}

/* What is known and was not asked for again. */
static void tell_made(struct engine *e)
{
	for (size_t i = 0; i < e->n_made && e->n_untold; i++)
		if (e->made_at[e->made[i].page] == i + 1) {
			recall_visits(e, &e->made[i], 1);
			e->made_at[e->made[i].page] = 0;
			e->n_untold--;
		}
}

static void count_room(struct engine *e)
{
	if (!e->n_untold) {
		e->n_spent += e->made_extra;
		e->made_extra = 0;
	}
	e->view.room = e->view.budget - (e->n_spent < e->view.budget ? e->n_spent : e->view.budget);
}

static int deliver(struct engine *e, struct err *err)
{
	size_t n = e->plan.n_taken, missing = take_made(e);
	double before = engine_seconds();
	bool fresh = false;     /* a page was asked for that is not known */
	int rc = 0;

	if (missing)
		rc = e->source.deliver(e->source.self, e->plan.taken, n, e->deliveries, err);
	e->fetch_seconds += engine_seconds() - before;
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		const struct delivery *d = &e->deliveries[i];

		fresh = fresh || (!d->kept && d->outcome != OUTCOME_BLOCKED);
		note_visit(e, &e->plan.taken[i], d);
	}
	if (fresh)
		tell_made(e);
	count_room(e);
	return 0;
}

/* The rounds of a cycle that has begun, and its end. */
static int run_rounds(struct engine *e, double from, struct err *err)
{
	int rc = 0;

	for (bool guaranteed = e->max_age == 0, reserved = !e->reserved_most; e->view.room > 0;) {
		if (e->source.enough && e->source.enough(e->source.self))
			break;
		if (e->other_policy && e->n_untold && reserved && guaranteed && !e->sampling) {
			tell_made(e);
			count_room(e);
			continue;
		}
		plan_begin(&e->plan, &e->view, e->visits.state);
		if (!reserved) {
			ask_reserved(e);
		} else if (!guaranteed) {
			ask_guarantee(e);
		} else if (e->sampling) {
			e->sampling = !sample_ended(e);
			if (e->sampling)
				ask_sample(e);
		} else {
			policy_ask(e->policy, &e->view, &e->plan);
			e->view.round++;
			if (!e->plan.n_taken && !e->no_fill)
				ask_fill(e);
			if (!e->plan.n_taken &&
			    !ceiling_lift(&e->ceiling, &e->view, e->visits.state))
				break;
		}
		/* what is given up is asked of others in the next round */
		retry_plan(&e->retry, &e->view, e->visits.state, &e->plan);
		ceiling_plan(&e->ceiling, &e->view, e->visits.state, &e->plan,
		             guaranteed || !reserved);
		guaranteed = guaranteed || reserved;
		reserved = true;
		if (!e->plan.n_taken)
			continue;
		rc = deliver(e, err);
		if (rc < 0)
			break;
	}
	tell_made(e);
	end_cycle(e);
	for (size_t i = 0; i < e->plan.n_taken; i++)    /* of a round that failed */
		e->visits.state[e->plan.taken[i].page] &= (uint8_t)~PAGE_TAKEN;
	e->plan_seconds = engine_seconds() - from - e->fetch_seconds;
	return rc;
}

int engine_cycle(struct engine *e, int64_t now, uint32_t budget, struct err *err)
{
	double from = engine_seconds();

	begin_cycle(e, now, budget);
	return run_rounds(e, from, err);
}

int engine_continue(struct engine *e, int64_t now, uint32_t budget, const struct seen *visits,
                    size_t n, uint32_t spent, bool same_policy, struct err *err)
{
	double from = engine_seconds();
	uint32_t counted = 0;
	int rc;

	e->made = visits;
	e->n_made = n;
	e->made_at = mem_zalloc((size_t)e->view.n_pages + 1, sizeof *e->made_at);
	for (size_t i = 0; i < n; i++) {
		e->n_untold += !e->made_at[visits[i].page];
		e->made_at[visits[i].page] = (uint32_t)i + 1;
		e->visits.state[visits[i].page] |= PAGE_HERE;   /* or it had not been asked for */
		counted += seen_requests(&visits[i]);
	}
	e->made_extra = spent > counted ? spent - counted : 0;
	e->other_policy = !same_policy;
	begin_cycle(e, now, budget);
	for (size_t i = 0; i < n; i++)
		ceiling_spent(&e->ceiling, &e->view, visits[i].page, seen_requests(&visits[i]));
	count_room(e);
	rc = run_rounds(e, from, err);
	free(e->made_at);
	e->made_at = NULL;
	e->made = NULL;
	e->n_made = 0;
	return rc;
}
