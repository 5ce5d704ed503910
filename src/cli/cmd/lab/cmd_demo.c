/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_demo.c - `freshet demo`: a small living web on loopback, kept fresh by
 * several policies side by side.
 *
 * The web (demo/living.h) is a function of time, and time is a clock that the
 * demo moves, so months pass in seconds.  Every policy has its own repository in a
 * temporary folder and runs real cycles over HTTP.  The demo's web itself tells how fresh
 * each repository is.  With --workers a fleet is among the players (demo_fleet.h).
 */
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd/lab/demo_fleet.h"
#include "cli/frame/repository.h"
#include "cli/print/history_report.h"
#include "demo/origin.h"
#include "engine/import/import.h"
#include "engine/crawl/crawl.h"
#include "fetch/gate.h"

/* Side by side; what the last one keeps is what a user gets who chooses nothing. */
struct contender { const char *name, *policy; enum aim aim; };
static const struct contender shown[] = {
	{ "random", "random", AIM_CHANGES },
	{ "round-robin", "round-robin", AIM_CHANGES },
	{ "automaton", "automaton", AIM_CHANGES },
	{ "site", "site", AIM_CHANGES },
	{ "neighbour:by=dir,d=0", "neighbour:by=dir,d=0", AIM_CHANGES },
	{ "tide (aim changes)", "tide", AIM_CHANGES },
	{ "tide (aim freshness)", "tide", AIM_FRESHNESS },
};
/* beside a fleet: one machine */
static const struct contender beside[] = {
	{ "random", "random", AIM_CHANGES },
	{ "tide (aim freshness)", "tide", AIM_FRESHNESS },
};
#define N_SHOWN (sizeof shown / sizeof *shown)
#define N_BESIDE (sizeof beside / sizeof *beside)
#define FLEET_SITES 12          /* hosts of the web that a fleet keeps: a host is of one shard */
#define REPORT_FILE "freshet-demo.html"
#define WARM_UP 4               /* cycles before measuring: policies have no history yet */

struct demo_opts {
	int64_t cycles, workers;
	struct share budget;
	int64_t every;
	const char *report, *keep;
};

static const struct option_spec demo_options[] = {
	OPT_INT(demo_opts, cycles, 40, 5, 1000, "cycles that every policy runs"),
	OPT_INT(demo_opts, workers, 0, 0, 16, "a fleet of so many workers keeps the web, too, beside one "
	        "machine; it needs PostgreSQL: one that is installed here, or that --store names; 0: none"),
	OPT_SHARE(demo_opts, budget, "6%", "requests of a cycle"),
	OPT_DURATION(demo_opts, every, "2d", "virtual time between cycles"),
	OPT_OUTPUT(demo_opts, report, NULL, "FILE", "where the HTML report goes (default: "
	         "freshet-demo.html here; with --json none)"),
	OPT_OUTPUT(demo_opts, keep, NULL, "DIR", "a new folder that keeps the repository of tide under "
	         "aim freshness, to look at with `freshet serve` and other commands"),
	OPT_END
};

static volatile sig_atomic_t stop_asked;        /* set by the signal handler */

static void on_signal(int number)
{
	(void)number;
	stop_asked = 1;
}

struct player {
	struct contender as;
	char name[48];                  /* of a fleet */
	struct store *store;            /* NULL: it is the fleet */
	char folder[4096], warc[4200];
	uint64_t downloads, changed, failed;
	double freshness;               /* summed over the cycles measured */
	struct turn { uint32_t downloads, changed, failed; double freshness; } *turns;  /* by cycle */
};

struct demo {
	struct origin_world world;
	struct origin *origin;
	struct gate gate;
	struct player *players;
	size_t n_players;
	struct demo_fleet *fleet;       /* NULL: none */
	char **urls;                    /* by page */
	uint32_t n_pages, n_measured;
	uint64_t seed;
	char root[256];
	bool keep_made;                 /* the folder of --keep, by us: it may be removed again */
};

static void name_pages(struct demo *d)
{
	d->urls = mem_zalloc(d->n_pages, sizeof *d->urls);
	for (uint32_t n = 0; n < d->n_pages; n++) {
		char path[64], url[160];

		living_path(&d->world.living, n, path);
		snprintf(url, sizeof url, "http://127.0.1.%u:%u%s",
		         living_site(&d->world.living, n) + 1, origin_port(d->origin), path);
		d->urls[n] = mem_strdup(url);
	}
}

/* keep: its folder, or NULL: below root. */
static int open_player(struct demo *d, const struct contender *as, const char *keep,
                       int64_t cycles, struct err *err)
{
	size_t k = d->n_players++;
	struct player *p = &d->players[k];
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
	c->stop = &stop_asked;
	c->seed = d->seed;
}

