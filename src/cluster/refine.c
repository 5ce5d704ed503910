/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refine.c - k-way refinement; see refine.h.
 *
 * One pass is an assignment to the nearest centroid and new centroids.  For unit
 * rows both steps raise the sum of cosines or leave it.  A cluster that all its
 * rows would leave keeps the nearest of them: alone it counts 1, elsewhere it can
 * add no more than that.
 *
 * Cost.  O(non-zeros * k) a pass, in tiles (centroid.h); 12 bytes a row.
 */
#include "cluster/refine.h"

#include <omp.h>

#include "base/mem.h"
#include "cluster/centroid.h"

/* Give emptied clusters their nearest old row back. */
static void keep_all(const struct clusters *c, const struct rows *rows, uint32_t *to,
                     uint32_t *size)
{
	for (uint32_t i = 0; i < c->k; i++) {
		const struct cluster_node *nd = &c->nodes[c->leaf[i]];
		uint32_t keep = nd->begin;
		double best = -2;

		if (size[i])
			continue;
		for (uint32_t j = nd->begin; j < nd->begin + nd->size; j++) {
			double dot = rows_dot(rows, c->order[j], &c->centroids, i);

			if (size[to[j]] > 1 && dot > best) {
				best = dot;
				keep = j;
			}
		}
		size[to[keep]]--;
		to[keep] = i;
		size[i]++;
	}
}

/* Put the rows of each leaf side by side again, leaves in their old order, and
 * let inner nodes span their children. */
static void regroup(struct clusters *c, const uint32_t *to, const uint32_t *size)
{
	uint32_t *order = mem_array(c->n_members, sizeof *order);
	uint32_t *at = mem_array(c->k, sizeof *at), next = 0;

	for (uint32_t p = 0; p < c->n_members;) {       /* leaf by leaf, in their order */
		uint32_t i = c->of[c->order[p]];

		p += c->nodes[c->leaf[i]].size;
		at[i] = next;
		next += size[i];
	}
	for (uint32_t i = 0; i < c->k; i++) {
		c->nodes[c->leaf[i]].begin = at[i];
		c->nodes[c->leaf[i]].size = size[i];
	}
	for (uint32_t p = 0; p < c->n_members; p++)
		order[at[to[p]]++] = c->order[p];
	for (uint32_t p = 0; p < c->n_members; p++)
		c->order[p] = order[p];
	for (uint32_t i = c->n_nodes; i-- > 0;) {       /* children before parents */
		struct cluster_node *nd = &c->nodes[i];

		if (nd->child[0] == CLUSTER_NONE)
			continue;
		nd->begin = c->nodes[nd->child[0]].begin;
		nd->size = c->nodes[nd->child[0]].size + c->nodes[nd->child[1]].size;
	}
	free(order);
	free(at);
}

static bool pass(struct clusters *c, const struct rows *rows, uint32_t *to, float *cosine)
{
	uint32_t *size = mem_zalloc(c->k, sizeof *size), moved = 0;

	centroid_assign(rows, c->order, c->n_members, &c->centroids, to, cosine);
	for (uint32_t p = 0; p < c->n_members; p++) {
		uint32_t now = c->of[c->order[p]];

		/* an empty row stays, and one that is as near to its own centroid */
		if (to[p] != now && !(cosine[p] > 0 &&
		    rows_dot(rows, c->order[p], &c->centroids, now) < (double)cosine[p] - 1e-6))
			to[p] = now;
		moved += to[p] != now;
		size[to[p]]++;
	}
	if (moved) {
		keep_all(c, rows, to, size);
		regroup(c, to, size);
		clusters_number(c);
		rows_release(&c->centroids);
		clusters_centroids(c, rows, c->leaf, c->k, &c->centroids);
	}
	free(size);
	return moved;
}

/* Set the lengths of the inner nodes' sums: those from the divisions are no longer true. */
static void measure_inner(struct clusters *c, const struct rows *rows)
{
	uint32_t *inner = mem_array(c->n_nodes, sizeof *inner), n = 0;
	struct rows centroids;

	for (uint32_t i = 0; i < c->n_nodes; i++)
		if (c->nodes[i].child[0] != CLUSTER_NONE)
			inner[n++] = i;
	clusters_centroids(c, rows, inner, n, &centroids);
	rows_release(&centroids);
	free(inner);
}

void refine_run(struct clusters *c, const struct rows *rows, unsigned passes,
                unsigned threads)
{
	uint32_t *to = mem_array(c->n_members, sizeof *to);
	float *cosine = mem_array(c->n_members, sizeof *cosine);
	int before = omp_get_max_threads();
	bool moved = false;

	if (threads)
		omp_set_num_threads((int)threads);
	for (unsigned i = 0; i < passes && c->k > 1; i++) {
		if (!pass(c, rows, to, cosine))
			break;
		moved = true;
	}
	if (moved)
		measure_inner(c, rows);
	omp_set_num_threads(before);
	c->criterion = 0;
	for (uint32_t i = 0; i < c->k; i++)
		c->criterion += c->nodes[c->leaf[i]].norm;
	free(to);
	free(cosine);
}
