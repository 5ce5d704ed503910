/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resume.c - telling a policy what the store remembers; see resume.h.
 *
 * Cost.  O(pages + visits + cycles * what begin() of the policy costs); 24 bytes
 * a visit while it lasts.
 */
#include "engine/recall/resume.h"

#include "base/map.h"
#include "base/mem.h"
#include "policy/catalogue/catalogue.h"
#include "web/url/url.h"

struct told { int64_t time; uint32_t cycle, page; float score, probability;
              uint8_t outcome, reason, failure; bool copied, hit; int32_t status; };

struct past_cycle { int64_t time; uint32_t budget; uint8_t goal; };

struct reading {
	VEC(struct told) imported;
	VEC(struct told) own;
	VEC(struct seen) seen;          /* of the cycle being told, */
	uint32_t n_first;               /* of them first copies */
	VEC(struct past_cycle) cycles;  /* by own cycle, from 1 */
	uint8_t *known;                 /* by page: the copy we began with is there */
	const int64_t *added;           /* by page: when it came under care */
	uint32_t n_added, n_asked;      /* of them so many were here by now */
	uint32_t n_pages, before_cycle;
	struct progress *progress;
};

static int read_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct reading *r = arg;
	struct told t = { .time = v->time, .cycle = v->cycle, .page = v->page, .score = v->score,
	                  .probability = v->probability, .outcome = v->outcome,
	                  .reason = v->reason, .copied = v->capture != 0,
	                  .hit = v->hit, .status = v->status,
	                  .failure = (uint8_t)retry_judge((enum outcome)v->outcome,
	                                                   (enum cause)v->cause, v->status) };

	(void)err;
	if (v->cycle == 0)
		vec_push(&r->imported, t);
	else if (!r->before_cycle || v->cycle < r->before_cycle)
		vec_push(&r->own, t);
	return 0;
}

static int read_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	struct reading *r = arg;

	(void)err;
	if (r->before_cycle && c->number >= r->before_cycle)
		return 0;
	while (r->cycles.n < c->number) {
		struct past_cycle past = { c->time, c->budget, c->goal };

		vec_push(&r->cycles, past);
	}
	return 0;
}

static int compare_told(const void *pa, const void *pb)
{
	const struct told *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->page < b->page ? -1 : a->page > b->page;
}

enum outcome resume_life(enum outcome o, int32_t status)
{
	return o == OUTCOME_FAILED && status != 429 && status != 503 ? OUTCOME_GONE : o;
}

static struct seen to_seen(const struct told *t, enum goal goal)
{
	enum outcome o = goal == GOAL_ALIVE ?
		resume_life((enum outcome)t->outcome, t->status) : (enum outcome)t->outcome;
	bool known = o < OUTCOME_FAILED;

	return (struct seen){
		.page = t->page, .outcome = o, .known = known,
		.hit = known && (goal == GOAL_ALIVE ? t->hit : o != OUTCOME_SAME),
		.score = t->score, .probability = t->probability, .reason = t->reason,
		.failure = t->failure,
	};
}

/* A first copy is one that has an outcome and is not known. */
static void push_seen(struct reading *in, const struct told *t, enum goal goal, bool first)
{
	struct seen s = to_seen(t, goal);

	s.known = s.known && !first;
	in->n_first += first;
	vec_push(&in->seen, s);
}

/*
 * Who was here when a past cycle began.  Policies look at it (how many share the budget,
 * where to sample), and must see again what they saw: in imported history a page is here
 * from its first copy on, else from when it was put under care, until it is found gone; and
 * who was asked for was here.
 */
