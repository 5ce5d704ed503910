/* SPDX-License-Identifier: Apache-2.0 */
/* scope.c - rules that include and exclude URLs; see scope.h. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "web/rules/scope.h"

#include <ctype.h>
#include <pcre2.h>
#include <string.h>

#include "base/io/input.h"
#include "base/log.h"
#include "web/url/url.h"

#define NEST_MAX 50             /* brackets of an expression in each other */
#define STEPS_MAX 100000        /* of a match */
#define DEPTH_MAX 2000
#define HEAP_KIB_MAX 4096
#define FILES_MAX 8             /* a file of rules may name another */

enum kind { KIND_SITE, KIND_PREFIX, KIND_PATH, KIND_GLOB, KIND_REGEX };

struct scope_rule {
	enum kind kind;
	char *text;             /* as given */
	char *what;             /* host, prefix or pattern */
	size_t size;
	char *path;             /* KIND_SITE: paths begin so; "": any */
	size_t path_size;
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *limits;
};

/* ---- reading rules ---- */

static void free_rule(struct scope_rule *r)
{
	pcre2_code_free(r->code);
	pcre2_match_data_free(r->match);
	pcre2_match_context_free(r->limits);
	free(r->text);
	free(r->what);
	free(r->path);
	free(r);
}

static int refuse(const char *rule, const char *why, struct err *err)
{
	char shown[200];

	return err_set(err, E_USAGE, "'%s' is no rule: %s",
	               log_quote(rule, strlen(rule), shown, sizeof shown), why);
}

static int compile(struct scope_rule *r, struct err *err)
{
	pcre2_compile_context *c = pcre2_compile_context_create(NULL);
	PCRE2_UCHAR why[120] = "";
	PCRE2_SIZE at;
	int code = PCRE2_ERROR_NOMEMORY;

	if (c) {
		pcre2_set_max_pattern_length(c, SCOPE_RULE_MAX);
		pcre2_set_parens_nest_limit(c, NEST_MAX);
		r->code = pcre2_compile((PCRE2_SPTR)r->what, r->size, PCRE2_NEVER_BACKSLASH_C, &code, &at,
		                        c);
	}
	pcre2_compile_context_free(c);
	if (!r->code) {
		pcre2_get_error_message(code, why, sizeof why);
		return refuse(r->text, (char *)why, err);
	}
	r->match = pcre2_match_data_create(1, NULL);
	r->limits = pcre2_match_context_create(NULL);
	if (!r->match || !r->limits)
		return err_set(err, E_LIMIT, "no memory for the rule '%s'", r->text);
	pcre2_set_match_limit(r->limits, STEPS_MAX);
	pcre2_set_depth_limit(r->limits, DEPTH_MAX);
	pcre2_set_heap_limit(r->limits, HEAP_KIB_MAX);
	return 0;
}

/* HOST, HOST/PATH: as canonical URLs have it. */
static int read_site(struct scope_rule *r, const char *s, bool plainly, struct err *err)
{
	struct buf given, url;
	struct url_parts p;
	struct err why;
	int rc;

	if (!plainly && !strpbrk(s, "./:"))
		return refuse(r->text, "a host has a dot (site:HOST for one without); a path begins "
		              "with /; a pattern has a *", err);
	buf_init(&given, URL_SIZE_MAX);
	buf_init(&url, URL_SIZE_MAX);
	buf_str(&given, "http://");
	buf_str(&given, *s == '.' ? s + 1 : s);
	rc = url_canonical(buf_text(&given), given.size, &url, &why);
	if (rc < 0) {
		rc = refuse(r->text, why.text, err);
	} else {
		const char *path = strchr(s, '/');

		url_split(url.data, url.size, &p);
		r->what = mem_strndup(url.data + p.host, p.path - p.host);
		r->size = p.path - p.host;
		r->path = mem_strndup(url.data + p.path, path ? url.size - p.path : 0);
		r->path_size = strlen(r->path);
	}
	buf_release(&given);
	buf_release(&url);
	return rc;
}

