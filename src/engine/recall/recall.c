/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall.c - telling an engine what the store remembers; see recall.h.
 *
 * Cost.  O(pages + visits + cycles * what begin() of the policy costs).  Imported visits
 * lie in the order of import: they are read once if they fit into what may be held, else
 * once more to count them by cycle, and once for each part that fits.
 */
#include "engine/recall/recall.h"

#include "base/io/output.h"
#include "engine/archive/judge.h"
#include "engine/recall/recall_care.h"
#include "engine/recall/snapshot.h"
#include "engine/view/cachefile.h"

struct told { int64_t time; uint32_t page; float score, probability;
              uint8_t outcome, reason, failure; bool copied, hit; int32_t status; };

struct past_cycle {
	int64_t time;
	uint32_t budget;
	uint32_t pages;                 /* when it began; 0: not known */
	uint32_t most;                  /* pages: no more than these can have been here */
	uint8_t goal;
};

struct recalling {
	struct engine *e;
	const struct loaded *loaded;
	struct store *store;
	const struct recall_opts *opts;
	struct recalled *ret;
	VEC(struct past_cycle) cycles;  /* by own cycle, from 1 */
	struct past_cycle next;         /* the one of opts->before_cycle */
	VEC(struct told) told;          /* visits held, */
	VEC(struct seen) seen;          /* those of the cycle being told, */
	uint32_t n_first;               /* of them first copies */
	struct recall_care care;        /* who was under care; and marks of pages */
	uint32_t n_added, n_asked;      /* pages that were here by now; see set_asked() */
	uint32_t most;                  /* pages when the next cycle began; 0: not known */
	bool thawed;                    /* imported visits, and some cycles, are known, */
	uint64_t told_before;           /* so many visits */
};

