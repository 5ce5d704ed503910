/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c - the random sample that a cycle may open with; see sample.h. */
#include "engine/cycle/sample.h"

#include <math.h>

#include "base/math/rng.h"
#include "base/mem.h"

struct drawn { uint64_t draw; uint32_t page; };

static int compare_drawn(const void *pa, const void *pb)
{
	const struct drawn *a = pa, *b = pb;

	if (a->draw != b->draw)
		return a->draw < b->draw ? -1 : 1;
	return a->page < b->page ? -1 : a->page > b->page;
}

void sample_draw(struct sample *s, const struct view *v)
{
	VEC(struct drawn) d = { 0 };
	uint32_t here = 0, want;
	double below;

	s->n = s->asked = s->n_open = s->n_hits = s->n_known = 0;
	if (!s->rule.most)
		return;
	for (uint32_t i = 0; i < v->n_pages; i++)
		here += (v->state[i] & PAGE_HERE) != 0;
	want = s->rule.most < here ? s->rule.most : here;
	/* only hashes below this share are sorted: the wanted number plus five deviations */
	below = want + 5 * sqrt(want) + 20;
	while (d.n < want) {
		d.n = 0;
		for (uint32_t i = 0; i < v->n_pages; i++) {
			struct drawn x = { rng_draw(v->seed, v->cycle, i, RNG_SAMPLE), i };

			if ((v->state[i] & PAGE_HERE) && rng_unit(x.draw) * here < below)
				vec_push(&d, x);
		}
		below *= 2;
	}
	if (d.n)
		qsort(d.v, d.n, sizeof *d.v, compare_drawn);
	s->pages = mem_resize(s->pages, want + 1ul, sizeof *s->pages);
	for (uint32_t i = 0; i < want; i++)
		s->pages[i] = d.v[i].page;
	s->n = want;
	vec_release(&d);
}

bool sample_ended(const struct sample *s)
{
	return s->asked >= s->n || (s->n_hits >= s->rule.hits && s->n_known >= s->rule.least);
}

bool sample_is_whole(const struct sample *s)
{
	return sample_ended(s) && !s->n_open;
}

/* Plan as many pages as the missing hits should need at the hit rate so far. */
void sample_plan(struct sample *s, const struct view *v, struct plan *p)
{
	double rate = (s->n_hits + 1.0) / (s->n_known + 2.0);
	double want = fmax(((double)s->rule.hits - s->n_hits) / rate,
	                   (double)s->rule.least - s->n_known);

	plan_limit(p, (uint32_t)fmin(fmax(want, 0) + 10, 1e9));
	while (plan_room(p) && s->asked < s->n)
		plan_take(p, s->pages[s->asked++], 0, (double)s->n / v->n_pages, REASON_RANDOM);
	plan_finish(p);
}

void sample_told(struct sample *s, const struct seen *seen)
{
	s->n_open--;
	s->n_known += seen && seen->known;
	s->n_hits += seen && seen->known && seen->hit;
}

void sample_release(struct sample *s)
{
	free(s->pages);
	*s = (struct sample){ .rule = s->rule };
}
