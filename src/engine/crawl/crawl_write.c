/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_write.c - one outcome into archive and store, and the batches of them.
 */
#include "engine/crawl/crawl_inner.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "engine/book/visit.h"
#include "engine/crawl/life_inner.h"

#define LOOK_EVERY 5            /* seconds: which pages have others put out of care? */

static void count(struct crawl *c, const struct fetch_result *r, const struct verdict *kept)
{
	struct store_cycle *row = &c->report->cycle;
	enum outcome o = kept->outcome;

	row->fresh += kept->first && o == OUTCOME_CHANGED;
	row->changed += !kept->first && o == OUTCOME_CHANGED;
	row->same += o == OUTCOME_SAME;
	row->gone += o == OUTCOME_GONE;
	row->failed += o == OUTCOME_FAILED;
	row->blocked += o == OUTCOME_BLOCKED;
	if (o >= OUTCOME_FAILED)
		c->report->reasons[r->error]++;
}

static struct text append(char **end, struct text t)
{
	char *s = *end;

	if (!t.s)
		return t;
	memcpy(s, t.s, t.size);
	s[t.size] = '\0';
	*end += t.size + 1;
	return (struct text){ s, t.size };
}

struct crawl_copy *crawl_copy_new(const struct store_capture *row)
{
	struct crawl_copy *c = mem_alloc(sizeof *c + row->digest.size + row->prose.size +
	                                 row->tags.size + row->etag.size +
	                                 row->modified.size + row->target.size +
	                                 row->robots.size + 7);
	char *end = c->texts;

	c->id = row->id;
	c->time = row->time;
	c->has_simhash = row->has_simhash;
	c->simhash = row->simhash;
	c->digest = append(&end, row->digest);
	c->prose = append(&end, row->prose);
	c->tags = append(&end, row->tags);
	c->etag = append(&end, row->etag);
	c->modified = append(&end, row->modified);
	c->target = append(&end, row->target);
	c->robots = append(&end, row->robots);
	return c;
}

/* The words of a page get their numbers here, where the order is that of the visits:
 * so it does not matter how many threads counted, nor who was first. */
static struct text number_words(struct crawl *c, const struct crawl_answer *a)
{
	struct text terms = { 0 };

	if (c->batch.count_words && a->record.facts.words >= 0)
		terms.s = lexicon_terms(&c->batch.words.words, &a->words, &terms.size);
	return terms;
}

static bool equal(struct text a, struct text b)
{
	return a.size == b.size && (!a.size || !memcmp(a.s, b.s, a.size));
}

/* Our copy is still good: the server is asked next time with the validators it gave
 * just now, and what it asks of robots holds.  A 304 replaces the headers it names
 * (RFC 9111 section 4.3.4), a whole answer all. */
static int refresh_copy(struct crawl *c, const struct crawl_answer *a, struct err *err)
{
	struct text etag = a->record.etag, modified = a->record.modified;
	const struct crawl_copy *copy = a->copy;
	struct text robots = a->robots_told ? a->record.robots : copy->robots;

	if (a->result.status == 304 && !etag.s)
		etag = copy->etag;
	if (a->result.status == 304 && !modified.s)
		modified = copy->modified;
	if (equal(etag, copy->etag) && equal(modified, copy->modified) &&
	    equal(robots, copy->robots))
		return 0;
	return store_captures_refresh(c->store, &(struct store_headers){ copy->id, etag, modified,
	                                                                  robots }, 1, err);
}

int crawl_write(struct crawl *c, uint32_t lease, const struct crawl_answer *a,
                struct delivery *ret, struct err *err)
{
	const struct offer *o = &engine_lease(&c->resumed->engine, lease)->offer;
	struct new_visit v = {
		.page = o->page, .cycle = c->report->cycle.number, .status = a->result.status,
		.time = a->time, .outcome = a->outcome, .cause = crawl_cause(a->result.error),
		.score = o->score, .probability = o->probability, .reason = o->reason,
		.place = lease, .extra = crawl_extra(&a->result),
	};
	struct verdict kept = { .outcome = OUTCOME_FAILED };
	struct store_capture row;
	char path[512];
	int rc = a->rc;

