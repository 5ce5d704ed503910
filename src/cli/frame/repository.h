/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repository.h - open the repository of a command, and read its settings.
 *
 * A repository is a folder with freshet.db and warc/; --store names another database.
 * Settings have the names of options; an option on the command line wins over its
 * setting.
 */
#ifndef CLI_FRAME_REPOSITORY_H
#define CLI_FRAME_REPOSITORY_H

#include "cli/frame/command.h"
#include "policy/view.h"
#include "repo/store.h"

#define REPOSITORY_OPTION_SIZE 512

/* Rows of an option table: the aim, and the weights of pages. */
#define SETTING_AIM(S) \
	{ .name = "aim", .type = OPTION_CHOICE, .def = AIM_DEFAULT, .choices = AIM_CHOICES, \
	  .arg = AIM_CHOICES, .setting = true, .offset = offsetof(struct S, aim), \
	  .help = "what downloads are for: to find changes, to have true copies over time, " \
	          "or to leave none false for long" }, \
	{ .name = "weight", .type = OPTION_CHOICE, .def = "none", .choices = WEIGHT_CHOICES, \
	  .arg = WEIGHT_CHOICES, .setting = true, .offset = offsetof(struct S, weight), \
	  .help = "what pages count by: alike, their PageRank, or the weight given with the " \
	          "URL" }

/* The option that names this repository, as people type it: "-C DIR ", quoted if it must be, or
 * nothing for the folder we are in. */
const char *repository_option(const char *dir, char ret[REPOSITORY_OPTION_SIZE]);
/* What store_open() takes, of a command without a fleet, or of the fleet. */
MUST_CHECK int repository_where(const struct cli *cli, char *ret, size_t size,
                                struct err *err);
/* To write.  Of a fleet: the shard cli->shard, whose lease is taken if it is not held. */
MUST_CHECK int repository_open(struct cli *cli, struct store **ret, struct err *err);
/* For commands that only read: works without write permission. */
MUST_CHECK int repository_read(struct cli *cli, struct store **ret, struct err *err);
/* Make the folder and its tables, unless they exist. */
MUST_CHECK int repository_create(struct cli *cli, const char *dir, struct store **ret,
                                 struct err *err);
/* The page that an argument names; E_USAGE when it is no URL or not in the repository. */
MUST_CHECK int repository_page(struct store *s, const char *url, struct store_page *ret,
                               struct err *err);
/* Fill options marked `setting` that the user did not give, from the settings; texts are
 * allocated in `arena`. */
MUST_CHECK int repository_settings(struct cli *cli, struct store *s, struct arena *arena,
                                   struct err *err);
/* Does the command look at the next cycle with the settings as they are?  Then what it reads is
 * kept for that one, and for the next command. */
bool repository_is_usual(const struct cli *cli);
/* The option, of any command, that this setting fills; or NULL. */
const struct option_spec *setting_find(const char *name);
/* The error that there is no such setting, with the nearest one there is. */
int setting_unknown(const char *name, struct err *err);

/* The current time.  Commands pass it to the engine, which plans without a clock. */
int64_t clock_now(void);

#endif
