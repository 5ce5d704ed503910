/* SPDX-License-Identifier: Apache-2.0 */
/* ceiling.c - how much of a cycle one site may have; see ceiling.h. */
#include "engine/ceiling.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

void ceiling_release(struct ceiling *c)
{
	free(c->most);
	free(c->had);
	free(c->excess);
	*c = (struct ceiling){ .share = c->share, .usual = c->usual };
}

void ceiling_begin(struct ceiling *c, const struct view *v, uint8_t *state)
{
	double share = c->share.percent ? c->share.value / 100 : c->share.value / v->budget;
	uint32_t here = 0;

	ceiling_release(c);
	if (c->usual && !(share > 0) && v->tree->n_sites >= CEILING_SITES)
		share = CEILING_PERCENT / 100.0;
	if (!(share > 0 && share < 1) || v->tree->n_sites < 2)
		return;
	c->n_sites = v->tree->n_sites;
	c->most = mem_zalloc(c->n_sites, sizeof *c->most);
	c->had = mem_zalloc(c->n_sites, sizeof *c->had);
	c->excess = mem_zalloc(c->n_sites, sizeof *c->excess);
	for (uint32_t i = 0; i < v->n_pages; i++) {
		if (!(state[i] & PAGE_HERE))
			continue;
		c->most[v->site[i]]++;
		here++;
	}
	for (uint32_t i = 0; i < c->n_sites; i++)
		c->most[i] = (uint32_t)ceil((double)v->budget *
			fmax(share, here ? (double)c->most[i] / here : 0));
}

/* Nothing more of this site; pages that are gone have no bit to lose. */
static void close_site(const struct view *v, uint8_t *state, uint32_t site)
{
	for (uint32_t i = v->tree->site_first[site]; i < v->tree->site_first[site + 1]; i++)
		state[v->tree->site_pages[i]] |= PAGE_CLOSED;
}

static void count(struct ceiling *c, const struct view *v, uint8_t *state, uint32_t site)
{
	if (++c->had[site] == c->most[site])
		close_site(v, state, site);
}

void ceiling_plan(struct ceiling *c, const struct view *v, uint8_t *state, struct plan *p,
                  bool give_up)
{
	size_t kept = 0;

	for (size_t i = 0; c->most && i < p->n_taken; i++) {
		uint32_t page = p->taken[i].page, site = v->site[page];

		if (give_up && c->had[site] >= c->most[site]) {
			state[page] &= (uint8_t)~PAGE_TAKEN;
			c->n_full += !c->excess[site];
			c->n_excess++;
			if (++c->excess[site] >= c->excess[c->worst])
				c->worst = site;
			continue;
		}
		count(c, v, state, site);
		p->taken[kept++] = p->taken[i];
	}
	if (c->most)
		p->n_taken = kept;
}

void ceiling_recall(struct ceiling *c, const struct view *v, uint8_t *state, uint32_t page)
{
	if (c->most)
		count(c, v, state, v->site[page]);
}

void ceiling_end(struct ceiling *c, const struct view *v, uint8_t *state)
{
	for (uint32_t i = 0; c->most && i < v->n_pages; i++)
		state[i] &= (uint8_t)~PAGE_CLOSED;
}
