/* SPDX-License-Identifier: Apache-2.0 */
/* tagged.c - see tagged.h. */
#include "cli/frame/tagged.h"

#include <stdlib.h>
#include <string.h>

static int add_page(void *arg, uint32_t page, struct err *err)
{
	struct tagged *t = arg;

	(void)err;
	vec_push(&t->pages, page);
	return 0;
}

int tagged_load(struct tagged *t, struct store *s, const char *tag, struct err *err)
{
	*t = (struct tagged){ .all = !tag };
	return tag ? store_tagged(s, (struct text){ tag, strlen(tag) }, add_page, t, err) : 0;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

bool tagged_has(const struct tagged *t, uint32_t page)
{
	return t->all || (t->pages.n && bsearch(&page, t->pages.v, t->pages.n, sizeof page, compare));
}

void tagged_release(struct tagged *t)
{
	vec_release(&t->pages);
}