	if (rc < 0)
		*err = a->err;
	if (rc == 0 && a->is_packed) {
		char before[sizeof c->batch.last.filename];

		memcpy(before, c->batch.last.filename, sizeof before);
		rc = warc_write_packed(c->batch.warc, &a->packed, &c->batch.last, err);
		/* the store knows of a file from its first record on, and of all of the one
		 * before: so a crash leaves none that it does not know */
		c->batch.commit_now = strcmp(before, c->batch.last.filename) != 0;
		record_to_capture(&a->record, &row);
		row.file = (struct text){ c->batch.last.filename, strlen(c->batch.last.filename) };
		if (c->opts->fleet) {
			snprintf(path, sizeof path, "%s/%s", c->opts->fleet->below,
			         c->batch.last.filename);
			row.file = (struct text){ path, strlen(path) };
			row.worker = (struct text){ c->opts->fleet->worker,
			                            strlen(c->opts->fleet->worker) };
		}
		row.offset = (int64_t)c->batch.last.offset;
		row.size = (int64_t)c->batch.last.length;
		if (a->result.n_hops || a->own_url)
			row.target = (struct text){ a->result.url, strlen(a->result.url) };
		if (a->record.revisit)
			row.digest = a->copy->digest;
		if (v.outcome <= OUTCOME_GONE) {
			row.terms = number_words(c, a);
			v.capture = &row;
		}
	}
	if (rc == 0 && v.outcome == OUTCOME_SAME &&
	    (a->record.revisit || a->result.status == 304))
		rc = refresh_copy(c, a, err);
	if (rc == 0)
		rc = crawl_validators_check(c, o->page, a, err);
	if (rc == 0)
		rc = visit_write(c->store, &v, c->opts->confirmations, &kept, err);
	if (rc == 0)
		rc = crawl_moved_told(c, o->page, a, kept.outcome, err);
	if (rc == 0)
		count(c, &a->result, &kept);
	if (rc == 0 && o->reason == REASON_NEW && a->result.n_hops &&
	    kept.outcome == OUTCOME_CHANGED)
		rc = crawl_discover_alias(c, o->page, &a->result, err);
	ret->outcome = kept.outcome;
	ret->hit = kept.outcome == OUTCOME_CHANGED || kept.outcome == OUTCOME_GONE;
	ret->failure = retry_judge(kept.outcome, v.cause, v.status);
	ret->extra = v.extra;
	ret->first = kept.first;
	return rc;
}

void crawl_begin(struct crawl *c)
{
	store_gather(c->store);
	c->batch.began = crawl_seconds();
}

static void renumber(void *words, struct store_capture *c)
{
	c->terms = import_words_renumber(words, c->terms);
}

/* Write what was gathered.  Another program may have added words meanwhile: then ours that
 * are new have other numbers. */
static int write_gathered(struct crawl *c, struct err *err)
{
	struct import_words *w = &c->batch.words;
	int rc = store_begin(c->store, err);

	if (rc == 0 && c->batch.count_words)
		rc = import_words_follow(w, c->store, err);
	if (rc == 0 && w->moved.n)
		store_waiting(c->store, renumber, w);
	return rc < 0 ? rc : store_write(c->store, err);
}

static int commit(struct crawl *c, bool wait, struct err *err)
{
	int rc;

	fetch_release(c->fetch);        /* they need not wait for the commit */
	rc = crawl_robots_check(c, err);
	if (rc == 0)
		rc = crawl_sent_check(c, err);
	if (rc == 0)
		rc = c->batch.warc ? warc_writer_sync(c->batch.warc, err) : 0;
	if (rc == 0)
		rc = write_gathered(c, err);
	if (rc == 0 && c->life)
		rc = life_commit(c, err);
	c->report->cycle.downloads = c->life ? c->life->spent - (uint32_t)c->life->n_open :
		c->resumed->engine.cycle.n_spent;
	if (rc == 0)
		rc = crawl_state_save(c, err);
	if (rc == 0)
		rc = import_words_write(&c->batch.words, c->store, err);
	if (rc == 0)
		rc = crawl_rounds_save(c, err);
	if (rc == 0)
		rc = crawl_rests_save(c, err);
	if (rc == 0)
		rc = moved_save(&c->moved, c->store, err);
	if (rc == 0 && !c->life)
		rc = crawl_counts_save(c, err);
	if (rc < 0 || (rc = store_cycle_put(c->store, &c->report->cycle, err)) < 0 ||
	    (rc = wait ? store_commit(c->store, err) : store_commit_start(c->store, err)) < 0 ||
	    (rc = store_commit_done(c->store, wait, err)) < 0)
		return rc;
	if (rc > 0)
		c->sent.read.n = 0;     /* the tables know more */
	rc = 0;
	if (c->opts->fleet && (rc = c->opts->fleet->committed(c->opts->fleet->arg,
	                                                      &c->report->cycle, err)) < 0)
		return rc;
	c->batch.n = 0;
	c->batch.commit_now = false;
	if (crawl_seconds() - c->batch.looked > LOOK_EVERY) {
		c->batch.looked = crawl_seconds();
		rc = recall_out(&c->resumed->engine, c->store, c->report->cycle.number - 1, err);
	}
	crawl_begin(c);
	return rc;
}

int crawl_commit(struct crawl *c, struct err *err)
{
	return commit(c, true, err);
}

/* A new file must be known before it grows; and other workers go by what is committed. */
int crawl_commit_soon(struct crawl *c, struct err *err)
{
	return commit(c, c->batch.commit_now || c->opts->fleet, err);
}
