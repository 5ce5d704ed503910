/* SPDX-License-Identifier: Apache-2.0 */
/* store.c - chooses the backend by the scheme of the URL, and forwards calls; see
 * store.h. */
#include "repo/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "repo/store_backend.h"

#define STORE(x) extern const struct store_ops store_##x##_ops;
#include "repo/stores.def"
#undef STORE

static const struct store_ops *const backends[] = {
#define STORE(x) &store_##x##_ops,
#include "repo/stores.def"
#undef STORE
};

const char *store_state_name(unsigned state)
{
	return state == STORE_PAGE_HERE ? "here" : state == STORE_PAGE_GONE ? "gone" : "left";
}

int store_open(struct store **ret, const char *url, enum store_mode mode, struct err *err)
{
	const char *colon = strchr(url, ':'), *slash = strchr(url, '/');

	if (!colon || (slash && slash < colon))
		return backends[0]->open(ret, url, mode, err);
	for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
		if (strlen(backends[i]->scheme) == (size_t)(colon - url) &&
		    !memcmp(backends[i]->scheme, url, (size_t)(colon - url)))
			return backends[i]->open(ret, colon + 1, mode, err);
	return err_set(err, E_USAGE, "store '%s': no such kind of store; use sqlite:FILE", url);
}

void store_close(struct store *s)
{
	if (s)
		s->ops->close(s);
}

int store_past(struct store *s, uint64_t *ret, struct err *err)
{
	char *text = NULL;
	int rc = store_setting_get(s, STORE_PAST_KEY, &text, err);

	*ret = rc > 0 ? strtoull(text, NULL, 10) : 0;
	free(text);
	return rc < 0 ? rc : 0;
}

const char *store_file(const struct store *s) { return s->ops->path(s); }
int store_freeze(struct store *s, struct err *err) { return s->ops->freeze(s, err); }
void store_thaw(struct store *s) { s->ops->thaw(s); }
int store_begin(struct store *s, struct err *err) { return s->ops->begin(s, err); }
int store_commit(struct store *s, struct err *err) { return s->ops->commit(s, err); }
void store_rollback(struct store *s) { s->ops->rollback(s); }

int store_page_add(struct store *s, struct text url, int64_t added, uint32_t *ret_number,
                   struct err *err)
{
	return s->ops->page_add(s, url, added, ret_number, err);
}

int store_page_find(struct store *s, struct text url, struct store_page *ret, struct err *err)
{
	return s->ops->page_find(s, url, ret, err);
}

int store_page_get(struct store *s, uint32_t number, struct store_page *ret, struct err *err)
{
	return s->ops->page_get(s, number, ret, err);
}

int store_page_weigh(struct store *s, uint32_t number, double weight, struct err *err)
{
	if (!(weight >= 0 && weight <= STORE_WEIGHT_MAX))
		return err_set(err, E_USAGE, "the weight of a page is a number from 0 to %g",
		               STORE_WEIGHT_MAX);
	return s->ops->page_weigh(s, number, weight, err);
}

int store_page_update(struct store *s, const struct store_page *p, struct err *err)
{
	return s->ops->page_update(s, p, err);
}

int store_capture_add(struct store *s, struct store_capture *c, struct err *err)
{
	return s->ops->capture_add(s, c, err);
}

unsigned store_capture_rank(int status, bool revisit)
{
	if (revisit || status == 304)
		return 3;
	return status_is_page(status) ? 4 : status_is_redirect(status) ? 2 :
	       status_is_gone(status) ? 1 : 0;
}

int store_capture_put(struct store *s, struct store_capture *c, struct err *err)
{
	return s->ops->capture_put(s, c, err);
}

int store_capture_get(struct store *s, uint64_t id, struct store_capture *ret, struct err *err)
{
	return s->ops->capture_get(s, id, ret, err);
}

int store_capture_refresh(struct store *s, uint64_t id, struct text etag,
                          struct text modified, struct text robots, struct err *err)
{
	return s->ops->capture_refresh(s, id, etag, modified, robots, err);
}

int store_visit_add(struct store *s, const struct store_visit *v, struct err *err)
{
	return s->ops->visit_add(s, v, err);
}

int store_visits_forget(struct store *s, uint32_t page, struct err *err)
{
	return s->ops->visits_forget(s, page, err);
}

