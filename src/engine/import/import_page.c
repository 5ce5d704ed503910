/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_page.c - pages of an import: are they in scope, do they come under care, what tags
 * do they get.
 *
 * Care and tags of a batch are gathered and written when it is committed.
 */
#include "engine/import/import.h"

#include <math.h>
#include <string.h>

static int see_one(void *arg, const struct store_care *row, struct err *err)
{
	(void)arg;
	(void)row;
	(void)err;
	return 1;
}

/* Is any page kept out?  Else none need be looked at. */
static int look_for_care(struct import *i, struct err *err)
{
	int rc = 0;

	if (i->care_known)
		return 0;
	rc = store_care_log(i->store, STORE_NONE, 0, UINT32_MAX, see_one, NULL, err);
	i->care_any = rc > 0;
	i->care_known = rc >= 0;
	return rc < 0 ? rc : 0;
}

/* A page that is known: was it removed? */
static int meet_again(void *arg, const struct store_page *p, struct err *err)
{
	struct import *i = arg;

	(void)err;
	if (!(p->care & CARE_REMOVED))
		return 0;
	if (i->restore) {
		struct store_care row = { .page = p->number,
		                          .care = (uint8_t)(p->care & ~CARE_REMOVED) };

		vec_push(&i->changes, row);
		i->stats.n_back++;
	} else {
		i->stats.n_removed++;
	}
	return 0;
}

/* What would come of it. */
static int count_only(struct import *i, struct text url, struct err *err)
{
	uint64_t key = hash_bytes(url.s, url.size, 0);
	struct store_page p;
	int rc;

	if (map_get(&i->met, key) != MAP_NONE) {
		i->stats.n_known++;
		return IMPORT_OUTSIDE;
	}
	map_put(&i->met, key, 1);
	rc = store_page_find(i->store, url, &p, err);
	if (rc < 0)
		return rc;
	i->stats.n_pages += rc == 0;
	i->stats.n_known += rc > 0;
	i->stats.n_back += rc > 0 && i->restore && p.care & CARE_REMOVED;
	i->stats.n_removed += rc > 0 && !i->restore && p.care & CARE_REMOVED;
	return IMPORT_OUTSIDE;
}

/* New ones may be out of care by a rule, known ones may have been removed. */
static int note_care(struct import *i, const struct store_page *rows, size_t n,
                     const uint8_t *came, struct err *err)
{
	VEC(uint32_t) known = { 0 };
	int rc;

	for (size_t k = 0; k < n; k++) {
		struct store_care row = { .page = rows[k].number };

		if (came[k] == IMPORT_OUTSIDE)
			continue;
		if (i->n_tags)
			vec_push(&i->tagged, row.page);
		if (came[k] && i->care)
			row.care = care_rules_say(i->care, rows[k].url.s, rows[k].url.size);
		if (row.care)
			vec_push(&i->changes, row);
		i->stats.n_pages += came[k];
		if (!came[k] && i->care_any)
			vec_push(&known, row.page);
	}
	rc = store_pages_get(i->store, known.v, known.n, meet_again, i, err);
	vec_release(&known);
	return rc;
}

int import_pages(struct import *i, struct store_page *rows, size_t n, uint8_t *ret,
                 struct err *err)
{
	VEC(struct store_page) in = { 0 };
	bool *fresh = mem_zalloc(n + 1, sizeof *fresh);
	int rc = look_for_care(i, err);
	size_t m = 0;

	for (size_t k = 0; k < n && rc >= 0; k++) {
		bool outside;

		if (i->takes && !i->takes(i->arg, rows[k].url, false, NAN)) {
			ret[k] = IMPORT_OUTSIDE;
			continue;
		}
		outside = i->care &&
			care_rules_say(i->care, rows[k].url.s, rows[k].url.size) & CARE_SCOPE;
		i->stats.n_outside += outside;
		ret[k] = outside || i->dry ? IMPORT_OUTSIDE : 0;
		if (!outside && i->dry)
			rc = count_only(i, rows[k].url, err);
		else if (!outside)
			vec_push(&in, rows[k]);
	}
	if (rc >= 0)
		rc = store_pages_add(i->store, in.v, in.n, fresh, err);
	for (size_t k = 0; k < n && rc == 0; k++)
		if (ret[k] != IMPORT_OUTSIDE) {
			rows[k].number = in.v[m].number;
			ret[k] = fresh[m++];
		}
	if (rc == 0)
		rc = note_care(i, rows, n, ret, err);
	vec_release(&in);
	free(fresh);
	return rc;
}

int import_page(struct import *i, struct text url, uint32_t *ret, struct err *err)
{
	struct store_page row = { .url = url, .added = i->now, .weight = 1 };
	uint8_t came = 0;
	int rc = import_pages(i, &row, 1, &came, err);

	*ret = row.number;
	return rc < 0 ? rc : came;
}

void import_forget(struct import *i)
{
	vec_release(&i->changes);
	vec_release(&i->tagged);
}

int import_commit(struct import *i, struct err *err)
{
	int rc = store_care_put(i->store, i->changes.v, i->changes.n, i->now, err);

	for (size_t k = 0; k < i->n_tags && rc == 0; k++)
		rc = store_tag_put(i->store, (struct text){ i->tags[k], strlen(i->tags[k]) },
		                   i->tagged.v, i->tagged.n, true, err);
	import_forget(i);
	if (rc == 0)
		rc = store_commit(i->store, err);
	if (rc == 0)
		i->kept = i->stats;
	return rc;
}
