/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_check.c - check the tables: the backend's own check, then every row of the tables
 * that engine/check does not read.
 *
 * A row is checked where it is read, so reading all of them is enough.  A table ends at the
 * first row that makes no sense, unless that row is taken out of it.
 */
#include "repo/store_backend.h"

#define ROWS_MAX 10000          /* bad rows of one table that are taken out at a time */

static int see_round(void *arg, uint32_t number, uint32_t after, struct err *err)
{
	(void)arg, (void)number, (void)after, (void)err;
	return 0;
}

static int see_lease(void *arg, const struct store_lease *l, struct err *err)
{
	(void)arg, (void)l, (void)err;
	return 0;
}

/* its rounds, and the leases of the open one */
static int see_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	uint32_t number = c->number;
	int rc = store_rounds(arg, number, see_round, NULL, err);

	return rc < 0 ? rc : store_leases(arg, number, see_lease, NULL, err);
}

static int see_word(void *arg, uint32_t number, struct text word, struct err *err)
{
	(void)arg, (void)number, (void)word, (void)err;
	return 0;
}

static int see_pair(void *arg, const char *key, const char *value, struct err *err)
{
	(void)arg, (void)key, (void)value, (void)err;
	return 0;
}

static int see_care(void *arg, const struct store_care *c, struct err *err)
{
	(void)arg, (void)c, (void)err;
	return 0;
}

static int see_tagged(void *arg, uint32_t page, struct err *err)
{
	(void)arg, (void)page, (void)err;
	return 0;
}

static int see_tag(void *arg, struct text tag, uint64_t n_pages, struct err *err)
{
	(void)n_pages;
	return store_tagged(arg, tag, see_tagged, NULL, err);
}

static int see_hint(void *arg, struct text site, const struct store_hint *h, struct err *err)
{
	(void)arg, (void)site, (void)h, (void)err;
	return 0;
}

static int see_robots(void *arg, const struct store_robots *r, struct err *err)
{
	(void)arg, (void)r, (void)err;
	return 0;
}

static int read_cycles(struct store *s, struct err *err)
{
	return store_cycles(s, 0, see_cycle, s, err);
}

static int read_care(struct store *s, struct err *err)
{
	return store_care_log(s, STORE_NONE, 0, UINT32_MAX, see_care, NULL, err);
}

static int read_tags(struct store *s, struct err *err)
{
	return store_tags(s, STORE_NONE, see_tag, s, err);
}

static int read_words(struct store *s, struct err *err)
{
	return store_words(s, 0, see_word, NULL, err);
}

static int read_settings(struct store *s, struct err *err)
{
	int rc = store_settings(s, see_pair, NULL, err);

	if (rc == 0)
		rc = store_states(s, STORE_OF_SHARD, see_pair, NULL, err);
	return rc < 0 ? rc : store_states(s, STORE_OF_WORKER, see_pair, NULL, err);
}

static int read_hints(struct store *s, struct err *err)
{
	return store_hints(s, see_hint, NULL, err);
}

static int read_robots(struct store *s, struct err *err)
{
	return store_robots(s, NULL, 0, see_robots, NULL, err);
}

int store_check_row(struct store *s, const char *table, const struct err *why,
                    store_problem_each *each, void *arg, struct err *err)
{
	struct store_problem p = { .table = table, .text = why->text };
	struct buf was;
	int rc = 0;

	buf_init(&was, BUF_NO_LIMIT);
	if (s->ops->bad_row && (rc = s->ops->bad_row(s, table, &was, err)) > 0)
		p.was = buf_text(&was);
	if (rc >= 0)
		rc = each(arg, &p, err);
	if (rc > 0 && (rc = s->ops->bad_row_drop(s, err)) == 0)
		rc = 1;
	buf_release(&was);
	return rc;
}

int store_backup(struct store *s, const char *to, store_backup_each *each, void *arg,
                 struct err *err)
{
	return s->ops->backup ? s->ops->backup(s, to, each, arg, err) :
		err_set(err, E_USAGE, "the tables are in a database that has its own tools for copies");
}

int store_check(struct store *s, store_problem_each *each, void *arg, struct err *err)
{
	static const struct { const char *name; int (*read)(struct store *, struct err *); }
	tables[] = {
		{ "cycles", read_cycles }, { "care", read_care }, { "tags", read_tags },
		{ "words", read_words }, { "settings", read_settings }, { "hints", read_hints },
		{ "robots", read_robots },
	};
	struct err broken = { 0 };
	int rc = s->ops->check(s, each, arg, &broken);

	if (rc == E_STORE)              /* the database cannot be read to its end */
		rc = each(arg, &(struct store_problem){ .table = "", .text = broken.text }, err);
	else if (rc < 0 && err)
		*err = broken;

	for (size_t i = 0; i < sizeof tables / sizeof *tables && rc >= 0; i++)
		for (unsigned n = 0; n < ROWS_MAX; n++) {
			struct err why = { 0 };

			rc = tables[i].read(s, &why);
			if (rc == E_STORE)
				rc = store_check_row(s, tables[i].name, &why, each, arg, err);
			else if (rc < 0 && err)
				*err = why;
			if (rc <= 0)
				break;
		}
	return rc < 0 ? rc : 0;
}
