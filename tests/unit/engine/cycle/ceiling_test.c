/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No site gets more of a cycle than its part, whatever the policy: counted visit by visit,
 * while the budget is spent and no page comes twice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "engine/replay/experiment.h"
#include "policy/catalogue/catalogue.h"
#include "../../../lib/stage.h"

#define SITES 10
#define PAGES 400
#define BUDGET 100

/* Site 0 has half of the pages if `large`, else a tenth as the others. */
static void open_pages(struct stage *s, bool large)
{
	stage_open(s);
	for (int i = 0; i < PAGES; i++) {
		char url[60];

		snprintf(url, sizeof url, "http://s%d.example/d%d/p%d",
		         large && i % 2 ? 0 : i % SITES, i % 7, i);
		trace_add(&s->h, url, 0, "a", NULL);
	}
}

static uint32_t site_of(const struct stage *s, const char *host)
{
	for (uint32_t i = 0; i < s->r.pages.n; i++)
		if (strstr(pages_url(&s->r.pages, i), host))
			return s->r.pages.site[i];
	fail_msg("no page of %s", host);
	return 0;
}

struct fickle { const struct stage *s; uint32_t site; };

static enum outcome site_changes(void *arg, uint32_t page, uint32_t cycle)
{
	const struct fickle *f = arg;

	(void)cycle;
	return f->s->r.pages.site[page] == f->site ? OUTCOME_CHANGED : OUTCOME_SAME;
}

/* The most visits of any site in a cycle; of `site` alone in *ret_site. */
static uint32_t most_of_a_cycle(struct stage *s, uint32_t site, uint32_t *ret_site,
                                uint32_t *ret_excess)
{
	uint32_t most = 0;

	*ret_site = *ret_excess = 0;
	for (int c = 0; c < 12; c++) {
		uint32_t had[SITES + 1] = { 0 };
		uint8_t seen[PAGES + 1] = { 0 };

		stage_cycle(s, BUDGET);
		assert_int_equal(s->e.cycle.n_seen, BUDGET);
		for (size_t i = 0; i < s->e.cycle.n_seen; i++) {
			uint32_t page = s->e.cycle.seen[i].page;

			assert_false(seen[page]++);
			had[s->r.pages.site[page]]++;
		}
		for (int i = 0; i <= SITES; i++)
			most = had[i] > most ? had[i] : most;
		*ret_site = had[site] > *ret_site ? had[site] : *ret_site;
		*ret_excess += s->e.ceiling.n_excess;
		for (uint32_t i = 0; i < s->r.pages.n; i++)     /* nothing stays closed */
			assert_int_equal(s->e.visits.state[i], PAGE_HERE);
	}
	return most;
}

/* Does the stage have what it needs? */
static bool is_simple(const char *spec)
{
	unsigned needs;

	assert_int_equal(policy_list_needs(&(struct option_list){ .v = &spec, .n = 1 }, &needs,
	                                   NULL), 0);
	return !(needs & ~(unsigned)(NEED_LINKS | NEED_PAGERANK));
}

static void test_every_policy_is_bound(void **state)
{
	const struct policy_ops *ops;
	uint32_t site, excess, freed = 0, bound = 0;

	(void)state;
	for (size_t i = 0; (ops = policy_at(i)); i++) {
		struct fickle f;
		struct stage s;

		if (ops->only_replay || !is_simple(ops->name))
			continue;
		bound++;
		open_pages(&s, false);
		s.fate = site_changes;
		s.arg = &f;
		stage_play(&s, ops->name);
		f = (struct fickle){ &s, site_of(&s, "//s3.") };
		most_of_a_cycle(&s, f.site, &site, &excess);
		assert_int_equal(excess, 0);
		freed += site > 20;             /* pages of it: 40 */
		stage_play(&s, ops->name);
		s.e.ceiling.share = (struct share){ 20, true };
		if (most_of_a_cycle(&s, f.site, &site, &excess) > 20)
			fail_msg("%s: a site had more than its part", ops->name);
		stage_close(&s);
	}
	assert_true(bound >= 8 && freed >= 4);  /* else there was nothing to bind */
}

