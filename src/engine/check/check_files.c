/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_files.c - the archives: is each copy there, whole, and the one that its row says?
 *
 * A file that Freshet wrote is read from its first record to its last, each with its digests.
 * The records where captures lie are compared with the rows: URL, time, digest, length.  Of
 * archives that came from elsewhere only the records of captures are read: they may be of any
 * kind, and the rest of them is not ours.
 *
 * A copy that is lost is looked at again in the tables as they are now, since pruning moves
 * records.  Repair takes its place out of its row: its content is then known to be nowhere.
 */
#include "engine/check/check_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io/input.h"
#include "base/io/json.h"
#include "engine/archive/archive_name.h"
#include "engine/archive/content.h"
#include "engine/prune/prune.h"

#define FEW 3                   /* damaged records that no copy lies in, named for each file */

struct files {
	struct check *c;
	struct check_capture *v;        /* captures of the file, by offset */
	size_t n;
	const char *shown;              /* its name */
	bool outside;                   /* of the folder of the repository */
	struct check_rows rows;         /* of v */
	char why[600];                  /* what the reader said last */
	uint64_t n_bad;                 /* damaged records that no copy lies in */
	uint64_t bytes_before, bytes;   /* of the files before; of all */
	VEC(struct store_moved) nowhere;
};

static int by_place(const void *pa, const void *pb)
{
	const struct check_capture *a = pa, *b = pb;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->offset != b->offset ? (a->offset < b->offset ? -1 : 1) :
	       a->id < b->id ? -1 : a->id > b->id;
}

/* ---- copies that are lost ---- */

struct again { const struct check_capture *k; struct text name; bool same; };

static int see_again(void *arg, const struct store_capture *c, struct err *err)
{
	struct again *a = arg;

	(void)err;
	a->same = c->offset == a->k->offset && c->file.size == a->name.size &&
	          !memcmp(c->file.s, a->name.s, a->name.size);
	return 0;
}

/* The name of a file without its worker. */
static struct text name_of(const struct check *c, uint32_t file)
{
	const char *key = strtab_get(&c->names, file);
	size_t worker = strlen(key) + 1;

	return (struct text){ key + worker, strtab_size(&c->names, file) - worker };
}

/* 1: the tables say so still; 0: they do not any more. */
static int says_so(struct check *c, const struct check_capture *k, struct err *err)
{
	struct again a = { .k = k, .name = name_of(c, k->file) };
	struct store *now;
	int rc = check_look_again(c, &now, err);

	if (rc == 0)
		rc = store_captures_get(now, &k->id, 1, see_again, &a, err);
	return rc < 0 ? rc : a.same;
}

static int put_nowhere(struct files *f, struct err *err)
{
	struct check *c = f->c;
	int rc = check_aside_sync(c, err);

	if (rc < 0 || !f->nowhere.n || (rc = store_begin(c->store, err)) < 0)
		return rc;
	if ((rc = store_captures_move(c->store, f->nowhere.v, f->nowhere.n, err)) < 0 ||
	    (rc = store_commit(c->store, err)) < 0)
		store_rollback(c->store);
	f->nowhere.n = 0;
	return rc;
}

/* Its content is nowhere from now on; where it was is written down. */
static int set_aside(struct files *f, const struct check_capture *k, struct err *err)
{
	struct text name = name_of(f->c, k->file);
	struct buf line;
	struct json j;
	int rc;

	buf_init(&line, BUF_NO_LIMIT);
	json_to_buf(&j, &line);
	json_object(&j);
	json_kstr(&j, "table", "captures");
	json_kint(&j, "id", (int64_t)k->id);
	json_kint(&j, "page", k->page);
	json_key(&j, "file");
	json_strn(&j, name.s, name.size);
	json_kint(&j, "offset", k->offset);
	if (k->size != UINT32_MAX)
		json_kint(&j, "size", k->size);
	json_end_object(&j);
	rc = check_aside(f->c, buf_text(&line), err);
	buf_release(&line);
	vec_push(&f->nowhere, ((struct store_moved){ .capture = k->id, .offset = -1, .size = -1 }));
	return rc == 0 && f->nowhere.n >= CHECK_WINDOW ? put_nowhere(f, err) : rc;
}

static int lost(struct files *f, const struct check_capture *k, const char *why,
                struct err *err)
{
	struct check *c = f->c;
	int rc = says_so(c, k, err);

	if (rc <= 0)
		return rc;
	c->n_lost++;
	c->n_outside += f->outside;
	rc = c->repair ? set_aside(f, k, err) : 0;
	if (rc == 0)
		check_found(c, CHECK_RECORD, c->repair ? CHECK_MENDED : CHECK_WRONG, "%s: record at "
		            "%lld, capture %llu of page %u: %s%s", f->shown, (long long)k->offset,
		            (unsigned long long)k->id, k->page, why,
		            c->repair ? "; its row says now that it is lost" : "");
	return rc;
}

