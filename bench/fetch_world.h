/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_world.h - the pages of bench_fetch and the server that has them: nginx with one
 * process, on 64 loopback addresses, from a folder in memory.  It speaks plain HTTP, HTTP/1.1
 * over TLS, and HTTP/2 over TLS, each on a port of its own.
 */
#ifndef BENCH_FETCH_WORLD_H
#define BENCH_FETCH_WORLD_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define N_HOSTS 64
#define WORLD_URL 96

enum way { WAY_PLAIN, WAY_TLS, WAY_H2, N_WAYS };

struct world {
	char dir[64];                   /* p/N.html: the pages; list: their URLs */
	unsigned n, ports[N_WAYS];
	enum way way;                   /* that URLs lead by now */
	pid_t nginx;
	uint64_t bytes;
};

/* Pages a second; microseconds of processor time a page, ours and the server's. */
struct score { double pages, cpu, server; };

/* Make the pages (FRESHET_DATA: real ones, over and over; else made-up ones of real sizes)
 * and start the server.  Errors end the program. */
void world_make(struct world *w);
void world_end(struct world *w);
/* URLs lead this way from now on, those of the list, too. */
void world_set_way(struct world *w, enum way way);

void world_url(const struct world *w, unsigned i, char out[WORLD_URL]);
FILE *world_create(const struct world *w, const char *name);    /* a file in its folder */
/* The certificate of the authority that the server's is of. */
void world_ca(const struct world *w, char out[WORLD_URL]);

/* What was measured between two moments. */
struct moment { double clock, cpu, server; };
struct moment world_now(const struct world *w, int who);        /* RUSAGE_SELF, _CHILDREN */
struct score world_score(const struct world *w, int who, struct moment began);
/* The best of both. */
void score_best(struct score *b, struct score s);

#endif
