/* SPDX-License-Identifier: Apache-2.0 */
/* ignore.c - rules of what is no change, by site; see ignore.h. */
#include "engine/archive/ignore.h"

#include "web/rules/scope.h"
#include "web/url/url.h"

/* "HOST: RULES": a colon followed by a blank, and no blank before it. */
static const char *find_colon(const char *text)
{
	const char *colon = strstr(text, ": ");

	return colon && colon > text && !memchr(text, ' ', (size_t)(colon - text)) ? colon : NULL;
}

int ignore_list_add(struct ignore_list *l, const char *text, struct err *err)
{
	const char *colon = find_colon(text);
	struct ignore_site site = { 0 };
	int rc = ignore_parse(&site.rules, colon ? colon + 2 : text, err);

	if (rc < 0)
		return rc;
	if (colon)
		site.host = mem_strndup(text, (size_t)(colon - text));
	vec_push(&l->sites, site);
	return 0;
}

int ignore_list_add_site(struct ignore_list *l, const char *host, const char *rules,
                         struct err *err)
{
	struct ignore_site site = { .below = true };
	int rc = ignore_parse(&site.rules, rules, err);

	if (rc < 0)
		return rc;
	site.host = mem_strdup(host);
	vec_push(&l->sites, site);
	return 0;
}

static bool fits(const struct ignore_site *s, const char *url, size_t size,
                 const struct url_parts *p)
{
	if (s->below)
		return scope_host_is(url, size, s->host, strlen(s->host));
	return strlen(s->host) == p->path - p->host &&
	       !strncasecmp(s->host, url + p->host, p->path - p->host);
}

const struct ignore *ignore_list_find(const struct ignore_list *l, const char *url,
                                      size_t size)
{
	const struct ignore *general = NULL, *own = NULL;
	struct url_parts p;
	size_t longest = 0;

	if (!l->sites.n)
		return NULL;
	url_split(url, size, &p);
	for (size_t i = 0; i < l->sites.n; i++) {
		const struct ignore_site *s = &l->sites.v[i];

		if (!s->host) {
			general = &s->rules;
		} else if (strlen(s->host) > longest && fits(s, url, size, &p)) {
			longest = strlen(s->host);
			own = &s->rules;
		}
	}
	return own ? own : general;
}

void ignore_list_release(struct ignore_list *l)
{
	for (size_t i = 0; i < l->sites.n; i++) {
		free(l->sites.v[i].host);
		ignore_release(&l->sites.v[i].rules);
	}
	vec_release(&l->sites);
}