/* A prefix in its canonical form, if it has one. */
static void read_prefix(struct scope_rule *r, const char *s)
{
	struct buf url;

	buf_init(&url, URL_SIZE_MAX);
	if (url_canonical(s, strlen(s), &url, NULL) < 0) {
		buf_clear(&url);
		buf_str(&url, s);
	}
	r->size = url.size;
	r->what = mem_strndup(buf_text(&url), url.size);
	buf_release(&url);
}

static bool begins(const char **s, const char *with)
{
	size_t n = strlen(with);

	if (strncmp(*s, with, n))
		return false;
	*s += n;
	return true;
}

static int read_rule(struct scope_rule *r, const char *s, struct err *err)
{
	if (begins(&s, "site:")) {
		r->kind = KIND_SITE;
		return *s ? read_site(r, s, true, err) : refuse(r->text, "it names no host", err);
	}
	if (begins(&s, "regex:"))
		r->kind = KIND_REGEX;
	else if (begins(&s, "glob:") || strchr(s, '*'))
		r->kind = KIND_GLOB;
	else if (begins(&s, "prefix:") || strstr(s, "://"))
		r->kind = *s == '/' ? KIND_PATH : KIND_PREFIX;
	else
		r->kind = *s == '/' ? KIND_PATH : KIND_SITE;
	if (!*s)
		return refuse(r->text, "nothing stands behind the colon", err);
	if (r->kind == KIND_SITE)
		return read_site(r, s, false, err);
	if (r->kind == KIND_PREFIX) {
		read_prefix(r, s);
		return 0;
	}
	r->size = strlen(s);
	r->what = mem_strndup(s, r->size);
	return r->kind == KIND_REGEX ? compile(r, err) : 0;
}

static int add_text(struct scope_list *l, const char *text, unsigned files, struct err *err);

static int add_file(struct scope_list *l, const char *path, unsigned files, struct err *err)
{
	struct input *in;
	char *line;
	size_t size;
	int rc;

	if (files >= FILES_MAX)
		return err_set(err, E_USAGE, "%s: files of rules that name each other", path);
	if ((rc = input_open(&in, path, err)) < 0)
		return rc;
	for (unsigned n = 1; (rc = input_line(in, SCOPE_RULE_MAX, &line, &size, err)) > 0; n++) {
		char *end = line + strcspn(line, "#");

		/* a # within a word belongs to it: URLs have none, expressions may */
		while (*end && end > line && !isspace((unsigned char)end[-1]))
			end += 1 + strcspn(end + 1, "#");
		*end = '\0';
		if ((rc = add_text(l, line, files + 1, err)) < 0) {
			err_prefix(err, "%s:%u", path, n);
			break;
		}
	}
	input_close(in);
	return rc;
}

static int add_rule(struct scope_list *l, const char *s, size_t size, unsigned files,
                    struct err *err)
{
	struct scope_rule *r;
	int rc;

	if (size > SCOPE_RULE_MAX)
		return err_set(err, E_LIMIT, "a rule has at most %d bytes", SCOPE_RULE_MAX);
	if (l->rules.n >= SCOPE_RULES_MAX)
		return err_set(err, E_LIMIT, "more than %d rules", SCOPE_RULES_MAX);
	r = mem_zalloc(1, sizeof *r);
	r->text = mem_strndup(s, size);
	if (*r->text == '@') {
		rc = add_file(l, r->text + 1, files, err);
		free_rule(r);
		return rc;
	}
	rc = read_rule(r, r->text, err);
	if (rc < 0)
		free_rule(r);
	else
		vec_push(&l->rules, r);
	return rc;
}

static int add_text(struct scope_list *l, const char *text, unsigned files, struct err *err)
{
	int rc = 0;

	while (rc == 0) {
		size_t size;

		text += strspn(text, " \t\r\n");
		size = strcspn(text, " \t\r\n");
		if (!size)
			break;
		rc = add_rule(l, text, size, files, err);
		text += size;
	}
	return rc;
}

