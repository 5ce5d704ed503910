/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_write.c - packed records into files; see warc_write.h.
 *
 * The records are made by warc_pack.c, the files by warc_file.c; here each file
 * gets its warcinfo, and each record its position.
 */
#include "warc/warc_write.h"

#include <string.h>

#include "base/mem.h"
#include "warc/warc_file.h"

static bool is_name(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                     "0123456789._-");

	return n > 0 && n <= 64 && s[n] == '\0' && s[0] != '.';
}

static const char *copy(const char *s)
{
	return s ? mem_strdup(s) : NULL;
}

int warc_writer_open(struct warc_writer **ret, const struct warc_writer_options *o,
                     struct err *err)
{
	const char *values[] = { o->software, o->operator, o->robots, o->user_agent,
	                         o->description };
	struct warc_writer *w;
	int rc;

	if (!is_name(o->prefix) || !is_name(o->host))
		return err_set(err, E_USAGE, "names of archive files are of letters, digits, "
		               "'.', '_' and '-': '%s', '%s'", o->prefix, o->host);
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		rc = warc_check_value("description of the archive", values[i], false, err);
		if (rc < 0)
			return rc;
	}
	w = mem_zalloc(1, sizeof *w);
	w->options = (struct warc_writer_options){
		.folder = copy(o->folder), .prefix = copy(o->prefix), .host = copy(o->host),
		.software = copy(o->software), .operator = copy(o->operator),
		.robots = copy(o->robots), .user_agent = copy(o->user_agent),
		.description = copy(o->description), .seed = o->seed,
		.file_max = o->file_max ? o->file_max : WARC_FILE_MAX,
		.packing = o->packing,
	};
	rc = warc_file_init(w, err);
	if (rc < 0) {
		warc_writer_abandon(w);
		return rc;
	}
	*ret = w;
	return 0;
}

void warc_writer_abandon(struct warc_writer *w)
{
	if (!w)
		return;
	const char *strings[] = {
		w->options.folder, w->options.prefix, w->options.host, w->options.software,
		w->options.operator, w->options.robots, w->options.user_agent,
		w->options.description,
	};
	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
		free((char *)(uintptr_t)strings[i]);
	warc_file_release(w);
	free(w);
}

static void put(struct buf *b, const char *name, const char *value)
{
	if (value)
		buf_printf(b, "%s: %s\r\n", name, value);
}

int warc_pack_info(struct warc_packer *p, const struct warc_writer_options *o,
                   const char *name, int64_t time, struct warc_ids ids,
                   struct warc_packed *ret, struct err *err)
{
	struct warc_out info = { .type = "warcinfo", .time = time, .filename = name,
	                         .content_type = "application/warc-fields" };
	struct buf text;
	int rc;

	buf_init(&text, BUF_NO_LIMIT);
	put(&text, "software", o->software);
	put(&text, "format", "WARC File Format 1.1");
	put(&text, "conformsTo", "http://iipc.github.io/warc-specifications/specifications/"
	    "warc-format/warc-1.1/");
	put(&text, "operator", o->operator);
	put(&text, "robots", o->robots);
	put(&text, "http-header-user-agent", o->user_agent);
	put(&text, "description", o->description);
	info.block = text.data;
	info.block_size = text.size;
	rc = warc_pack_record(p, &info, ids, ret, err);
	buf_release(&text);
	return rc;
}

static int write_info(struct warc_writer *w, int64_t time, struct err *err)
{
	struct warc_packed packed;
	int rc;

	warc_packed_init(&packed);
	rc = warc_pack_info(w->packer, &w->options, w->name, time, warc_writer_ids(w, 1), &packed,
	                    err);
	if (rc == 0)
		rc = warc_file_append(w, packed.members.data, packed.members.size, err);
	warc_packed_release(&packed);
	return rc;
}

struct warc_ids warc_writer_ids(struct warc_writer *w, size_t n_captures)
{
	struct warc_ids ids = { w->options.seed, w->n_ids };

	w->n_ids += 2 * n_captures;
	return ids;
}

int warc_write_packed(struct warc_writer *w, const struct warc_packed *p,
                      struct warc_position *ret, struct err *err)
{
	int rc = w->broken ? err_set(err, E_IO, "%s: archive could not be written before",
	                             w->options.folder) :
	         warc_file_make_room(w, p->members.size, err);

	if (rc == 0 && w->fd < 0) {
		rc = warc_file_create(w, p->time, err);
		if (rc == 0)
			rc = write_info(w, p->time, err);
	}
	if (rc < 0)
		return rc;
	memcpy(ret->filename, w->name, sizeof ret->filename);
	memcpy(ret->id, p->id, sizeof ret->id);
	ret->payload = p->payload;
	ret->offset = w->file_size + p->at;
	ret->length = p->first;
	ret->end = w->file_size + p->members.size;
	return warc_file_append(w, p->members.data, p->members.size, err);
}

int warc_write_capture(struct warc_writer *w, const struct warc_capture *c,
                       struct warc_position *ret, struct err *err)
{
	int rc = warc_pack_capture(w->packer, c, warc_writer_ids(w, 1), &w->packed, err);

	return rc < 0 ? rc : warc_write_packed(w, &w->packed, ret, err);
}

int warc_write_record(struct warc_writer *w, const struct warc_out *rec,
                      struct warc_position *ret, struct err *err)
{
	int rc = warc_pack_record(w->packer, rec, warc_writer_ids(w, 1), &w->packed, err);

	return rc < 0 ? rc : warc_write_packed(w, &w->packed, ret, err);
}
