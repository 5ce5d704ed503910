/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbours by directories and by links: the worked examples of the paper, and
 * random sites against definitions computed from URL tokens and from a matrix of
 * all shortest paths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "policy/model/neighbourhood.h"
#include "../../../lib/stage.h"

#define HOST "http://www.abc.example"
#define PAGES_MAX 100

static bool in_list(const struct neighbourhood *n, uint32_t page)
{
	for (size_t i = 0; i < n->pages.n; i++)
		if (n->pages.v[i] == page)
			return true;
	return false;
}

/* The neighbours of `from` within d are exactly these (space-separated paths). */
static void expect_near(struct stage *s, enum near_by by, const char *from, int d,
                        bool cousins, const char *paths)
{
	struct neighbourhood n = { 0 };
	char url[300];
	size_t expected = 0;

	snprintf(url, sizeof url, HOST "%.200s", from);
	neighbourhood_find(&n, &s->e.view, trace_page(&s->h, url), by, d, cousins, SIZE_MAX);
	while (*paths) {
		size_t size = strcspn(paths, " ");

		snprintf(url, sizeof url, HOST "%.*s", (int)size, paths);
		if (!in_list(&n, trace_page(&s->h, url)))
			fail_msg("%s, d=%d: %s is missing", from, d, url);
		expected++;
		paths += size + strspn(paths + size, " ");
	}
	if (n.pages.n != expected)
		fail_msg("%s, d=%d: %zu pages instead of %zu", from, d, n.pages.n, expected);
	neighbourhood_release(&n);
}

static void add_page(struct stage *s, const char *path, const char *links)
{
	char url[300];

	snprintf(url, sizeof url, HOST "%.200s", path);
	trace_add(&s->h, url, 0, "a", links);
}

static uint32_t page(const struct stage *s, const char *path)
{
	char url[300];

	snprintf(url, sizeof url, HOST "%.200s", path);
	return trace_page(&s->h, url);
}

static void play(struct stage *s)
{
	stage_play(s, "random");
	s->e.view.cycle = 1;
}

static void directories_of_the_example(void **state)
{
	static const char *const paths[] = { "/index.htm", "/dir1/index1.htm", "/dir1/x.htm",
		"/dir1/sub/x.htm", "/dir1/sub/deep/z.htm", "/dir2/y.htm", "/dir2/low/w.htm" };
	struct stage s;

	(void)state;
	stage_open(&s);
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		add_page(&s, paths[i], NULL);
	play(&s);
	expect_near(&s, NEAR_DIR, "/dir1/index1.htm", 0, false, "/dir1/x.htm");
	expect_near(&s, NEAR_DIR, "/dir1/index1.htm", 1, false, "/dir1/x.htm /index.htm");
	expect_near(&s, NEAR_DIR, "/dir1/index1.htm", 8, false, "/dir1/x.htm /index.htm");
	expect_near(&s, NEAR_DIR, "/dir1/index1.htm", 1, true, "/dir1/x.htm /index.htm");
	expect_near(&s, NEAR_DIR, "/dir1/index1.htm", 2, true,
	            "/dir1/x.htm /index.htm /dir2/y.htm");
	expect_near(&s, NEAR_DIR, "/dir1/index1.htm", -1, false, "/dir1/x.htm /dir1/sub/x.htm");
	expect_near(&s, NEAR_DIR, "/dir1/index1.htm", -6, false,
	            "/dir1/x.htm /dir1/sub/x.htm /dir1/sub/deep/z.htm");
	stage_close(&s);
}

/* After the paper's Fig. 1: p5 is a sibling that can also be reached; two paths
 * lead to p10. */
static void links_of_the_example(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s);
	add_page(&s, "/p1", "/ps /p4 /p5");
	add_page(&s, "/p2", "/p1");
	add_page(&s, "/p3", "/p1");
	add_page(&s, "/ps", "/p5 /p6 /p7 /p10 http://end.example/");
	add_page(&s, "/p4", NULL);
	add_page(&s, "/p5", NULL);
	add_page(&s, "/p6", "/p8");
	add_page(&s, "/p7", "/p9 /p10");
	add_page(&s, "/p8", NULL);
	add_page(&s, "/p9", NULL);
	add_page(&s, "/p10", NULL);
	add_page(&s, "/p11", NULL);
	/* another site's page links to both and does not make them siblings; nor do its own
	 * links lead back in */
	trace_add(&s.h, "http://other.example/", 0, "a", HOST "/ps " HOST "/p11");
	play(&s);
	expect_near(&s, NEAR_LINK, "/ps", 0, false, "/p4 /p5");
	expect_near(&s, NEAR_LINK, "/ps", 1, false, "/p4 /p5 /p6 /p7 /p10");
	expect_near(&s, NEAR_LINK, "/ps", 2, false, "/p4 /p5 /p6 /p7 /p10 /p8 /p9");
	expect_near(&s, NEAR_LINK, "/ps", 8, false, "/p4 /p5 /p6 /p7 /p10 /p8 /p9");
	expect_near(&s, NEAR_LINK, "/ps", -1, false, "/p4 /p5 /p1");
	expect_near(&s, NEAR_LINK, "/ps", -6, false, "/p4 /p5 /p1 /p2 /p3");
	stage_close(&s);
}

/* The paper's Eq. (2) by tokens of the paths; *ret_up: b lies straight up or in
 * the same directory, *ret_down: straight down. */
static int token_distance(const char *a, const char *b, bool *ret_up, bool *ret_down)
{
	int m = 0, n = 0, c = 0, steps;
	size_t i = 0;

	for (const char *p = a; (p = strchr(p, '/')); p++)
		m++;
	for (const char *p = b; (p = strchr(p, '/')); p++)
		n++;
	/* common directories: slashes of the common prefix */
	for (; a[i] && a[i] == b[i]; i++)
		c += a[i] == '/';
	steps = m - c + n - c;
	*ret_up = n == c;
	*ret_down = m == c;
	return n > m ? -steps : steps;
}

