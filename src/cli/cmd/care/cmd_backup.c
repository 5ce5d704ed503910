/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_backup.c - `freshet backup` and `restore`. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/frame/confine.h"
#include "cli/frame/repository.h"
#include "engine/backup/backup.h"
#include "engine/check/check.h"
#include "repo/place.h"

#define ASIDE_MAX 1000          /* folders of one name that can be set aside */
#define PATH_SIZE 4200

struct backup_opts { bool check; };

static const struct option_spec backup_options[] = {
	OPT_FLAG(backup_opts, check, "read all of the backup back, not only what is new"),
	OPT_END
};

struct restore_opts { bool over; };

static const struct option_spec restore_options[] = {
	OPT_FLAG(restore_opts, over, "put what is there aside, under another name"),
	OPT_END
};

/* ---- checking the copy ---- */

struct check_result { uint64_t read, lost; };   /* copies; lost: in archives outside only */

static void show(void *arg, enum check_kind k, enum check_state s, const char *text)
{
	(void)arg;
	if (s == CHECK_WRONG)
		log_warn("%s: %s", check_kind_name(k), text);
}

static int open_folder(const char *folder, struct store **ret, struct err *err)
{
	char where[PLACE_SIZE];
	int rc = place_find(folder, where, err);

	return rc < 0 ? rc : store_open(ret, where, STORE_READ, err);
}

static int look_again(void *arg, struct store **ret, struct err *err)
{
	const char *const *folder = arg;

	return open_folder(*folder, ret, err);
}

/* An archive outside of the folder is no part of the copy: what is wrong with it is said. */
static int check_copy(const char *folder, struct check_result *ret, struct err *err)
{
	struct check c = { .folder = folder, .now = clock_now(), .look_again = look_again,
	                   .found = show, .arg = &folder };
	int rc = open_folder(folder, &c.store, err);

	if (rc < 0)
		return rc;
	rc = check_run(&c, err);
	if (rc == 0 && check_count(&c, CHECK_WRONG) > c.n_outside)
		rc = err_set(err, E_FAIL, "%s: the copy is not whole (see above)", folder);
	*ret = (struct check_result){ c.n_read, c.n_outside ? c.n_lost : 0 };
	check_release(&c);
	store_close(c.store);
	return rc;
}

/* ---- backup ---- */

static int open_now(void *arg, struct store **ret, struct err *err)
{
	return repository_read(arg, ret, err);
}

static void print(const struct cli *cli, const char *what, const struct backup *b,
                  const struct check_result *checked)
{
	struct json j;

	if (cli->common.json) {
		cli_json_begin(&j, what);
		json_kstr(&j, "to", b->to);
		json_kint(&j, "files", (int64_t)b->n_files);
		json_kint(&j, "copied", (int64_t)b->n_copied);
		json_kint(&j, "deleted", (int64_t)b->n_deleted);
		json_kint(&j, "bytes", (int64_t)b->bytes);
		json_kint(&j, "bytes_copied", (int64_t)b->bytes_copied);
		json_kint(&j, "bytes_tables", (int64_t)b->bytes_tables);
		json_kint(&j, "outside", (int64_t)b->n_outside);
		if (checked)
			json_kint(&j, "read", (int64_t)checked->read);
		cli_json_end(&j);
	} else {
		printf("%s: tables %.1f MB; %llu archive files, %.1f MB, of which %.1f MB were new\n",
		       b->to, (double)b->bytes_tables / 1e6, (unsigned long long)b->n_files,
		       (double)b->bytes / 1e6, (double)b->bytes_copied / 1e6);
		if (checked && !checked->lost)
			printf("nothing is wrong: %llu copies read back\n",
			       (unsigned long long)checked->read);
	}
	if (b->n_outside)
		log_warn("%llu archive file%s outside of the folder (imported from there, or with "
		         "another worker) and not part of the copy", (unsigned long long)b->n_outside,
		         b->n_outside == 1 ? " is" : "s are");
	if (checked && checked->lost)
		log_warn("%llu cop%s in such files cannot be read: put the files where they were, and "
		         "see by `freshet check`", (unsigned long long)checked->lost,
		         checked->lost == 1 ? "y" : "ies");
}

static int backup_cmd(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct backup_opts *o = opts;
	struct backup b = { .folder = cli->common.repository, .to = args[0], .open = open_now,
	                    .arg = cli };
	struct check_result result = { 0 };
	struct store *s;
	int rc = repository_read(cli, &s, err);

	(void)n_args;
	if (rc < 0)
		return rc;
	b.no_tables = store_is_far(s);
	store_close(s);
	rc = backup_run(&b, err);
	if (rc == 0 && o->check && !b.no_tables)
		rc = check_copy(b.to, &result, err);
	if (rc == 0) {
		print(cli, "backup", &b, o->check && !b.no_tables ? &result : NULL);
		if (b.no_tables)
			log_info("the tables are in PostgreSQL: pg_dump copies them, before this command "
			         "(docs/operations.md)");
	}
	return rc;
}

/* ---- restore ---- */

struct source { const struct cli *cli; const char *folder; };

