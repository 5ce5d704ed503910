/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots_match.c - which rule decides about a URL, in bounded time.
 *
 * Plain rules have no star, or none but at their end.  They are sorted by their bytes,
 * and each knows the longest other one that it begins with (its parent) and the better of
 * itself and all of these.  A binary search finds the rule next to the path; the first of
 * it and its parents that begins the path knows the answer.  A rule with '$' is kept with
 * that byte: no path has one, so the path is looked for with '$' behind it.
 *
 * Wild rules are tried one by one, most octets first.  Each names the last bytes (up to
 * three) of its longest piece; those that the path does not have at all are passed by.  A
 * pattern is literal pieces between stars: the first must begin the path, the last must
 * end it if there is a '$', each other is searched behind the one before (leftmost is
 * always right).  After `steps` compared bytes the remaining rules are simplified: an
 * Allow allows nothing, and a Disallow forbids every path with the same beginning.
 */
#include "web/rules/robots_inner.h"

#include <stdlib.h>
#include <string.h>

#include "web/url/url.h"

#define NONE UINT32_MAX
#define GRAM_BITS 16

static const char *text_of(const struct robots *r, const struct robots_rule *rule)
{
	return r->text.data + rule->pattern;
}

static bool is_better(const struct robots_rule *a, const struct robots_rule *b)
{
	return a->octets > b->octets || (a->octets == b->octets && a->allow > b->allow);
}

/* ---- grams: the end of a piece, up to three bytes, as a small number ---- */

static uint16_t gram(const char *end, size_t size)
{
	uint32_t x = 0;

	for (size_t i = size < 3 ? size : 3; i > 0; i--)
		x = x << 8 | (unsigned char)end[-(ptrdiff_t)i];
	return (uint16_t)((x * 2654435761u) >> (32 - GRAM_BITS));
}

static void note_grams(const char *s, size_t n, uint64_t seen[1 << (GRAM_BITS - 6)])
{
	for (size_t i = 1; i <= n; i++)
		for (size_t size = 1; size <= 3 && size <= i; size++) {
			uint16_t g = gram(s + i, size);

			seen[g / 64] |= UINT64_C(1) << (g % 64);
		}
}

/* The gram of the longest piece after the first star. */
static uint16_t gram_of(const char *p, size_t size)
{
	const char *end = p + size - (p[size - 1] == '$'), *best = end;
	size_t longest = 0;

	for (p = memchr(p, '*', size); p < end; ) {
		const char *stop;

		p++;
		stop = memchr(p, '*', (size_t)(end - p));
		stop = stop ? stop : end;
		if ((size_t)(stop - p) >= longest) {
			longest = (size_t)(stop - p);
			best = stop;
		}
		p = stop;
	}
	return gram(best, longest);
}

/* ---- the index ---- */

static void classify(const struct robots *r, struct robots_rule *rule)
{
	const char *p = text_of(r, rule), *star = memchr(p, '*', rule->size);
	size_t end = rule->size;

	if (star) {             /* a star at the end changes nothing */
		if (end > 1 && p[end - 1] == '$' && p[end - 2] == '*')
			end--;
		while (end && p[end - 1] == '*')
			end--;
	}
	rule->wild = star && memchr(p, '*', end);
	rule->key = rule->wild ? (uint32_t)(star - p) : (uint32_t)end;
	if (rule->wild)
		rule->gram = gram_of(p, rule->size);
}

static int compare_keys(const char *a, size_t a_size, const char *b, size_t b_size)
{
	int c = memcmp(a, b, a_size < b_size ? a_size : b_size);

	return c ? c : (a_size > b_size) - (a_size < b_size);
}

static int compare_rules(const void *x, const void *y, void *arg)
{
	const struct robots_rule *a = x, *b = y;
	const char *text = arg;
	int c = a->wild - b->wild;

	if (!c && !a->wild)
		c = compare_keys(text + a->pattern, a->key, text + b->pattern, b->key);
	if (c)
		return c;
	if (is_better(a, b) || is_better(b, a))
		return is_better(a, b) ? -1 : 1;
	return a->pattern < b->pattern ? -1 : a->pattern > b->pattern;
}

static bool begins(const struct robots *r, const struct robots_rule *a, const char *s, size_t n)
{
	return a->key <= n && !memcmp(text_of(r, a), s, a->key);
}

