/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy.h - which proxy, if any, a URL goes through.
 *
 * The rules are those of libcurl.  They are applied here, so that the fetcher and libcurl
 * cannot disagree on whether to resolve a name: an explicit proxy, or
 * http_proxy (lower case only: HTTP_PROXY can be set by a CGI request),
 * https_proxy, HTTPS_PROXY, all_proxy, ALL_PROXY; no_proxy and NO_PROXY list
 * hosts, domains and networks that are asked directly, "*" all.  Proxies are
 * http, https, socks4a and socks5h; socks4 and socks5 are used as these, since
 * behind a proxy names are the proxy's to resolve.
 */
#ifndef FETCH_PROXY_H
#define FETCH_PROXY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct proxy {
	char *http, *https;     /* NULL: none */
	char *except;           /* the no_proxy list; NULL: none */
};

/* explicit, except: from options, NULL to ask the environment (`env`, as
 * getenv()), "" for none. */
MUST_CHECK int proxy_init(struct proxy *p, const char *explicit, const char *except,
                          char *(*env)(const char *name), struct err *err);
void proxy_release(struct proxy *p);
/* The proxy for a host (without brackets) or NULL. */
const char *proxy_for(const struct proxy *p, bool https, const char *host);

#endif
