/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_fetch.c - fetching alone, and the whole of a cycle, against wget2: same
 * pages, same server, same run.
 *
 * 20,000 pages of real sizes (mean 20 KB, 1 to 260 KB, log-normal; FRESHET_DATA:
 * real pages out of WARCs) lie in a folder in memory; nginx serves them on 64
 * loopback addresses.  Ours fetches them over 64 connections with delays off into
 * memory, bytes counted; wget2, with 8 threads and with 16, which are its best, writes
 * them to files in memory.  Rounds alternate, as many for both; the best of each counts.
 * CPU time is the client's own, user and system, and beside it the server's.  More than
 * half of wget2's time is its files: what it does without them (-O /dev/null) is shown,
 * too.
 *
 * Two rows say what can be had at all on two processors that server and client
 * share.  "Bare sockets" is a loop of epoll, send and recv over 64 connections
 * that understands nothing but Content-Length.  "The least of a cycle" is one pass
 * of what nobody can leave out over bodies that are in memory: SHA-1 and gzip, as
 * OpenSSL and ISA-L do them.
 *
 * Who does comparable work: GNU wget, which writes a WARC with gzip and SHA-1 but reads
 * no page (its list by host, so that its one connection stays open); and "a pipeline of
 * good peers": wget2's files, read again by OpenSSL's SHA-1, libxml2's SAX parser and
 * zlib, without a store; -6 is what writers of WARCs take, -1 gives about as many bytes
 * as we do.  Both get one page in ten.
 *
 * wget2 costs 50 to 90 us a page here, whether it has one host or 64, its files in
 * one folder or, by -x, in 64, is quiet or not; with 4 threads or 64 it is slower.
 *
 * With FRESHET_BENCH_PAGES=N the number of pages is N.  An argument "fetch", "bare",
 * "wget2", "wget", "peers", "cycle" or "postgres" (a cycle on both stores) runs only that
 * one.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "base/map.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "clock.h"
#include "engine/archive/readers.h"
#include "engine/crawl/crawl.h"
#include "fetch/fetch.h"
#include "fetch/gate.h"
#include "fetch_world.h"
#include "html_sax.h"
#include "warc/warc_pack.h"
#include "../tests/lib/pg.h"

#define ROUNDS 3
#define ONE_IN 10                       /* pages for the slow peers */

struct score { double pages, cpu, server; };    /* a second; microseconds a page */

