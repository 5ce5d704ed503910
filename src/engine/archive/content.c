/* SPDX-License-Identifier: Apache-2.0 */
/* content.c - records read back from archive files; see content.h. */
#include "engine/archive/content.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/input.h"
#include "engine/archive/archive_name.h"
#include "web/url/url.h"

#define NEAR_MAX 262144         /* bytes of the file that are read rather than jumped over */

void content_init(struct content *c, const char *folder, size_t body_max)
{
	*c = (struct content){ .folder = folder };
	warc_content_init(&c->body, body_max);
	buf_init(&c->path, ARCHIVE_NAME_MAX);
}

static void close_record(struct content *c)
{
	if (c->open)
		warc_close(&c->warc);
	c->open = c->whole = false;
}

static void close_file(struct content *c)
{
	close_record(c);
	if (c->map)
		munmap(c->map, c->size);
	c->map = NULL;
	buf_clear(&c->path);
}

void content_release(struct content *c)
{
	close_file(c);
	warc_content_release(&c->body);
	buf_release(&c->path);
}

static int map_file(struct content *c, const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	void *map = MAP_FAILED;

	if (fd < 0)
		return err_errno(err, E_IO, "%s", path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return err_set(err, E_IO, "%s: empty, no file, or cannot be mapped", path);
	c->map = map;
	c->size = (size_t)st.st_size;
	buf_str(&c->path, path);
	return 0;
}

/* Map the file of that name, unless it is mapped. */
static int open_file(struct content *c, struct text name, struct err *err)
{
	struct buf path, text;
	int rc = 0;

	buf_init(&path, ARCHIVE_NAME_MAX);
	buf_init(&text, ARCHIVE_NAME_MAX);
	buf_add(&text, name.s, name.size);
	archive_name_path(c->folder, buf_text(&text), &path);
	if (!c->map || strcmp(buf_text(&path), buf_text(&c->path))) {
		close_file(c);
		rc = map_file(c, buf_text(&path), err);
	}
	buf_release(&path);
	buf_release(&text);
	return rc;
}

/* Is the record one of the next that the reader comes to?  Whoever reads captures in their
 * order needs no new reader then, which in a cell costs several turns.  If anything but that
 * very record comes, a new reader looks for it, and says what is wrong. */
static bool go_on_to_record(struct content *c)
{
	struct err err;
	bool found = false;

	while (c->whole && !found && c->warc.record.offset < c->at &&
	       c->at - c->warc.record.offset <= NEAR_MAX) {
		c->whole = warc_next(&c->warc, &err) > 0 && !c->warc.record.resynced &&
		           !c->warc.n_damaged;
		found = c->whole && c->warc.record.offset == c->at;
	}
	return found;
}

/* Position the reader at the record. */
static int open_record(struct content *c, struct err *err)
{
	struct input *in;
	int rc;

	if (c->open && go_on_to_record(c))
		return 0;
	close_record(c);
	if (c->at >= c->size)
		return err_set(err, E_PARSE, "%s: record at %llu: behind the end of the file",
		               buf_text(&c->path), (unsigned long long)c->at);
	rc = input_open_memory_at(&in, c->map, c->size, c->at, buf_text(&c->path), err);
	if (rc < 0)
		return rc;
	c->warc = (struct warc_reader){ 0 };
	warc_open_input(&c->warc, in);
	c->open = true;
	rc = warc_next(&c->warc, err);
	if (rc > 0 && c->warc.record.offset == c->at && !c->warc.record.resynced)
		return 0;
	return rc < 0 ? rc : err_set(err, E_PARSE, "%s: record at %llu: no record begins there",
	                             buf_text(&c->path), (unsigned long long)c->at);
}

bool content_is_of(const struct warc_reader *r, const struct warc_content *body,
                   const struct store_capture *capture, struct text url)
{
	const struct field *uri = r->record.target_uri;
	struct warc_digest told;
	struct buf canonical;
	bool right;

	if (!uri || r->record.time != capture->time)
		return false;
	buf_init(&canonical, URL_SIZE_MAX);
	if (capture->target.s)          /* redirects led there */
		url = capture->target;
	right = url_canonical(uri->value, uri->value_size, &canonical, NULL) == 0 &&
	        canonical.size == url.size && !memcmp(canonical.data, url.s, url.size);
	buf_release(&canonical);
	/* the digest of a revisit is the original's */
	if (right && r->record.type != WARC_REVISIT && capture->digest.s &&
	    warc_digest_parse(capture->digest.s, capture->digest.size, &told) &&
	    told.hash == WARC_SHA1)
		right = warc_digest_equal(&told, &body->digest) ||
		        body->payload_check == WARC_CHECK_RAW;
	return right;
}

int content_load(struct content *c, const struct store_capture *capture, struct text url,
                 struct err *err)
{
	int rc;

	if (!capture->file.s || capture->offset < 0)
		return err_set(err, E_USAGE, "%.*s: its content was not kept", (int)url.size, url.s);
	rc = open_file(c, capture->file, err);
	if (rc == E_IO && capture->worker.s)
		err_prefix(err, "the file is with the worker %.*s", (int)capture->worker.size,
		           capture->worker.s);
	if (rc < 0)
		return rc;
	c->at = (uint64_t)capture->offset;
	rc = open_record(c, err);
	if (rc == 0)
		rc = warc_load(&c->warc, &c->body, err);
	if (rc == 0)
		rc = err_set(err, E_PARSE, "%s: record at %llu: damaged", buf_text(&c->path),
		             (unsigned long long)c->at);
	if (rc > 0 && !content_is_of(&c->warc, &c->body, capture, url))
		rc = err_set(err, E_PARSE, "%s: record at %llu: not the capture of %.*s that lay "
		             "there", buf_text(&c->path), (unsigned long long)c->at,
		             (int)(url.size < 200 ? url.size : 200), url.s);
	c->whole = rc > 0;
	return rc < 0 ? rc : 0;
}

int content_block(struct content *c, struct buf *out, struct err *err)
{
	bool damaged = false;
	const char *data;
	size_t size;
	int rc = open_record(c, err);

	buf_clear(out);
	c->whole = false;
	while (rc == 0 && (rc = warc_peek_block(&c->warc, 1, &data, &size, &damaged, err)) > 0) {
		buf_add(out, data, size);
		warc_skip_block(&c->warc, size);
		rc = 0;
		if (out->full)
			rc = err_set(err, E_LIMIT, "%s: record at %llu: larger than %zu bytes",
			             buf_text(&c->path), (unsigned long long)c->at, out->max);
	}
	if (rc == 0 && damaged)
		rc = err_set(err, E_PARSE, "%s: record at %llu: damaged", buf_text(&c->path),
		             (unsigned long long)c->at);
	return rc;
}
