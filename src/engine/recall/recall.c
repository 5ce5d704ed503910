/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall.c - telling an engine what the store remembers; see recall.h.
 *
 * Cost.  O(pages + visits + cycles * what begin() of the policy costs).  Imported visits
 * lie in the order of import: they are read once if they fit into what may be held, else
 * once more to count them by cycle, and once for each part that fits.
 */
#include "engine/recall/recall.h"

#include "engine/recall/snapshot.h"

struct told { int64_t time; uint32_t page; float score, probability;
              uint8_t outcome, reason, failure; bool copied, hit; int32_t status; };

struct past_cycle { int64_t time; uint32_t budget; uint8_t goal; };

struct recalling {
	struct engine *e;
	const struct loaded *loaded;
	struct store *store;
	const struct recall_opts *opts;
	struct recalled *ret;
	VEC(struct past_cycle) cycles;  /* by own cycle, from 1 */
	VEC(struct told) told;          /* visits held, */
	VEC(struct seen) seen;          /* those of the cycle being told, */
	uint32_t n_first;               /* of them first copies */
	uint8_t *known;                 /* by page: the copy we began with is there */
	uint32_t n_added, n_asked;      /* pages that were here by now; see set_asked() */
	uint64_t base_key;              /* of snapshots, before any own cycle */
	bool thawed;                    /* imported visits, and some cycles, are known */
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
	if (r->opts->before_cycle && c->number >= r->opts->before_cycle)
		return 0;
	while (r->cycles.n < c->number) {
		struct past_cycle past = { c->time, c->budget, c->goal };

		vec_push(&r->cycles, past);
	}
	return 0;
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
 * who was asked for was here.
 */
static void set_asked(struct recalling *r, int64_t now)
{
	uint8_t *state = r->e->visits.state;
	uint32_t n_pages = r->loaded->pages.n;

	for (size_t i = 0; i < r->told.n; i++) {
		uint32_t page = r->told.v[i].page;

		state[page] |= PAGE_HERE;
		/* pages are numbered as they come, and the clock of a trial is not the one
		 * by which they were added */
		r->n_asked = page < r->n_asked ? r->n_asked : page + 1;
	}
	for (; r->n_added < n_pages && (r->n_added < r->n_asked ||
	                                r->loaded->added[r->n_added] <= now); r->n_added++)
		if (!r->known[r->n_added])
			state[r->n_added] |= PAGE_HERE;
}

static void set_found(struct engine *e, const struct told *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].outcome == OUTCOME_GONE)
			e->visits.state[v[i].page] &= (uint8_t)~PAGE_HERE;
		else if (v[i].outcome < OUTCOME_GONE && e->view.goal == GOAL_CHANGED)
			e->visits.state[v[i].page] |= PAGE_HERE;
}

/* The first capture of a page is the copy we began with, not a visit to learn
 * from; cycles that made nothing but such copies came before the first cycle. */
