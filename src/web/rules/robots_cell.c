/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots_cell.c - robots.txt is read in a cell; see robots.h and base/sandbox/cell.h.
 *
 * Here come the rules that bind us, as patterns in the one percent-encoding, and all of them are
 * checked to be that; the index over them is made here.  A file that has taken the cell over can
 * say of itself and of others what a file could say.
 */
#include "web/rules/robots_inner.h"

#include <stdlib.h>
#include <string.h>

#include "base/sandbox/cell.h"
#include "base/sandbox/parcel.h"
#include "web/url/url.h"

#define TEXT_MAX ((size_t)4 * ROBOTS_SIZE_MAX)  /* of all patterns and sitemaps, as in robots_parse() */
#define RULE_LEAST 7                            /* bytes of a file that make a rule: "allow:/" */
#define RULES_MAX (ROBOTS_SIZE_MAX / RULE_LEAST + 1)
#define ANSWER_ROOM (TEXT_MAX + (size_t)16 * RULES_MAX + 16 * ROBOTS_SITEMAPS_MAX + 64)

/* ---- in the cell ---- */

int robots_cell(const struct text *parts, size_t n, struct buf *answer, struct err *err)
{
	struct parcel p = { parts[0].s, parts[0].size, n != 2 };
	bool cut = parcel_number(&p) != 0;
	struct text token = parcel_text(&p);
	char *name;
	struct robots r;
	uint64_t delay;

	if (p.bad || !token.s)
		return err_set(err, E_PARSE, "the work makes no sense");
	name = mem_strndup(token.s, token.size);
	robots_parse(&r, parts[1].s, parts[1].size, cut, name);
	free(name);
	memcpy(&delay, &r.crawl_delay, sizeof delay);
	parcel_put(answer, r.own_group);
	parcel_put(answer, r.cut);
	parcel_put(answer, delay);
	parcel_put(answer, r.rules.n);
	for (size_t i = 0; i < r.rules.n; i++) {
		const struct robots_rule *rule = &r.rules.v[i];

		parcel_put(answer, rule->allow);
		parcel_put_text(answer, (struct text){ r.text.data + rule->pattern, rule->size });
	}
	for (size_t i = 0; i < r.sitemaps.n; i++)
		parcel_put_text(answer, (struct text){ robots_sitemap(&r, i),
		                                       strlen(robots_sitemap(&r, i)) });
	robots_release(&r);
	return 0;
}

/* ---- here ---- */

static bool is_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}

/* A pattern as robots_normalise() writes it.  *ret_octets: what it stands for. */
static bool is_normal(struct text t, uint32_t *ret_octets)
{
	uint32_t octets = 0;

	for (size_t i = 0; i < t.size; i++, octets++) {
		unsigned char c = (unsigned char)t.s[i];

		if (c <= ' ' || c >= 127)
			return false;
		if (c != '%')
			continue;
		if (t.size - i < 3 || !is_digit(t.s[i + 1]) || !is_digit(t.s[i + 2]))
			return false;
		i += 2;
	}
	*ret_octets = octets;
	return t.size && (t.s[0] == '/' || t.s[0] == '*');
}

static bool take_rule(struct robots *r, struct parcel *p)
{
	struct robots_rule rule = { .allow = parcel_number(p) != 0 };
	struct text pattern = parcel_text(p);

	if (!pattern.s || !is_normal(pattern, &rule.octets))
		return false;
	rule.pattern = (uint32_t)r->text.size;
	rule.size = (uint32_t)pattern.size;
	buf_add(&r->text, pattern.s, pattern.size);
	buf_byte(&r->text, '\0');
	vec_push(&r->rules, rule);
	return !r->text.full;
}

static bool take_sitemap(struct robots *r, struct parcel *p)
{
	struct text url = parcel_text(p);
	uint32_t at = (uint32_t)r->text.size;

	if (!url.s || r->sitemaps.n == ROBOTS_SITEMAPS_MAX ||
	    url_canonical(url.s, url.size, &r->text, NULL) || r->text.size - at != url.size ||
	    memcmp(r->text.data + at, url.s, url.size))
		return false;
	buf_byte(&r->text, '\0');
	vec_push(&r->sitemaps, at);
	return !r->text.full;
}

static bool take_answer(void *arg, const char *answer, size_t size)
{
	struct parcel p = { answer, size, false };
	struct robots *r = arg;
	uint64_t delay, n;

	robots_release(r);
	*r = (struct robots){ 0 };
	buf_init(&r->text, TEXT_MAX);
	r->own_group = parcel_number(&p) != 0;
	r->cut = parcel_number(&p) != 0;
	delay = parcel_number(&p);
	memcpy(&r->crawl_delay, &delay, sizeof delay);
	n = parcel_number(&p);
	if (p.bad || n > RULES_MAX || !(r->crawl_delay >= 0 && r->crawl_delay <= ROBOTS_DELAY_MAX))
		return false;
	for (uint64_t i = 0; i < n; i++)
		if (!take_rule(r, &p))
			return false;
	while (p.left)
		if (!take_sitemap(r, &p))
			return false;
	return true;
}

int robots_read(struct robots *ret, const char *data, size_t size, bool cut, const char *token,
                struct err *err)
{
	struct robots r = { 0 };
	struct buf params, answer;
	int rc;

	if (!cells_do(CELL_ROBOTS) || !size) {
		robots_parse(ret, data, size, cut, token);
		return 0;
	}
	if (size > ROBOTS_SIZE_MAX) {
		size = ROBOTS_SIZE_MAX;
		cut = true;
	}
	buf_init(&params, BUF_NO_LIMIT);
	buf_init(&answer, BUF_NO_LIMIT);
	parcel_put(&params, cut);
	parcel_put_text(&params, (struct text){ token, strlen(token) });
	rc = cell_call(CELL_ROBOTS, (struct text[]){ { params.data, params.size }, { data, size } },
	               2, ANSWER_ROOM, &answer, take_answer, &r, err);
	buf_release(&params);
	buf_release(&answer);
	if (rc < 0) {
		robots_release(&r);
		return rc;
	}
	robots_index(&r);
	*ret = r;
	return 0;
}
