/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - the kinds of `freshet export`.
 *
 * A kind is a function below and one line in the table of cmd_export.c.  docs/formats.md
 * says what each kind writes.
 */
#ifndef CLI_EXPORT_EXPORT_H
#define CLI_EXPORT_EXPORT_H

#include <stdio.h>

#include "base/io/output.h"
#include "cli/frame/command.h"
#include "cli/frame/tagged.h"
#include "cli/print/failing_print.h"
#include "repo/store.h"

struct exporting;
typedef int export_kind_run(struct exporting *e, struct err *err);

struct exporting {
	struct cli *cli;
	export_kind_run *run;           /* the kind */
	struct store *store;            /* open for reading */
	const char *to;                 /* -o, or NULL */
	bool extended;                  /* cdxj */
	int64_t limit;                  /* atom: entries, */
	struct atom *atom;              /* and what there are so far */
	int compress;                   /* warc */
	struct tagged tagged;           /* pages: which, */
	struct moved_list moved;        /* and where they moved */
	FILE *out;                      /* NULL: the kind opens its output itself */
	struct json j;                  /* on out */
	int64_t since;                  /* INT64_MIN: everything */
	uint32_t from, to_cycle;        /* cycles [from, to_cycle) */
	uint64_t n_written;             /* lines or entries */
};

/* export_fleet.c: the same of each shard of a fleet, one after the other; `sorted`: their lines
 * are sorted, and stay so. */
MUST_CHECK int export_each(struct exporting *e, export_kind_run *run, bool sorted,
                           struct err *err);
/* Changes behind a cursor, each as a line, and the next cursor as the last line. */
MUST_CHECK int export_feed(struct exporting *e, const char *cursor, struct err *err);
export_kind_run export_pages, export_visits, export_changed, export_atom;
/* The feed is of all shards: it is written when each has told its newest entries. */
export_kind_run export_atom_end;
void export_atom_release(struct exporting *e);
export_kind_run export_index, export_archive, export_folder, export_package;

#endif
