/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - a command's results as one HTML file that shows them.
 *
 * A report is the JSON documents that the command prints with --json, byte for byte,
 * inside a page that draws them (src/cli/report/page/, built into the program).  So a
 * number is computed and written in one way only; the page just draws it.  Title and
 * verdict are sentences of the command.
 *
 *     report_init(&r);
 *     replay_print_json(&out, report_json(&r));        // as often as one likes
 *     report_say(&r, "%s finds the most changes", best);
 *     rc = report_write(&r, path, &head, err);
 *     report_release(&r);
 *
 * The file needs no server and loads nothing: its Content-Security-Policy forbids all
 * requests, and all scripts but its own.
 */
#ifndef CLI_REPORT_REPORT_H
#define CLI_REPORT_REPORT_H

#include "base/err.h"
#include "base/io/json.h"
#include "cli/frame/command.h"

#define REPORT_DOCUMENTS_MAX ((size_t)64 << 20)
#define REPORT_VERDICT_MAX 4096
#define REPORT_SITES_MAX 1000           /* rows of a table of sites */

struct report {
	struct buf documents;           /* one a line */
	struct buf verdict;
	struct json json;
};

struct report_head {
	const char *title;
	const char *command;            /* the command line */
	int64_t made;                   /* time; 0: not shown */
};

void report_init(struct report *r);
void report_release(struct report *r);
/* The writer of the next document: cli_json_schema() ... cli_json_end(). */
struct json *report_json(struct report *r);
/* One more sentence of the verdict. */
__attribute__((format(printf, 2, 3)))
void report_say(struct report *r, const char *fmt, ...);
/* A number with commas, 12,345, as the page has it. */
const char *report_count(uint64_t n, char out[32]);
/* Before long work: can the file be written?  path may be NULL. */
MUST_CHECK int report_check(const char *path, struct err *err);
/* Writes the whole file, or nothing. */
MUST_CHECK int report_write(const struct report *r, const char *path,
                            const struct report_head *head, struct err *err);

/* A part of the page; data is NULL if there is no file of that name. */
struct report_asset { const char *name, *data; size_t size; };
struct report_asset report_asset(const char *name);

#endif
