/* SPDX-License-Identifier: Apache-2.0 */
/* ceiling.c - how many requests of a cycle an owner's pages may cost; see ceiling.h. */
#include "engine/cycle/ceiling.h"

#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "web/url/url.h"

/* ---- owners ---- */

static void name_owner(const struct view *v, uint32_t site, struct buf *out)
{
	const char *url = view_url(v, v->tree->site_pages[v->tree->site_first[site]]);

	url_domain(url, strlen(url), out);
}

/* All pages of a site have one owner, so the suffix list is searched once a site. */
static void find_owners(struct ceiling *c, const struct view *v)
{
	uint32_t n = v->tree->n_sites;
	struct strtab names = { 0 };
	struct buf name;

	c->owner = mem_array(n, sizeof *c->owner);
	buf_init(&name, BUF_NO_LIMIT);
	for (uint32_t i = 0; i < n; i++) {
		buf_clear(&name);
		if (c->budgets.group && c->budgets.group[i] != UINT32_MAX)
			buf_printf(&name, "/%u", c->budgets.group[i]);  /* no domain has a slash */
		else
			name_owner(v, i, &name);
		c->owner[i] = strtab_intern(&names, buf_text(&name), name.size, NULL);
	}
	c->n_owners = names.n;
	buf_release(&name);
	strtab_release(&names);
	c->first = mem_zalloc((size_t)c->n_owners + 1, sizeof *c->first);
	c->sites = mem_array(n, sizeof *c->sites);
	for (uint32_t i = 0; i < n; i++)
		c->first[c->owner[i]]++;
	for (uint32_t i = 0, sum = 0; i <= c->n_owners; i++) {
		sum += c->first[i];
		c->first[i] = sum;      /* the end of the group; the next loop counts it down */
	}
	for (uint32_t i = n; i-- > 0;)
		c->sites[--c->first[c->owner[i]]] = i;
}

static uint32_t owner_of(const struct ceiling *c, const struct view *v, uint32_t page)
{
	return c->owner[v->site[page]];
}

void ceiling_worst(const struct ceiling *c, const struct view *v, struct buf *out)
{
	name_owner(v, c->sites[c->first[c->worst]], out);
}

/* ---- a cycle ---- */

static void forget_cycle(struct ceiling *c)
{
	free(c->most);
	free(c->had);
	free(c->sent);
	free(c->excess);
	c->most = c->had = c->sent = c->excess = NULL;
	c->n_excess = c->worst = c->n_opened = 0;
}

void ceiling_release(struct ceiling *c)
{
	forget_cycle(c);
	free(c->owner);
	free(c->first);
	free(c->sites);
	*c = (struct ceiling){ .share = c->share, .usual = c->usual, .budgets = c->budgets,
	                       .fleet = c->fleet };
}

/* The budget of an owner's own, or UINT32_MAX. */
static uint32_t own_budget(const struct ceiling *c, uint32_t owner)
{
	uint32_t group = c->budgets.group ? c->budgets.group[c->sites[c->first[owner]]] : UINT32_MAX;

	return group == UINT32_MAX ? UINT32_MAX : c->budgets.most[group];
}

/* The ceiling as a share of the budget; w: the owner's share of the pages. */
static double ceiling_share(double share, double w)
{
	return share > 0 ? fmax(share, w) : w + (1 - w) * CEILING_PERCENT / 100;
}

/* Close the pages of an owner, or open them again. */
static void mark(const struct ceiling *c, const struct view *v, uint8_t *state,
                 uint32_t owner, bool closed)
{
	const struct tree *t = v->tree;

	for (uint32_t k = c->first[owner]; k < c->first[owner + 1]; k++) {
		uint32_t site = c->sites[k];

		for (uint32_t i = t->site_first[site]; i < t->site_first[site + 1]; i++) {
			uint8_t *s = &state[t->site_pages[i]];

			*s = (uint8_t)(closed ? *s | PAGE_CLOSED : *s & ~PAGE_CLOSED);
		}
	}
}

static bool is_full(const struct ceiling *c, uint32_t owner)
{
	return c->had[owner] >= c->most[owner];
}

void ceiling_begin(struct ceiling *c, const struct view *v, uint8_t *state)
{
	uint32_t budget = c->fleet.budget ? c->fleet.budget : v->budget, here = 0;
	double share = c->share.percent ? c->share.value / 100 : c->share.value / budget;

	forget_cycle(c);
	bool shares = (share > 0 ? share < 1 : c->usual) &&
	              (v->tree->n_sites > 1 || c->fleet.pages);

	if (!shares && !c->budgets.group)
		return;
	if (!c->owner)
		find_owners(c, v);
	if (c->n_owners < 2 && !c->budgets.group && !c->fleet.pages)
		return;
	c->most = mem_zalloc(c->n_owners, sizeof *c->most);
	c->had = mem_zalloc(c->n_owners, sizeof *c->had);
	c->sent = mem_zalloc(c->n_owners, sizeof *c->sent);
	c->excess = mem_zalloc(c->n_owners, sizeof *c->excess);
	for (uint32_t i = 0; i < v->n_pages; i++) {
		if (state[i] != PAGE_HERE)
			continue;
		c->most[owner_of(c, v, i)]++;
		here++;
	}
	if (c->fleet.pages > here)
		here = c->fleet.pages;
	for (uint32_t i = 0; i < c->n_owners; i++) {
		double w = here ? (double)c->most[i] / here : 0;

		/* rounded up; 1e-6 hides rounding errors of the product */
		c->most[i] = shares ? (uint32_t)ceil(budget * ceiling_share(share, w) - 1e-6) :
		             UINT32_MAX;
		if (own_budget(c, i) < c->most[i])
			c->most[i] = own_budget(c, i);
		if (is_full(c, i))
			mark(c, v, state, i, true);
	}
}

