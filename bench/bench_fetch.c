/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_fetch.c - fetching alone, and the whole of a cycle, against wget2: same
 * pages, same server, same run.
 *
 * 20,000 pages of real sizes (mean 20 KB, 1 to 260 KB, log-normal) lie in a
 * folder in memory; nginx (one worker) serves them on 64 loopback addresses.
 * Ours fetches them over 64 connections with delays off and hashes every body;
 * wget2 (16 threads) writes them to files in memory.  Rounds alternate, the best
 * of each counts; CPU time is the client's own, user and system.
 *
 * With FRESHET_BENCH_PAGES=N the number of pages is N.
 */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "engine/crawl.h"
#include "fetch/fetch.h"
#include "fetch/gate.h"

#define N_HOSTS 64
#define ROUNDS 3

struct world { char dir[64]; unsigned n, port; pid_t nginx; uint64_t bytes; };
struct score { double pages, cpu; };    /* a second; microseconds a page */

static double clock_of(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static FILE *create(const struct world *w, const char *name)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", w->dir, name);
	f = fopen(path, "w");
	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

static void url_of(const struct world *w, unsigned i, char out[96])
{
	snprintf(out, 96, "http://127.0.7.%u:%u/p/%u.html", i % N_HOSTS + 1, w->port, i);
}

static void make_pages(struct world *w)
{
	/* about 75 links a page, as in real corpora */
	static const char *const words[] = { "page", "site", "change", "the", "<p>", "of",
		"archive", "</p>\n", "copy", "<a href=\"/x.html\">", "</a>", "visit", "budget",
		"and", "a", "to", "in", "that", "crawl", "server", "with", "for", "is", "on",
		"which", "was", "from", "link", "time", "<b>bold</b>" };
	char name[64], url[96];
	FILE *list = create(w, "list");
	struct rng r;

	snprintf(name, sizeof name, "%s/p", w->dir);
	mkdir(name, 0755);
	rng_init(&r, 1);
	for (unsigned i = 0; i < w->n; i++) {
		double size = 11500 * exp(1.05 * rng_normal(&r));
		long want = size < 1000 ? 1000 : size > 263000 ? 263000 : (long)size;
		long made;
		FILE *f;

		snprintf(name, sizeof name, "p/%u.html", i);
		f = create(w, name);
		made = fprintf(f, "<!DOCTYPE html><html><body>%u\n", i);
		while (made < want)
			made += fprintf(f, "%s %x ", words[rng_below(&r, sizeof words / sizeof *words)],
			                (unsigned)rng_below(&r, 4096));
		w->bytes += (uint64_t)made;
		fclose(f);
		url_of(w, i, url);
		fprintf(list, "%s\n", url);
	}
	fclose(list);
}

static unsigned free_port(void)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof sa;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(fd, (struct sockaddr *)&sa, sizeof sa) ||
	    getsockname(fd, (struct sockaddr *)&sa, &size))
		exit(1);
	close(fd);
	return ntohs(sa.sin_port);
}

static void start_nginx(struct world *w)
{
	FILE *f = create(w, "nginx.conf");
	char conf[96];

	fprintf(f, "worker_processes 1; daemon off; pid %s/pid; error_log /dev/null;\n"
	        "events { worker_connections 1024; }\nhttp { access_log off; sendfile on;\n"
	        "tcp_nopush on; keepalive_requests 1000000; types { text/html html; }\n"
	        "client_body_temp_path %s; proxy_temp_path %s; fastcgi_temp_path %s;\n"
	        "uwsgi_temp_path %s; scgi_temp_path %s;\nserver { root %s;\n", w->dir, w->dir,
	        w->dir, w->dir, w->dir, w->dir, w->dir);
	for (int i = 1; i <= N_HOSTS; i++)
		fprintf(f, "listen 127.0.7.%d:%u;\n", i, w->port);
	fprintf(f, "} }\n");
	fclose(f);
	snprintf(conf, sizeof conf, "%s/nginx.conf", w->dir);
	w->nginx = fork();
	if (!w->nginx) {
		execlp("nginx", "nginx", "-p", w->dir, "-c", conf, (char *)NULL);
		_exit(127);
	}
	usleep(500000);
	if (waitpid(w->nginx, NULL, WNOHANG)) {
		fprintf(stderr, "nginx does not start (scripts/deps --bench)\n");
		exit(1);
	}
}

static struct score run_ours(const struct world *w)
{
	struct fetch_options o = FETCH_DEFAULTS;
	const struct fetch_result *r;
	struct gate gate = { 0 };
	struct fetch_stats stats;
	struct fetch *f;
	struct err err;
	double t = clock_of(CLOCK_MONOTONIC), c = cpu(RUSAGE_SELF);
	uint64_t bytes = 0, hash = 0;
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
		hash ^= hash_bytes(r->decoded, r->decoded_size, r->page);
		done++;
	}
	fetch_stats(f, &stats);
	fetch_free(f);
	gate_release(&gate);
	if (bytes != w->bytes || !hash) {
		fprintf(stderr, "bytes differ\n");
		exit(1);
	}
	t = clock_of(CLOCK_MONOTONIC) - t;
	c = cpu(RUSAGE_SELF) - c;
	return (struct score){ w->n / t, c * 1e6 / w->n };
}

