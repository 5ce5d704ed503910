/* SPDX-License-Identifier: Apache-2.0 */
/* options_parcel.c - see options_parcel.h. */
#include "web/page/options_parcel.h"

#include <string.h>

#include "base/mem.h"
#include "web/page/extract_region.h"

enum flag { FOLD_DIGITS = 1, TAG_ATTRIBUTES = 2, TAG_VALUES = 4, NO_BYTES = 8, HAS_IGNORE = 16 };

static void put_ignore(struct buf *b, const struct ignore *g)
{
	parcel_put(b, g->n);
	for (size_t i = 0; i < g->n; i++) {
		const struct ignore_rule *r = &g->rules[i];

		parcel_put_text(b, (struct text){ r->tag, strlen(r->tag) });
		parcel_put_text(b, (struct text){ r->id, strlen(r->id) });
		parcel_put_text(b, (struct text){ r->class, strlen(r->class) });
	}
}

void options_parcel_put(struct buf *b, const struct extract_options *o)
{
	parcel_put(b, (o->fold_digits ? FOLD_DIGITS : 0u) | (o->tag_attributes ? TAG_ATTRIBUTES : 0u) |
	           (o->tag_values ? TAG_VALUES : 0u) | (o->no_bytes ? NO_BYTES : 0u) |
	           (o->ignore ? HAS_IGNORE : 0u));
	if (o->ignore)
		put_ignore(b, o->ignore);
}

static struct text from_rule(struct parcel *p, char to[IGNORE_NAME_MAX])
{
	struct text t = parcel_text(p);

	if (t.s && t.size < IGNORE_NAME_MAX)
		memcpy(to, t.s, t.size);
	return t;
}

/* The rules of this page; they replace those of the page before. */
static const struct ignore *open_ignore(struct parcel *p, struct ignore *g)
{
	uint64_t n = parcel_number(p);

	ignore_release(g);
	*g = (struct ignore){ 0 };
	if (n > IGNORE_RULES_MAX)
		return NULL;
	g->rules = mem_zalloc((size_t)n + 1, sizeof *g->rules);
	for (; g->n < n; g->n++) {
		from_rule(p, g->rules[g->n].tag);
		from_rule(p, g->rules[g->n].id);
		from_rule(p, g->rules[g->n].class);
	}
	return g;
}

struct extract_options options_parcel_open(struct parcel *p, struct ignore *rules)
{
	uint64_t flags = parcel_number(p);

	return (struct extract_options){ .fold_digits = flags & FOLD_DIGITS,
		.tag_attributes = flags & TAG_ATTRIBUTES, .tag_values = flags & TAG_VALUES,
		.no_bytes = flags & NO_BYTES,
		.ignore = flags & HAS_IGNORE ? open_ignore(p, rules) : NULL };
}
