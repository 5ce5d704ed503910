/* SPDX-License-Identifier: Apache-2.0 */
/* prune_fleet.c - see prune_fleet.h. */
#include "cli/cmd/care/prune_fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/frame/repository.h"
#include "cli/frame/shards.h"
#include "engine/book/lock.h"

struct going {
	struct cli *cli;
	struct prune *p;
	struct prune_fleet *f;
	struct prune_places here;
	struct strtab own;              /* of the shard's files: workers whose folders are here */
	struct strtab away, whose;      /* files that are not, and their workers */
	bool *held;                     /* by place in the list of shards */
	bool last;                      /* shard of the last round */
};

static int see_file(void *arg, struct text worker, struct text name, struct err *err)
{
	struct going *g = arg;
	bool is_new;
	size_t at;

	(void)err;
	if (!worker.s)
		return 0;
	if (strtab_find(&g->here.workers, worker.s, worker.size) != MAP_NONE) {
		strtab_intern(&g->own, worker.s, worker.size, NULL);
		return 0;
	}
	strtab_intern(&g->away, name.s, name.size, NULL);
	strtab_intern(&g->whose, worker.s, worker.size, &is_new);
	at = strlen(g->f->elsewhere);
	if (is_new)
		snprintf(g->f->elsewhere + at, sizeof g->f->elsewhere - at, "%s%.*s", at ? ", " : "",
		         (int)worker.size, worker.s);
	return 0;
}

static int work_on_files(struct going *g, bool first, struct err *err)
{
	return first ? prune_unused(g->p, err) : g->f->merge ? prune_merge(g->p, err) :
	       sweep_run(g->p, err);
}

/* The files of a worker: its state is read and written in its name, as it does when it crawls. */
static int work_as(struct going *g, const char *worker, bool first, struct err *err)
{
	const struct fleet_lease *lease = &g->cli->shards->lease;
	struct buf where;
	int rc;

	buf_init(&where, BUF_NO_LIMIT);
	fleet_url(g->cli->shards->url, lease->shard, lease->fence, worker, &where);
	rc = store_open(&g->p->store, buf_text(&where), STORE_EXISTING, err);
	buf_release(&where);
	if (rc < 0)
		return rc;
	g->p->worker = worker;
	rc = work_on_files(g, first, err);
	g->p->worker = NULL;
	store_close(g->p->store);
	return rc;
}

/* A shard's turn: its rows and the files of no worker, then those of each. */
static int take_turn(struct going *g, bool first, struct err *err)
{
	struct prune *p = g->p;
	int rc = lock_wait(p->store, err);

	if (rc == 0 && first && g->f->rows)
		rc = g->f->rows(g->f->arg, p, err);
	strtab_release(&g->own);
	if (rc == 0)
		rc = store_files(p->store, see_file, g, err);
	if (rc == 0)
		rc = work_on_files(g, first, err);
	if (rc == 0 && !first)
		rc = store_tidy(p->store, g->f->merge && g->last, err);
	store_unlock(p->store);
	store_close(p->store);
	for (uint32_t i = 0; i < g->own.n && rc == 0; i++)
		rc = work_as(g, strtab_get(&g->own, i), first, err);
	return rc;
}

static int look_only(struct going *g, struct err *err)
{
	int rc = repository_read(g->cli, &g->p->store, err);

	if (rc < 0)
		return rc;
	rc = g->f->rows(g->f->arg, g->p, err);
	store_close(g->p->store);
	return rc;
}

static int go_round(struct going *g, bool first, struct err *err)
{
	struct shards *s = g->cli->shards;
	int rc = 0;

	for (size_t i = 0; i < s->n && rc == 0; i++) {
		struct err why = { 0 };

		g->p->shard = g->cli->shard = s->list[i].shard;
		if (g->held[i] || (g->cli->common.shard >= 0 && g->cli->common.shard != g->cli->shard))
			continue;
		g->last = i + 1 == s->n || g->cli->common.shard >= 0;
		rc = g->p->dry_run ? look_only(g, &why) : repository_open(g->cli, &g->p->store, &why);
		if (rc == 0 && !g->p->dry_run)
			rc = take_turn(g, first, &why);
		shards_release(g->cli);
		if (rc == E_BUSY) {
			log_warn("%s", why.text);
			g->held[i] = true;
			g->f->n_held++;
			rc = 0;
		} else if (rc < 0) {
			*err = why;
			err_prefix(err, "shard %d", g->cli->shard);
		}
	}
	return rc;
}

int prune_fleet(struct cli *cli, struct prune *p, struct prune_fleet *f, struct err *err)
{
	struct going g = { .cli = cli, .p = p, .f = f };
	struct prune_places now = { 0 };
	int rc = prune_places(&g.here, p->folder, err);

	f->p = p;
	p->fleet = true;
	g.held = mem_zalloc(cli->shards->n + 1, sizeof *g.held);
	rc = rc < 0 ? rc : go_round(&g, true, err);
	if (rc == 0 && !p->dry_run)
		rc = go_round(&g, false, err);
	if (rc == 0)
		rc = prune_places(&now, p->folder, err);
	f->n_elsewhere = g.away.n;
	p->files_before = g.here.files;
	p->bytes_before = g.here.bytes;
	p->files_after = now.files;
	p->bytes_after = now.bytes;
	prune_places_release(&g.here);
	prune_places_release(&now);
	strtab_release(&g.own);
	strtab_release(&g.away);
	strtab_release(&g.whose);
	free(g.held);
	return rc;
}

int prune_fleet_say(const struct prune_fleet *f, struct err *err)
{
	if (f->n_elsewhere)
		log_info("%llu archive files lie with the workers %s: they stay as they are until the "
		         "command runs there", (unsigned long long)f->n_elsewhere, f->elsewhere);
	return f->n_held ? err_set(err, E_BUSY, "%u shard%s held and left out: run the command again "
	                           "when their workers have done their part", f->n_held,
	                           f->n_held == 1 ? " was" : "s were") : 0;
}
