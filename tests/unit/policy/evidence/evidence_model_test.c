/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence's model against a naive one: every rate, effect and score worked out anew
 * from the list of tests, by the formulas of docs/policies.md.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "graph/graph.h"
#include "policy/evidence/evidence.h"
#include "../../../lib/stage.h"

#define PAGES 400
#define VOICE 3.0

/* Two hosts, directories two deep, names that share words, links within and across. */
static void open_world(struct stage *s)
{
	stage_open(s);
	for (unsigned i = 0; i < PAGES; i++) {
		char url[100], links[200];

		snprintf(url, sizeof url, "http://%c.example/d%u/%s%u/%s-%c%u.%s", 'a' + i % 2, i % 5,
		         i % 7 ? "e" : "2019", i % 3, i % 4 ? "news" : "item", 'a' + i % 6, i,
		         i % 9 ? "html" : "txt");
		snprintf(links, sizeof links, "/d%u/e%u/news-%c%u.html /d0/e0/item-a0.html", (i + 2) % 5,
		         (i + 2) % 3, 'a' + (i + 2) % 6, i + 2);
		trace_add(&s->h, url, 0, "a", links);
	}
}

/* The world with the policy at the beginning of its first cycle. */
static struct evidence_state *open_evidence(struct stage *stage)
{
	open_world(stage);
	stage_play(stage, "evidence");
	stage->e.view.cycle = 1;
	policy_begin(stage->policy, &stage->e.view);
	return stage->policy->state;
}

struct naive {
	const struct evidence_state *s;
	const struct evidence_world *w;
	double *alive, *tested;                 /* by node */
};

static uint32_t node_of(const struct naive *n, uint32_t page)
{
	return n->w->leaf[n->w->leaf_of[page]].node;
}

static uint32_t group_of(const struct naive *n, int g, uint32_t page)
{
	return g < N_NAME_GROUPS ? n->w->name[n->w->name_of[page]].group[g]
	                         : n->w->leaf[n->w->leaf_of[page]].group[g - N_NAME_GROUPS];
}

/* How often the name of a page has a word. */
static double has_word(const struct naive *n, uint32_t page, uint32_t word)
{
	const struct evidence_name *name = &n->w->name[n->w->name_of[page]];
	double times = 0;

	for (uint32_t k = name[0].first; k < name[1].first; k++)
		times += n->w->word[k] == word;
	return times;
}

static double clip(double p)
{
	return p < 0.001 ? 0.001 : p > 0.999 ? 0.999 : p;
}

/* Own tests, and each child's (a, t) / (1 + t/3); children have higher numbers. */
static void sum_up(struct naive *n)
{
	n->alive = calloc(n->w->n_nodes, sizeof *n->alive);
	n->tested = calloc(n->w->n_nodes, sizeof *n->tested);
	for (uint32_t i = 0; i < n->w->n_pages; i++) {
		n->alive[node_of(n, i)] += n->s->known[i] & KNOWN_ALIVE ? 1 : 0;
		n->tested[node_of(n, i)] += n->s->known[i] ? 1 : 0;
	}
	for (uint32_t v = n->w->n_nodes - 1; v > 0; v--) {
		assert_true(n->w->parent[v] < v);
		n->alive[n->w->parent[v]] += n->alive[v] / (1 + n->tested[v] / VOICE);
		n->tested[n->w->parent[v]] += n->tested[v] / (1 + n->tested[v] / VOICE);
	}
}

/* The rate of a node, without one test of outcome y all along the path if `less`. */
static double rate(const struct naive *n, uint32_t node, double less, double y)
{
	double a = fmax(0, n->alive[node] - (less > 0 ? y : 0));
	double t = fmax(0, n->tested[node] - less);

	if (node == 0)
		return clip((a + 1) / (t + 2));
	return clip((a + 2 * rate(n, n->w->parent[node], less, y)) / (t + 2));
}

static void near_to(const char *what, double x, double want)
{
	if (!(fabs(x - want) <= 1e-3 * (1 + fabs(want))))
		fail_msg("%s is %.6g, not %.6g", what, x, want);
}

/* u = sum (y - e) / (1 + sum e (1 - e)) over the tests of which `is` says yes. */
struct question {
	const struct graph *links;
	uint32_t page, group, word;     /* 0: not asked for, else the group or word + 1 */
};

static double effect(const struct naive *n, const struct question *q)
{
	double sum = 0, var = 0;

	for (uint32_t i = 0; i < n->w->n_pages; i++) {
		double hit = n->s->known[i] & KNOWN_ALIVE ? 1 : 0, times = 0, e;

		if (!n->s->known[i])
			continue;
		e = rate(n, node_of(n, i), 1, hit);
		if (q->group)
			times = group_of(n, (int)q->group - 1, i) == group_of(n, (int)q->group - 1, q->page);
		for (uint64_t k = 0; q->links && k < graph_degree(q->links, q->page); k++)
			times += q->links->targets[q->links->offsets[q->page] + k] == i;
		if (q->word)
			times += has_word(n, i, q->word - 1);
		sum += times * (hit - e);
		var += times * e * (1 - e);
	}
	return sum / (1 + var);
}

