/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl.c - a cycle on the live web; see crawl.h.
 *
 * The budget.  A page that is handed to the fetcher takes one request of it; a
 * redirect hop or a retry takes one more, asked for by the fetcher before it is
 * made.  Pages are handed over as the budget allows, so that the hops of the
 * first pages come out of the share of the last: these are then left unasked.
 * A page that was never asked of its server gives its request back.
 */
#include "engine/crawl_inner.h"
#include "engine/live_inner.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pool.h"

#define BATCH 200
#define BATCH_SECONDS 5
#define WINDOW 4096             /* pages at the fetcher at a time */
#define PLACES 64               /* answers in the line, */
#define BYTES_IN_LINE (8 << 20) /* or so many bytes of them and one more */
#define THREADS_MAX 16

static bool may_spend(void *arg)
{
	return crawl_may_spend(arg);
}

/* May another page be handed over?  A little of the budget is held back for the
 * redirects of those under way, as many as there have been so far and one; the
 * last page goes when nobody can need it any more. */
static bool may_ask(const struct crawl *c)
{
	uint64_t pending = crawl_pending(c), reserve = 1;

	if (c->report->visits)
		reserve += pending * c->extras / c->report->visits;
	return !crawl_stopped(c) && pending < WINDOW &&
		(pending ? c->spent + reserve < c->budget : c->spent < c->budget);
}

/* Hand a page to the fetcher, with the validators of our copy. */
static int ask_page(struct crawl *c, const struct offer *o, uint32_t index, struct err *err)
{
	struct fetch_request q = { .page = o->page, .site = index };
	struct store_capture copy;
	struct store_page p;
	struct buf etag, modified;
	int rc = store_page_get(c->store, o->page, &p, err);

	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "no page %u", o->page);
	buf_init(&etag, 4096);
	buf_init(&modified, 4096);
	q.url = pages_url(&c->resumed->loaded.pages, o->page);
	if (p.capture && (rc = store_capture_get(c->store, p.capture, &copy, err)) > 0) {
		if (copy.etag.s)
			buf_add(&etag, copy.etag.s, copy.etag.size);
		if (copy.modified.s)
			buf_add(&modified, copy.modified.s, copy.modified.size);
		q.etag = etag.size ? etag.data : NULL;
		q.last_modified = modified.size ? modified.data : NULL;
		c->copies[index] = crawl_copy_new(&copy);
	}
	if (rc >= 0)
		fetch_add(c->fetch, &q);
	buf_release(&etag);
	buf_release(&modified);
	return rc < 0 ? rc : 0;
}

static void forget_copy(struct crawl *c, uint32_t index)
{
	free(c->copies[index]);
	c->copies[index] = NULL;
}

static void read_place(void *arg, unsigned thread, uint32_t place)
{
	struct crawl *c = arg;

	crawl_read(c->opts, &c->readers[thread], &c->answers[place]);
}

/* Put what was fetched into the line; false if nothing was. */
static bool take_outcome(struct crawl *c, double wait)
{
	const struct fetch_result *r;
	struct crawl_answer *a;

	if (fetch_next(c->fetch, wait, &r) != FETCH_GOT)
		return false;
	if (r->error == FETCH_STOPPED) {
		c->spent -= r->requests == 0;
		forget_copy(c, r->site);
		return true;
	}
	a = &c->answers[line_place(c->line)];
	a->result = *r;
	a->held = fetch_hold(c->fetch);
	a->copy = c->copies[r->site];
	a->time = c->opts->now ? c->report->cycle.time : r->time ? r->time : time(NULL);
	a->ids = warc_writer_ids(c->warc, r->n_hops + 1);
	if (crawl_is_blocked(r)) {      /* at once: a redirect may wait for it */
		c->spent--;
		c->given_back++;
	}
	c->bytes_in_line += r->body_size;
	line_put(c->line);
	return true;
}

