/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bvgraph.c - decodes BVGraph rows; see bvgraph.h.
 *
 * A row is: its size; how many nodes back the row lies that it borrows from (0:
 * none); alternating lengths of what is copied and skipped there; runs of
 * consecutive numbers; and the rest as gaps.  The three parts are ascending and
 * disjoint, so a row is their merge.  Because rows are appended to the finished
 * graph, a borrowed row is simply read there: no window of recent rows is kept.
 *
 * The file is hostile: every count is checked against what is left of the row,
 * every number against the nodes, before anything is written.
 */
#include "graph/bvgraph.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "graph/bits.h"

#define LINKS_A_BIT 64          /* cap, against damaged files; web graphs have below 10 */
#define PROPS_SIZE_MAX ((size_t)1 << 20)
#define GRAPH_SIZE_MAX ((size_t)1 << 38)

struct decoder {
	const struct bvgraph_props *props;
	struct bits bits;
	uint64_t *offsets;              /* rows decoded so far: offsets, links */
	uint32_t *targets;
	VEC(uint32_t) copied, extra;
	VEC(uint64_t) runs;             /* first, length, first, length ... */
};

static uint64_t read_code(struct bits *b, enum bvgraph_code code, uint64_t k)
{
	switch (code) {
	case BVGRAPH_GAMMA:  return bits_gamma(b);
	case BVGRAPH_DELTA:  return bits_delta(b);
	case BVGRAPH_ZETA:   return bits_zeta(b, k);
	case BVGRAPH_NIBBLE: return bits_nibble(b);
	case BVGRAPH_UNARY:  return bits_unary(b);
	case BVGRAPH_GOLOMB: return bits_golomb(b, k);
	}
	return 0;
}

/* 0, 1, 2, 3, 4 ... stand for 0, -1, 1, -2, 2 ... */
static int64_t to_signed(uint64_t x)
{
	return x & 1 ? -(int64_t)(x >> 1) - 1 : (int64_t)(x >> 1);
}

/* The part of the row `back` nodes before that is copied. */
static bool copy_blocks(struct decoder *d, uint64_t node, uint64_t back, uint64_t degree)
{
	const uint32_t *row;
	uint64_t n_row, n_blocks, at = 0;

	if (back > node || back > d->props->window)
		return false;
	row = d->targets + d->offsets[node - back];
	n_row = d->offsets[node - back + 1] - d->offsets[node - back];
	n_blocks = read_code(&d->bits, d->props->block_counts, 0);
	if (n_blocks > n_row + 1)       /* no block but the first may be empty */
		return false;
	for (uint64_t i = 0; i <= n_blocks; i++) {
		uint64_t n;

		if (i < n_blocks)
			n = read_code(&d->bits, d->props->blocks, 0) + (i > 0);
		else if (i & 1)
			break;          /* the last block was a copied one */
		else
			n = n_row - at; /* the rest is copied */
		if (n > n_row - at)
			return false;
		if (!(i & 1) && n) {
			if (n > degree - d->copied.n)
				return false;
			vec_reserve(&d->copied, n);
			memcpy(d->copied.v + d->copied.n, row + at, n * sizeof *row);
			d->copied.n += n;
		}
		at += n;
	}
	return bits_ok(&d->bits);
}

/* Runs of consecutive numbers, into extra; *left: numbers still missing. */
static bool read_runs(struct decoder *d, uint64_t node, uint64_t *left)
{
	uint64_t n_runs = bits_gamma(&d->bits), next = 0, n_nodes = d->props->n_nodes;

	if (n_runs > *left / d->props->min_interval)
		return false;
	for (uint64_t i = 0; i < n_runs; i++) {
		uint64_t first, n;

		if (i == 0)
			first = (uint64_t)((int64_t)node + to_signed(bits_gamma(&d->bits)));
		else
			first = next + 1 + bits_gamma(&d->bits);
		n = bits_gamma(&d->bits) + d->props->min_interval;
		if (!bits_ok(&d->bits) || first >= n_nodes || n > n_nodes - first || n > *left)
			return false;
		vec_push(&d->runs, first);
		vec_push(&d->runs, n);
		*left -= n;
		next = first + n;
	}
	return bits_ok(&d->bits);
}

