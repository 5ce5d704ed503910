/* SPDX-License-Identifier: Apache-2.0 */
/* Sites and the directory forest, against the text of the URLs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "engine/view/pages.h"

static void open_pages(struct pages *p, const char *const *urls, uint32_t n, bool domains)
{
	struct pages_opts o = { .site_by_domain = domains, .dir_names = true };
	struct buf pool;
	uint64_t *offset = mem_array((size_t)n + 1, sizeof *offset);
	char *text;

	buf_init(&pool, BUF_NO_LIMIT);
	for (uint32_t i = 0; i < n; i++) {
		offset[i] = pool.size;
		buf_add(&pool, urls[i], strlen(urls[i]) + 1);
	}
	offset[n] = pool.size;
	text = mem_alloc(pool.size);
	memcpy(text, pool.data, pool.size);
	buf_release(&pool);
	pages_init(p, text, offset, n, &o);
}

static void tree_of_a_few_urls(void **state)
{
	static const char *const urls[] = {
		"http://a.example/", "http://a.example/x", "http://a.example/d/", "http://a.example/d/y",
		"http://a.example/d/e/f/z", "https://a.example/d/w", "http://b.example/d/y",
		"http://a.example/d/q?id=1&lang=en", "http://a.example/d/q?id=2&lang=de",
		"http://a.example/d/q?id=3",
	};
	struct pages p;
	const struct tree *t;

	(void)state;
	open_pages(&p, urls, 10, false);
	t = &p.tree;
	assert_int_equal(t->n_sites, 2);
	assert_int_equal(p.site[0], p.site[4]);
	assert_int_not_equal(p.site[0], p.site[6]);
	assert_int_equal(p.dir[0], p.dir[1]);                   /* "/" */
	assert_int_equal(p.dir[2], p.dir[3]);                   /* "/d/" */
	assert_int_equal(p.dir[3], p.dir[5]);                   /* whatever the scheme */
	assert_int_not_equal(p.dir[3], p.dir[6]);               /* of another host */
	assert_int_equal(t->dir_parent[p.dir[3]], p.dir[0]);
	assert_int_equal(t->dir_parent[p.dir[0]], DIR_NONE);
	assert_int_equal(t->dir_depth[p.dir[4]], 3);            /* "/d/e/" has no page */
	assert_int_equal(t->dir_parent[t->dir_parent[p.dir[4]]], p.dir[3]);
	/* one script, several sets of keys */
	assert_int_equal(p.dir[7], p.dir[8]);
	assert_int_not_equal(p.dir[7], p.dir[9]);
	assert_int_equal(t->dir_parent[p.dir[7]], p.dir[3]);
	pages_release(&p);
}

/* Groups hold each page once, under its own group; children under parents. */
static void groups_hold_everyone_once(void **state)
{
	enum { N = 400 };
	static char text[N][80];
	const char *urls[N];
	uint32_t seen[N] = { 0 }, in_site[N] = { 0 }, n_children = 0, n_roots = 0;
	struct pages p;
	const struct tree *t;
	struct rng r;

	(void)state;
	rng_init(&r, 3);
	for (int i = 0; i < N; i++) {
		int at = snprintf(text[i], 80, "http://s%d.example", (int)rng_below(&r, 5));

		for (uint64_t k = rng_below(&r, 4); k > 0; k--)
			at += snprintf(text[i] + at, 80 - (size_t)at, "/%c", 'a' + (char)rng_below(&r, 3));
		snprintf(text[i] + at, 80 - (size_t)at, "/p%d", i);
		urls[i] = text[i];
	}
	open_pages(&p, urls, N, false);
	t = &p.tree;
	for (uint32_t d = 0; d < t->n_dirs; d++) {
		size_t size = strtab_size(&p.dir_names, d);

		for (uint32_t k = t->dir_first[d]; k < t->dir_first[d + 1]; k++) {
			uint32_t page = t->dir_pages[k];
			const char *host = text[page] + strlen("http://");

			assert_int_equal(p.dir[page], d);
			assert_int_equal(seen[page]++, 0);
			/* the directory's name is the URL up to the last slash */
			assert_int_equal((size_t)(strrchr(host, '/') + 1 - host), size);
			assert_memory_equal(host, strtab_get(&p.dir_names, d), size);
		}
		for (uint32_t k = t->child_first[d]; k < t->child_first[d + 1]; k++) {
			assert_int_equal(t->dir_parent[t->child_dirs[k]], d);
			assert_true(d < t->child_dirs[k]);
			assert_int_equal(t->dir_depth[t->child_dirs[k]], t->dir_depth[d] + 1);
			assert_int_equal(t->dir_site[t->child_dirs[k]], t->dir_site[d]);
			n_children++;
		}
		n_roots += t->dir_parent[d] == DIR_NONE;
	}
	assert_int_equal(n_children + n_roots, t->n_dirs);
	assert_int_equal(n_roots, 5);
	for (uint32_t s = 0; s < t->n_sites; s++)
		for (uint32_t k = t->site_first[s]; k < t->site_first[s + 1]; k++) {
			assert_int_equal(p.site[t->site_pages[k]], s);
			assert_int_equal(in_site[t->site_pages[k]]++, 0);
		}
	for (int i = 0; i < N; i++)
		assert_true(seen[i] == 1 && in_site[i] == 1);
	pages_release(&p);
}

static void a_site_may_be_a_domain(void **state)
{
	static const char *const urls[] = { "http://a.site.co.uk/", "http://b.site.co.uk/",
	                                    "http://other.co.uk/" };
	struct pages p;

	(void)state;
	open_pages(&p, urls, 3, true);
	assert_int_equal(p.site[0], p.site[1]);
	assert_int_not_equal(p.site[0], p.site[2]);
	assert_int_not_equal(p.dir[0], p.dir[1]);       /* but hosts have roots of their own */
	pages_release(&p);
}

static void deep_urls_end_in_one_place(void **state)
{
	char deep[600] = "http://a.example", deeper[1000];
	const char *urls[2] = { deep, deeper };
	struct pages p;

	(void)state;
	for (int i = 0; i < 200; i++)
		strcat(deep, "/x");
	snprintf(deeper, sizeof deeper, "%s/x/x", deep);
	open_pages(&p, urls, 2, false);
	assert_int_equal(p.dir[0], p.dir[1]);
	assert_true(p.tree.n_dirs <= 65);
	pages_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree_of_a_few_urls),
		cmocka_unit_test(groups_hold_everyone_once),
		cmocka_unit_test(a_site_may_be_a_domain),
		cmocka_unit_test(deep_urls_end_in_one_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
