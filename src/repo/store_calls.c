/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_calls.c - calls for rows go to the backend; or, after store_gather(), to what is kept in
 * memory.  See store.h.
 */
#include "repo/store_backend.h"
#include "repo/store_gather.h"

int store_pages_add(struct store *s, struct store_page *rows, size_t n, bool *ret_new,
                    struct err *err)
{
	return s->ops->pages_add(s, rows, n, ret_new, err);
}

int store_pages_find(struct store *s, const struct text *urls, size_t n,
                     uint32_t *ret_numbers, struct err *err)
{
	return s->ops->pages_find(s, urls, n, ret_numbers, err);
}

int store_pages_get(struct store *s, const uint32_t *numbers, size_t n,
                    store_page_each *each, void *arg, struct err *err)
{
	if (!s->gathering)
		return s->ops->pages_get(s, numbers, n, each, arg, err);
	return gather_pages_get(s, s->gather, numbers, n, each, arg, err);
}

int store_pages_change(struct store *s, const struct store_page_change *rows, size_t n,
                       struct err *err)
{
	if (!s->gathering)
		return s->ops->pages_change(s, rows, n, err);
	gather_pages_change(s->gather, rows, n);
	return 0;
}

int store_pages(struct store *s, uint32_t from, store_page_each *each, void *arg,
                struct err *err)
{
	return s->ops->pages(s, from, each, arg, err);
}

int store_pages_brief(struct store *s, store_page_each *each, void *arg, struct err *err)
{
	return s->ops->pages_brief ? s->ops->pages_brief(s, each, arg, err) :
	       store_pages(s, 0, each, arg, err);
}

int store_pages_touched(struct store *s, store_page_each *each, void *arg, struct err *err)
{
	return s->ops->pages_touched(s, each, arg, err);
}

int store_captures_put(struct store *s, struct store_capture *rows, size_t n,
                       enum store_second how, uint8_t *ret, struct err *err)
{
	if (!s->gathering)
		return s->ops->captures_put(s, rows, n, how, ret, err);
	return gather_captures_put(s, s->gather, rows, n, how, ret, err);
}

int store_capture_ids(struct store *s, uint32_t n, uint64_t *ret, struct err *err)
{
	return s->ops->capture_ids(s, n, ret, err);
}

int store_captures_get(struct store *s, const uint64_t *ids, size_t n,
                       store_capture_each *each, void *arg, struct err *err)
{
	if (!s->gathering)
		return s->ops->captures_get(s, ids, n, each, arg, err);
	return gather_captures_get(s, s->gather, ids, n, each, arg, err);
}

int store_captures_refresh(struct store *s, const struct store_headers *rows, size_t n,
                           struct err *err)
{
	if (!s->gathering)
		return s->ops->captures_refresh(s, rows, n, err);
	gather_captures_refresh(s->gather, rows, n);
	return 0;
}

int store_captures(struct store *s, const uint32_t *pages, size_t n,
                   store_capture_each *each, void *arg, struct err *err)
{
	return s->ops->captures(s, pages, n, each, arg, err);
}

int store_captures_linked(struct store *s, store_linked_each *each, void *arg, struct err *err)
{
	return s->ops->captures_linked(s, each, arg, err);
}

int store_links(struct store *s, const struct map *keys, store_text_each *each, void *arg,
                struct err *err)
{
	return s->ops->links(s, keys, each, arg, err);
}

int store_terms(struct store *s, const struct map *keys, store_text_each *each, void *arg,
                struct err *err)
{
	return s->ops->terms(s, keys, each, arg, err);
}

int store_captures_since(struct store *s, uint64_t id, store_capture_each *each,
                         void *arg, struct err *err)
{
	return s->ops->captures_since(s, id, each, arg, err);
}

int store_captures_drop(struct store *s, const uint64_t *ids, size_t n, struct err *err)
{
	return n ? s->ops->captures_drop(s, ids, n, err) : 0;
}

int store_captures_move(struct store *s, const struct store_moved *rows, size_t n,
                        struct err *err)
{
	return n ? s->ops->captures_move(s, rows, n, err) : 0;
}

