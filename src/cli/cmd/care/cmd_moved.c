/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_moved.c - `freshet moved`: pages that moved for good, and whether they are followed. */
#include <stdio.h>
#include <string.h>

#include "base/when.h"
#include "cli/frame/repository.h"
#include "engine/book/lock.h"
#include "engine/book/moved.h"

struct moved_opts { bool undo, follow; };

static const struct option_spec moved_options[] = {
	OPT_FLAG(moved_opts, undo, "ask for these pages by their own URLs again, and never follow them"),
	OPT_FLAG(moved_opts, follow, "follow these pages from now on, however often it was seen"),
	OPT_END
};

struct listing {
	struct store *store;
	struct moved_list list;
	struct care_rules rules;
	struct json j;
	struct table *t;                /* NULL: as JSON */
	struct arena texts;
};

static int show_row(struct listing *l, const struct moved *m, struct err *err)
{
	const char *why = NULL;
	struct store_page p;
	char since[21], what[120];
	char *url;
	int rc = store_page_get(l->store, m->page, &p, err);

	if (rc <= 0)
		return rc;
	when_iso(m->since, since);
	url = arena_strndup(&l->texts, p.url.s, p.url.size);
	if (m->how == MOVED_SEEN &&
	    (rc = moved_hindrance(&l->list, l->store, &l->rules, m, &why, err)) < 0)
		return rc;
	if (!l->t) {
		json_object(&l->j);
		json_kstr(&l->j, "url", url);
		json_kstr(&l->j, "to", m->to);
		json_kstr(&l->j, "how", moved_how_name(m->how));
		json_kint(&l->j, "status", m->status);
		json_kint(&l->j, "times", m->times);
		json_kstr(&l->j, "since", since);
		if (m->cycle)
			json_kint(&l->j, "cycle", m->cycle);
		if (why)
			json_kstr(&l->j, "not_followed", why);
		json_end_object(&l->j);
		return 0;
	}
	snprintf(what, sizeof what, "%s%s%s", moved_how_name(m->how), why ? ": " : "", why ? why : "");
	table_cell(l->t, "%s", url);
	table_cell(l->t, "%s", m->to);
	table_cell(l->t, "%d", m->status);
	table_cell(l->t, "%u", m->times);
	table_cell(l->t, "%.10s", since);
	table_cell(l->t, "%s", what);
	return 0;
}

static int list_all(struct listing *l, const struct cli *cli, struct err *err)
{
	static const char *const heads[] = { "<page", "<moved to", "status", "times", "<since",
	                                     "<what" };
	int rc = care_rules_load(&l->rules, l->store, err);

	if (rc < 0)
		return rc;
	if (cli->common.json) {
		cli_json_begin(&l->j, "moved");
		json_key(&l->j, "pages");
		json_array(&l->j);
	} else {
		l->t = table_new(heads, sizeof heads / sizeof *heads);
	}
	for (size_t i = 0; i < l->list.v.n && rc >= 0; i++)
		rc = show_row(l, l->list.v.v[i], err);
	if (!l->t) {
		json_end_array(&l->j);
		cli_json_end(&l->j);
		return rc < 0 ? rc : 0;
	}
	if (rc >= 0 && l->list.v.n)
		table_print(l->t, stdout);
	else if (rc >= 0)
		log_info("no page has moved for good, as far as is known");
	table_free(l->t);
	return rc < 0 ? rc : 0;
}

/* In one batch. */
static int change(struct listing *l, bool follow, int n, char **urls, struct err *err)
{
	int rc = 0;

	for (int i = 0; i < n && rc == 0; i++) {
		struct store_page p;
		struct moved *m;

		rc = repository_page(l->store, urls[i], &p, err);
		if (rc < 0)
			break;
		m = moved_find(&l->list, p.number);
		if (!m)
			return err_set(err, E_USAGE, "%s: is not known to have moved for good; `freshet moved` "
			               "lists the pages that are", urls[i]);
		if (follow) {
			moved_follow(&l->list, m, 0);
		} else {
			m->how = MOVED_NEVER;
			m->dirty = true;
		}
	}
	if (rc == 0 && (rc = store_begin(l->store, err)) == 0 &&
	    (rc = moved_save(&l->list, l->store, err)) == 0)
		rc = store_commit(l->store, err);
	return rc;
}

static void print_change(const struct cli *cli, bool follow, int n)
{
	struct json j;

	if (!cli->common.json) {
		printf("%d page%s %s\n", n, n == 1 ? "" : "s", follow ? "followed from now on" :
		       "not followed any more");
		return;
	}
	cli_json_begin(&j, "moved");
	json_kint(&j, "changed", n);
	json_kstr(&j, "how", moved_how_name(follow ? MOVED_FOLLOWED : MOVED_NEVER));
	cli_json_end(&j);
}

static int moved_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct moved_opts *o = opts;
	struct listing l = { 0 };
	bool writes = o->undo || o->follow;
	int rc;

	if (o->undo && o->follow)
		return err_set(err, E_USAGE, "--undo or --follow, not both");
	if (writes != (n_args > 0))
		return err_set(err, E_USAGE, writes ? "which pages? Name their URLs" :
		               "what shall become of them? --undo or --follow");
	rc = writes ? repository_open(cli, &l.store, err) : repository_read(cli, &l.store, err);
	if (rc == 0 && writes)
		rc = lock_wait(l.store, err);   /* a cycle that runs has rows of its own */
	if (rc == 0)
		rc = moved_load(&l.list, l.store, err);
	if (rc == 0)
		rc = writes ? change(&l, o->follow, n_args, args, err) : list_all(&l, cli, err);
	if (rc == 0 && writes)
		print_change(cli, o->follow, n_args);
	moved_release(&l.list);
	care_rules_release(&l.rules);
	arena_release(&l.texts);
	store_close(l.store);
	return rc;
}

const struct command command_moved = {
	.name = "moved",
	.on_fleet = FLEET_EACH,
	.arguments = "[URL...]",
	.summary = "pages that moved for good, and whether they are followed",
	.description =
		"A page whose server answers 301 or 308, and has a page at the end, is counted here. Seen\n"
		"--moved-after times in a row (3, an option and setting of `cycle`) with the same target,\n"
		"it is followed for good: cycles ask for the target at once, which saves a request. The\n"
		"page keeps its URL, its history and its copies, and is what other commands name.\n\n"
		"Not followed is a target that is out of scope, that is a page under care itself, or that\n"
		"another page is followed to already: such a page is asked for by its own URL as before;\n"
		"`freshet remove` ends that. The own URL is asked again after 30 days, and when the target\n"
		"has no page any more; a page that is back is forgotten here. Other crawlers are offered\n"
		"pages by their own URLs.",
	.examples = "  freshet -C crawl moved\n",
	.options = moved_options,
	.opts_size = sizeof(struct moved_opts),
	.n_args_min = 0,
	.n_args_max = -1,
	.run = moved_run,
};
