/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_fleet.c - see import_fleet.h.
 *
 * The first pass over the files puts the URLs of lists into the mail for their shards, and
 * finds out of which shards archives have captures.  The second, for each of these shards, is
 * an import like any other, under the lease of the shard, that takes only its pages.
 */
#include "cli/cmd/care/import_fleet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/frame/repository.h"
#include "engine/fleet/work.h"

struct dealing {
	struct cli *cli;
	struct shards_mail mail;
	bool *has_records;              /* by shard */
	void (*report)(void *arg, const char *text);
	bool (*progress)(void *arg, uint64_t n);
	void *arg;
	int32_t only;                   /* the second pass: this shard */
	int rc;                         /* of the mail */
	struct err err;
};

static void report(void *arg, const char *text)
{
	struct dealing *d = arg;

	if (d->report)
		d->report(d->arg, text);
}

static bool progress(void *arg, uint64_t n)
{
	struct dealing *d = arg;

	return d->progress && d->progress(d->arg, n);
}

static bool deal(void *arg, struct text url, bool listed, float weight)
{
	struct dealing *d = arg;
	const struct shards *s = d->cli->shards;
	int32_t shard = fleet_shard_of(s->list, s->n, shard_hash(url.s, url.size));
	struct buf line;

	for (size_t i = 0; !listed && i < s->n; i++)
		d->has_records[i] |= s->list[i].shard == shard;
	if (!listed || d->rc < 0)
		return false;
	buf_init(&line, BUF_NO_LIMIT);
	buf_add(&line, url.s, url.size);
	if (!isnan(weight))
		buf_printf(&line, " %.9g", (double)weight);
	d->rc = shards_mail_line(&d->mail, d->cli, shard,
	                         (struct text){ line.data, line.size }, &d->err);
	buf_release(&line);
	return false;
}

static bool take_own(void *arg, struct text url, bool listed, float weight)
{
	struct dealing *d = arg;
	const struct shards *s = d->cli->shards;

	(void)weight;
	return !listed && fleet_shard_of(s->list, s->n, shard_hash(url.s, url.size)) == d->only;
}

static void add_up(struct import *i, const struct import_stats *s)
{
	i->stats.n_pages += s->n_pages;
	i->stats.n_known += s->n_known;
	i->stats.n_captures += s->n_captures;
	i->stats.n_doubles += s->n_doubles;
	i->stats.n_future += s->n_future;
	i->stats.n_outside += s->n_outside;
	i->stats.n_removed += s->n_removed;
	i->stats.n_back += s->n_back;
}

static int second_pass(struct dealing *d, struct import *i, import_all *all, int n, char **args,
                       struct err *err)
{
	struct import own = *i;
	int rc;

	d->cli->shard = d->only;
	own.stats = own.kept = (struct import_stats){ 0 };
	own.report = NULL;              /* said in the first pass */
	own.takes = take_own;
	own.arg = d;
	rc = repository_open(d->cli, &own.store, err);
	if (rc == 0)
		rc = all(&own, n, args, err);
	if (rc >= 0) {
		add_up(i, &own.stats);
		rc = 0;
	}
	store_close(own.store);
	map_release(&own.met);
	shards_release(d->cli);
	return rc < 0 ? err_prefix(err, "shard %d", d->only) : 0;
}

int import_fleet(struct cli *cli, struct import *i, import_all *all, int n, char **args,
                 uint32_t *ret_left, struct err *err)
{
	struct dealing d = { .cli = cli, .report = i->report, .progress = i->progress,
	                     .arg = i->arg };
	struct inbox_stats settled = { 0 };
	struct import first = *i;
	struct buf tags;
	int rc;

	buf_init(&tags, BUF_NO_LIMIT);
	buf_str(&tags, "#tags");
	for (size_t k = 0; k < i->n_tags; k++)
		buf_printf(&tags, " %s", i->tags[k]);
	shards_mail_begin(&d.mail, cli, i->restore ? "add" : "list",
	                  i->n_tags ? buf_text(&tags) : NULL);
	d.has_records = mem_zalloc(cli->shards->n, sizeof *d.has_records);
	first.takes = deal;
	first.report = report;
	first.progress = progress;
	first.arg = &d;
	first.dry = true;               /* nothing is written to its store */
	rc = all(&first, n, args, err);
	i->stats.n_bad += first.stats.n_bad;
	i->stats.n_other += first.stats.n_other;
	if (rc >= 0 && d.rc < 0) {
		*err = d.err;
		rc = d.rc;
	}
	*ret_left = 0;
	if (rc >= 0)
		rc = shards_mail_end(&d.mail, cli, &settled, ret_left, err);
	add_up(i, &(struct import_stats){ .n_pages = settled.pages, .n_known = settled.known,
	                                  .n_outside = settled.outside,
	                                  .n_removed = settled.removed, .n_back = settled.back });
	for (size_t k = 0; k < cli->shards->n && rc == 0; k++) {
		d.only = cli->shards->list[k].shard;
		if (d.has_records[k])
			rc = second_pass(&d, i, all, n, args, err);
	}
	i->kept = i->stats;
	shards_mail_release(&d.mail, cli);
	free(d.has_records);
	map_release(&first.met);
	buf_release(&tags);
	return rc;
}