int store_files(struct store *s, store_file_each *each, void *arg, struct err *err)
{
	return s->ops->files(s, each, arg, err);
}

int store_file_drop(struct store *s, struct text worker, struct text name, struct err *err)
{
	return s->ops->file_drop(s, worker, name, err);
}

int store_files_shared(struct store *s, store_file_each *each, void *arg, struct err *err)
{
	return s->ops->files_shared ? s->ops->files_shared(s, each, arg, err) : 0;
}

int store_file_leave(struct store *s, struct text worker, struct text name, bool *ret_last,
                     struct err *err)
{
	*ret_last = true;
	return s->ops->file_leave ? s->ops->file_leave(s, worker, name, ret_last, err) : 0;
}

int store_visits_add(struct store *s, const struct store_visit *rows, size_t n,
                     struct err *err)
{
	if (!s->gathering)
		return s->ops->visits_add(s, rows, n, err);
	gather_visits_add(s->gather, rows, n);
	return 0;
}

int store_visits_forget(struct store *s, const uint32_t *pages, size_t n, struct err *err)
{
	return s->ops->visits_forget(s, pages, n, err);
}

int store_visits(struct store *s, uint32_t from, uint32_t to, store_visit_each *each,
                 void *arg, struct err *err)
{
	return s->ops->visits(s, from, to, each, arg, err);
}

int store_visits_found(struct store *s, uint32_t from, uint32_t to, store_visit_each *each,
                       void *arg, struct err *err)
{
	return s->ops->visits_found(s, from, to, each, arg, err);
}

int store_visits_of(struct store *s, const uint32_t *pages, size_t n, uint32_t from,
                    uint32_t to, store_visit_each *each, void *arg, struct err *err)
{
	return s->ops->visits_of(s, pages, n, from, to, each, arg, err);
}

int store_cycle_put(struct store *s, const struct store_cycle *c, struct err *err)
{
	return s->ops->cycle_put(s, c, err);
}

int store_cycles(struct store *s, uint32_t from, store_cycle_each *each, void *arg,
                 struct err *err)
{
	return s->ops->cycles(s, from, each, arg, err);
}

int store_rounds_add(struct store *s, uint32_t cycle, uint32_t first,
                     const uint32_t *after, size_t n, struct err *err)
{
	return s->ops->rounds_add(s, cycle, first, after, n, err);
}

int store_rounds(struct store *s, uint32_t cycle, store_round_each *each, void *arg,
                 struct err *err)
{
	return s->ops->rounds(s, cycle, each, arg, err);
}

int store_leases_put(struct store *s, const struct store_lease *rows, size_t n,
                     struct err *err)
{
	return s->ops->leases_put(s, rows, n, err);
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

int store_sent_start(struct store *s, const struct store_sent *sent, size_t n,
                     struct err *err)
{
	return s->ops->sent_start(s, sent, n, err);
}

int store_sent_done(struct store *s, bool wait, struct err *err)
{
	return s->ops->sent_done ? s->ops->sent_done(s, wait, err) : 1;
}

int store_sent_add(struct store *s, const struct store_sent *sent, size_t n,
                   struct err *err)
{
	int rc = store_sent_start(s, sent, n, err);

