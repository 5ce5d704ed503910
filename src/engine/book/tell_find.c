/* SPDX-License-Identifier: Apache-2.0 */
/* tell_find.c - which page a line of another crawler speaks of, and which offer; see tell.h. */
#include "engine/book/tell_inner.h"

#include <stdio.h>
#include <string.h>

static int see_lease(void *arg, const struct store_lease *l, struct err *err)
{
	struct tell_subject *s = arg;

	(void)err;
	if (l->place != s->late.place || l->state == STORE_LEASE_DROPPED)
		return 0;
	s->late = *l;
	snprintf(s->client, sizeof s->client, "%.*s", (int)l->client.size, l->client.s);
	s->late.client = (struct text){ s->client, strlen(s->client) };
	return 1;
}

/* By its lease: 1 found; 0 it is of a cycle that is over and nobody knows which page it was. */
static int find_lease(struct tell *t, const struct told *told, struct tell_subject *s,
                      const char **ret_why, struct err *err)
{
	const struct ledger *l = t->ledger;
	uint32_t cycle, number;
	int rc;

	if (!ledger_parse(told->lease, &cycle, &number)) {
		*ret_why = "lease is none of ours";
		return 0;
	}
	if (l->open && cycle == l->last.row.number) {
		if (number > l->leases.n || ledger_lease(l, number)->state == STORE_LEASE_DROPPED) {
			*ret_why = "no such lease was given in this cycle";
			return 0;
		}
		s->page = ledger_lease(l, number)->page;
		s->number = ledger_find(l, s->page);    /* given back, it may be another's now */
		return 1;
	}
	if (cycle > l->last.row.number) {
		*ret_why = "no such lease was ever given";
		return 0;
	}
	s->is_late = true;
	s->late = (struct store_lease){ .cycle = cycle, .place = number };
	rc = store_leases(t->store, cycle, see_lease, s, err);
	if (rc > 0) {
		s->page = s->late.page;
		return 1;
	}
	s->late.place = 0;
	if (rc == 0 && !told->url.s)
		*ret_why = "its cycle is long over: tell the url, too";
	return rc;
}

/* A page comes under care because it is told of: 1, or 0 and why not. */
static int take_page(struct tell *t, const struct told *told, uint32_t *ret,
                     const char **ret_why, struct err *err)
{
	struct store_care row = { 0 };
	unsigned care;
	int rc = 0;

	if (!t->care) {
		t->care = mem_zalloc(1, sizeof *t->care);
		rc = care_rules_load(t->care, t->store, err);
	}
	if (rc < 0)
		return rc;
	care = care_rules_say(t->care, told->url.s, told->url.size);
	if (care & CARE_SCOPE) {
		*ret_why = "it is out of scope (`freshet get` shows include and exclude)";
		return 0;
	}
	rc = store_page_add(t->store, told->url, t->now, ret, err);
	row = (struct store_care){ .page = *ret, .care = (uint8_t)care };
	if (rc >= 0)
		rc = store_care_put(t->store, &row, 1, t->now, err);
	return rc < 0 ? rc : 1;
}

/* By its URL: 1, or 0 and why not. */
static int find_url(struct tell *t, const struct told *told, struct tell_subject *s,
                    const char **ret_why, struct err *err)
{
	struct store_page p = { 0 };
	int rc = store_page_find(t->store, told->url, &p, err);
	bool offered;

	if (rc < 0)
		return rc;
	s->page = p.number;
	s->number = rc > 0 && t->ledger->open ? ledger_find(t->ledger, p.number) : 0;
	offered = s->number || told->lease.s;
	if (rc > 0 && (offered || !(p.care & CARE_REMOVED)))
		return 1;
	if (t->add || told->add)
		return take_page(t, told, &s->page, ret_why, err);
	t->stats.n_unknown++;
	*ret_why = rc > 0 ? "the page was removed: --add brings it back" :
	           "the page is not under care: --add puts it there";
	return 0;
}

int tell_find(struct tell *t, const struct told *told, struct tell_subject *s,
              const char **ret_why, struct err *err)
{
	struct store_page p;
	int rc = told->lease.s ? find_lease(t, told, s, ret_why, err) : 0;

	if (rc < 0 || *ret_why || (rc > 0 && !told->url.s))
		return rc < 0 ? rc : 0;
	if (rc > 0) {
		rc = store_page_find(t->store, told->url, &p, err);
		if (rc == 0 || (rc > 0 && p.number != s->page))
			*ret_why = "lease and url are of different pages";
		return rc < 0 ? rc : 0;
	}
	rc = find_url(t, told, s, ret_why, err);
	if (rc > 0)
		rc = store_page_given(t->store, s->page, told->url, told->given, err);
	return rc < 0 ? rc : 0;
}