static double cpu(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static struct score score_of(const struct world *w, double began, double cpu_seconds,
                             double server_began)
{
	return (struct score){ w->n / (clock_of(CLOCK_MONOTONIC) - began),
		cpu_seconds * 1e6 / w->n, (server_cpu(w) - server_began) * 1e6 / w->n };
}

static void best(struct score *b, struct score s)
{
	if (s.pages > b->pages)
		b->pages = s.pages;
	if (b->cpu <= 0 || s.cpu < b->cpu)
		b->cpu = s.cpu;
	if (b->server <= 0 || s.server < b->server)
		b->server = s.server;
}

static struct score run_ours(const struct world *w)
{
	struct fetch_options o = FETCH_DEFAULTS;
	const struct fetch_result *r;
	struct gate gate = { 0 };
	struct fetch *f;
	struct err err;
	double t = clock_of(CLOCK_MONOTONIC), c = cpu(RUSAGE_SELF), s = server_cpu(w);
	uint64_t bytes = 0;
	char url[96];
	unsigned next = 0, done = 0;

	o.gate = &gate;
	o.proxy = "";
	o.polite.delay = o.polite.address_delay = 0;
	o.connections = N_HOSTS;
	if (gate_allow(&gate, "127.0.7.0/24", &err) || fetch_new(&f, &o, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	while (done < w->n) {
		for (; next < w->n && fetch_pending(f) < 1024; next++) {
			url_of(w, next, url);
			fetch_add(f, &(struct fetch_request){ .page = next, .url = url });
		}
		if (fetch_next(f, -1, &r) != FETCH_GOT || r->error || r->status != 200) {
			fprintf(stderr, "page %u: %s %d %s\n", r->page,
			        fetch_error_name(r->error), r->status, r->why);
			exit(1);
		}
		bytes += r->decoded_size;
		done++;
	}
	fetch_free(f);
	gate_release(&gate);
	if (bytes != w->bytes) {
		fprintf(stderr, "bytes differ\n");
		exit(1);
	}
	return score_of(w, t, cpu(RUSAGE_SELF) - c, s);
}

/* One cycle over all pages; `same` says that nothing has changed since the last. */
static struct score run_cycle(const struct world *w, struct store *store,
                              const struct crawl_opts *opts, bool same)
{
	double t = clock_of(CLOCK_MONOTONIC), c = cpu(RUSAGE_SELF), s = server_cpu(w);
	struct crawl_report report;
	struct err err;
	int rc = crawl_cycle(store, opts, &report, &err);

	if (rc < 0 || (same ? report.cycle.same : report.cycle.fresh) != w->n) {
		fprintf(stderr, "cycle: %s\n", rc < 0 ? err.text : "not all fetched");
		exit(1);
	}
	return score_of(w, t, cpu(RUSAGE_SELF) - c, s);
}

/* Everything that a cycle does: fetch, parse, digests, WARC with gzip, store; and
 * again, when all that the server has to say is 304. */
static void run_pipeline(const struct world *w, bool on_pg, bool cells, struct score *ret_first,
                         struct score *ret_again)
{
	struct fetch_options o = FETCH_DEFAULTS;
	struct crawl_opts opts = { .policy = "oldest", .budget = { 100, true }, .seed = 1,
		.cycle_seconds = 86400, .confirmations = 1 };
	char url[96], db[96], folder[96], pg[PG_URL];
	struct gate gate = { 0 };
	struct store *store;
	struct score first;
	double cells_cpu;
	struct err err;
	uint32_t number;
	int rc;

	if (cells && readers_begin()) {         /* first, as the program does */
		fprintf(stderr, "no cells\n");
		exit(1);
	}
	snprintf(db, sizeof db, "%s/freshet.db", w->dir);
	snprintf(folder, sizeof folder, "%s/warc", w->dir);
	unlink(db);
	mkdir(folder, 0755);
	rc = store_open(&store, on_pg ? pg_url(pg) : db, STORE_CREATE, &err);
	rc = rc < 0 ? rc : store_begin(store, &err);
	for (unsigned i = 0; i < w->n && rc >= 0; i++) {
		url_of(w, i, url);
		rc = store_page_add(store, (struct text){ url, strlen(url) }, 1, &number, &err);
	}
	rc = rc < 0 ? rc : store_commit(store, &err);
	rc = rc < 0 ? rc : gate_allow(&gate, "127.0.7.0/24", &err);
	if (rc < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	o.gate = &gate;
	o.proxy = "";
	o.polite.delay = o.polite.address_delay = 0;
	o.connections = N_HOSTS;
	opts.fetch = o;
	opts.warc_folder = folder;
	opts.batch = 1000;
	opts.now = 1700000000;
	first = run_cycle(w, store, &opts, false);
	opts.now += 86400;
	best(ret_again, run_cycle(w, store, &opts, true));
	cells_cpu = cpu(RUSAGE_CHILDREN);
	cells_end();            /* now their time is counted; it is that of the first cycle */
	first.cpu += (cpu(RUSAGE_CHILDREN) - cells_cpu) * 1e6 / w->n;
	best(ret_first, first);
	store_close(store);
	gate_release(&gate);
}

static struct score run_wget2(const struct world *w, unsigned threads, bool to_files)
{
	struct score score;
	double t, c, s;
	char cmd[400];

	snprintf(cmd, sizeof cmd, "rm -rf %s/out && mkdir %s/out", w->dir, w->dir);
	if (system(cmd))
		exit(1);
	c = cpu(RUSAGE_CHILDREN);
	s = server_cpu(w);
	t = clock_of(CLOCK_MONOTONIC);
	snprintf(cmd, sizeof cmd, "exec wget2 -q --no-proxy --max-threads=%u %s%s%s "
	         "--no-config -i %s/list", threads, to_files ? "-P " : "-O /dev/null",
	         to_files ? w->dir : "", to_files ? "/out" : "", w->dir);
	if (system(cmd)) {
		fprintf(stderr, "wget2 failed (scripts/deps --bench)\n");
		exit(1);
	}
	score = score_of(w, t, cpu(RUSAGE_CHILDREN) - c, s);
	snprintf(cmd, sizeof cmd, "test $(ls %s/out | wc -l) = %u", w->dir, w->n);
	if (to_files && system(cmd)) {
		fprintf(stderr, "wget2 did not fetch all\n");
		exit(1);
	}
	return score;
}

/* ---- who does comparable work ---- */

static struct world part_of(const struct world *w)
{
	struct world part = *w;

	part.n = (w->n + ONE_IN - 1) / ONE_IN;
	return part;
}

static struct score run_wget(const struct world *w)
{
	FILE *list = create(w, "list-by-host");
	char url[96], cmd[500];
	double t, c, s;

	for (unsigned host = 0; host < N_HOSTS; host++)
		for (unsigned i = host; i < w->n; i += N_HOSTS) {
			url_of(w, i, url);
			fprintf(list, "%s\n", url);
		}
	fclose(list);
	snprintf(cmd, sizeof cmd, "exec wget -q --no-proxy --no-config --no-warc-keep-log "
	         "--warc-file=%s/wget -O /dev/null -i %s/list-by-host", w->dir, w->dir);
	c = cpu(RUSAGE_CHILDREN);
	s = server_cpu(w);
	t = clock_of(CLOCK_MONOTONIC);
	if (system(cmd)) {
		fprintf(stderr, "wget failed (scripts/deps --bench)\n");
		exit(1);
	}
	return score_of(w, t, cpu(RUSAGE_CHILDREN) - c, s);
}

static void read_body(const struct world *w, unsigned i, struct buf *body)
{
	char path[96];
	size_t n;
	FILE *f;

	snprintf(path, sizeof path, "%s/p/%u.html", w->dir, i);
	f = fopen(path, "r");
	buf_clear(body);
	while (f && (n = fread(buf_room(body, 65536), 1, 65536, f)) > 0)
		body->size += n;
	if (!f || fclose(f))
		exit(1);
}

/* Microseconds a page of what the peers do behind wget2, files read included. */
static double run_peers(const struct world *w, int level)
{
	double c = clock_of(CLOCK_THREAD_CPUTIME_ID);
	struct warc_hasher hasher = { 0 };
	struct warc_digest digest;
	struct sax_sums sums = { 0 };
	struct buf body, packed;
	z_stream z = { 0 };

	buf_init(&body, BUF_NO_LIMIT);
	buf_init(&packed, BUF_NO_LIMIT);
	if (deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		exit(1);
	for (unsigned i = 0; i < w->n; i++) {
		size_t room;

		read_body(w, i, &body);
		warc_hasher_begin(&hasher, WARC_SHA1);
		warc_hasher_add(&hasher, body.data, body.size);
		warc_hasher_end(&hasher, &digest);
		sax_read(body.data, body.size, &sums);
		room = deflateBound(&z, body.size);
		z.next_in = (Bytef *)body.data;
		z.avail_in = (uInt)body.size;
		z.next_out = (Bytef *)buf_room(&packed, room);
		z.avail_out = (uInt)room;
		if (deflate(&z, Z_FINISH) != Z_STREAM_END || deflateReset(&z) != Z_OK)
			exit(1);
	}
	deflateEnd(&z);
	warc_hasher_release(&hasher);
	buf_release(&body);
	buf_release(&packed);
	return (clock_of(CLOCK_THREAD_CPUTIME_ID) - c) * 1e6 / w->n;
}

/* ---- what can be had at all ---- */

struct bare { int fd; unsigned next; size_t got, want; };

static void bare_send(const struct world *w, struct bare *c)
{
	char text[128];
	int n = snprintf(text, sizeof text, "GET /p/%u.html HTTP/1.1\r\nHost: 127.0.7.1\r\n\r\n",
	                 c->next);

	if (send(c->fd, text, (size_t)n, MSG_NOSIGNAL) != n)
		exit(1);
	c->next += N_HOSTS;
	c->got = c->want = 0;
	(void)w;
}

/* Returns whether the answer is complete. */
static bool bare_receive(struct bare *c, char *room, size_t size, uint64_t *bytes)
{
	ssize_t n = recv(c->fd, room, size, MSG_DONTWAIT);

	if (n <= 0) {
		if (n < 0 && errno == EAGAIN)
			return false;
		exit(1);
	}
	if (!c->got) {
		char *end = memmem(room, (size_t)n, "\r\n\r\n", 4);
		char *length = memmem(room, (size_t)n, "Content-Length: ", 16);

		if (!end || !length)
			exit(1);
		c->want = strtoul(length + 16, NULL, 10);
		*bytes += c->want;
		c->want += (size_t)(end + 4 - room);
	}
	c->got += (size_t)n;
	return c->got == c->want;
}

static struct score run_bare(const struct world *w)
{
	double t = clock_of(CLOCK_MONOTONIC), c = cpu(RUSAGE_SELF), s = server_cpu(w);
	struct bare conns[N_HOSTS];
	struct epoll_event events[N_HOSTS];
	static char room[256 << 10];
	int epoll = epoll_create1(0);
	unsigned done = 0;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < N_HOSTS; i++) {
		struct sockaddr_in sa = { .sin_family = AF_INET, .sin_port = htons((uint16_t)w->port),
			.sin_addr.s_addr = htonl(0x7f000701 + i) };

		conns[i] = (struct bare){ .fd = socket(AF_INET, SOCK_STREAM, 0), .next = i };
		events[0] = (struct epoll_event){ .events = EPOLLIN, .data.u32 = i };
		if (connect(conns[i].fd, (struct sockaddr *)&sa, sizeof sa) ||
		    epoll_ctl(epoll, EPOLL_CTL_ADD, conns[i].fd, &events[0]))
			exit(1);
		if (i < w->n)
			bare_send(w, &conns[i]);
	}
	while (done < w->n) {
		int n = epoll_wait(epoll, events, N_HOSTS, -1);

		for (int i = 0; i < n; i++) {
			struct bare *b = &conns[events[i].data.u32];

			if (!bare_receive(b, room, sizeof room, &bytes))
				continue;
			done++;
			if (b->next < w->n)
				bare_send(w, b);
		}
	}
	for (unsigned i = 0; i < N_HOSTS; i++)
		close(conns[i].fd);
	close(epoll);
	if (bytes != w->bytes)
		exit(1);
	return score_of(w, t, cpu(RUSAGE_SELF) - c, s);
}

/* Microseconds a page of SHA-1 and gzip alone. */
static double run_least(const struct world *w)
{
	struct warc_packer *packer = warc_packer_new((struct warc_packing){ 0 });
	struct warc_packed packed;
	struct buf body;
	double spent = 0, c;

	warc_packed_init(&packed);
	buf_init(&body, BUF_NO_LIMIT);
	for (unsigned i = 0; i < w->n; i++) {
		struct warc_capture capture = { .time = 1, .url = "http://127.0.7.1/",
			.head = "HTTP/1.1 200 OK\r\n\r\n", .head_size = 19 };

		read_body(w, i, &body);
		capture.body = body.data;
		capture.body_size = body.size;
		c = clock_of(CLOCK_THREAD_CPUTIME_ID);
		if (warc_pack_capture(packer, &capture, (struct warc_ids){ 0 }, &packed, NULL))
			exit(1);
		spent += clock_of(CLOCK_THREAD_CPUTIME_ID) - c;
	}
	warc_packed_release(&packed);
	warc_packer_free(packer);
	buf_release(&body);
	return spent * 1e6 / w->n;
}

static void print(const char *name, const struct score *s, const char *more)
{
	if (s->pages > 0)
		printf("  %-18s %7.0f pages/s %6.1f us CPU a page, %5.1f of the server%s\n", name,
		       s->pages, s->cpu, s->server, more);
}

struct results {
	struct score ours, whole, again, whole_pg, again_pg, whole_cells, again_cells, wget2, wget2_null, bare, wget;
	double least, peers[2];         /* microseconds a page; zlib -1, -6 */
	long memory;                    /* MB */
};

static bool wanted(const char *only, const char *name)
{
	return !*only || !strcmp(only, name);
}

static void run_all(const struct world *w, const char *only, struct results *r)
{
	const struct world part = part_of(w);
	struct rusage u;

	for (int i = 0; i < ROUNDS; i++) {
		if (wanted(only, "bare"))
			best(&r->bare, run_bare(w));
		for (unsigned threads = 8; threads <= 16; threads += 8) {
			if (wanted(only, "fetch"))
				best(&r->ours, run_ours(w));
			if (wanted(only, "wget2"))
				best(&r->wget2, run_wget2(w, threads, true));
		}
		if (wanted(only, "wget2"))
			best(&r->wget2_null, run_wget2(w, 8, false));
		if (wanted(only, "cycle") || wanted(only, "postgres"))
			{
			run_pipeline(w, false, false, &r->whole, &r->again);
			run_pipeline(w, false, true, &r->whole_cells, &r->again_cells);
		}
		if (wanted(only, "postgres"))
			run_pipeline(w, true, false, &r->whole_pg, &r->again_pg);
		if (wanted(only, "wget"))
			best(&r->wget, run_wget(&part));
	}
	getrusage(RUSAGE_SELF, &u);
	r->memory = u.ru_maxrss / 1024;
	r->least = run_least(w);
	for (int i = 0; i < 2 && wanted(only, "peers"); i++)
		r->peers[i] = run_peers(&part, i ? 6 : 1);
}

static void tell_ratios(const struct results *r)
{
	printf("  ratio to wget2: alone %.2fx pages/s (target 2; bare sockets %.2fx), "
	       "%.2fx less CPU; whole %.2fx pages/s (target 1), %.2fx less CPU "
	       "(target 1)\n", r->ours.pages / r->wget2.pages, r->bare.pages / r->wget2.pages,
	       r->wget2.cpu / r->ours.cpu, r->whole.pages / r->wget2.pages,
	       r->wget2.cpu / r->whole.cpu);
	printf("  whole pipeline, ratio to who does comparable work: wget --warc-file %.1fx "
	       "pages/s, %.1fx less CPU; wget2, SHA-1, libxml2 and zlib %.1fx (-1), %.1fx (-6) "
	       "less CPU (target 8)\n", r->whole.pages / r->wget.pages,
	       r->wget.cpu / r->whole.cpu, (r->wget2.cpu + r->peers[0]) / r->whole.cpu,
	       (r->wget2.cpu + r->peers[1]) / r->whole.cpu);
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : "";
	const char *pages = getenv("FRESHET_BENCH_PAGES");
	struct world w = { .dir = "/dev/shm/freshet-bench-XXXXXX",
		.n = pages ? (unsigned)atoi(pages) : 20000 };
	struct results r = { 0 };
	char cmd[100];

	setenv("PG_FSYNC", "on", 0);     /* as bench_store_pg */
	if (!mkdtemp(w.dir))
		return perror(w.dir), 1;
	chmod(w.dir, 0755);
	w.port = free_port();
	make_pages(&w);
	start_nginx(&w);
	run_all(&w, only, &r);
	kill(w.nginx, SIGTERM);
	waitpid(w.nginx, NULL, 0);
	snprintf(cmd, sizeof cmd, "rm -rf %s", w.dir);
	if (system(cmd))
		return 1;
	printf("fetch: %u pages, mean %.1f KB, %d hosts, nginx on loopback\n", w.n,
	       (double)w.bytes / w.n / 1000, N_HOSTS);
	print("bare sockets", &r.bare, " (what can be had)");
	print("fetching alone", &r.ours, "");
	print("wget2 to files", &r.wget2, "");
	print("  to /dev/null", &r.wget2_null, "");
	print("whole pipeline", &r.whole, "");
	print("  nothing changed", &r.again, "");
	print("  read in cells", &r.whole_cells, "");
	print("  nothing changed", &r.again_cells, "");
	if (r.whole_cells.cpu > 0)
		printf("  whole pipeline, in cells to not: %.3f of the CPU (target 1.1); %.3f where nothing "
		       "changed\n", r.whole_cells.cpu / r.whole.cpu, r.again_cells.cpu / r.again.cpu);
	print("on PostgreSQL", &r.whole_pg, "");
	print("  nothing changed", &r.again_pg, "");
	if (r.whole_pg.pages > 0)
		printf("  whole pipeline, PostgreSQL to SQLite: %.2f pages/s (target 0.7); %.2f where "
		       "nothing changed\n", r.whole_pg.pages / r.whole.pages,
		       r.again_pg.pages / r.again.pages);
	print("wget --warc-file", &r.wget, " (one page in ten)");
	if (r.peers[0] > 0)
		printf("  behind wget2: %.1f us of SHA-1, libxml2's SAX and zlib -1; %.1f with -6 "
		       "(one page in ten)\n", r.peers[0], r.peers[1]);
	printf("  the least of a cycle: %.1f us of SHA-1 and gzip; memory of all, pages not "
	       "counted: %ld MB\n", r.least, r.memory);
	if (!*only)
		tell_ratios(&r);
	return 0;
}
