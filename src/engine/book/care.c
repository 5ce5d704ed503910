/* SPDX-License-Identifier: Apache-2.0 */
/* care.c - which pages are under care; see care.h. */
#include "engine/book/care.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "engine/book/last_cycle.h"
#include "engine/book/ledger.h"
#include "engine/book/lock.h"
#include "web/url/url.h"

/* ---- rules ---- */

static int load_list(struct scope_list *l, struct store *s, const char *name, struct err *err)
{
	char *text = NULL;
	int rc = store_setting_get(s, name, &text, err);

	if (rc > 0 && (rc = scope_list_add(l, text, err)) < 0)
		err_prefix(err, "setting %s", name);
	free(text);
	return rc < 0 ? rc : 0;
}

int care_rules_load(struct care_rules *r, struct store *s, struct err *err)
{
	int rc = site_settings_load(&r->sites, s, err);

	r->any_paused = site_settings_has(&r->sites, "paused");
	if (rc == 0)
		rc = load_list(&r->scope.include, s, "include", err);
	return rc < 0 ? rc : load_list(&r->scope.exclude, s, "exclude", err);
}

void care_rules_release(struct care_rules *r)
{
	site_settings_release(&r->sites);
	scope_release(&r->scope);
}

uint8_t care_rules_say(struct care_rules *r, const char *url, size_t size)
{
	const char *paused = r->any_paused ?
		site_settings_get(&r->sites, "paused", url, size) : NULL;
	unsigned care = paused && !strcmp(paused, "yes") ? CARE_SITE : 0;

	if (!scope_is_empty(&r->scope) && !scope_has(&r->scope, url, size))
		care |= CARE_SCOPE;
	return (uint8_t)care;
}

/* ---- choosing pages ---- */

struct choosing {
	struct care_pages *pages;
	const struct care_which *which;
	struct scope_list *match;
	char *host;             /* canonical, or NULL */
	VEC(uint32_t) tagged;   /* in ascending order */
	size_t at;              /* the next of them */
};

static int compare_pages(const void *pa, const void *pb)
{
	const struct care_page *a = pa, *b = pb;

	return a->page < b->page ? -1 : a->page > b->page;
}

static int choose_url(struct care_pages *p, struct store *s, const struct care_which *w,
                      const char *given, struct err *err)
{
	struct buf text, url;
	struct store_page row;
	struct err why;
	int rc;

	buf_init(&text, URL_SIZE_MAX);
	buf_init(&url, URL_SIZE_MAX);
	if (!strstr(given, "://"))
		buf_str(&text, "http://");
	buf_str(&text, given);
	rc = url_canonical(buf_text(&text), text.size, &url, &why) < 0 ? 0 :
	     store_page_find(s, (struct text){ url.data, url.size }, &row, err);
	if (rc > 0) {
		vec_push(&p->pages, ((struct care_page){ row.number, row.care }));
	} else if (rc == 0) {
		char shown[200], message[300];

		p->n_unknown++;
		log_quote(given, strlen(given), shown, sizeof shown);
		snprintf(message, sizeof message, "%s: not in this repository", shown);
		if (w->report)
			w->report(w->arg, message);
	}
	buf_release(&text);
	buf_release(&url);
	return rc < 0 ? rc : 0;
}

static int note_tagged(void *arg, uint32_t page, struct err *err)
{
	struct choosing *c = arg;

	(void)err;
	vec_push(&c->tagged, page);
	return 0;
}

static bool has_tag(struct choosing *c, uint32_t page)
{
	while (c->at < c->tagged.n && c->tagged.v[c->at] < page)
		c->at++;
	return c->at < c->tagged.n && c->tagged.v[c->at] == page;
}

static int see_page(void *arg, const struct store_page *p, struct err *err)
{
	struct choosing *c = arg;

	(void)err;
	if ((c->which->tag && !has_tag(c, p->number)) ||
	    (c->host && !scope_host_is(p->url.s, p->url.size, c->host, strlen(c->host))) ||
	    (c->match && !scope_list_fits(c->match, p->url.s, p->url.size, false)))
		return 0;
	vec_push(&c->pages->pages, ((struct care_page){ p->number, p->care }));
	return 0;
}

static int choose_urls(struct care_pages *p, struct store *s, const struct care_which *w,
                       struct err *err)
{
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < w->n_urls && rc == 0; i++)
		rc = choose_url(p, s, w, w->urls[i], err);
	if (p->pages.n)
		qsort(p->pages.v, p->pages.n, sizeof *p->pages.v, compare_pages);
	for (size_t i = 0; i < p->pages.n; i++)
		if (!n || p->pages.v[n - 1].page != p->pages.v[i].page)
			p->pages.v[n++] = p->pages.v[i];
	p->pages.n = n;
	return rc;
}

