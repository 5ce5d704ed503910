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

#include "cli/cmd/lab/demo.h"
#include "cli/report/report.h"

#define FLEET_SITES 12          /* hosts of the web that a fleet keeps: a host is of one shard */
#define WARM_UP 4               /* cycles before measuring: policies have no history yet */

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

static int run_cycles(struct demo *d, struct cli *cli, const struct demo_opts *o,
                      struct err *err)
{
	bool draw = !cli->common.json && isatty(STDOUT_FILENO);
	int rc = 0;

	for (size_t k = 0; k < d->n_players && rc == 0; k++)
		rc = demo_play(d, &d->players[k], o, NULL, err);
	for (int64_t c = 1; c <= o->cycles && rc == 0; c++) {
		d->world.now += o->every;
		d->n_measured += c > WARM_UP;
		for (size_t k = 0; k < d->n_players && rc == 0; k++) {
			struct demo_player *p = &d->players[k];
			struct demo_turn *turn = &p->turns[c - 1];

			rc = demo_play(d, p, o, turn, err);
			if (rc == 0)
				rc = demo_measure(d, p, turn, err);
			if (rc == 0 && c > WARM_UP)
				p->freshness += turn->freshness;
		}
		if (rc == 0 && (draw || (!cli->common.json && c == o->cycles)))
			demo_print_standing(d, c, o->cycles, draw && c > 1);
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
	                  .stop = &stop_asked };
	struct sigaction sa = { .sa_handler = on_signal };
	int rc;

	sigaction(SIGINT, &sa, NULL);           /* so that the temporary folder is removed */
	sigaction(SIGTERM, &sa, NULL);
	rc = open_web(&d, o, err);
	if (rc == 0)
		rc = demo_players_open(&d, cli, o, err);
	if (rc == 0 && !cli->common.json)
		demo_print_begin(&d, o);
	if (rc == 0)
		rc = run_cycles(&d, cli, o, err);
	if (rc == 0 && cli->common.json) {
		struct json j;

		json_to_file(&j, stdout);
		demo_print_json(&j, &d, o);
	}
	if (rc == 0 && d.fleet && !cli->common.json)
		rc = demo_fleet_print(d.fleet, err);
	if (rc == 0 && (o->report || !cli->common.json))
		rc = demo_write_report(&d, cli, o, err);
	close_all(&d);
	if (rc < 0 && d.keep_made)
		remove_folder(o->keep);
	return rc == E_STOP ? err_set(err, E_STOP, "stopped; nothing is left behind") : rc;
}

static int demo_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct demo_opts *o = opts;
	int rc = report_check(o->report || cli->common.json ? o->report : DEMO_REPORT, err);

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