void robots_index(struct robots *r)
{
	struct robots_rule *v = r->rules.v;
	size_t n = 0, i = 0;

	for (size_t k = 0; k < r->rules.n; k++)
		classify(r, &v[k]);
	if (r->rules.n)
		qsort_r(v, r->rules.n, sizeof *v, compare_rules, r->text.data);
	for (; i < r->rules.n && !v[i].wild; i++) {
		struct robots_rule rule = v[i];
		const char *key = text_of(r, &rule);
		uint32_t parent = n ? (uint32_t)n - 1 : NONE;

		while (parent != NONE && !begins(r, &v[parent], key, rule.key))
			parent = v[parent].parent;
		if (parent != NONE && v[parent].key == rule.key)
			continue;       /* same key as a rule that wins over it: drop it */
		rule.parent = parent;
		rule.best = parent == NONE || is_better(&rule, &v[v[parent].best]) ?
			(uint32_t)n : v[parent].best;
		v[n++] = rule;
	}
	r->n_plain = n;
	for (; i < r->rules.n; i++)
		v[n++] = v[i];
	r->rules.n = n;
}

/* ---- matching a path ---- */

/* The plain rule that decides about a path (with a '$' added); NONE: no rule matches. */
static uint32_t find_plain(const struct robots *r, const char *path, size_t n, size_t *steps)
{
	const struct robots_rule *v = r->rules.v;
	size_t low = 0, high = r->n_plain, same = 0;
	const char *key;
	uint32_t i;

	while (low < high) {            /* low: how many keys are not after the path */
		size_t middle = (low + high) / 2;

		*steps += v[middle].key < n ? v[middle].key : n;
		if (compare_keys(text_of(r, &v[middle]), v[middle].key, path, n) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NONE;
	i = (uint32_t)low - 1;
	key = text_of(r, &v[i]);
	while (same < v[i].key && same < n && key[same] == path[same])
		same++;
	for (*steps += same; i != NONE && v[i].key > same; i = v[i].parent)
		++*steps;
	return i == NONE ? NONE : v[i].best;
}

static bool wild_matches(const char *p, size_t size, const char *s, size_t n, size_t *steps)
{
	const char *end = p + size, *s_end = s + n, *star = memchr(p, '*', size);
	bool anchored = end[-1] == '$';

	end -= anchored;
	size = (size_t)(star - p);
	*steps += size;
	if (size > n || memcmp(p, s, size))
		return false;
	s += size;
	if (anchored) {                 /* compare the end first: that is cheap */
		const char *last = memrchr(p, '*', (size_t)(end - p));

		size = (size_t)(end - last) - 1;
		*steps += size;
		if (size > (size_t)(s_end - s) || memcmp(s_end - size, last + 1, size))
			return false;
		s_end -= size;
		end = last;
	}
	while (star < end) {
		const char *at;

		p = star + 1;
		star = memchr(p, '*', (size_t)(end - p));
		star = star ? star : end;
		size = (size_t)(star - p);
		at = memmem(s, (size_t)(s_end - s), p, size);
		*steps += (size_t)((at ? at : s_end) - s) + size;
		if (!at)
			return false;
		s = at + size;
	}
	return true;
}

bool robots_allows_within(const struct robots *r, size_t steps, const char *url, size_t size,
                          const char **ret_rule, size_t *ret_steps)
{
	uint64_t seen[1 << (GRAM_BITS - 6)] = { 0 };
	char path[3 * URL_SIZE_MAX + 1];
	struct url_parts u;
	uint32_t octets, found;
	size_t n, used = 0;

	*ret_rule = NULL;
	*ret_steps = 0;
	if (!r->rules.n || size > URL_SIZE_MAX)
		return !r->rules.n;
	url_split(url, size, &u);
	n = robots_normalise(url + u.path, u.end - u.path, false, path, &octets);
	if (n == 11 && !memcmp(path, "/robots.txt", 11))
		return true;
	path[n] = '$';
	found = find_plain(r, path, n + 1, &used);
	if (r->n_plain < r->rules.n)
		note_grams(path, n, seen);
	for (uint32_t i = (uint32_t)r->n_plain; i < r->rules.n; i++) {
		const struct robots_rule *rule = &r->rules.v[i];

		if (found != NONE && !is_better(rule, &r->rules.v[found]))
			break;
		used++;
		if (!(seen[rule->gram / 64] >> (rule->gram % 64) & 1))
			continue;
		if (used < steps ? wild_matches(text_of(r, rule), rule->size, path, n, &used) :
		    !rule->allow && begins(r, rule, path, n)) {
			found = i;
			break;
		}
	}
	*ret_steps = used;
	if (found == NONE)
		return true;
	*ret_rule = text_of(r, &r->rules.v[found]);
	return r->rules.v[found].allow;
}

bool robots_allows(const struct robots *r, const char *url, size_t size,
                   const char **ret_rule)
{
	const char *rule;
	size_t used;

	return robots_allows_within(r, ROBOTS_STEPS_MAX, url, size,
	                            ret_rule ? ret_rule : &rule, &used);
}
