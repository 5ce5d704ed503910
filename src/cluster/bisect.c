/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bisect.c - the order of divisions and the tree; see bisect.h.
 *
 * A division depends on its node's rows and the node's own seed, so several can
 * be found at once and kept until their turn comes: with BISECT_BEST the two new
 * nodes (whose gains must be known before the next choice), with BISECT_LARGEST
 * the next few by size, which will be divided soon in any case.  The division
 * found waits in side[], at the indexes that the node's rows have in order[].  When
 * it is made, the node's part of order[] is divided in two.
 *
 * Memory beside the rows: 17 bytes per row, and per division under way the sums
 * over the vocabulary.
 */
#include "cluster/bisect.h"

#include <assert.h>
#include <math.h>
#include <omp.h>

#include "base/heap.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "cluster/kernel.h"
#include "cluster/refine.h"
#include "cluster/split.h"

#define AT_ONCE 8               /* divisions computed at the same time */

struct node_state {
	struct split_result found;
	uint64_t seed;
	bool known;
};

struct bisect {
	const struct rows *rows;
	struct bisect_options o;
	struct clusters *c;
	struct node_state *state;
	struct heap leaves;     /* leaves that may still be divided */
	uint32_t n_leaves;
	uint8_t *side;          /* by index in order */
	float *key;
	uint32_t *scratch;
	struct split_work *work[AT_ONCE];
};

static void add_node(struct bisect *b, uint32_t begin, uint32_t size, uint32_t parent,
                     uint64_t seed)
{
	uint32_t i = b->c->n_nodes++;

	b->c->nodes[i] = (struct cluster_node){
		.begin = begin, .size = size, .parent = parent,
		.child = { CLUSTER_NONE, CLUSTER_NONE }, .cluster = CLUSTER_NONE,
	};
	b->state[i] = (struct node_state){ .seed = seed };
	if (size > 1)
		heap_set(&b->leaves, i, b->o.choose == BISECT_BEST ? HUGE_VAL : (double)size);
}

static void find_division(struct bisect *b, uint32_t node, struct split_work *w)
{
	const struct cluster_node *nd = &b->c->nodes[node];
	struct split_part part = {
		b->c->order + nd->begin, nd->size, b->side + nd->begin, b->key + nd->begin,
	};

	split_run(w, &part, b->state[node].seed, &b->state[node].found);
}

/* Leaves whose division should be computed now: it is needed next, or soon. */
static uint32_t pick_pending(struct bisect *b, uint32_t *pending)
{
	uint32_t popped[AT_ONCE], n_popped = 0, n = 0;
	uint32_t most = b->o.k - b->n_leaves < AT_ONCE ? b->o.k - b->n_leaves : AT_ONCE;
	double key[AT_ONCE];

	if (b->o.choose == BISECT_BEST)
		most = AT_ONCE;         /* leaves of unknown gain are on top: take all of these */
	while (n_popped < most && heap_pop(&b->leaves, &popped[n_popped], &key[n_popped])) {
		uint32_t node = popped[n_popped];

		n_popped++;
		if (!b->state[node].known)
			pending[n++] = node;
		else if (b->o.choose == BISECT_BEST || n == 0)
			break;          /* we know which leaf is divided next */
	}
	for (uint32_t i = 0; i < n_popped; i++)
		heap_set(&b->leaves, popped[i], key[i]);
	return n;
}

static void find_pending(struct bisect *b)
{
	uint32_t pending[AT_ONCE], n = pick_pending(b, pending);

	for (uint32_t i = 0; i < n; i++) {
		if (!b->work[i])
			b->work[i] = split_work_new(b->rows, &(struct split_options){
				b->o.trials, b->o.sample, b->o.passes });
		#pragma omp task if (n > 1) firstprivate(i)
		find_division(b, pending[i], b->work[i]);
	}
	#pragma omp taskwait
	for (uint32_t i = 0; i < n; i++) {
		struct node_state *s = &b->state[pending[i]];

		s->known = true;
		if (!s->found.done)
			heap_remove(&b->leaves, pending[i]);
		else if (b->o.choose == BISECT_BEST)
			heap_set(&b->leaves, pending[i], s->found.gain);
	}
}

