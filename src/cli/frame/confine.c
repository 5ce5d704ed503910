/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.c - see confine.h.
 *
 * May be written: the folder of the repository, that of its store, folders of outputs, and
 * folders for temporary files.  May be read, besides: files and folders that the command line
 * names, what shared libraries, the resolver, TLS and libpq need (confine_system.c), and the
 * archives.
 *
 * Blind spots.  The folder of an output may be written as a whole: it is replaced by a rename.
 * A service started before an archive from another folder was imported cannot read it until
 * it is started again.  The commands of a fleet of several shards have no limits on reading:
 * their stores are opened one after the other.
 */
#include "cli/frame/confine.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/spawn.h"
#include "base/sandbox/calls.h"
#include "base/sandbox/reach.h"
#include "base/sandbox/starter.h"
#include "cli/frame/confine_system.h"
#include "cli/frame/shards.h"
#include "engine/archive/readers.h"
#include "repo/place.h"

#define PATHS_MAX 4096                  /* more folders of archives are not read */

static struct confined state;
static struct reach reach;
static bool reading_waits;              /* the second step is still to come */
static bool local;                      /* it may connect to sockets in folders: PostgreSQL, systemd */

static bool has_network(const char *where)
{
	return !strncmp(where, "postgres", 8);
}

/* ---- what the command line says ---- */

/* Where tables are: a file, or a server. */
static void add_store(const char *where)
{
	if (has_network(where)) {
		state.network = local = true;
		confine_connection(&reach, where);
	} else {
		reach_add_output(&reach, strncmp(where, "sqlite:", 7) ? where : where + 7);
	}
}

static void add_repository(const char *folder)
{
	char where[PLACE_SIZE];

	reach_add_output(&reach, folder);
	if (place_find(folder, where, NULL) == 0)
		add_store(where);
}

static bool is_path(const struct option_spec *s)
{
	static const char *const args[] = { "FILE", "DIR", "FOLDER", "OUT.tsv" };

	for (size_t i = 0; i < sizeof args / sizeof *args; i++)
		if (s->type == OPTION_TEXT && s->arg && !strcmp(s->arg, args[i]))
			return true;
	return false;
}

/* A BVGraph is named by what its files begin with: no file has that very name. */
static bool names_bvgraph(const char *path)
{
	char properties[PATH_MAX];

	return snprintf(properties, sizeof properties, "%s.properties", path) < PATH_MAX &&
	       access(properties, F_OK) == 0;
}

/* A file to read, with those beside it: graphs and lists of words have several. */
static void add_input(const char *path)
{
	struct stat st;
	bool found = stat(path, &st) == 0;

	if (found)
		reach_add(&reach, path, REACH_READ);
	if ((found && S_ISREG(st.st_mode)) || names_bvgraph(path))
		reach_add_folder(&reach, path, REACH_READ);
}

static void add_options(const struct cli *cli)
{
	for (const struct option_spec *s = cli->options; s->name; s++) {
		const char *value = s->type == OPTION_TEXT ?
			*(const char *const *)((const char *)cli->opts + s->offset) : NULL;

		if (!value || !is_path(s))
			continue;
		if (s->written)
			reach_add_output(&reach, value);
		else
			add_input(value);
	}
}

static void add_arguments(const struct cli *cli, int n, char **args)
{
	unsigned may = cli->command->reach;

	for (int i = 0; i < n; i++) {
		if (strstr(args[i], "://")) {
			local |= has_network(args[i]);
			state.network |= has_network(args[i]) || (may & MAY_ASK_ARGS);
			continue;
		}
		if (may & MAY_WRITE_ARGS)
			add_store(args[i]);
		if (may & (MAY_WRITE_ARGS | MAY_READ_ARGS)) {
			add_input(args[i]);
			if (place_is_repository(args[i]))
				add_repository(args[i]);
		}
	}
}

/* ---- programs of the user's ---- */

#define COMMANDS_MAX 4

/* The commands of the command line, as they will be asked for. */
static size_t find_commands(const struct cli *cli, char *const *ret[COMMANDS_MAX])
{
	const struct option_spec *shell = option_find(cli->options, "on_change_shell", 15);
	size_t n = 0;

	for (const struct option_spec *s = cli->options; s->name && n < COMMANDS_MAX; s++) {
		const char *text = s->type == OPTION_TEXT && s->arg && !strcmp(s->arg, "COMMAND") ?
			*(const char *const *)((const char *)cli->opts + s->offset) : NULL;
		char **words, *copy;

		if (!text || !*text)
			continue;
		words = mem_zalloc(SPAWN_WORDS_MAX + 1, sizeof *words);         /* kept to the end */
		copy = mem_strdup(text);
		if (shell && !strcmp(s->name, "on_change") &&
		    *(const bool *)((const char *)cli->opts + shell->offset)) {
			words[0] = mem_strdup("/bin/sh");
			words[1] = mem_strdup("-c");
			words[2] = copy;
		} else if (spawn_words(copy, words) <= 0) {
			free(copy);
			free(words);
			continue;
		}
		ret[n++] = words;
	}
	return n;
}

