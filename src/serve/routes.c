/* SPDX-License-Identifier: Apache-2.0 */
/* routes.c - which function answers a request: routes.def as a table. */
#include <stdio.h>

#include "serve/access.h"
#include "serve/http/body.h"
#include "serve/desk.h"
#include "serve/hub.h"
#include "serve/webhooks.h"

static const struct route routes[] = {
#define ROUTE(method, path, right, lane, run, command, params, body, summary) \
	{ #method, path, RIGHT_##right, LANE_##lane, run, command, params, body, summary },
#include "serve/routes.def"
#undef ROUTE
};

const struct route *route_at(size_t i)
{
	return i < sizeof routes / sizeof *routes ? &routes[i] : NULL;
}

/* Does the path of a route fit these segments? */
static bool fits(const char *path, const struct uri *u, const char *args[2])
{
	size_t n = 0, n_args = 0;

	while (*path == '/' && path[1]) {
		size_t size = strcspn(++path, "/");

		if (n == u->n_segments)
			return false;
		if (*path == '{')
			args[n_args++] = u->segments[n];
		else if (strlen(u->segments[n]) != size || strncmp(u->segments[n], path, size))
			return false;
		n++;
		path += size;
	}
	return n == u->n_segments;
}

const struct route *route_find(const struct http_request *r, const char *args[2],
                               char ret_methods[64])
{
	size_t n = 0;

	ret_methods[0] = '\0';
	for (const struct route *t = routes; t < routes + sizeof routes / sizeof *routes; t++) {
		const char *found[2] = { NULL, NULL };

		if (!fits(t->path, &r->uri, found))
			continue;
		if (!strcmp(t->method, r->method) ||
		    (!strcmp(r->method, "HEAD") && !strcmp(t->method, "GET"))) {
			memcpy(args, found, sizeof found);
			return t;
		}
		n += (size_t)snprintf(ret_methods + n, 64 - n, "%s%s", n ? ", " : "", t->method);
	}
	return NULL;
}
