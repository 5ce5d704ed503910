/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_build.c - links in any order to compressed sparse rows; see graph.h.
 *
 * Links are gathered as (from, to) pairs.  A full buffer becomes a run: sorted
 * by `from` with a least-significant-digit radix sort (as many 11-bit passes
 * as the highest node needs, each reading and writing in order; none if the links
 * came in that order, as those of saved lists do), its rows
 * counted, and appended to a temporary file.  Finishing makes offsets from the
 * counts and then walks each run once: because a run is in order of `from`,
 * its pass over the targets goes in order too, so nothing jumps about in
 * memory however large the graph.  Last, rows are sorted and doubles dropped.
 */
#include "graph/graph.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

#define DIGIT_BITS 11
#define DIGITS ((size_t)1 << DIGIT_BITS)
#define DEFAULT_MEMORY ((size_t)2 << 30)
#define READ_LINKS ((size_t)1 << 16)

struct link { uint32_t from, to; };

struct graph_builder {
	struct graph_build_opts opts;
	VEC(struct link) links;
	struct link *spare;             /* second buffer of the radix sort */
	size_t links_max;
	uint32_t *degrees;
	size_t degrees_cap;             /* all of it is zeroed */
	uint32_t highest;               /* highest node + 1 */
	uint32_t last_from;             /* of the link before, in this run */
	bool in_disorder;               /* some `from` of the run is below the one before */
	uint64_t n_spilled;
	int fd;
};

struct graph_builder *graph_builder_new(const struct graph_build_opts *opts)
{
	struct graph_builder *b = mem_zalloc(1, sizeof *b);

	if (opts)
		b->opts = *opts;
	if (!b->opts.memory)
		b->opts.memory = DEFAULT_MEMORY;
	b->links_max = b->opts.memory / sizeof(struct link);
	if (b->links_max < 1024)
		b->links_max = 1024;
	b->fd = -1;
	return b;
}

void graph_builder_free(struct graph_builder *b)
{
	if (!b)
		return;
	if (b->fd >= 0)
		close(b->fd);
	vec_release(&b->links);
	free(b->spare);
	free(b->degrees);
	free(b);
}