/* Divide the node's rows by side, keeping their order. */
static void divide_node(struct bisect *b, uint32_t node)
{
	struct cluster_node *nd = &b->c->nodes[node];
	const struct split_result *found = &b->state[node].found;
	uint32_t *order = b->c->order + nd->begin, at[2] = { 0, found->n[0] };
	const uint8_t *side = b->side + nd->begin;
	uint64_t seed = b->state[node].seed;

	for (uint32_t i = 0; i < nd->size; i++)
		b->scratch[at[side[i]]++] = order[i];
	memcpy(order, b->scratch, nd->size * sizeof *order);
	for (uint32_t s = 0; s < 2; s++) {
		nd->child[s] = b->c->n_nodes;
		add_node(b, nd->begin + (s ? found->n[0] : 0), found->n[s], node,
		         rng_mix(seed + 1 + s));
	}
	b->n_leaves++;
}

static void divide_all(struct bisect *b)
{
	while (b->n_leaves < b->o.k) {
		uint32_t node;
		double key;

		find_pending(b);
		if (!heap_top(&b->leaves, &node, &key))
			break;
		if (!b->state[node].known)
			continue;       /* its division must be computed first */
		heap_pop(&b->leaves, &node, &key);
		divide_node(b, node);
	}
}

static int by_size(const void *a, const void *b)
{
	const struct cluster_node *x = *(const struct cluster_node *const *)a;
	const struct cluster_node *y = *(const struct cluster_node *const *)b;

	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

void clusters_number(struct clusters *c)
{
	struct cluster_node **leaves = mem_array(c->n_nodes, sizeof *leaves);

	c->k = 0;
	for (uint32_t i = 0; i < c->n_nodes; i++)
		if (c->nodes[i].child[0] == CLUSTER_NONE)
			leaves[c->k++] = &c->nodes[i];
	if (c->k)
		qsort(leaves, c->k, sizeof *leaves, by_size);
	free(c->leaf);
	free(c->size);
	c->leaf = mem_array(c->k, sizeof *c->leaf);
	c->size = mem_array(c->k, sizeof *c->size);
	for (uint32_t i = 0; i < c->k; i++) {
		struct cluster_node *nd = leaves[i];

		nd->cluster = i;
		c->leaf[i] = (uint32_t)(nd - c->nodes);
		c->size[i] = nd->size;
		for (uint32_t j = nd->begin; j < nd->begin + nd->size; j++)
			c->of[c->order[j]] = i;
	}
	free(leaves);
}

static void prepare(struct bisect *b, const uint32_t *members, uint32_t n)
{
	struct clusters *c = b->c;
	uint32_t max_nodes = 2 * b->o.k - 1;

	*c = (struct clusters){ .n_rows = b->rows->n, .n_members = n };
	c->of = mem_array(b->rows->n, sizeof *c->of);
	memset(c->of, 0xff, b->rows->n * sizeof *c->of);
	c->order = mem_array(n, sizeof *c->order);
	for (uint32_t i = 0; i < n; i++)
		c->order[i] = members ? members[i] : i;
	c->nodes = mem_array(max_nodes, sizeof *c->nodes);
	b->state = mem_array(max_nodes, sizeof *b->state);
	b->side = mem_array(n, 1);
	b->key = mem_array(n, sizeof *b->key);
	b->scratch = mem_array(n, sizeof *b->scratch);
	heap_init(&b->leaves, max_nodes);
}

static void release(struct bisect *b)
{
	free(b->state);
	free(b->side);
	free(b->key);
	free(b->scratch);
	heap_release(&b->leaves);
	for (int i = 0; i < AT_ONCE; i++)
		split_work_free(b->work[i]);
}

void bisect_run(const struct rows *rows, const uint32_t *members, uint32_t n,
                const struct bisect_options *options, struct clusters *ret)
{
	struct bisect b = { .rows = rows, .o = *options, .c = ret };

	b.o.k = b.o.k ? b.o.k : 100;
	b.o.trials = b.o.trials ? b.o.trials : 10;
	b.o.sample = b.o.sample ? b.o.sample : 256;
	b.o.passes = b.o.passes ? b.o.passes : 10;
	b.o.threads = b.o.threads ? b.o.threads : (unsigned)omp_get_max_threads();
	n = members ? n : rows->n;
	if (b.o.k > n)
		b.o.k = n ? n : 1;
	prepare(&b, members, n);
	#pragma omp parallel num_threads((int)b.o.threads)
	#pragma omp single
	{
		if (n) {
			add_node(&b, 0, n, CLUSTER_NONE, rng_mix(b.o.seed));
			b.n_leaves = 1;
			divide_all(&b);
		}
		clusters_number(ret);
	}
	for (uint32_t i = 0; i < ret->n_nodes; i++)
		ret->nodes[i].norm = b.state[i].found.norm;
	clusters_centroids(ret, rows, ret->leaf, ret->k, &ret->centroids);
	for (uint32_t i = 0; i < ret->k; i++)
		ret->criterion += ret->nodes[ret->leaf[i]].norm;
	release(&b);
	if (options->refine)
		refine_run(ret, rows, options->refine, options->threads);
}

void clusters_release(struct clusters *c)
{
	free(c->of);
	free(c->order);
	free(c->nodes);
	free(c->leaf);
	free(c->size);
	rows_release(&c->centroids);
	*c = (struct clusters){ 0 };
}

const uint32_t *clusters_members(const struct clusters *c, uint32_t i, uint32_t *ret_n)
{
	const struct cluster_node *nd = &c->nodes[c->leaf[i]];

	*ret_n = nd->size;
	return c->order + nd->begin;
}

void clusters_at(const struct clusters *c, uint32_t k, uint32_t *ret_nodes)
{
	uint32_t made = 2 * k - 1, n = 0;

	assert(k > 0 && k <= c->k);
	for (uint32_t i = 0; i < made; i++)
		if (c->nodes[i].child[0] >= made)       /* also if it is CLUSTER_NONE */
			ret_nodes[n++] = i;
	assert(n == k);
}

double clusters_criterion_at(const struct clusters *c, uint32_t k)
{
	double sum = 0;

	for (uint32_t i = 0; i < 2 * k - 1 && i < c->n_nodes; i++)
		if (c->nodes[i].child[0] >= 2 * k - 1)
			sum += c->nodes[i].norm;
	return sum;
}

/* The sum of a node's rows as row i of ret; returns its length. */
static double add_centroid(const struct clusters *c, const struct rows *rows,
                           const struct cluster_node *nd, double *sum, struct rows *ret,
                           uint32_t i)
{
	size_t dim = rows_is_dense(rows) ? rows->stride : rows->dim;
	double *sums[2] = { sum, NULL }, square = 0;

	memset(sum, 0, dim * sizeof *sum);
	kernel_add_rows(rows, c->order + nd->begin, nd->size, NULL, sums);
	for (uint32_t j = 0; j < dim; j++) {
		square += sum[j] * sum[j];
		if (rows_is_dense(rows))
			rows_dense(ret, i)[j] = (float)sum[j];
		else if (sum[j] != 0)
			rows_add(ret, j, (float)sum[j]);
	}
	if (!rows_is_dense(rows))
		rows_close(ret);
	return sqrt(square);
}

void clusters_centroids(struct clusters *c, const struct rows *rows, const uint32_t *nodes,
                        uint32_t n_nodes, struct rows *ret)
{
	size_t dim = rows_is_dense(rows) ? rows->stride : rows->dim;
	double *sum = mem_array(dim, sizeof *sum);

	if (rows_is_dense(rows))
		rows_init_dense(ret, n_nodes, rows->dim);
	else
		rows_init_sparse(ret, rows->dim);
	for (uint32_t i = 0; i < n_nodes; i++) {
		struct cluster_node *nd = &c->nodes[nodes[i]];

		nd->norm = add_centroid(c, rows, nd, sum, ret, i);
	}
	rows_unit(ret);
	free(sum);
}
