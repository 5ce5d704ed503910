/* SPDX-License-Identifier: Apache-2.0 */
/* Each rule of engine/client/client.h by itself, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "../../../lib/client_desk.h"

#define ALL 1000                /* more than there are */

static struct client_asked ask(struct client_desk *d, const char *name, uint32_t want,
                               int64_t after)
{
	return desk_ask(d, &(struct client_asking){ .name = name, .want = want, .seconds = 60,
	                                            .now = DESK_NOW + after });
}

static struct tell_stats tell_as(struct client_desk *d, const char *lease, const char *url,
                                 int outcome, uint32_t requests, int64_t after)
{
	struct told t = desk_told();

	desk_text(&t.lease, lease);
	desk_text(&t.url, url);
	t.outcome = outcome;
	t.requests = requests;
	return desk_tell(d, &t, DESK_NOW + after);
}

static struct store_cycle end(struct client_desk *d, int64_t after)
{
	struct store_cycle row = { 0 };

	assert_int_equal(client_end(desk_client(d), DESK_NOW + after, &row, &d->err), 1);
	return row;
}

/* What a client was offered, kept beyond the next call. */
struct kept { char lease[LEDGER_ID_SIZE], url[64]; };

static struct kept keep(const struct client_offer *o)
{
	struct kept k;

	snprintf(k.lease, sizeof k.lease, "%s", o->lease);
	snprintf(k.url, sizeof k.url, "%s", o->url);
	return k;
}

static struct store_page page_of(struct client_desk *d, const char *url)
{
	struct store_page p;

	assert_int_equal(store_page_find(d->store[d->used], (struct text){ url, strlen(url) }, &p,
	                                 &d->err), 1);
	return p;
}

struct looking { uint32_t cycle, n, late; uint8_t outcome; };

static int look(void *arg, const struct store_visit *v, struct err *err)
{
	struct looking *l = arg;

	(void)err;
	l->n++;
	l->late += v->reason == REASON_LATE;
	l->cycle = v->cycle;
	l->outcome = v->outcome;
	return 0;
}

static struct looking visits_of(struct client_desk *d, const char *url)
{
	struct looking l = { 0 };

	assert_int_equal(store_visits_of(d->store[d->used], &(uint32_t){ page_of(d, url).number }, 1,
	                                 1, UINT32_MAX, look, &l, &d->err), 0);
	return l;
}

static struct last_cycle last_row(struct client_desk *d)
{
	struct last_cycle last;

	assert_int_equal(last_cycle_read(d->store[d->used], &last, &d->err), 0);
	return last;
}

/* After its deadline an offer is spent, is nobody's, and may be told once more. */
static void test_a_lease_lapses(void **state)
{
	struct client_desk d;
	struct client_asked got;
	struct kept k;

	(void)state;
	desk_open(&d, "oldest");
	got = ask(&d, "alpha", 1, 0);
	assert_int_equal(got.n, 1);
	assert_int_equal(got.offers[0].until, DESK_NOW + 60);
	k = keep(&got.offers[0]);
	desk_use(&d, 1);
	got = ask(&d, "alpha", ALL, 59);        /* it is still out */
	assert_int_equal(got.n, DESK_BUDGET);
	assert_true(got.offers[0].again);
	for (size_t i = 1; i < got.n; i++)
		assert_string_not_equal(got.offers[i].url, k.url);
	got = ask(&d, "alpha", ALL, 60);        /* its deadline: the others have theirs later */
	assert_int_equal(got.n, DESK_BUDGET - 1);
	for (size_t i = 0; i < got.n; i++)
		assert_true(got.offers[i].again);
	assert_int_equal(got.cycle.downloads, 1);
	assert_int_equal(page_of(&d, k.url).fails, 0);
	assert_int_equal(visits_of(&d, k.url).n, 0);
	desk_use(&d, 2);
	assert_int_equal(tell_as(&d, k.lease, NULL, OUTCOME_SAME, 1, 70).n_lines, 1);
	assert_int_equal(tell_as(&d, k.lease, NULL, OUTCOME_SAME, 1, 71).n_repeated, 1);
	assert_int_equal(visits_of(&d, k.url).n, 1);
	assert_int_equal(last_row(&d).row.downloads, 1);        /* it had been spent */
	assert_int_equal(end(&d, 80).downloads, DESK_BUDGET);   /* those that are out, too */
	desk_close(&d);
}