/* Of what the neighbours in `g` have by `by`, over the root of their number. */
static double spread(const struct naive *n, const struct graph *g, const struct graph *by,
                     uint32_t page)
{
	uint64_t degree = graph_degree(g, page);
	double sum = 0;

	for (uint64_t k = 0; k < degree; k++)
		sum += effect(n, &(struct question){ by, g->targets[g->offsets[page] + k], 0, 0 });
	return degree ? sum / sqrt((double)degree) : 0;
}

/* The effects of a page's words over the root of their number. */
static double words(const struct naive *n, uint32_t page)
{
	const struct evidence_name *name = &n->w->name[n->w->name_of[page]];
	uint32_t from = name[0].first, to = name[1].first;
	double sum = 0;

	for (uint32_t k = from; k < to; k++)
		sum += effect(n, &(struct question){ NULL, page, 0, n->w->word[k] + 1 });
	return to > from ? sum / sqrt((double)(to - from)) : 0;
}

static double logit(double p)
{
	return log(p / (1 - p));
}

/* With the weights of the start: 1 for the tree, 0.3 for words, groups and links. */
static double score(const struct naive *n, const struct view *v, uint32_t page)
{
	double u = words(n, page);

	for (int g = 0; g < N_GROUPS; g++)
		if (n->w->n_group[g])
			u += effect(n, &(struct question){ NULL, page, (uint32_t)g + 1, 0 });
	u += effect(n, &(struct question){ v->links, page, 0, 0 }) +
	     effect(n, &(struct question){ v->links_in, page, 0, 0 }) +
	     spread(n, v->links_in, v->links, page) + spread(n, v->links, v->links_in, page);
	return logit(rate(n, node_of(n, page), 0, 0)) + 0.3 * u;
}

static void model_is_the_naive_one(void **state)
{
	const struct evidence_opts o = { .sample = 1, .share = 0.03, .voice = VOICE,
	                                 .nofit = true };
	struct naive n = { 0 };
	struct evidence_state *s;
	struct stage stage;
	uint64_t last = 20;

	(void)state;
	open_world(&stage);
	stage_play(&stage, "evidence:nofit=1");
	stage.e.view.goal = GOAL_ALIVE;
	stage.e.view.cycle = 1;
	policy_begin(stage.policy, &stage.e.view);
	s = stage.policy->state;
	while (last < 100)              /* to the end of a refit: then all is set anew */
		last = (uint64_t)ceil(1.15 * (double)last);
	for (uint32_t i = 0; s->n_tests < last; i++) {
		uint32_t page = (uint32_t)(rng_draw(1, 0, i, RNG_USER) % stage.r.pages.n);

		evidence_learn(s, &stage.e.view, &o, page,
		               rng_unit(rng_draw(2, 0, page, RNG_USER)) <
		               (stage.e.view.dir[page] % 3 ? 0.2 : 0.8), true);
	}
	assert_int_equal(s->next_fit, ceil(1.15 * (double)last));
	n.s = s;
	n.w = &s->world;
	sum_up(&n);
	evidence_rates(s, &stage.e.view);
	for (uint32_t i = 0; i < n.w->n_nodes; i++) {
		near_to("alive", (double)s->alive[i], n.alive[i]);
		near_to("tested", (double)s->tested[i], n.tested[i]);
		near_to("rate", (double)s->rate[i], rate(&n, i, 0, 0));
	}
	for (uint32_t i = 0; i < stage.r.pages.n; i += 3) {
		near_to("cocited", (double)s->cocited[i],
		        spread(&n, stage.e.view.links_in, stage.e.view.links, i));
		if (!s->known[i])
			near_to("score", (double)evidence_score(s, i),
			        score(&n, &stage.e.view, i));
	}
	free(n.alive);
	free(n.tested);
	stage_close(&stage);
}

/* Names cut up by hand: the words are those of the same name written apart. */
static void words_by_hand(void **state)
{
	static const struct { const char *name, *apart; int n; } cases[] = {
		{ "fooBarBaz", "foo-bar-baz", 3 }, { "HTMLPage", "html-page", 2 },
		{ "parseURL", "parse-url", 2 }, { "v12beta", "v-12-beta", 3 },
		{ "2016-01-25-Our_site", "2016-01-25-our-site", 5 }, { "ABC", "abc", 1 },
		{ "aB", "a-b", 2 }, { "a.a.A", "a", 1 }, { "--", "", 0 }, { "", "", 0 },
		{ "X", "x", 1 }, { "IOSetupIO9", "io-setup-9", 3 }, { "caf\xc3\xa9s", "caf\xc3\xa9s", 1 },
	};
	uint64_t a[EVIDENCE_WORDS_MAX], b[EVIDENCE_WORDS_MAX];
	const char *foo = "foo";
	char many[200] = "";

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *s = cases[i].name, *t = cases[i].apart;
		int n = evidence_words(s, s + strlen(s), 1, a);

		if (n != cases[i].n || n != evidence_words(t, t + strlen(t), 1, b) ||
		    memcmp(a, b, (size_t)n * sizeof *a) != 0)
			fail_msg("%s has %d words", s, n);
	}
	/* words of another site are others; no more than fit are taken */
	evidence_words(foo, foo + 3, 1, a);
	evidence_words(foo, foo + 3, 2, b);
	assert_true(a[0] != b[0]);
	for (char c = 'a'; c <= 'z'; c++)
		snprintf(many + strlen(many), sizeof many - strlen(many), "%c%c-", c, c);
	assert_int_equal(evidence_words(many, many + strlen(many), 1, a), EVIDENCE_WORDS_MAX);
}

