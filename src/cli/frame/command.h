/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - the interface of a command, and what all commands share.
 *
 * A command is one file, cmd_x.c, that defines `const struct command command_x`,
 * and one line in commands.def.  Its option table feeds the command line,
 * --help, the man page and completion.
 */
#ifndef CLI_FRAME_COMMAND_H
#define CLI_FRAME_COMMAND_H

#include <stdbool.h>

#include "base/err.h"
#include "base/io/json.h"
#include "base/log.h"
#include "base/option/option.h"

/* Options that every command takes. */
struct common_opts {
	const char *repository;         /* -C DIR */
	const char *store;              /* --store URL */
	int64_t seed, shard;            /* shard -1: all, or the one that a page is of */
	int color;                      /* enum terminal_color */
	bool json, quiet, verbose, no_pager, no_sandbox, help, version;
};

struct cli {
	struct common_opts common;
	bool *common_given;
	const struct command *command;
	const struct option_spec *options;
	void *opts;
	bool *given;                    /* by index of the command's options */
	const char *line;               /* the command line, without passwords */
	struct shards *shards;          /* of a fleet (shards.h); NULL: there is but one store */
	int32_t shard;                  /* that the command is at; -1: none */
	bool joins;                     /* it goes from shard to shard: their tables become one, */
	struct table *joined;           /* of those so far */
};

/* How a command deals with a store of several shards. */
enum on_fleet {
	FLEET_UNAWARE,                  /* it needs no store */
	FLEET_ONE,                      /* --shard must say which */
	FLEET_EACH,                     /* it runs on each of them, one after the other */
	FLEET_PAGE,                     /* its first argument is a URL: that of its shard */
	FLEET_SELF,                     /* it knows fleets (shards_any()) */
	FLEET_ALWAYS,                   /* so too, and is for them only: a single shard is one */
	FLEET_NEVER,                    /* it refuses several shards: see fleet_instead */
};

/* What a command may do beyond reading and writing its repository (confine.h). */
enum command_may {
	MAY_CONNECT = 1,                /* use the network, whatever its store is */
	MAY_SERVE = 4,                  /* listen, and run this program */
	MAY_READ_ARGS = 8,              /* its arguments are files */
	MAY_WRITE_ARGS = 16,            /* its arguments are files, folders or stores to write */
	MAY_READ_INSTEAD = 64,          /* with arguments it opens no store */
	MAY_ASK_ARGS = 128,             /* URLs among its arguments are asked for */
	MAY_ANYTHING = 512,             /* no sandbox: it starts servers, and reads its own pages */
	MAY_SKIP_STORE = 256,           /* it opens no store by repository_open() */
	MAY_READ_LATER = 1024,          /* but calls confine_reading() with one of its own */
};

struct command {
	const char *name;
	const char *arguments;          /* "FILE...", or "" */
	const char *summary;            /* one line */
	const char *description;        /* paragraphs, separated by blank lines */
	const char *examples;           /* lines "command  # what it does" */
	const char *exits;              /* lines "N what it means": exit statuses that mean more than
	                                 * usual, or that not every command has (1, 4); or NULL */
	const struct option_spec *options;
	size_t opts_size;
	const char *const (*needs)[2];  /* {option, prerequisite}; or NULL */
	int n_args_min, n_args_max;     /* -1: any number */
	bool archives;                  /* a folder as argument means the archives in it */
	bool read;                      /* people read it page by page on a terminal */
	enum on_fleet on_fleet;
	const char *fleet_instead;      /* FLEET_ONE, FLEET_NEVER: what to do; or NULL */
	unsigned reach;                 /* enum command_may, or-ed */
	/* 0, or a negative error code with err filled. */
	int (*run)(struct cli *cli, void *opts, int n_args, char **args, struct err *err);
};

/* Did the user give the option? */
bool cli_given(const struct cli *cli, const char *name);

const struct command *command_at(size_t i);             /* NULL past the last */
const struct command *command_find(const char *name);
/* Sets E_USAGE: no such command, did you mean ...? */
int command_unknown(const char *name, struct err *err);
extern const struct option_spec common_options[];

/* --help of one command, and its man page. */
void command_print_help(const struct command *c, FILE *out);
void command_print_json(const struct command *c);               /* on stdout */
void command_print_man(const struct command *c, FILE *out);
void command_print_overview(bool as_json);                      /* of all, on stdout */
/* Write an option as members of an open object: name, default, values, range, help. */
void cli_json_option(struct json *j, const struct option_spec *s);

/* The JSON document of a command: {"schema":"freshet.<command>/1", ... */
void cli_json_begin(struct json *j, const char *command);      /* on output_standard() */
void cli_json_schema(struct json *j, const char *command);     /* where j writes */
void cli_json_end(struct json *j);

/* Table on stdout: columns aligned, numbers to the right. */
struct table;
struct table *table_new(const char *const *heads, size_t n);    /* head "<x": left */
__attribute__((format(printf, 2, 3)))
void table_cell(struct table *t, const char *fmt, ...);         /* row by row */
void table_print(struct table *t, FILE *out);
void table_print_more(struct table *t, FILE *out);              /* without heads */
void table_free(struct table *t);
/* The table of a command: printed and freed.  While it goes from shard to shard, rows with the same
 * heads are kept, each with its shard before it, and printed in the end as one table. */
void table_finish(struct cli *cli, struct table *t);
void table_join_begin(struct cli *cli);
void table_join_end(struct cli *cli);

#endif
