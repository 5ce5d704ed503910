/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_print.c - see fleet_print.h. */
#include "cli/cmd/read/fleet_print.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/when.h"
#include "cli/frame/running.h"

struct workers { VEC(struct fleet_worker) list; };

static int keep_worker(void *arg, const struct fleet_worker *w, struct err *err)
{
	struct workers *all = arg;

	(void)err;
	vec_push(&all->list, *w);
	return 0;
}

static bool is_alive(const struct fleet_worker *w)
{
	return !w->stopped && w->silent < FLEET_DEAD_SECONDS;
}

/* What a shard is at. */
static const char *state_of(const struct fleet_shard *s, const struct fleet_cycle *c)
{
	if (s->held)
		return *s->state ? s->state : "held";
	if (!c->number || (s->cycle == c->number && s->done))
		return "done";
	return s->lost ? "lost" : "free";
}

static void json_cycle(struct json *j, const struct fleet_cycle *c, size_t n_shards)
{
	char t[21];

	json_kint(j, "cycle", c->number);
	when_iso(c->opened, t);
	json_kstr(j, "opened", t);
	when_iso(c->slot + c->every, t);
	json_kstr(j, "next", t);
	json_kstr(j, "policy", c->policy);
	json_kstr(j, "aim", c->aim);
	json_kint(j, "pages", (int64_t)c->pages);
	json_kint(j, "budget", c->budget);
	json_kint(j, "granted", c->granted);
	json_knum(j, "price", c->price);
	json_kint(j, "downloads", (int64_t)c->downloads);
	json_kint(j, "new", (int64_t)c->fresh);
	json_kint(j, "changed", (int64_t)c->changed);
	json_kint(j, "same", (int64_t)c->same);
	json_kint(j, "gone", (int64_t)c->gone);
	json_kint(j, "failed", (int64_t)c->failed);
	json_kint(j, "blocked", (int64_t)c->blocked);
	json_knum(j, "change_ratio", c->downloads ? (double)(c->changed + c->gone) / (double)c->downloads : 0);
	json_kint(j, "shards", (int64_t)n_shards);
	json_kint(j, "shards_done", c->done);
}

static void json_shards(struct json *j, const struct shards *s, const struct fleet_cycle *c)
{
	json_key(j, "shard_list");
	json_array(j);
	for (size_t i = 0; i < s->n; i++) {
		const struct fleet_shard *x = &s->list[i];

		json_object(j);
		json_kint(j, "shard", x->shard);
		json_kstr(j, "state", state_of(x, c));
		json_kstr(j, "worker", x->worker);
		json_knum(j, "lease_left", x->left);
		json_knum(j, "waits", x->waits);
		json_kint(j, "cycle", x->cycle);
		json_kint(j, "pages", x->pages);
		json_kint(j, "granted", x->granted);
		json_kint(j, "downloads", x->downloads);
		json_kint(j, "inbox", x->inbox);
		json_kint(j, "fence", x->fence);
		json_end_object(j);
	}
	json_end_array(j);
}

static void json_workers(struct json *j, const struct workers *w)
{
	json_key(j, "worker_list");
	json_array(j);
	for (size_t i = 0; i < w->list.n; i++) {
		const struct fleet_worker *x = &w->list.v[i];

		json_object(j);
		json_kstr(j, "worker", x->worker);
		json_kstr(j, "host", x->host);
		json_kint(j, "process", x->process);
		json_kbool(j, "alive", is_alive(x));
		json_kbool(j, "stopped", x->stopped);
		json_knum(j, "silent", x->silent);
		json_knum(j, "up", x->up);
		json_kint(j, "take", x->take);
		json_kint(j, "shards", x->shards);
		json_kint(j, "requests", (int64_t)x->requests);
		json_knum(j, "clock_ahead", x->ahead);
		json_kstr(j, "version", x->version);
		json_end_object(j);
	}
	json_end_array(j);
}

static void print_cycle(const struct fleet_cycle *c, const struct shards *s, double now)
{
	uint32_t held = 0, lost = 0;
	int64_t pages = 0, inbox = 0;
	double due = (double)(c->slot + c->every) - now;

	for (size_t i = 0; i < s->n; i++) {
		held += s->list[i].held;
		lost += !s->list[i].held && s->list[i].lost;
		pages += s->list[i].pages;
		inbox += s->list[i].inbox;
	}
	printf("pages        %lld in %zu shards\n", (long long)pages, s->n);
	printf("shards       %u held by workers, %u lost, %u of %zu done\n", held, lost, c->done, s->n);
	if (inbox)
		printf("inboxes      %lld entries wait\n", (long long)inbox);
	if (!c->number) {
		puts("cycle        none yet: `freshet work` opens the first");
		return;
	}
	printf("cycle        %u, %s for %s; the next %s %.0f s\n", c->number, c->policy, c->aim,
	       due > 0 ? "in" : "is due since", fabs(due));
	printf("budget       %u requests, %u granted, %llu spent; price %.3g\n", c->budget, c->granted,
	       (unsigned long long)c->downloads, c->price);
	printf("found        %llu new, %llu changed, %llu same, %llu gone, %llu failed, %llu blocked\n",
	       (unsigned long long)c->fresh, (unsigned long long)c->changed,
	       (unsigned long long)c->same, (unsigned long long)c->gone,
	       (unsigned long long)c->failed, (unsigned long long)c->blocked);
}