/* Each static has mean 0 and variance 1 over the pages, or is 0 where all are alike. */
static void statics_are_standardised(void **state)
{
	const struct evidence_state *s;
	struct stage stage;
	int differ = 0;

	(void)state;
	s = open_evidence(&stage);
	for (size_t k = 0; k < N_STATICS; k++) {
		double sum = 0, square = 0, n = stage.r.pages.n;

		for (uint32_t i = 0; i < stage.r.pages.n; i++) {
			float x[N_STATICS];

			evidence_statics(&s->world, &stage.e.view, i, x);
			sum += (double)x[k] / n;
			square += (double)x[k] * (double)x[k] / n;
		}
		assert_true(fabs(sum) < 1e-4);
		assert_true(fabs(square - 1) < 1e-3 || square < 1e-12);
		differ += square > 0.5;
	}
	assert_in_range(differ, 6, N_STATICS);
	stage_close(&stage);
}

/* What the statics say of a URL, one by one: above the mean where they say yes. */
static void statics_by_hand(void **state)
{
	static const struct { const char *path; bool digit, date, version, empty; } cases[] = {
		{ "a/b.html", false, false, false, false }, { "a/b7.html", true, false, false, false },
		{ "2019/05/", false, true, false, true }, { "x/1999-1.html", true, true, false, false },
		{ "2019x/b", false, false, false, false }, { "1819/05/b", false, false, false, false },
		{ "20x9/05/b", false, false, false, false }, { "201x/05/b", false, false, false, false },
		{ "v1.2/b", false, false, true, false }, { "1.2.3/", false, false, true, true },
		{ "av1.2/b", false, false, false, false }, { "v1x2/b", false, false, false, false },
		{ "a/b/c/", false, false, false, true },
	};
	enum { N = sizeof cases / sizeof *cases };
	const struct evidence_state *s;
	struct stage stage;

	(void)state;
	stage_open(&stage);
	for (size_t i = 0; i < N; i++) {
		char url[100];

		snprintf(url, sizeof url, "http://a.example/%s", cases[i].path);
		trace_add(&stage.h, url, 0, "a", NULL);
	}
	stage_play(&stage, "evidence");
	stage.e.view.cycle = 1;
	policy_begin(stage.policy, &stage.e.view);
	s = stage.policy->state;
	for (size_t i = 0; i < N; i++) {
		char url[100];
		float x[N_STATICS];

		snprintf(url, sizeof url, "http://a.example/%s", cases[i].path);
		evidence_statics(&s->world, &stage.e.view, trace_page(&stage.h, url), x);
		if ((x[STATIC_DIGIT] > 0) != cases[i].digit || (x[STATIC_DATE] > 0) != cases[i].date ||
		    (x[STATIC_VERSION] > 0) != cases[i].version ||
		    (x[STATIC_EMPTY] > 0) != cases[i].empty)
			fail_msg("%s", cases[i].path);
	}
	stage_close(&stage);
}

/* A page asked for counts as half a dead one in its place and, as loud as the place's voice
 * lets it, above; when the batch is chosen all is as it was, to the bit. */
static void doubt_is_half_a_death(void **state)
{
	const struct evidence_opts o = { .sample = 0.01, .share = 0.1, .voice = 3 };
	struct evidence_state *s;
	struct stage stage;
	uint32_t node, above;
	float tested, tested_above, alive;
	double was, is;

	(void)state;
	s = open_evidence(&stage);
	for (uint32_t i = 0; i < 15; i++)       /* before a refit */
		evidence_learn(s, &stage.e.view, &o, i * 7, i % 2, true);
	node = s->world.leaf[s->world.leaf_of[7]].node;
	above = s->world.parent[node];
	tested = s->tested[node];
	tested_above = s->tested[above];
	alive = s->alive[node];
	evidence_doubt(s, &o, 8 * 7);
	evidence_settle(s);
	evidence_doubt(s, &o, 7);
	assert_true(s->tested[node] == tested + 0.5f && s->alive[node] == alive);
	was = (double)tested / (1 + (double)tested / 3);
	is = ((double)tested + 0.5) / (1 + ((double)tested + 0.5) / 3);
	near_to("above", (double)s->tested[above], (double)tested_above + is - was);
	evidence_settle(s);
	assert_true(s->tested[node] == tested && s->tested[above] == tested_above);
	stage_close(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(model_is_the_naive_one),
		cmocka_unit_test(words_by_hand),
		cmocka_unit_test(statics_are_standardised),
		cmocka_unit_test(statics_by_hand),
		cmocka_unit_test(doubt_is_half_a_death),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
