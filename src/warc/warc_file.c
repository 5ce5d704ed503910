/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_file.c - the files that records go to; see warc_file.h.
 *
 * A record is compressed to memory first, so its size is known before a file is
 * chosen and a file never holds part of one on purpose.  If the system takes only
 * part of what is written (disk full), the file is cut back to whole records.
 */
#include "warc/warc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/when.h"

#define OUT_MAX ((size_t)1 << 17)       /* collected before write(): it stays near the processor */
#define SERIAL_MAX 100000000u

int warc_file_init(struct warc_writer *w, struct err *err)
{
	w->fd = -1;
	buf_init(&w->out, BUF_NO_LIMIT);
	warc_packed_init(&w->packed);
	w->packer = warc_packer_new(w->options.packing);
	w->folder_fd = open(w->options.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->folder_fd < 0)
		return err_errno(err, E_IO, "%s: cannot open folder", w->options.folder);
	return 0;
}

static void open_name_of(const struct warc_writer *w, char ret[WARC_OPEN_SIZE])
{
	snprintf(ret, WARC_OPEN_SIZE, "%s" WARC_OPEN_END, w->name);
}

/* A file that was never synced is deleted: no index can refer to it. */
void warc_file_release(struct warc_writer *w)
{
	char open_name[WARC_OPEN_SIZE];

	if (w->fd >= 0) {
		close(w->fd);
		open_name_of(w, open_name);
		if (!w->synced)
			(void)unlinkat(w->folder_fd, open_name, 0);
	}
	if (w->folder_fd >= 0)
		close(w->folder_fd);
	buf_release(&w->out);
	warc_packed_release(&w->packed);
	warc_packer_free(w->packer);
}

static int flush_out(struct warc_writer *w, struct err *err)
{
	size_t done = 0;

	while (done < w->out.size) {
		ssize_t n = write(w->fd, w->out.data + done, w->out.size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			err_errno(err, E_IO, "%s/%s.open: cannot write", w->options.folder, w->name);
			/* remove an incomplete record: the file must stay readable */
			if (ftruncate(w->fd, (off_t)w->written) == 0)
				(void)lseek(w->fd, (off_t)w->written, SEEK_SET);
			w->file_size = w->written;
			w->broken = true;
			buf_clear(&w->out);
			return E_IO;
		}
		done += (size_t)n;
	}
	w->written += done;
	buf_clear(&w->out);
	return 0;
}

int warc_writer_sync(struct warc_writer *w, struct err *err)
{
	int rc;

	if (w->fd < 0)
		return 0;
	rc = flush_out(w, err);
	if (rc == 0 && fdatasync(w->fd))
		return err_errno(err, E_IO, "%s/%s.open: cannot write", w->options.folder,
		                 w->name);
	w->synced = w->synced || (rc == 0 && w->written);
	return rc;
}

/* The file is whole: give it its name. */
static int complete(struct warc_writer *w, struct err *err)
{
	char open_name[WARC_OPEN_SIZE];
	int rc = warc_writer_sync(w, err);

	if (rc < 0 || w->fd < 0)
		return rc;
	open_name_of(w, open_name);
	if (w->written == 0) {                  /* nothing was written */
		close(w->fd);
		w->fd = -1;
		(void)unlinkat(w->folder_fd, open_name, 0);
		return 0;
	}
	if (close(w->fd) || renameat(w->folder_fd, open_name, w->folder_fd, w->name) ||
	    fsync(w->folder_fd))
		rc = err_errno(err, E_IO, "%s/%s: cannot complete", w->options.folder, w->name);
	w->fd = -1;
	return rc;
}

int warc_file_make_room(struct warc_writer *w, uint64_t size, struct err *err)
{
	if (w->fd >= 0 && w->file_size + size > w->options.file_max)
		return complete(w, err);
	return 0;
}

int warc_file_create(struct warc_writer *w, int64_t time, struct err *err)
{
	const struct warc_writer_options *o = &w->options;
	char digits[15], open_name[WARC_OPEN_SIZE];

	when_digits(time, digits);
	for (; w->serial < SERIAL_MAX; w->serial++) {
		snprintf(w->name, sizeof w->name, "%s-%s-%05u-%s%s", o->prefix, digits,
		         w->serial, o->host, warc_compress_end(o->packing.compress));
		open_name_of(w, open_name);
		if (faccessat(w->folder_fd, w->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			continue;               /* never overwrite an older file */
		w->fd = openat(w->folder_fd, open_name,
		               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (w->fd >= 0 || errno != EEXIST)
			break;
	}
	if (w->fd < 0)
		return err_errno(err, E_IO, "%s/%s: cannot create", o->folder, open_name);
	w->serial++;
	w->file_size = w->written = 0;
	w->synced = false;
	/* the name must be on the disk, too, before the store refers to it */
	if (fsync(w->folder_fd))
		return err_errno(err, E_IO, "%s: cannot write", o->folder);
	if (o->packing.compress == WARC_ZSTD && o->packing.dictionary) {
		warc_dictionary_frame(o->packing.dictionary, &w->out);
		w->file_size = w->out.size;
	}
	return 0;
}

int warc_file_append(struct warc_writer *w, const void *data, size_t size,
                     struct err *err)
{
	buf_add(&w->out, data, size);
	w->file_size += size;
	return w->out.size < OUT_MAX ? 0 : flush_out(w, err);
}

int warc_writer_close(struct warc_writer *w, struct err *err)
{
	int rc = w ? complete(w, err) : 0;

	warc_writer_abandon(w);
	return rc;
}
