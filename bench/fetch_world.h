/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_world.h - the pages of bench_fetch and the server that has them: nginx with
 * one process, on loopback, from a folder in memory.
 */
#ifndef BENCH_FETCH_WORLD_H
#define BENCH_FETCH_WORLD_H

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "html_pages.h"

#define N_HOSTS 64

struct world { char dir[64]; unsigned n, port; pid_t nginx; uint64_t bytes; };

static inline FILE *create(const struct world *w, const char *name)
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

static inline void url_of(const struct world *w, unsigned i, char out[96])
{
	snprintf(out, 96, "http://127.0.7.%u:%u/p/%u.html", i % N_HOSTS + 1, w->port, i);
}

#define N_WORDS 4000

/* Words of one to four syllables. */
struct word_list { char v[N_WORDS][16]; };

static inline void make_words(struct word_list *w)
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
static inline const char *draw_word(struct rng *r, const struct word_list *w)
{
	return w->v[(unsigned)exp(log(N_WORDS) * rng_next_unit(r))];
}

/* A page much like those of documentation sites: they are 40 % markup, have a link
 * in every 250 bytes, and deflate to about a fifth. */
static inline void make_page(struct buf *b, struct rng *r, const struct word_list *words,
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

/* FRESHET_DATA: its pages, over and over; else made-up ones of real sizes. */
static inline void make_pages(struct world *w)
{
	const char *data = getenv("FRESHET_DATA");
	char name[64], url[96];
	FILE *list = create(w, "list");
	struct html_pages real = { 0 };
	struct word_list *words = mem_zalloc(1, sizeof *words);
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
		f = create(w, name);
		fwrite(b.data, 1, b.size, f);
		w->bytes += b.size;
		fclose(f);
		url_of(w, i, url);
		fprintf(list, "%s\n", url);
	}
	fclose(list);
	buf_release(&b);
	free(words);
	for (size_t i = 0; i < real.list.n; i++) {
		free((char *)(uintptr_t)real.list.v[i].data);
		free(real.list.v[i].url);
	}
	vec_release(&real.list);
}

static inline unsigned free_port(void)
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

static inline void start_nginx(struct world *w)
{
	FILE *f = create(w, "nginx.conf");
	char conf[96];

	fprintf(f, "master_process off; daemon off; pid %s/pid; error_log /dev/null;\n"
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

/* Processor seconds of the server so far. */
static inline double server_cpu(const struct world *w)
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

#endif