static void set_had(struct ceiling *c, const struct view *v, uint8_t *state, uint32_t owner,
                    uint32_t had)
{
	bool was = is_full(c, owner);

	c->had[owner] = had;
	if (is_full(c, owner) != was)
		mark(c, v, state, owner, !was);
	c->n_opened += was && !is_full(c, owner);
}

static void promise(struct ceiling *c, const struct view *v, uint8_t *state, uint32_t page)
{
	uint32_t owner = owner_of(c, v, page);

	set_had(c, v, state, owner, c->had[owner] + 1);
}

void ceiling_give_up(struct ceiling *c, const struct view *v, uint32_t page)
{
	uint32_t owner = owner_of(c, v, page);

	c->n_excess++;
	if (++c->excess[owner] >= c->excess[c->worst])
		c->worst = owner;
}

void ceiling_plan(struct ceiling *c, const struct view *v, uint8_t *state, struct plan *p,
                  bool give_up)
{
	size_t kept = 0;

	for (size_t i = 0; c->most && i < p->n_taken; i++) {
		uint32_t page = p->taken[i].page;

		if (give_up && is_full(c, owner_of(c, v, page))) {
			state[page] &= (uint8_t)~PAGE_TAKEN;
			ceiling_give_up(c, v, page);
			continue;
		}
		promise(c, v, state, page);
		p->taken[kept++] = p->taken[i];
	}
	if (c->most)
		p->n_taken = kept;
}

void ceiling_recall(struct ceiling *c, const struct view *v, uint8_t *state, uint32_t page)
{
	if (c->most)
		promise(c, v, state, page);
}

void ceiling_told(struct ceiling *c, const struct view *v, uint8_t *state, uint32_t page,
                  uint32_t requests)
{
	uint32_t owner;

	if (!c->most)
		return;
	owner = owner_of(c, v, page);
	set_had(c, v, state, owner, c->had[owner] + requests - 1);
}

bool ceiling_limits(const struct ceiling *c, const struct view *v, struct demand_limits *ret)
{
	bool any = false;

	*ret = (struct demand_limits){ .owner = c->owner };
	if (!c->most)
		return false;
	ret->room = mem_array(c->n_owners, sizeof *ret->room);
	for (uint32_t i = 0; i < c->n_owners; i++) {
		uint32_t pages = 0, room = is_full(c, i) ? 0 : c->most[i] - c->had[i];

		for (uint32_t k = c->first[i]; k < c->first[i + 1]; k++)
			pages += v->tree->site_first[c->sites[k] + 1] - v->tree->site_first[c->sites[k]];
		ret->room[i] = pages > room ? room : UINT32_MAX;
		any |= pages > room;
	}
	return any;
}

/* ---- requests ---- */

bool ceiling_left(const struct ceiling *c, const struct view *v, uint32_t page)
{
	return !c->most || c->sent[owner_of(c, v, page)] < c->most[owner_of(c, v, page)];
}

void ceiling_spent(struct ceiling *c, const struct view *v, uint32_t page, uint32_t n)
{
	if (c->most)
		c->sent[owner_of(c, v, page)] += n;
}

void ceiling_return(struct ceiling *c, const struct view *v, uint32_t page)
{
	if (c->most)
		c->sent[owner_of(c, v, page)]--;
}

bool ceiling_lift(struct ceiling *c, const struct view *v, uint8_t *state)
{
	bool any = false;

	if (c->fleet.pages)
		return false;
	for (uint32_t i = 0; c->most && !(c->share.value > 0) && i < c->n_owners; i++) {
		any = any || (is_full(c, i) && c->most[i] < own_budget(c, i));
		c->most[i] = own_budget(c, i);
	}
	if (any)
		ceiling_end(c, v, state);
	for (uint32_t i = 0; any && i < c->n_owners; i++)
		if (is_full(c, i))
			mark(c, v, state, i, true);
	return any;
}

void ceiling_end(struct ceiling *c, const struct view *v, uint8_t *state)
{
	for (uint32_t i = 0; c->most && i < v->n_pages; i++)
		state[i] &= (uint8_t)~PAGE_CLOSED;
}
