/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_demo.c - `freshet demo`: a small living web on loopback, kept fresh by
 * several policies side by side.
 *
 * The web (demo/living.h) is a function of time, and time is a clock that the
 * demo moves, so months pass in seconds.  Every policy has its own repository in a
 * temporary folder and runs real cycles over HTTP.  The demo's web itself tells how fresh
 * each repository is.
 */
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/frame/repository.h"
#include "cli/print/history_report.h"
#include "demo/origin.h"
#include "engine/import/import.h"
#include "engine/crawl/crawl.h"
#include "fetch/gate.h"

/* Side by side; what the last one keeps is what a user gets who chooses nothing. */
static const struct contender { const char *name, *policy; enum aim aim; } shown[] = {
	{ "random", "random", AIM_CHANGES },
	{ "round-robin", "round-robin", AIM_CHANGES },
	{ "automaton", "automaton", AIM_CHANGES },
	{ "site", "site", AIM_CHANGES },
	{ "neighbour:by=dir,d=0", "neighbour:by=dir,d=0", AIM_CHANGES },
	{ "tide (aim changes)", "tide", AIM_CHANGES },
	{ "tide (aim freshness)", "tide", AIM_FRESHNESS },
};
#define N_SHOWN (sizeof shown / sizeof *shown)
#define REPORT_FILE "freshet-demo.html"
#define WARM_UP 4               /* cycles before measuring: policies have no history yet */

struct demo_opts {
	int64_t cycles;
	struct share budget;
	int64_t every;
	const char *report, *keep;
};