static struct told to_told(const struct store_visit *v)
{
	return (struct told){ .time = v->time, .page = v->page, .score = v->score,
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

/* Pages are never fewer than before, so the next row that knows bounds those that do not. */
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

static struct seen to_seen(const struct told *t, enum goal goal)
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

/* A first copy is one that has an outcome and is not known. */
static void push_seen(struct recalling *r, const struct told *t, bool first)
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

	for (size_t i = 0; i < r->told.n; i++) {
		uint32_t page = r->told.v[i].page;

		state[page] |= PAGE_HERE;
		/* the clock of a trial is not the one by which pages were added */
		r->n_asked = page < r->n_asked ? r->n_asked : page + 1;
	}
	for (; r->n_added < past->most && (past->pages || r->n_added < r->n_asked ||
	                                   r->loaded->added[r->n_added] <= past->time);
	     r->n_added++)
		if (!(r->care.marks[r->n_added] & MARK_KNOWN))
			recall_care_here(&r->care, r->n_added);
}

static void set_found(struct recalling *r, const struct told *v, size_t n)
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

/* The first capture of a page is the copy we began with, not a visit to learn
 * from; cycles that made nothing but such copies came before the first cycle. */
static bool is_first(struct recalling *r, const struct told *t, uint32_t cycle)
{
	if (!judge_first((enum outcome)t->outcome, r->care.marks[t->page] & MARK_KNOWN) || !t->copied)
		return false;
	r->care.marks[t->page] |= MARK_KNOWN;
	r->e->visits.last_cycle[t->page] = cycle;
	r->e->visits.last_visit[t->page] = t->time;
	return true;
}

static void start(struct progress *p, const char *unit, uint64_t total)
{
	if (p)
		progress_start(p, "recalling", unit, total);
}

static int shown(struct progress *p, uint64_t done, struct err *err)
{
	return p && progress_set(p, done) ? err_set(err, E_STOP, "the recalling was stopped") : 0;
}

/* ---- imported visits ---- */

struct importing {
	struct recalling *r;
	size_t held;                    /* visits at a time */
	uint64_t n, n_told;
	int64_t begin, end;             /* times of the first and the last */
	int64_t length;                 /* of their cycles */
	uint64_t count[RECALL_CYCLES_MAX + 1];  /* by cycle - 1; only if all cannot be held */
	uint32_t from, to;              /* of which cycles - 1 visits are read */
	uint32_t before;                /* cycles before the first that is told */
	bool began;                     /* there was one to tell */
};

static uint32_t cycle_of(const struct importing *m, int64_t time)
{
	return (uint32_t)((time - m->begin) / m->length) + 1;
}

/* Hold all of them, if they are not too many. */
static int read_all(void *arg, const struct store_visit *v, struct err *err)
{
	struct importing *m = arg;

	(void)err;
	if (!m->n || v->time < m->begin)
		m->begin = v->time;
	if (!m->n || v->time > m->end)
		m->end = v->time;
	if (m->n++ < m->held)
		vec_push(&m->r->told, to_told(v));
	return 0;
}

static int count_cycles(void *arg, const struct store_visit *v, struct err *err)
{
	struct importing *m = arg;

	(void)err;
	m->count[cycle_of(m, v->time) - 1]++;
	return 0;
}

static int read_part(void *arg, const struct store_visit *v, struct err *err)
{
	struct importing *m = arg;
	uint32_t at = cycle_of(m, v->time) - 1;

	(void)err;
	if (at >= m->from && at < m->to)
		vec_push(&m->r->told, to_told(v));
	return 0;
}

static int compare_told(const void *pa, const void *pb)
{
	const struct told *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->page < b->page ? -1 : a->page > b->page;
}

/* Tell the visits held: those of whole cycles. */
static int tell_part(struct importing *m, struct err *err)
{
	struct recalling *r = m->r;
	struct engine *e = r->e;
	const struct told *v = r->told.v;
	size_t n = r->told.n;
	int rc = 0;

	qsort(r->told.v, n, sizeof *r->told.v, compare_told);
	for (size_t i = 0, from; i < n && rc == 0; set_found(r, v + from, i - from)) {
		uint32_t cycle = cycle_of(m, v[i].time), told;

		r->seen.n = r->n_first = 0;
		for (from = i; i < n && cycle_of(m, v[i].time) == cycle; i++)
			push_seen(r, &v[i], is_first(r, &v[i], m->began ? cycle - m->before : 0));
		told = (uint32_t)r->seen.n - r->n_first;
		if (!m->began && !told)
			continue;
		if (!m->began) {
			m->before = cycle - 1;
			m->began = true;
		}
		e->view.cycle = cycle - m->before - 1;
		engine_recall(e, m->begin + (int64_t)cycle * m->length, told, r->seen.v, r->seen.n);
		r->ret->n_told += told;
		r->ret->n_imported_cycles = cycle - m->before;
		rc = shown(r->opts->progress, m->n_told + i, err);
	}
	m->n_told += n;
	return rc;
}

/* More than may be held: so many cycles at a time as fit. */
static int tell_in_parts(struct importing *m, struct err *err)
{
	int rc = store_visits(m->r->store, 0, 1, count_cycles, m, err);

	while (rc == 0 && m->to <= RECALL_CYCLES_MAX) {
		uint64_t sum = m->count[m->from = m->to++];

		while (m->to <= RECALL_CYCLES_MAX && sum + m->count[m->to] <= m->held)
			sum += m->count[m->to++];
		m->r->told.n = 0;
		if (sum && (rc = store_visits(m->r->store, 0, 1, read_part, m, err)) == 0)
			rc = tell_part(m, err);
	}
	return rc;
}

static int tell_imported(struct recalling *r, struct err *err)
{
	struct importing m = { .r = r, .held = r->opts->held ? r->opts->held : RECALL_HELD };
	int64_t asked = r->e->view.cycle_seconds, span;
	int rc = store_visits(r->store, 0, 1, read_all, &m, err);

	if (rc < 0 || !m.n)
		return rc;
	start(r->opts->progress, "visits", m.n);
	m.length = asked > 0 ? asked : DAY_SECONDS;
	span = m.end - m.begin + 1;
	if (span / m.length >= RECALL_CYCLES_MAX)
		m.length = span / RECALL_CYCLES_MAX + 1;
	if (m.n > m.held)
		return tell_in_parts(&m, err);
	return tell_part(&m, err);
}

/* ---- own cycles ---- */

static int read_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct recalling *r = arg;

	(void)err;
	vec_push(&r->told, to_told(v));
	return 0;
}

static void tell_cycle(struct recalling *r, const struct past_cycle *past)
{
	struct engine *e = r->e;
	bool same = past->goal == e->view.goal;
	uint32_t told;

	r->seen.n = r->n_first = 0;
	for (size_t i = 0; same && i < r->told.n; i++)
		push_seen(r, &r->told.v[i], past->goal != GOAL_ALIVE &&
		          is_first(r, &r->told.v[i], e->view.cycle + 1));
	told = (uint32_t)r->seen.n - r->n_first;
	set_asked(r, past);
	if (same && r->told.n && !told && !e->view.cycle) {
		for (size_t i = 0; i < r->told.n; i++)
			e->visits.last_cycle[r->told.v[i].page] = 0;
	} else if (same) {
		engine_recall(e, past->time, past->budget, r->seen.v, r->seen.n);
		r->ret->n_told += told;
	}
	set_found(r, r->told.v, r->told.n);
}

static int tell_own(struct recalling *r, struct err *err)
{
	int rc = 0;

	start(r->opts->progress, "cycles", r->cycles.n);
	for (uint32_t cycle = r->ret->n_thawed + 1; cycle <= r->cycles.n && rc == 0; cycle++) {
		r->told.n = 0;
		rc = recall_care_until(&r->care, cycle, err);
		if (rc == 0)
			rc = store_visits(r->store, cycle, cycle + 1, read_visit, r, err);
		if (rc == 0)
			tell_cycle(r, &r->cycles.v[cycle - 1]);
		if (rc == 0)
			rc = shown(r->opts->progress, cycle, err);
	}
	r->ret->n_own_cycles = (uint32_t)r->cycles.n;
	return rc;
}

