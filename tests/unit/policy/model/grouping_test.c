/* SPDX-License-Identifier: Apache-2.0 */
/* Groups shared between runs that begin alike: made once, the same as unshared ones, and
 * not shared where seed, set, number, pages or cycle differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "policy/model/grouping.h"

#define PAGES 300

struct maker { struct feature_maker features; unsigned n_made; bool sparse; };

/* Five blurred directions; sparse ones with three words a page. */
static void make_rows(void *self, const struct view *v, enum feature_set set,
                      struct rows *ret)
{
	struct maker *m = self;

	(void)set;
	m->n_made++;
	if (m->sparse)
		rows_init_sparse(ret, 40);
	else
		rows_init_dense(ret, v->n_pages, 6);
	for (uint32_t i = 0; i < v->n_pages; i++) {
		for (uint32_t j = 0; j < 3 && m->sparse; j++)
			rows_add(ret, i % 5 * 8 + (uint32_t)(rng_draw(9, i, j, RNG_SAMPLE) % 8), 1);
		if (m->sparse) {
			rows_close(ret);
			continue;
		}
		rows_dense(ret, i)[i % 5] = 1;
		rows_dense(ret, i)[5] = (float)rng_unit(rng_draw(9, i, 0, RNG_SAMPLE));
	}
	rows_unit(ret);
}

struct scene { struct view v; struct maker maker; uint8_t state[PAGES]; };

static void scene_set(struct scene *s, bool sparse)
{
	*s = (struct scene){ .maker = { .sparse = sparse } };
	s->maker.features = (struct feature_maker){ &s->maker, make_rows };
	memset(s->state, PAGE_HERE, PAGES);
	s->state[7] = 0;
	s->v = (struct view){ .n_pages = PAGES, .state = s->state, .seed = 3, .cycle = 1,
	                      .threads = 1, .features = &s->maker.features };
}

static void assert_same(struct grouping *a, struct grouping *b)
{
	assert_int_equal(a->n_groups, b->n_groups);
	assert_int_equal(a->cycle, b->cycle);
	assert_memory_equal(a->of, b->of, PAGES * sizeof *a->of);
	assert_memory_equal(a->first, b->first, (a->n_groups + 1) * sizeof *a->first);
	assert_memory_equal(a->pages, b->pages, a->first[a->n_groups] * sizeof *a->pages);
	for (uint32_t i = 0; i < a->n_groups; i++) {
		assert_int_equal(b->spent[i], 0);
		assert_memory_equal(grouping_near(a, i), grouping_near(b, i),
		                    a->n_groups * sizeof(uint32_t));
	}
}

static void shared_is_as_made_alone(void **state)
{
	(void)state;
	for (int sparse = 0; sparse < 2; sparse++) {
		struct grouping alone = { 0 }, first = { 0 }, second = { 0 };
		struct scene s;

		scene_set(&s, sparse);
		grouping_make(&alone, &s.v, sparse ? SET_URL : SET_FIRST_COPY, 12);
		assert_int_equal(alone.n_groups, 12);
		s.v.groups = grouping_share_new();
		grouping_make(&first, &s.v, sparse ? SET_URL : SET_FIRST_COPY, 12);
		assert_same(&alone, &first);
		first.spent[0] = 4;             /* what one run does is not seen by others */
		first.of[0] = 11;
		grouping_make(&second, &s.v, sparse ? SET_URL : SET_FIRST_COPY, 12);
		assert_same(&alone, &second);
		assert_int_equal(s.maker.n_made, 2);
		grouping_share_free(s.v.groups);
		assert_same(&alone, &second);   /* and it stands by itself */
		grouping_release(&alone);
		grouping_release(&first);
		grouping_release(&second);
	}
}

/* Made in a world with the share, and without: equal, and the share did not help. */
static void expect_own(struct scene *s, enum feature_set set, uint32_t k)
{
	struct grouping with = { 0 }, without = { 0 };
	struct grouping_share *share = s->v.groups;
	unsigned before = s->maker.n_made;

	grouping_make(&with, &s->v, set, k);
	assert_int_equal(s->maker.n_made, before + 1);
	s->v.groups = NULL;
	grouping_make(&without, &s->v, set, k);
	s->v.groups = share;
	assert_same(&without, &with);
	grouping_release(&with);
	grouping_release(&without);
}

static void what_differs_is_made_anew(void **state)
{
	struct scene s;

	(void)state;
	scene_set(&s, false);
	s.v.groups = grouping_share_new();
	expect_own(&s, SET_FIRST_COPY, 12);
	expect_own(&s, SET_FIRST_COPY, 13);
	expect_own(&s, SET_STATIC, 12);
	s.v.seed = 4;
	expect_own(&s, SET_FIRST_COPY, 12);
	s.v.seed = 3;
	s.state[8] = 0;
	expect_own(&s, SET_FIRST_COPY, 12);
	s.state[8] = PAGE_HERE;
	s.v.cycle = 2;                  /* copies are others by then */
	expect_own(&s, SET_FIRST_COPY, 12);
	expect_own(&s, SET_FIRST_COPY, 12);
	s.v.cycle = 1;
	expect_own(&s, SET_COMBINED, 12);       /* leaves a trace in the features */
	expect_own(&s, SET_COMBINED, 12);
	expect_own(&s, SET_DYNAMIC, 12);
	expect_own(&s, SET_DYNAMIC, 12);
	grouping_share_free(s.v.groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_is_as_made_alone),
		cmocka_unit_test(what_differs_is_made_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
