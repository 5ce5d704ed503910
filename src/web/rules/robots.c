/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots.c - reading robots.txt; robots.h is the manual, robots_match.c asks the rules.
 *
 * One percent-encoding.  Unreserved bytes stand for themselves; '/' and '?' too,
 * and in the query also when they were written %2F and %3F; every other byte is
 * a triplet in upper case.  So a literal '*' or '$' is %2A or %24 on both sides
 * and the two specials can keep their own bytes in a stored pattern.
 *
 * Length.  "Most octets" is counted on decoded octets, so that a rule does not
 * win by being written in triplets.
 */
#include "web/rules/robots_inner.h"

#include <string.h>

#include "web/url/url_put.h"

enum { FOR_ALL = 1, FOR_US = 2 };

struct parser {
	struct robots *r;
	const char *token;
	bool in_header;                 /* the last rule or agent line was an agent */
	bool delay_seen, blank_seen;    /* since that line: a delay, then an empty line */
	uint8_t groups;                 /* bits: who the current group is for */
	bool own_rules;
	double delay[3];                /* by FOR_ALL, FOR_US */
};

size_t robots_normalise(const char *s, size_t size, bool pattern, char *d,
                        uint32_t *ret_octets)
{
	static const char digits[] = "0123456789ABCDEF";
	char *begin = d;
	bool query = false;
	uint32_t octets = 0;

	for (size_t i = 0; i < size; i++, octets++) {
		unsigned char c = (unsigned char)s[i];
		int high, low;
		bool plain = c == '/' || c == '?' || url_is_unreserved(c);

		if (pattern && (c == '*' || (c == '$' && i + 1 == size)))
			plain = true;
		query |= c == '?';
		if (c == '%' && i + 2 < size && (high = url_hex_value((unsigned char)s[i + 1])) >= 0
		    && (low = url_hex_value((unsigned char)s[i + 2])) >= 0) {
			c = (unsigned char)(high << 4 | low);
			i += 2;
			plain = url_is_unreserved(c) || (query && (c == '/' || c == '?'));
		}
		if (plain) {
			*d++ = (char)c;
			continue;
		}
		*d++ = '%';
		*d++ = digits[c >> 4];
		*d++ = digits[c & 15];
	}
	*ret_octets = octets;
	return (size_t)(d - begin);
}

static void add_rule(struct parser *p, bool allow, const char *s, size_t size, bool cut)
{
	struct robots *r = p->r;
	struct robots_rule rule = { .allow = allow, .groups = p->groups };
	bool add_slash;
	char *d;

	p->in_header = false;
	if (!p->groups || (cut && allow))
		return;
	if (!size) {
		if (!cut)               /* "Disallow:" forbids nothing */
			return;
		s = "/", size = 1;      /* its value is cut off: it may forbid all */
	}
	/* a path that begins with neither slash nor star never matches: in a Disallow a
	 * slash is added, an Allow is ignored */
	add_slash = s[0] != '/' && s[0] != '*';
	if (add_slash && allow)
		return;
	d = buf_room(&r->text, 3 * size + 2);
	if (!d)
		return;
	rule.pattern = (uint32_t)r->text.size;
	if (add_slash)
		*d++ = '/';
	rule.size = (uint32_t)robots_normalise(s, size, true, d, &rule.octets) + add_slash;
	rule.octets += add_slash;
	r->text.size += rule.size;
	r->text.data[r->text.size++] = '\0';
	vec_push(&r->rules, rule);
	p->own_rules |= p->groups & FOR_US;
}

static bool word_is(const char *s, size_t size, const char *word)
{
	return size == strlen(word) && !strncasecmp(s, word, size);
}

static void agent_line(struct parser *p, const char *s, size_t size, bool cut)
{
	size_t n = 0;

	if (!p->in_header || p->blank_seen)
		p->groups = 0;
	p->in_header = true;
	p->delay_seen = p->blank_seen = false;
	if (cut)
		return;
	while (n < size && (((s[n] | 0x20) >= 'a' && (s[n] | 0x20) <= 'z') || s[n] == '-'
	                    || s[n] == '_'))
		n++;
	if (size && s[0] == '*' && (size == 1 || s[1] == ' ' || s[1] == '\t')) {
		p->groups |= FOR_ALL;
	} else if (n && word_is(s, n, p->token)) {
		p->groups |= FOR_US;
		p->r->own_group = true;
	}
}

static void delay_line(struct parser *p, const char *s, size_t size)
{
	double value = 0, unit = 1;
	bool point = false;

	p->delay_seen = true;
	for (size_t i = 0; i < size; i++) {
		if (s[i] == '.' && !point) {
			point = true;
		} else if (s[i] >= '0' && s[i] <= '9') {
			if (point)
				unit /= 10;
			value = point ? value + unit * (s[i] - '0') : value * 10 + (s[i] - '0');
		} else if (i && (s[i] == ' ' || s[i] == '\t' || s[i] == 's')) {
			break;                  /* "10 seconds", "10s" */
		} else {
			return;
		}
	}
	if (value > ROBOTS_DELAY_MAX)
		value = ROBOTS_DELAY_MAX;
	for (int group = FOR_ALL; group <= FOR_US; group++)
		if (p->groups & group && value > p->delay[group])
			p->delay[group] = value;
}

