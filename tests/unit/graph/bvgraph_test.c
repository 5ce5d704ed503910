/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BVGraph: graphs are encoded here, bit by bit as strings of '0' and '1', with
 * every option of the format, and must come back the same; then the files are
 * damaged in every way that is cheap to try.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "graph/bvgraph.h"
#include "../../lib/scratch.h"

struct writer { char *bits; size_t n, cap; };

static void put(struct writer *w, unsigned bit)
{
	mem_grow((void **)&w->bits, &w->cap, w->n + 1, 1);
	w->bits[w->n++] = (char)bit;
}

static void put_bits(struct writer *w, uint64_t v, unsigned n)
{
	while (n--)
		put(w, v >> n & 1);
}

static unsigned log2_of(uint64_t v)
{
	unsigned n = 0;

	while (v >>= 1)
		n++;
	return n;
}

static void put_unary(struct writer *w, uint64_t v)
{
	while (v--)
		put(w, 0);
	put(w, 1);
}

static void put_gamma(struct writer *w, uint64_t v)
{
	put_unary(w, log2_of(v + 1));
	put_bits(w, v + 1, log2_of(v + 1));
}

/* x of 0 .. b - 1 in the fewest bits: the first ones are one bit shorter. */
static void put_minimal(struct writer *w, uint64_t x, uint64_t b)
{
	unsigned s = log2_of(b);
	uint64_t n_short = ((uint64_t)2 << s) - b;

	if (x < n_short)
		put_bits(w, x, s);
	else
		put_bits(w, x + n_short, s + 1);
}

static void put_code(struct writer *w, enum bvgraph_code code, uint64_t v, uint64_t k)
{
	unsigned groups = 1;

	switch (code) {
	case BVGRAPH_UNARY: put_unary(w, v); break;
	case BVGRAPH_GAMMA: put_gamma(w, v); break;
	case BVGRAPH_DELTA:
		put_gamma(w, log2_of(v + 1));
		put_bits(w, v + 1, log2_of(v + 1));
		break;
	case BVGRAPH_ZETA: {            /* v + 1 in [2^hk, 2^(h+1)k) */
		uint64_t h = log2_of(v + 1) / k, low = (uint64_t)1 << h * k;

		put_unary(w, h);
		put_minimal(w, v + 1 - low, (low << k) - low);
		break;
	}
	case BVGRAPH_NIBBLE:
		while (v >> 3 * groups)
			groups++;
		while (groups--) {
			put(w, groups == 0);
			put_bits(w, v >> 3 * groups & 7, 3);
		}
		break;
	case BVGRAPH_GOLOMB:
		put_unary(w, v / k);
		put_minimal(w, v % k, k);
		break;
	}
}

static uint64_t to_natural(int64_t v)
{
	return v < 0 ? (uint64_t)-v * 2 - 1 : (uint64_t)v * 2;
}

static bool has(const struct graph *g, uint32_t node, uint32_t target)
{
	uint64_t n;
	const uint32_t *links = graph_links(g, node, &n);

	for (uint64_t i = 0; i < n; i++)
		if (links[i] == target)
			return true;
	return false;
}

/* Blocks over the row of node - back; what is left of node's row to extra. */
static size_t put_reference(struct writer *w, const struct bvgraph_props *p,
                            const struct graph *g, uint32_t node, uint32_t back,
                            uint32_t *extra)
{
	uint64_t n, n_ref, blocks[400], n_blocks = 0, run = 0;
	const uint32_t *row = graph_links(g, node, &n);
	const uint32_t *ref = graph_links(g, node - back, &n_ref);
	bool copying = true;
	size_t n_extra = 0;

	for (uint64_t i = 0; i < n_ref; i++) {
		if (has(g, node, ref[i]) != copying) {
			blocks[n_blocks++] = run;
			run = 0;
			copying = !copying;
		}
		run++;
	}
	/* a copied end is implied by an even count; a skipped end by the last
	 * copied block being there, so nothing more is written either way */
	put_code(w, p->block_counts, n_blocks, 0);
	for (uint64_t i = 0; i < n_blocks; i++)
		put_code(w, p->blocks, blocks[i] - (i > 0), 0);
	for (uint64_t i = 0; i < n; i++)
		if (!has(g, node - back, row[i]))
			extra[n_extra++] = row[i];
	return n_extra;
}