static bool read_residuals(struct decoder *d, uint64_t node, uint64_t n)
{
	enum bvgraph_code code = d->props->residuals;
	uint64_t v = 0, k = d->props->zeta_k, n_nodes = d->props->n_nodes;

	vec_reserve(&d->extra, n);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t x = read_code(&d->bits, code, k);

		if (i == 0)
			v = (uint64_t)((int64_t)node + to_signed(x));
		else if (x < n_nodes)
			v += x + 1;
		else
			return false;
		if (v >= n_nodes || !bits_ok(&d->bits))
			return false;
		vec_push(&d->extra, (uint32_t)v);
	}
	return true;
}

/* Merge two ascending lists; the same number in both is damage. */
static bool merge(const uint32_t *a, uint64_t n_a, const uint32_t *b, uint64_t n_b,
                  uint32_t *ret)
{
	while (n_a && n_b) {
		if (*a == *b)
			return false;
		if (*a < *b) {
			*ret++ = *a++;
			n_a--;
		} else {
			*ret++ = *b++;
			n_b--;
		}
	}
	if (n_a + n_b)
		memcpy(ret, n_a ? a : b, (n_a + n_b) * sizeof *ret);
	return true;
}

/* Write runs and residuals into one ascending list behind the residuals. */
static bool merge_runs(struct decoder *d)
{
	uint64_t n_residuals = d->extra.n, n_run_links = 0, at = 0;
	uint32_t *out;

	for (size_t i = 0; i < d->runs.n; i += 2)
		n_run_links += d->runs.v[i + 1];
	vec_reserve(&d->extra, n_residuals + n_run_links);
	out = d->extra.v + n_residuals;
	for (size_t i = 0; i < d->runs.n; i += 2) {
		uint64_t first = d->runs.v[i], end = first + d->runs.v[i + 1];

		while (at < n_residuals && d->extra.v[at] < first)
			*out++ = d->extra.v[at++];
		if (at < n_residuals && d->extra.v[at] < end)
			return false;
		for (uint64_t v = first; v < end; v++)
			*out++ = (uint32_t)v;
	}
	while (at < n_residuals)
		*out++ = d->extra.v[at++];
	d->extra.n = n_residuals + n_run_links;         /* merged: from n_residuals on */
	return true;
}

/* Decode the row of a node, behind the rows before it; false: damaged. */
static bool decode_row(struct decoder *d, uint64_t node)
{
	uint64_t degree = read_code(&d->bits, d->props->degrees, 0), left, skip;
	uint64_t begin = d->offsets[node];

	if (!bits_ok(&d->bits) || degree > d->props->n_nodes ||
	    degree > d->props->n_links - begin)
		return false;
	d->offsets[node + 1] = begin + degree;
	d->copied.n = d->extra.n = d->runs.n = 0;
	if (!degree)
		return true;
	if (d->props->window) {
		uint64_t back = read_code(&d->bits, d->props->references, 0);

		if (back && !copy_blocks(d, node, back, degree))
			return false;
	}
	left = degree - d->copied.n;
	if (left && d->props->min_interval && !read_runs(d, node, &left))
		return false;
	skip = d->runs.n ? left : 0;
	if (!read_residuals(d, node, left) || (d->runs.n && !merge_runs(d)))
		return false;
	return merge(d->copied.v, d->copied.n, d->extra.v + skip, degree - d->copied.n,
	             d->targets + begin);
}

static int decode_rows(struct decoder *d, const char *name, struct bits *positions,
                       struct err *err)
{
	uint64_t expected = 0;

	for (uint64_t v = 0; v < d->props->n_nodes; v++) {
		uint64_t at = d->bits.at;

		if (positions) {
			expected += read_code(positions, d->props->offsets, 0);
			if (!bits_ok(positions))
				return err_set(err, E_PARSE, "%s.offsets: ends before node %llu; "
					"remove it to read without", name, (unsigned long long)v);
			if (expected != at)
				return err_set(err, E_PARSE, "%s: row of node %llu begins at bit "
					"%llu, but %s.offsets says %llu: one of them is damaged", name,
					(unsigned long long)v, (unsigned long long)at, name,
					(unsigned long long)expected);
		}
		if (!decode_row(d, v))
			return err_set(err, E_PARSE, "%s.graph: damaged or cut short at the row "
				"of node %llu, bit %llu of %llu", name, (unsigned long long)v,
				(unsigned long long)at, (unsigned long long)d->bits.end);
	}
	if (d->offsets[d->props->n_nodes] != d->props->n_links)
		return err_set(err, E_PARSE, "%s: %llu links, but the properties say %llu", name,
			(unsigned long long)d->offsets[d->props->n_nodes],
			(unsigned long long)d->props->n_links);
	return 0;
}