/* ---- files of ours ---- */

static void keep_why(void *arg, const char *text)
{
	struct files *f = arg;

	snprintf(f->why, sizeof f->why, "%s", text);
}

/* What the reader said, without the name of the file and the offset. */
static const char *reason(const struct files *f)
{
	const char *at = strstr(f->why, ": record at "), *colon = at ? strchr(at + 12, ':') : NULL;

	return colon ? colon + 2 : *f->why ? f->why : "damaged";
}

/* The captures of the record that was just read: whole says whether it is. */
static int judge(struct files *f, struct warc_reader *r, const struct warc_content *body,
                 bool whole, size_t *at, struct err *err)
{
	int rc = 0;

	for (; *at < f->n && f->v[*at].offset == (int64_t)r->record.offset && rc == 0; (*at)++) {
		const struct check_capture *k = &f->v[*at];
		const struct check_row *row = NULL;

		if (!whole) {
			rc = lost(f, k, reason(f), err);
			continue;
		}
		rc = check_rows_get(&f->rows, *at, &row, err);
		if (rc < 0 || !row || !row->there)
			continue;
		if (row->url.s && !content_is_of(r, body, &row->capture, row->url))
			rc = lost(f, k, "is not the record of that capture: another URL, time or digest",
			          err);
		else if (k->size != UINT32_MAX && k->size != r->record.file_size)
			rc = lost(f, k, "has another length than its row says", err);
		else
			f->c->n_read++;
	}
	return rc;
}

static bool is_answer(const struct warc_record *rec)
{
	return rec->type == WARC_RESPONSE || rec->type == WARC_REVISIT ||
	       rec->type == WARC_RESOURCE;
}

/* The captures that lie before this offset lie where no record begins. */
static int judge_before(struct files *f, uint64_t offset, const char *why, size_t *at,
                        struct err *err)
{
	int rc = 0;

	for (; *at < f->n && (uint64_t)f->v[*at].offset < offset && rc == 0; (*at)++)
		rc = lost(f, &f->v[*at], why, err);
	return rc;
}

/* Damage that no copy suffers from. */
static void harmless(struct files *f)
{
	const char *at = strstr(f->why, "record at ");

	if (++f->n_bad <= FEW)
		check_found(f->c, CHECK_RECORD, CHECK_NOTE, "%s: %s; no copy lies there", f->shown,
		            at ? at : reason(f));
}

static int walk(struct files *f, const char *path, struct err *err)
{
	struct warc_reader r = { 0 };
	struct warc_content body;
	struct check *c = f->c;
	size_t at = 0;
	int rc = warc_open(&r, path, err);

	if (rc < 0)
		return rc;
	f->why[0] = '\0';
	warc_content_init(&body, 0);
	r.report = keep_why;
	r.report_arg = f;
	while (rc >= 0 && (rc = warc_next(&r, err)) > 0) {
		size_t was = at;
		bool used;

		rc = judge_before(f, r.record.offset, *f->why ? reason(f) :
		                  "no record begins there", &at, err);
		if (*f->why && at == was)
			harmless(f);
		f->why[0] = '\0';
		used = at < f->n && f->v[at].offset == (int64_t)r.record.offset;
		if (rc == 0)
			rc = warc_load(&r, &body, err);
		if (rc < 0)
			break;
		c->n_records++;
		c->n_unused += !used && rc > 0 && is_answer(&r.record) &&
		               !fields_find(&r.record.fields, WARC_FIELD_HOP_OF);
		if (rc == 0 && !used)
			harmless(f);
		rc = judge(f, &r, &body, rc > 0, &at, err);
		f->why[0] = '\0';
		progress_bytes(&c->progress, f->bytes_before + input_raw_position(r.in), f->bytes);
	}
	if (rc == 0 && *f->why && at == f->n)
		harmless(f);
	if (rc == 0)
		rc = judge_before(f, UINT64_MAX, *f->why ? reason(f) : "behind the end of the file",
		                  &at, err);
	warc_content_release(&body);
	warc_close(&r);
	return rc;
}

/* ---- archives from elsewhere ---- */

static int read_each(struct files *f, struct err *err)
{
	struct content content;
	int rc = 0;

	content_init(&content, f->c->folder, 0);
	for (size_t i = 0; i < f->n && rc == 0; i++) {
		const struct check_row *row = NULL;
		struct err why = { 0 };

		rc = check_rows_get(&f->rows, i, &row, err);
		if (rc < 0 || !row || !row->there)
			continue;
		rc = row->url.s ? content_load(&content, &row->capture, row->url, &why) : 0;
		if (rc == 0)
			f->c->n_read++;
		else
			rc = lost(f, &f->v[i], why.text, err);
	}
	content_release(&content);
	return rc;
}

/* ---- all files ---- */

