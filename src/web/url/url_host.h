/* SPDX-License-Identifier: Apache-2.0 */
/* url_host.h - the host of a URL, made canonical; used by url*.c only. */
#ifndef WEB_URL_URL_HOST_H
#define WEB_URL_URL_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Write the canonical form of the host s (no port) to dst, which has room for
 * URL_HOST_MAX bytes; its size, or < 0. */
int url_host(const char *s, size_t size, char *dst, struct err *err);

/* Whether a canonical host is an address. */
bool url_host_is_ip(const char *host, size_t size);

#endif
