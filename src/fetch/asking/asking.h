/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asking.h - what goes with a request beyond its URL, and what is taken of its answer, by
 * the user's will: own headers, cookies, credentials, media types, the size of a body.
 *
 * Looked up for every request by its own URL, each hop of a redirect anew.  So nothing that
 * is meant for one host reaches another, whatever redirects say.
 *
 * What is secret (cookies, credentials) is kept apart from what may be seen.  The archive
 * gets a request without it.  Where a server sends a secret back, in a head or a body, it
 * is masked by asterisks before anybody reads the answer: a secret of ASKING_HIDE_MIN bytes
 * or more, as it was sent (a cookie: ASKING_HIDE_COOKIE, for many cookies are words).
 *
 * Read by many threads, written by none once it is filled.
 */
#ifndef FETCH_ASKING_ASKING_H
#define FETCH_ASKING_ASKING_H

#include "fetch/asking/cookie_file.h"
#include "fetch/asking/login_file.h"

#define ASKING_HIDE_MIN 8
#define ASKING_HIDE_COOKIE 16

struct asking_rules {                         /* zeroed: nothing */
	const char *headers;            /* of all sites: lines parted by newlines; or NULL */
	const char *accept;             /* media_types.h; NULL: all */
	struct cookie_list cookies;
	struct login_list logins;
	/* The setting of a site, or NULL: "header", "accept", "max-body".  May be NULL. */
	const char *(*site)(void *arg, const char *name, const char *host, size_t size);
	void *arg;
};

/* What goes with one request. */
struct asking_extra {
	struct buf open, secret;        /* header lines, each with a NUL behind it */
	struct buf hidden;              /* texts to mask, the same way */
	const char *accept;             /* NULL: all */
	size_t max_body;                /* 0: as the fetcher has it */
};

/* Read a file of secrets (secret_file.h) and check it. */
MUST_CHECK int asking_read_cookies(struct asking_rules *a, const char *path, struct err *err);
MUST_CHECK int asking_read_logins(struct asking_rules *a, const char *path, struct err *err);
void asking_release(struct asking_rules *a);

struct asking_extra *asking_extra_new(void);
void asking_extra_free(struct asking_extra *e);         /* may be NULL */
/* Everything for a canonical URL. */
void asking_for(const struct asking_rules *a, const char *url, size_t size, int64_t now,
                struct asking_extra *ret);
/* Only the header lines that may be seen, and the media types; others stay as they are. */
void asking_open_for(const struct asking_rules *a, const char *url, size_t size,
                     struct asking_extra *ret);
/* Were secrets sent? */
bool asking_has_secrets(const struct asking_extra *e);
/* Is one of them in the bytes?  Mask them all. */
bool asking_shows(const struct asking_extra *e, const char *data, size_t size);
void asking_mask(const struct asking_extra *e, char *data, size_t size);

#endif