/* A site may have as much as is its share of the pages; one site alone all. */
static void test_large_sites(void **state)
{
	struct stage s;
	uint32_t site, excess, large;

	(void)state;
	open_pages(&s, true);
	stage_play(&s, "random");
	large = site_of(&s, "//s0.");
	s.e.ceiling.share = (struct share){ 10, true };
	most_of_a_cycle(&s, large, &site, &excess);
	/* half of all, and a tenth of the other half: ceil(100 * 220 / 401) */
	assert_in_range(site, 30, 60);
	assert_int_equal(s.e.ceiling.most[large], 60);
	/* as a number of requests */
	stage_play(&s, "random");
	s.e.ceiling.share = (struct share){ 70, false };
	stage_cycle(&s, BUDGET);
	assert_int_equal(s.e.ceiling.most[large], 70);
	/* 100 % is none */
	stage_play(&s, "random");
	s.e.ceiling.share = (struct share){ 100, true };
	stage_cycle(&s, BUDGET);
	assert_null(s.e.ceiling.most);
	stage_close(&s);
}

/* The guarantee of age is kept, and counts. */
static void test_guarantee_goes_first(void **state)
{
	struct stage s;
	uint32_t last[PAGES + 1] = { 0 };

	(void)state;
	open_pages(&s, true);
	stage_play(&s, "oldest");
	s.e.rules.max_age = 5;
	s.e.ceiling.share = (struct share){ 1, false };
	for (uint32_t c = 1; c <= 30; c++) {
		stage_cycle(&s, BUDGET);
		assert_false(s.e.cycle.guarantee_broken);
		for (size_t i = 0; i < s.e.cycle.n_seen; i++)
			last[s.e.cycle.seen[i].page] = c;
		for (uint32_t p = 0; p < s.r.pages.n; p++)
			assert_true(c - last[p] < 5);
	}
	stage_close(&s);
}

/* The rest of a cycle that broke off after n pages of one site, at a ceiling of 10 %; the
 * number of its pages in the whole cycle. */
static uint32_t go_on_after(struct stage *s, uint32_t n_before, uint32_t extra,
                            uint32_t *ret_site)
{
	struct event before[8] = { 0 };
	struct err err;
	uint32_t n = 0, had = 0;

	open_pages(s, false);
	stage_play(s, "random");
	*ret_site = site_of(s, "//s3.");
	s->e.ceiling.share = (struct share){ 10, true };
	for (uint32_t i = 0; n < n_before; i++)         /* told: the same */
		if (s->r.pages.site[i] == *ret_site)
			before[n++] = (struct event){ .offer.page = i, .delivery.extra = extra };
	engine_continue(&s->e, s->r.start + DAY_SECONDS, BUDGET, before, n, NULL, 0, false);
	assert_int_equal(engine_finish(&s->e, &err), 0);
	for (size_t i = 0; i < s->e.cycle.n_seen; i++)
		had += s->r.pages.site[s->e.cycle.seen[i].page] == *ret_site;
	assert_int_equal(s->e.cycle.n_spent, BUDGET);
	return had;
}

/* Broken off in the middle: what a site had before counts. */
static void test_gone_on_with(void **state)
{
	struct stage s;
	uint32_t site;

	(void)state;
	assert_in_range(go_on_after(&s, 8, 0, &site), 8, 10);
	stage_close(&s);
}

/* So do the redirects of those visits: two that cost 5 requests each are all of 10 %. */
static void test_redirects_of_before_count(void **state)
{
	struct stage s;
	uint32_t site;

	(void)state;
	assert_int_equal(go_on_after(&s, 2, 4, &site), 2);
	assert_int_equal(s.e.ceiling.sent[s.e.ceiling.owner[site]], 10);
	stage_close(&s);
}

/* A repository of owners with 240, 228 ... 12, 240 ... pages on three hosts. */
static void open_owners(struct stage *s, uint32_t owners)
{
	uint32_t n = 0;

	stage_open(s);          /* with a page of its own */
	for (uint32_t i = 0; i < owners; i++)
		for (uint32_t k = 0; k < 12 * (20 - i % 20); k++) {
			char url[60];

			snprintf(url, sizeof url, "http://h%u.o%u.com/p%u", k % 3, i, n++);
			trace_add(&s->h, url, 0, "a", NULL);
		}
}

static uint32_t pages_of(const struct stage *s, uint32_t owner)
{
	uint32_t n = 0;
	char name[20];

	snprintf(name, sizeof name, ".o%u.com/", owner);
	for (uint32_t i = 0; i < s->r.pages.n; i++)
		n += strstr(pages_url(&s->r.pages, i), name) != NULL;
	return n;
}

static enum outcome first_changes(void *arg, uint32_t page, uint32_t cycle)
{
	const struct stage *s = arg;

