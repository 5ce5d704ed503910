/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_work.c - `freshet work`: a worker of a fleet.
 *
 * Its cycles are those of `freshet cycle`, with the settings of the fleet: each slot fills a
 * set of that command's options from them, anew for each part of a cycle.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cmd/crawl/cycle_opts.h"
#include "cli/cmd/crawl/schedule.h"
#include "cli/frame/running.h"
#include "cli/frame/shards.h"
#include "engine/fleet/work.h"
#include "policy/policy.h"

struct work_cli_opts {
	int64_t take, cycles, connections;
	const char *worker, *warc_folder, *proxy, *ca_file;
};

static const struct option_spec work_options[] = {
	OPT_INT(work_cli_opts, take, 4, 1, 1000, "shards at a time; each has its own connections"),
	OPT_TEXT(work_cli_opts, worker, NULL, "NAME",
	         "name of this worker, in the tables and of its folder; no other may have it "
	         "(default: that of the machine)"),
	OPT_OUTPUT(work_cli_opts, warc_folder, NULL, "DIR",
	         "folder for WARC files, of this machine or one that all mount (default: DIR/warc)"),
	OPT_INT(work_cli_opts, connections, 0, 0, 10000,
	        "connections of a shard at a time; 0: as the setting says"),
	OPT_TEXT(work_cli_opts, proxy, NULL, "URL", "proxy of this machine"),
	OPT_TEXT(work_cli_opts, ca_file, NULL, "FILE", "certificates to trust instead"),
	OPT_INT(work_cli_opts, cycles, 0, 0, 1e9, "end when so many are over, or the next is due; 0: go on until stopped"),
	OPT_END
};

struct working { struct cli *cli; const struct work_cli_opts *o; struct schedule schedule; };

static int load_schedule(void *arg, struct work_schedule *ret, struct err *err)
{
	return schedule_load(&((struct working *)arg)->schedule, ret, err);
}

/* What the machine says, not the fleet. */
static void set_machine(const struct working *w, struct crawling *c)
{
	if (w->o->connections)
		c->crawl.fetch.connections = (unsigned)w->o->connections;
	if (w->o->proxy)
		c->crawl.fetch.proxy = w->o->proxy;
	if (w->o->ca_file)
		c->crawl.fetch.ca_file = w->o->ca_file;
}

static int crawl_part(void *arg, const struct work_part *p, struct crawl_report *ret,
                      struct err *err)
{
	const struct working *w = arg;
	struct crawling c = { .store = p->store };
	struct cli cli = { 0 };
	struct cycle_opts *o;
	int rc = schedule_options(&w->schedule, &cli, p->store, &c.texts, err);

	o = cli.opts;
	if (rc == 0)
		rc = cycle_set(&c, &cli, o, err);
	if (rc == 0) {
		set_machine(w, &c);
		c.crawl.fleet = p->fleet;
		c.crawl.stop = p->stop;
		c.crawl.anew = p->anew;
		c.crawl.policy = p->cycle->policy;
		aim_find(p->cycle->aim, &c.crawl.aim);
		c.crawl.budget = (struct share){ .value = p->expected };
		c.crawl.n_shards = p->n_shards;
		c.crawl.cycle_seconds = p->cycle->every;
		c.crawl.warc_folder = p->folder;
		c.crawl.progress = NULL;
		c.crawl.stopping = NULL;
		c.crawl.goes_on = NULL;
		if (!o->cycle_time)     /* its part ends when the next cycle is due */
			c.crawl.fetch.cycle_seconds = p->seconds > 1 ? p->seconds : 1;
		rc = crawl_cycle(p->store, &c.crawl, ret, err);
		log_debug("shard %d: cycle %u, %u requests, %u changed%s", p->shard, ret->cycle.number,
		          ret->cycle.downloads, ret->cycle.changed, ret->stopped ? ", not at its end" :
		          "");
	}
	c.store = NULL;                 /* the slot's */
	crawling_close(&c);
	if (o)
		care_rules_release(&o->care);
	running_release(&cli);
	return rc;
}

static int work_cli_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct work_cli_opts *o = opts;
	struct working w = { .cli = cli, .o = o };
	char folder[4096];
	int rc;
	struct work_opts wo = { .take = (uint32_t)o->take, .cycles = (uint32_t)o->cycles,
	                        .schedule = load_schedule, .crawl = crawl_part, .arg = &w };

	(void)n_args, (void)args;
	if (!shards_any(cli))
		return err_set(err, E_USAGE, "work: a fleet needs PostgreSQL: give --store "
		               "postgresql://host/database; on one machine `freshet run` does the same");
	w.schedule = (struct schedule){ cli, cli->shards->url };
	if ((rc = schedule_named(&w.schedule, err)) < 0)
		return rc;
	wo.url = cli->shards->url;
	wo.worker = o->worker ? o->worker : fleet_worker(cli->shards->fleet);
	if (strlen(wo.worker) >= FLEET_NAME_MAX || !*wo.worker || *wo.worker == '.' ||
	    strspn(wo.worker, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") !=
	    strlen(wo.worker))
		return err_set(err, E_USAGE, "--worker: up to %d letters, digits, dots, - and _, not "
		               "beginning with a dot", FLEET_NAME_MAX - 1);
	if (!o->warc_folder && mkdir(cli->common.repository, 0777) && errno != EEXIST)
		return err_errno(err, E_IO, "%s", cli->common.repository);
	snprintf(folder, sizeof folder, "%.3000s%s", o->warc_folder ? o->warc_folder :
	         cli->common.repository, o->warc_folder ? "" : "/warc");
	if (mkdir(folder, 0777) && errno != EEXIST)
		return err_errno(err, E_IO, "%s", folder);
	wo.warc_folder = folder;
	crawling_signals();
	wo.stop = crawling_stop_flag();
	signal(SIGPIPE, SIG_IGN);
	return work_run(&wo, err);
}

const struct command command_work = {
	.name = "work",
	.reach = MAY_CONNECT,
	.on_fleet = FLEET_ALWAYS,
	.arguments = "",
	.summary = "a worker of a fleet: takes shards, runs their cycles, gives them back",
	.description =
		"Run it on any number of machines, with the same --store. Workers are equal, and come and\n"
		"go. `every`, `budget`, `policy` and `aim` are settings of the fleet (`freshet set`), fixed\n"
		"for a cycle when it opens. The first worker that finds a cycle due opens it. One that\n"
		"dies is replaced within 40 seconds, if another has room.\n\n"
		"WARC files lie in DIR/warc/NAME/shard-K of each worker, or in --warc-folder. SIGINT and\n"
		"SIGTERM finish what is in flight and give the shards back; a second one stops at once.\n"
		"`freshet status --workers` and `--shards` show how it goes.",
	.examples =
		"  freshet work --store 'postgresql://db.example/fleet?schema=news' --take 8 --cycles 1\n",
	.options = work_options,
	.opts_size = sizeof(struct work_cli_opts),
	.n_args_min = 0,
	.n_args_max = 0,
	.run = work_cli_run,
};