static uint8_t *padded(const void *data, size_t size)
{
	uint8_t *p = mem_array(size + BITS_PAD, 1);

	if (size)
		memcpy(p, data, size);
	memset(p + size, 0, BITS_PAD);
	return p;
}

int bvgraph_decode(const struct bvgraph_props *props, const char *name, const void *data,
                   size_t size, const void *offsets, size_t offsets_size,
                   struct graph *ret, struct err *err)
{
	struct decoder d = { .props = props };
	struct bits positions = { 0 };
	struct graph g;
	int r;

	if (props->n_nodes > (uint64_t)size * 8)
		return err_set(err, E_PARSE, "%s.graph: %zu bytes cannot hold %llu nodes", name,
		               size, (unsigned long long)props->n_nodes);
	if (props->n_links / LINKS_A_BIT > (uint64_t)size * 8)
		return err_set(err, E_PARSE, "%s.graph: %zu bytes for %llu links: no graph is packed "
		               "so well", name, size, (unsigned long long)props->n_links);
	graph_alloc(&g, (uint32_t)props->n_nodes, props->n_links, &d.offsets, &d.targets);
	d.bits = (struct bits){ .data = padded(data, size), .end = (uint64_t)size * 8 };
	if (offsets)
		positions = (struct bits){ .data = padded(offsets, offsets_size),
		                           .end = (uint64_t)offsets_size * 8 };
	vec_reserve(&d.copied, 1);      /* memcpy() must not get NULL */
	vec_reserve(&d.extra, 1);
	r = decode_rows(&d, name, offsets ? &positions : NULL, err);
	free((void *)d.bits.data);
	free((void *)positions.data);
	vec_release(&d.copied);
	vec_release(&d.extra);
	vec_release(&d.runs);
	if (r)
		graph_release(&g);
	else
		*ret = g;
	return r;
}

/* A whole file; missing_ok: 1 if it is not there. */
static int read_file(const char *path, size_t max, bool missing_ok, struct buf *b,
                     struct err *err)
{
	FILE *f = fopen(path, "rb");
	char *room;
	size_t n;

	if (!f)
		return missing_ok && errno == ENOENT ? 1 : err_errno(err, E_IO, "%s", path);
	buf_init(b, max);
	do {
		size_t more = b->size < 1 << 16 ? 1 << 16 : b->size;

		if (more > max - b->size)
			more = max - b->size;
		room = buf_room(b, more);
		n = room ? fread(room, 1, more, f) : 0;
		b->size += n;
	} while (n);
	if (ferror(f) || b->size == max) {
		fclose(f);
		buf_release(b);
		return err_set(err, E_IO, "%s: cannot be read, or too large", path);
	}
	fclose(f);
	return 0;
}

/* The common part of the names, without one of the endings. */
static void cut_ending(char *base)
{
	static const char *const endings[] = { ".graph", ".properties", ".offsets" };
	size_t n = strlen(base);

	for (size_t i = 0; i < 3; i++) {
		size_t e = strlen(endings[i]);

		if (n > e && !strcmp(base + n - e, endings[i])) {
			base[n - e] = '\0';
			return;
		}
	}
}

int bvgraph_read(const char *base_or_name, struct graph *ret, struct err *err)
{
	struct buf text = { 0 }, data = { 0 }, offsets = { 0 };
	struct bvgraph_props props;
	char base[3000], path[4096];
	int r, no_offsets;

	snprintf(base, sizeof base, "%s", base_or_name);
	cut_ending(base);
	snprintf(path, sizeof path, "%s.properties", base);
	r = read_file(path, PROPS_SIZE_MAX, false, &text, err);
	if (!r)
		r = bvgraph_parse_props(buf_text(&text), text.size, path, &props, err);
	if (r)
		goto out;
	snprintf(path, sizeof path, "%s.graph", base);
	r = read_file(path, GRAPH_SIZE_MAX, false, &data, err);
	if (r)
		goto out;
	snprintf(path, sizeof path, "%s.offsets", base);
	r = no_offsets = read_file(path, GRAPH_SIZE_MAX, true, &offsets, err);
	if (r >= 0)
		r = bvgraph_decode(&props, base, data.data, data.size,
			no_offsets ? NULL : buf_text(&offsets), offsets.size, ret, err);
out:
	buf_release(&text);
	buf_release(&data);
	buf_release(&offsets);
	return r;
}