static void directories_by_tokens(void **state)
{
	char path[PAGES_MAX][80];
	struct stage s;
	struct rng r;
	int n = 0;

	(void)state;
	rng_init(&r, 8);
	stage_open(&s);
	for (; n < PAGES_MAX; n++) {
		size_t at = 0, depth = (size_t)rng_below(&r, 5);

		for (size_t k = 0; k < depth; k++)
			at += (size_t)snprintf(path[n] + at, 80 - at, "/%c", 'a' + (char)rng_below(&r, 2));
		snprintf(path[n] + at, 80 - at, "/p%d", n);
		add_page(&s, path[n], NULL);
	}
	play(&s);
	for (int k = 0; k < 15 * 2 * n; k++) {
		int from = k / 30, d = k % 15 - 6;
		bool cousins = k / 15 & 1;
		struct neighbourhood found = { 0 };

		neighbourhood_find(&found, &s.e.view, page(&s, path[from]), NEAR_DIR, d, cousins,
		                   SIZE_MAX);
		for (int to = 0; to < n; to++) {
			bool up, down, near;
			int t = token_distance(path[from], path[to], &up, &down);

					near = d >= 0 ? t >= 0 && t <= d && (up || cousins) : t <= 0 && t >= d && down;
			if (in_list(&found, page(&s, path[to])) != (near && to != from))
				fail_msg("%s to %s is %d: d=%d, cousins=%d", path[from], path[to], t, d,
				         cousins);
		}
		neighbourhood_release(&found);
	}
	stage_close(&s);
}

/* Shortest paths of a random site by Floyd and Warshall. */
static void links_by_matrix(void **state)
{
	enum { N = 40, FAR = 1000 };
	static int hops[N][N], linked[N][N];
	struct stage s;
	struct rng r;

	(void)state;
	rng_init(&r, 4);
	stage_open(&s);
	for (int i = 0; i < N; i++) {
		char path[20], links[400] = "";

		for (int j = 0; j < N; j++) {
			linked[i][j] = i != j && rng_next_unit(&r) < 0.045;
			hops[i][j] = i == j ? 0 : linked[i][j] ? 1 : FAR;
			if (linked[i][j])
				sprintf(links + strlen(links), "/q%d ", j);
		}
		snprintf(path, sizeof path, "/q%d", i);
		add_page(&s, path, links);
	}
	for (int k = 0; k < N; k++)
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				if (hops[i][k] + hops[k][j] < hops[i][j])
					hops[i][j] = hops[i][k] + hops[k][j];
	play(&s);
	for (int k = 0; k < N * N; k++) {
		int i = k / N, j = k % N, sibling = 0;
		char a[20], b[20];

		for (int q = 0; q < N; q++)
			sibling |= linked[q][i] && linked[q][j];
		snprintf(a, sizeof a, "/q%d", i);
		snprintf(b, sizeof b, "/q%d", j);
			for (int d = -6; d <= 8; d++) {
			struct neighbourhood n = { 0 };
			bool near = sibling || (d > 0 && hops[i][j] <= d) || (d < 0 && hops[j][i] <= -d);

			neighbourhood_find(&n, &s.e.view, page(&s, a), NEAR_LINK, d, false, SIZE_MAX);
			assert_int_equal(in_list(&n, page(&s, b)), near && i != j);
			neighbourhood_release(&n);
		}
	}
	stage_close(&s);
}

/* Within a cycle walks leave out what earlier ones found; together they must
 * still find the union of all neighbourhoods. */
static void walks_of_one_cycle_miss_nothing(void **state)
{
	enum { N = 60 };
	struct stage s;
	struct rng r;

	(void)state;
	rng_init(&r, 6);
	stage_open(&s);
	for (int i = 0; i < N; i++) {
		char path[20], links[100];

		snprintf(path, sizeof path, "/w%d", i);
		snprintf(links, sizeof links, "/w%d /w%d", (int)rng_below(&r, N), (int)rng_below(&r, N));
		add_page(&s, path, links);
	}
	play(&s);
	for (int k = 0; k < 15 * 20; k++) {
		struct neighbourhood shared = { 0 };
		int d = k % 15 - 6;

		s.e.view.cycle++;
		for (int walk = 0; walk < 6; walk++) {
			uint32_t from = (uint32_t)rng_below(&r, s.r.pages.n);
			struct neighbourhood alone = { 0 };

			s.e.visits.state[from] |= PAGE_TAKEN;   /* as a sample is */
			neighbourhood_find(&alone, &s.e.view, from, NEAR_LINK, d, false, SIZE_MAX);
			neighbourhood_find(&shared, &s.e.view, from, NEAR_LINK, d, false, SIZE_MAX);
			assert_int_equal(alone.pages.n, shared.pages.n);
			for (size_t i = 0; i < shared.pages.n; i++) {
				assert_true(in_list(&alone, shared.pages.v[i]));
				s.e.visits.state[shared.pages.v[i]] |= PAGE_TAKEN;
			}
			neighbourhood_release(&alone);
		}
		for (uint32_t i = 0; i < s.r.pages.n; i++)
			s.e.visits.state[i] = PAGE_HERE;
		neighbourhood_release(&shared);
	}
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directories_of_the_example),
		cmocka_unit_test(links_of_the_example),
		cmocka_unit_test(directories_by_tokens),
		cmocka_unit_test(links_by_matrix),
		cmocka_unit_test(walks_of_one_cycle_miss_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
