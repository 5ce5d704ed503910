/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_text.c - reads and writes graphs as text; see graph_text.h.
 *
 * Every name gets a number when it is first seen, pages and link targets alike;
 * with adjacency, targets that never turn up as a page are dropped at the end
 * and the pages renumbered in the order of their lines.
 */
#include "graph/graph_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"

#define NAME_MAX_SIZE ((size_t)1 << 16)
enum { NOT_A_PAGE = 2 };
/* A graph costs memory by its nodes, and a line of 13 bytes may name node 4,000,000,000:
 * so many there may be beyond those that the links can explain. */
#define NODES_A_LINK 64
#define NODES_SPARE (1u << 20)

struct graph_text_reader {
	struct graph_build_opts opts;
	struct graph_builder *builder;
	enum graph_text_kind kind;
	struct strtab names;
	VEC(uint8_t) alive;             /* by name: 0, 1 or NOT_A_PAGE; adjacency only */
	VEC(uint32_t) pages;            /* names that are pages, in the order of lines */
	uint64_t n_links;               /* links between numbers, */
	uint32_t highest;               /* and the highest number */
	graph_text_resolve *resolve;
	struct buf page_name, link_name;
};

struct graph_text_reader *graph_text_new(const struct graph_build_opts *opts,
                                         graph_text_resolve *resolve)
{
	struct graph_text_reader *r = mem_zalloc(1, sizeof *r);

	if (opts)
		r->opts = *opts;
	r->builder = graph_builder_new(&r->opts);
	r->resolve = resolve;
	buf_init(&r->page_name, NAME_MAX_SIZE);
	buf_init(&r->link_name, NAME_MAX_SIZE);
	return r;
}

void graph_text_free(struct graph_text_reader *r)
{
	if (!r)
		return;
	graph_builder_free(r->builder);
	strtab_release(&r->names);
	vec_release(&r->alive);
	vec_release(&r->pages);
	buf_release(&r->page_name);
	buf_release(&r->link_name);
	free(r);
}

void graph_text_release(struct graph_text *t)
{
	graph_release(&t->graph);
	strtab_release(&t->names);
	free(t->alive);
	*t = (struct graph_text){ 0 };
}

struct span { const char *s; size_t n; };

/* The next word before end, blanks and tabs skipped; empty at the end. */
static struct span next_word(const char **p, const char *end)
{
	struct span w;

	while (*p < end && (**p == ' ' || **p == '\t'))
		++*p;
	w.s = *p;
	while (*p < end && **p != ' ' && **p != '\t')
		++*p;
	w.n = (size_t)(*p - w.s);
	return w;
}