/* Only a release brings page and budget back. */
static void test_release(void **state)
{
	struct client_desk d;
	struct client_asked got;
	struct kept k;

	(void)state;
	desk_open(&d, "oldest");
	d.opts.budget.value = 1;
	for (unsigned i = 0; i < DESK_CLIENTS; i++) {
		desk_use(&d, i);
		desk_kill(&d);          /* with the new budget */
	}
	got = ask(&d, "alpha", 5, 0);
	assert_int_equal(got.n, 1);
	k = keep(&got.offers[0]);
	assert_int_equal(ask(&d, "beta", 5, 1).answer, CLIENT_WAIT);
	desk_use(&d, 1);
	assert_int_equal(client_give_back(desk_client(&d), k.lease, DESK_NOW + 2, &d.err), 0);
	got = ask(&d, "beta", 5, 3);
	assert_int_equal(got.n, 1);
	assert_false(got.offers[0].again);
	assert_int_equal(tell_as(&d, got.offers[0].lease, NULL, OUTCOME_SAME, 1, 4).n_lines, 1);
	assert_int_equal(ask(&d, "alpha", 5, 5).answer, CLIENT_DONE);
	assert_true(client_give_back(desk_client(&d), "7-7", DESK_NOW + 5, &d.err) < 0);
	assert_true(client_give_back(desk_client(&d), "nonsense", DESK_NOW + 5, &d.err) < 0);
	assert_int_equal(end(&d, 6).downloads, 1);
	desk_close(&d);
}

/* Requests are held, and those that were not needed come back. */
static void test_requests_are_held(void **state)
{
	struct client_asking a = { .want = ALL, .max_requests = 12, .now = DESK_NOW };
	struct client_desk d;
	struct client_asked got;
	char lease[LEDGER_ID_SIZE];

	(void)state;
	desk_open(&d, "oldest");
	got = desk_ask(&d, &a);
	assert_int_equal(got.n, 4);             /* 12 + 12 + 12 + 4 of 40 */
	assert_int_equal(got.offers[3].max_requests, 4);
	snprintf(lease, sizeof lease, "%s", got.offers[0].lease);
	assert_int_equal(desk_ask(&d, &a).answer, CLIENT_WAIT);
	assert_int_equal(tell_as(&d, lease, NULL, OUTCOME_SAME, 2, 1).n_lines, 1);
	got = desk_ask(&d, &a);
	assert_int_equal(got.n, 1);             /* 10 have come back */
	assert_int_equal(got.offers[0].max_requests, 10);
	desk_close(&d);
}

/* What a cycle spends beyond its budget is taken off the next, and what that one cannot pay
 * off those that follow, also behind a cycle that was told at once.  By hand: 40 of budget,
 * 155 spent, so 115 too many: 39 + 39 + 37. */
