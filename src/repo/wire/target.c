/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - the URL of a store: what of it is ours, what is libpq's; see link.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "repo/wire/link.h"

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

/* Our parameters of the URL. */
static int take_parameter(struct pg_target *t, const char *key, const char *value,
                          struct err *err)
{
	char *end;
	long long n;

	if (!strcmp(key, "schema")) {
		size_t size = strspn(value, NAME_LETTERS);

		if (!size || value[size] || size >= sizeof t->schema ||
		    (*value >= '0' && *value <= '9') || !strncmp(value, "pg_", 3))
			return err_set(err, E_USAGE, "store: schema=%.60s: small letters, digits and _, "
			               "not beginning with a digit or pg_", value);
		memcpy(t->schema, value, size + 1);
		return 0;
	}
	if (!strcmp(key, "worker")) {
		if (!*value || strlen(value) >= sizeof t->worker ||
		    strspn(value, NAME_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ.-") != strlen(value))
			return err_set(err, E_USAGE, "store: worker=%.60s: up to %d letters, digits, dots, "
			               "- and _", value, PG_NAME_MAX - 1);
		memcpy(t->worker, value, strlen(value) + 1);
		return 0;
	}
	errno = 0;
	n = strtoll(value, &end, 10);
	if (end == value || *end || errno || n < 0 ||
	    (strcmp(key, "fence") && n > (strcmp(key, "shard") ? 86400 : PG_SHARDS_MAX - 1)))
		return err_set(err, E_USAGE, "store: %s=%.60s: a number%s", key, value,
		               !strcmp(key, "fence") ? "" : strcmp(key, "shard") ?
		               " of seconds, up to a day" : " from 0 to 65535");
	if (!strcmp(key, "fence"))
		t->fence = n;
	else if (strcmp(key, "shard"))
		t->patience = n;
	else
		t->shard = (int32_t)n;
	return 0;
}

/* Take our parameters off the URL; what is left is libpq's. */
static int split(struct pg_target *t, char *url, struct err *err)
{
	char *query = strchr(url, '?'), *out, *save = NULL;
	int rc = 0;

	if (!query)
		return 0;
	out = query;
	for (char *p = strtok_r(query + 1, "&", &save); p && rc == 0;
	     p = strtok_r(NULL, "&", &save)) {
		char *equals = strchr(p, '=');
		size_t size = equals ? (size_t)(equals - p) : strlen(p);

		if (equals && ((size == 6 && !memcmp(p, "schema", 6)) ||
		               (size == 5 && !memcmp(p, "shard", 5)) ||
		               (size == 5 && !memcmp(p, "fence", 5)) ||
		               (size == 6 && !memcmp(p, "worker", 6)) ||
		               (size == 8 && !memcmp(p, "patience", 8)))) {
			*equals = '\0';
			rc = take_parameter(t, p, equals + 1, err);
		} else {
			char first = out == query ? '?' : '&';

			size = strlen(p);
			memmove(out + 1, p, size);      /* never beyond p: that was read */
			*out = first;
			out += size + 1;
		}
	}
	*out = '\0';
	return rc;
}

const char *pg_target_option(const PQconninfoOption *options, const char *key)
{
	for (const PQconninfoOption *o = options; o && o->keyword; o++)
		if (!strcmp(o->keyword, key))
			return o->val && *o->val ? o->val : NULL;
	return NULL;
}

static void show(struct pg_target *t)
{
	PQconninfoOption *defaults = PQconndefaults();
	const char *parts[3];
	static const char *const keys[3] = { "host", "port", "dbname" };

	for (int i = 0; i < 3; i++) {
		parts[i] = pg_target_option(t->options, keys[i]);
		parts[i] = parts[i] ? parts[i] : pg_target_option(defaults, keys[i]);
	}
	snprintf(t->shown, sizeof t->shown, "postgresql://%.100s%s%.20s/%.60s?schema=%s",
	         parts[0] ? parts[0] : "", parts[1] ? ":" : "", parts[1] ? parts[1] : "",
	         parts[2] ? parts[2] : "", t->schema);
	PQconninfoFree(defaults);
}

int pg_target_parse(struct pg_target *t, const char *url, struct err *err)
{
	char *copy = mem_strdup(url), *why = NULL;
	int rc;

	*t = (struct pg_target){ .schema = "freshet", .patience = PG_PATIENCE };
	gethostname(t->worker, sizeof t->worker - 1);
	rc = split(t, copy, err);
	if (rc == 0 && !(t->options = PQconninfoParse(copy, &why))) {
		char *quoted = why ? strstr(why, ": \"") : NULL;

		if (quoted)             /* libpq quotes the URL, with the password */
			*quoted = '\0';
		rc = err_set(err, E_USAGE, "store: no URL of PostgreSQL: %s; as in "
		             "postgresql://user@host/database?schema=crawl",
		             why ? why : "out of memory");
	}
	PQfreemem(why);
	free(copy);
	if (rc == 0)
		show(t);
	return rc;
}

void pg_target_release(struct pg_target *t)
{
	PQconninfoFree(t->options);
	t->options = NULL;
}
