/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_records.h - all captures with content, packed as WARC records one after the other;
 * shared by `export warc` and `export wacz`.
 */
#ifndef ENGINE_ARCHIVE_EXPORT_RECORDS_H
#define ENGINE_ARCHIVE_EXPORT_RECORDS_H

#include "engine/export/export.h"
#include "warc/warc_write.h"

/* Where records go. */
struct export_sink {
	struct warc_ids (*ids)(void *arg);      /* for the next record */
	/* url: as the record has it.  E_PARSE, E_LIMIT and E_USAGE lose this capture; other errors
	 * end the export. */
	int (*put)(void *arg, const struct warc_packed *p, const char *url,
	           const struct store_capture *c, struct err *err);
	void *arg;
};

/* Counts in *e what came of each capture. */
MUST_CHECK int export_records(struct export *e, struct warc_packing packing,
                              const struct export_sink *sink, struct err *err);

#endif
