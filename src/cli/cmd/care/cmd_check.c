/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_check.c - `freshet check`: is the repository whole? */
#include <inttypes.h>
#include <stdio.h>

#include "cli/frame/repository.h"
#include "cli/frame/shards.h"
#include "cli/frame/terminal.h"
#include "engine/book/lock.h"
#include "engine/check/check.h"

#define SHOWN_MAX 100           /* findings of one kind that are shown, without --all */

struct check_opts { bool repair, all; };

static const struct option_spec check_options[] = {
	OPT_FLAG(check_opts, repair, "mend what can be mended; nothing is deleted, but set aside"),
	OPT_FLAG(check_opts, all, "show every finding, not only the first 100 of each kind"),
	OPT_END
};

struct showing {
	struct cli *cli;
	bool all;
	struct json *j;                 /* or NULL: text */
	uint64_t n[N_CHECK_KINDS];
};

static void show(void *arg, enum check_kind k, enum check_state s, const char *text)
{
	struct showing *w = arg;

	if (++w->n[k] > SHOWN_MAX && !w->all)
		return;
	if (w->j) {
		json_object(w->j);
		json_kstr(w->j, "state", check_state_name(s));
		json_kstr(w->j, "kind", check_kind_name(k));
		json_kstr(w->j, "text", text);
		json_end_object(w->j);
		return;
	}
	printf("%s%-6s%s  %-9s  ", s == CHECK_WRONG ? tone_on(TONE_BAD) : "",
	       check_state_name(s), s == CHECK_WRONG ? tone_off() : "", check_kind_name(k));
	if (w->cli->joins)
		printf("shard %d: ", w->cli->shard);
	puts(text);
	fflush(stdout);
}

static int look_again(void *arg, struct store **ret, struct err *err)
{
	struct showing *w = arg;

	return repository_read(w->cli, ret, err);
}

static void print_json(struct json *j, const struct check *c)
{
	json_end_array(j);
	json_kint(j, "pages", (int64_t)c->n_pages);
	json_kint(j, "captures", (int64_t)c->n_captures);
	json_kint(j, "visits", (int64_t)c->n_visits);
	json_kint(j, "cycles", (int64_t)c->n_cycles);
	json_kint(j, "copies", (int64_t)c->n_copies);
	json_kint(j, "read", (int64_t)c->n_read);
	json_kint(j, "lost", (int64_t)c->n_lost);
	json_kint(j, "elsewhere", (int64_t)c->n_elsewhere);
	json_kint(j, "files", (int64_t)c->n_files);
	json_kint(j, "bytes", (int64_t)c->n_bytes);
	json_kint(j, "records", (int64_t)c->n_records);
	json_kint(j, "unused", (int64_t)c->n_unused);
	json_key(j, "found");
	json_object(j);
	for (int k = 0; k < N_CHECK_KINDS; k++) {
		json_key(j, check_kind_name((enum check_kind)k));
		json_object(j);
		for (int s = 0; s < N_CHECK_STATES; s++)
			json_kint(j, check_state_name((enum check_state)s), (int64_t)c->n[k][s]);
		json_end_object(j);
	}
	json_end_object(j);
	json_kint(j, "wrong", (int64_t)check_count(c, CHECK_WRONG));
	json_kint(j, "mended", (int64_t)check_count(c, CHECK_MENDED));
	cli_json_end(j);
}

/* Of a fleet: a line for each shard. */
static void print_row(struct cli *cli, const struct check *c)
{
	static const char *const heads[] = { "pages", "captures", "visits", "cycles", "copies", "read",
		"lost", "elsewhere", "files", "records", "MB", "wrong", "mended" };
	const uint64_t counts[] = { c->n_pages, c->n_captures, c->n_visits, c->n_cycles, c->n_copies,
		c->n_read, c->n_lost, c->n_elsewhere, c->n_files, c->n_records };
	struct table *t = table_new(heads, sizeof heads / sizeof *heads);

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		table_cell(t, "%" PRIu64, counts[i]);
	table_cell(t, "%.1f", (double)c->n_bytes / 1e6);
	table_cell(t, "%" PRIu64, check_count(c, CHECK_WRONG));
	table_cell(t, "%" PRIu64, check_count(c, CHECK_MENDED));
	table_finish(cli, t);
}

