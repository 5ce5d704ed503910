/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_log.c - `freshet log`: the cycles, one a line; and the visits of a cycle in their
 * order, each with what came of it.
 */
#include <math.h>
#include <stdio.h>

#include "cli/frame/repository.h"
#include "cli/print/failing_print.h"
#include "cli/cmd/read/fleet_print.h"
#include "cli/print/history_print.h"
#include "engine/book/last_cycle.h"
#include "engine/recall/resume.h"
#include "policy/catalogue/catalogue.h"

struct log_opts { int64_t cycle, last; bool visits, skipped; };

static const struct option_spec log_options[] = {
	OPT_INT(log_opts, cycle, 0, 0, 4e9, "only this cycle, with its visits"),
	OPT_INT(log_opts, last, 20, 1, 4e9, "how many cycles, counted from the newest"),
	OPT_FLAG(log_opts, visits, "every visit of the cycles shown"),
	OPT_FLAG(log_opts, skipped, "with --cycle: the pages that were not visited, too"),
	OPT_END
};

struct logging {
	struct store *store;
	const struct log_opts *o;
	struct json *j;                 /* NULL: text */
	uint32_t n_cycles;
	struct loaded *loaded;
	struct moved_list moved;
	uint8_t *visited;               /* by page, with --skipped */
	char policy[256];               /* of the cycle, with --skipped */
	uint64_t seed;
};

static const char *verdict(const struct store_visit *v)
{
	if (v->goal == GOAL_ALIVE && v->hit)
		return "alive";
	return visit_is_first(v) ? "new" : outcome_name((enum outcome)v->outcome);
}

static int show_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct logging *l = arg;
	const char *url = pages_url(&l->loaded->pages, v->page);
	char t[21];

	(void)err;
	if (l->visited)
		l->visited[v->page] = 1;
	when_iso(v->time, t);
	if (l->j) {
		json_object(l->j);
		json_kstr(l->j, "url", url);
		json_kstr(l->j, "time", t);
		json_kstr(l->j, "outcome", visit_is_first(v) ? "new" :
		          outcome_name((enum outcome)v->outcome));
		json_kint(l->j, "status", v->status);
		cause_print_json(l->j, v);
		json_kstr(l->j, "reason", reason_name(v->reason));
		json_knum(l->j, "score", (double)v->score);
		json_knum(l->j, "probability", (double)v->probability);
		json_end_object(l->j);
		return 0;
	}
	printf("  %s  visited  %-20s", t, v->outcome < OUTCOME_FAILED ? verdict(v) :
	       cause_words((enum outcome)v->outcome, v->cause, v->status).text);
	if (!isnan(v->probability))
		printf("p=%.3f  ", (double)v->probability);
	else
		printf("%-9s", "");
	printf("%-10s %s\n", reason_name(v->reason), url);
	return 0;
}

static int show_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	struct logging *l = arg;
	bool wanted = l->o->cycle ? c->number == l->o->cycle :
	              c->number + l->o->last > l->n_cycles;
	bool visits = l->o->cycle || l->o->visits;
	uint32_t moved = moved_in_cycle(&l->moved, c->number);
	char t[21];
	int rc = 0;

	if (!wanted)
		return 0;
	when_iso(c->time, t);
	snprintf(l->policy, sizeof l->policy, "%.*s", (int)c->policy.size, c->policy.s);
	l->seed = c->seed;
	if (l->j) {
		json_object(l->j);
		cycle_print_json(l->j, c);
		if (moved)
			json_kint(l->j, "moved", moved);
		if (visits) {
			json_key(l->j, "visits");
			json_array(l->j);
		}
	} else if (c->goal == GOAL_ALIVE) {
		printf("cycle %u  %s  %s  looking for life: %u requests, %u visits: %u alive, %u gone, "
		       "%u without a good answer, %u blocked%s\n", c->number, t, l->policy,
		       c->downloads, cycle_visits(c), c->same, c->gone, c->failed, c->blocked,
		       c->open ? " (not ended)" : "");
	} else {
		printf("cycle %u  %s  %s  budget %u: %u request%s, %u visit%s: %u new, %u changed, "
		       "%u same, %u gone, %u failed, %u blocked%s\n", c->number, t, l->policy, c->budget,
		       c->downloads, c->downloads == 1 ? "" : "s", cycle_visits(c),
		       cycle_visits(c) == 1 ? "" : "s", c->fresh, c->changed, c->same, c->gone, c->failed,
		       c->blocked, c->open ? " (not ended)" : "");
		if (moved)
			printf("  %u page%s followed since then to where %s moved for good\n", moved,
			       moved == 1 ? " is" : "s are", moved == 1 ? "it" : "they");
	}
	if (visits)
		rc = store_visits(l->store, c->number, c->number + 1, show_visit, l, err);
	if (l->j) {
		if (visits)
			json_end_array(l->j);
		json_end_object(l->j);
	}
	return rc;
}

