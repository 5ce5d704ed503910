/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.c - histories from archives and repositories; see trace.h.
 *
 * A repository's captures are its history, and so are visits without a capture.  A visit
 * that found no change is a revisit.  One that found the page gone is a gone state.  One
 * with an error as answer is a failure.  A change that another crawler told without a
 * digest is a content of its own.
 */
#include "engine/history/trace.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/io/input.h"
#include "base/status.h"
#include "engine/archive/archive.h"
#include "engine/archive/site_detect.h"
#include "policy/policy.h"
#include "repo/place.h"
#include "repo/store.h"

#define PROGRESS_RECORDS 1024   /* records between two calls of progress() */
#define REPORTS_MAX 20          /* unreadable records reported; the rest is counted */

/* out: the user keeps the page out, it is not replayed. */
struct url_at { size_t at; uint32_t size; bool out; };

struct loader {
	struct history *h;
	struct trace_report *report;
	struct archive_stats *stats;
	struct store *store;
	const struct archive_reader *reader;
	uint64_t n_reports, done, total;        /* bytes of the files read, and of all */
	struct buf urls;                /* of the repository's pages, */
	VEC(struct url_at) pages;       /* where they are, by page */
	bool pruned;                    /* captures may be missing: */
	struct map there;               /* ids of those that are there, to 0 */
};

static int add_record(void *arg, const struct record *r, struct err *err)
{
	struct loader *l = arg;

	if (l->stats->n_records % PROGRESS_RECORDS == 0 && l->report->progress &&
	    l->report->progress(l->report->arg, l->done + input_raw_position(l->reader->in),
	                        l->total))
		return err_set(err, E_STOP, "the reading was stopped");
	return history_add(l->h, r, err);
}

static void report_bad(void *arg, const char *text)
{
	struct loader *l = arg;

	if (l->report->report && l->n_reports++ <= REPORTS_MAX)
		l->report->report(l->report->arg, l->n_reports > REPORTS_MAX ?
		                  "more follow, which are only counted" : text);
}

static uint64_t file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}

static int add_url(void *arg, const struct store_page *p, struct err *err)
{
	struct loader *l = arg;

	(void)err;
	vec_push(&l->pages, ((struct url_at){ l->urls.size, (uint32_t)p->url.size, p->care != 0 }));
	buf_add(&l->urls, p->url.s, p->url.size);
	return 0;
}

/* The URL of a page: 1, or 0 if it is kept out. */
static int find_url(struct loader *l, uint32_t page, struct text *ret, struct err *err)
{
	if (page >= l->pages.n)
		return err_set(err, E_STORE, "no page %u", page);
	*ret = (struct text){ l->urls.data + l->pages.v[page].at, l->pages.v[page].size };
	return !l->pages.v[page].out;
}

static int add_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct loader *l = arg;
	struct record r;
	struct text url;
	int rc = find_url(l, c->page, &url, err);

	if (l->pruned)
		map_put(&l->there, c->id, 0);
	if (rc <= 0)
		return rc;
	record_from_capture(c, &r);
	r.url = url;
	l->stats->n_records++;
	return history_add(l->h, &r, err);
}

/* A "gone" answer that is not yet confirmed is no failure. */
static bool is_failure(const struct store_visit *v)
{
	return v->outcome == OUTCOME_FAILED && v->goal == GOAL_CHANGED && v->status >= 400 &&
	       !status_is_gone(v->status);
}

