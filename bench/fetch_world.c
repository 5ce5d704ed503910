/* SPDX-License-Identifier: Apache-2.0 */
/* fetch_world.c - see fetch_world.h. */
#include "fetch_world.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "clock.h"
#include "html_pages.h"

#define N_WORDS 4000

FILE *world_create(const struct world *w, const char *name)
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

void world_url(const struct world *w, unsigned i, char out[WORLD_URL])
{
	snprintf(out, WORLD_URL, "%s://127.0.7.%u:%u/p/%u.html",
	         w->way == WAY_PLAIN ? "http" : "https", i % N_HOSTS + 1, w->ports[w->way], i);
}

void world_ca(const struct world *w, char out[WORLD_URL])
{
	snprintf(out, WORLD_URL, "%s/cert.pem", w->dir);
}

void world_set_way(struct world *w, enum way way)
{
	char url[WORLD_URL];
	FILE *list = world_create(w, "list");

	w->way = way;
	for (unsigned i = 0; i < w->n; i++) {
		world_url(w, i, url);
		fprintf(list, "%s\n", url);
	}
	fclose(list);
}

/* ---- pages ---- */

/* Words of one to four syllables. */
struct word_list { char v[N_WORDS][16]; };

static void make_words(struct word_list *w)
{
	static const char *const syllables[] = { "ta", "ri", "mon", "se", "de", "lo", "in",
		"ver", "ca", "tion", "pro", "al", "en", "ter", "ma", "no" };

	for (unsigned i = 0; i < N_WORDS; i++) {
		uint64_t h = rng_mix(i);

		w->v[i][0] = '\0';
		for (unsigned k = 0; k <= (h & 3); k++)
			strcat(w->v[i], syllables[h >> (4 * k + 8) & 15]);
	}
}

/* The few common ones most of the time, as in any language. */
static const char *draw_word(struct rng *r, const struct word_list *w)
{
	return w->v[(unsigned)exp(log(N_WORDS) * rng_next_unit(r))];
}

/* A page much like those of documentation sites: they are 40 % markup, have a link
 * in every 250 bytes, and deflate to about a fifth. */
static void make_page(struct buf *b, struct rng *r, const struct word_list *words,
                      unsigned number, size_t want)
{
	buf_clear(b);
	buf_printf(b, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	           "<title>Page %u</title>\n<link rel=\"stylesheet\" href=\"/s.css\"></head>\n"
	           "<body class=\"docs\">\n<div id=\"nav\"><ul>\n", number);
	for (unsigned k = 0; k < 10; k++)
		buf_printf(b, "  <li class=\"item\"><a href=\"../section%u/index.html\">"
		           "Section %u</a></li>\n", k, k);
	buf_str(b, "</ul></div>\n");
	for (unsigned k = 0; b->size < want; k++) {
		if (k % 6 == 0)
			buf_printf(b, "<h2 id=\"part%u\">%s</h2>\n", k, draw_word(r, words));
		buf_str(b, k % 3 ? "<p class=\"text\">" : "<p>");
		for (unsigned i = 0; i < 40; i++) {
			if (i % 20 == 7)
				buf_printf(b, "<a href=\"/docs/%s/%u.html\"><code>%s</code></a> ",
				           draw_word(r, words), (unsigned)rng_below(r, 500),
				           draw_word(r, words));
			buf_str(b, draw_word(r, words));
			buf_str(b, i % 15 == 14 ? ". " : i % 10 == 9 ? ",\n" : " ");
		}
		buf_str(b, "</p>\n");
	}
	buf_str(b, "</body></html>\n");
}

static void make_pages(struct world *w)
{
	const char *data = getenv("FRESHET_DATA");
	struct html_pages real = { 0 };
	struct word_list *words = mem_zalloc(1, sizeof *words);
	char name[96];
	struct buf b;
	struct rng r;

	if (data && *data)
		pages_load(&real, data);
	snprintf(name, sizeof name, "%s/p", w->dir);
	mkdir(name, 0755);
	rng_init(&r, 1);
	make_words(words);
	buf_init(&b, BUF_NO_LIMIT);
	for (unsigned i = 0; i < w->n; i++) {
		double size = 11500 * exp(1.05 * rng_normal(&r));
		FILE *f;

		if (real.list.n) {
			const struct html_page *page = &real.list.v[i % real.list.n];

			buf_clear(&b);
			buf_add(&b, page->data, page->size);
			buf_printf(&b, "<!-- %u -->\n", i);
		} else {
			make_page(&b, &r, words, i, size < 1000 ? 0 : size > 262000 ? 262000 :
			          (size_t)size - 500);
		}
		snprintf(name, sizeof name, "p/%u.html", i);
		f = world_create(w, name);
		fwrite(b.data, 1, b.size, f);
		w->bytes += b.size;
		fclose(f);
	}
	buf_release(&b);
	free(words);
	for (size_t i = 0; i < real.list.n; i++) {
		free((char *)(uintptr_t)real.list.v[i].data);
		free(real.list.v[i].url);
	}
	vec_release(&real.list);
}

