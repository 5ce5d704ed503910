/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.c - figures for Prometheus, in its text format 0.0.4.
 *
 * Counters begin at zero with the process.  What the repository holds is counted when asked.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/when.h"
#include "serve/desk.h"
#include "serve/fleet/fleet.h"
#include "serve/hub.h"
#include "serve/job/jobs.h"

static void head(struct buf *b, const char *name, const char *type, const char *help)
{
	buf_printf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void one(struct buf *b, const char *name, const char *type, const char *help, double v)
{
	head(b, name, type, help);
	buf_printf(b, "%s %.17g\n", name, v);
}

static void print_requests(struct serve *s, struct buf *b)
{
	struct http_counts http;

	http_counts(s->http, &http);
	head(b, "freshet_http_requests_total", "counter", "Requests answered, by the first digit of the status.");
	for (unsigned i = 2; i <= 5; i++)
		buf_printf(b, "freshet_http_requests_total{code=\"%uxx\"} %" PRIu64 "\n", i,
		           __atomic_load_n(&s->answered[i], __ATOMIC_RELAXED));
	one(b, "freshet_http_connections", "gauge", "Connections that are open.", http.open);
	one(b, "freshet_http_connections_total", "counter", "Connections that were opened.", (double)http.connections);
	one(b, "freshet_http_connections_cut_total", "counter", "Connections that were cut because they took too long.", (double)http.cut);
	one(b, "freshet_listeners", "gauge", "Streams of events that are open.", hub_listeners(s->hub));
}

static void print_desk(struct serve *s, struct buf *b)
{
	struct desk_counts d;

	desk_counts(s->desk, &d);
	one(b, "freshet_leased_pages_total", "counter", "Pages leased to other crawlers.", (double)d.leased);
	one(b, "freshet_told_pages_total", "counter", "Outcomes of other crawlers that were kept.", (double)d.told);
	one(b, "freshet_refused_lines_total", "counter", "Lines of other crawlers that were not kept.", (double)d.refused);
	head(b, "freshet_lease_seconds", "summary", "Time that leases took, waiting included.");
	buf_printf(b, "freshet_lease_seconds_sum %.9g\nfreshet_lease_seconds_count %" PRIu64 "\n", d.seconds_ask, d.asks);
	head(b, "freshet_tell_seconds", "summary", "Time that outcomes took to be kept, waiting not included.");
	buf_printf(b, "freshet_tell_seconds_sum %.9g\nfreshet_tell_seconds_count %" PRIu64 "\n", d.seconds_tell, d.tells);
}

struct last { int64_t ended; uint64_t done, failed; };

static bool see_job(void *arg, const struct job *j)
{
	struct last *l = arg;

	if (j->kind != JOB_CYCLE)
		return false;
	if (j->state == JOB_DONE && !l->ended)
		l->ended = j->ended;
	l->done += j->state == JOB_DONE;
	l->failed += j->state == JOB_FAILED;
	return false;
}

static int newest(void *arg, const struct store_cycle *c, struct err *err)
{
	(void)err;
	*(struct store_cycle *)arg = *c;
	return 0;
}

static int print_repository(struct serve *s, struct buf *b, struct err *err)
{
	struct store_counts n = { 0 };
	struct store_cycle c = { 0 };
	struct last l = { 0 };
	struct store *store;
	int rc = serve_store(s, STORE_READ, &store, err);

	if (rc < 0)
		return rc;
	rc = store_count(store, &n, err);
	if (rc == 0)
		rc = store_cycles(store, STORE_NEWEST, newest, &c, err);
	store_close(store);
	jobs_each(s->jobs, see_job, &l);
	one(b, "freshet_pages", "gauge", "Pages that were ever put under care.", (double)n.pages);
	one(b, "freshet_pages_gone", "gauge", "Pages that are gone.", (double)n.gone);
	one(b, "freshet_captures", "gauge", "Copies.", (double)n.captures);
	one(b, "freshet_visits", "gauge", "Visits, imported ones included.", (double)n.visits);
	one(b, "freshet_cycle", "gauge", "Number of the newest cycle.", c.number);
	one(b, "freshet_cycle_open", "gauge", "Whether the newest cycle is open.", c.open);
	one(b, "freshet_cycle_start_timestamp_seconds", "gauge", "When the newest cycle began.", (double)c.time);
	one(b, "freshet_cycle_budget_requests", "gauge", "Requests of the newest cycle's budget.", c.budget);
	one(b, "freshet_cycle_spent_requests", "gauge", "Requests that the newest cycle has spent.", c.downloads);
	one(b, "freshet_cycle_changed_pages", "gauge", "Pages that the newest cycle found changed.", c.changed);
	one(b, "freshet_cycle_failed_pages", "gauge", "Pages of the newest cycle that could not be had.", c.failed);
	one(b, "freshet_own_cycle_running", "gauge", "Whether a cycle of our own fetcher runs.", jobs_running(s->jobs, JOB_CYCLE));
	one(b, "freshet_own_cycle_failed", "gauge", "Cycles of our own fetcher, of the last ones, that failed.", (double)l.failed);
	one(b, "freshet_own_cycle_end_timestamp_seconds", "gauge", "When the last cycle of our own fetcher ended well; 0: none did since the start.", (double)l.ended);
	one(b, "freshet_schedule_seconds", "gauge", "Time between cycles of our own fetcher; 0: there is no schedule.", (double)s->opts.every);
	return rc;
}

/* Of the whole fleet; what only its shards know is left out. */
static int print_fleet(struct serve *s, struct buf *b, struct err *err)
{
	struct fleet_shard *list = NULL;
	struct fleet_cycle c = { 0 };
	int64_t pages = 0, inbox = 0;
	size_t n = 0, held = 0;
	int rc = serve_fleet_shards(s->fleet, &list, &n, err);

	if (rc == 0)
		rc = serve_fleet_cycle(s->fleet, false, &c, &(size_t){ 0 }, err);
	for (size_t i = 0; i < n; i++) {
		pages += list[i].pages;
		inbox += list[i].inbox;
		held += list[i].held;
	}
	free(list);
	if (rc < 0)
		return rc;
	one(b, "freshet_pages", "gauge", "Pages that were ever put under care.", (double)pages);
	one(b, "freshet_shards", "gauge", "Shards of the fleet.", (double)n);
	one(b, "freshet_shards_held", "gauge", "Shards that a worker or a service holds.", (double)held);
	one(b, "freshet_shards_here", "gauge", "Shards whose pages this service leases.", (double)parts_count(serve_fleet_parts(s->fleet)));
	one(b, "freshet_inbox_entries", "gauge", "Entries that wait in the inboxes of shards.", (double)inbox);
	one(b, "freshet_cycle", "gauge", "Number of the newest cycle.", c.number);
	one(b, "freshet_cycle_open", "gauge", "Whether the newest cycle is open.", c.number && c.done < n);
	one(b, "freshet_cycle_start_timestamp_seconds", "gauge", "When the newest cycle began.", (double)c.opened);
	one(b, "freshet_cycle_budget_requests", "gauge", "Requests of the newest cycle's budget.", c.budget);
	one(b, "freshet_cycle_spent_requests", "gauge", "Requests that the newest cycle has spent.", (double)c.downloads);
	one(b, "freshet_cycle_changed_pages", "gauge", "Pages that the newest cycle found changed.", (double)c.changed);
	one(b, "freshet_cycle_failed_pages", "gauge", "Pages of the newest cycle that could not be had.", (double)c.failed);
	return 0;
}

static void print_process(struct serve *s, struct buf *b)
{
	struct rusage u = { 0 };
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	getrusage(RUSAGE_SELF, &u);
	if (f) {
		if (fscanf(f, "%*d %ld", &pages) != 1)
			pages = 0;
		fclose(f);
	}
	one(b, "process_cpu_seconds_total", "counter", "Processor time.",
	    (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec));
	one(b, "process_resident_memory_bytes", "gauge", "Memory.", (double)pages * (double)sysconf(_SC_PAGESIZE));
	one(b, "process_start_time_seconds", "gauge", "When the process began.", (double)s->started);
}

void route_metrics(struct call *c)
{
	struct buf *b = &c->answer->body;
	struct err err = { 0 };
	int rc;

	print_process(c->serve, b);
	print_requests(c->serve, b);
	print_desk(c->serve, b);
	rc = c->serve->fleet ? print_fleet(c->serve, b, &err) : print_repository(c->serve, b, &err);
	if (rc < 0) {
		answer_error(c, rc, &err);
		return;
	}
	c->answer->type = "text/plain; version=0.0.4; charset=utf-8";
	c->answer->status = 200;
}
