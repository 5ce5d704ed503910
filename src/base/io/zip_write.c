/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zip_write.c - a ZIP file of stored entries, as long as they may be; see zip.h.
 *
 * An entry's size and sum are not known when it begins, so its header is written again
 * when it ends.  Both of its headers are of the ZIP64 kind, always: ReplayWeb.page takes
 * an entry without extra fields in the directory for one without any in front of it.
 */
#include "base/io/zip.h"

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/little.h"
#include "base/io/output.h"
#include "base/io/zip_inner.h"

#define VERSION 45                      /* that knows ZIP64 */
#define MADE_BY (3u << 8 | VERSION)     /* Unix */
#define FLAG_UTF8 0x800
#define MODE (0100644u << 16)           /* a file that its owner may write */
#define OUT_MAX ((size_t)1 << 20)

struct written { char *name; uint64_t at, size; uint32_t sum; };

struct zip_writer {
	char *path, *part;
	int fd;
	uint16_t date, hour;            /* as DOS has them */
	uint64_t at;                    /* bytes written, or in out */
	struct buf out;
	VEC(struct written) entries;
	bool open;                      /* the last of them */
};

int zip_writer_open(struct zip_writer **ret, const char *path, int64_t time, struct err *err)
{
	struct zip_writer *w = mem_zalloc(1, sizeof *w);
	time_t t = (time_t)time;
	struct tm tm = { 0 };

	w->path = mem_strdup(path);
	w->part = mem_alloc(strlen(path) + 6);
	sprintf(w->part, "%s.part", path);
	buf_init(&w->out, BUF_NO_LIMIT);
	if (gmtime_r(&t, &tm) && tm.tm_year >= 80 && tm.tm_year < 208) {
		w->date = (uint16_t)((tm.tm_year - 80) << 9 | (tm.tm_mon + 1) << 5 | tm.tm_mday);
		w->hour = (uint16_t)(tm.tm_hour << 11 | tm.tm_min << 5 | tm.tm_sec / 2);
	} else {
		w->date = 1 << 5 | 1;
	}
	w->fd = output_create(w->part, err);
	if (w->fd < 0) {
		int rc = w->fd;

		zip_writer_abandon(w);
		return rc;
	}
	*ret = w;
	return 0;
}

static void release(struct zip_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	for (size_t i = 0; i < w->entries.n; i++)
		free(w->entries.v[i].name);
	vec_release(&w->entries);
	buf_release(&w->out);
	free(w->path);
	free(w->part);
	free(w);
}

void zip_writer_abandon(struct zip_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		(void)unlink(w->part);
	release(w);
}

