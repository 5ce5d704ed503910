/* SPDX-License-Identifier: Apache-2.0 */
/* grants.c - see grants.h. */
#include "engine/recall/grants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define SHARDS_KEY "shards"
#define GRANTS_KEY "grants"

int grants_shards(struct store *s, bool goes_on, uint32_t n, uint32_t *ret, struct err *err)
{
	char number[16], *text = NULL;
	int rc;

	*ret = n;
	if (!n)
		return 0;
	snprintf(number, sizeof number, "%u", n);
	if (!goes_on)
		return store_state_put(s, STORE_OF_SHARD, SHARDS_KEY, number, err);
	rc = store_state_get(s, STORE_OF_SHARD, SHARDS_KEY, &text, err);
	if (rc >= 0)
		*ret = rc > 0 ? (uint32_t)strtoul(text, NULL, 10) : 0;  /* begun by a version before */
	free(text);
	return rc < 0 ? rc : 0;
}

int grants_save(struct store *s, uint32_t cycle, const struct engine *e, struct err *err)
{
	const struct cycle *c = &e->cycle;
	struct buf text;
	int rc;

	buf_init(&text, BUF_NO_LIMIT);
	buf_printf(&text, "%u %u", cycle, e->view.budget);
	for (int i = 0; e->view.shared.any && i < SHARED_SUMS; i++)
		buf_printf(&text, " %.17g", e->view.shared.sum[i]);
	for (size_t i = 0; i < c->planned_with.n; i++)
		if (!i || c->planned_with.v[i] != c->planned_with.v[i - 1])
			buf_printf(&text, "\n%zu %u", i + 1, c->planned_with.v[i]);
	rc = store_state_put(s, STORE_OF_SHARD, GRANTS_KEY, buf_text(&text), err);
	buf_release(&text);
	return rc;
}

/* The sums behind the first two numbers of the line, if they are there. */
static struct shared read_shared(const char *line)
{
	struct shared s = { .any = true };
	char *end = NULL;

	for (int i = 0; i < 2 + SHARED_SUMS; i++, line = end) {
		double x = strtod(line, &end);

		if (end == line)
			return (struct shared){ 0 };
		if (i >= 2)
			s.sum[i - 2] = x;
	}
	return s;
}

/* Lines "ROUND GRANTED": from this round on. */
static void read_rounds(struct grants *g, size_t n_rounds, char **save)
{
	char *line = strtok_r(NULL, "\n", save);
	unsigned round, granted;
	uint32_t with = 0;

	for (size_t i = 0; i < n_rounds; i++) {
		while (line && sscanf(line, "%u %u", &round, &granted) == 2 && round <= i + 1) {
			with = granted;
			line = strtok_r(NULL, "\n", save);
		}
		vec_push(&g->planned_with, with);
	}
}

int grants_load(struct grants *ret, struct store *s, uint32_t cycle, size_t n_rounds,
                struct err *err)
{
	char *text = NULL, *line, *save = NULL;
	unsigned number = 0, expected = 0;
	int rc = store_state_get(s, STORE_OF_SHARD, GRANTS_KEY, &text, err);

	if (rc <= 0)
		return rc;
	line = strtok_r(text, "\n", &save);
	rc = line && sscanf(line, "%u %u", &number, &expected) == 2 && number == cycle;
	if (rc) {
		ret->expected = expected ? expected : 1;
		ret->shared = read_shared(line);
		read_rounds(ret, n_rounds, &save);
	}
	free(text);
	return rc;
}

void grants_release(struct grants *g)
{
	vec_release(&g->planned_with);
}
