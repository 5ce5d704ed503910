/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_fetch.c - fetching alone, and the whole of a cycle, against wget2: same
 * pages, same server, same run; plain, over TLS, and by HTTP/2.
 *
 * 20,000 pages of real sizes (mean 20 KB, 1 to 260 KB, log-normal; FRESHET_DATA:
 * real pages out of WARCs) lie in a folder in memory (fetch_world.h).  Ours fetches them
 * over 64 connections with delays off into memory, bytes counted; wget2, with 8 threads
 * and with 16, which are its best, writes them to files in memory.  Rounds alternate, as
 * many for both; the best of each counts, and of its processor time the least.  CPU time is the client's own, user and system,
 * with its cells, and beside it the server's.  More than half of wget2's time is its files:
 * what it does without them (-O /dev/null) is shown, too.  Each run of ours is a process of
 * its own, so that its peak of memory is.
 *
 * The whole of a cycle is measured as the program does it, pages read in cells, and without
 * cells.  Its peers are in fetch_peers.h; two rows there say what can be had at all on two
 * processors that server and client share.  Of the peers behind wget2, zlib -6 is what
 * writers of WARCs take, -1 gives about as many bytes as we do.
 *
 * wget2 costs 50 to 90 us a page here, whether it has one host or 64, its files in
 * one folder or, by -x, in 64, is quiet or not; with 4 threads or 64 it is slower.
 *
 *   bench_fetch [PART]      "fetch", "bare", "wget2", "wget", "peers", "cycle", "tls" (TLS
 *                           and HTTP/2) or "postgres" (a cycle on both stores): only that
 *
 * FRESHET_BENCH_PAGES=N: the number of pages.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/archive/readers.h"
#include "engine/crawl/crawl.h"
#include "fetch/fetch.h"
#include "fetch/gate.h"
#include "fetch_peers.h"
#include "../tests/lib/pg.h"

#define ROUNDS 3
#define IN_FLIGHT 10000

/* What one process measured; MB at most, of it and of the largest of its cells. */
struct told { struct score first, again; long memory, cell; };

struct job {
	const struct world *world;
	const char *pg;                 /* a cycle on PostgreSQL; NULL: SQLite */
	bool cells;
	unsigned in_flight;             /* pages at the fetcher */
	struct told (*run)(const struct job *j);
};

static _Noreturn void stop(const char *why)
{
	fprintf(stderr, "bench_fetch: %s\n", why);
	_exit(1);
}

static struct told apart(const struct job *j)
{
	struct told told;
	int ends[2], status;
	pid_t pid;

	if (pipe(ends) || (pid = fork()) < 0)
		stop("no process");
	if (!pid) {
		struct rusage u;

		told = j->run(j);
		getrusage(RUSAGE_SELF, &u);
		told.memory = u.ru_maxrss / 1024;
		getrusage(RUSAGE_CHILDREN, &u);
		told.cell = u.ru_maxrss / 1024;
		_exit(write(ends[1], &told, sizeof told) != sizeof told);
	}
	close(ends[1]);
	if (read(ends[0], &told, sizeof told) != sizeof told ||
	    waitpid(pid, &status, 0) != pid || status)
		stop("a run failed");
	close(ends[0]);
	return told;
}

static void set_fetch(struct fetch_options *o, const struct world *w, struct gate *gate,
                      char ca[WORLD_URL])
{
	struct err err;

	if (gate_allow(gate, "127.0.7.0/24", &err))
		stop(err.text);
	world_ca(w, ca);
	o->ca_file = ca;
	o->gate = gate;
	o->proxy = "";
	o->polite.delay = o->polite.address_delay = 0;
	o->connections = N_HOSTS;
}

static struct told fetch_alone(const struct job *j)
{
	const struct world *w = j->world;
	struct fetch_options o = FETCH_DEFAULTS;
	struct moment began = world_now(w, RUSAGE_SELF);
	const struct fetch_result *r;
	struct gate gate = { 0 };
	unsigned next = 0, done = 0;
	uint64_t bytes = 0;
	struct fetch *f;
	struct err err;
	char url[WORLD_URL], ca[WORLD_URL];

