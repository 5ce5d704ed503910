/* SPDX-License-Identifier: Apache-2.0 */
/* touch.c - who touches pages, and how often that was right; see touch.h. */
#include "engine/book/touch.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "engine/book/touch_inner.h"
#include "web/url/url.h"

#define NAMES_KEY "notifiers"           /* state: one name a line */
#define AT_ONCE 1000                    /* pages read at a time */

const char *touch_rank_name(enum touch_rank r)
{
	static const char *const names[] = { "wrong", "unproven", "right" };

	return names[r];
}

bool touch_is_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789._-@";
	size_t size = strlen(name);

	return size && size <= TOUCH_NAME_MAX && strspn(name, allowed) == size;
}

/* ---- names ---- */

int touch_names_load(struct touch_names *n, struct store *s, struct err *err)
{
	char *text = NULL, *rest;
	int rc = store_state_get(s, STORE_OF_SHARD, NAMES_KEY, &text, err);

	*n = (struct touch_names){ 0 };
	if (rc <= 0)
		return rc;
	rest = text;
	for (char *line; (line = strsep(&rest, "\n")) && n->names.n < TOUCH_NOTIFIERS_MAX;)
		if (touch_is_name(line))
			strtab_intern(&n->names, line, strlen(line), NULL);
	free(text);
	return 0;
}

void touch_names_release(struct touch_names *n)
{
	strtab_release(&n->names);
}

const char *touch_name(const struct touch_names *n, uint32_t number)
{
	return number && number <= n->names.n ? strtab_get(&n->names, number - 1) : NULL;
}

/* The number of a notifier, which may be new. */
static int find_name(struct touch_names *n, struct store *s, const char *name, uint32_t *ret,
                     struct err *err)
{
	struct buf text;
	bool fresh;
	int rc;

	*ret = strtab_find(&n->names, name, strlen(name)) + 1;
	if (*ret)                               /* MAP_NONE + 1 is 0 */
		return 0;
	if (n->names.n >= TOUCH_NOTIFIERS_MAX)
		return err_set(err, E_LIMIT, "more than %d notifiers: use fewer names",
		               TOUCH_NOTIFIERS_MAX);
	*ret = strtab_intern(&n->names, name, strlen(name), &fresh) + 1;
	buf_init(&text, BUF_NO_LIMIT);
	for (uint32_t i = 0; i < n->names.n; i++)
		buf_printf(&text, "%s\n", strtab_get(&n->names, i));
	rc = store_state_put(s, STORE_OF_SHARD, NAMES_KEY, buf_text(&text), err);
	buf_release(&text);
	return rc;
}

/* ---- trust ---- */

static void site_key(const char *name, struct text url, struct buf *out)
{
	buf_clear(out);
	url_site(url.s, url.size, false, out);
	buf_printf(out, "/%s", name);
}

static void all_key(const char *name, struct buf *out)
{
	buf_clear(out);
	buf_printf(out, "ALL/%s", name);
}

static int read_trust(struct store *s, const struct buf *key, struct lastmod_trust *ret,
                      struct err *err)
{
	struct store_hint h = { 0 };
	int rc = store_hint_get(s, (struct text){ key->data, key->size }, &h, err);

	*ret = (struct lastmod_trust){ h.checks, h.hits, h.told };
	return rc < 0 ? rc : 0;
}

enum touch_rank touch_judge(const struct lastmod_trust *site, const struct lastmod_trust *all)
{
	if (site->checks >= LASTMOD_CHECKS_MIN)
		return lastmod_trusted(site) ? TOUCH_RIGHT : TOUCH_WRONG;
	return all->checks >= LASTMOD_CHECKS_MIN && !lastmod_trusted(all) ? TOUCH_WRONG :
	       TOUCH_UNPROVEN;
}

int touch_trust(struct store *s, const char *name, struct text url, struct lastmod_trust *site,
                struct lastmod_trust *all, struct err *err)
{
	struct buf key;
	int rc;

	buf_init(&key, BUF_NO_LIMIT);
	site_key(name, url, &key);
	rc = read_trust(s, &key, site, err);
	all_key(name, &key);
	if (rc == 0)
		rc = read_trust(s, &key, all, err);
	buf_release(&key);
	return rc;
}

static int count_one(struct store *s, const struct buf *key, bool changed, struct err *err)
{
	struct text name = { key->data, key->size };
	struct lastmod_trust t;
	struct store_hint h = { 0 }, was;
	int rc = store_hint_get(s, name, &h, err);

	if (rc < 0)
		return rc;
	was = h;
	t = (struct lastmod_trust){ h.checks, h.hits, h.told };
	lastmod_check(&t, true, changed);
	h.checks = t.checks;
	h.hits = t.hits;
	h.told = t.told;
	return store_hint_update(s, name, &was, &h, err);
}

int touch_check(struct store *s, struct store_page *p, bool changed, struct err *err)
{
	struct touch_names names;
	const char *name;
	struct text url = p->url;
	struct buf key;
	int rc;

	if (!p->touched)
		return 0;
	rc = touch_names_load(&names, s, err);
	name = rc == 0 ? touch_name(&names, p->notifier) : NULL;
	buf_init(&key, BUF_NO_LIMIT);
	if (name) {
		site_key(name, url, &key);
		rc = count_one(s, &key, changed, err);
		all_key(name, &key);
		if (rc == 0)
			rc = count_one(s, &key, changed, err);
	}
	buf_release(&key);
	touch_names_release(&names);
	p->touched = 0;
	p->notifier = 0;
	return rc;
}