int store_cycle_put(struct store *s, const struct store_cycle *c, struct err *err)
{
	return s->ops->cycle_put(s, c, err);
}

int store_hint_get(struct store *s, struct text site, struct store_hint *ret, struct err *err)
{
	return s->ops->hint_get(s, site, ret, err);
}

int store_hint_put(struct store *s, struct text site, const struct store_hint *h,
                   struct err *err)
{
	return s->ops->hint_put(s, site, h, err);
}

int store_robots_get(struct store *s, struct text origin, struct store_robots *ret,
                     struct err *err)
{
	return s->ops->robots_get(s, origin, ret, err);
}

int store_robots_put(struct store *s, struct text origin, const struct store_robots *r,
                     struct err *err)
{
	return s->ops->robots_put(s, origin, r, err);
}

int store_robots_size(struct store *s, uint64_t *ret, struct err *err)
{
	return s->ops->robots_size(s, ret, err);
}

int store_robots_forget(struct store *s, int64_t before, struct err *err)
{
	return s->ops->robots_forget(s, before, err);
}

int store_word_add(struct store *s, uint32_t number, struct text word, struct err *err)
{
	return s->ops->word_add(s, number, word, err);
}

int store_words(struct store *s, uint32_t from, store_word_each *each, void *arg,
                struct err *err)
{
	return s->ops->words(s, from, each, arg, err);
}

int store_setting_put(struct store *s, const char *key, const char *value, struct err *err)
{
	return s->ops->setting_put(s, key, value, err);
}

struct wanted { const char *key; char *value; };

static int match_setting(void *arg, const char *key, const char *value, struct err *err)
{
	struct wanted *w = arg;

	(void)err;
	if (strcmp(key, w->key))
		return 0;
	w->value = mem_strdup(value);
	return 1;
}

int store_setting_get(struct store *s, const char *key, char **ret, struct err *err)
{
	struct wanted w = { .key = key };
	int rc = s->ops->settings(s, match_setting, &w, err);

	if (rc > 0)
		*ret = w.value;
	return rc;
}

int store_pages(struct store *s, store_page_each *each, void *arg, struct err *err)
{
	return s->ops->pages(s, each, arg, err);
}

int store_captures(struct store *s, uint32_t page, store_capture_each *each, void *arg,
                   struct err *err)
{
	return s->ops->captures(s, page, each, arg, err);
}

int store_visits(struct store *s, uint32_t page, uint32_t from, uint32_t to,
                 store_visit_each *each, void *arg, struct err *err)
{
	return s->ops->visits(s, page, from, to, each, arg, err);
}

int store_cycles(struct store *s, store_cycle_each *each, void *arg, struct err *err)
{
	return s->ops->cycles(s, each, arg, err);
}

int store_settings(struct store *s, store_setting_each *each, void *arg, struct err *err)
{
	return s->ops->settings(s, each, arg, err);
}

int store_round_add(struct store *s, uint32_t cycle, uint32_t number, uint32_t after,
                    struct err *err)
{
	return s->ops->round_add(s, cycle, number, after, err);
}

int store_rounds(struct store *s, uint32_t cycle, store_round_each *each, void *arg,
                 struct err *err)
{
	return s->ops->rounds(s, cycle, each, arg, err);
}

int store_lease_put(struct store *s, const struct store_lease *l, struct err *err)
{
	return s->ops->lease_put(s, l, err);
}

int store_leases(struct store *s, uint32_t cycle, store_lease_each *each, void *arg,
                 struct err *err)
{
	return s->ops->leases(s, cycle, each, arg, err);
}

int store_leases_forget(struct store *s, uint32_t but_cycle, struct err *err)
{
	return s->ops->leases_forget(s, but_cycle, err);
}

int store_sent_add(struct store *s, const struct store_sent *sent, size_t n, struct err *err)
{
	return s->ops->sent_add(s, sent, n, err);
}

int store_sent(struct store *s, store_sent_each *each, void *arg, struct err *err)
{
	return s->ops->sent(s, each, arg, err);
}

int store_sent_clear(struct store *s, struct err *err) { return s->ops->sent_clear(s, err); }

int store_count(struct store *s, struct store_counts *ret, struct err *err)
{
	return s->ops->count(s, ret, err);
}

int store_check(struct store *s, struct err *err) { return s->ops->check(s, err); }
