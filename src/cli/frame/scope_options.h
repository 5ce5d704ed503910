/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope_options.h - the options --include and --exclude, which are settings too.
 *
 * What is given on the command line goes, for that command, in the place of the setting of the
 * same name.
 */
#ifndef CLI_FRAME_SCOPE_OPTIONS_H
#define CLI_FRAME_SCOPE_OPTIONS_H

#include "cli/frame/repository.h"
#include "engine/book/care.h"

/* Rows of an option table; the fields are struct option_list. */
#define SCOPE_OPTIONS(S) \
	{ .name = "include", .type = OPTION_LIST, .arg = "RULE", .setting = true, \
	  .offset = offsetof(struct S, include), \
	  .help = "only URLs that a rule fits: HOST, a prefix, a glob with *, regex:R or @FILE" }, \
	{ .name = "exclude", .type = OPTION_LIST, .arg = "RULE", .setting = true, \
	  .offset = offsetof(struct S, exclude), \
	  .help = "no URLs that a rule fits; goes before --include" }

/* The rules in force; release them also after an error. */
MUST_CHECK int scope_options_load(const struct cli *cli, struct store *s,
                                  const struct option_list *include,
                                  const struct option_list *exclude, struct care_rules *ret,
                                  struct err *err);

#endif