static void print_text(const struct showing *w, const struct check *c)
{
	for (int k = 0; k < N_CHECK_KINDS && !w->all; k++)
		if (w->n[k] > SHOWN_MAX)
			printf("%-6s  %-9s  %" PRIu64 " more; --all shows them\n", "",
			       check_kind_name((enum check_kind)k), w->n[k] - SHOWN_MAX);
	if (w->cli->joins) {
		print_row(w->cli, c);
		return;
	}
	printf("tables    %" PRIu64 " pages, %" PRIu64 " captures, %" PRIu64 " visits, %" PRIu64
	       " cycles\n", c->n_pages, c->n_captures, c->n_visits, c->n_cycles);
	printf("archives  %" PRIu64 " of %" PRIu64 " copies read back, %" PRIu64 " lost", c->n_read,
	       c->n_copies, c->n_lost);
	if (c->n_elsewhere)
		printf(", %" PRIu64 " with other workers", c->n_elsewhere);
	printf("; %" PRIu64 " files, %" PRIu64 " records, %.1f MB\n", c->n_files, c->n_records,
	       (double)c->n_bytes / 1e6);
	if (!check_count(c, CHECK_WRONG) && !check_count(c, CHECK_MENDED))
		puts("nothing is wrong");
	if (check_count(c, CHECK_MENDED))
		printf("%" PRIu64 " mended; what went is in " CHECK_ASIDE " or in a file *.aside\n",
		       check_count(c, CHECK_MENDED));
}

/* Is another program at work?  Its files come and go. */
static bool is_busy(struct store *s)
{
	bool busy = store_lock(s, NULL) == E_BUSY;

	if (!busy)
		store_unlock(s);
	return busy;
}

static int check_cmd(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct check_opts *o = opts;
	struct showing w = { .cli = cli, .all = o->all };
	struct check c = { .folder = cli->common.repository, .repair = o->repair,
	                   .now = clock_now(), .look_again = look_again, .found = show, .arg = &w,
	                   .shared = shards_any(cli) };
	struct json j;
	int rc = o->repair ? repository_open(cli, &c.store, err) :
	         repository_read(cli, &c.store, err);

	(void)n_args, (void)args;
	if (rc < 0)
		return rc;
	if (o->repair)
		rc = lock_wait(c.store, err);
	else
		c.at_work = is_busy(c.store);
	if (rc == 0 && cli->common.json) {
		cli_json_begin(&j, "check");
		json_kbool(&j, "repair", o->repair);
		json_key(&j, "findings");
		json_array(&j);
		w.j = &j;
	}
	if (rc == 0)
		rc = check_run(&c, err);
	if (w.j && rc == 0)
		print_json(&j, &c);
	else if (rc == 0)
		print_text(&w, &c);
	if (rc == 0 && check_count(&c, CHECK_WRONG)) {
		uint64_t n = check_count(&c, CHECK_WRONG);

		rc = err_set(err, E_FAIL, "%" PRIu64 " thing%s wrong%s", n, n == 1 ? " is" : "s are",
		             o->repair ? " still: `freshet restore` takes a backup back" :
		             ": --repair mends what can be mended, `freshet restore` takes a backup "
		             "back");
	}
	check_release(&c);
	store_unlock(c.store);
	store_close(c.store);
	return rc;
}

const struct command command_check = {
	.name = "check",
	.on_fleet = FLEET_EACH,
	.arguments = "",
	.summary = "is everything whole? tables, archives, and what they say of each other",
	.description =
		"Reads the tables (the database itself, every row, the hashes that rows are found by),\n"
		"the archive files that Freshet wrote from end to end with their digests, the record of\n"
		"every copy wherever it lies, and compares both ways: a copy's row with its record, and\n"
		"the files in warc/ with the rows that know them. It also looks at the journal of\n"
		"requests and at the caches. It may run beside a cycle or a service.\n\n"
		"Each finding is wrong, mended, or a note (something that the next start sees to, or\n"
		"damage that no copy suffers from), and of a kind: table, reference, missing, record,\n"
		"orphan, journal, cache, leftover.\n\n"
		"--repair waits for a cycle to end, and never deletes. A row that makes no sense, and\n"
		"the place of a copy that is lost, are first written to " CHECK_ASIDE " in the folder;\n"
		"an archive file that no row knows, a damaged journal or cache gets .aside behind its\n"
		"name. Pages, cycles, settings and words cannot be mended so, nor a database whose pages\n"
		"are damaged: for these there is `freshet restore`. The rows of a PostgreSQL store are\n"
		"checked but not mended, except the places of copies.",
	.examples =
		"  freshet -C crawl check\n"
		"  freshet -C crawl check --json --all\n"
		"  freshet -C crawl check --repair\n",
	.options = check_options,
	.opts_size = sizeof(struct check_opts),
	.n_args_min = 0,
	.n_args_max = 0,
	.read = true,
	.exits = "0 nothing is wrong, or all that was is mended\n"
		"1 something is wrong\n",
	.run = check_cmd,
};
