/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_validators.c - are a site's validators sent, and what came of it; web/rules/validator.h
 * has the rule.  The doubt about a site is in its row of the store, with that of its dates,
 * and is looked up once a cycle.
 */
#include "engine/crawl/crawl_inner.h"

#include <string.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "web/rules/validator.h"

#define UNKNOWN UINT32_MAX

static int get_row(struct crawl *c, uint32_t site, struct text *ret_name,
                   struct store_hint *ret, struct err *err)
{
	const struct strtab *names = &c->resumed->has.loaded.pages.site_names;
	int rc;

	*ret_name = (struct text){ strtab_get(names, site), strtab_size(names, site) };
	*ret = (struct store_hint){ 0 };
	rc = store_hint_get(c->store, *ret_name, ret, err);
	return rc < 0 ? rc : 0;
}

/* The cached doubt of the page's site; NULL with err filled. */
static uint32_t *doubt_of(struct crawl *c, uint32_t page, struct err *err)
{
	const struct pages *p = &c->resumed->has.loaded.pages;
	uint32_t site = p->site[page];
	struct store_hint h;
	struct text name;

	if (!c->doubt) {
		c->doubt = mem_array(p->tree.n_sites, sizeof *c->doubt);
		memset(c->doubt, 0xff, p->tree.n_sites * sizeof *c->doubt);
	}
	if (c->doubt[site] == UNKNOWN) {
		if (get_row(c, site, &name, &h, err) < 0)
			return NULL;
		c->doubt[site] = h.doubt;
	}
	return &c->doubt[site];
}

int crawl_validators_ask(struct crawl *c, uint32_t page, bool *ret_send, struct err *err)
{
	const struct store_cycle *row = &c->report->cycle;
	uint64_t draw = rng_draw(row->seed, row->number, page, RNG_CHECK);
	uint32_t *doubt = doubt_of(c, page, err);

	if (!doubt)
		return E_STORE;
	*ret_send = !*doubt && rng_unit(draw) * VALIDATOR_CHECK >= 1;
	return 0;
}

int crawl_validators_check(struct crawl *c, uint32_t page, const struct crawl_answer *a,
                           struct err *err)
{
	const struct crawl_copy *copy = a->copy;
	const struct text etag = a->record.etag, date = a->record.modified;
	enum validator_verdict verdict;
	struct store_hint h, was;
	struct text name;
	uint32_t *doubt, before;
	int rc;

	if (!copy || a->result.status != 200 || a->outcome > OUTCOME_CHANGED || a->result.n_hops)
		return 0;
	verdict = validator_judge(etag.s, etag.size, copy->etag.s, copy->etag.size, date.s,
	                          date.size, copy->modified.s, copy->modified.size,
	                          a->outcome == OUTCOME_CHANGED);
	if (verdict == VALIDATOR_NOTHING)
		return 0;
	c->report->checks++;
	c->report->lies += verdict == VALIDATOR_LIES;
	doubt = doubt_of(c, page, err);
	if (!doubt)
		return E_STORE;
	before = *doubt;
	validator_note(doubt, verdict);
	if (*doubt == before)
		return 0;
	rc = get_row(c, c->resumed->has.loaded.pages.site[page], &name, &h, err);
	was = h;
	h.doubt = *doubt;
	return rc < 0 ? rc : store_hint_update(c->store, name, &was, &h, err);
}