static int open_backup(void *arg, struct store **ret, struct err *err)
{
	const struct source *from = arg;
	int rc = open_folder(from->folder, ret, err);

	if (rc == 0)
		confine_reading(from->cli, *ret);
	return rc;
}

/* What is in the way gets another name. */
static int make_way(const char *dir, bool over, struct err *err)
{
	char aside[PATH_SIZE];
	struct stat st;

	if (lstat(dir, &st) || rmdir(dir) == 0)
		return 0;               /* nothing, or an empty folder */
	if (!over)
		return err_set(err, E_USAGE, "%s: is there, and not empty; --over puts it aside, under "
		               "another name", dir);
	for (int i = 1; i < ASIDE_MAX; i++) {
		snprintf(aside, sizeof aside, "%.4000s.before-%d", dir, i);
		if (lstat(aside, &st) == 0)
			continue;
		if (rename(dir, aside))
			return err_errno(err, E_IO, "%s: cannot be put aside", dir);
		log_info("%s: what was there is now %s", dir, aside);
		return 0;
	}
	return err_set(err, E_IO, "%s: no name is free to put it aside", dir);
}

static int restore_cmd(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct restore_opts *o = opts;
	char part[PATH_SIZE], dir[PATH_SIZE];
	struct source from = { cli, args[0] };
	struct backup b = { .folder = args[0], .to = part, .unmarked = true, .open = open_backup,
	                    .arg = &from };
	struct check_result result = { 0 };
	struct stat st;
	int rc;

	(void)n_args;
	snprintf(dir, sizeof dir, "%.4000s", args[1]);
	for (size_t n = strlen(dir); n > 1 && dir[n - 1] == '/'; )
		dir[--n] = '\0';
	snprintf(part, sizeof part, "%.4000s.part", dir);
	if (!o->over && stat(dir, &st) == 0 && (rmdir(dir) || mkdir(dir, 0777)))
		return err_set(err, E_USAGE, "%s: is there, and not empty; --over puts it aside, under "
		               "another name", dir);
	if (stat(part, &st) == 0)
		return err_set(err, E_USAGE, "%s: a restore that broke off left it; look at it, and "
		               "remove it", part);
	rc = backup_run(&b, err);
	if (rc == 0)
		rc = check_copy(part, &result, err);
	if (rc == 0)
		rc = make_way(dir, o->over, err);
	if (rc == 0 && rename(part, dir))
		rc = err_errno(err, E_IO, "%s", dir);
	b.to = dir;
	if (rc == 0)
		print(cli, "restore", &b, &result);
	return rc;
}

const struct command command_backup = {
	.name = "backup",
	.on_fleet = FLEET_NEVER,
	.fleet_instead = "pg_basebackup or pg_dump copies the tables; copy the WARC folders of the workers after "
	                 "that (docs/fleet.md)",
	.reach = MAY_WRITE_ARGS,
	.arguments = "DEST",
	.summary = "copy the repository into a folder, whole, also while it is at work",
	.description =
		"DEST becomes a repository of its own: the tables of one moment, and all that the archive\n"
		"files hold of it. A cycle or a service may run meanwhile. The next backup into the same\n"
		"folder copies only what is new; each byte that was copied is read back and compared.\n"
		"--check reads all of it back, as `freshet -C DEST check` does.\n\n"
		"Whenever it is killed, the backup before is still whole, or the new one is. Archive files\n"
		"that `freshet prune` took away go from the backup, too, after its new tables are in place.\n"
		"DEST must be new, empty, or a backup whose tables nobody else has written to.\n\n"
		"Archives that were imported from outside of the folder are not part of it. With the\n"
		"tables in PostgreSQL it copies the archive files only: run pg_dump before it.",
	.examples =
		"  freshet -C crawl backup crawl-backup\n"
		"  freshet -C crawl backup crawl-backup --check --json\n",
	.options = backup_options,
	.opts_size = sizeof(struct backup_opts),
	.n_args_min = 1,
	.n_args_max = 1,
	.exits = "1 the copy is not whole (--check)\n",
	.run = backup_cmd,
};

const struct command command_restore = {
	.name = "restore",
	.reach = MAY_WRITE_ARGS | MAY_SKIP_STORE | MAY_READ_LATER,
	.arguments = "BACKUP DIR",
	.summary = "make a repository out of a backup",
	.description =
		"Copies a backup (or any repository that nobody works on) to DIR.part, checks all of it,\n"
		"and gives it the name DIR. DIR must not be there, or be empty. With --over what is there\n"
		"is put aside as DIR.before-1, and nothing of it is deleted.\n\n"
		"Archives that were imported from outside of the folder are no part of a backup. Their\n"
		"copies are read where they lie; those that cannot be read are said, and stop nothing.",
	.examples =
		"  freshet restore crawl-backup crawl-again\n"
		"  freshet restore crawl-backup crawl-again --over\n",
	.options = restore_options,
	.opts_size = sizeof(struct restore_opts),
	.n_args_min = 2,
	.n_args_max = 2,
	.exits = "1 the backup is not whole; DIR is as it was\n",
	.run = restore_cmd,
};