int care_choose(struct care_pages *p, struct store *s, const struct care_which *w,
                struct err *err)
{
	struct scope_list match = w->match;
	struct choosing c = { .pages = p, .which = w, .match = match.rules.n ? &match : NULL };
	char *key = NULL;
	int rc = 0;

	*p = (struct care_pages){ 0 };
	if (w->n_urls)
		return choose_urls(p, s, w, err);
	if (w->site && (rc = site_settings_key("", w->site, &key, err)) == 0)
		c.host = key + 1;
	if (rc == 0 && w->tag)
		rc = store_tagged(s, (struct text){ w->tag, strlen(w->tag) }, note_tagged, &c, err);
	if (rc == 0)
		rc = store_pages(s, 0, see_page, &c, err);
	vec_release(&c.tagged);
	free(key);
	return rc;
}

void care_pages_release(struct care_pages *p)
{
	vec_release(&p->pages);
}

/* ---- changing ---- */

/* Programs that keep the engine of an open cycle make it anew when its serial is another. */
static int write_batch(const struct care_writing *w, const struct store_care *rows, size_t n,
                       struct err *err)
{
	struct ledger l = { 0 };
	int rc = store_begin(w->store, err);

	if (rc == 0)
		rc = ledger_load(&l, w->store, err);
	if (rc == 0)
		rc = store_care_put(w->store, rows, n, w->now, err);
	if (rc == 0 && w->setting)
		rc = store_setting_put(w->store, w->setting, w->value, err);
	if (rc == 0 && l.open)
		rc = ledger_save(&l, err);
	if (rc == 0)
		rc = store_commit(w->store, err);
	if (rc < 0)
		store_rollback(w->store);
	ledger_release(&l);
	return rc;
}

static int write_all(const struct care_writing *w, const struct store_care *rows, size_t n,
                     struct err *err)
{
	struct last_cycle last;
	bool locked;
	int rc;

	if (w->dry || (!n && !w->setting))
		return 0;
	rc = last_cycle_read(w->store, &last, err);
	locked = rc == 0 && last.any && last.row.open && last.row.clients;
	if (locked && (rc = lock_wait(w->store, err)) < 0)
		return rc;
	if (rc == 0)
		rc = write_batch(w, rows, n, err);
	if (locked)
		store_unlock(w->store);
	return rc;
}

int care_change(const struct care_writing *w, const struct care_pages *p, unsigned set,
                unsigned clear, uint64_t *ret_n, struct err *err)
{
	VEC(struct store_care) rows = { 0 };
	int rc;

	for (size_t i = 0; i < p->pages.n; i++) {
		const struct care_page *c = &p->pages.v[i];
		struct store_care row = { .page = c->page,
		                          .care = (uint8_t)((c->care & ~clear) | set) };

		if (row.care != c->care)
			vec_push(&rows, row);
	}
	*ret_n = rows.n;
	rc = write_all(w, rows.v, rows.n, err);
	vec_release(&rows);
	return rc;
}

struct deciding {
	struct care_rules *rules;
	struct care_effect *effect;
	VEC(struct store_care) rows;
};

static int decide_page(void *arg, const struct store_page *p, struct err *err)
{
	struct deciding *d = arg;
	struct care_effect *e = d->effect;
	const unsigned ruled = CARE_SCOPE | CARE_SITE;
	unsigned care = (p->care & ~ruled) | care_rules_say(d->rules, p->url.s, p->url.size);
	struct store_care row = { .page = p->number, .care = (uint8_t)care };
	unsigned on = care & ~(unsigned)p->care, off = p->care & ~care;

	(void)err;
	if (care == p->care)
		return 0;
	vec_push(&d->rows, row);
	if (p->care & CARE_REMOVED)
		return 0;               /* nobody misses it */
	e->out += (on & CARE_SCOPE) != 0;
	e->in += (off & CARE_SCOPE) != 0;
	e->paused += (on & CARE_SITE) != 0;
	e->resumed += (off & CARE_SITE) != 0;
	if (e->each && (on | off) & CARE_SCOPE)
		e->each(e->arg, p->url, !(on & CARE_SCOPE));
	return 0;
}

int care_decide(const struct care_writing *w, struct care_rules *r, struct care_effect *ret,
                struct err *err)
{
	struct deciding d = { .rules = r, .effect = ret };
	int rc = store_pages(w->store, 0, decide_page, &d, err);

	if (rc == 0)
		rc = write_all(w, d.rows.v, d.rows.n, err);
	vec_release(&d.rows);
	return rc;
}

static int note_time(void *arg, const struct store_care *c, struct err *err)
{
	(void)err;
	*(int64_t *)arg = c->time;
	return 0;
}

int care_since(struct store *s, uint32_t page, int64_t *ret, struct err *err)
{
	*ret = 0;
	return store_care_log(s, page, 0, UINT32_MAX, note_time, ret, err);
}