	set_fetch(&o, w, &gate, ca);
	if (fetch_new(&f, &o, &err))
		stop(err.text);
	while (done < w->n) {
		for (; next < w->n && fetch_pending(f) < j->in_flight; next++) {
			world_url(w, next, url);
			fetch_add(f, &(struct fetch_request){ .page = next, .url = url });
		}
		if (fetch_next(f, -1, &r) != FETCH_GOT || r->error || r->status != 200)
			stop(*r->why ? r->why : "a page that could not be fetched");
		if (w->way == WAY_H2 ? memcmp(r->head, "HTTP/2", 6) : memcmp(r->head, "HTTP/1.1", 8))
			stop("another version of HTTP");
		bytes += r->decoded_size;
		done++;
	}
	fetch_free(f);
	gate_release(&gate);
	if (bytes != w->bytes)
		stop("bytes differ");
	return (struct told){ .first = world_score(w, RUSAGE_SELF, began) };
}

/* One cycle over all pages; `same` says that nothing has changed since the last. */
static struct score run_cycle(const struct world *w, struct store *store,
                              const struct crawl_opts *opts, bool same)
{
	struct moment began = world_now(w, RUSAGE_SELF);
	struct crawl_report report;
	struct err err;
	int rc = crawl_cycle(store, opts, &report, &err);

	if (rc < 0 || (same ? report.cycle.same : report.cycle.fresh) != w->n)
		stop(rc < 0 ? err.text : "not all fetched");
	return world_score(w, RUSAGE_SELF, began);
}

static struct store *new_store(const struct job *j, struct err *err)
{
	const struct world *w = j->world;
	char url[WORLD_URL], db[WORLD_URL];
	struct store *store;
	uint32_t number;
	int rc;

	snprintf(db, sizeof db, "%s/freshet.db", w->dir);
	unlink(db);
	rc = store_open(&store, j->pg ? j->pg : db, STORE_CREATE, err);
	rc = rc < 0 ? rc : store_begin(store, err);
	for (unsigned i = 0; i < w->n && rc >= 0; i++) {
		world_url(w, i, url);
		rc = store_page_add(store, (struct text){ url, strlen(url) }, 1, &number, err);
	}
	rc = rc < 0 ? rc : store_commit(store, err);
	if (rc < 0)
		stop(err->text);
	return store;
}

/* Everything that a cycle does: fetch, parse, digests, WARC with gzip, store; and
 * again, when all that the server has to say is 304. */
static struct told whole(const struct job *j)
{
	struct crawl_opts opts = { .policy = "oldest", .budget = { 100, true }, .seed = 1,
		.cycle_seconds = 86400, .confirmations = 1, .batch = 1000, .now = 1700000000 };
	struct fetch_options o = FETCH_DEFAULTS;
	char folder[WORLD_URL], ca[WORLD_URL];
	struct gate gate = { 0 };
	struct moment cells;
	struct store *store;
	struct told told;
	struct err err;

	if (j->cells && readers_begin())        /* first, as the program does */
		stop("no cells");
	cells = world_now(j->world, RUSAGE_CHILDREN);   /* some end on the way */
	snprintf(folder, sizeof folder, "%s/warc", j->world->dir);
	mkdir(folder, 0755);
	store = new_store(j, &err);
	set_fetch(&o, j->world, &gate, ca);
	opts.fetch = o;
	opts.warc_folder = folder;
	told.first = run_cycle(j->world, store, &opts, false);
	opts.now += 86400;
	told.again = run_cycle(j->world, store, &opts, true);
	cells_end();            /* now their time is counted; it is that of the first cycle */
	told.first.cpu += world_score(j->world, RUSAGE_CHILDREN, cells).cpu;
	store_close(store);
	gate_release(&gate);
	return told;
}

