/* SPDX-License-Identifier: Apache-2.0 */
/* grouping.c - clusters for policies; see grouping.h. */
#include "policy/model/grouping.h"

#include <pthread.h>

#include "base/map.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "cluster/centroid.h"

void grouping_release(struct grouping *g)
{
	for (uint32_t i = 0; g->near && i < g->n_groups; i++)
		free(g->near[i]);
	free(g->near);
	free(g->spent);
	free(g->of);
	free(g->first);
	free(g->pages);
	rows_release(&g->centroids);
	*g = (struct grouping){ 0 };
}

/* ---- groups that several runs make alike */

#define SHARE_MOST ((size_t)256 << 20)

struct shared_groups {
	uint64_t seed, members;         /* of the run; members: hash of the pages in it */
	enum feature_set set;
	uint32_t k;
	struct grouping made;
};

struct grouping_share {
	pthread_mutex_t lock;
	VEC(struct shared_groups) all;
	size_t bytes;
};

struct grouping_share *grouping_share_new(void)
{
	struct grouping_share *s = mem_zalloc(1, sizeof *s);

	pthread_mutex_init(&s->lock, NULL);
	return s;
}

void grouping_share_free(struct grouping_share *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->all.n; i++)
		grouping_release(&s->all.v[i].made);
	vec_release(&s->all);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static void *copy_array(const void *from, size_t n, size_t size)
{
	void *to = mem_array(n, size);

	return n ? memcpy(to, from, n * size) : to;
}

static void copy_rows(struct rows *to, const struct rows *from)
{
	if (rows_is_dense(from)) {
		rows_init_dense(to, from->n, from->dim);
		memcpy(to->dense, from->dense, from->dense_size);
		return;
	}
	rows_init_sparse(to, from->dim);
	for (uint32_t i = 0; i < from->n; i++) {
		for (uint64_t j = from->start[i]; j < from->start[i + 1]; j++)
			rows_add(to, from->term[j], from->weight[j]);
		rows_close(to);
	}
}

/* The copy is as when made: `spent` is zero, `near` is empty. */
static void copy_grouping(struct grouping *to, const struct grouping *from)
{
	*to = (struct grouping){ .n_groups = from->n_groups, .n_pages = from->n_pages,
	                         .cycle = from->cycle };
	to->of = copy_array(from->of, from->n_pages, sizeof *to->of);
	to->first = copy_array(from->first, (size_t)from->n_groups + 1, sizeof *to->first);
	to->pages = copy_array(from->pages, from->first[from->n_groups], sizeof *to->pages);
	to->spent = mem_zalloc(from->n_groups, sizeof *to->spent);
	copy_rows(&to->centroids, &from->centroids);
}

static bool share_find(struct grouping_share *s, const struct shared_groups *key,
                       struct grouping *ret)
{
	bool found = false;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->all.n && !found; i++) {
		const struct shared_groups *o = &s->all.v[i];

		found = o->seed == key->seed && o->members == key->members && o->set == key->set &&
		        o->k == key->k && o->made.n_pages == key->made.n_pages;
		if (found)
			copy_grouping(ret, &o->made);
	}
	pthread_mutex_unlock(&s->lock);
	return found;
}

/* Two threads may have made the same groups: then both copies stay, and they are equal.
 * */
static void share_keep(struct grouping_share *s, struct shared_groups *key,
                       const struct grouping *g)
{
	size_t bytes = ((size_t)g->n_pages + g->first[g->n_groups]) * sizeof *g->of;

	pthread_mutex_lock(&s->lock);
	if (bytes <= SHARE_MOST - s->bytes) {
		s->bytes += bytes;
		copy_grouping(&key->made, g);
		vec_push(&s->all, *key);
	}
	pthread_mutex_unlock(&s->lock);
}

/* ---- making them */

/* No features: equal rows, which make one cluster. */
static void no_features(const struct view *v, struct rows *ret)
{
	rows_init_dense(ret, v->n_pages, 1);
	for (uint32_t i = 0; i < v->n_pages; i++)
		rows_dense(ret, i)[0] = 1;
}

static void make_groups(struct grouping *g, const struct view *v, enum feature_set set,
                        uint32_t k, const uint32_t *members, uint32_t n)
{
	struct bisect_options o = { .k = k, .threads = v->threads,
	                            .seed = rng_draw(v->seed, v->cycle, 0, RNG_SPLIT) };
	struct clusters c;
	struct rows rows;

	if (v->features)
		v->features->rows(v->features->self, v, set, &rows);
	else
		no_features(v, &rows);
	bisect_run(&rows, members, n, &o, &c);
	g->n_groups = c.k;
	g->n_pages = v->n_pages;
	g->cycle = v->cycle;
	g->spent = mem_zalloc(c.k, sizeof *g->spent);
	g->first = mem_zalloc((size_t)c.k + 1, sizeof *g->first);
	g->pages = mem_array(n, sizeof *g->pages);
	for (uint32_t i = 0; i < c.k; i++) {
		centroid_members(&c, &rows, i, g->pages + g->first[i]);
		g->first[i + 1] = g->first[i] + c.size[i];
	}
	g->of = c.of;
	g->centroids = c.centroids;
	c.of = NULL;
	c.centroids = (struct rows){ 0 };
	clusters_release(&c);
	rows_release(&rows);
}

void grouping_make(struct grouping *g, const struct view *v, enum feature_set set,
                   uint32_t k)
{
	uint32_t *members = mem_array(v->n_pages, sizeof *members), n = 0;
	struct shared_groups key = { .seed = v->seed, .set = set, .k = k,
	                             .made = { .n_pages = v->n_pages } };
	bool alike = v->groups && v->cycle == 1 && set != SET_DYNAMIC && set != SET_COMBINED;

	grouping_release(g);
	for (uint32_t i = 0; i < v->n_pages; i++)
		if (v->state[i] & PAGE_HERE)
			members[n++] = i;
	key.members = alike ? hash_bytes(members, n * sizeof *members, n) : 0;
	if (!alike || !share_find(v->groups, &key, g)) {
		make_groups(g, v, set, k, members, n);
		if (alike)
			share_keep(v->groups, &key, g);
	}
	free(members);
}

bool grouping_is_stale(const struct grouping *g, const struct view *v)
{
	uint32_t n_open = 0, n_out = 0;

	if (!g->cycle || g->n_pages != v->n_pages)
		return true;
	for (uint32_t i = 0; i < v->n_pages; i++) {
		if (!(v->state[i] & PAGE_HERE))
			continue;
		n_open++;
		n_out += g->of[i] == CLUSTER_NONE;
	}
	return n_out > n_open / 20;
}

const uint32_t *grouping_near(struct grouping *g, uint32_t group)
{
	if (!g->near)
		g->near = mem_zalloc(g->n_groups, sizeof *g->near);
	if (!g->near[group]) {
		g->near[group] = mem_array(g->n_groups, sizeof **g->near);
		centroid_order(&g->centroids, group, g->near[group]);
	}
	return g->near[group];
}