/* Is there a folder for the file, though it is not in it? */
static bool has_folder(const char *path)
{
	char folder[4096];
	struct stat st;

	snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
	return stat(folder, &st) == 0;
}

/* The file cannot be opened.  What may be readable again tomorrow is not repaired. */
static int missing(struct files *f, uint32_t file, const char *path, int why, struct err *err)
{
	struct check *c = f->c;
	bool away = *strtab_get(&c->names, file);       /* a worker has it, on its machine: */
	bool repair = c->repair && (why == ENOENT || why == ENOTDIR);
	uint64_t n = 0;
	int rc = 0;

	c->n_elsewhere += away ? f->n : 0;
	if (away && !has_folder(path))
		return 0;
	for (size_t i = 0; i < f->n && rc >= 0; i++) {
		rc = says_so(c, &f->v[i], err);
		n += rc > 0;
		if (rc > 0 && repair && !away)
			rc = set_aside(f, &f->v[i], err);
	}
	c->n_lost += away ? 0 : n;
	c->n_outside += f->outside && !away && n;
	if (rc >= 0 && n && away)                       /* this one, or one of its name */
		check_found(c, CHECK_MISSING, CHECK_NOTE, "%s: %s, and the worker has a folder here; copies "
		            "in it: %llu; put it back, unless another machine or folder has it", path,
		            strerror(why), (unsigned long long)n);
	else if (rc >= 0 && n)
		check_found(c, CHECK_MISSING, repair ? CHECK_MENDED : CHECK_WRONG, "%s: %s; %llu "
		            "cop%s in it%s", path, strerror(why), (unsigned long long)n,
		            n == 1 ? "y lay" : "ies lay",
		            repair ? ", whose rows say now that they are lost" :
		            why == EACCES ? "; see who may read it" :
		            "; put the file back if you have it");
	return rc < 0 ? rc : 0;
}

static int check_file(struct files *f, uint32_t file, struct err *err)
{
	struct check *c = f->c;
	const char *key = strtab_get(&c->names, file);
	struct text name = name_of(c, file), worker = { *key ? key : NULL, strlen(key) };
	struct buf path;
	struct stat st;
	int rc, fd;

	buf_init(&path, ARCHIVE_NAME_MAX);
	archive_name_path(c->folder, name.s, &path);
	f->shown = name.s;
	f->outside = *name.s == '/';
	f->n_bad = 0;
	fd = open(buf_text(&path), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		rc = missing(f, file, buf_text(&path), errno, err);
	} else if (rewrite_is_own(worker, name, NULL) && S_ISREG(st.st_mode) && st.st_size) {
		c->n_files++;
		c->n_bytes += (uint64_t)st.st_size;
		rc = walk(f, buf_text(&path), err);
		f->bytes_before += (uint64_t)st.st_size;
		if (rc == 0 && f->n_bad > FEW)
			check_found(c, CHECK_RECORD, CHECK_NOTE, "%s: %llu more damaged records that no "
			            "copy lies in", f->shown, (unsigned long long)f->n_bad - FEW);
	} else {
		rc = read_each(f, err);
	}
	if (fd >= 0)
		close(fd);
	buf_release(&path);
	return rc < 0 || !c->repair ? rc : put_nowhere(f, err);
}

/* Bytes of all files that will be read through. */
static uint64_t count_bytes(const struct check *c)
{
	uint64_t sum = 0;
	struct buf path;
	struct stat st;

	buf_init(&path, ARCHIVE_NAME_MAX);
	for (uint32_t i = 0; i < c->names.n; i++) {
		struct text name = name_of(c, i), own = { 0 };

		buf_clear(&path);
		archive_name_path(c->folder, name.s, &path);
		if (rewrite_is_own(own, name, NULL) && stat(buf_text(&path), &st) == 0)
			sum += (uint64_t)st.st_size;
	}
	buf_release(&path);
	return sum;
}

int check_files(struct check *c, struct err *err)
{
	struct files f = { .c = c, .rows.store = c->store };
	int rc = 0;

	if (c->captures.n)
		qsort(c->captures.v, c->captures.n, sizeof *c->captures.v, by_place);
	f.bytes = count_bytes(c);
	progress_start(&c->progress, "archives", "MiB", f.bytes >> 20);
	for (size_t i = 0, end; i < c->captures.n && rc == 0; i = end) {
		uint32_t file = c->captures.v[i].file;

		if (file == MAP_NONE)
			break;                  /* they are last */
		for (end = i; end < c->captures.n && c->captures.v[end].file == file; )
			end++;
		f.v = &c->captures.v[i];
		f.n = end - i;
		check_rows_begin(&f.rows, f.v, f.n);
		c->n_copies += f.n;
		rc = check_file(&f, file, err);
	}
	check_rows_release(&f.rows);
	vec_release(&f.nowhere);
	return rc;
}