static bool begin_starter(const struct cli *cli)
{
	static char *const *commands[COMMANDS_MAX];
	size_t n = find_commands(cli, commands);
	int rc = n ? starter_begin(commands, n) : 0;

	if (rc)
		log_warn("the sandbox is off: no process can be started beside it: %s", strerror(rc));
	return rc == 0;
}

/* ---- the two steps ---- */

static void report(const char *what, int rc)
{
	if (rc && rc != ENOSYS && rc != EOPNOTSUPP)
		log_warn("the sandbox cannot limit %s: %s", what, strerror(rc));
}

static void limit_reading(void)
{
	struct reach_limits l = { .rights = REACH_READ };
	int rc = reach_limit(&reach, &l);

	report("what is read", rc);
	state.reading = rc == 0;
	reading_waits = false;
	reach_release(&reach);
}

static void limit_the_rest(unsigned may)
{
	enum calls_kind kind = may & MAY_SERVE ? CALLS_SERVICE :
	                       starter_runs() ? CALLS_LISTENER :
	                       state.network ? CALLS_NETWORK : CALLS_FILES;
	struct reach_limits l = {
		.rights = REACH_WRITE | REACH_RUN,
		.no_connect = !state.network,
		.no_listen = !state.network,            /* an address of one's own is bound, too */
		.no_signals = !starter_runs(),
		.no_abstract = !(may & MAY_SERVE),      /* systemd may listen there */
	};
	int rc = reach_limit(&reach, &l);

	report("what is written", rc);
	state.writing = state.programs = rc == 0;
	/* in between: the maker of cells is in the same reach, so that we may end a cell, and may
	 * make processes, which we may not */
	rc = readers_begin();
	if (rc)
		log_warn("hostile bytes are read by this process: no other can be started: %s",
		         strerror(rc));
	state.cells = rc == 0;
	rc = calls_limit(kind, local || ((may & MAY_SERVE) && getenv("NOTIFY_SOCKET")));
	report("system calls", rc);
	state.calls = rc == 0;
	state.programs |= rc == 0;
}

/* "." is the repository of a command only if it opens one there. */
static bool uses_repository(const struct cli *cli, int n_args)
{
	unsigned may = cli->command->reach;

	return !(may & MAY_SKIP_STORE) || strcmp(cli->common.repository, ".") ||
	       ((may & MAY_WRITE_ARGS) && !n_args);
}

void confine_begin(struct cli *cli, int n_args, char **args)
{
	unsigned may = cli->command->reach;

	state = (struct confined){ .off = cli->common.no_sandbox, .abi = reach_abi() };
	if (state.off) {
		log_warn("--no-sandbox: " CONFINE_LOST);
		return;
	}
	if ((may & MAY_ANYTHING) || !begin_starter(cli))
		return;
	state.network = may & MAY_CONNECT;
	if (uses_repository(cli, n_args))
		add_repository(cli->common.repository);
	if (cli->common.store)
		add_store(cli->common.store);
	add_options(cli);
	add_arguments(cli, n_args, args);
	confine_system(&reach, state.network, may & MAY_CONNECT);
	if (may & MAY_SERVE)
		confine_own_program(&reach);
	limit_the_rest(may);
	reading_waits = true;
	if (((may & MAY_SKIP_STORE) && !(may & MAY_READ_LATER)) ||
	    ((may & MAY_READ_INSTEAD) && n_args))
		limit_reading();
	if (confine_missing() && (may & MAY_CONNECT))
		log_info("the sandbox lacks %s, which this kernel does not offer", confine_missing());
}

/* An archive that is not in the folder of the repository has an absolute name. */
static int add_archive(void *arg, struct text worker, struct text name, struct err *err)
{
	char *path, *last = arg;

	(void)err;
	if (worker.s || !name.size || *name.s != '/' || reach.paths.n >= PATHS_MAX)
		return 0;
	path = mem_strndup(name.s, name.size);
	*strrchr(path, '/') = '\0';
	if (strcmp(path, last) && strlen(path) < PATH_MAX) {    /* most lie beside the one before */
		reach_add(&reach, *path ? path : "/", REACH_READ);
		strcpy(last, path);
	}
	free(path);
	return 0;
}

static int add_setting(void *arg, const char *key, const char *value, struct err *err)
{
	const struct cli *cli = arg;
	const struct option_spec *s = option_find(cli->options, key, strlen(key));

	(void)err;
	if (s && s->setting && is_path(s))
		reach_add(&reach, value, REACH_READ);
	return 0;
}

void confine_reading(const struct cli *cli, struct store *s)
{
	char last[PATH_MAX] = "";

	if (!reading_waits)
		return;
	if (shards_any(cli)) {
		reading_waits = false;
		reach_release(&reach);
		return;
	}
	/* whatever cannot be read of it the command finds out by itself */
	(void)!store_settings(s, add_setting, (void *)(uintptr_t)cli, NULL);
	(void)!store_files(s, add_archive, last, NULL);
	limit_reading();
}

const struct confined *confine_state(void)
{
	return &state;
}

const char *confine_missing(void)
{
	bool calls = calls_known();

	if (state.abi < REACH_ABI_MIN)
		return calls ? "Landlock" : "Landlock and seccomp";
	return calls ? NULL : "seccomp";
}
