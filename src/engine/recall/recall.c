/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall.c - telling an engine what the store remembers; see recall.h.
 *
 * Cost.  O(pages + visits + cycles * what begin() of the policy costs).  The visits of the next
 * cycle are read by a second thread while those of this one are told.
 */
#include "engine/recall/recall_inner.h"

#include "base/thread/pool.h"
#include "engine/archive/judge.h"
#include "engine/recall/snapshot.h"

struct past_visit recall_visit(const struct store_visit *v)
{
	return (struct past_visit){ .time = v->time, .page = v->page, .score = v->score,
	                      .probability = v->probability, .outcome = v->outcome,
	                      .reason = v->reason, .copied = v->capture != 0,
	                      .hit = v->hit, .status = v->status,
	                      .failure = (uint8_t)retry_judge((enum outcome)v->outcome,
	                                                       (enum cause)v->cause, v->status) };
}

static int read_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	struct recalling *r = arg;

	(void)err;
	if (r->opts->before_cycle && c->number >= r->opts->before_cycle) {
		if (c->number == r->opts->before_cycle)
			r->next = (struct past_cycle){ .time = c->time, .pages = c->pages };
		r->most = r->most ? r->most : c->pages;
		return 0;
	}
	while (r->cycles.n < c->number) {
		struct past_cycle past = { .time = c->time, .budget = c->budget, .goal = c->goal,
		                           .pages = c->pages };

		vec_push(&r->cycles, past);
	}
	return 0;
}

/* Cycles of older programs do not say how many pages there were.  Pages are only ever added, so
 * there were at most as many as in the next cycle that says it. */
static void find_most(struct recalling *r)
{
	uint32_t most = r->most && r->most < r->loaded->pages.n ? r->most : r->loaded->pages.n;

	r->next.most = most;
	for (size_t i = r->cycles.n; i-- > 0; r->cycles.v[i].most = most)
		if (r->cycles.v[i].pages && r->cycles.v[i].pages < most)
			most = r->cycles.v[i].pages;
}

enum outcome recall_life(enum outcome o, int32_t status)
{
	return o == OUTCOME_FAILED && status != 429 && status != 503 ? OUTCOME_GONE : o;
}

static struct seen to_seen(const struct past_visit *t, enum goal goal)
{
	enum outcome o = goal == GOAL_ALIVE ?
		recall_life((enum outcome)t->outcome, t->status) : (enum outcome)t->outcome;
	bool known = o < OUTCOME_FAILED;

	return (struct seen){
		.page = t->page, .outcome = o, .known = known,
		.hit = known && (goal == GOAL_ALIVE ? t->hit : o != OUTCOME_SAME),
		.score = t->score, .probability = t->probability, .reason = t->reason,
		.failure = t->failure,
	};
}

void recall_push(struct recalling *r, const struct past_visit *t, bool first)
{
	struct seen s = to_seen(t, r->e->view.goal);

	s.known = s.known && !first;
	r->n_first += first;
	vec_push(&r->seen, s);
}

/*
 * Who was here when a past cycle began.  Policies look at it (how many share the budget,
 * where to sample), and must see again what they saw: in imported history a page is here
 * from its first copy on, else from when it was put under care, until it is found gone; and
 * who was asked for was here.  Pages are numbered as they come, so the cycle's row says who
 * was under care.  Rows of older programs do not: there it goes by time.
 */
static void set_asked(struct recalling *r, const struct past_cycle *past)
{
	uint8_t *state = r->e->visits.state;

	for (size_t i = 0; i < r->past.n; i++) {
		uint32_t page = r->past.v[i].page;

		state[page] |= PAGE_HERE;
		/* a cycle can be dated (--now) before its pages were added */
		r->n_asked = page < r->n_asked ? r->n_asked : page + 1;
	}
	for (; r->n_added < past->most && (past->pages || r->n_added < r->n_asked ||
	                                   r->loaded->added[r->n_added] <= past->time);
	     r->n_added++)
		if (!(r->care.marks[r->n_added] & MARK_KNOWN))
			recall_care_here(&r->care, r->n_added);
}

void recall_found(struct recalling *r, const struct past_visit *v, size_t n)
{
	uint8_t *state = r->e->visits.state;

	for (size_t i = 0; i < n; i++) {
		if (v[i].outcome == OUTCOME_GONE)
			state[v[i].page] &= (uint8_t)~PAGE_HERE;
		else if (v[i].outcome < OUTCOME_GONE && r->e->view.goal == GOAL_CHANGED)
			state[v[i].page] |= PAGE_HERE;
		recall_care_told(&r->care, v[i].page);
	}
}

bool recall_first(struct recalling *r, const struct past_visit *t, uint32_t cycle)
{
	if (!judge_first((enum outcome)t->outcome, r->care.marks[t->page] & MARK_KNOWN) || !t->copied)
		return false;
	r->care.marks[t->page] |= MARK_KNOWN;
	r->e->visits.last_cycle[t->page] = cycle;
	r->e->visits.last_visit[t->page] = t->time;
	return true;
}

void recall_start(struct progress *p, const char *unit, uint64_t total)
{
	if (p)
		progress_start(p, "recalling", unit, total);
}

int recall_shown(struct progress *p, uint64_t done, struct err *err)
{
	return p && progress_set(p, done) ? err_set(err, E_STOP, "the recalling was stopped") : 0;
}

/* ---- own cycles ---- */

static void take_ahead(struct recalling *r)
{
	__typeof__(r->past) told = r->past;

	r->past = r->ahead;
	r->ahead = told;
}