static int flush_out(struct zip_writer *w, struct err *err)
{
	size_t done = 0;

	while (done < w->out.size) {
		ssize_t n = write(w->fd, w->out.data + done, w->out.size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(err, E_IO, "%s: cannot write", w->part);
		done += (size_t)n;
	}
	buf_clear(&w->out);
	return 0;
}

/* What both headers of an entry have: its sizes are in the extra field. */
static void put_common(const struct zip_writer *w, const struct written *e, struct buf *b)
{
	little_add(b, VERSION, 2);
	little_add(b, FLAG_UTF8, 2);
	little_add(b, ZIP_STORED, 2);
	little_add(b, w->hour, 2);
	little_add(b, w->date, 2);
	little_add(b, e->sum, 4);
	little_add(b, 0xffffffff, 4);
	little_add(b, 0xffffffff, 4);
	little_add(b, (uint32_t)strlen(e->name), 2);
}

static void put_local(const struct zip_writer *w, const struct written *e, struct buf *b)
{
	little_add(b, ZIP_LOCAL, 4);
	put_common(w, e, b);
	little_add(b, 20, 2);
	buf_str(b, e->name);
	little_add(b, ZIP_EXTRA64, 2);
	little_add(b, 16, 2);
	little_add(b, e->size, 8);
	little_add(b, e->size, 8);
}

static void put_head(const struct zip_writer *w, const struct written *e, struct buf *b)
{
	little_add(b, ZIP_HEAD, 4);
	little_add(b, MADE_BY, 2);
	put_common(w, e, b);
	little_add(b, 28, 2);
	little_add(b, 0, 2);
	little_add(b, 0, 2);
	little_add(b, 0, 2);
	little_add(b, MODE, 4);
	little_add(b, 0xffffffff, 4);
	buf_str(b, e->name);
	little_add(b, ZIP_EXTRA64, 2);
	little_add(b, 24, 2);
	little_add(b, e->size, 8);
	little_add(b, e->size, 8);
	little_add(b, e->at, 8);
}

int zip_writer_begin(struct zip_writer *w, const char *name, struct err *err)
{
	struct written e = { .at = w->at };
	size_t before = w->out.size;

	if (w->open || !*name || strlen(name) > ZIP_NAME_MAX)
		return err_set(err, E_USAGE, "%s: '%.200s' cannot be an entry", w->path, name);
	e.name = mem_strdup(name);
	vec_push(&w->entries, e);
	put_local(w, &e, &w->out);
	w->at += w->out.size - before;
	w->open = true;
	return 0;
}

int zip_writer_add(struct zip_writer *w, const void *data, size_t size, struct err *err)
{
	struct written *e = &w->entries.v[w->entries.n - 1];

	e->sum = libdeflate_crc32(e->sum, data, size);
	e->size += size;
	buf_add(&w->out, data, size);
	w->at += size;
	return w->out.size < OUT_MAX ? 0 : flush_out(w, err);
}

/* The header of the last entry is written again, now that all is known. */
int zip_writer_end(struct zip_writer *w, struct err *err)
{
	const struct written *e = &w->entries.v[w->entries.n - 1];
	int rc = flush_out(w, err);
	struct buf head;
	size_t done = 0;

	buf_init(&head, BUF_NO_LIMIT);
	put_local(w, e, &head);
	while (rc == 0 && done < head.size) {
		ssize_t n = pwrite(w->fd, head.data + done, head.size - done, (off_t)(e->at + done));

		if (n <= 0)
			rc = err_errno(err, E_IO, "%s: cannot write", w->part);
		else
			done += (size_t)n;
	}
	buf_release(&head);
	w->open = false;
	return rc;
}

static void put_end(struct zip_writer *w, uint64_t at, uint64_t size)
{
	uint64_t n = w->entries.n;
	bool large = n >= 0xffff || at >= 0xffffffff || size >= 0xffffffff;

	if (large) {
		little_add(&w->out, ZIP_END64, 4);
		little_add(&w->out, 44, 8);
		little_add(&w->out, MADE_BY, 2);
		little_add(&w->out, VERSION, 2);
		little_add(&w->out, 0, 4);
		little_add(&w->out, 0, 4);
		little_add(&w->out, n, 8);
		little_add(&w->out, n, 8);
		little_add(&w->out, size, 8);
		little_add(&w->out, at, 8);
		little_add(&w->out, ZIP_LOCATOR, 4);
		little_add(&w->out, 0, 4);
		little_add(&w->out, at + size, 8);
		little_add(&w->out, 1, 4);
	}
	little_add(&w->out, ZIP_END, 4);
	little_add(&w->out, 0, 4);
	little_add(&w->out, large ? 0xffff : (uint32_t)n, 2);
	little_add(&w->out, large ? 0xffff : (uint32_t)n, 2);
	little_add(&w->out, large ? 0xffffffff : (uint32_t)size, 4);
	little_add(&w->out, large ? 0xffffffff : (uint32_t)at, 4);
	little_add(&w->out, 0, 2);
}

int zip_writer_close(struct zip_writer *w, struct err *err)
{
	uint64_t from = w->at, size;
	int rc;

	for (size_t i = 0; i < w->entries.n; i++)
		put_head(w, &w->entries.v[i], &w->out);
	size = w->out.size;             /* zip_writer_end() left nothing there */
	put_end(w, from, size);
	rc = flush_out(w, err);
	if (rc == 0 && (fsync(w->fd) || rename(w->part, w->path)))
		rc = err_errno(err, E_IO, "%s: cannot write", w->path);
	if (rc < 0)
		zip_writer_abandon(w);
	else
		release(w);
	return rc;
}