	(void)cycle;
	return strstr(pages_url(&s->r.pages, page), ".o0.com/") ? OUTCOME_CHANGED : OUTCOME_SAME;
}

/* The usual ceiling is the same rule for any number of owners: none gets more than its
 * pages' share and half of the rest; what that leaves can always be spent on others. */
static void test_usual(void **state)
{
	static const uint32_t owners[] = { 1, 2, 3, 5, 19, 20, 300 };
	static const char *const policies[] = { "random", "oldest", "tide", "frequency" };

	(void)state;
	for (size_t k = 0; k < sizeof owners / sizeof *owners; k++) {
		struct stage s;
		uint32_t bound = 0;

		open_owners(&s, owners[k]);
		for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
			s.fate = first_changes;
			s.arg = &s;
			stage_play(&s, policies[p]);
			s.e.ceiling.usual = true;
			for (int c = 0; c < 6; c++) {
				uint32_t had = 0, all = s.r.pages.n, of = pages_of(&s, 0);
				uint32_t budget = all / 4 < 200 ? all / 4 : 200;

				stage_cycle(&s, budget);
				assert_int_equal(s.e.cycle.n_spent, budget);
				for (size_t i = 0; i < s.e.cycle.n_seen; i++)
					had += first_changes(&s, s.e.cycle.seen[i].page, 0) == OUTCOME_CHANGED;
				/* ceil(budget (of + all) / (2 all)), in whole numbers */
				assert_true(had <= (budget * (of + all) + 2 * all - 1) / (2 * all));
				bound += s.e.ceiling.n_excess > 0;
			}
		}
		print_message("%u owners: the ceiling was met in %u of 24 cycles\n", owners[k], bound);
		/* it was needed; among 300 owners six cycles may be too few to find the one */
		assert_true(owners[k] == 1 ? !bound : owners[k] > 20 || bound > 1);
		stage_close(&s);
	}
}

/* Hand-worked: 4 owners with 100, 200, 300, 400 of 1000 pages and a budget of 100 may have
 * 55, 60, 65 and 70 requests; 10 % asked for by the user are 10, 20, 30 and 40. */
static void test_usual_by_hand(void **state)
{
	static const uint32_t usual[] = { 55, 60, 65, 70 }, ten[] = { 10, 20, 30, 40 };
	struct stage s;

	(void)state;
	stage_open(&s);
	for (int i = 0; i < 1000; i++) {
		char url[60];
		int owner = i < 100 ? 0 : i < 300 ? 1 : i < 600 ? 2 : 3;

		snprintf(url, sizeof url, "http://h%d.o%d.co.uk/%d", i % 5, owner, i);
		trace_add(&s.h, url, 0, "a", NULL);
	}
	for (int given = 0; given < 2; given++) {
		stage_play(&s, "random");
		s.e.ceiling.usual = !given;
		s.e.ceiling.share = (struct share){ given ? 10 : 0, true };
		s.e.visits.state[0] = 0;        /* the stage's own page */
		stage_cycle(&s, 100);
		assert_int_equal(s.e.ceiling.n_owners, 5);
		for (int o = 0; o < 4; o++) {
			char host[20];
			uint32_t owner;

			snprintf(host, sizeof host, ".o%d.", o);
			owner = s.e.ceiling.owner[site_of(&s, host)];
			assert_int_equal(s.e.ceiling.most[owner], given ? ten[o] : usual[o]);
		}
	}
	stage_close(&s);
}

/* Who owns a host is what the public suffix list says; one owner has no ceiling. */
static void test_owners(void **state)
{
	static const char *const urls[][2] = {
		{ "http://a.example.com/", "example.com" }, { "http://b.c.example.com:81/", "example.com" },
		{ "https://example.com/", "example.com" }, { "http://a.co.uk/", "a.co.uk" },
		{ "http://x.b.co.uk/", "b.co.uk" }, { "http://one.github.io/", "one.github.io" },
		{ "http://two.github.io/", "two.github.io" }, { "http://github.io/", "github.io" },
		{ "http://127.0.0.1:81/", "127.0.0.1" }, { "http://127.0.0.1:82/", "127.0.0.1" },
		{ "http://127.0.0.2/", "127.0.0.2" }, { "http://[::1]:81/", "[::1]" },
		{ "http://localhost:81/", "localhost" }, { "http://localhost/", "localhost" },
	};
	size_t n = sizeof urls / sizeof *urls;
	struct stage s;
	struct buf name;

	(void)state;
	stage_open(&s);
	for (size_t i = 0; i < n; i++)
		trace_add(&s.h, urls[i][0], 0, "a", NULL);
	stage_play(&s, "random");
	s.e.ceiling.usual = true;
	stage_cycle(&s, 3);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++) {
			uint32_t a = s.e.ceiling.owner[site_of(&s, urls[i][0])];
			uint32_t b = s.e.ceiling.owner[site_of(&s, urls[k][0])];

			assert_int_equal(a == b, !strcmp(urls[i][1], urls[k][1]));
			s.e.ceiling.worst = a;
			buf_init(&name, BUF_NO_LIMIT);
			ceiling_worst(&s.e.ceiling, &s.e.view, &name);
			assert_string_equal(buf_text(&name), urls[i][1]);
			buf_release(&name);
		}
	stage_close(&s);
}

