/* SPDX-License-Identifier: Apache-2.0 */
/* demo_players.c - repositories of the demo: how each policy plays, and how fresh it is. */
#include "cli/cmd/lab/demo.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "engine/crawl/crawl.h"
#include "engine/import/import.h"

/* Side by side; what the last one keeps is what a user gets who chooses nothing. */
static const struct demo_contender shown[] = {
	{ "random", "random", AIM_CHANGES },
	{ "round-robin", "round-robin", AIM_CHANGES },
	{ "automaton", "automaton", AIM_CHANGES },
	{ "site", "site", AIM_CHANGES },
	{ "neighbour:by=dir,d=0", "neighbour:by=dir,d=0", AIM_CHANGES },
	{ "tide (aim changes)", "tide", AIM_CHANGES },
	{ "tide (aim freshness)", "tide", AIM_FRESHNESS },
};
/* beside a fleet: one machine */
static const struct demo_contender beside[] = {
	{ "random", "random", AIM_CHANGES },
	{ "tide (aim freshness)", "tide", AIM_FRESHNESS },
};
#define N_SHOWN (sizeof shown / sizeof *shown)
#define N_BESIDE (sizeof beside / sizeof *beside)

/* keep: its folder, or NULL: below root. */
static int open_player(struct demo *d, const struct demo_contender *as, const char *keep,
                       int64_t cycles, struct err *err)
{
	size_t k = d->n_players++;
	struct demo_player *p = &d->players[k];
	struct import i = { .now = d->world.now };
	char path[4200];
	int rc;

	p->as = *as;
	p->turns = mem_zalloc((size_t)cycles, sizeof *p->turns);
	if (keep)
		snprintf(p->folder, sizeof p->folder, "%s", keep);
	else
		snprintf(p->folder, sizeof p->folder, "%s/%zu", d->root, k);
	snprintf(p->warc, sizeof p->warc, "%s/warc", p->folder);
	if (mkdir(p->folder, 0700) || mkdir(p->warc, 0700))
		return err_errno(err, E_IO, "%s", p->folder);
	d->keep_made |= keep != NULL;
	snprintf(path, sizeof path, "%s/freshet.db", p->folder);
	rc = store_open(&p->store, path, STORE_CREATE, err);
	i.store = p->store;
	for (uint32_t n = 0; n < d->n_pages && rc == 0; n++)
		rc = import_url(&i, d->urls[n], err);
	return rc;
}

/* What the cycles of all players have in common. */
static void set_crawl(void *arg, struct crawl_opts *c)
{
	struct demo *d = arg;
	struct fetch_options fetch = FETCH_DEFAULTS;

	fetch.user_agent = "freshet/" FRESHET_VERSION " (+mailto:demo@example.org)";
	fetch.gate = &d->gate;
	fetch.polite.delay = 0;
	fetch.polite.address_delay = 0;
	c->fetch = fetch;
	c->now = d->world.now;
	c->confirmations = 1;
	c->stop = d->stop;
	c->seed = d->seed;
}

static int open_fleet(struct demo *d, struct cli *cli, const struct demo_opts *o,
                      struct err *err)
{
	struct demo_player *p = &d->players[d->n_players++];
	struct demo_fleet_opts f = { .store = cli->common.store, .workers = (uint32_t)o->workers,
		.folder = p->warc, .urls = d->urls, .n_urls = d->n_pages, .world = &d->world,
		.set = set_crawl, .arg = d };

	p->as = (struct demo_contender){ p->name, "tide", AIM_FRESHNESS };
	snprintf(p->name, sizeof p->name, "tide, %u worker%s", f.workers, f.workers == 1 ? "" : "s");
	p->turns = mem_zalloc((size_t)o->cycles, sizeof *p->turns);
	snprintf(p->warc, sizeof p->warc, "%s/warc", d->root);
	if (mkdir(p->warc, 0700))
		return err_errno(err, E_IO, "%s", p->warc);
	return demo_fleet_open(&d->fleet, &f, err);
}

static int play_fleet(struct demo *d, const struct demo_opts *o, bool first,
                      struct store_cycle *ret, struct err *err)
{
	struct fleet_cycle c = { 0 };
	int rc = demo_fleet_cycle(d->fleet, first ? "random" : "tide",
	                          first ? (struct share){ 100, true } : o->budget, o->every,
	                          d->stop, &c, err);

	*ret = (struct store_cycle){ .downloads = (uint32_t)c.downloads,
		.changed = (uint32_t)c.changed, .gone = (uint32_t)c.gone,
		.failed = (uint32_t)c.failed };
	return rc;
}

static int play_alone(struct demo *d, const struct demo_player *p, const struct demo_opts *o,
                      bool first, struct store_cycle *ret, struct err *err)
{
	struct crawl_opts c = { .warc_folder = p->warc, .policy = first ? "random" : p->as.policy,
		.aim = p->as.aim,
		.budget = first ? (struct share){ 100, true } : o->budget, .cycle_seconds = o->every };
	struct crawl_report r;
	int rc;

	set_crawl(d, &c);
	rc = crawl_cycle(p->store, &c, &r, err);
	if (rc == 0)
		*ret = r.cycle;
	return rc;
}

int demo_play(struct demo *d, struct demo_player *p, const struct demo_opts *o, struct demo_turn *turn,
              struct err *err)
{
	struct store_cycle c;
	int rc = p->store ? play_alone(d, p, o, !turn, &c, err) : play_fleet(d, o, !turn, &c, err);

	if (rc < 0 || !turn)
		return rc;
	turn->downloads = c.downloads;
	turn->changed = c.changed + c.gone;
	turn->failed = c.failed;
	p->failed += turn->failed;
	p->downloads += turn->downloads;
	p->changed += turn->changed;
	return 0;
}

struct measuring { struct demo *d; uint32_t fresh, n; };

/* Is our copy equal to the page as it is now?  Failing pages are not counted. */
static int measure_page(void *arg, const struct store_page *p, struct err *err)
{
	struct measuring *m = arg;
	const struct living *l = &m->d->world.living;
	const char *path = strchr(p->url.s + 7, '/');
	unsigned site = (unsigned)atoi(p->url.s + 7 + 8) - 1;
	uint32_t page = living_find(l, site, path ? path : "/");
	struct living_state then, now;

	(void)err;
	if (page == LIVING_NONE || p->state != STORE_PAGE_HERE)
		return 0;
	then = living_at(l, page, p->last_visit);
	now = living_at(l, page, m->d->world.now);
	if (now.failure)
		return 0;
	m->n++;
	m->fresh += then.version == now.version && then.dead == now.dead;
	return 0;
}

int demo_measure(struct demo *d, const struct demo_player *p, struct demo_turn *turn, struct err *err)
{
	struct measuring m = { .d = d };
	int rc = p->store ? store_pages(p->store, 0, measure_page, &m, err) :
	         demo_fleet_pages(d->fleet, measure_page, &m, err);

	turn->freshness = m.n ? (double)m.fresh / m.n : 1;
	return rc;
}

int demo_players_open(struct demo *d, struct cli *cli, const struct demo_opts *o,
                      struct err *err)
{
	const struct demo_contender *players = o->workers ? beside : shown;
	size_t n = o->workers ? N_BESIDE : N_SHOWN;
	int rc = 0;

	d->players = mem_zalloc(n + 1, sizeof *d->players);
	for (size_t k = 0; k < n && rc == 0; k++)
		rc = open_player(d, &players[k], k == n - 1 ? o->keep : NULL, o->cycles, err);
	if (rc == 0 && o->workers)
		rc = open_fleet(d, cli, o, err);
	return rc;
}