/* Runs out of extra; returns how many numbers are left in it. */
static size_t put_runs(struct writer *w, const struct bvgraph_props *p, uint32_t node,
                       uint32_t *extra, size_t n)
{
	uint32_t first[200], length[200], n_runs = 0;
	size_t left = 0;

	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && extra[j] == extra[j - 1] + 1; j++)
			;
		if (j - i >= p->min_interval) {
			first[n_runs] = extra[i];
			length[n_runs++] = (uint32_t)(j - i);
		} else {
			for (size_t k = i; k < j; k++)
				extra[left++] = extra[k];
		}
	}
	put_gamma(w, n_runs);
	for (uint32_t i = 0; i < n_runs; i++) {
		put_gamma(w, i ? first[i] - (first[i - 1] + length[i - 1]) - 1 :
			to_natural((int64_t)first[i] - (int64_t)node));
		put_gamma(w, length[i] - p->min_interval);
	}
	return left;
}

static void put_row(struct writer *w, const struct bvgraph_props *p, const struct graph *g,
                    uint32_t node, struct rng *r)
{
	uint32_t extra[400];
	uint64_t n;
	const uint32_t *row = graph_links(g, node, &n);
	size_t n_extra = n;

	put_code(w, p->degrees, n, 0);
	if (!n)
		return;
	memcpy(extra, row, n * sizeof *row);
	if (p->window) {
		uint64_t most = p->window < node ? p->window : node;
		uint32_t back = (uint32_t)rng_below(r, most + 1);

		put_code(w, p->references, back, 0);
		if (back)
			n_extra = put_reference(w, p, g, node, back, extra);
	}
	if (n_extra && p->min_interval)
		n_extra = put_runs(w, p, node, extra, n_extra);
	for (size_t i = 0; i < n_extra; i++)
		put_code(w, p->residuals, i ? extra[i] - extra[i - 1] - 1 :
			to_natural((int64_t)extra[0] - (int64_t)node), p->zeta_k);
}

static uint8_t *pack(struct writer *w, size_t *ret_size)
{
	uint8_t *bytes = mem_zalloc(w->n / 8 + 1, 1);

	for (size_t i = 0; i < w->n; i++)
		bytes[i / 8] |= (uint8_t)(w->bits[i] << (7 - i % 8));
	*ret_size = (w->n + 7) / 8;
	free(w->bits);
	return bytes;
}

struct encoded {
	uint8_t *data, *offsets;
	size_t size, offsets_size;
};

static void encode(const struct graph *g, const struct bvgraph_props *p, uint64_t seed,
                   struct encoded *ret)
{
	struct writer w = { 0 }, o = { 0 };
	struct rng r;
	size_t last = 0;

	rng_init(&r, seed);
	put_code(&o, p->offsets, 0, 0);
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		put_row(&w, p, g, v, &r);
		put_code(&o, p->offsets, w.n - last, 0);
		last = w.n;
	}
	ret->data = pack(&w, &ret->size);
	ret->offsets = pack(&o, &ret->offsets_size);
}

static void encoded_free(struct encoded *e)
{
	free(e->data);
	free(e->offsets);
}

/* Rows like their neighbours', with runs, far links and empty ones. */
static void make_graph(uint32_t n, uint64_t seed, struct graph *ret)
{
	struct graph_build_opts opts = { .dedupe = true };
	struct graph_builder *b = graph_builder_new(&opts);
	struct rng r;

	rng_init(&r, seed);
	for (uint32_t v = 0; v < n; v++) {
		uint32_t like = v / 5 * 5;

		for (uint32_t i = 0; i < 12 && rng_below(&r, 9); i++) {
			uint32_t t = (uint32_t)(rng_mix(like * 31 + i + seed) % n);
			uint32_t length = rng_below(&r, 3) ? 1 : (uint32_t)rng_below(&r, 12) + 1;

			if (!rng_below(&r, 4))
				t = (uint32_t)rng_below(&r, n);
			for (uint32_t k = t; k < t + length && k < n; k++)
				assert_int_equal(graph_builder_add(b, v, k, NULL), 0);
		}
	}
	assert_int_equal(graph_builder_finish(b, n, ret, NULL), 0);
}

