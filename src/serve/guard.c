/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c - see guard.h. */
#include "serve/guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <strings.h>

#include "base/map.h"
#include "fetch/gate.h"
#include "serve/http/head.h"

static bool is_name(struct text t, const char *name)
{
	return t.size == strlen(name) && !strncasecmp(t.s, name, t.size);
}

bool guard_host(const struct serve *s, const struct http_request *r, struct http_answer *a)
{
	const char *host = http_header(r, "Host");
	struct text name = head_host(host ? host : "");
	bool ok = is_name(name, s->address) ||
	          (s->loopback && (is_name(name, "localhost") || is_name(name, "127.0.0.1") ||
	                           is_name(name, "::1")));

	for (size_t i = 0; i < s->opts.names.n; i++)
		ok |= is_name(name, s->opts.names.v[i]);
	/* elsewhere than on loopback everybody has a token, which a strange name does not bring */
	if (ok || (!s->loopback && !s->opts.names.n))
		return true;
	http_problem(a, 421, "Host is none of this server's names; --name tells it others");
	return false;
}

bool guard_origin(const struct http_request *r, struct http_answer *a)
{
	const char *origin = http_header(r, "Origin"), *host = http_header(r, "Host");
	const char *site = http_header(r, "Sec-Fetch-Site");
	const char *at = origin ? strstr(origin, "://") : NULL;
	bool reads = !strcmp(r->method, "GET") || !strcmp(r->method, "HEAD");
	bool api = r->uri.n_segments && !strcmp(r->uri.segments[0], "v1");

	if (reads && !api)
		return true;
	if ((!origin || (at && host && !strcasecmp(at + 3, host))) &&
	    (!site || !strcasecmp(site, "same-origin") || !strcasecmp(site, "none")))
		return true;
	http_problem(a, 403, "the request comes from a page of another site");
	return false;
}

/* ---- rate ---- */

struct bucket { uint64_t key; double left, at; };

struct guard {
	pthread_mutex_t lock;
	double rate, swept;
	struct map by_client;
	VEC(struct bucket) buckets;
};

struct guard *guard_new(double rate)
{
	struct guard *g = mem_zalloc(1, sizeof *g);

	g->rate = rate;
	pthread_mutex_init(&g->lock, NULL);
	return g;
}

void guard_free(struct guard *g)
{
	if (!g)
		return;
	map_release(&g->by_client);
	vec_release(&g->buckets);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

/* Who has a bucket: a token, an address, or an IPv6 /64, for who has one of its addresses has
 * all of them. */
static uint64_t client_key(const char *client)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6 };
	uint8_t party[GATE_PARTY];

	if (inet_pton(AF_INET6, client, &a.sin6_addr) != 1)
		return hash_bytes(client, strlen(client), 0);
	return hash_bytes(party, gate_party((struct sockaddr *)&a, party), 0);
}

/* A bucket that has filled up again is as good as none. */
static void forget_full(struct guard *g, double now)
{
	double most = g->rate * GUARD_BURST;
	size_t n = 0;

	if (now < g->swept + 1)
		return;
	g->swept = now;
	map_clear(&g->by_client);
	for (size_t i = 0; i < g->buckets.n; i++) {
		const struct bucket *b = &g->buckets.v[i];

		if (b->left + (now - b->at) * g->rate >= most)
			continue;
		map_put(&g->by_client, b->key, (uint32_t)n);
		g->buckets.v[n++] = *b;
	}
	g->buckets.n = n;
}

/* The bucket of a client, a full one if it is new.  More clients than there may be share some,
 * and only new ones do. */
static struct bucket *find_bucket(struct guard *g, const char *client, double now)
{
	uint64_t key = client_key(client);
	uint32_t at = map_get(&g->by_client, key);

	if (at == MAP_NONE && g->buckets.n >= GUARD_CLIENTS_MAX)
		forget_full(g, now);
	if (at == MAP_NONE && g->buckets.n >= GUARD_CLIENTS_MAX) {
		key %= GUARD_SHARED;
		at = map_get(&g->by_client, key);
	}
	if (at == MAP_NONE) {
		at = (uint32_t)g->buckets.n;
		map_put(&g->by_client, key, at);
		vec_push(&g->buckets, ((struct bucket){ key, g->rate * GUARD_BURST, now }));
	}
	return &g->buckets.v[at];
}

bool guard_rate(struct guard *g, const char *client, double now, struct http_answer *a)
{
	double most = g->rate * GUARD_BURST;
	struct bucket *b;
	bool ok;

	if (g->rate <= 0)
		return true;
	pthread_mutex_lock(&g->lock);
	b = find_bucket(g, client, now);
	b->left += (now - b->at) * g->rate;
	b->left = b->left > most ? most : b->left;
	b->at = now;
	ok = b->left >= 1;
	if (ok)
		b->left--;
	pthread_mutex_unlock(&g->lock);
	if (!ok) {
		http_problem(a, 429, "more than %.0f requests a second: slow down, or ask for more "
		             "pages at a time", g->rate);
		http_answer_header(a, "Retry-After", "1");
	}
	return ok;
}
