/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c - files written under another name first; see output.h.
 *
 * Compression sits behind stdio (fopencookie), so that everything that prints to
 * a FILE can print to a compressed one.
 */
#include "base/io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"

#define PART_END ".part"        /* ends the name of an unfinished file */
#define PIECE 65536
#define GZIP_LEVEL 6
#define ZSTD_LEVEL 3

enum packing { PLAIN, GZIP, ZSTANDARD };

struct output {
	FILE *file;             /* callers print to this */
	FILE *raw;              /* the file itself */
	char *path;             /* NULL: standard output */
	char *part;             /* NULL: path is written directly */
	enum packing packing;
	z_stream z;
	ZSTD_CCtx *zstd;
	int error;              /* errno of the first failure */
	char piece[PIECE];
};

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n > k && !strcmp(s + n - k, end);
}

static void write_raw(struct output *o, size_t size)
{
	if (!o->error && fwrite(o->piece, 1, size, o->raw) != size)
		o->error = errno ? errno : EIO;
}

static void pack_gzip(struct output *o, const char *data, size_t size, int flush)
{
	const size_t most = UINT_MAX;           /* bytes that zlib takes at a time */

	do {
		size_t now = size < most ? size : most;

		o->z.next_in = (Bytef *)(uintptr_t)data;
		o->z.avail_in = (uInt)now;
		do {
			o->z.next_out = (Bytef *)o->piece;
			o->z.avail_out = PIECE;
			deflate(&o->z, flush);
			write_raw(o, PIECE - o->z.avail_out);
		} while (o->z.avail_out == 0);
		data += now;
		size -= now;
	} while (size);
}

static void pack_zstd(struct output *o, const char *data, size_t size, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { data, size, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { o->piece, PIECE, 0 };

		left = ZSTD_compressStream2(o->zstd, &out, &in, end);
		if (ZSTD_isError(left)) {
			o->error = o->error ? o->error : EIO;
			return;
		}
		write_raw(o, out.pos);
	} while (end == ZSTD_e_end ? left > 0 : in.pos < in.size);
}

static ssize_t write_packed(void *cookie, const char *data, size_t size)
{
	struct output *o = cookie;

	/* take all of it: after a partial write stdio would drop the rest */
	if (o->packing == GZIP)
		pack_gzip(o, data, size, Z_NO_FLUSH);
	else
		pack_zstd(o, data, size, ZSTD_e_continue);
	if (o->error) {
		errno = o->error;
		return 0;
	}
	return (ssize_t)size;
}

static int begin_packing(struct output *o, struct err *err)
{
	cookie_io_functions_t io = { .write = write_packed };

	if (o->packing == GZIP && deflateInit2(&o->z, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8,
	                                       Z_DEFAULT_STRATEGY) != Z_OK)
		err_no_memory();
	if (o->packing == ZSTANDARD) {
		o->zstd = ZSTD_createCCtx();
		if (!o->zstd)
			err_no_memory();
		ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
		ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_checksumFlag, 1);
	}
	o->file = fopencookie(o, "w", io);
	if (!o->file)
		return err_errno(err, E_IO, "%s", o->path);
	setvbuf(o->file, NULL, _IOFBF, PIECE);
	return 0;
}

/* A pipe, a device, or a file that is open already (/dev/fd/N): it must be written
 * directly, not replaced by a new file. */
static bool is_special(const char *path)
{
	struct stat st;

	return (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) ||
	       !strncmp(path, "/dev/fd/", 8) || !strncmp(path, "/proc/", 6) ||
	       !strcmp(path, "/dev/stderr");
}

int output_create(const char *name, struct err *err)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = open(name, flags, 0666);
	struct stat st;

	/* a killed program may have left a .part file: replace it, and nothing else */
	if (fd < 0 && errno == EEXIST) {
		if (lstat(name, &st) == 0 && !S_ISREG(st.st_mode))
			return err_set(err, E_IO, "%s: is in the way and no file of ours; remove it",
			               name);
		if (unlink(name) == 0)
			fd = open(name, flags, 0666);
	}
	if (fd < 0) {                   /* name the final file in the message */
		size_t size = strlen(name), end = strlen(PART_END);
		bool part = size > end && !strcmp(name + size - end, PART_END);

		return err_errno(err, E_IO, "%.*s: cannot be written",
		                 (int)(part ? size - end : size), name);
	}
	return fd;
}

