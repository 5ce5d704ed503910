/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.c - histories from archives and repositories; see trace.h.
 *
 * A repository's captures are its history, and so are visits without a capture.  A visit
 * that found no change is a revisit.  One that found the page gone is a gone state.  One
 * with an error as answer is a failure.  A change that another crawler told without a
 * digest is a content of its own.
 */
#include "engine/view/trace.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/io/input.h"
#include "base/status.h"
#include "engine/archive/archive.h"
#include "policy/policy.h"
#include "repo/store.h"

#define PROGRESS_RECORDS 1024   /* records between two calls of progress() */
#define REPORTS_MAX 20          /* unreadable records reported; the rest is counted */

struct loader {
	struct history *h;
	struct trace_report *report;
	struct archive_stats *stats;
	struct store *store;
	const struct archive_reader *reader;
	uint64_t n_reports, done, total;        /* bytes of the files read, and of all */
	uint32_t page;                  /* whose URL is below */
	struct buf url;
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

static int turn_to(struct loader *l, uint32_t page, struct err *err)
{
	struct store_page p;
	int rc;

	if (page == l->page)
		return 0;
	rc = store_page_get(l->store, page, &p, err);
	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "no page %u", page);
	buf_clear(&l->url);
	buf_add(&l->url, p.url.s, p.url.size);
	l->page = page;
	return 0;
}

static int add_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct loader *l = arg;
	struct record r;
	int rc = turn_to(l, c->page, err);

	if (rc < 0)
		return rc;
	record_from_capture(c, &r);
	r.url = (struct text){ l->url.data, l->url.size };
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

	if (v->capture || (v->outcome > OUTCOME_GONE && !is_failure(v)))
		return 0;
	if (v->goal == GOAL_ALIVE && v->outcome != OUTCOME_GONE)
		return 0;               /* a test of life: changes were not looked for */
	rc = turn_to(l, v->page, err);
	if (rc < 0)
		return rc;
	r.url = (struct text){ l->url.data, l->url.size };
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

static bool is_repository(const char *path, char *ret_store, size_t size)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
	       (size_t)snprintf(ret_store, size, "%s/freshet.db", path) < size &&
	       stat(ret_store, &st) == 0;
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

/* Load the weights of pages; the history must have its final page numbers. */
static int load_weights(struct history *h, const char *path, struct err *err)
{
	struct store *s;
	int rc = store_open(&s, path, STORE_READ, err);

	if (rc < 0)
		return rc;
	if (!h->weight) {
		h->weight = mem_array(h->n_pages, sizeof *h->weight);
		for (uint32_t i = 0; i < h->n_pages; i++)
			h->weight[i] = 1;
	}
	rc = store_pages(s, add_weight, h, err);
	store_close(s);
	return rc;
}

static int load_repository(struct loader *l, const char *path, struct err *err)
{
	int rc = store_open(&l->store, path, STORE_READ, err);

	if (rc < 0)
		return rc;
	l->page = STORE_NONE;
	buf_init(&l->url, BUF_NO_LIMIT);
	if ((rc = store_captures(l->store, STORE_NONE, add_capture, l, err)) == 0)
		rc = store_visits(l->store, STORE_NONE, 1, UINT32_MAX, add_visit, l, err);
	buf_release(&l->url);
	store_close(l->store);
	l->store = NULL;
	return rc;
}

int trace_load(struct history *h, const char *const *paths, size_t n,
               struct trace_report *report, struct err *err)
{
	struct loader l = { .h = h, .report = report };
	struct archive_reader reader = { .record = add_record, .report = report_bad, .arg = &l,
	                                 .detector = &h->detect };
	char store[4096];
	int rc = 0;

	l.reader = &reader;
	l.stats = &reader.stats;
	if (h->want & WANT_FACTS)
		reader.lexicon = &h->lexicon;
	for (size_t i = 0; i < n; i++)
		l.total += file_size(paths[i]);
	for (size_t i = 0; i < n && rc == 0; i++) {
		rc = is_repository(paths[i], store, sizeof store) ?
		     load_repository(&l, store, err) : archive_read(&reader, paths[i], err);
		l.done += file_size(paths[i]);
		if (rc == 0 && report->progress && report->progress(report->arg, l.done, l.total))
			rc = err_set(err, E_STOP, "the reading was stopped");
	}
	report->n_records = reader.stats.n_records;
	report->n_bad = reader.stats.n_bad;
	if (rc == 0)
		rc = history_finish(h, err);
	for (size_t i = 0; i < n && rc == 0; i++)
		if (is_repository(paths[i], store, sizeof store))
			rc = load_weights(h, store, err);
	return rc;
}
