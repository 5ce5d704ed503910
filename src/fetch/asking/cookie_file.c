/* SPDX-License-Identifier: Apache-2.0 */
/* cookie_file.c - a file of cookies; see cookie_file.h. */
#include "fetch/asking/cookie_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "web/url/url.h"

#define NONE UINT32_MAX
#define FIELDS 7
#define HTTP_ONLY "#HttpOnly_"

enum field { DOMAIN, SUBDOMAINS, PATH, SECURE, EXPIRES, NAME, VALUE };

struct part { const char *s; size_t n; };
struct line { const char *path; unsigned number; struct part f[FIELDS]; };

static int bad(const struct line *l, struct err *err, const char *what)
{
	return err_set(err, E_PARSE, "%s, line %u: %s", l->path, l->number, what);
}

/* Is it a suffix that strangers share, as co.uk is?  A name below it then has an owner of
 * its own. */
static bool is_suffix(const char *domain, size_t size)
{
	struct buf below, owner;
	bool is;

	buf_init(&below, URL_SIZE_MAX);
	buf_init(&owner, URL_SIZE_MAX);
	buf_printf(&below, "http://x.%.*s/", (int)size, domain);
	if (size + 2 <= URL_HOST_MAX)
		url_domain(below.data, below.size, &owner);
	is = owner.size == size + 2;
	buf_release(&below);
	buf_release(&owner);
	return is;
}

/* The canonical form of the host of a cookie, into `out`; *ret_ip: it is an address. */
static bool read_domain(struct part t, struct buf *out, bool *ret_ip)
{
	struct buf url, canonical;
	struct url_parts p;
	bool ok = t.n && t.n <= URL_HOST_MAX;

	buf_init(&url, URL_SIZE_MAX);
	buf_init(&canonical, URL_SIZE_MAX);
	buf_str(&url, "http://");
	buf_add(&url, t.s, t.n);
	ok = ok && url_canonical(buf_text(&url), url.size, &canonical, NULL) == 0;
	if (ok) {
		url_split(canonical.data, canonical.size, &p);
		ok = p.path == p.host_end && p.end - p.path == 1;
		*ret_ip = p.ip;
		buf_clear(out);
		buf_add(out, canonical.data + p.host, p.host_end - p.host);
	}
	buf_release(&url);
	buf_release(&canonical);
	return ok;
}

static bool read_flag(struct part t, bool *ret)
{
	*ret = t.n == 4 && !strncasecmp(t.s, "TRUE", 4);
	return *ret || (t.n == 5 && !strncasecmp(t.s, "FALSE", 5));
}

/* Whole seconds; some programs write a part of a second, too. */
static bool read_time(struct part t, int64_t *ret)
{
	size_t i = 0;

	for (*ret = 0; i < t.n && isdigit((unsigned char)t.s[i]) && i < 18; i++)
		*ret = *ret * 10 + (t.s[i] - '0');
	return i && (i == t.n || t.s[i] == '.');
}

/* No byte that ends a header or a cookie in it. */
static bool is_clean(struct part t, const char *but)
{
	for (size_t i = 0; i < t.n; i++)
		if ((unsigned char)t.s[i] < ' ' || t.s[i] == 0x7f || strchr(but, t.s[i]))
			return false;
	return true;
}

static void add(struct cookie_list *l, const struct buf *domain, struct cookie c)
{
	bool is_new;
	uint32_t d = strtab_intern(&l->domains, domain->data, domain->size, &is_new);

	if (is_new) {
		vec_push(&l->first, (uint32_t)l->v.n);
		vec_push(&l->last, (uint32_t)l->v.n);
	} else {
		l->v.v[l->last.v[d]].next = (uint32_t)l->v.n;
		l->last.v[d] = (uint32_t)l->v.n;
	}
	vec_push(&l->v, c);
}

static int read_cookie(struct cookie_list *l, struct line *line, struct err *err)
{
	struct part *f = line->f;
	struct cookie c = { .next = NONE };
	struct buf domain;
	bool ip = false;
	int rc = 0;

	if (f[DOMAIN].n && *f[DOMAIN].s == '.')
		f[DOMAIN].s++, f[DOMAIN].n--;
	buf_init(&domain, URL_SIZE_MAX);
	if (!read_domain(f[DOMAIN], &domain, &ip))
		rc = bad(line, err, "the domain of the cookie is no host");
	else if (!read_flag(f[SUBDOMAINS], &c.subdomains) || !read_flag(f[SECURE], &c.secure))
		rc = bad(line, err, "TRUE or FALSE is missing");
	else if (!read_time(f[EXPIRES], &c.expires))
		rc = bad(line, err, "the time when it expires is no number");
	else if (!f[PATH].n || *f[PATH].s != '/' || !is_clean(f[PATH], ""))
		rc = bad(line, err, "the path of the cookie does not begin with /");
	else if (!is_clean(f[NAME], ";=, ") || !is_clean(f[VALUE], ";"))
		rc = bad(line, err, "a control byte, or a semicolon, in the cookie");
	if (rc == 0) {
		if (ip || is_suffix(domain.data, domain.size))
			c.subdomains = false;
		c.path = mem_strndup(f[PATH].s, f[PATH].n);
		c.name = mem_strndup(f[NAME].s, f[NAME].n);
		c.value = mem_strndup(f[VALUE].s, f[VALUE].n);
		add(l, &domain, c);
	}
	buf_release(&domain);
	return rc;
}