static void test_overspent(void **state)
{
	static const struct { uint32_t budget, off; } then[] = { { 1, 39 }, { 1, 39 }, { 3, 37 },
	                                                         { 40, 0 } };
	struct client_desk d;
	struct client_asked got;
	struct store_cycle row;

	(void)state;
	desk_open(&d, "oldest");
	got = ask(&d, "alpha", 1, 0);
	assert_int_equal(tell_as(&d, got.offers[0].lease, NULL, OUTCOME_SAME, 155, 1).n_lines, 1);
	assert_int_equal(ask(&d, "alpha", 1, 2).answer, CLIENT_DONE);
	row = end(&d, 3);
	assert_int_equal(row.downloads, 155);
	assert_int_equal(last_cycle_overspent(&row), 115);
	for (int i = 0; i < 4; i++) {
		if (i == 1)
			assert_int_equal(tell_as(&d, NULL, desk_url(5), OUTCOME_SAME, 1, 9).n_lines, 1);
		desk_use(&d, (unsigned)i % DESK_CLIENTS);
		got = ask(&d, "alpha", ALL, 10 + i);
		assert_true(got.begun);
		assert_int_equal(got.taken_off, then[i].off);
		assert_int_equal(got.cycle.budget, then[i].budget);
		assert_int_equal(got.n, then[i].budget);
		assert_int_equal(end(&d, 10 + i).downloads, then[i].budget);    /* all lapse */
	}
	desk_close(&d);
}

/* Whoever tells first wins; a page that nobody was offered counts as spent. */
static void test_first_tell_wins(void **state)
{
	struct client_desk d;
	struct client_asked got;
	struct kept k;
	char other[64];

	(void)state;
	desk_open(&d, "oldest");
	got = ask(&d, "alpha", 1, 0);
	k = keep(&got.offers[0]);
	desk_use(&d, 1);
	assert_int_equal(tell_as(&d, NULL, k.url, OUTCOME_CHANGED, 1, 1).n_lines, 1);
	desk_use(&d, 0);
	assert_int_equal(tell_as(&d, k.lease, NULL, OUTCOME_SAME, 1, 2).n_repeated, 1);
	assert_int_equal(visits_of(&d, k.url).n, 1);
	assert_int_equal(visits_of(&d, k.url).outcome, OUTCOME_CHANGED);
	snprintf(other, sizeof other, "%s", desk_url(desk_page(k.url) == 77 ? 78 : 77));
	assert_int_equal(tell_as(&d, NULL, other, OUTCOME_SAME, 1, 3).n_lines, 1);
	got = ask(&d, "alpha", ALL, 4);
	assert_int_equal(got.n, DESK_BUDGET - 2);
	for (size_t i = 0; i < got.n; i++)
		assert_string_not_equal(got.offers[i].url, other);
	assert_int_equal(got.cycle.downloads, 2);
	desk_close(&d);
}

static int see_second(void *arg, const struct store_cycle *c, struct err *err)
{
	(void)err;
	if (c->number == 2)
		*(struct store_cycle *)arg = *c;
	return 0;
}

/* Without an open cycle, what is told makes one of its own; a lease of a cycle that is over
 * is late, costs nothing, and changes no cycle that is over. */