/* Everything that a cycle does: fetch, parse, digests, WARC with gzip, store. */
static struct score run_pipeline(const struct world *w)
{
	struct fetch_options o = FETCH_DEFAULTS;
	struct crawl_opts opts = { .policy = "oldest", .budget = { 100, true }, .seed = 1,
		.cycle_seconds = 86400, .confirmations = 1 };
	char url[96], db[96], folder[96];
	struct crawl_report report;
	struct gate gate = { 0 };
	struct store *store;
	struct err err;
	double t, c;
	uint32_t number;
	int rc;

	snprintf(db, sizeof db, "%s/freshet.db", w->dir);
	snprintf(folder, sizeof folder, "%s/warc", w->dir);
	unlink(db);
	mkdir(folder, 0755);
	rc = store_open(&store, db, STORE_CREATE, &err);
	rc = rc < 0 ? rc : store_begin(store, &err);
	for (unsigned i = 0; i < w->n && rc >= 0; i++) {
		url_of(w, i, url);
		rc = store_page_add(store, (struct text){ url, strlen(url) }, 1, &number, &err);
	}
	rc = rc < 0 ? rc : store_commit(store, &err);
	rc = rc < 0 ? rc : gate_allow(&gate, "127.0.7.0/24", &err);
	o.gate = &gate;
	o.proxy = "";
	o.polite.delay = o.polite.address_delay = 0;
	o.connections = N_HOSTS;
	opts.fetch = o;
	opts.warc_folder = folder;
	opts.batch = 1000;
	t = clock_of(CLOCK_MONOTONIC);
	c = cpu(RUSAGE_SELF);
	rc = rc < 0 ? rc : crawl_cycle(store, &opts, &report, &err);
	if (rc < 0 || report.cycle.fresh != w->n) {
		fprintf(stderr, "cycle: %s\n", rc < 0 ? err.text : "not all fetched");
		exit(1);
	}
	t = clock_of(CLOCK_MONOTONIC) - t;
	c = cpu(RUSAGE_SELF) - c;
	store_close(store);
	gate_release(&gate);
	return (struct score){ w->n / t, c * 1e6 / w->n };
}

static struct score run_wget2(const struct world *w)
{
	double t, c = cpu(RUSAGE_CHILDREN);
	char cmd[400];

	snprintf(cmd, sizeof cmd, "rm -rf %s/out && mkdir %s/out", w->dir, w->dir);
	if (system(cmd))
		exit(1);
	c = cpu(RUSAGE_CHILDREN);
	t = clock_of(CLOCK_MONOTONIC);
	snprintf(cmd, sizeof cmd, "exec wget2 -q --no-proxy --max-threads=16 -P %s/out "
	         "--no-config -i %s/list", w->dir, w->dir);
	if (system(cmd)) {
		fprintf(stderr, "wget2 failed (scripts/deps --bench)\n");
		exit(1);
	}
	t = clock_of(CLOCK_MONOTONIC) - t;
	c = cpu(RUSAGE_CHILDREN) - c;
	snprintf(cmd, sizeof cmd, "test $(ls %s/out | wc -l) = %u", w->dir, w->n);
	if (system(cmd)) {
		fprintf(stderr, "wget2 did not fetch all\n");
		exit(1);
	}
	return (struct score){ w->n / t, c * 1e6 / w->n };
}

static void best(struct score *b, struct score s)
{
	if (s.pages > b->pages)
		b->pages = s.pages;
	if (b->cpu <= 0 || s.cpu < b->cpu)
		b->cpu = s.cpu;
}

int main(void)
{
	const char *pages = getenv("FRESHET_BENCH_PAGES");
	struct world w = { .dir = "/dev/shm/freshet-bench-XXXXXX",
		.n = pages ? (unsigned)atoi(pages) : 20000 };
	struct score ours = { 0 }, whole = { 0 }, wget2 = { 0 };
	struct rusage u;
	char cmd[100];

	if (!mkdtemp(w.dir))
		return perror(w.dir), 1;
	chmod(w.dir, 0755);
	w.port = free_port();
	make_pages(&w);
	start_nginx(&w);
	for (int i = 0; i < ROUNDS; i++) {
		best(&ours, run_ours(&w));
		best(&wget2, run_wget2(&w));
		best(&whole, run_pipeline(&w));
	}
	kill(w.nginx, SIGTERM);
	waitpid(w.nginx, NULL, 0);
	snprintf(cmd, sizeof cmd, "rm -rf %s", w.dir);
	if (system(cmd))
		return 1;
	getrusage(RUSAGE_SELF, &u);
	printf("fetch: %u pages, mean %.1f KB, %d hosts, nginx on loopback\n", w.n,
	       (double)w.bytes / w.n / 1000, N_HOSTS);
	printf("  fetching alone   %7.0f pages/s  %6.1f us CPU a page\n", ours.pages, ours.cpu);
	printf("  whole pipeline   %7.0f pages/s  %6.1f us CPU a page  (peak of both %ld MB)\n",
	       whole.pages, whole.cpu, u.ru_maxrss / 1024);
	printf("  wget2 to files   %7.0f pages/s  %6.1f us CPU a page\n", wget2.pages, wget2.cpu);
	printf("  ratio to wget2: alone %.2fx pages/s (target 2), %.2fx less CPU; "
	       "whole %.2fx pages/s (target 1), %.2fx less CPU (target 1)\n",
	       ours.pages / wget2.pages, wget2.cpu / ours.cpu,
	       whole.pages / wget2.pages, wget2.cpu / whole.cpu);
	return 0;
}