int scope_list_add(struct scope_list *l, const char *text, struct err *err)
{
	return add_text(l, text, 0, err);
}

void scope_list_text(const struct scope_list *l, struct buf *out)
{
	for (size_t i = 0; i < l->rules.n; i++) {
		if (i)
			buf_byte(out, ' ');
		buf_str(out, l->rules.v[i]->text);
	}
}

void scope_list_release(struct scope_list *l)
{
	for (size_t i = 0; i < l->rules.n; i++)
		free_rule(l->rules.v[i]);
	vec_release(&l->rules);
}

/* ---- matching ---- */

/* Linear in practice, size * pattern at worst: a failed match goes on behind the last *. */
static bool glob_fits(const char *p, size_t n, const char *s, size_t size)
{
	size_t i = 0, k = 0, star = SIZE_MAX, from = 0;

	while (k < size) {
		if (i < n && p[i] == '*') {
			star = i++;
			from = k;
		} else if (i < n && p[i] == s[k]) {
			i++;
			k++;
		} else if (star != SIZE_MAX) {
			i = star + 1;
			k = ++from;
		} else {
			return false;
		}
	}
	while (i < n && p[i] == '*')
		i++;
	return i == n;
}

bool scope_host_is(const char *url, size_t size, const char *host, size_t host_size)
{
	struct url_parts p;
	const char *colon = memrchr(host, ':', host_size), *at;
	size_t n;

	url_split(url, size, &p);
	/* the colons of an IPv6 address stand in brackets */
	n = colon && !memchr(colon, ']', host_size - (size_t)(colon - host)) ? p.path - p.host :
	    p.host_end - p.host;
	if (n < host_size)
		return false;
	at = url + p.host + (n - host_size);
	return !memcmp(at, host, host_size) && (n == host_size || at[-1] == '.');
}

static bool starts(const char *s, size_t size, const char *with, size_t n)
{
	return size >= n && !memcmp(s, with, n);
}

static bool rule_fits(struct scope_list *l, const struct scope_rule *r, const char *url,
                      size_t size, const struct url_parts *p, bool unsure)
{
	int rc;

	switch (r->kind) {
	case KIND_SITE:
		return scope_host_is(url, size, r->what, r->size) &&
		       starts(url + p->path, size - p->path, r->path, r->path_size);
	case KIND_PREFIX:
		return starts(url, size, r->what, r->size);
	case KIND_PATH:
		return starts(url + p->path, size - p->path, r->what, r->size);
	case KIND_GLOB:
		if (*r->what == '/')
			return glob_fits(r->what, r->size, url + p->path, size - p->path);
		return glob_fits(r->what, r->size, url, size) ||
		       glob_fits(r->what, r->size, url + p->host, size - p->host);
	case KIND_REGEX:
		break;
	}
	rc = pcre2_match(r->code, (PCRE2_SPTR)url, size, 0, 0, r->match, r->limits);
	if (rc < 0 && rc != PCRE2_ERROR_NOMATCH)
		l->gave_up = true;
	return rc >= 0 || (rc != PCRE2_ERROR_NOMATCH && unsure);
}

bool scope_list_fits(struct scope_list *l, const char *url, size_t size, bool unsure)
{
	struct url_parts p;

	if (!l->rules.n)
		return false;
	url_split(url, size, &p);
	for (size_t i = 0; i < l->rules.n; i++)
		if (rule_fits(l, l->rules.v[i], url, size, &p, unsure))
			return true;
	return false;
}

bool scope_has(struct scope *s, const char *url, size_t size)
{
	return (!s->include.rules.n || scope_list_fits(&s->include, url, size, false)) &&
	       !scope_list_fits(&s->exclude, url, size, true);
}

bool scope_is_empty(const struct scope *s)
{
	return !s->include.rules.n && !s->exclude.rules.n;
}

void scope_release(struct scope *s)
{
	scope_list_release(&s->include);
	scope_list_release(&s->exclude);
}