static void test_late_and_alone(void **state)
{
	struct client_desk d;
	struct client_asked got;
	struct store_cycle first, second = { 0 };
	struct kept k[3];

	(void)state;
	desk_open(&d, "oldest");
	assert_int_equal(tell_as(&d, NULL, desk_url(5), OUTCOME_SAME, 1, 0).n_lines, 1);
	assert_string_equal(last_row(&d).policy, "told");
	assert_false(last_row(&d).row.open);
	got = ask(&d, "alpha", 3, 10);
	assert_true(got.begun);
	for (int i = 0; i < 3; i++)
		k[i] = keep(&got.offers[i]);
	first = end(&d, 20);
	assert_int_equal(first.downloads, 3);
	got = ask(&d, "alpha", 1, 30);
	assert_int_equal(got.cycle.number, 3);
	desk_use(&d, 1);
	assert_int_equal(tell_as(&d, k[0].lease, NULL, OUTCOME_CHANGED, 1, 31).n_late, 1);
	assert_int_equal(tell_as(&d, k[0].lease, NULL, OUTCOME_CHANGED, 1, 32).n_repeated, 1);
	assert_int_equal(visits_of(&d, k[0].url).cycle, 3);
	assert_int_equal(visits_of(&d, k[0].url).late, 1);
	assert_int_equal(last_row(&d).row.downloads, 0);
	desk_use(&d, 0);
	assert_int_equal(end(&d, 40).downloads, 1);     /* the one that is out */
	assert_int_equal(tell_as(&d, k[1].lease, NULL, OUTCOME_SAME, 1, 41).n_late, 1);
	assert_int_equal(visits_of(&d, k[1].url).cycle, 4);     /* none was open */
	assert_false(last_row(&d).row.open);
	/* leases of the last cycle but one are forgotten: then the URL says which page */
	assert_int_equal(ask(&d, "alpha", 1, 50).cycle.number, 5);
	assert_int_equal(tell_as(&d, k[2].lease, NULL, OUTCOME_SAME, 1, 51).n_bad, 1);
	assert_int_equal(tell_as(&d, k[2].lease, k[2].url, OUTCOME_SAME, 1, 52).n_late, 1);
	assert_int_equal(last_row(&d).row.downloads, 0);
	assert_int_equal(store_cycles(d.store[0], 0, see_second, &second, &d.err), 0);
	assert_int_equal(second.downloads, first.downloads);
	assert_int_equal(second.same + second.changed + second.fresh, 0);
	desk_close(&d);
}

/* The next round waits for most of the last, or for half a minute; that moment outlives the
 * program. */
static void test_waiting(void **state)
{
	struct client_desk d;
	struct client_asked got;

	(void)state;
	desk_open(&d, "tide");
	assert_int_equal(ask(&d, "", ALL, 0).answer, CLIENT_OFFERS);
	got = ask(&d, "", ALL, 5);
	assert_int_equal(got.answer, CLIENT_WAIT);
	assert_int_equal(got.wait, 30);
	desk_kill(&d);
	got = ask(&d, "", ALL, 15);
	assert_int_equal(got.answer, CLIENT_WAIT);
	assert_int_equal(got.wait, 20);
	desk_use(&d, 1);
	assert_int_equal(ask(&d, "", ALL, 34).answer, CLIENT_WAIT);
	assert_int_equal(ask(&d, "", ALL, 35).answer, CLIENT_OFFERS);
	desk_close(&d);
}

/* A cycle that crawls is not ours; one of ours ends when the next is due, or by --new. */
static void test_whose_cycle(void **state)
{
	struct client_asking a = { .want = 1, .now = DESK_NOW + 50 };
	struct store_cycle row = { .number = 1, .time = DESK_NOW, .open = true, .budget = 9,
	                           .policy = { "tide", 4 } };
	struct client_asked got;
	struct client_desk d;

	(void)state;
	desk_open(&d, "oldest");
	assert_int_equal(store_begin(d.store[0], &d.err), 0);
	assert_int_equal(store_cycle_put(d.store[0], &row, &d.err), 0);
	assert_int_equal(store_commit(d.store[0], &d.err), 0);
	assert_int_equal(client_ask(desk_client(&d), &a, &got, &d.err), E_USAGE);
	assert_non_null(strstr(d.err.text, "--new"));
	assert_int_equal(client_end(desk_client(&d), a.now, &row, &d.err), 0);
	a.anew = true;
	got = desk_ask(&d, &a);
	assert_int_equal(got.ended, 1);
	assert_int_equal(got.cycle.number, 2);
	a.anew = false;
	a.now = got.cycle.time + DAY_SECONDS - 1;
	assert_int_equal(desk_ask(&d, &a).cycle.number, 2);
	a.now++;
	got = desk_ask(&d, &a);
	assert_int_equal(got.ended, 2);
	assert_int_equal(got.cycle.number, 3);
	assert_true(got.begun);
	desk_close(&d);
}

/* Pages of one host are a pause apart, whoever fetches them; none is offered whose turn
 * comes after the deadline; and no client has more of a host than it wants. */
