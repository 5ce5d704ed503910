/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h - which pages belong to the crawl: rules that include and exclude URLs.
 *
 * A rule is a word:
 *   example.org          the host and its subdomains, at any port
 *   example.org/shop/    the same, paths that begin so
 *   https://a.org/shop/  URLs that begin so
 *   /tag/                paths that begin so, on every site
 *   *.pdf  a.org/x*y     glob: the whole URL, with or without its scheme, or, if it begins with
 *                        /, path and query; * stands for any text, ? for itself
 *   site:W prefix:U glob:G regex:R   the same said plainly; regex is one of PCRE2, found
 *                        anywhere in the URL
 *   @FILE                the rules of a file, one a line; # begins a comment
 *
 * A text is a list of rules with blanks between.  A URL is in scope if an include rule fits (or
 * there are none), and no exclude rule does.
 *
 * Hostile input.  Patterns have caps (below).  The C library's regcomp() can take any amount
 * of memory and stack for a short pattern, so expressions are PCRE2's, which has limits for
 * compiling, for steps, depth and memory of a match.  An expression that gives up on a URL
 * leaves the URL out: it does not include, and it does exclude.
 */
#ifndef WEB_RULES_SCOPE_H
#define WEB_RULES_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

#define SCOPE_RULE_MAX 2000     /* bytes of a rule */
#define SCOPE_RULES_MAX 10000   /* rules of a list */

struct scope_rule;

struct scope_list {             /* zeroed, it is empty */
	VEC(struct scope_rule *) rules;
	bool gave_up;           /* an expression reached a limit since this was cleared */
};

struct scope { struct scope_list include, exclude; };

/* Add the rules of a text.  E_USAGE or E_LIMIT names the rule. */
MUST_CHECK int scope_list_add(struct scope_list *l, const char *text, struct err *err);
/* Append the rules as a text that scope_list_add() takes, those of files in full. */
void scope_list_text(const struct scope_list *l, struct buf *out);
/* Does a rule fit the canonical URL?  unsure: the answer if an expression gives up. */
bool scope_list_fits(struct scope_list *l, const char *url, size_t size, bool unsure);
void scope_list_release(struct scope_list *l);

bool scope_has(struct scope *s, const char *url, size_t size);
bool scope_is_empty(const struct scope *s);
void scope_release(struct scope *s);

/* Is the host of a canonical URL this one, or a subdomain of it?  host may end with a port,
 * which must then be the URL's. */
bool scope_host_is(const char *url, size_t size, const char *host, size_t host_size);

#endif
