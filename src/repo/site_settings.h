/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site_settings.h - settings that hold for one site.
 *
 * A row of the settings whose key is "NAME@HOST" or "NAME@HOST:PORT".  It holds for the pages
 * of the host and of its subdomains, unless a more special host has the same setting: that of
 * news.example.org goes before that of example.org.  A host with a port goes before the same
 * host without.
 */
#ifndef REPO_SITE_SETTINGS_H
#define REPO_SITE_SETTINGS_H

#include "base/map.h"
#include "base/mem.h"
#include "repo/store.h"

struct site_settings {          /* zeroed, it is empty */
	struct strtab keys;     /* "NAME@HOST" */
	VEC(char *) values;     /* by their number */
};

MUST_CHECK int site_settings_load(struct site_settings *x, struct store *s, struct err *err);
void site_settings_release(struct site_settings *x);

/* The value for the host ("example.org" or "example.org:8080"), or NULL. */
const char *site_settings_of(const struct site_settings *x, const char *name, const char *host,
                             size_t size);
/* The same for a canonical URL. */
const char *site_settings_get(const struct site_settings *x, const char *name, const char *url,
                              size_t size);
/* Is the setting there for any site? */
bool site_settings_has(const struct site_settings *x, const char *name);

/* "NAME@HOST" in new memory, from a host as a user types it.  E_USAGE: it is no host. */
MUST_CHECK int site_settings_key(const char *name, const char *host, char **ret,
                                 struct err *err);

#endif