static void test_hosts(void **state)
{
	struct client_desk d;
	int64_t last[9] = { 0 };
	uint32_t of[9] = { 0 };

	(void)state;
	desk_open(&d, "oldest");
	d.opts.delay = 25;
	for (unsigned i = 0; i < DESK_CLIENTS; i++) {
		desk_use(&d, i);
		desk_kill(&d);
	}
	for (unsigned i = 0; i < DESK_CLIENTS; i++) {
		struct client_asking a = { .want = 9, .seconds = 60, .per_host = 2, .now = DESK_NOW };
		struct client_asked got;

		desk_use(&d, i);
		got = desk_ask(&d, &a);
		assert_true(i == 2 ? got.n <= 9 : got.n == 9);
		for (size_t k = 0; k < got.n; k++) {
			uint32_t host = desk_page(got.offers[k].url) % 9;

			assert_true(!last[host] || got.offers[k].not_before >= last[host] + 25);
			assert_true(got.offers[k].not_before < got.offers[k].until);
			last[host] = got.offers[k].not_before;
			of[host]++;
		}
	}
	for (int i = 0; i < 9; i++)
		assert_true(of[i] <= 3);        /* 0, 25, 50 s */
	desk_close(&d);
}

/* Pages that are added while a cycle is open come with the next one. */
static void test_added_pages_wait(void **state)
{
	struct client_desk d;
	struct client_asked got;
	uint32_t number;

	(void)state;
	desk_open(&d, "oldest");
	d.opts.budget.value = 500;
	desk_kill(&d);
	got = ask(&d, "alpha", 1, 0);
	assert_int_equal(store_begin(d.store[1], &d.err), 0);
	assert_int_equal(store_page_add(d.store[1], (struct text){ "http://new.example/", 19 },
	                                DESK_NOW, &number, &d.err), 1);
	assert_int_equal(store_commit(d.store[1], &d.err), 0);
	desk_kill(&d);
	got = ask(&d, "alpha", ALL, 1);
	assert_int_equal(got.n, DESK_PAGES);
	end(&d, 2);
	got = ask(&d, "alpha", ALL, 3);
	assert_int_equal(got.n, DESK_PAGES + 1);
	desk_close(&d);
}

/* Who asks before there is a page opens no cycle: the first pages would have to wait for its
 * end. */
static void test_no_pages(void **state)
{
	struct client_desk d;
	struct client_asked got;
	struct store_page p;
	uint32_t number;

	(void)state;
	desk_open(&d, "oldest");
	assert_int_equal(store_begin(d.store[0], &d.err), 0);
	for (uint32_t i = 0; i < DESK_PAGES; i++) {
		struct store_page now;

		assert_int_equal(store_page_get(d.store[0], i, &p, &d.err), 1);
		now = p;
		now.state = STORE_PAGE_GONE;
		assert_int_equal(store_page_update(d.store[0], &p, &now, &d.err), 0);
	}
	assert_int_equal(store_commit(d.store[0], &d.err), 0);
	desk_kill(&d);
	got = ask(&d, "alpha", 1, 0);
	assert_int_equal(got.answer, CLIENT_DONE);
	assert_false(got.begun);
	assert_false(last_row(&d).any);
	assert_int_equal(store_begin(d.store[0], &d.err), 0);
	assert_int_equal(store_page_add(d.store[0], (struct text){ "http://new.example/", 19 },
	                                DESK_NOW, &number, &d.err), 1);
	assert_int_equal(store_commit(d.store[0], &d.err), 0);
	assert_int_equal(ask(&d, "alpha", 1, 2).n, 1);
	desk_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_lease_lapses),
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_requests_are_held),
		cmocka_unit_test(test_overspent),
		cmocka_unit_test(test_first_tell_wins),
		cmocka_unit_test(test_late_and_alone),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_whose_cycle),
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_added_pages_wait),
		cmocka_unit_test(test_no_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