/* Nothing but blanks, or a comment?  No zero byte need follow the line. */
static bool is_empty(const char *s, size_t size)
{
	size_t blanks = 0;

	while (blanks < size && (s[blanks] == ' ' || s[blanks] == '\t'))
		blanks++;
	return blanks == size || *s == '#';
}

/* Fields are parted by tabs; the value, the last, may be missing. */
static int read_line(struct cookie_list *l, struct line *line, const char *s, size_t size,
                     struct err *err)
{
	size_t n = 0, skip = strlen(HTTP_ONLY);

	if (size && s[size - 1] == '\r')
		size--;
	if (size > skip && !strncasecmp(s, HTTP_ONLY, skip))
		s += skip, size -= skip;
	else if (is_empty(s, size))
		return 0;
	if (size > COOKIE_LINE_MAX)
		return bad(line, err, "too long");
	for (const char *end = s + size; n < FIELDS; n++) {
		const char *tab = n < VALUE ? memchr(s, '\t', (size_t)(end - s)) : NULL;

		line->f[n] = (struct part){ s, (size_t)((tab ? tab : end) - s) };
		if (!tab)
			break;
		s = tab + 1;
	}
	if (n < NAME)
		return bad(line, err, "no line of a cookie file: seven fields with tabs between, as curl "
		           "and wget write them");
	if (n == NAME)
		line->f[VALUE] = (struct part){ "", 0 };
	return read_cookie(l, line, err);
}

int cookie_list_parse(struct cookie_list *l, const char *text, size_t size, const char *path,
                      struct err *err)
{
	const char *end = text + size;
	struct line line = { .path = path };
	int rc = 0;

	while (text < end && rc == 0) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		stop = stop ? stop : end;
		line.number++;
		rc = read_line(l, &line, text, (size_t)(stop - text), err);
		text = stop + 1;
	}
	return rc;
}

/* RFC 6265 section 5.1.4. */
static bool path_fits(const char *rule, const char *path, size_t size)
{
	size_t n = strlen(rule);

	return size >= n && !memcmp(rule, path, n) &&
	       (size == n || rule[n - 1] == '/' || path[n] == '/');
}

struct found { VEC(const struct cookie *) v; };

static int by_path(const void *a, const void *b)
{
	const struct cookie *x = *(const struct cookie *const *)a;
	const struct cookie *y = *(const struct cookie *const *)b;
	size_t m = strlen(x->path), n = strlen(y->path);

	return m != n ? (m < n) - (m > n) : (x > y) - (x < y);
}

/* The cookies of one domain that go to the URL; exact: it is the URL's host. */
static void find(const struct cookie_list *l, const char *host, size_t size, bool exact,
                 const struct url_parts *p, const char *url, int64_t now, struct found *to)
{
	uint32_t d = strtab_find(&l->domains, host, size);

	for (uint32_t i = d == MAP_NONE ? NONE : l->first.v[d]; i != NONE; i = l->v.v[i].next) {
		const struct cookie *c = &l->v.v[i];

		if ((exact || c->subdomains) && (!c->secure || p->https) &&
		    (!c->expires || c->expires > now) &&
		    path_fits(c->path, url + p->path, p->query - p->path))
			vec_push(&to->v, c);
	}
}

bool cookie_list_for(const struct cookie_list *l, const char *url, size_t size, int64_t now,
                     struct buf *out, struct buf *hidden)
{
	const char *host, *end, *dot;
	struct found found = { 0 };
	struct url_parts p;
	size_t before = out->size;

	if (!l->v.n)
		return false;
	url_split(url, size, &p);
	host = url + p.host;
	end = url + p.host_end;
	find(l, host, (size_t)(end - host), true, &p, url, now, &found);
	while (!p.ip && (dot = memchr(host, '.', (size_t)(end - host)))) {
		host = dot + 1;
		find(l, host, (size_t)(end - host), false, &p, url, now, &found);
	}
	if (found.v.n)
		qsort(found.v.v, found.v.n, sizeof *found.v.v, by_path);
	for (size_t i = 0; i < found.v.n; i++) {
		const struct cookie *c = found.v.v[i];

		if (out->size - before + strlen(c->name) + strlen(c->value) + 3 > COOKIE_SENT_MAX)
			break;
		buf_printf(out, "%s%s%s%s", out->size > before ? "; " : "", c->name,
		           *c->name ? "=" : "", c->value);
		buf_add(hidden, c->value, strlen(c->value) + 1);
	}
	vec_release(&found.v);
	return out->size > before;
}

static void drop(char *s)
{
	explicit_bzero(s, strlen(s));
	free(s);
}

void cookie_list_release(struct cookie_list *l)
{
	for (size_t i = 0; i < l->v.n; i++) {
		free(l->v.v[i].path);
		free(l->v.v[i].name);
		drop(l->v.v[i].value);
	}
	vec_release(&l->v);
	vec_release(&l->first);
	vec_release(&l->last);
	strtab_release(&l->domains);
	*l = (struct cookie_list){ 0 };
}