/* The pages that were here when the cycle of opts->before_cycle began. */
static int set_states_then(struct recalling *r, struct err *err)
{
	uint32_t cycle = r->opts->before_cycle;
	int rc;

	r->told.n = 0;
	rc = recall_care_until(&r->care, cycle, err);
	if (rc == 0)
		rc = store_visits(r->store, cycle, cycle + 1, read_visit, r, err);
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

/* ---- snapshots ---- */

/* A snapshot is written when so much was told since the last one: writing costs, too. */
#define WRITE_SHARE 16           /* a visit for so many pages, */
#define WRITE_CYCLES 8           /* or so many cycles */

static void freeze(struct recalling *r, struct frozen *f)
{
	uint32_t n = r->loaded->pages.n;

	frozen_value(f, &r->ret->n_imported_cycles);
	frozen_value(f, &r->ret->n_told);
	frozen_value(f, &r->n_added);
	frozen_value(f, &r->n_asked);
	frozen_rows(f, r->care.marks, n, sizeof *r->care.marks);
	frozen_check(f, r->n_added <= n && r->n_asked <= n);
	engine_freeze(r->e, f);
}

/* Of the first so many own cycles and pages, of who was under care when these cycles began,
 * and of what was imported. */
static int find_key(const struct recalling *r, uint32_t cycles, uint32_t pages,
                    uint64_t *ret, struct err *err)
{
	uint64_t h;
	int rc = store_past(r->store, &h, err);

	if (rc < 0)
		return rc;
	h = hash_bytes(r->loaded->added, pages * sizeof *r->loaded->added, h);
	h = snapshot_key(r->e, pages, h);
	for (uint32_t i = 0; i < cycles; i++) {
		const struct past_cycle *c = &r->cycles.v[i];
		int64_t numbers[] = { c->time, c->budget, c->goal, c->pages };

		h = hash_bytes(numbers, sizeof numbers, h);
	}
	*ret = h;
	return recall_care_hash(&r->care, cycles, ret, err);
}

/* Are all pages in it that can have been here in the cycles told? */
static bool has_all(const struct recalling *r, const struct snapshot *about)
{
	for (uint32_t i = 0; i < about->cycles; i++)
		if (r->cycles.v[i].most > about->pages)
			return false;
	return true;
}

/* 1: it was damaged. */
static int thaw(struct recalling *r, struct err *err)
{
	struct snapshot about;
	struct frozen f;
	uint64_t key;
	int rc = 0;

	if (!cachefile_open(&f, store_file(r->store), SNAPSHOT_END, &about, sizeof about))
		return 0;
	if (about.cycles > r->cycles.n || about.pages > r->loaded->pages.n ||
	    !has_all(r, &about) ||
	    (rc = find_key(r, about.cycles, about.pages, &key, err)) < 0 || key != about.key) {
		cachefile_leave(&f);
		return rc;
	}
	freeze(r, &f);
	r->ret->n_thawed = r->care.from = about.cycles;
	r->thawed = true;
	r->told_before = r->ret->n_told;
	return !cachefile_close(&f);
}

static bool is_worth_writing(const struct recalling *r)
{
	uint64_t told = r->ret->n_told - r->told_before;

	return !r->thawed || r->cycles.n - r->ret->n_thawed >= WRITE_CYCLES ||
	       told * WRITE_SHARE > r->loaded->pages.n;
}

static int write_snapshot(struct recalling *r, struct err *err)
{
	struct snapshot about = { .cycles = (uint32_t)r->cycles.n, .pages = r->loaded->pages.n };
	struct frozen f;
	struct output *o;
	int rc;

	if (!r->opts->snapshot || !r->opts->before_cycle || !about.cycles || !is_worth_writing(r))
		return 0;
	rc = find_key(r, about.cycles, about.pages, &about.key, err);
	if (rc < 0)
		return rc;
	o = cachefile_begin(&f, store_file(r->store), SNAPSHOT_END, &about, sizeof about);
	if (!o)
		return 0;
	freeze(r, &f);
	cachefile_end(&f, o);
	return 0;
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
		rc = thaw(&r, err);
	if (rc == 0 && !r.thawed && e->view.goal != GOAL_ALIVE)
		rc = tell_imported(&r, err);
	if (rc == 0)
		rc = tell_own(&r, err);
	if (rc == 0 && can_freeze)
		rc = write_snapshot(&r, err);
	if (opts->progress)
		progress_end(opts->progress);
	if (rc == 0)
		rc = opts->states_then ? set_states_then(&r, err) : set_states_now(&r, err);
	recall_care_release(&r.care);
	vec_release(&r.cycles);
	vec_release(&r.told);
	vec_release(&r.seen);
	return rc;
}