static int add_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct loader *l = arg;
	struct record r = { .time = v->time, .length = -1, .facts = { -1, -1, -1, -1, -1, -1 },
	                    .offset = -1, .record_size = -1 };
	char unlike[48];
	int rc;

	if (v->capture && (!l->pruned || map_get(&l->there, v->capture) != MAP_NONE))
		return 0;               /* the capture was added */
	if ((v->outcome > OUTCOME_GONE && !is_failure(v)) || (!v->cycle && !v->capture))
		return 0;
	if (v->goal == GOAL_ALIVE && v->outcome != OUTCOME_GONE)
		return 0;               /* a test of life: changes were not looked for */
	rc = find_url(l, v->page, &r.url, err);
	if (rc <= 0)
		return rc;
	r.revisit = v->outcome == OUTCOME_SAME;
	r.status = r.revisit ? 304 : v->outcome == OUTCOME_GONE ? 404 :
	           v->outcome == OUTCOME_FAILED ? v->status : 200;
	if (v->outcome == OUTCOME_CHANGED) {
		int n = snprintf(unlike, sizeof unlike, "told %u %lld", v->page, (long long)v->time);

		r.digest = (struct text){ unlike, (size_t)n };
	}
	l->stats->n_records++;
	return history_add(l->h, &r, err);
}

static int add_weight(void *arg, const struct store_page *p, struct err *err)
{
	struct history *h = arg;
	uint32_t page = strtab_find(&h->urls, p->url.s, p->url.size);

	(void)err;
	if (page != MAP_NONE)
		h->weight[page] = (float)p->weight;
	return 0;
}

static int open_folder(struct store **ret, const char *folder, struct err *err)
{
	char where[PLACE_SIZE];
	int rc = place_find(folder, where, err);

	return rc < 0 ? rc : store_open(ret, where, STORE_READ, err);
}

/* Load the weights of pages; the history must have its final page numbers. */
static int load_weights(struct history *h, const char *folder, struct err *err)
{
	struct store *s;
	int rc = open_folder(&s, folder, err);

	if (rc < 0)
		return rc;
	if (!h->weight) {
		h->weight = mem_array(h->n_pages, sizeof *h->weight);
		for (uint32_t i = 0; i < h->n_pages; i++)
			h->weight[i] = 1;
	}
	rc = store_pages(s, 0, add_weight, h, err);
	store_close(s);
	return rc;
}

static int load_repository(struct loader *l, const char *folder, struct err *err)
{
	char *pruned = NULL;
	int rc = open_folder(&l->store, folder, err);

	if (rc < 0)
		return rc;
	buf_init(&l->urls, BUF_NO_LIMIT);
	rc = store_state_get(l->store, STORE_OF_SHARD, "pruned", &pruned, err);
	l->pruned = rc > 0;             /* then imported visits may be all that is left */
	if (rc >= 0 && (rc = store_pages(l->store, 0, add_url, l, err)) == 0 &&
	    (rc = store_captures(l->store, NULL, 0, add_capture, l, err)) == 0)
		rc = store_visits(l->store, !l->pruned, UINT32_MAX, add_visit, l, err);
	buf_release(&l->urls);
	vec_release(&l->pages);
	map_release(&l->there);
	free(pruned);
	store_close(l->store);
	l->store = NULL;
	return rc;
}

int trace_load(struct history *h, const char *const *paths, size_t n,
               struct trace_report *report, struct err *err)
{
	struct loader l = { .h = h, .report = report };
	struct archive_reader reader = { .record = add_record, .report = report_bad, .arg = &l,
	                                 .detectors = &(struct detectors){ h->detect, NULL } };
	int rc = 0;

	l.reader = &reader;
	l.stats = &reader.stats;
	if (h->want & WANT_FACTS)
		reader.lexicon = &h->lexicon;
	for (size_t i = 0; i < n; i++)
		l.total += file_size(paths[i]);
	for (size_t i = 0; i < n && rc == 0; i++) {
		rc = place_is_repository(paths[i]) ? load_repository(&l, paths[i], err) :
			archive_read(&reader, paths[i], err);
		l.done += file_size(paths[i]);
		if (rc == 0 && report->progress && report->progress(report->arg, l.done, l.total))
			rc = err_set(err, E_STOP, "the reading was stopped");
	}
	report->n_records = reader.stats.n_records;
	report->n_bad = reader.stats.n_bad;
	if (rc == 0)
		rc = history_finish(h, err);
	for (size_t i = 0; i < n && rc == 0; i++)
		if (place_is_repository(paths[i]))
			rc = load_weights(h, paths[i], err);
	return rc;
}
