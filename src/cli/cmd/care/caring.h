/* SPDX-License-Identifier: Apache-2.0 */
/* caring.h - commands about some of the pages (remove, pause, resume, tag): which ones, and
 * what is said of them afterwards. */
#ifndef CLI_CMD_CARE_CARING_H
#define CLI_CMD_CARE_CARING_H

#include "cli/frame/repository.h"
#include "engine/book/care.h"

struct care_opts {
	const char *site, *tag;
	struct option_list match;
	bool dry_run, undo, delete_;
};

#define CARE_CHOOSING \
	OPT_TEXT(care_opts, site, NULL, "HOST", "the pages of a host and of its subdomains"), \
	OPT_LIST(care_opts, match, "RULE", "the pages that one of these rules fits: a prefix, a " \
	         "glob or regex:R; `freshet help set` has the forms"), \
	OPT_TEXT(care_opts, tag, NULL, "TAG", "the pages that have this tag"), \
	OPT_FLAG(care_opts, dry_run, "change nothing; say how many pages it would be")

/* A command at work. */
struct caring {
	struct cli *cli;
	const struct care_opts *opts;
	struct care_which which;
	struct care_pages pages;
	struct care_writing writing;
	uint64_t n_warned;
};

/* writes: the store is opened for writing, unless nothing is to be changed.  caring_close() also
 * after a failure. */
int caring_open(struct caring *c, struct cli *cli, void *opts, int n_args, char **args,
                bool writes, struct err *err);
void caring_close(struct caring *c);
/* Find the pages. */
int caring_choose(struct caring *c, struct err *err);
/* "12 pages removed", or would be; *more: what else is to be said. */
void caring_print(const struct caring *c, uint64_t n, const char *done, const char *more);

#endif
