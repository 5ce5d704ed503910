/* SPDX-License-Identifier: Apache-2.0 */
/* head.h - values of headers, taken apart. */
#ifndef SERVE_HTTP_HEAD_H
#define SERVE_HTTP_HEAD_H

#include "base/mem.h"
#include "base/text.h"

/* Of Host: the name in "name:port" or "[::1]:port"; empty if it is neither. */
struct text head_host(const char *host);
/* Of Cookie: the value of one, in `keep`; NULL: it is not there. */
const char *head_cookie(const char *cookies, const char *name, struct arena *keep);

#endif