/* Pages that the cycle did not visit, with the probability that they would be. */
static int show_skipped(struct logging *l, struct err *err)
{
	struct resume_opts ro = { .policy = l->policy, .seed = l->seed,
	                          .before_cycle = (uint32_t)l->o->cycle,
	                          .cycle_seconds = DAY_SECONDS };
	bool known = policy_find(l->policy, strcspn(l->policy, ":")) != NULL;
	struct resumed r = { 0 };
	int rc = known ? resume(&r, l->store, &ro, err) : 0;

	if (l->j) {
		json_key(l->j, "skipped");
		json_array(l->j);
	}
	for (uint32_t i = 0; i < l->loaded->pages.n && rc == 0; i++) {
		double p = known ? policy_probability(r.policy, &r.engine.view, i) : NAN;

		if (l->visited[i] || l->loaded->visits.state[i] != PAGE_HERE)
			continue;
		if (l->j) {
			json_object(l->j);
			json_kstr(l->j, "url", pages_url(&l->loaded->pages, i));
			json_knum(l->j, "probability", p);
			json_end_object(l->j);
			continue;
		}
		printf("  %-20s  skipped  %-20s", "", "");
		if (!isnan(p))
			printf("p=%.3f  ", p);
		else
			printf("%-9s", "");
		printf("%-10s %s\n", "", pages_url(&l->loaded->pages, i));
	}
	if (l->j)
		json_end_array(l->j);
	if (known)
		resume_release(&r);
	return rc;
}

static int log_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err);

/* Visits, shard after shard.  A cycle of the fleet has a number of its own in each. */
static int log_shards(struct cli *cli, struct log_opts *o, struct err *err)
{
	int64_t cycle = o->cycle;
	bool any = !cycle;
	int rc = 0;

	for (size_t i = 0; i < cli->shards->n && rc == 0; i++) {
		uint32_t own = 0;

		cli->shard = cli->shards->list[i].shard;
		if (cycle)
			rc = fleet_cycle_own(cli->shards->fleet, (uint32_t)cycle, cli->shard, &own, err);
		if (rc < 0 || (cycle && !own))
			continue;
		any = true;
		o->cycle = own;
		if (!cli->common.json)
			printf("shard %d\n", cli->shard);
		rc = log_run(cli, o, 0, NULL, err);
	}
	cli->shard = -1;
	return rc < 0 || any ? rc : err_set(err, E_USAGE, "cycle %lld: no shard had a part in it; "
	                                    "`freshet log` lists the cycles", (long long)cycle);
}

static int log_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct log_opts *o = opts;
	struct pages_opts po = { 0 };
	struct loaded loaded = { 0 };
	struct logging l = { .o = o, .loaded = &loaded };
	struct last_cycle last = { 0 };
	struct json j;
	int rc;

	(void)n_args;
	(void)args;
	if (shards_any(cli) && cli->shard < 0 && (o->cycle || o->visits))
		return log_shards(cli, o, err);
	if (shards_any(cli) && cli->shard < 0)
		return fleet_print_log(cli, (uint32_t)o->last, err);
	rc = repository_read(cli, &l.store, err);
	if (rc < 0)
		return rc;
	rc = last_cycle_read(l.store, &last, err);
	l.n_cycles = last.row.number;
	if (rc == 0 && o->cycle > l.n_cycles)
		rc = err_set(err, E_USAGE, "cycle %lld: the repository has had %u; `freshet log` lists "
		             "them", (long long)o->cycle, l.n_cycles);
	/* visits are shown with the URLs of their pages; cycles need none */
	if (rc == 0 && (rc = moved_load(&l.moved, l.store, err)) == 0 && (o->cycle || o->visits))
		rc = load_pages(&loaded, l.store, &po, err);
	if (rc == 0) {
		if (o->skipped)
			l.visited = mem_zalloc(loaded.pages.n, 1);
		if (rc == 0 && cli->common.json) {
			cli_json_begin(&j, "log");
			json_key(&j, "cycles");
			json_array(&j);
			l.j = &j;
		}
		if (rc == 0)
			rc = store_cycles(l.store, 0, show_cycle, &l, err);
		if (l.j)
			json_end_array(&j);
		if (rc == 0 && o->skipped)
			rc = show_skipped(&l, err);
		if (l.j)
			cli_json_end(&j);
	}
	free(l.visited);
	moved_release(&l.moved);
	loaded_release(&loaded);
	store_close(l.store);
	return rc;
}

static const char *const log_needs[][2] = { { "skipped", "cycle" }, { NULL, NULL } };

const struct command command_log = {
	.name = "log",
	.on_fleet = FLEET_SELF,
	.arguments = "",
	.summary = "the cycles so far, and play by play what was visited",
	.description =
		"Requests are what the budget counts: pages, redirect hops, retries (`downloads` with\n"
		"--json). Visits are the pages asked for, each once a cycle, by what came of them;\n"
		"blocked ones were not asked. What failed or was blocked stands with its cause, as\n"
		"`failed timeout` or `blocked robots`, or with the status of the answer, as `failed 503`;\n"
		"docs/formats.md lists the causes. Imported history is no cycle: `freshet status` counts\n"
		"it with the visits.",
	.examples =
		"  freshet -C crawl log\n"
		"  freshet -C crawl log --cycle 3 --skipped\n",
	.options = log_options,
	.opts_size = sizeof(struct log_opts),
	.needs = log_needs,
	.n_args_min = 0,
	.n_args_max = 0,
	.read = true,
	.run = log_run,
};
