/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_sitemap.c - sitemaps into a repository; see import.h.
 *
 * Pages are put under care, and their lastmod is kept as a hint with the time it
 * was read: what a site says, never what we saw.  An index names sitemaps by URL;
 * from files they are looked for beside the index, by the last part of that URL,
 * and reported if they are not there: nothing is fetched here.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io/input.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/archive/archive_name.h"
#include "engine/import/import.h"
#include "web/rules/sitemap.h"

struct mapping {
	struct import *i;
	const char *path;
	VEC(char *) children;
};

static void say(struct import *i, const char *path, const char *what)
{
	char text[900];

	snprintf(text, sizeof text, "%s: %s", path, what);
	if (i->report)
		i->report(i->arg, text);
}

static int add_page(struct import *i, const struct sitemap_entry *entry, struct err *err)
{
	struct store_page p, was;
	uint32_t number;
	int rc = import_page(i, (struct text){ entry->url, entry->url_size }, &number, err);

	if (rc < 0)
		return rc;
	i->stats.n_lines++;
	if (rc == IMPORT_OUTSIDE)
		return 0;
	i->stats.n_known += rc == 0;
	if (!entry->has_lastmod || entry->lastmod <= 0)
		return 0;
	rc = store_page_get(i->store, number, &p, err);
	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "no page %u", number);
	if (p.hint == entry->lastmod && p.hint_seen >= i->now)
		return 0;
	was = p;
	p.hint = entry->lastmod;
	p.hint_seen = i->now;
	return store_page_update(i->store, &was, &p, err);
}

static void add_child(struct mapping *m, const struct sitemap_entry *entry)
{
	const char *slash = memrchr(entry->url, '/', entry->url_size);
	const char *name = slash ? slash + 1 : entry->url;
	size_t size = strcspn(name, "?");
	struct buf path;

	if (size > entry->url_size - (size_t)(name - entry->url))
		size = entry->url_size - (size_t)(name - entry->url);
	buf_init(&path, ARCHIVE_NAME_MAX);
	slash = strrchr(m->path, '/');
	if (slash)
		buf_add(&path, m->path, (size_t)(slash - m->path) + 1);
	buf_add(&path, name, size);
	if (size && !path.full && access(buf_text(&path), R_OK) == 0) {
		vec_push(&m->children, mem_strdup(buf_text(&path)));
	} else {
		char shown[300], text[600];

		snprintf(text, sizeof text, "the sitemap %s is not beside this index: skipped",
		         log_quote(entry->url, entry->url_size, shown, sizeof shown));
		m->i->stats.n_other++;
		say(m->i, m->path, text);
	}
	buf_release(&path);
}

static int visit(void *context, const struct sitemap_entry *entry, struct err *err)
{
	struct mapping *m = context;

	if (!entry->is_sitemap)
		return add_page(m->i, entry, err);
	add_child(m, entry);
	return 0;
}

static void report_totals(struct import *i, const char *path, const struct sitemap_report *r)
{
	char text[200];

	i->stats.n_bad += r->refused;
	if (r->refused || r->bad_dates) {
		snprintf(text, sizeof text, "%llu locations are no http URLs, %llu dates are none",
		         (unsigned long long)r->refused, (unsigned long long)r->bad_dates);
		say(i, path, text);
	}
	if (r->cut)
		say(i, path, "longer than a sitemap may be: the rest was not read");
}

/* The sitemaps an index led to, one after the other. */
static int import_children(struct mapping *m, unsigned depth, struct err *err)
{
	int rc = 0;

	for (size_t k = 0; k < m->children.n && rc == 0; k++) {
		struct input *in;

		if (depth + 1 > SITEMAP_DEPTH_MAX) {
			say(m->i, m->children.v[k], "an index too deep: skipped");
			continue;
		}
		rc = input_open(&in, m->children.v[k], err);
		if (rc == 0)
			rc = import_sitemap(m->i, in, m->children.v[k], depth + 1, err);
	}
	for (size_t k = 0; k < m->children.n; k++)
		free(m->children.v[k]);
	vec_release(&m->children);
	return rc;
}

int import_sitemap(struct import *i, struct input *in, const char *path, unsigned depth,
                   struct err *err)
{
	struct sitemap_source source = { .scope = SITEMAP_ANY, .depth = depth };
	struct mapping m = { .i = i, .path = path };
	struct sitemap_report totals = { 0 };
	struct err why = { 0 };
	int rc = store_begin(i->store, err);

	if (rc < 0) {
		input_close(in);
		return rc;
	}
	rc = sitemap_read(in, &source, visit, &m, &totals, &why);
	input_close(in);
	report_totals(i, path, &totals);
	if (rc == E_STORE) {
		store_rollback(i->store);
		if (err)
			*err = why;
	} else if (rc < 0) {
		/* what came before the damage stands */
		i->stats.n_bad++;
		say(i, path, why.text);
		rc = 0;
	}
	if (rc == 0)
		rc = import_commit(i, err);
	if (rc < 0) {
		store_rollback(i->store);
		import_forget(i);
	}
	if (rc == 0)
		rc = import_children(&m, depth, err);
	for (size_t k = 0; k < m.children.n; k++)
		free(m.children.v[k]);
	vec_release(&m.children);
	return rc;
}
