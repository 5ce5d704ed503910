/* SPDX-License-Identifier: Apache-2.0 */
/* site_settings.c - settings of sites; see site_settings.h. */
#include "repo/site_settings.h"

#include <stdio.h>

#include "base/buf.h"
#include "web/url/url.h"

#define SETTING_NAME_MAX 64
#define KEY_MAX (SETTING_NAME_MAX + URL_HOST_MAX + 16)

static int read_setting(void *arg, const char *key, const char *value, struct err *err)
{
	struct site_settings *x = arg;

	(void)err;
	if (!strchr(key, '@'))
		return 0;
	strtab_intern(&x->keys, key, strlen(key), NULL);
	vec_push(&x->values, mem_strdup(value));
	return 0;
}

int site_settings_load(struct site_settings *x, struct store *s, struct err *err)
{
	*x = (struct site_settings){ 0 };
	return store_settings(s, read_setting, x, err);
}

void site_settings_release(struct site_settings *x)
{
	for (size_t i = 0; i < x->values.n; i++)
		free(x->values.v[i]);
	vec_release(&x->values);
	strtab_release(&x->keys);
}

static const char *look_up(const struct site_settings *x, const char *name, const char *host,
                           size_t size)
{
	char key[KEY_MAX];
	int n = snprintf(key, sizeof key, "%s@%.*s", name, (int)size, host);
	uint32_t at = n > 0 && (size_t)n < sizeof key ? strtab_find(&x->keys, key, (size_t)n) :
	              MAP_NONE;

	return at == MAP_NONE ? NULL : x->values.v[at];
}

/* Where the port begins, or the end. */
static size_t port_at(const char *host, size_t size)
{
	const char *colon = memrchr(host, ':', size);

	return colon && !memchr(colon, ']', size - (size_t)(colon - host)) ?
	       (size_t)(colon - host) : size;
}

const char *site_settings_of(const struct site_settings *x, const char *name, const char *host,
                             size_t size)
{
	size_t end = port_at(host, size);
	const char *value = NULL;

	if (!x->values.n)
		return NULL;
	while (!value) {
		const char *dot;

		if (end < size)
			value = look_up(x, name, host, size);
		if (!value)
			value = look_up(x, name, host, end);
		dot = memchr(host, '.', end);
		if (!dot)
			break;
		end -= (size_t)(dot + 1 - host);
		size -= (size_t)(dot + 1 - host);
		host = dot + 1;
	}
	return value;
}

const char *site_settings_get(const struct site_settings *x, const char *name, const char *url,
                              size_t size)
{
	struct url_parts p;

	if (!x->values.n)
		return NULL;
	url_split(url, size, &p);
	return site_settings_of(x, name, url + p.host, p.path - p.host);
}

bool site_settings_has(const struct site_settings *x, const char *name)
{
	size_t n = strlen(name);

	for (uint32_t i = 0; i < x->keys.n; i++) {
		const char *key = strtab_get(&x->keys, i);

		if (!strncmp(key, name, n) && key[n] == '@')
			return true;
	}
	return false;
}

int site_settings_key(const char *name, const char *host, char **ret, struct err *err)
{
	struct buf given, url;
	struct url_parts p;
	struct err why = { 0 };
	int rc;

	buf_init(&given, URL_SIZE_MAX);
	buf_init(&url, URL_SIZE_MAX);
	if (!strstr(host, "://"))
		buf_str(&given, "http://");
	buf_str(&given, host);
	rc = url_canonical(buf_text(&given), given.size, &url, &why);
	if (rc == 0) {
		url_split(url.data, url.size, &p);
		if (url.size - p.path > 1) {
			rc = -1;
			snprintf(why.text, sizeof why.text, "it has a path");
		}
	}
	if (rc < 0) {
		rc = err_set(err, E_USAGE, "'%.200s' is no site: %s; name a host, as in example.org",
		             host, why.text);
	} else {
		buf_clear(&given);
		buf_printf(&given, "%s@%.*s", name, (int)(p.path - p.host), url.data + p.host);
		*ret = mem_strdup(buf_text(&given));
	}
	buf_release(&given);
	buf_release(&url);
	return rc;
}