/* Write the oldest answer in the line: 1, or 0 if there is none that is read. */
static int keep_outcome(struct crawl *c, const struct offer *offers, struct delivery *ret,
                        bool wait, struct err *err)
{
	const struct fetch_result *r;
	struct crawl_answer *a;
	uint32_t place, site;
	int rc;

	if (!line_take(c->line, wait, &place))
		return 0;
	a = &c->answers[place];
	r = &a->result;
	site = r->site;
	c->given_back -= crawl_is_blocked(r);
	rc = crawl_keep(c, &offers[site], c->placed + site + 1, a, &ret[site], err);
	c->bytes_in_line -= r->body_size;
	fetch_drop(c->fetch, a->held);
	forget_copy(c, site);
	if (rc < 0)
		return rc;
	ret[site].extra = r->requests > 1 ? r->requests - 1 : 0;
	c->extras += ret[site].extra;
	crawl_discover_count(c, offers[site].reason, ret[site].outcome);
	c->report->visits++;
	c->report->answered += r->status > 0;
	c->in_batch++;
	if (c->opts->progress)
		c->opts->progress(c->opts->arg, crawl_counted(c), c->budget);
	if (c->in_batch >= (c->opts->batch ? c->opts->batch : BATCH) ||
	    crawl_seconds() - c->batch_began > BATCH_SECONDS)
		rc = crawl_commit(c, err);
	return rc < 0 ? rc : 1;
}

static void stop_reading(struct crawl *c)
{
	line_free(c->line);
	c->line = NULL;
}

/* One step: the wire if the line has room, then what is read; never idle while
 * there is something to do. */
static int step(struct crawl *c, const struct offer *offers, struct delivery *ret,
                struct err *err)
{
	bool full = line_full(c->line) || c->bytes_in_line > BYTES_IN_LINE, took = false;
	int rc;

	if (!full && fetch_pending(c->fetch))
		took = take_outcome(c, line_count(c->line) ? 0 : 0.2);
	rc = keep_outcome(c, offers, ret, !took, err);
	while (rc > 0)
		rc = keep_outcome(c, offers, ret, false, err);
	return rc;
}

static int deliver(void *self, const struct offer *offers, size_t n, struct delivery *ret,
                   struct err *err)
{
	struct crawl *c = self;
	uint32_t next = 0;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		ret[i].outcome = OUTCOME_BLOCKED;       /* until it is asked for */
	c->copies = mem_zalloc(n, sizeof *c->copies);
	while (rc == 0) {
		for (; rc == 0 && next < n && may_ask(c); next++) {
			rc = ask_page(c, &offers[next], next, err);
			c->spent++;
		}
		if (crawl_stopped(c))
			fetch_stop(c->fetch);
		if (rc < 0 || !crawl_pending(c))
			break;
		rc = step(c, offers, ret, err);
	}
	if (rc < 0)
		stop_reading(c);        /* copies are still looked at */
	for (size_t i = 0; i < next; i++)
		free(c->copies[i]);
	free(c->copies);
	if (rc == 0)
		rc = crawl_commit(c, err);
	c->report->unasked += (uint32_t)n - next;
	c->placed += (uint32_t)n;
	if (rc == 0 && crawl_stopped(c)) {
		c->report->stopped = true;
		rc = err_set(err, E_STOP, "stopped; what was fetched is kept, the next start "
		             "goes on with this cycle");
	}
	return rc;
}

/* ---- the cycle around it ---- */

struct last { struct store_cycle cycle; char policy[256]; bool any; };

static int see_cycle(void *arg, const struct store_cycle *row, struct err *err)
{
	struct last *l = arg;

	(void)err;
	l->cycle = *row;
	snprintf(l->policy, sizeof l->policy, "%.*s", (int)row->policy.size,
	         row->policy.s ? row->policy.s : "");
	l->any = true;
	return 0;
}

/* The visits that an open cycle has made, for the policy to be told. */
struct made { VEC(struct seen) seen; uint32_t placed; enum goal goal; };

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct made *m = arg;
	struct seen s = { .page = v->page, .hit = v->hit, .outcome = m->goal == GOAL_ALIVE ?
		resume_life((enum outcome)v->outcome, v->status) : (enum outcome)v->outcome,
		.score = v->score, .probability = v->probability, .reason = v->reason };

	(void)err;
	m->placed = v->order > m->placed ? v->order : m->placed;
	vec_push(&m->seen, s);
	return 0;
}