static void assert_equal_graphs(const struct graph *a, const struct graph *b)
{
	assert_int_equal(a->n_nodes, b->n_nodes);
	assert_int_equal(a->n_links, b->n_links);
	assert_memory_equal(a->offsets, b->offsets, (a->n_nodes + 1) * sizeof *a->offsets);
	assert_memory_equal(a->targets, b->targets, a->n_links * sizeof *a->targets);
}

static struct bvgraph_props props_of(unsigned i)
{
	static const enum bvgraph_code three[] = { BVGRAPH_GAMMA, BVGRAPH_DELTA, BVGRAPH_UNARY };
	static const enum bvgraph_code five[] = { BVGRAPH_ZETA, BVGRAPH_GAMMA, BVGRAPH_DELTA,
		BVGRAPH_NIBBLE, BVGRAPH_GOLOMB };
	static const uint64_t windows[] = { 7, 0, 1, 3, 100 };
	static const uint64_t intervals[] = { 4, 0, 1, 2 };

	return (struct bvgraph_props){
		.degrees = three[i % 2], .blocks = three[i % 3], .block_counts = three[i / 3 % 3],
		.references = three[i / 2 % 3], .residuals = five[i % 5], .offsets = three[i / 4 % 2],
		.window = windows[i / 7 % 5], .min_interval = intervals[i / 11 % 4],
		.zeta_k = 1 + i / 5 % 7,
	};
}

static void test_every_option_comes_back(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 420; i++) {
		struct bvgraph_props p = props_of(i);
		struct encoded e;
		struct graph g, got;
		struct err err = { 0 };

		make_graph(3 + i % 60, i, &g);
		p.n_nodes = g.n_nodes;
		p.n_links = g.n_links;
		encode(&g, &p, i, &e);
		if (bvgraph_decode(&p, "t", e.data, e.size, e.offsets, e.offsets_size, &got, &err))
			fail_msg("option set %u: %s", i, err.text);
		assert_equal_graphs(&g, &got);
		graph_release(&got);
		assert_int_equal(bvgraph_decode(&p, "t", e.data, e.size, NULL, 0, &got, NULL), 0);
		assert_equal_graphs(&g, &got);
		graph_release(&got);
		encoded_free(&e);
		graph_release(&g);
	}
}

/* Every cut gives an error; every flipped bit an error or a sound graph. */
static void test_damage_is_told(void **state)
{
	unsigned told = 0, flips = 0;

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		struct bvgraph_props p = props_of(i * 3);
		struct encoded e;
		struct graph g, got;
		struct err err = { 0 };

		make_graph(40, i, &g);
		p.n_nodes = g.n_nodes;
		p.n_links = g.n_links;
		encode(&g, &p, i, &e);
		for (size_t cut = 0; cut < e.size; cut++) {
			/* the last byte may hold nothing but padding */
			int r = bvgraph_decode(&p, "t", e.data, cut, NULL, 0, &got, &err);

			assert_int_equal(r, E_PARSE);
			assert_non_null(strstr(err.text, "t.graph"));
		}
		for (size_t bit = 0; bit < e.size * 8; bit += 3, flips++) {
			int r;

			e.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			r = bvgraph_decode(&p, "t", e.data, e.size, e.offsets, e.offsets_size, &got,
			                   &err);
			told += r != 0;
			if (!r) {
				assert_true(graph_is_sound(&got));
				graph_release(&got);
			}
			e.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		p.n_links++;
		assert_int_equal(bvgraph_decode(&p, "t", e.data, e.size, NULL, 0, &got, &err),
		                 E_PARSE);
		encoded_free(&e);
		graph_release(&g);
	}
	assert_true(told > flips / 3);
}