static bool is_first(struct recalling *r, const struct told *t, uint32_t cycle)
{
	if (r->known[t->page] || t->outcome >= OUTCOME_FAILED || !t->copied)
		return false;
	r->known[t->page] = 1;
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
	for (size_t i = 0, from; i < n && rc == 0; set_found(e, v + from, i - from)) {
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
	int rc = store_visits(m->r->store, STORE_NONE, 0, 1, count_cycles, m, err);

	while (rc == 0 && m->to <= RECALL_CYCLES_MAX) {
		uint64_t sum = m->count[m->from = m->to++];

		while (m->to <= RECALL_CYCLES_MAX && sum + m->count[m->to] <= m->held)
			sum += m->count[m->to++];
		m->r->told.n = 0;
		if (sum && (rc = store_visits(m->r->store, STORE_NONE, 0, 1, read_part, m, err)) == 0)
			rc = tell_part(m, err);
	}
	return rc;
}

static int tell_imported(struct recalling *r, struct err *err)
{
	struct importing m = { .r = r, .held = r->opts->held ? r->opts->held : RECALL_HELD };
	int64_t asked = r->e->view.cycle_seconds, span;
	int rc = store_visits(r->store, STORE_NONE, 0, 1, read_all, &m, err);

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
	set_asked(r, past->time);
	if (same && r->told.n && !told && !e->view.cycle) {
		for (size_t i = 0; i < r->told.n; i++)
			e->visits.last_cycle[r->told.v[i].page] = 0;
	} else if (same) {
		engine_recall(e, past->time, past->budget, r->seen.v, r->seen.n);
		r->ret->n_told += told;
	}
	set_found(e, r->told.v, r->told.n);
}

static int tell_own(struct recalling *r, struct err *err)
{
	int rc = 0;

	start(r->opts->progress, "cycles", r->cycles.n);
	for (uint32_t cycle = r->ret->n_thawed + 1; cycle <= r->cycles.n && rc == 0; cycle++) {
		r->told.n = 0;
		rc = store_visits(r->store, STORE_NONE, cycle, cycle + 1, read_visit, r, err);
		if (rc == 0)
			tell_cycle(r, &r->cycles.v[cycle - 1]);
		if (rc == 0)
			rc = shown(r->opts->progress, cycle, err);
	}
	r->ret->n_own_cycles = (uint32_t)r->cycles.n;
	return rc;
}

/* ---- snapshots ---- */

static void freeze(struct recalling *r, struct frozen *f)
{
	frozen_value(f, &r->ret->n_imported_cycles);
	frozen_value(f, &r->ret->n_told);
	frozen_value(f, &r->n_added);
	frozen_value(f, &r->n_asked);
	frozen_bytes(f, r->known, r->loaded->pages.n);
	frozen_check(f, r->n_added <= r->loaded->pages.n && r->n_asked <= r->loaded->pages.n);
	engine_freeze(r->e, f);
}

/* Of the first so many own cycles, and of what was imported. */
static uint64_t key_of(const struct recalling *r, uint32_t cycles)
{
	uint64_t h = r->base_key;

	for (uint32_t i = 0; i < cycles; i++) {
		const struct past_cycle *c = &r->cycles.v[i];
		int64_t numbers[] = { c->time, c->budget, c->goal };

		h = hash_bytes(numbers, sizeof numbers, h);
	}
	return h;
}

static int find_key(struct recalling *r, struct err *err)
{
	uint64_t past;
	int rc = store_past(r->store, &past, err);

	if (rc == 0)
		r->base_key = snapshot_key(r->e, hash_bytes(r->loaded->added, r->loaded->pages.n *
		                                            sizeof *r->loaded->added, past));
	return rc;
}

/* 1: it was damaged. */
static int thaw(struct recalling *r)
{
	struct frozen f;
	uint32_t cycles;
	uint64_t key;
	bool fits;

	if (!snapshot_open(&f, store_file(r->store), &cycles, &key))
		return 0;
	fits = cycles <= r->cycles.n && key == key_of(r, cycles);
	if (fits) {
		freeze(r, &f);
		r->ret->n_thawed = cycles;
		r->thawed = true;
	}
	return !snapshot_close(&f) && fits;
}

static void keep(struct recalling *r)
{
	uint32_t cycles = (uint32_t)r->cycles.n;
	struct frozen f;
	struct output *o;

	if (!r->opts->keep || !r->opts->before_cycle || !cycles ||
	    (r->thawed && r->ret->n_thawed == cycles))
		return;
	o = snapshot_begin(&f, store_file(r->store), cycles, key_of(r, cycles));
	if (!o)
		return;
	freeze(r, &f);
	snapshot_end(&f, o);
}

int recall(struct engine *e, const struct loaded *l, struct store *s,
           const struct recall_opts *opts, struct recalled *ret, struct err *err)
{
	struct recalling r = { .e = e, .loaded = l, .store = s, .opts = opts, .ret = ret };
	bool can_freeze = policy_can_freeze(e->policy);
	int rc;

	*ret = (struct recalled){ 0 };
	r.known = mem_zalloc(l->pages.n, 1);
	rc = store_cycles(s, read_cycle, &r, err);
	if (rc == 0 && can_freeze && (rc = find_key(&r, err)) == 0 && !opts->no_snapshot)
		rc = thaw(&r);
	if (rc == 0 && !r.thawed && e->view.goal != GOAL_ALIVE)
		rc = tell_imported(&r, err);
	if (rc == 0)
		rc = tell_own(&r, err);
	if (rc == 0 && can_freeze)
		keep(&r);
	if (opts->progress)
		progress_end(opts->progress);
	for (uint32_t i = 0; i < l->pages.n; i++)
		e->visits.state[i] = e->view.goal == GOAL_ALIVE && e->visits.last_cycle[i] ? 0 :
			l->visits.state[i];
	free(r.known);
	vec_release(&r.cycles);
	vec_release(&r.told);
	vec_release(&r.seen);
	return rc;
}