/* A page whose only visit this was had no copy before. */
static int mark_first(struct crawl *c, struct made *m, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < m->seen.n && rc >= 0; i++) {
		struct store_page p;

		rc = store_page_get(c->store, m->seen.v[i].page, &p, err);
		m->seen.v[i].known = m->seen.v[i].outcome < OUTCOME_FAILED && rc > 0 &&
			(m->goal == GOAL_ALIVE || p.visits > 1);
	}
	return rc < 0 ? rc : 0;
}

static int open_archive(struct crawl *c, struct err *err)
{
	char host[65];
	struct warc_writer_options o = { .folder = c->opts->warc_folder, .prefix = "freshet",
		.host = host, .software = "freshet/" FRESHET_VERSION, .robots = "obey",
		.user_agent = c->opts->fetch.user_agent };

	if (gethostname(host, sizeof host))
		snprintf(host, sizeof host, "localhost");
	host[sizeof host - 1] = '\0';
	for (char *s = host; *s; s++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", *s))
			*s = '_';
	/* another for every run: ids of records must never come again */
	o.seed = hash_bytes(&(int64_t[]){ (int64_t)time(NULL), getpid(), (int64_t)clock() },
	                    3 * sizeof(int64_t), c->report->cycle.number);
	return warc_writer_open(&c->warc, &o, err);
}

/* Is the last cycle to be gone on with?  One that was broken off is; a run that
 * looked for life is also when it ended, for its list is still the same. */
static int check_last(struct crawl *c, struct last *last, struct err *err)
{
	bool same = last->any && last->cycle.goal == (uint8_t)c->opts->goal;
	bool alive = c->opts->goal == GOAL_ALIVE;
	int rc = 0;

	if (last->any && last->cycle.open && !same)
		return err_set(err, E_USAGE, "cycle %u was broken off: end it first with `freshet %s`",
		               last->cycle.number, alive ? "cycle" : "live");
	c->report->resumed = same && (last->cycle.open || alive) &&
		!(alive && c->opts->live.again);
	if (same && last->cycle.open && !c->report->resumed) {
		last->cycle.open = false;
		last->cycle.policy = (struct text){ last->policy, strlen(last->policy) };
		if ((rc = store_begin(c->store, err)) == 0 &&
		    (rc = store_cycle_put(c->store, &last->cycle, err)) == 0)
			rc = store_commit(c->store, err);
	}
	return rc;
}

/* Begin the cycle's row, or take up the one that is open. */
static int begin_row(struct crawl *c, struct last *last, struct err *err)
{
	struct crawl_report *rep = c->report;
	int rc = store_cycles(c->store, see_cycle, last, err);

	if (rc < 0)
		return rc;
	rc = check_last(c, last, err);
	if (rc < 0)
		return rc;
	if (rep->resumed) {
		rep->cycle = last->cycle;
		snprintf(rep->policy, sizeof rep->policy, "%s",
		         last->cycle.open ? last->policy : c->opts->policy);
		rep->cycle.open = true;
	} else {
		rep->cycle = (struct store_cycle){
			.number = last->any ? last->cycle.number + 1 : 1, .open = true,
			.time = c->opts->now ? c->opts->now : (int64_t)time(NULL),
			.seed = c->opts->seed, .goal = (uint8_t)c->opts->goal,
		};
		snprintf(rep->policy, sizeof rep->policy, "%s", c->opts->policy);
	}
	rep->cycle.policy = (struct text){ rep->policy, strlen(rep->policy) };
	return 0;
}

static int run_engine(struct crawl *c, struct err *err)
{
	struct crawl_report *rep = c->report;
	struct engine *e = &c->resumed->engine;
	struct made made = { .goal = c->opts->goal };
	int rc = 0;

	e->source = (struct source){ .self = c, .deliver = deliver };
	if (made.goal == GOAL_ALIVE)
		rc = live_start(c, err);
	e->max_age = c->opts->max_age;
	if (rc == 0 && rep->resumed) {
		rc = store_visits(c->store, STORE_NONE, rep->cycle.number, rep->cycle.number + 1,
		                  see_visit, &made, err);
		if (rc == 0)
			rc = mark_first(c, &made, err);
		c->placed = made.placed;
	}
	if (rc == 0)
		rc = crawl_discover_reserve(c, made.seen.v, made.seen.n, err);
	if (rc == 0 && (rc = store_begin(c->store, err)) == 0) {
		c->batch_began = crawl_seconds();
		rc = rep->resumed ?
			engine_continue(e, rep->cycle.time, c->budget, made.seen.v, made.seen.n,
			                c->spent, err) :
			engine_cycle(e, rep->cycle.time, c->budget, err);
		rep->guarantee_broken = e->guarantee_broken;
		rep->cycle.seconds_plan += e->plan_seconds;
	}
	vec_release(&made.seen);
	return rc;
}

/* The last commit: the cycle is over, unless it was stopped. */
static int end_row(struct crawl *c, double began, int rc, struct err *err)
{
	struct err second;
	int rc2;

	c->report->cycle.seconds_total += crawl_seconds() - began;
	if (rc < 0 && rc != E_STOP) {
		store_rollback(c->store);
		return rc;
	}
	c->report->cycle.open = rc == E_STOP;
	rc2 = crawl_commit(c, rc == E_STOP ? &second : err);
	store_rollback(c->store);
	if (rc2 == 0 && rc == 0 && c->report->visits && !c->report->answered &&
	    c->report->reasons[FETCH_GATE] == c->report->visits)
		return err_set(err, E_NET, "no page has a public address: open networks of your own by "
		               "--allow-net CIDR (127.0.0.0/8 is this machine)");
	if (rc2 == 0 && rc == 0 && c->report->visits && !c->report->answered)
		return err_set(err, E_NET, "nothing could be reached: is the network up, and is a proxy "
		               "needed (--proxy)?");
	return rc < 0 ? rc : rc2;
}

/* Find out whether words are counted, and load those there are. */
static int load_words(struct crawl *c, struct err *err)
{
	enum crawl_words how = c->opts->words;
	int rc;

	if (how == CRAWL_WORDS_NO)
		return 0;
	rc = import_words_load(&c->words, c->store, c->opts->stem, false, err);
	c->count_words = how == CRAWL_WORDS_YES || c->words.n_stored ||
		(policy_needs(c->resumed->policy) & NEED_WORDS);
	return rc;
}

/* Threads for all processors but the one that the loop keeps busy. */
static int start_reading(struct crawl *c, struct err *err)
{
	unsigned n = pool_threads();
	const struct import_words *words = c->count_words ? &c->words : NULL;
	int rc = 0;

	c->n_readers = n < THREADS_MAX ? n : THREADS_MAX;
	c->readers = mem_zalloc(c->n_readers, sizeof *c->readers);
	c->answers = mem_zalloc(PLACES, sizeof *c->answers);
	for (unsigned i = 0; i < c->n_readers; i++) {
		int made = crawl_reader_init(&c->readers[i], c->opts, words, err);

		rc = made < 0 ? made : rc;
	}
	for (unsigned i = 0; i < PLACES; i++)
		crawl_answer_init(&c->answers[i]);
	if (rc == 0)
		c->line = line_new(c->n_readers - 1, PLACES, read_place, c);
	return rc;
}

/* A number may pass that of the pages: redirects want requests, too. */
uint32_t crawl_budget(struct share s, uint32_t n_pages)
{
	uint64_t n = share_of(s, s.percent ? n_pages : UINT32_MAX);

	return (uint32_t)n;
}

/* A run that looks for life may have no budget; given again, it comes on top. */
static void set_budget(struct crawl *c, bool open)
{
	const struct share *b = &c->opts->budget;
	uint32_t n = c->resumed->loaded.n_here;
	double most = b->percent ? b->value / 100 * n : b->value;
	double all = (LIVENESS_REDIRECTS_MAX + 3.0) * c->resumed->loaded.pages.n + 1000;
	struct store_cycle *row = &c->report->cycle;

	if (c->opts->goal != GOAL_ALIVE) {
		if (!c->report->resumed && !c->report->discovery.on)
			row->budget = crawl_budget(*b, n);
	} else if (b->value <= 0) {
		row->budget = all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
	} else if (!c->report->resumed || !open) {
		most += c->spent;
		row->budget = most < 1 ? 1 : most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
	}
	c->budget = row->budget;
}

static int take_fetch(struct crawl *c, const struct fetch_options *o, struct err *err)
{
	if (!c->opts->keep || !*c->opts->keep)
		return fetch_new(&c->fetch, o, err);
	c->fetch = *c->opts->keep;
	*c->opts->keep = NULL;
	fetch_again(c->fetch, o);
	return 0;
}

static int prepare_cycle(struct crawl *c, struct resumed *r, struct last *last,
                         struct err *err)
{
	const struct crawl_opts *o = c->opts;
	struct crawl_report *rep = c->report;
	struct resume_opts ro = { .cycle_seconds = o->cycle_seconds, .goal = o->goal };
	struct fetch_options fo = o->fetch;
	int rc;

	if ((rc = crawl_repair(c->store, o->warc_folder, err)) < 0 ||
	    (rc = begin_row(c, last, err)) < 0)
		return rc;
	fo.spend = may_spend;
	fo.arg = c;
	fo.seed = rep->cycle.seed;
	fo.decode = o->goal == GOAL_ALIVE;      /* else the readers do it */
	if (o->goal == GOAL_ALIVE)
		live_fetch_options(&fo);
	if ((rc = take_fetch(c, &fo, err)) < 0 || (rc = crawl_rests_load(c, err)) < 0 ||
	    (rc = crawl_discover(c, err)) < 0)
		return rc;
	ro.policy = rep->policy;
	ro.seed = rep->cycle.seed;
	/* a run that looks for life knows nothing of those before it */
	ro.before_cycle = o->goal == GOAL_ALIVE ? 1 : rep->cycle.number;
	rc = resume(r, c->store, &ro, err);
	if (rc < 0)
		return rc;
	c->resumed = r;
	c->spent = rep->resumed ? rep->cycle.downloads : 0;
	set_budget(c, last->any && last->cycle.open);
	if (o->goal == GOAL_ALIVE)
		return 0;
	if ((rc = load_words(c, err)) < 0 || (rc = open_archive(c, err)) < 0)
		return rc;
	return start_reading(c, err);
}

static void release(struct crawl *c)
{
	live_free(c->live);
	stop_reading(c);
	if (c->opts->keep && c->fetch && !fetch_pending(c->fetch))
		*c->opts->keep = c->fetch;
	else
		fetch_free(c->fetch);
	discover_free(c->discover);
	for (unsigned i = 0; i < c->n_readers; i++)
		crawl_reader_release(&c->readers[i]);
	for (unsigned i = 0; c->answers && i < PLACES; i++)
		crawl_answer_release(&c->answers[i]);
	free(c->readers);
	free(c->answers);
	import_words_release(&c->words);
}

int crawl_cycle(struct store *s, const struct crawl_opts *opts, struct crawl_report *ret,
                struct err *err)
{
	struct crawl c = { .store = s, .opts = opts, .report = ret };
	struct resumed r = { 0 };
	struct last last = { 0 };
	double began = crawl_seconds();
	struct err closing;
	int rc, rc2 = 0;

	*ret = (struct crawl_report){ 0 };
	rc = prepare_cycle(&c, &r, &last, err);
	if (rc == 0)
		rc = end_row(&c, began, run_engine(&c, err), err);
	if (c.live)
		live_estimate(&c);
	if (c.fetch)
		fetch_stats(c.fetch, &ret->fetch);
	if (c.warc)
		rc2 = warc_writer_close(c.warc, rc < 0 ? &closing : err);
	release(&c);
	resume_release(&r);
	return rc < 0 ? rc : rc2;
}