enum row { BARE, ALONE, ALONE_TLS, ALONE_H2, WGET2, WGET2_TLS, WGET2_H2, WGET2_NULL, WHOLE,
           AGAIN, WHOLE_TLS, AGAIN_TLS, WHOLE_H2, AGAIN_H2, NO_CELLS, NO_CELLS_AGAIN, WHOLE_PG,
           AGAIN_PG, WGET, N_ROWS };

static const char *const names[N_ROWS] = { "bare sockets", "fetching alone", "  over TLS",
	"  by HTTP/2", "wget2 to files", "  over TLS", "  by HTTP/2", "  to /dev/null",
	"whole pipeline", "  nothing changed", "  over TLS", "  nothing changed", "  by HTTP/2",
	"  nothing changed", "  without cells", "  nothing changed", "  on PostgreSQL",
	"  nothing changed", "wget --warc-file" };

struct results {
	struct score of[N_ROWS];
	struct told most;               /* memory, of all rounds of the whole pipeline */
	long in_flight;                 /* memory, fetching alone with so many pages */
	double least, behind[2];        /* microseconds a page; zlib -1, -6 */
};

static bool wanted(const char *only, const char *name)
{
	return !*only || !strcmp(only, name);
}

static void best_whole(struct results *r, struct job j, enum row row)
{
	struct told told;

	j.run = whole;
	told = apart(&j);
	score_best(&r->of[row], told.first);
	score_best(&r->of[row + 1], told.again);
	r->most.memory = told.memory > r->most.memory ? told.memory : r->most.memory;
	r->most.cell = told.cell > r->most.cell ? told.cell : r->most.cell;
}

static void run_fetch(struct world *w, const char *only, struct results *r)
{
	struct job j = { .world = w, .run = fetch_alone, .in_flight = 1024 };

	for (enum way way = WAY_PLAIN; way < N_WAYS; way++) {
		bool mine = wanted(only, way ? "tls" : "fetch"), peer = wanted(only, way ? "tls" : "wget2");

		world_set_way(w, way);
		for (unsigned threads = 8; threads <= 16; threads += 8) {
			if (mine)
				score_best(&r->of[ALONE + way], apart(&j).first);
			if (peer)
				score_best(&r->of[WGET2 + way], peer_wget2(w, threads, true));
		}
	}
	world_set_way(w, WAY_PLAIN);
	if (wanted(only, "wget2"))
		score_best(&r->of[WGET2_NULL], peer_wget2(w, 8, false));
}

static void run_cycles(struct world *w, const char *only, struct results *r)
{
	struct job j = { .world = w, .cells = true };
	bool pg = !strcmp(only, "postgres");
	char url[PG_URL];

	if (wanted(only, "cycle") || pg)
		best_whole(r, j, WHOLE);
	if (wanted(only, "cycle")) {
		j.cells = false;
		best_whole(r, j, NO_CELLS);
		j.cells = true;
	}
	if (wanted(only, "tls")) {
		world_set_way(w, WAY_TLS);
		best_whole(r, j, WHOLE_TLS);
		world_set_way(w, WAY_H2);
		best_whole(r, j, WHOLE_H2);
		world_set_way(w, WAY_PLAIN);
	}
	if (wanted(only, "postgres")) {
		j.pg = pg_url(url);
		best_whole(r, j, WHOLE_PG);
	}
}

static void run_all(struct world *w, const char *only, struct results *r)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (wanted(only, "bare"))
			score_best(&r->of[BARE], bare_sockets(w));
		run_fetch(w, only, r);
		run_cycles(w, only, r);
		if (wanted(only, "wget"))
			score_best(&r->of[WGET], peer_wget(w));
		for (int k = 0; k < 2 && wanted(only, "peers"); k++) {
			double behind = peer_behind(w, k ? 6 : 1);

			r->behind[k] = i && r->behind[k] < behind ? r->behind[k] : behind;
		}
	}
	if (wanted(only, "fetch"))
		r->in_flight = apart(&(struct job){ .world = w, .run = fetch_alone,
		                                    .in_flight = IN_FLIGHT }).memory;
	r->least = least_of_a_cycle(w);
}

