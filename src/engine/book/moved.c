/* SPDX-License-Identifier: Apache-2.0 */
/* moved.c - pages that moved for good; see moved.h. */
#include "engine/book/moved.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "web/url/url.h"

#define KEY "moved."

static const char *const names[] = { "seen", "followed", "never" };

const char *moved_how_name(enum moved_how how)
{
	return names[how];
}

struct moved *moved_find(const struct moved_list *l, uint32_t page)
{
	uint32_t at = map_get(&l->at, page);

	return at == MAP_NONE || !l->v.v[at]->to ? NULL : l->v.v[at];
}

static uint64_t target_key(const char *url)
{
	return hash_bytes(url, strlen(url), 0);
}

static struct moved *find_or_add(struct moved_list *l, uint32_t page)
{
	uint32_t at = map_get(&l->at, page);
	struct moved *m;

	if (at != MAP_NONE)
		return l->v.v[at];
	map_put(&l->at, page, (uint32_t)l->v.n);
	m = mem_zalloc(1, sizeof *m);
	m->page = page;
	vec_push(&l->v, m);
	return m;
}

struct moved *moved_set(struct moved_list *l, uint32_t page, const char *to)
{
	struct moved *m = find_or_add(l, page);
	char *copy = mem_strdup(to);    /* it may be that of m */

	free(m->to);
	m->to = copy;
	m->dirty = true;
	return m;
}

void moved_follow(struct moved_list *l, struct moved *m, uint32_t cycle)
{
	m->how = MOVED_FOLLOWED;
	m->cycle = cycle;
	m->dirty = true;
	map_put(&l->targets, target_key(m->to), m->page);
}

void moved_forget(struct moved *m)
{
	free(m->to);
	m->to = NULL;
	m->dirty = true;
}

static bool parse_row(struct moved *m, const char *value, const char **ret_url)
{
	char how[16];
	int n = 0;

	if (sscanf(value, "%15s %d %" SCNu32 " %" SCNd64 " %" SCNd64 " %" SCNu32 " %n", how,
	           &m->status, &m->times, &m->since, &m->seen, &m->cycle, &n) != 6 || !n)
		return false;
	*ret_url = value + n;
	for (m->how = MOVED_SEEN; m->how < N_MOVED && strcmp(how, names[m->how]); m->how++)
		;
	return m->how < N_MOVED && (m->status == 301 || m->status == 308) && m->since >= 0 &&
	       m->seen >= m->since && strlen(*ret_url) <= URL_SIZE_MAX &&
	       url_is_canonical(*ret_url, strlen(*ret_url));
}

static int read_state(void *arg, const char *key, const char *value, struct err *err)
{
	struct moved_list *l = arg;
	struct moved row = { 0 }, *m;
	unsigned long page;
	const char *url;
	char *end;

	if (strncmp(key, KEY, strlen(KEY)))
		return 0;
	page = strtoul(key + strlen(KEY), &end, 10);
	if (*end || end == key + strlen(KEY) || page >= UINT32_MAX ||
	    !parse_row(&row, value, &url))
		return err_set(err, E_STORE, "the state %.40s of the store makes no sense", key);
	row.page = (uint32_t)page;
	row.to = mem_strdup(url);
	if (row.how == MOVED_FOLLOWED)
		map_put(&l->targets, target_key(row.to), row.page);
	m = find_or_add(l, row.page);
	free(m->to);
	*m = row;
	return 0;
}

int moved_load(struct moved_list *l, struct store *s, struct err *err)
{
	return store_states(s, STORE_OF_SHARD, read_state, l, err);
}

void moved_release(struct moved_list *l)
{
	for (size_t i = 0; i < l->v.n; i++) {
		free(l->v.v[i]->to);
		free(l->v.v[i]);
	}
	vec_release(&l->v);
	map_release(&l->at);
	map_release(&l->targets);
	*l = (struct moved_list){ 0 };
}

int moved_save(struct moved_list *l, struct store *s, struct err *err)
{
	struct buf value;
	char key[32];
	int rc = 0;

	buf_init(&value, BUF_NO_LIMIT);
	for (size_t i = 0; i < l->v.n && rc == 0; i++) {
		struct moved *m = l->v.v[i];

		if (!m->dirty)
			continue;
		buf_clear(&value);
		if (m->to)
			buf_printf(&value, "%s %d %" PRIu32 " %" PRId64 " %" PRId64 " %" PRIu32 " %s",
			           names[m->how], m->status, m->times, m->since, m->seen, m->cycle, m->to);
		snprintf(key, sizeof key, KEY "%" PRIu32, m->page);
		rc = store_state_put(s, STORE_OF_SHARD, key, m->to ? buf_text(&value) : NULL, err);
		m->dirty = rc < 0;
	}
	buf_release(&value);
	return rc;
}

int moved_hindrance(const struct moved_list *l, struct store *s, struct care_rules *rules,
                    const struct moved *m, const char **ret, struct err *err)
{
	uint32_t other = map_get(&l->targets, target_key(m->to));
	const struct moved *row = other == MAP_NONE || other == m->page ? NULL :
	                          moved_find(l, other);
	struct store_page p;
	int rc;

	*ret = NULL;
	if (care_rules_say(rules, m->to, strlen(m->to)) & CARE_SCOPE) {
		*ret = "the target is out of scope";
		return 0;
	}
	if (row && row->how == MOVED_FOLLOWED && !strcmp(row->to, m->to)) {
		*ret = "another page is followed there already";
		return 0;
	}
	rc = store_page_find(s, (struct text){ m->to, strlen(m->to) }, &p, err);
	if (rc > 0 && !p.care && p.state != STORE_PAGE_LEFT)
		*ret = "the target is a page under care itself";
	return rc < 0 ? rc : 0;
}
