/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_fleet.c - exports over all shards of a fleet, and changes from a cursor; see export.h.
 *
 * Lines that are sorted in each shard are merged: each shard writes into a file without a name,
 * and up to FILES of them are merged at a time.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/export/changes.h"
#include "cli/export/export.h"
#include "cli/frame/repository.h"
#include "cli/frame/shards.h"
#include "engine/changes/change_place.h"

#define FILES 64

/* ---- merging ---- */

struct lines { FILE *f; char *line; size_t cap; bool more; };

static void step(struct lines *s)
{
	s->more = getline(&s->line, &s->cap, s->f) > 0;
}

/* Merge n files with sorted lines, and close them. */
static int merge(FILE **files, size_t n, FILE *out, struct err *err)
{
	struct lines s[FILES] = { 0 };
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		s[i].f = files[i];
		rewind(s[i].f);
		step(&s[i]);
	}
	for (;;) {
		size_t first = n;

		for (size_t i = 0; i < n; i++)
			if (s[i].more && (first == n || strcmp(s[i].line, s[first].line) < 0))
				first = i;
		if (first == n)
			break;
		fputs(s[first].line, out);
		step(&s[first]);
	}
	for (size_t i = 0; i < n; i++) {
		if (ferror(s[i].f))
			rc = err_set(err, E_IO, "a temporary file could not be read");
		fclose(s[i].f);
		free(s[i].line);
	}
	return rc;
}

/* A file without a name, where the sandbox allows it: tmpfile() knows /tmp only. */
static FILE *temporary(void)
{
	const char *folder = getenv("TMPDIR");
	int fd = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 ? tmpfile() : fdopen(fd, "w+");
}

struct merging { FILE *files[FILES]; size_t n; };

/* Add a file; when there are as many as can be merged, they become one. */
static int add_file(struct merging *m, FILE *f, struct err *err)
{
	FILE *all;
	int rc;

	m->files[m->n++] = f;
	if (m->n < FILES)
		return 0;
	all = temporary();
	if (!all)
		return err_errno(err, E_IO, "no temporary file");
	rc = merge(m->files, m->n, all, err);
	m->files[0] = all;
	m->n = 1;
	return rc;
}

int export_each(struct exporting *e, export_kind_run *run, bool sorted, struct err *err)
{
	const struct shards *s = e->cli->shards;
	struct merging m = { .n = 0 };
	FILE *out = e->out;
	int rc = 0;

	for (size_t i = 0; i < s->n && rc == 0; i++) {
		e->cli->shard = s->list[i].shard;
		if (sorted && !(e->out = temporary())) {
			rc = err_errno(err, E_IO, "no temporary file");
			break;
		}
		rc = run(e, err);
		if (rc < 0)
			err_prefix(err, "shard %d", s->list[i].shard);
		if (sorted && (fflush(e->out) || ferror(e->out)) && rc == 0)
			rc = err_errno(err, E_IO, "a temporary file could not be written");
		if (sorted && rc == 0)
			rc = add_file(&m, e->out, err);
		else if (sorted)
			fclose(e->out);
	}
	e->out = out;
	e->cli->shard = -1;
	if (rc == 0 && sorted)
		return merge(m.files, m.n, out, err);
	for (size_t i = 0; i < m.n; i++)
		fclose(m.files[i]);
	return rc;
}

/* ---- changes from a cursor ---- */

static int write_change(void *arg, const struct store_visit *v, struct err *err)
{
	struct exporting *e = arg;
	int rc = change_print_json(&e->j, e->store, e->cli->common.repository, v, err);

	e->n_written += rc == 0;
	return rc;
}

static void write_next(struct exporting *e, const char *cursor)
{
	json_object(&e->j);
	json_kstr(&e->j, "next", cursor);
	json_end_object(&e->j);
	json_newline(&e->j);
}

static int feed_one(struct exporting *e, const char *text, struct err *err)
{
	char next[CHANGE_CURSOR_SIZE];
	struct change_cursor at;
	int rc = repository_read(e->cli, &e->store, err);

	if (rc == 0)
		rc = change_cursor_read(&at, e->store, text, err);
	if (rc == 0)
		rc = change_feed(e->store, &at, write_change, e, err);
	if (rc == 0) {
		change_cursor_write(&at, next);
		write_next(e, next);
	}
	store_close(e->store);
	e->store = NULL;
	return rc;
}

int export_feed(struct exporting *e, const char *cursor, struct err *err)
{
	const struct shards *s = e->cli->shards;
	struct change_place at = { 0 };
	struct buf next;
	int64_t epoch = 0;
	int rc;

	if (shards_count(e->cli) < 2 || e->cli->shard >= 0)
		return feed_one(e, cursor, err);
	rc = fleet_epoch(s->fleet, &epoch, err);
	if (rc == 0)
		rc = change_place_read(&at, epoch, (uint32_t)s->n, cursor, err);
	for (size_t i = 0; i < s->n && rc == 0; i++) {
		e->cli->shard = s->list[i].shard;
		rc = repository_read(e->cli, &e->store, err);
		if (rc == 0)
			rc = change_feed(e->store, &at.at.v[i], write_change, e, err);
		store_close(e->store);
		e->store = NULL;
	}
	e->cli->shard = -1;
	if (rc == 0) {
		buf_init(&next, BUF_NO_LIMIT);
		change_place_write(&at, &next);
		write_next(e, buf_text(&next));
		buf_release(&next);
	}
	change_place_release(&at);
	return rc;
}