static void sitemap_line(struct robots *r, const char *s, size_t size)
{
	uint32_t at = (uint32_t)r->text.size;

	if (r->sitemaps.n == ROBOTS_SITEMAPS_MAX)
		return;
	if (url_canonical(s, size, &r->text, NULL))
		return;
	buf_byte(&r->text, '\0');
	vec_push(&r->sitemaps, at);
}

static void trim(const char **s, const char **end)
{
	while (*s < *end && (**s == ' ' || **s == '\t'))
		++*s;
	while (*s < *end && ((*end)[-1] == ' ' || (*end)[-1] == '\t'))
		--*end;
}

/* The file was cut in the middle of this word: could it be the start of "Disallow"? */
static bool may_be_disallow(const char *s, size_t size)
{
	return size && size <= 8 && !strncasecmp(s, "disallow", size);
}

static void parse_line(struct parser *p, const char *s, const char *end, bool cut)
{
	const char *hash = memchr(s, '#', (size_t)(end - s)), *key_end, *value;
	size_t key, size;

	if (hash)
		end = hash, cut = false;        /* only a comment was cut */
	trim(&s, &end);
	if (s == end) {
		p->blank_seen |= p->delay_seen && !hash;
		return;
	}
	key_end = memchr(s, ':', (size_t)(end - s));
	value = key_end ? key_end + 1 : end;
	if (!key_end) {                 /* "Disallow /x": the colon is missing */
		for (key_end = s; key_end < end && *key_end != ' ' && *key_end != '\t'; )
			key_end++;
		value = key_end;
	}
	while (key_end > s && (key_end[-1] == ' ' || key_end[-1] == '\t'))
		key_end--;
	key = (size_t)(key_end - s);
	trim(&value, &end);
	size = (size_t)(end - value);
	if (word_is(s, key, "user-agent"))
		agent_line(p, value, size, cut);
	else if (word_is(s, key, "disallow"))
		add_rule(p, false, value, size, cut);
	else if (word_is(s, key, "allow"))
		add_rule(p, true, value, size, cut);
	else if (cut && may_be_disallow(s, key))
		add_rule(p, false, "/", 1, true);
	else if (word_is(s, key, "crawl-delay") && !cut)
		delay_line(p, value, size);
	else if (word_is(s, key, "sitemap") && !cut)
		sitemap_line(p->r, value, size);
}

/* Keep the rules of the groups that bind us. */
static void settle(struct parser *p)
{
	struct robots *r = p->r;
	uint8_t keep = r->own_group ? FOR_US : FOR_ALL;
	size_t n = 0;

	r->crawl_delay = p->delay[keep];
	if (r->own_group && r->cut && !p->own_rules) {
		keep = FOR_ALL;
		if (p->delay[FOR_ALL] > r->crawl_delay)
			r->crawl_delay = p->delay[FOR_ALL];
	}
	for (size_t i = 0; i < r->rules.n; i++)
		if (r->rules.v[i].groups & keep)
			r->rules.v[n++] = r->rules.v[i];
	r->rules.n = n;
	robots_index(r);
}

void robots_parse(struct robots *r, const char *data, size_t size, bool cut,
                  const char *token)
{
	struct parser p = { .r = r, .token = token };
	const char *s = data, *end;

	*r = (struct robots){ .cut = cut || size > ROBOTS_SIZE_MAX };
	/* enough for all rules, every byte written as a triplet */
	buf_init(&r->text, 4 * ROBOTS_SIZE_MAX);
	if (size > ROBOTS_SIZE_MAX)
		size = ROBOTS_SIZE_MAX;
	end = data + size;
	if (size >= 3 && !memcmp(s, "\xef\xbb\xbf", 3))
		s += 3;
	while (s < end) {
		const char *stop = s;
		bool last;

		while (stop < end && *stop != '\n' && *stop != '\r')
			stop++;
		last = stop == end && r->cut;
		if (stop - s > ROBOTS_LINE_MAX)
			parse_line(&p, s, s + ROBOTS_LINE_MAX, true);
		else
			parse_line(&p, s, stop, last);
		s = stop < end ? stop + 1 : end;
	}
	settle(&p);
}

void robots_release(struct robots *r)
{
	buf_release(&r->text);
	vec_release(&r->rules);
	vec_release(&r->sitemaps);
}

enum robots_access robots_policy(int status, int64_t unreachable_seconds)
{
	if (status >= 200 && status < 300)
		return ROBOTS_READ;
	if (status >= 300 && status < 500 && status != 429)
		return ROBOTS_ALLOW_ALL;
	return unreachable_seconds > ROBOTS_UNREACHABLE_MAX ? ROBOTS_ALLOW_ALL
	                                                    : ROBOTS_DISALLOW_ALL;
}