static const struct option_spec demo_options[] = {
	OPT_INT(demo_opts, cycles, 40, 5, 1000, "cycles that every policy runs"),
	OPT_SHARE(demo_opts, budget, "6%", "requests of a cycle"),
	OPT_DURATION(demo_opts, every, "2d", "virtual time between cycles"),
	OPT_TEXT(demo_opts, report, NULL, "FILE", "where the HTML report goes (default: "
	         "freshet-demo.html here; with --json none)"),
	OPT_TEXT(demo_opts, keep, NULL, "DIR", "a new folder that keeps the repository of tide under "
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
	struct store *store;
	char folder[4096], warc[4200];
	uint64_t downloads, changed, failed;
	double freshness;               /* summed over the cycles measured */
	struct turn { uint32_t downloads, changed, failed; double freshness; } *turns;  /* by cycle */
};

struct demo {
	struct origin_world world;
	struct origin *origin;
	struct gate gate;
	struct player players[N_SHOWN];
	uint32_t n_pages, n_measured;
	char root[256];
	const char *keep;               /* folder of the last player, or NULL: below root */
	bool keep_made;                 /* by us, so it may be removed again */
};

static int add_pages(struct demo *d, struct player *p, struct err *err)
{
	struct import i = { .store = p->store, .now = d->world.now };

	for (uint32_t n = 0; n < living_count(&d->world.living); n++) {
		char path[64], url[160];
		int rc;

		living_path(&d->world.living, n, path);
		snprintf(url, sizeof url, "http://127.0.1.%u:%u%s",
		         living_site(&d->world.living, n) + 1, origin_port(d->origin), path);
		rc = import_url(&i, url, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int open_player(struct demo *d, size_t k, int64_t cycles, struct err *err)
{
	struct player *p = &d->players[k];
	char path[4200];
	int rc;

	p->turns = mem_zalloc((size_t)cycles, sizeof *p->turns);
	if (d->keep && k == N_SHOWN - 1)
		snprintf(p->folder, sizeof p->folder, "%s", d->keep);
	else
		snprintf(p->folder, sizeof p->folder, "%s/%zu", d->root, k);
	snprintf(p->warc, sizeof p->warc, "%s/warc", p->folder);
	if (mkdir(p->folder, 0700) || mkdir(p->warc, 0700))
		return err_errno(err, E_IO, "%s", p->folder);
	d->keep_made |= d->keep && k == N_SHOWN - 1;
	snprintf(path, sizeof path, "%s/freshet.db", p->folder);
	rc = store_open(&p->store, path, STORE_CREATE, err);
	return rc < 0 ? rc : add_pages(d, p, err);
}

/* turn: NULL for the first copies of everything. */
static int play(struct demo *d, size_t k, const struct demo_opts *o, struct turn *turn,
                uint64_t seed, struct err *err)
{
	struct player *p = &d->players[k];
	struct crawl_opts c = {
		.warc_folder = p->warc, .policy = turn ? shown[k].policy : "random", .seed = seed,
		.aim = shown[k].aim,
		.budget = turn ? o->budget : (struct share){ 100, true },
		.cycle_seconds = o->every, .now = d->world.now, .confirmations = 1,
		.stop = &stop_asked,
	};
	struct fetch_options fetch = FETCH_DEFAULTS;
	struct crawl_report r;
	int rc;

	fetch.user_agent = "freshet/" FRESHET_VERSION " (+mailto:demo@example.org)";
	fetch.gate = &d->gate;
	fetch.polite.delay = 0;
	fetch.polite.address_delay = 0;
	c.fetch = fetch;
	rc = crawl_cycle(p->store, &c, &r, err);
	if (rc < 0 || !turn)
		return rc;
	turn->downloads = r.cycle.downloads;
	turn->changed = r.cycle.changed + r.cycle.gone;
	turn->failed = r.cycle.failed;
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

static int measure(struct demo *d, size_t k, struct turn *turn, struct err *err)
{
	struct measuring m = { .d = d };
	int rc = store_pages(d->players[k].store, 0, measure_page, &m, err);

	turn->freshness = m.n ? (double)m.fresh / m.n : 1;
	return rc;
}

static void print_standing(const struct demo *d, int64_t cycle, int64_t cycles, bool redraw)
{
	if (redraw)                     /* over the table before */
		printf("\033[%zuA\033[J", N_SHOWN + 2);
	printf("cycle %lld of %lld\n%-24s %10s %8s %8s %12s %10s\n", (long long)cycle,
	       (long long)cycles, "policy", "downloads", "failed", "changed", "ChangeRatio",
	       "freshness");
	for (size_t k = 0; k < N_SHOWN; k++) {
		const struct player *p = &d->players[k];

		printf("%-24s %10llu %8llu %8llu %12.3f %10.3f\n", shown[k].name,
		       (unsigned long long)p->downloads, (unsigned long long)p->failed,
		       (unsigned long long)p->changed,
		       p->downloads ? (double)p->changed / (double)p->downloads : 0,
		       d->n_measured ? p->freshness / d->n_measured : 0);
	}
	fflush(stdout);
}

/* Returns the policy that kept the freshest copies. */
static size_t say_verdict(const struct demo *d, struct report *r)
{
	size_t best = 0, fresh = 0;

	for (size_t k = 1; k < N_SHOWN; k++) {
		if (d->players[k].changed > d->players[best].changed)
			best = k;
		if (d->players[k].freshness > d->players[fresh].freshness)
			fresh = k;
	}
	report_say(r, "With the same requests, %s found the most changes: %.1f times as many as "
	           "random.", shown[best].name, (double)d->players[best].changed /
	           (double)(d->players[0].changed ? d->players[0].changed : 1));
	report_say(r, "%s kept the freshest copies: %.1f %% true after a cycle, where random has "
	           "%.1f %%.", fresh == best ? "It also" : shown[fresh].name,
	           100 * d->players[fresh].freshness / d->n_measured,
	           100 * d->players[0].freshness / d->n_measured);
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
	for (size_t k = 0; k < N_SHOWN; k++) {
		const struct player *p = &d->players[k];

		json_object(j);
		json_kstr(j, "policy", shown[k].name);
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

/* The comparison, and the history of the repository that was kept freshest. */
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
	ho.policy = shown[fresh].policy;
	rc = history_report_add(&r, d->players[fresh].store, &ho, err);
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

	for (size_t k = 0; k < N_SHOWN && rc == 0; k++)
		rc = play(d, k, o, NULL, (uint64_t)cli->common.seed, err);
	for (int64_t c = 1; c <= o->cycles && rc == 0; c++) {
		d->world.now += o->every;
		d->n_measured += c > WARM_UP;
		for (size_t k = 0; k < N_SHOWN && rc == 0; k++) {
			struct turn *turn = &d->players[k].turns[c - 1];

			rc = play(d, k, o, turn, (uint64_t)cli->common.seed, err);
			if (rc == 0)
				rc = measure(d, k, turn, err);
			if (rc == 0 && c > WARM_UP)
				d->players[k].freshness += turn->freshness;
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

static int demo_live(struct cli *cli, const struct demo_opts *o, struct err *err)
{
	struct demo d = { .world = { .living = LIVING_DEFAULTS }, .keep = o->keep };
	struct sigaction sa = { .sa_handler = on_signal };
	const char *tmp = getenv("TMPDIR");
	int rc;

	sigaction(SIGINT, &sa, NULL);           /* so that the temporary folder is removed */
	sigaction(SIGTERM, &sa, NULL);
	d.world.living.n_dirs = 12;
	d.world.living.change_rate = 0.003;
	d.world.living.fail_rate = 0.002;
	d.world.living.trouble_rate = 0.002;
	d.world.living.trouble_days = 6;
	d.world.living.n_sites = 5;
	d.world.living.rebuild_rate = 1;
	d.world.living.seed = (uint64_t)cli->common.seed;
	/* It ends at the midnight before now, so that a dashboard finds recent copies. */
	d.world.living.start = clock_now() / 86400 * 86400 - o->cycles * o->every;
	d.world.now = d.world.living.start;
	d.n_pages = living_count(&d.world.living);
	snprintf(d.root, sizeof d.root, "%s/freshet-demo-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(d.root))
		return err_errno(err, E_IO, "%s", d.root);
	d.origin = origin_start(origin_world_answer, &d.world);
	rc = d.origin ? gate_allow(&d.gate, "127.0.0.0/8", err) :
	     err_set(err, E_NET, "no server could be started on loopback");
	if (!cli->common.json && rc == 0)
		printf("A small web lives on loopback: %u pages of %u hosts; pages change, directories are "
		       "rewritten,\npages die, and some fail. One host is rebuilt every day: its copies never stay true "
		       "for long.\nEach policy keeps its own copy of it all fresh with the same number of requests.\n\n",
		       d.n_pages, d.world.living.n_sites);
	for (size_t k = 0; k < N_SHOWN && rc == 0; k++)
		rc = open_player(&d, k, o->cycles, err);
	if (rc == 0)
		rc = run_cycles(&d, cli, o, err);
	if (rc == 0 && cli->common.json) {
		struct json j;

		json_to_file(&j, stdout);
		print_json(&j, &d, o);
	}
	if (rc == 0 && (o->report || !cli->common.json))
		rc = write_report(&d, cli, o, err);
	for (size_t k = 0; k < N_SHOWN; k++) {
		store_close(d.players[k].store);
		free(d.players[k].turns);
	}
	if (d.origin)
		origin_stop(d.origin);
	gate_release(&d.gate);
	remove_folder(d.root);
	if (rc < 0 && d.keep_made)
		remove_folder(d.keep);
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
	.arguments = "",
	.summary = "a small living web on loopback, refreshed by several policies side by side",
	.examples = "  freshet demo\n"
	            "  freshet demo --keep living    # and then: freshet -C living serve\n",
	.options = demo_options,
	.opts_size = sizeof(struct demo_opts),
	.n_args_min = 0,
	.n_args_max = 0,
	.exits = "4 no server could be started on loopback\n",
	.run = demo_run,
};
