/* SPDX-License-Identifier: Apache-2.0 */
/*
 * login_file.h - credentials by host, from a file as .netrc is, with a little more.
 *
 *   machine example.org login me password secret     basic, https://example.org only
 *   machine example.org:8443 bearer TOKEN            https at that port
 *   machine http://intranet login me password x      plain http must be named
 *   machine example.org header "X-Api-Key: KEY"      a header that is a secret
 *
 * A word is quoted by " where it has blanks or begins with #; \" and \\ stand for
 * themselves in quotes.  # where a word is expected begins a comment.  `account` is passed
 * over, so is a macro (`macdef`, up to an empty line), and so is `default`: it would send a
 * password to every host.
 *
 * An entry holds for one origin: scheme, host and port.  So a redirect to another host, to
 * another port or from https to http carries nothing.
 */
#ifndef FETCH_ASKING_LOGIN_FILE_H
#define FETCH_ASKING_LOGIN_FILE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"

#define LOGINS_MAX 10000        /* entries of a file */
#define LOGIN_WORD_MAX 4096     /* bytes of a word */

/* The entry of an origin.  lines: headers, each with a NUL behind it; hidden: texts that
 * must be seen nowhere, in the same form. */
struct login { struct buf lines, hidden; };

struct login_list {             /* zeroed, it is empty */
	struct strtab origins;  /* "https://example.org" */
	VEC(struct login) v;    /* by their number */
	unsigned n_default;     /* entries for every host, which are not used */
};

/* E_PARSE names the line. */
MUST_CHECK int login_list_parse(struct login_list *l, const char *text, size_t size,
                                const char *path, struct err *err);
/* The entry of a canonical URL's origin, which has so many bytes; or NULL. */
const struct login *login_list_find(const struct login_list *l, const char *url,
                                    size_t origin_size);
void login_list_release(struct login_list *l);

#endif