static bool parse_number(struct span w, uint32_t *ret)
{
	uint64_t v = 0;

	if (!w.n || w.n > 10)
		return false;
	for (size_t i = 0; i < w.n; i++) {
		if (w.s[i] < '0' || w.s[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(w.s[i] - '0');
	}
	if (v >= GRAPH_NODES_MAX)
		return false;
	*ret = (uint32_t)v;
	return true;
}

/* "url TAB 0|1", then the end or a TAB. */
static bool is_adjacency(const char *line, const char *end)
{
	const char *tab = memchr(line, '\t', (size_t)(end - line));
	struct span first = { line, tab ? (size_t)(tab - line) : 0 };
	uint32_t number;

	return tab && first.n && end - tab >= 2 && (tab[1] == '0' || tab[1] == '1') &&
		(end - tab == 2 || tab[2] == '\t') && !parse_number(first, &number);
}

static enum graph_text_kind guess(const char *line, const char *end)
{
	const char *p = line;
	uint32_t number;
	struct span from;

	if (is_adjacency(line, end))
		return GRAPH_TEXT_ADJACENCY;
	from = next_word(&p, end);
	return parse_number(from, &number) && parse_number(next_word(&p, end), &number) ?
		GRAPH_TEXT_NUMBERS : GRAPH_TEXT_NAMES;
}

/* The number of a name; new names are no pages yet. */
static int intern(struct graph_text_reader *r, struct span w, uint32_t *ret, struct err *err)
{
	bool fresh;

	if (w.n > NAME_MAX_SIZE)
		return err_set(err, E_LIMIT, "a name of %zu bytes; at most %zu", w.n,
		               NAME_MAX_SIZE);
	if (r->names.n >= GRAPH_NODES_MAX)
		return err_set(err, E_LIMIT, "more than %u names", GRAPH_NODES_MAX);
	*ret = strtab_intern(&r->names, w.s, w.n, &fresh);
	if (fresh && r->kind == GRAPH_TEXT_ADJACENCY)
		vec_push(&r->alive, (uint8_t)NOT_A_PAGE);
	return 0;
}

/* Two numbers with one blank or tab between, the usual line, in one pass; false: it is another,
 * which add_link_line() knows what to do with. */
static bool read_numbers(const char *p, const char *end, uint32_t ret[2])
{
	for (int i = 0; i < 2; i++) {
		const char *begin = p;
		uint64_t v = 0;

		for (; p < end && (unsigned char)(*p - '0') < 10; p++)
			v = v * 10 + (uint64_t)(*p - '0');
		if (p == begin || p - begin > 10 || v >= GRAPH_NODES_MAX ||
		    (p < end ? *p != ' ' && *p != '\t' : i == 0))
			return false;
		ret[i] = (uint32_t)v;
		p += i == 0;
	}
	return true;
}

static int add_numbers(struct graph_text_reader *r, uint32_t a, uint32_t b, struct err *err)
{
	r->n_links++;
	r->highest = a > r->highest ? a : r->highest;
	r->highest = b > r->highest ? b : r->highest;
	return graph_builder_add(r->builder, a, b, err);
}

static int add_link_line(struct graph_text_reader *r, const char *p, const char *end,
                         struct err *err)
{
	struct span from = next_word(&p, end), to = next_word(&p, end);
	uint32_t a, b;
	int failed;

	if (!to.n)
		return err_set(err, E_PARSE, "two words are wanted, from and to "
		               "(`freshet rank --help` tells what a graph may be)");
	if (r->kind == GRAPH_TEXT_NUMBERS) {
		if (!parse_number(from, &a) || !parse_number(to, &b))
			return err_set(err, E_PARSE, "two numbers below %u are wanted, as in the "
			               "first line", GRAPH_NODES_MAX);
		return add_numbers(r, a, b, err);
	}
	failed = intern(r, from, &a, err);
	if (!failed)
		failed = intern(r, to, &b, err);
	return failed ? failed : graph_builder_add(r->builder, a, b, err);
}

/* `name` resolved against `page`, or as the name of a page; in `out`, if it is changed.
 * */
static struct span resolved(struct graph_text_reader *r, struct span page, struct span name,
                            struct buf *out)
{
	buf_clear(out);
	if (!r->resolve || r->resolve(page.s, page.n, name.s, name.n, out) < 0 || !out->size)
		return name;
	return (struct span){ out->data, out->size };
}

static int add_page_line(struct graph_text_reader *r, const char *line, const char *end,
                         struct err *err)
{
	const char *tab = memchr(line, '\t', (size_t)(end - line)), *p;
	struct span told = { line, tab ? (size_t)(tab - line) : 0 }, none = { NULL, 0 }, url, link;
	uint32_t page, target;
	int failed;

	if (!is_adjacency(line, end))
		return err_set(err, E_PARSE, "`url TAB 0|1 TAB links` is wanted, as in the first "
		               "line");
	url = resolved(r, none, told, &r->page_name);
	failed = intern(r, url, &page, err);
	if (failed)
		return failed;
	if (r->alive.v[page] == NOT_A_PAGE)
		vec_push(&r->pages, page);
	r->alive.v[page] = (uint8_t)(tab[1] - '0');
	p = tab + 2;
	while ((link = next_word(&p, end)).n) {
		if (url.s == r->page_name.data) /* relative links make sense only on a URL */
			link = resolved(r, url, link, &r->link_name);
		failed = intern(r, link, &target, err);
		if (!failed)
			failed = graph_builder_add(r->builder, page, target, err);
		if (failed)
			return failed;
	}
	return 0;
}

int graph_text_add(struct graph_text_reader *r, struct input *in, struct err *err)
{
	enum graph_text_kind kind = GRAPH_TEXT_UNKNOWN;
	uint64_t line_number = 0;
	char *line;
	size_t size;
	int got, failed = 0;

	while ((got = input_line(in, GRAPH_TEXT_LINE_MAX, &line, &size, err)) > 0) {
		const char *p = line, *end = line + size;
		uint32_t ends[2];

		line_number++;
		if (kind == GRAPH_TEXT_NUMBERS && r->kind == kind && read_numbers(line, end, ends)) {
			failed = add_numbers(r, ends[0], ends[1], err);
			if (failed)
				return err_prefix(err, "%s: line %" PRIu64, input_name(in), line_number);
			continue;
		}
		if (!next_word(&p, end).n || *line == '#' || *line == '%')
			continue;
		if (kind == GRAPH_TEXT_UNKNOWN) {
			kind = guess(line, end);
			if (r->kind == GRAPH_TEXT_UNKNOWN)
				r->kind = kind;
			/* in a file of names, a line of two numbers is two names */
			if (r->kind != kind && !(r->kind == GRAPH_TEXT_NAMES &&
			                         kind == GRAPH_TEXT_NUMBERS))
				return err_set(err, E_PARSE, "%s: is of another kind than the files "
				               "before it", input_name(in));
		}
		failed = r->kind == GRAPH_TEXT_ADJACENCY ? add_page_line(r, line, end, err) :
			add_link_line(r, line, end, err);
		if (failed)
			return err_prefix(err, "%s: line %" PRIu64, input_name(in), line_number);
	}
	return got < 0 ? err_prefix(err, "%s: behind line %" PRIu64, input_name(in),
	                            line_number) : 0;
}

/* Keep the links between pages, pages numbered as they came. */
static int keep_pages(struct graph_text_reader *r, struct graph *all,
                      struct graph_text *ret, struct err *err)
{
	struct graph_builder *b = graph_builder_new(&r->opts);
	uint32_t *number = mem_array((size_t)r->names.n + 1, sizeof *number);
	struct strtab names = { 0 };
	int failed = 0;

	for (uint32_t i = 0; i < r->names.n; i++)
		number[i] = GRAPH_NONE;
	ret->alive = mem_alloc(r->pages.n);
	for (uint32_t i = 0; i < r->pages.n; i++) {
		uint32_t name = r->pages.v[i];

		number[name] = i;
		ret->alive[i] = r->alive.v[name];
		strtab_intern(&names, strtab_get(&r->names, name), strtab_size(&r->names, name),
		              NULL);
	}
	for (uint32_t v = 0; v < all->n_nodes && !failed; v++)
		for (uint64_t i = all->offsets[v]; i < all->offsets[v + 1] && !failed; i++) {
			if (number[all->targets[i]] == GRAPH_NONE)
				ret->n_outside++;
			else
				failed = graph_builder_add(b, number[v], number[all->targets[i]], err);
		}
	free(number);
	graph_release(all);
	strtab_release(&r->names);
	r->names = names;
	if (failed) {
		graph_builder_free(b);
		return failed;
	}
	return graph_builder_finish(b, (uint32_t)r->pages.n, &ret->graph, err);
}

int graph_text_finish(struct graph_text_reader *r, struct graph_text *ret, struct err *err)
{
	struct graph_text t = { .kind = r->kind };
	struct graph_builder *b = r->builder;
	int failed;

	if (r->highest > NODES_SPARE && r->highest / NODES_A_LINK > r->n_links) {
		failed = err_set(err, E_LIMIT, "node %" PRIu32 " in a graph of %" PRIu64 " links: "
		                 "number the nodes from 0 on, or give them names", r->highest,
		                 r->n_links);
		graph_text_free(r);
		return failed;
	}
	r->builder = NULL;
	failed = graph_builder_finish(b, r->names.n, &t.graph, err);
	if (!failed && r->kind == GRAPH_TEXT_ADJACENCY) {
		struct graph all = t.graph;

		t.graph = (struct graph){ 0 };
		failed = keep_pages(r, &all, &t, err);
	}
	if (failed) {
		graph_text_release(&t);
	} else {
		t.names = r->names;
		r->names = (struct strtab){ 0 };
		*ret = t;
	}
	graph_text_free(r);
	return failed;
}

bool graph_text_write(const struct graph *g, const struct strtab *names, FILE *out)
{
	for (uint32_t v = 0; v < g->n_nodes; v++)
		for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++) {
			uint32_t t = g->targets[i];

			if (names)
				fprintf(out, "%s\t%s\n", strtab_get(names, v), strtab_get(names, t));
			else
				fprintf(out, "%" PRIu32 "\t%" PRIu32 "\n", v, t);
		}
	return !ferror(out);
}