/* ---- the server ---- */

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

/* One that signs itself, for all addresses. */
static void make_certificate(const struct world *w)
{
	char cmd[3000];
	int n = snprintf(cmd, sizeof cmd, "openssl req -x509 -newkey ec -pkeyopt "
	                 "ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=bench -keyout %s/key.pem "
	                 "-out %s/cert.pem -addext subjectAltName=IP:127.0.7.1", w->dir, w->dir);

	for (int i = 2; i <= N_HOSTS; i++)
		n += snprintf(cmd + n, sizeof cmd - (size_t)n, ",IP:127.0.7.%d", i);
	snprintf(cmd + n, sizeof cmd - (size_t)n, " 2>/dev/null");
	if (system(cmd)) {
		fprintf(stderr, "openssl makes no certificate\n");
		exit(1);
	}
}

static void start_nginx(struct world *w)
{
	static const char *const how[N_WAYS] = { "", " ssl", " ssl http2" };
	FILE *f = world_create(w, "nginx.conf");
	char conf[96];

	fprintf(f, "master_process off; daemon off; pid %s/pid; error_log /dev/null;\n"
	        "events { worker_connections 1024; }\nhttp { access_log off; sendfile on;\n"
	        "tcp_nopush on; keepalive_requests 1000000; types { text/html html; }\n"
	        "client_body_temp_path %s; proxy_temp_path %s; fastcgi_temp_path %s;\n"
	        "uwsgi_temp_path %s; scgi_temp_path %s;\nserver { root %s;\n"
	        "ssl_certificate %s/cert.pem; ssl_certificate_key %s/key.pem;\n", w->dir, w->dir,
	        w->dir, w->dir, w->dir, w->dir, w->dir, w->dir, w->dir);
	for (int i = 1; i <= N_HOSTS; i++)
		for (int way = 0; way < N_WAYS; way++)
			fprintf(f, "listen 127.0.7.%d:%u%s;\n", i, w->ports[way], how[way]);
	fprintf(f, "} }\n");
	fclose(f);
	snprintf(conf, sizeof conf, "%s/nginx.conf", w->dir);
	w->nginx = fork();
	if (!w->nginx) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		execlp("nginx", "nginx", "-p", w->dir, "-c", conf, (char *)NULL);
		_exit(127);
	}
	usleep(500000);
	if (waitpid(w->nginx, NULL, WNOHANG)) {
		fprintf(stderr, "nginx does not start (scripts/deps --bench)\n");
		exit(1);
	}
}

void world_make(struct world *w)
{
	if (!mkdtemp(w->dir)) {
		perror(w->dir);
		exit(1);
	}
	chmod(w->dir, 0755);
	for (int way = 0; way < N_WAYS; way++)
		do
			w->ports[way] = free_port();
		while (way && w->ports[way] == w->ports[way - 1]);
	make_pages(w);
	make_certificate(w);
	start_nginx(w);
	world_set_way(w, WAY_PLAIN);
}

void world_end(struct world *w)
{
	char cmd[100];

	kill(w->nginx, SIGTERM);
	waitpid(w->nginx, NULL, 0);
	snprintf(cmd, sizeof cmd, "rm -rf %s", w->dir);
	if (system(cmd))
		exit(1);
}

/* ---- what it costs ---- */

static double cpu_of(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Processor seconds of the server so far. */
static double server_cpu(const struct world *w)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/schedstat", (int)w->nginx);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	if (f)
		fclose(f);
	return (double)ns * 1e-9;
}

struct moment world_now(const struct world *w, int who)
{
	return (struct moment){ clock_of(CLOCK_MONOTONIC), cpu_of(who), server_cpu(w) };
}

struct score world_score(const struct world *w, int who, struct moment began)
{
	struct moment now = world_now(w, who);

	return (struct score){ w->n / (now.clock - began.clock), (now.cpu - began.cpu) * 1e6 / w->n,
		(now.server - began.server) * 1e6 / w->n };
}

void score_best(struct score *b, struct score s)
{
	if (s.pages > b->pages)
		b->pages = s.pages;
	if (b->cpu <= 0 || s.cpu < b->cpu)
		b->cpu = s.cpu;
	if (b->server <= 0 || s.server < b->server)
		b->server = s.server;
}