static int open_raw(struct output *o, struct err *err)
{
	int fd;

	if (!o->part) {
		o->raw = fopen(o->path, "we");
	} else {
		fd = output_create(o->part, err);
		if (fd < 0)
			return fd;
		o->raw = fdopen(fd, "w");
	}
	return o->raw ? 0 : err_errno(err, E_IO, "%s: cannot be written", o->path);
}

static int open_as(struct output **ret, const char *path, enum packing packing,
                   struct err *err)
{
	struct output *o = mem_zalloc(1, sizeof *o);
	struct stat st;
	size_t size;
	int rc = 0;

	if (!path || !strcmp(path, "-") || !strcmp(path, "/dev/stdout")) {
		o->file = o->raw = output_standard();
		*ret = o;
		return 0;
	}
	o->path = mem_strdup(path);
	if (!is_special(path)) {
		size = strlen(path) + sizeof ".part";
		o->part = mem_alloc(size);
		snprintf(o->part, size, "%s" PART_END, path);
	}
	o->packing = packing;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		rc = err_set(err, E_IO, "%s: is a folder; name a file", path);
	else
		rc = open_raw(o, err);
	if (rc == 0 && o->packing != PLAIN)
		rc = begin_packing(o, err);
	else if (rc == 0)
		o->file = o->raw;
	if (rc < 0) {
		output_abandon(o);
		return rc;
	}
	*ret = o;
	return 0;
}

static _Thread_local FILE *diverted;    /* this thread's standard output, or NULL */

FILE *output_standard(void)
{
	return diverted ? diverted : stdout;
}

void output_divert(FILE *to)
{
	diverted = to;
}

int output_open(struct output **ret, const char *path, struct err *err)
{
	enum packing packing = !path ? PLAIN : ends_with(path, ".gz") ? GZIP :
		ends_with(path, ".zst") ? ZSTANDARD : PLAIN;

	return open_as(ret, path, packing, err);
}

int output_open_plain(struct output **ret, const char *path, struct err *err)
{
	return open_as(ret, path, PLAIN, err);
}

int output_check(const char *path, struct err *err)
{
	struct output *o;
	int rc;

	if (path && is_special(path))           /* opening a pipe has effects: only check it */
		return access(path, W_OK) ? err_errno(err, E_IO, "%s: cannot be written", path) : 0;
	rc = path ? output_open(&o, path, err) : 0;
	if (rc == 0 && path)
		output_abandon(o);
	return rc;
}

FILE *output_file(struct output *o)
{
	return o->file;
}

static void release(struct output *o)
{
	if (o->packing == GZIP && o->z.state)
		deflateEnd(&o->z);
	ZSTD_freeCCtx(o->zstd);
	free(o->path);
	free(o->part);
	free(o);
}

/* End the compressed stream. */
static void end_packing(struct output *o)
{
	if (o->file == o->raw || !o->file)
		return;
	if (ferror(o->file) && !o->error)
		o->error = EIO;
	if (fclose(o->file) && !o->error)
		o->error = errno;
	o->file = NULL;
	if (o->packing == GZIP)
		pack_gzip(o, "", 0, Z_FINISH);
	else
		pack_zstd(o, "", 0, ZSTD_e_end);
}

int output_close(struct output *o, struct err *err)
{
	const char *name = o->path ? o->path : "standard output";
	int rc = 0;

	end_packing(o);
	errno = 0;
	if (!o->error && (fflush(o->raw) || ferror(o->raw)))
		o->error = errno ? errno : EIO;
	if (!o->path) {
		errno = o->error;
		rc = o->error ? err_errno(err, E_IO, "%s", name) : 0;
		release(o);
		return rc;
	}
	if (o->part && !o->error && fdatasync(fileno(o->raw)) && errno != EINVAL)
		o->error = errno;
	if (fclose(o->raw) && !o->error)
		o->error = errno;
	if (o->part && !o->error && rename(o->part, o->path))
		o->error = errno;
	if (o->error) {
		if (o->part)
			unlink(o->part);
		errno = o->error;
		rc = err_errno(err, E_IO, "%s", name);
	}
	release(o);
	return rc;
}

void output_abandon(struct output *o)
{
	if (!o)
		return;
	if (o->path) {
		end_packing(o);
		if (o->raw) {
			fclose(o->raw);
			if (o->part)
				unlink(o->part);
		}
	}
	release(o);
}