static void tell_ratio(const char *what, const struct score *ours, const struct score *peer)
{
	if (ours->pages > 0 && peer->pages > 0)
		printf("  RATIO %s: %.2fx pages/s, %.2fx less CPU\n", what, ours->pages / peer->pages,
		       peer->cpu / ours->cpu);
}

static void tell_ratios(const struct results *r)
{
	const struct score *of = r->of;

	tell_ratio("bare sockets to wget2", &of[BARE], &of[WGET2]);
	tell_ratio("fetching alone to wget2 (target 2)", &of[ALONE], &of[WGET2]);
	tell_ratio("fetching alone over TLS", &of[ALONE_TLS], &of[WGET2_TLS]);
	tell_ratio("fetching alone by HTTP/2", &of[ALONE_H2], &of[WGET2_H2]);
	tell_ratio("whole pipeline to wget2 (target 1)", &of[WHOLE], &of[WGET2]);
	tell_ratio("whole pipeline over TLS", &of[WHOLE_TLS], &of[WGET2_TLS]);
	tell_ratio("whole pipeline by HTTP/2", &of[WHOLE_H2], &of[WGET2_H2]);
	tell_ratio("nothing changed to wget2", &of[AGAIN], &of[WGET2]);
	tell_ratio("whole pipeline to wget --warc-file", &of[WHOLE], &of[WGET]);
	tell_ratio("in cells to not", &of[WHOLE], &of[NO_CELLS]);
	tell_ratio("PostgreSQL to SQLite", &of[WHOLE_PG], &of[WHOLE]);
	tell_ratio("PostgreSQL, nothing changed", &of[AGAIN_PG], &of[AGAIN]);
	for (int i = 0; i < 2 && r->behind[i] > 0 && of[WHOLE].cpu > 0 && of[WGET2].cpu > 0; i++)
		printf("  RATIO wget2, SHA-1, libxml2 and zlib -%d to the whole pipeline: %.2fx the CPU, "
		       "%.2fx without cells (target 3.5, -1)\n", i ? 6 : 1,
		       (of[WGET2].cpu + r->behind[i]) / of[WHOLE].cpu,
		       (of[WGET2].cpu + r->behind[i]) / of[NO_CELLS].cpu);
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : "", *pages = getenv("FRESHET_BENCH_PAGES");
	struct world w = { .dir = "/dev/shm/freshet-bench-XXXXXX",
		.n = pages ? (unsigned)atoi(pages) : 20000 };
	struct results r = { 0 };

	setenv("PG_FSYNC", "on", 0);     /* as bench_store_pg */
	world_make(&w);
	run_all(&w, only, &r);
	world_end(&w);
	printf("fetch: %u pages, mean %.1f KB, %d hosts, nginx on loopback\n", w.n,
	       (double)w.bytes / w.n / 1000, N_HOSTS);
	for (int i = 0; i < N_ROWS; i++)
		if (r.of[i].pages > 0)
			printf("  %-18s %7.0f pages/s %6.1f us CPU a page, %5.1f of the server%s\n", names[i],
			       r.of[i].pages, r.of[i].cpu, r.of[i].server,
			       i == WGET ? " (one page in ten)" : "");
	for (int i = 0; i < 2 && r.behind[i] > 0; i++)
		printf("  behind wget2: %.1f us of SHA-1, libxml2's SAX and zlib -%d (one page in ten)\n",
		       r.behind[i], i ? 6 : 1);
	printf("  the least of a cycle: %.1f us of SHA-1 and gzip\n", r.least);
	if (r.most.memory)
		printf("  memory of a cycle, at most: %ld MB, a cell %ld MB (target 150)\n",
		       r.most.memory, r.most.cell);
	if (r.in_flight)
		printf("  memory of fetching alone with %d pages in flight: %ld MB (target 150)\n",
		       IN_FLIGHT, r.in_flight);
	tell_ratios(&r);
	return 0;
}