static void set_asked(struct engine *e, struct reading *in, const struct told *v, size_t n,
                      int64_t now)
{
	for (size_t i = 0; i < n; i++) {
		e->visits.state[v[i].page] |= PAGE_HERE;
		/* pages are numbered as they come, and the clock of a trial is not the one
		 * by which they were added */
		in->n_asked = v[i].page < in->n_asked ? in->n_asked : v[i].page + 1;
	}
	for (; in->n_added < in->n_pages && (in->n_added < in->n_asked ||
	                                     in->added[in->n_added] <= now); in->n_added++)
		if (!in->known[in->n_added])
			e->visits.state[in->n_added] |= PAGE_HERE;
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
static bool is_first(struct resumed *r, struct reading *in, const struct told *t,
                     uint32_t cycle)
{
	if (in->known[t->page] || t->outcome >= OUTCOME_FAILED || !t->copied)
		return false;
	in->known[t->page] = 1;
	r->engine.visits.last_cycle[t->page] = cycle;
	r->engine.visits.last_visit[t->page] = t->time;
	return true;
}

static void shown(struct progress *p, uint64_t done)
{
	if (p)
		progress_set(p, done);
}

static void tell_imported(struct resumed *r, struct reading *in, int64_t cycle_seconds)
{
	struct engine *e = &r->engine;
	struct told *v = in->imported.v;
	size_t n = in->imported.n;
	int64_t begin, span, length = cycle_seconds > 0 ? cycle_seconds : DAY_SECONDS;
	uint32_t before = 0;            /* cycles before the first that is told */
	uint32_t told;
	bool skipped = true;

	if (!n)
		return;
	qsort(v, n, sizeof *v, compare_told);
	begin = v[0].time;
	span = v[n - 1].time - begin + 1;
	if (span / length >= RESUME_CYCLES_MAX)
		length = span / RESUME_CYCLES_MAX + 1;
	for (size_t i = 0, from; i < n; set_found(e, v + from, i - from)) {
		uint32_t cycle = (uint32_t)((v[i].time - begin) / length) + 1;
		int64_t now = begin + (int64_t)cycle * length;

		in->seen.n = in->n_first = 0;
		for (from = i; i < n && (uint32_t)((v[i].time - begin) / length) + 1 == cycle; i++)
			push_seen(in, &v[i], e->view.goal,
			          is_first(r, in, &v[i], skipped ? 0 : cycle - before));
		told = (uint32_t)in->seen.n - in->n_first;
		if (skipped && !told)
			continue;
		if (skipped) {
			before = cycle - 1;
			skipped = false;
		}
		e->view.cycle = cycle - before - 1;
		engine_recall(e, now, told, in->seen.v, in->seen.n);
		r->n_told += told;
		r->n_imported_cycles = cycle - before;
		shown(in->progress, i);
	}
}

static void tell_own(struct resumed *r, struct reading *in)
{
	struct engine *e = &r->engine;
	size_t i = 0, from;

	for (uint32_t cycle = 1; cycle <= in->cycles.n; cycle++) {
		const struct past_cycle *past = &in->cycles.v[cycle - 1];
		bool same = past->goal == e->view.goal;
		uint32_t told;

		in->seen.n = in->n_first = 0;
		for (from = i; i < in->own.n && in->own.v[i].cycle == cycle; i++)
			if (same)
				push_seen(in, &in->own.v[i], e->view.goal, past->goal != GOAL_ALIVE &&
				          is_first(r, in, &in->own.v[i], e->view.cycle + 1));
		told = (uint32_t)in->seen.n - in->n_first;
		set_asked(e, in, in->own.v + from, i - from, past->time);
		if (same && i > from && !told && !e->view.cycle) {
			for (size_t k = from; k < i; k++)
				e->visits.last_cycle[in->own.v[k].page] = 0;
		} else if (same) {
			engine_recall(e, past->time, past->budget, in->seen.v, in->seen.n);
			r->n_told += told;
			shown(in->progress, in->imported.n + i);
		}
		set_found(e, in->own.v + from, i - from);
	}
	r->n_own_cycles = (uint32_t)in->cycles.n;
}

/*
 * The links of each page as page numbers.  They are looked at anew every LINKS_EPOCH
 * own cycles, and stay as they are between: each page's newest capture before the
 * epoch, or its first if that came later.  So a policy that is told its history again
 * sees what it saw then, and plans as if it had never stopped, or as in replay, where
 * links are those at the start.
 */
#define LINKS_EPOCH 26

struct linking {
	const struct pages *pages;
	struct map by_url;
	VEC(uint32_t) targets;
	struct progress *progress;
	uint8_t *size;                  /* of each page, or NULL */
	uint64_t *first;                /* of each page: where its links begin */
	uint32_t *count;
	uint8_t *copied;                /* by page: there is a copy of it */
	uint8_t *linked;                /* its links are read */
	int64_t epoch;                  /* captures from here on do not replace earlier ones, */
	int64_t until;                  /* from here on are not looked at */
	uint32_t page;                  /* the links that stand last are its, or STORE_NONE */
	struct buf raw, base, url;
};

/* Captures come page by page: only when the next page begins is it known which was
 * the last of this one, whose links count. */
static void resolve_links(struct linking *l)
{
	const char *p = l->raw.data, *end = p + l->raw.size;

	if (l->page == STORE_NONE)
		return;
	l->first[l->page] = l->targets.n;
	while (p < end) {
		const char *stop = memchr(p, ' ', (size_t)(end - p));
		uint32_t to;

		if (!stop)
			stop = end;
		buf_clear(&l->url);
		if (stop > p && url_resolve(l->base.data, l->base.size, p, (size_t)(stop - p), &l->url,
		                            NULL) == 0) {
			to = map_get(&l->by_url, hash_bytes(l->url.data, l->url.size, 0));
			if (to != MAP_NONE) {
				vec_push(&l->targets, to);
				l->count[l->page]++;
			}
		}
		p = stop + 1;
	}
	l->page = STORE_NONE;
}

static int read_links(void *arg, const struct store_capture *c, struct err *err)
{
	struct linking *l = arg;

	(void)err;
	if (c->page != l->page)
		resolve_links(l);
	shown(l->progress, c->page);
	if ((c->status >= 300 && c->status != 304) ||   /* where a redirect leads is no link */
	    c->time >= l->until)
		return 0;
	if (l->size && !c->revisit && (c->words >= 0 || c->length >= 0) &&
	    (!l->size[c->page] || c->time < l->epoch))
		l->size[c->page] = size_class(c->words, c->length);
	l->copied[c->page] = 1;
	if (!c->links.s || (l->linked[c->page] && c->time >= l->epoch))
		return 0;
	l->linked[c->page] = 1;
	l->page = c->page;
	buf_clear(&l->raw);
	buf_clear(&l->base);
	buf_add(&l->raw, c->links.s, c->links.size);
	if (c->target.s)
		buf_add(&l->base, c->target.s, c->target.size);
	else
		buf_add(&l->base, pages_url(l->pages, c->page), pages_url_size(l->pages, c->page));
	return 0;
}

/* Pages that we have no copy of are not in the graph yet. */
static void drop_uncopied(struct linking *l)
{
	for (uint32_t i = 0; i < l->pages->n; i++) {
		uint32_t *to = l->targets.v + l->first[i], kept = 0;

		for (uint32_t k = 0; k < l->count[i]; k++)
			if (l->copied[to[k]])
				to[kept++] = to[k];
		l->count[i] = kept;
	}
}

struct epochs { uint32_t links, next; struct linking *linking; };

static int find_epochs(void *arg, const struct store_cycle *c, struct err *err)
{
	struct epochs *e = arg;

	(void)err;
	if (c->number == e->links)
		e->linking->epoch = c->time;
	if (c->number == e->next)
		e->linking->until = c->time;
	return 0;
}

static int last_number(void *arg, const struct store_cycle *c, struct err *err)
{
	(void)err;
	*(uint32_t *)arg = c->number;
	return 0;
}

/* When the links were looked at for the cycle that is to come.  One that is gone on with,
 * or looked back at, sees nothing that it found itself. */
static int find_times(struct linking *l, struct store *s, const struct resume_opts *o,
                      struct err *err)
{
	struct epochs e = { .next = o->before_cycle, .linking = l };
	int rc = 0;

	l->epoch = l->until = INT64_MAX;
	if (o->goal != GOAL_CHANGED)
		return 0;
	if (!e.next) {
		rc = store_cycles(s, last_number, &e.next, err);
		e.next++;
	}
	e.links = (e.next - 1) / LINKS_EPOCH * LINKS_EPOCH + 1;
	return rc < 0 ? rc : store_cycles(s, find_epochs, &e, err);
}

static const uint32_t *links_of(const void *from, uint32_t page, size_t *ret_n)
{
	const struct linking *l = from;

	*ret_n = l->count[page];
	return l->targets.v + l->first[page];
}

static int prepare_resumed(struct resumed *r, struct store *s, const struct resume_opts *o,
                           unsigned needs, struct err *err)
{
	const struct pages *p = &r->loaded.pages;
	struct linking l = { .pages = p, .page = STORE_NONE, .progress = o->progress };
	int rc = 0;

	if (needs & NEED_CLUSTERS)
		needs |= NEED_LINKS;
	if (needs & (NEED_LINKS | NEED_PAGERANK | NEED_SIZES)) {
		l.first = mem_zalloc(p->n, sizeof *l.first);
		l.count = mem_zalloc(p->n, sizeof *l.count);
		l.size = needs & NEED_SIZES ? mem_zalloc(p->n, 1) : NULL;
		buf_init(&l.raw, BUF_NO_LIMIT);
		buf_init(&l.base, URL_SIZE_MAX);
		buf_init(&l.url, URL_SIZE_MAX);
		for (uint32_t i = 0; i < p->n; i++)
			map_put(&l.by_url, hash_bytes(pages_url(p, i), pages_url_size(p, i), 0), i);
		l.copied = mem_zalloc(p->n, 1);
		l.linked = mem_zalloc(p->n, 1);
		rc = find_times(&l, s, o, err);
		if (o->progress)
			progress_start(o->progress, "reading links", "pages", p->n);
		if (rc == 0)
			rc = store_captures(s, STORE_NONE, read_links, &l, err);
		resolve_links(&l);
		if (rc == 0 && o->goal == GOAL_CHANGED)
			drop_uncopied(&l);
	}
	if (rc == 0)
		rc = prepare(&r->prepared, p, needs, links_of, &l, err);
	r->prepared.size = l.size;
	if (rc == 0 && (needs & NEED_CLUSTERS))
		rc = copies_from_store(&r->copies, s, p, &r->prepared.links,
		                       o->goal == GOAL_CHANGED ? o->before_cycle : 0, l.until, err);
	map_release(&l.by_url);
	vec_release(&l.targets);
	free(l.first);
	free(l.count);
	free(l.copied);
	free(l.linked);
	buf_release(&l.raw);
	buf_release(&l.base);
	buf_release(&l.url);
	return rc;
}

static int tell_history(struct resumed *r, struct store *s, const struct resume_opts *opts,
                        struct err *err)
{
	struct reading in = { .n_pages = r->loaded.pages.n, .before_cycle = opts->before_cycle,
	                      .added = r->loaded.added, .progress = opts->progress };
	int rc;

	in.known = mem_zalloc(in.n_pages, 1);
	if ((rc = store_cycles(s, read_cycle, &in, err)) == 0 &&
	    (rc = store_visits(s, STORE_NONE, 0, UINT32_MAX, read_visit, &in, err)) == 0) {
		if (in.progress)
			progress_start(in.progress, "recalling", "visits", in.imported.n + in.own.n);
		if (opts->goal != GOAL_ALIVE)
			tell_imported(r, &in, opts->cycle_seconds);
		tell_own(r, &in);
	}
	free(in.known);
	vec_release(&in.imported);
	vec_release(&in.own);
	vec_release(&in.seen);
	vec_release(&in.cycles);
	return rc;
}

/* What pages count by, a mean of 1 over those that are here. */
static float *find_weights(const struct resumed *r, enum weight_by by)
{
	uint32_t n = r->loaded.pages.n;
	float *w;
	double sum = 0;

	if (by == WEIGHT_NONE)
		return NULL;
	w = mem_array(n, sizeof *w);
	for (uint32_t i = 0; i < n; i++) {
		w[i] = by == WEIGHT_GIVEN ? r->loaded.weight[i] : (float)r->prepared.pagerank[i];
		sum += r->loaded.visits.state[i] == PAGE_HERE ? (double)w[i] : 0;
	}
	for (uint32_t i = 0; i < n && sum > 0; i++)
		w[i] *= (float)(r->loaded.n_here / sum);
	return w;
}

static int read_store(struct resumed *r, struct store *s, const struct resume_opts *opts,
                      struct err *err)
{
	struct pages_opts po = { .site_by_domain = opts->site_by_domain };
	struct view *v = &r->engine.view;
	int rc;

	rc = policy_new(&r->policy, opts->policy, err);
	if (rc == 0 && r->policy->ops->only_replay)
		rc = err_set(err, E_USAGE, "policy '%s' knows what no crawler can know: it is for "
		             "replay only", opts->policy);
	if (rc == 0)
		rc = load_pages(&r->loaded, s, &po, err);
	if (rc == 0)
		rc = prepare_resumed(r, s, opts, policy_needs(r->policy) |
		                     (opts->weight == WEIGHT_PAGERANK ? NEED_PAGERANK : 0u), err);
	if (opts->progress)
		progress_end(opts->progress);
	if (rc < 0)
		return rc;
	engine_init(&r->engine, &r->loaded.pages, r->policy, 0);
	prepare_view(&r->prepared, v);
	v->features = r->copies.now ? &r->copies.features.maker : NULL;
	v->seed = opts->seed;
	v->goal = opts->goal;
	v->aim = opts->aim;
	v->weight = r->weight = find_weights(r, opts->weight);
	v->cycle_seconds = opts->cycle_seconds;
	rc = tell_history(r, s, opts, err);
	if (opts->progress)
		progress_end(opts->progress);
	/* whatever it saw on the way, who is here now the store says; but a page whose
	 * life is known is not asked again */
	for (uint32_t i = 0; i < r->loaded.pages.n; i++)
		r->engine.visits.state[i] = opts->goal == GOAL_ALIVE &&
			r->engine.visits.last_cycle[i] ? 0 : r->loaded.visits.state[i];
	return rc;
}

int resume(struct resumed *r, struct store *s, const struct resume_opts *opts, struct err *err)
{
	int rc;

	*r = (struct resumed){ 0 };
	rc = store_freeze(s, err);
	if (rc < 0)
		return rc;
	rc = read_store(r, s, opts, err);
	store_thaw(s);
	return rc;
}

void resume_release(struct resumed *r)
{
	engine_release(&r->engine);
	policy_free(r->policy);
	prepare_release(&r->prepared);
	copies_release(&r->copies);
	free(r->weight);
	loaded_release(&r->loaded);
	*r = (struct resumed){ 0 };
}
