/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdx_sort.c - external sort and k-way merge of index lines; see cdx_sort.h.
 *
 * A source gives the lines of a temporary run in order (with getline: its bytes are
 * ours and must not be taken for a compressed file by their first two).  The sources
 * form a binary heap by their current line, so a line costs O(log sources) comparisons.
 */
#include "warc/cdx_sort.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

struct item {
	size_t at;
	size_t size;
};

struct cdx_sorter {
	char *folder;
	size_t memory_max;
	char *pool;
	size_t pool_size, pool_cap;
	VEC(struct item) items;
	VEC(FILE *) runs;
};

struct source {
	FILE *run;
	char *line;                     /* getline's */
	size_t size, line_cap;
};

static int compare(const char *a, size_t a_size, const char *b, size_t b_size)
{
	int c = memcmp(a, b, a_size < b_size ? a_size : b_size);

	return c ? c : (a_size > b_size) - (a_size < b_size);
}

static int compare_items(const void *a, const void *b, void *pool)
{
	const struct item *x = a, *y = b;

	return compare((char *)pool + x->at, x->size, (char *)pool + y->at, y->size);
}

struct cdx_sorter *cdx_sorter_new(size_t memory_max, const char *folder)
{
	struct cdx_sorter *s = mem_zalloc(1, sizeof *s);

	s->folder = mem_strdup(folder);
	s->memory_max = memory_max;
	return s;
}

void cdx_sorter_free(struct cdx_sorter *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->runs.n; i++)
		fclose(s->runs.v[i]);
	vec_release(&s->runs);
	vec_release(&s->items);
	free(s->pool);
	free(s->folder);
	free(s);
}

static void sort_items(struct cdx_sorter *s)
{
	size_t n = 0;

	if (s->items.n == 0)
		return;
	qsort_r(s->items.v, s->items.n, sizeof *s->items.v, compare_items, s->pool);
	for (size_t i = 1; i < s->items.n; i++)
		if (compare_items(&s->items.v[n], &s->items.v[i], s->pool))
			s->items.v[++n] = s->items.v[i];
	s->items.n = n + 1;
}

static FILE *open_run(const char *folder, struct err *err)
{
	char path[4096];
	FILE *f = NULL;
	int fd, n = snprintf(path, sizeof path, "%s/freshet-sort-XXXXXX", folder);

	if (n < 0 || (size_t)n >= sizeof path) {
		err_set(err, E_IO, "%s: path too long", folder);
		return NULL;
	}
	fd = mkstemp(path);
	if (fd >= 0) {
		unlink(path);
		f = fdopen(fd, "w+");
		if (!f)
			close(fd);
	}
	if (!f)
		err_errno(err, E_IO, "%s: cannot create a temporary file", folder);
	return f;
}

/* Write what is in memory as a sorted run. */
static int spill(struct cdx_sorter *s, struct err *err)
{
	FILE *f;

	if (s->runs.n == CDX_SORT_RUNS_MAX)
		return err_set(err, E_LIMIT, "index too large to sort in %zu bytes of memory",
		               s->memory_max);
	f = open_run(s->folder, err);
	if (!f)
		return E_IO;
	vec_push(&s->runs, f);
	sort_items(s);
	for (size_t i = 0; i < s->items.n; i++) {
		fwrite(s->pool + s->items.v[i].at, 1, s->items.v[i].size, f);
		putc_unlocked('\n', f);
	}
	if (fflush(f) || ferror(f))
		return err_errno(err, E_IO, "%s: cannot write a temporary file", s->folder);
	rewind(f);
	s->items.n = s->pool_size = 0;
	return 0;
}

int cdx_sorter_add(struct cdx_sorter *s, const char *line, size_t size, struct err *err)
{
	if (memchr(line, '\n', size))
		return err_set(err, E_PARSE, "index line holds a newline");
	if (s->items.n && s->pool_size + size + s->items.n * sizeof *s->items.v >
	                  s->memory_max) {
		int rc = spill(s, err);

		if (rc < 0)
			return rc;
	}
	mem_grow((void **)&s->pool, &s->pool_cap, s->pool_size + size + 1, 1);
	if (size)
		memcpy(s->pool + s->pool_size, line, size);
	vec_push(&s->items, ((struct item){ s->pool_size, size }));
	s->pool_size += size;
	return 0;
}

/* 1: a new line, 0: the end, or error. */
static int source_next(struct source *s, struct err *err)
{
	ssize_t n = getline(&s->line, &s->line_cap, s->run);

	if (n < 0)
		return ferror(s->run) ? err_errno(err, E_IO, "cannot read a temporary file") : 0;
	s->size = (size_t)n - 1;
	return 1;
}

static bool source_less(const struct source *a, const struct source *b)
{
	return compare(a->line, a->size, b->line, b->size) < 0;
}

static void sift_down(struct source **heap, size_t n, size_t i)
{
	for (;;) {
		size_t least = i, child = 2 * i + 1;
		struct source *t;

		for (size_t k = child; k < child + 2 && k < n; k++)
			if (source_less(heap[k], heap[least]))
				least = k;
		if (least == i)
			return;
		t = heap[i];
		heap[i] = heap[least];
		heap[least] = t;
		i = least;
	}
}

static int merge(struct source *sources, size_t n_sources, cdx_emit *emit, void *arg,
                 struct err *err)
{
	struct source **heap = mem_array(n_sources + 1, sizeof *heap);
	struct buf last;
	size_t n = 0;
	bool any = false;
	int rc = 0;

	buf_init(&last, BUF_NO_LIMIT);
	for (size_t i = 0; i < n_sources && rc >= 0; i++) {
		rc = source_next(&sources[i], err);
		if (rc > 0)
			heap[n++] = &sources[i];
	}
	for (size_t i = n / 2; i-- > 0;)
		sift_down(heap, n, i);
	while (n && rc >= 0) {
		struct source *s = heap[0];

		if (!any || compare(buf_text(&last), last.size, s->line, s->size)) {
			rc = emit(arg, s->line, s->size, err);
			if (rc < 0)
				break;
			any = true;
			buf_clear(&last);
			buf_add(&last, s->line, s->size);
		}
		rc = source_next(s, err);
		if (rc == 0)
			heap[0] = heap[--n];
		sift_down(heap, n, 0);
	}
	buf_release(&last);
	free(heap);
	return rc < 0 ? rc : 0;
}

int cdx_sorter_finish(struct cdx_sorter *s, cdx_emit *emit, void *arg, struct err *err)
{
	struct source *sources;
	int rc = 0;

	if (s->runs.n == 0) {
		sort_items(s);
		for (size_t i = 0; i < s->items.n && rc >= 0; i++)
			rc = emit(arg, s->pool + s->items.v[i].at, s->items.v[i].size, err);
		s->items.n = s->pool_size = 0;
		return rc < 0 ? rc : 0;
	}
	if (s->items.n)
		rc = spill(s, err);
	if (rc < 0)
		return rc;
	sources = mem_zalloc(s->runs.n, sizeof *sources);
	for (size_t i = 0; i < s->runs.n; i++)
		sources[i].run = s->runs.v[i];
	rc = merge(sources, s->runs.n, emit, arg, err);
	for (size_t i = 0; i < s->runs.n; i++) {
		free(sources[i].line);
		fclose(s->runs.v[i]);
	}
	s->runs.n = 0;
	free(sources);
	return rc;
}
