/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - the kinds of `freshet export`.
 *
 * A kind is a function below and one line in the table of cmd_export.c.  docs/formats.md
 * says what each kind writes.
 */
#ifndef CLI_EXPORT_EXPORT_H
#define CLI_EXPORT_EXPORT_H

#include "base/io/output.h"
#include "cli/frame/command.h"
#include "cli/frame/tagged.h"
#include "cli/print/failing_print.h"
#include "repo/store.h"

struct exporting {
	struct cli *cli;
	struct store *store;            /* open for reading */
	const char *to;                 /* -o, or NULL */
	bool extended;                  /* cdxj */
	int64_t limit;                  /* atom: entries */
	int compress;                   /* warc */
	struct tagged tagged;           /* pages: which, */
	struct moved_list moved;        /* and where they moved */
	struct output *out;             /* NULL: the kind opens its output itself */
	struct json j;                  /* on out */
	int64_t since;                  /* INT64_MIN: everything */
	uint32_t from, to_cycle;        /* cycles [from, to_cycle) */
	uint64_t n_written;             /* lines or entries */
};

typedef int export_kind_run(struct exporting *e, struct err *err);
export_kind_run export_pages, export_visits, export_changed, export_atom;
export_kind_run export_index, export_archive, export_folder, export_package;

#endif