/* Three hosts of one owner, a fifth of the pages, that change with every look: together
 * they have what one site may have. */
static enum outcome owner_changes(void *arg, uint32_t page, uint32_t cycle)
{
	const struct stage *s = arg;

	(void)cycle;
	return strstr(pages_url(&s->r.pages, page), ".bad.org/") ? OUTCOME_CHANGED : OUTCOME_SAME;
}

static void test_hosts_of_one_owner(void **state)
{
	const struct policy_ops *ops;
	struct stage s;

	(void)state;
	stage_open(&s);
	for (int i = 0; i < PAGES; i++) {
		char url[60];

		snprintf(url, sizeof url, i % 5 ? "http://s%d.net/%d" : "http://h%d.bad.org/%d",
		         i % 5 ? i % 40 : i / 5 % 3, i);
		trace_add(&s.h, url, 0, "a", NULL);
	}
	s.fate = owner_changes;
	s.arg = &s;
	for (size_t i = 0; (ops = policy_at(i)); i++) {
		if (ops->only_replay || !is_simple(ops->name))
			continue;
		stage_play(&s, ops->name);
		s.e.ceiling.share = (struct share){ 30, true };
		for (int c = 0; c < 12; c++) {
			uint32_t had = 0;

			stage_cycle(&s, BUDGET);
			for (size_t k = 0; k < s.e.cycle.n_seen; k++)
				had += owner_changes(&s, s.e.cycle.seen[k].page, 0) == OUTCOME_CHANGED;
			if (had > 30)
				fail_msg("%s: %u of %u for three hosts of one owner", ops->name, had, BUDGET);
			assert_int_equal(s.e.cycle.n_spent, BUDGET);
		}
	}
	stage_close(&s);
}

/* What owners had is what was spent and granted, whatever becomes of a page. */
static void test_books_agree(void **state)
{
	struct asking a = { .want = 1, .impatient = true };

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct rng r;
		struct stage s;
		uint32_t lease;
		size_t n;

		rng_init(&r, seed);
		open_pages(&s, false);
		stage_play(&s, "oldest");
		s.e.ceiling.share = (struct share){ 20, true };
		engine_begin(&s.e, 1700000000, BUDGET);
		for (int i = 0; i < 60 && engine_ask(&s.e, &a, &lease, &n) == ASK_OFFERS; i++) {
			struct delivery d = { .outcome = OUTCOME_SAME,
				.extra = (uint32_t)rng_below(&r, 3) };
			uint32_t granted = (uint32_t)rng_below(&r, 3), sum = 0;

			while (granted && engine_spend(&s.e, lease))
				granted--;
			switch (rng_below(&r, 5)) {
			case 0: engine_tell(&s.e, lease, &d); break;
			case 1: engine_give_back(&s.e, lease); break;
			case 2: engine_lapse(&s.e, lease); break;
			case 3: engine_drop(&s.e, lease); break;
			case 4: break;          /* it is still offered */
			}
			for (uint32_t k = 0; k < s.e.ceiling.n_owners; k++)
				sum += s.e.ceiling.sent[k];
			assert_int_equal(sum, s.e.cycle.n_spent + s.e.cycle.n_granted);
		}
		engine_end(&s.e);
		stage_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_books_agree),
		cmocka_unit_test(test_every_policy_is_bound),
		cmocka_unit_test(test_large_sites),
		cmocka_unit_test(test_usual),
		cmocka_unit_test(test_usual_by_hand),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_hosts_of_one_owner),
		cmocka_unit_test(test_guarantee_goes_first),
		cmocka_unit_test(test_gone_on_with),
		cmocka_unit_test(test_redirects_of_before_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