	if (rc == 0)
		rc = store_sent_done(s, true, err);
	return rc < 0 ? rc : 0;
}

int store_sent(struct store *s, store_sent_each *each, void *arg, struct err *err)
{
	return s->ops->sent(s, each, arg, err);
}

int store_sent_clear(struct store *s, struct err *err)
{
	return s->ops->sent_clear(s, err);
}

int store_care_put(struct store *s, const struct store_care *rows, size_t n, int64_t time,
                   struct err *err)
{
	return s->ops->care_put(s, rows, n, time, err);
}

int store_care_log(struct store *s, uint32_t page, uint32_t from, uint32_t to,
                   store_care_each *each, void *arg, struct err *err)
{
	return s->ops->care_log(s, page, from, to, each, arg, err);
}

/* A tag is a word, so that lists of them can be written and read. */
static int check_tag(struct text tag, struct err *err)
{
	bool good = tag.size > 0 && tag.size <= STORE_TAG_MAX;

	for (size_t i = 0; i < tag.size; i++)
		good &= (unsigned char)tag.s[i] > ' ' && tag.s[i] != ',' && tag.s[i] != 127;
	return good ? 0 : err_set(err, E_USAGE, "a tag is a word of 1 to %d bytes, without blanks "
	                          "and commas", STORE_TAG_MAX);
}

int store_tag_put(struct store *s, struct text tag, const uint32_t *pages, size_t n, bool on,
                  struct err *err)
{
	int rc = check_tag(tag, err);

	return rc < 0 ? rc : s->ops->tag_put(s, tag, pages, n, on, err);
}

int store_tags(struct store *s, uint32_t page, store_tag_each *each, void *arg, struct err *err)
{
	return s->ops->tags(s, page, each, arg, err);
}

int store_tagged(struct store *s, struct text tag, store_tagged_each *each, void *arg,
                 struct err *err)
{
	return s->ops->tagged(s, tag, each, arg, err);
}

int store_setting_put(struct store *s, const char *key, const char *value,
                      struct err *err)
{
	return s->ops->setting_put(s, key, value, err);
}

int store_setting_get(struct store *s, const char *key, char **ret, struct err *err)
{
	return s->ops->setting_get(s, key, ret, err);
}

int store_settings(struct store *s, store_setting_each *each, void *arg, struct err *err)
{
	return s->ops->settings(s, each, arg, err);
}

int store_state_put(struct store *s, enum store_owner owner, const char *key,
                    const char *value, struct err *err)
{
	return s->ops->state_put(s, owner, key, value, err);
}

int store_state_get(struct store *s, enum store_owner owner, const char *key, char **ret,
                    struct err *err)
{
	return s->ops->state_get(s, owner, key, ret, err);
}

int store_states(struct store *s, enum store_owner owner, store_setting_each *each,
                 void *arg, struct err *err)
{
	return s->ops->states(s, owner, each, arg, err);
}

int store_hints_get(struct store *s, const struct text *sites, size_t n,
                    struct store_hint *ret, struct err *err)
{
	if (!s->gathering)
		return s->ops->hints_get(s, sites, n, ret, err);
	return gather_hints_get(s, s->gather, sites, n, ret, err);
}

int store_hints_change(struct store *s, const struct store_hint_change *rows, size_t n,
                       struct err *err)
{
	if (!s->gathering)
		return s->ops->hints_change(s, rows, n, err);
	gather_hints_change(s->gather, rows, n);
	return 0;
}

int store_hints(struct store *s, store_hint_each *each, void *arg, struct err *err)
{
	return s->ops->hints(s, each, arg, err);
}

int store_robots_put(struct store *s, const struct store_robots *rows, size_t n,
                     struct err *err)
{
	if (!s->gathering)
		return s->ops->robots_put(s, rows, n, err);
	gather_robots_put(s->gather, rows, n);
	return 0;
}

int store_robots(struct store *s, const struct text *origins, size_t n,
                 store_robots_each *each, void *arg, struct err *err)
{
	if (!s->gathering || !origins)
		return s->ops->robots(s, origins, n, each, arg, err);
	return gather_robots(s, s->gather, origins, n, each, arg, err);
}

int store_robots_size(struct store *s, uint64_t *ret, struct err *err)
{
	return s->ops->robots_size(s, ret, err);
}

int store_robots_forget(struct store *s, int64_t before, struct err *err)
{
	return s->ops->robots_forget(s, before, err);
}

int store_words_add(struct store *s, uint32_t first, const struct text *words, size_t n,
                    struct err *err)
{
	return s->ops->words_add(s, first, words, n, err);
}

int store_words(struct store *s, uint32_t from, store_word_each *each, void *arg,
                struct err *err)
{
	return s->ops->words(s, from, each, arg, err);
}