static void sort_digit(const struct link *from, struct link *to, size_t n, unsigned shift)
{
	size_t heads[DIGITS] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		heads[(from[i].from >> shift) & (DIGITS - 1)]++;
	for (size_t d = 0; d < DIGITS; d++) {
		size_t count = heads[d];

		heads[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[heads[(from[i].from >> shift) & (DIGITS - 1)]++] = from[i];
}

/* Sort the gathered links by `from` and add them to the degrees. */
static void sort_run(struct graph_builder *b)
{
	size_t n = b->links.n;

	if (b->degrees_cap < b->highest) {
		size_t old = b->degrees_cap;

		mem_grow((void **)&b->degrees, &b->degrees_cap, b->highest,
		         sizeof *b->degrees);
		memset(b->degrees + old, 0, (b->degrees_cap - old) * sizeof *b->degrees);
	}
	for (unsigned shift = 0; shift < 32 && (b->highest >> shift) != 0 && b->in_disorder;
	     shift += DIGIT_BITS) {
		struct link *sorted;

		if (!b->spare)
			b->spare = mem_array(b->links.cap, sizeof *b->spare);
		sort_digit(b->links.v, b->spare, n, shift);
		sorted = b->spare;
		b->spare = b->links.v;
		b->links.v = sorted;
	}
	for (size_t i = 0; i < n; i++)
		b->degrees[b->links.v[i].from]++;
	b->last_from = 0;
	b->in_disorder = false;
}

static int write_all(int fd, const void *data, size_t size, struct err *err)
{
	const char *p = data;

	while (size) {
		ssize_t n = write(fd, p, size > 1u << 30 ? 1u << 30 : size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(err, E_IO, "temporary file for graph links");
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

static int open_spill(struct graph_builder *b, struct err *err)
{
	const char *dir = b->opts.tmp_dir ? b->opts.tmp_dir : getenv("TMPDIR");
	char path[4096];

	snprintf(path, sizeof path, "%s/freshet-graph-XXXXXX", dir && *dir ? dir : "/tmp");
	b->fd = mkostemp(path, O_CLOEXEC);
	if (b->fd < 0)
		return err_errno(err, E_IO, "%s", path);
	unlink(path);
	return 0;
}

static int spill(struct graph_builder *b, struct err *err)
{
	int r;

	if (b->fd < 0 && (r = open_spill(b, err)))
		return r;
	sort_run(b);
	r = write_all(b->fd, b->links.v, b->links.n * sizeof *b->links.v, err);
	b->n_spilled += b->links.n;
	b->links.n = 0;
	return r;
}

int graph_builder_add(struct graph_builder *b, uint32_t from, uint32_t to, struct err *err)
{
	uint32_t highest = from > to ? from : to;

	if (highest >= GRAPH_NODES_MAX)
		return err_set(err, E_LIMIT, "node %u: numbers must be below %u", highest,
		               GRAPH_NODES_MAX);
	if (highest >= b->highest)
		b->highest = highest + 1;
	if (from == to && b->opts.drop_loops)
		return 0;
	if (b->links.n == b->links_max) {
		int r = spill(b, err);

		if (r)
			return r;
	}
	b->in_disorder |= from < b->last_from;
	b->last_from = from;
	vec_push(&b->links, ((struct link){ from, to }));
	return 0;
}

int graph_builder_add_many(struct graph_builder *b, const uint32_t *from,
                           const uint32_t *to, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		int r = graph_builder_add(b, from[i], to[i], err);

		if (r)
			return r;
	}
	return 0;
}

/* heads[v]: where the next link of v goes. */
static int place_spilled(struct graph_builder *b, uint64_t *heads, uint32_t *targets,
                         struct err *err)
{
	struct link *part = mem_array(READ_LINKS, sizeof *part);
	uint64_t left = b->n_spilled * sizeof *part;
	uint64_t at = 0;
	int r = 0;

	while (left && !r) {
		size_t want = READ_LINKS * sizeof *part;
		ssize_t got = pread(b->fd, part, left < want ? left : want, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < (ssize_t)sizeof *part) {
			r = err_errno(err, E_IO, "reading the temporary file of links");
			break;
		}
		got -= got % (ssize_t)sizeof *part;
		for (size_t i = 0; i < (size_t)got / sizeof *part; i++)
			targets[heads[part[i].from]++] = part[i].to;
		at += (uint64_t)got;
		left -= (uint64_t)got;
	}
	free(part);
	return r;
}

/* Sort every row; with dedupe, close the gaps that doubles leave. */
static void tidy_rows(struct graph *g, uint64_t *offsets, uint32_t *targets, bool dedupe)
{
	uint64_t kept = 0, begin = 0;

	/* small graphs are built inside threads of others: no threads for them */
	#pragma omp parallel for schedule(dynamic, 4096) if (g->n_nodes > 65536)
	for (uint32_t v = 0; v < g->n_nodes; v++)
		graph_sort_row(targets + offsets[v], offsets[v + 1] - offsets[v]);
	if (!dedupe)
		return;
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		uint64_t end = offsets[v + 1], row = kept;

		for (uint64_t i = begin; i < end; i++)
			if (kept == row || targets[kept - 1] != targets[i])
				targets[kept++] = targets[i];
		offsets[v + 1] = kept;
		begin = end;
	}
	g->n_links = kept;
}

int graph_builder_finish(struct graph_builder *b, uint32_t n_nodes, struct graph *ret,
                         struct err *err)
{
	uint64_t *offsets, *heads;
	struct graph g;
	uint32_t *targets;
	int r = 0;

	if (n_nodes && n_nodes < b->highest) {
		r = err_set(err, E_PARSE, "a link names node %u, but there are only %u nodes",
		            b->highest - 1, n_nodes);
		goto out;
	}
	if (!n_nodes)
		n_nodes = b->highest;
	sort_run(b);
	free(b->spare);
	b->spare = NULL;
	graph_alloc(&g, n_nodes, b->n_spilled + b->links.n, &offsets, &targets);
	heads = offsets + 1;            /* as in graph_transpose() */
	for (uint32_t v = 0, last = n_nodes; v + 1 < last; v++)
		heads[v + 1] = heads[v] + (v < b->degrees_cap ? b->degrees[v] : 0);
	r = place_spilled(b, heads, targets, err);
	if (r) {
		graph_release(&g);
		goto out;
	}
	for (size_t i = 0; i < b->links.n; i++)
		targets[heads[b->links.v[i].from]++] = b->links.v[i].to;
	vec_release(&b->links);
	tidy_rows(&g, offsets, targets, b->opts.dedupe);
	*ret = g;
out:
	graph_builder_free(b);
	return r;
}

int graph_build(const uint32_t *from, const uint32_t *to, size_t n_links,
                uint32_t n_nodes, bool dedupe, struct graph *ret, struct err *err)
{
	struct graph_build_opts opts = { .dedupe = dedupe };
	struct graph_builder *b = graph_builder_new(&opts);
	int r = graph_builder_add_many(b, from, to, n_links, err);

	if (r) {
		graph_builder_free(b);
		return r;
	}
	return graph_builder_finish(b, n_nodes, ret, err);
}