static void test_properties(void **state)
{
	static const struct { const char *text; int r; const char *says; } cases[] = {
		{ "nodes=3\narcs=2\n", 0, "" },
		{ "# x\r\nnodes = 3\r\narcs=2\r\ncompressionflags=RESIDUALS_NIBBLE | "
		  "BLOCK_COUNT_UNARY|OFFSETS_DELTA\r\nzetak=9\r\n", 0, "" },
		{ "nodes=3\n", E_PARSE, "arcs=" },
		{ "nodes=x\narcs=2\n", E_PARSE, "not a number" },
		{ "nodes=\narcs=2\n", E_PARSE, "no value" },
		{ "nodes=3\narcs=10\n", E_PARSE, "too many" },
		{ "nodes=0\narcs=1\n", E_PARSE, "too many" },
		{ "nodes=99999999999\narcs=2\n", E_LIMIT, "at most" },
		{ "nodes=3\narcs=2\ncompressionflags=RESIDUALS_UNARY\n", E_PARSE, "RESIDUALS_UNARY" },
		{ "nodes=3\narcs=2\nversion=1\n", E_PARSE, "version" },
		{ "nodes=3\narcs=2\nzetak=0\n", E_PARSE, "zetak" },
		{ "nodes=3\narcs=2\ngraphclass=it.unimi.dsi.webgraph.EFGraph\n", E_PARSE, "EFGraph" },
	};
	struct bvgraph_props p;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		err = (struct err){ 0 };
		assert_int_equal(bvgraph_parse_props(cases[i].text, strlen(cases[i].text), "p",
		                                     &p, &err), cases[i].r);
		assert_non_null(strstr(err.text, cases[i].says));
	}
	assert_int_equal(bvgraph_parse_props(cases[1].text, strlen(cases[1].text), "p", &p,
	                                     &err), 0);
	assert_int_equal(p.residuals, BVGRAPH_NIBBLE);
	assert_int_equal(p.block_counts, BVGRAPH_UNARY);
	assert_int_equal(p.blocks, BVGRAPH_GAMMA);
	assert_int_equal(p.references, BVGRAPH_UNARY);
	assert_int_equal(p.offsets, BVGRAPH_DELTA);
	assert_int_equal(p.window, 7);
}

static void write_file(const char *base, const char *ending, const void *data, size_t size)
{
	char path[SCRATCH_LONG];
	FILE *f;

	snprintf(path, sizeof path, "%s%s", base, ending);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	fclose(f);
}

static void test_files(void **state)
{
	struct bvgraph_props p = props_of(0);
	char base[SCRATCH_PATH], text[SCRATCH_LONG];
	struct graph g, got;
	struct encoded e;
	struct err err;
	size_t n;

	(void)state;
	scratch_path(base, "graph");
	assert_int_equal(bvgraph_read(base, &got, &err), E_IO);
	make_graph(50, 1, &g);
	encode(&g, &p, 1, &e);
	n = (size_t)snprintf(text, sizeof text, "nodes=%u\narcs=%llu\nzetak=1\n"
		"windowsize=7\nminintervallength=4\ncompressionflags=REFERENCES_GAMMA\n", g.n_nodes,
		(unsigned long long)g.n_links);
	write_file(base, ".properties", text, n);
	assert_int_equal(bvgraph_read(base, &got, &err), E_IO);
	assert_non_null(strstr(err.text, ".graph"));
	write_file(base, ".graph", e.data, e.size);
	assert_int_equal(bvgraph_read(base, &got, &err), 0);
	assert_equal_graphs(&g, &got);
	graph_release(&got);
	write_file(base, ".offsets", e.offsets, e.offsets_size);
	snprintf(text, sizeof text, "%s.graph", base);
	assert_int_equal(bvgraph_read(text, &got, &err), 0);
	assert_equal_graphs(&g, &got);
	graph_release(&got);
	e.offsets[e.offsets_size / 2] ^= 0x55;
	write_file(base, ".offsets", e.offsets, e.offsets_size);
	assert_int_equal(bvgraph_read(base, &got, &err), E_PARSE);
	assert_non_null(strstr(err.text, ".offsets"));
	encoded_free(&e);
	graph_release(&g);
}

/* The properties are only a claim: 100 KB do not hold 600,000,000,000 links, and no
 * memory is asked for them. */
static void test_claims(void **state)
{
	struct bvgraph_props p = { .n_nodes = 800000, .n_links = 600000000000, .window = 7,
	                           .min_interval = 4, .zeta_k = 3 };
	static const char nothing[100000];
	struct graph g = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(bvgraph_decode(&p, "t", nothing, sizeof nothing, NULL, 0, &g, &err),
	                 E_PARSE);
	assert_non_null(strstr(err.text, "600000000000 links"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_option_comes_back),
		cmocka_unit_test(test_damage_is_told),
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