static int open_fleet(struct demo *d, struct cli *cli, const struct demo_opts *o,
                      struct err *err)
{
	struct player *p = &d->players[d->n_players++];
	struct demo_fleet_opts f = { .store = cli->common.store, .workers = (uint32_t)o->workers,
		.folder = p->warc, .urls = d->urls, .n_urls = d->n_pages, .world = &d->world,
		.set = set_crawl, .arg = d };

	p->as = (struct contender){ p->name, "tide", AIM_FRESHNESS };
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
	                          &stop_asked, &c, err);

	*ret = (struct store_cycle){ .downloads = (uint32_t)c.downloads,
		.changed = (uint32_t)c.changed, .gone = (uint32_t)c.gone,
		.failed = (uint32_t)c.failed };
	return rc;
}

static int play_alone(struct demo *d, const struct player *p, const struct demo_opts *o,
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

/* turn: NULL for the first copies of everything. */
static int play(struct demo *d, struct player *p, const struct demo_opts *o, struct turn *turn,
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

static int measure(struct demo *d, const struct player *p, struct turn *turn, struct err *err)
{
	struct measuring m = { .d = d };
	int rc = p->store ? store_pages(p->store, 0, measure_page, &m, err) :
	         demo_fleet_pages(d->fleet, measure_page, &m, err);

	turn->freshness = m.n ? (double)m.fresh / m.n : 1;
	return rc;
}

static void print_standing(const struct demo *d, int64_t cycle, int64_t cycles, bool redraw)
{
	if (redraw)                     /* over the table before */
		printf("\033[%zuA\033[J", d->n_players + 2);
	printf("cycle %lld of %lld\n%-24s %10s %12s %10s %8s %8s\n", (long long)cycle,
	       (long long)cycles, "policy", "freshness", "ChangeRatio", "downloads", "changed",
	       "failed");
	for (size_t k = 0; k < d->n_players; k++) {
		const struct player *p = &d->players[k];

		printf("%-24s %10.3f %12.3f %10llu %8llu %8llu\n", p->as.name,
		       d->n_measured ? p->freshness / d->n_measured : 0,
		       p->downloads ? (double)p->changed / (double)p->downloads : 0,
		       (unsigned long long)p->downloads, (unsigned long long)p->changed,
		       (unsigned long long)p->failed);
	}
	fflush(stdout);
}

/* Returns the policy that kept the freshest copies. */
static size_t say_verdict(const struct demo *d, struct report *r)
{
	size_t best = 0, fresh = 0;

	for (size_t k = 1; k < d->n_players; k++) {
		if (d->players[k].changed > d->players[best].changed)
			best = k;
		if (d->players[k].freshness > d->players[fresh].freshness)
			fresh = k;
	}
	report_say(r, "With the same requests, %s kept the freshest copies: %.1f %% true after a "
	           "cycle, where random has %.1f %%.", d->players[fresh].as.name,
	           100 * d->players[fresh].freshness / d->n_measured,
	           100 * d->players[0].freshness / d->n_measured);
	report_say(r, "%s found the most changes: %.1f times as many as random.",
	           fresh == best ? "It also" : d->players[best].as.name,
	           (double)d->players[best].changed /
	           (double)(d->players[0].changed ? d->players[0].changed : 1));
	return fresh;
}

static void print_end(const struct report *r, const char *path, const char *keep)
{
	char *whole = realpath(path, NULL);

	printf("\n%s\n\nThe same with charts, for a browser: %s\n", buf_text(&r->verdict),
	       whole ? whole : path);
	if (keep)
		printf("\nThe repository of %s is kept; a dashboard, and what fails there:\n"
		       "  freshet -C %s serve\n"
		       "  freshet -C %s status --failing\n", shown[N_SHOWN - 1].name, keep, keep);
	printf("\nGo on with your own pages:\n"
	       "  freshet init crawl && freshet -C crawl import urls.txt\n"
	       "  freshet replay archive.cdxj.gz --policy all      # proof on recorded history\n"
	       "  freshet -C crawl set contact mailto:you@example.org && freshet -C crawl cycle\n");
	free(whole);
}

static void json_turns(struct json *j, const struct player *p, int64_t cycles)
{
	json_key(j, "cycles");
	json_array(j);
	for (int64_t c = 0; c < cycles; c++) {
		const struct turn *t = &p->turns[c];

		json_object(j);
		json_kint(j, "cycle", c + 1);
		json_kint(j, "downloads", t->downloads);
		json_kint(j, "failed", t->failed);
		json_kint(j, "changed", t->changed);
		json_knum(j, "change_ratio", t->downloads ? (double)t->changed / t->downloads : 0);
		json_knum(j, "freshness", t->freshness);
		json_end_object(j);
	}
	json_end_array(j);
}

static void print_json(struct json *j, const struct demo *d, const struct demo_opts *o)
{
	cli_json_schema(j, "demo");
	json_kint(j, "pages", d->n_pages);
	json_kint(j, "cycles", o->cycles);
	json_kint(j, "cycle_seconds", o->every);
	json_kint(j, "budget", (int64_t)share_of(o->budget, d->n_pages));
	json_key(j, "runs");
	json_array(j);
	for (size_t k = 0; k < d->n_players; k++) {
		const struct player *p = &d->players[k];

		json_object(j);
		json_kstr(j, "policy", p->as.name);
		if (!p->store) {
			json_kint(j, "workers", o->workers);
			json_kint(j, "shards", demo_fleet_shards(d->fleet));
		}
		json_kint(j, "downloads", (int64_t)p->downloads);
		json_kint(j, "failed", (int64_t)p->failed);
		json_kint(j, "changed", (int64_t)p->changed);
		json_knum(j, "change_ratio", (double)p->changed / (double)p->downloads);
		json_knum(j, "freshness", p->freshness / d->n_measured);
		json_turns(j, p, o->cycles);
		json_end_object(j);
	}
	json_end_array(j);
	cli_json_end(j);
}

/* The comparison, and the history of the repository that was kept freshest; of a fleet only
 * the comparison. */
static int write_report(struct demo *d, struct cli *cli, const struct demo_opts *o,
                        struct err *err)
{
	const char *path = o->report ? o->report : REPORT_FILE;
	struct report_head head = { "A small living web, kept fresh by several policies",
	                            cli->line, clock_now() };
	struct history_report_opts ho = { .cycle_seconds = o->every, .clusters = 8,
	                                  .seed = (uint64_t)cli->common.seed };
	struct report r;
	size_t fresh;
	int rc;

	report_init(&r);
	fresh = say_verdict(d, &r);
	print_json(report_json(&r), d, o);
	ho.policy = d->players[fresh].as.policy;
	rc = d->fleet ? 0 : history_report_add(&r, d->players[fresh].store, &ho, err);
	if (rc == 0)
		rc = report_write(&r, path, &head, err);
	if (rc == 0 && !cli->common.json)
		print_end(&r, path, o->keep);
	report_release(&r);
	return rc;
}

static int run_cycles(struct demo *d, struct cli *cli, const struct demo_opts *o,
                      struct err *err)
{
	bool draw = !cli->common.json && isatty(STDOUT_FILENO);
	int rc = 0;

	for (size_t k = 0; k < d->n_players && rc == 0; k++)
		rc = play(d, &d->players[k], o, NULL, err);
	for (int64_t c = 1; c <= o->cycles && rc == 0; c++) {
		d->world.now += o->every;
		d->n_measured += c > WARM_UP;
		for (size_t k = 0; k < d->n_players && rc == 0; k++) {
			struct player *p = &d->players[k];
			struct turn *turn = &p->turns[c - 1];

			rc = play(d, p, o, turn, err);
			if (rc == 0)
				rc = measure(d, p, turn, err);
			if (rc == 0 && c > WARM_UP)
				p->freshness += turn->freshness;
		}
		if (rc == 0 && (draw || (!cli->common.json && c == o->cycles)))
			print_standing(d, c, o->cycles, draw && c > 1);
	}
	return rc;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static void remove_folder(const char *path)
{
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS))
		log_warn("%s could not be removed", path);
}

/* The web that lives, and the folder of the demo. */
static int open_web(struct demo *d, const struct demo_opts *o, struct err *err)
{
	const char *tmp = getenv("TMPDIR");

	d->world.living.n_sites = o->workers ? FLEET_SITES : 5;
	d->world.living.n_dirs = o->workers ? 4 : 12;
	d->world.living.change_rate = 0.003;
	d->world.living.fail_rate = 0.002;
	d->world.living.trouble_rate = 0.002;
	d->world.living.trouble_days = 6;
	d->world.living.rebuild_rate = 1;
	d->world.living.seed = d->seed;
	/* It ends at the midnight before now, so that a dashboard finds recent copies. */
	d->world.living.start = clock_now() / 86400 * 86400 - o->cycles * o->every;
	d->world.now = d->world.living.start;
	d->n_pages = living_count(&d->world.living);
	snprintf(d->root, sizeof d->root, "%s/freshet-demo-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(d->root))
		return err_errno(err, E_IO, "%s", d->root);
	d->origin = origin_start(origin_world_answer, &d->world);
	if (!d->origin)
		return err_set(err, E_NET, "no server could be started on loopback");
	name_pages(d);
	return gate_allow(&d->gate, "127.0.0.0/8", err);
}

static int open_players(struct demo *d, struct cli *cli, const struct demo_opts *o,
                        struct err *err)
{
	const struct contender *players = o->workers ? beside : shown;
	size_t n = o->workers ? N_BESIDE : N_SHOWN;
	int rc = 0;

	for (size_t k = 0; k < n && rc == 0; k++)
		rc = open_player(d, &players[k], k == n - 1 ? o->keep : NULL, o->cycles, err);
	if (rc == 0 && o->workers)
		rc = open_fleet(d, cli, o, err);
	return rc;
}

static void print_begin(const struct demo *d, const struct demo_opts *o)
{
	printf("A small web lives on loopback: %u pages of %u hosts; pages change, directories are "
	       "rewritten,\npages die, and some fail. One host is rebuilt every day: its copies never stay true "
	       "for long.\n", d->n_pages, d->world.living.n_sites);
	if (o->workers)
		printf("One machine keeps its copy of it all fresh, and so does a fleet of %lld workers on "
		       "PostgreSQL,\nwhose %u shards share one budget: the same number of requests.\n\n",
		       (long long)o->workers, demo_fleet_shards(d->fleet));
	else
		printf("Each policy keeps its own copy of it all fresh with the same number of requests.\n\n");
	fflush(stdout);
}

static void close_all(struct demo *d)
{
	demo_fleet_close(d->fleet);
	for (size_t k = 0; k < d->n_players; k++) {
		store_close(d->players[k].store);
		free(d->players[k].turns);
	}
	free(d->players);
	if (d->origin)
		origin_stop(d->origin);
	for (uint32_t n = 0; d->urls && n < d->n_pages; n++)
		free(d->urls[n]);
	free(d->urls);
	gate_release(&d->gate);
	remove_folder(d->root);
}

static int demo_live(struct cli *cli, const struct demo_opts *o, struct err *err)
{
	struct demo d = { .world = { .living = LIVING_DEFAULTS },
	                  .seed = (uint64_t)cli->common.seed,
	                  .players = mem_zalloc(N_SHOWN, sizeof *d.players) };
	struct sigaction sa = { .sa_handler = on_signal };
	int rc;

	sigaction(SIGINT, &sa, NULL);           /* so that the temporary folder is removed */
	sigaction(SIGTERM, &sa, NULL);
	rc = open_web(&d, o, err);
	if (rc == 0)
		rc = open_players(&d, cli, o, err);
	if (rc == 0 && !cli->common.json)
		print_begin(&d, o);
	if (rc == 0)
		rc = run_cycles(&d, cli, o, err);
	if (rc == 0 && cli->common.json) {
		struct json j;

		json_to_file(&j, stdout);
		print_json(&j, &d, o);
	}
	if (rc == 0 && d.fleet && !cli->common.json)
		rc = demo_fleet_print(d.fleet, err);
	if (rc == 0 && (o->report || !cli->common.json))
		rc = write_report(&d, cli, o, err);
	close_all(&d);
	if (rc < 0 && d.keep_made)
		remove_folder(o->keep);
	return rc == E_STOP ? err_set(err, E_STOP, "stopped; nothing is left behind") : rc;
}

static int demo_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct demo_opts *o = opts;
	int rc = report_check(o->report || cli->common.json ? o->report : REPORT_FILE, err);

	(void)n_args;
	(void)args;
	return rc < 0 ? rc : demo_live(cli, o, err);
}

const struct command command_demo = {
	.name = "demo",
	.reach = MAY_ANYTHING,
	.arguments = "",
	.summary = "a small living web on loopback, refreshed by several policies side by side",
	.description =
		"With --workers a fleet keeps that web fresh, beside one machine: workers as `freshet work`\n"
		"has them, two shards for each, one budget. PostgreSQL is started for it in a temporary\n"
		"folder, if it is installed; or --store names a database, whose tables then stay. Without\n"
		"either, a message says what is missing.",
	.examples =
		"  freshet demo\n"
		"  freshet demo --keep living    # and then: freshet -C living serve\n"
		"  freshet demo --workers 3      # the same as a fleet\n",
	.options = demo_options,
	.opts_size = sizeof(struct demo_opts),
	.n_args_min = 0,
	.n_args_max = 0,
	.exits = "4 no server could be started on loopback\n",
	.run = demo_run,
};