int touch_known(struct store *s, const struct store_page *p, struct touch_known *ret,
                struct err *err)
{
	struct touch_names names;
	const char *name;
	int rc;

	*ret = (struct touch_known){ 0 };
	if (!p->touched)
		return 0;
	rc = touch_names_load(&names, s, err);
	if (rc < 0)
		return rc;
	name = touch_name(&names, p->notifier);
	rc = 0;
	if (name) {
		snprintf(ret->notifier, sizeof ret->notifier, "%s", name);
		rc = touch_trust(s, name, p->url, &ret->site, &ret->all, err);
		ret->rank = touch_judge(&ret->site, &ret->all);
		rc = rc == 0 ? 1 : rc;
	}
	touch_names_release(&names);
	return rc;
}

/* ---- touching ---- */

struct touching {
	struct store *store;
	struct touch_names names;
	const char *name;
	uint32_t number;
	int64_t now;
	struct touch_stats stats;
	VEC(struct store_page_change) changes;
	struct err *err;
};

static int rank_of(struct touching *t, const char *name, struct text url, enum touch_rank *ret)
{
	struct lastmod_trust site, all;
	int rc = touch_trust(t->store, name, url, &site, &all, t->err);

	*ret = rc == 0 ? touch_judge(&site, &all) : TOUCH_WRONG;
	return rc;
}

/* Does our word count for more than that of who touched it first? */
static int outranks(struct touching *t, const struct store_page *p)
{
	const char *other = touch_name(&t->names, p->notifier);
	enum touch_rank ours, theirs;
	int rc;

	if (p->notifier == t->number)
		return 0;
	if (!other)
		return 1;
	if ((rc = rank_of(t, t->name, p->url, &ours)) < 0 ||
	    (rc = rank_of(t, other, p->url, &theirs)) < 0)
		return rc;
	return ours > theirs;
}

static int see_page(void *arg, const struct store_page *p, struct err *err)
{
	struct touching *t = arg;
	int rc = 1;

	(void)err;
	if (p->care & CARE_REMOVED) {
		t->stats.unknown++;
		return 0;
	}
	if (p->touched) {
		t->stats.again++;
		rc = outranks(t, p);
	} else {
		t->stats.touched++;
	}
	if (rc > 0)
		vec_push(&t->changes, ((struct store_page_change){ .number = p->number,
			.set = STORE_SET_TOUCHED, .to = { .touched = t->now, .notifier = t->number } }));
	return rc < 0 ? rc : 0;
}

/* Some of the URLs: their pages are read at once. */
static int touch_some(struct touching *t, const char *const *urls, size_t n)
{
	uint32_t *numbers = mem_array(n + 1, sizeof *numbers);
	struct text *texts = mem_array(n + 1, sizeof *texts);
	struct arena room = { 0 };
	struct map seen = { 0 };
	struct buf url, text;
	size_t n_texts = 0, n_pages = 0;
	int rc;

	buf_init(&url, URL_SIZE_MAX);
	buf_init(&text, URL_SIZE_MAX);
	for (size_t i = 0; i < n; i++) {
		buf_clear(&url);
		buf_clear(&text);
		if (!strstr(urls[i], "://"))
			buf_str(&text, "http://");
		buf_str(&text, urls[i]);
		if (url_canonical(buf_text(&text), text.size, &url, NULL) < 0)
			t->stats.bad++;
		else
			texts[n_texts++] = (struct text){ arena_strndup(&room, url.data, url.size),
			                                  url.size };
	}
	rc = store_pages_find(t->store, texts, n_texts, numbers, t->err);
	for (size_t i = 0; i < n_texts && rc == 0; i++) {
		bool known = numbers[i] != STORE_NONE;

		t->stats.unknown += !known;
		if (!known || map_get(&seen, numbers[i]) != MAP_NONE)
			continue;
		map_put(&seen, numbers[i], 1);
		numbers[n_pages++] = numbers[i];
	}
	if (rc == 0)
		rc = store_pages_get(t->store, numbers, n_pages, see_page, t, t->err);
	if (rc == 0)
		rc = store_pages_change(t->store, t->changes.v, t->changes.n, t->err);
	t->changes.n = 0;
	map_release(&seen);
	buf_release(&url);
	buf_release(&text);
	arena_release(&room);
	free(texts);
	free(numbers);
	return rc;
}

int touch_pages(struct store *s, const char *notifier, const char *const *urls, size_t n,
                int64_t now, struct touch_stats *ret, struct err *err)
{
	struct touching t = { .store = s, .name = notifier, .now = now, .err = err };
	int rc;

	if (!touch_is_name(notifier))
		return err_set(err, E_USAGE, "the name of a notifier has 1 to %d letters, digits or "
		               "characters of . _ - @", TOUCH_NAME_MAX);
	if ((rc = store_begin(s, err)) < 0)
		return rc;
	if ((rc = touch_names_load(&t.names, s, err)) == 0)
		rc = find_name(&t.names, s, notifier, &t.number, err);
	for (size_t i = 0; i < n && rc == 0; i += AT_ONCE)
		rc = touch_some(&t, urls + i, n - i < AT_ONCE ? n - i : AT_ONCE);
	if (rc == 0)
		rc = store_commit(s, err);
	if (rc < 0)
		store_rollback(s);
	else
		*ret = t.stats;
	touch_names_release(&t.names);
	vec_release(&t.changes);
	return rc;
}