static void print_shards(const struct shards *s, const struct fleet_cycle *c)
{
	static const char *const heads[] = { "shard", "<state", "<worker", "pages", "cycle",
	                                     "granted", "spent", "inbox" };
	struct table *t = table_new(heads, sizeof heads / sizeof *heads);

	for (size_t i = 0; i < s->n; i++) {
		const struct fleet_shard *x = &s->list[i];

		table_cell(t, "%d", x->shard);
		table_cell(t, "%s", state_of(x, c));
		table_cell(t, "%s", *x->worker ? x->worker : "-");
		table_cell(t, "%lld", (long long)x->pages);
		table_cell(t, "%u%s", x->cycle, c->number && x->cycle < c->number ? " (behind)" : "");
		table_cell(t, "%u", x->granted);
		table_cell(t, "%u", x->downloads);
		table_cell(t, "%lld", (long long)x->inbox);
	}
	table_print(t, stdout);
	table_free(t);
}

static void print_workers(const struct workers *w)
{
	static const char *const heads[] = { "<worker", "<state", "<host", "shards", "requests",
	                                     "pace", "clock", "<version" };
	struct table *t = table_new(heads, sizeof heads / sizeof *heads);

	for (size_t i = 0; i < w->list.n; i++) {
		const struct fleet_worker *x = &w->list.v[i];
		double up = x->up - x->silent;

		table_cell(t, "%s", x->worker);
		table_cell(t, "%s", x->stopped ? "stopped" : is_alive(x) ? "works" : "dead");
		table_cell(t, "%s", x->host);
		table_cell(t, "%u/%u", x->shards, x->take);
		table_cell(t, "%llu", (unsigned long long)x->requests);
		table_cell(t, "%.1f/s", up > 0 ? (double)x->requests / up : 0);
		table_cell(t, "%+.1f s", round(x->ahead * 10) / 10 + 0.0);    /* no -0.0 */
		table_cell(t, "%s", x->version);
	}
	table_print(t, stdout);
	table_free(t);
}

int fleet_print_status(struct cli *cli, bool shards, bool workers, struct err *err)
{
	struct shards *s = cli->shards;
	struct workers w = { 0 };
	struct fleet_cycle c;
	double now, ahead;
	struct json j;
	int rc = fleet_cycle_last(s->fleet, &c, err);

	if (rc == 0)
		rc = fleet_now(s->fleet, &now, &ahead, err);
	if (rc == 0)
		rc = fleet_workers(s->fleet, keep_worker, &w, err);
	if (rc < 0) {
		vec_release(&w.list);
		return rc;
	}
	if (cli->common.json) {
		cli_json_begin(&j, "status");
		json_cycle(&j, &c, s->n);
		json_shards(&j, s, &c);
		json_workers(&j, &w);
		cli_json_end(&j);
	} else if (!shards && !workers) {
		uint32_t alive = 0;

		for (size_t i = 0; i < w.list.n; i++)
			alive += is_alive(&w.list.v[i]);
		print_cycle(&c, s, now);
		printf("workers      %u at work\n", alive);
	}
	if (!cli->common.json && shards)
		print_shards(s, &c);
	if (!cli->common.json && workers)
		print_workers(&w);
	vec_release(&w.list);
	return 0;
}

struct cycles { VEC(struct fleet_cycle) list; };

static int keep_cycle(void *arg, const struct fleet_cycle *c, struct err *err)
{
	struct cycles *all = arg;

	(void)err;
	vec_push(&all->list, *c);
	return 0;
}

int fleet_print_log(struct cli *cli, uint32_t last, struct err *err)
{
	static const char *const heads[] = { "cycle", "<time", "budget", "requests", "new", "changed",
	                                     "same", "gone", "failed", "blocked", "shards", "<policy" };
	struct cycles all = { 0 };
	struct table *t;
	size_t from;
	struct json j;
	int rc = fleet_cycles(cli->shards->fleet, 1, keep_cycle, &all, err);

	if (rc < 0) {
		vec_release(&all.list);
		return rc;
	}
	from = all.list.n > last ? all.list.n - last : 0;
	if (cli->common.json) {
		cli_json_begin(&j, "log");
		json_key(&j, "cycles");
		json_array(&j);
		for (size_t i = from; i < all.list.n; i++) {
			char digits[15];

			json_object(&j);
			when_digits(all.list.v[i].opened, digits);
			json_kstr(&j, "time", digits);          /* as of one repository */
			json_cycle(&j, &all.list.v[i], cli->shards->n);
			json_end_object(&j);
		}
		json_end_array(&j);
		cli_json_end(&j);
		vec_release(&all.list);
		return 0;
	}
	t = table_new(heads, sizeof heads / sizeof *heads);
	for (size_t i = from; i < all.list.n; i++) {
		const struct fleet_cycle *c = &all.list.v[i];
		char time[21];

		when_iso(c->opened, time);
		table_cell(t, "%u", c->number);
		table_cell(t, "%s", time);
		table_cell(t, "%u", c->budget);
		table_cell(t, "%llu", (unsigned long long)c->downloads);
		table_cell(t, "%llu", (unsigned long long)c->fresh);
		table_cell(t, "%llu", (unsigned long long)c->changed);
		table_cell(t, "%llu", (unsigned long long)c->same);
		table_cell(t, "%llu", (unsigned long long)c->gone);
		table_cell(t, "%llu", (unsigned long long)c->failed);
		table_cell(t, "%llu", (unsigned long long)c->blocked);
		table_cell(t, "%u/%zu", c->done, cli->shards->n);
		table_cell(t, "%s", c->policy);
	}
	table_print(t, stdout);
	table_free(t);
	vec_release(&all.list);
	return 0;
}