static int read_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct recalling *r = arg;

	(void)err;
	vec_push(&r->ahead, recall_visit(v));
	return 0;
}

/* The visits of a cycle, into r->past. */
static int read_past(struct recalling *r, uint32_t cycle, struct err *err)
{
	int rc;

	r->ahead.n = 0;
	rc = store_visits(r->store, cycle, cycle + 1, read_visit, r, err);
	take_ahead(r);
	return rc;
}

static void tell_cycle(struct recalling *r, const struct past_cycle *past)
{
	struct engine *e = r->e;
	bool same = past->goal == e->view.goal;
	uint32_t told;

	r->seen.n = r->n_first = 0;
	for (size_t i = 0; same && i < r->past.n; i++)
		recall_push(r, &r->past.v[i], past->goal != GOAL_ALIVE &&
		          recall_first(r, &r->past.v[i], e->view.cycle + 1));
	told = (uint32_t)r->seen.n - r->n_first;
	set_asked(r, past);
	if (same && r->past.n && !told && !e->view.cycle) {
		for (size_t i = 0; i < r->past.n; i++)
			e->visits.last_cycle[r->past.v[i].page] = 0;
	} else if (same) {
		engine_recall(e, past->time, past->budget, r->seen.v, r->seen.n);
		r->ret->n_told += told;
	}
	recall_found(r, r->past.v, r->past.n);
}

/* While a cycle is told, the next one is read: two jobs, as the engine does not use the store
 * and the store does not use the engine. */
struct telling { struct recalling *r; uint32_t cycle; int rc; struct err err; };

static void tell_or_read(void *arg, size_t job)
{
	struct telling *t = arg;
	struct recalling *r = t->r;

	if (job)
		tell_cycle(r, &r->cycles.v[t->cycle - 1]);
	else if (t->cycle < r->cycles.n)
		t->rc = store_visits(r->store, t->cycle + 1, t->cycle + 2, read_visit, r, &t->err);
}

static int tell_and_read(struct recalling *r, uint32_t cycle, struct err *err)
{
	struct telling t = { .r = r, .cycle = cycle };

	r->ahead.n = 0;
	pool_run(pool_threads(), 2, tell_or_read, &t);
	if (t.rc < 0)
		*err = t.err;
	take_ahead(r);
	return t.rc;
}

static int tell_own(struct recalling *r, struct err *err)
{
	uint32_t first = r->ret->n_thawed + 1;
	int rc = 0;

	recall_start(r->opts->progress, "cycles", r->cycles.n);
	if (first <= r->cycles.n)
		rc = read_past(r, first, err);
	for (uint32_t cycle = first; cycle <= r->cycles.n && rc == 0; cycle++) {
		rc = recall_care_until(&r->care, cycle, err);
		if (rc == 0)
			rc = tell_and_read(r, cycle, err);
		if (rc == 0)
			rc = recall_shown(r->opts->progress, cycle, err);
	}
	r->ret->n_own_cycles = (uint32_t)r->cycles.n;
	return rc;
}

/* The pages that were here when the cycle of opts->before_cycle began. */
static int set_states_then(struct recalling *r, struct err *err)
{
	uint32_t cycle = r->opts->before_cycle;
	int rc;

	rc = recall_care_until(&r->care, cycle, err);
	if (rc == 0)
		rc = read_past(r, cycle, err);
	set_asked(r, &r->next);
	return rc;
}

/* The pages that are here now: the store says.  But who is under care is, for an open cycle,
 * as it was when the cycle began. */
static int set_states_now(struct recalling *r, struct err *err)
{
	const uint8_t *here = r->loaded->visits.state;
	struct visits *v = &r->e->visits;
	bool alive = r->e->view.goal == GOAL_ALIVE;
	uint32_t open = alive ? 0 : r->opts->before_cycle;
	int rc = open ? recall_care_until(&r->care, open, err) : 0;

	for (uint32_t i = 0; i < r->loaded->pages.n; i++) {
		bool is = open ? here[i] && !(r->care.marks[i] & MARK_OUT) : here[i] == PAGE_HERE;

		v->state[i] = is && !(alive && v->last_cycle[i]) ? PAGE_HERE : 0;
	}
	return rc == 0 && open && r->care.any ? recall_out(r->e, r->store, open, err) : rc;
}

int recall(struct engine *e, const struct loaded *l, struct store *s,
           const struct recall_opts *opts, struct recalled *ret, struct err *err)
{
	struct recalling r = { .e = e, .loaded = l, .store = s, .opts = opts, .ret = ret };
	bool can_freeze = policy_can_freeze(e->policy);
	int rc;

	*ret = (struct recalled){ 0 };
	rc = recall_care_begin(&r.care, s, e->visits.state, l->pages.n, err);
	if (rc == 0)
		rc = store_cycles(s, 0, read_cycle, &r, err);
	find_most(&r);
	if (rc == 0 && can_freeze && !opts->no_snapshot)
		rc = snapshot_read(&r, err);
	if (rc == 0 && !r.thawed && e->view.goal != GOAL_ALIVE)
		rc = recall_imported(&r, err);
	if (rc == 0)
		rc = tell_own(&r, err);
	if (rc == 0 && can_freeze)
		rc = snapshot_write(&r, err);
	if (opts->progress)
		progress_end(opts->progress);
	if (rc == 0)
		rc = opts->states_then ? set_states_then(&r, err) : set_states_now(&r, err);
	recall_care_release(&r.care);
	vec_release(&r.cycles);
	vec_release(&r.past);
	vec_release(&r.ahead);
	vec_release(&r.seen);
	return rc;
}
