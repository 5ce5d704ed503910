/* SPDX-License-Identifier: Apache-2.0 */
/* export_warc.c - records into WARC files of a folder; see export.h. */
#include <errno.h>
#include <sys/stat.h>

#include "engine/archive/dictionary.h"
#include "engine/export/export_records.h"

static struct warc_ids take_ids(void *arg)
{
	return warc_writer_ids(arg, 1);
}

static int put_record(void *arg, const struct warc_packed *p, const char *url,
                      const struct store_capture *c, struct err *err)
{
	struct warc_position placed;

	(void)url;
	(void)c;
	return warc_write_packed(arg, p, &placed, err);
}

int export_warc(struct export *e, const char *to, uint64_t seed, struct err *err)
{
	struct warc_writer_options options = { .folder = to, .prefix = "freshet", .host = "export",
	                                       .software = "freshet", .seed = seed,
	                                       .packing = { .compress = e->compress } };
	struct warc_dictionary *dictionary = NULL;
	struct export_sink sink = { .ids = take_ids, .put = put_record };
	struct warc_writer *writer = NULL;
	struct buf archives;
	struct err later;
	int rc = 0, closed;

	if (mkdir(to, 0777) && errno != EEXIST)
		return err_errno(err, E_IO, "%s", to);
	buf_init(&archives, BUF_NO_LIMIT);
	buf_printf(&archives, "%s/warc", e->folder);
	if (e->compress == WARC_ZSTD)
		rc = dictionary_open(&dictionary, e->store, buf_text(&archives), false, err);
	options.packing.dictionary = dictionary;
	if (rc == 0)
		rc = warc_writer_open(&writer, &options, err);
	sink.arg = writer;
	if (rc == 0)
		rc = export_records(e, options.packing, &sink, err);
	closed = warc_writer_close(writer, rc < 0 ? &later : err);
	warc_dictionary_free(dictionary);
	buf_release(&archives);
	return rc < 0 ? rc : closed;
}
