/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_care.c - `freshet remove`, `pause` and `resume`: which pages are under care. */
#include <stdio.h>
#include <string.h>

#include "cli/cmd/care/caring.h"
#include "cli/frame/shards.h"
#include "engine/fleet/work.h"

static const struct option_spec remove_options[] = {
	CARE_CHOOSING,
	OPT_FLAG(care_opts, undo, "bring removed pages back"),
	OPT_END
};

static const struct option_spec pause_options[] = { CARE_CHOOSING, OPT_END };

/* ---- on a fleet: mail to the shards ---- */

struct mailing { struct caring *c; struct shards_mail mail; int32_t shard; };

static int mail_page(void *arg, const struct store_page *p, struct err *err)
{
	struct mailing *m = arg;

	return shards_mail_line(&m->mail, m->c->cli, m->shard, p->url, err);
}

/* The pages of one shard that --site, --match and --tag choose. */
static int mail_chosen(struct mailing *m, struct err *err)
{
	struct caring *c = m->c;
	VEC(uint32_t) numbers = { 0 };
	int rc = repository_read(c->cli, &c->writing.store, err);

	if (rc == 0)
		rc = caring_choose(c, err);
	for (size_t i = 0; rc == 0 && i < c->pages.pages.n; i++)
		vec_push(&numbers, c->pages.pages.v[i].page);
	if (rc == 0 && !c->opts->dry_run)
		rc = store_pages_get(c->writing.store, numbers.v, numbers.n, mail_page, m, err);
	vec_release(&numbers);
	return rc;
}

static int care_fleet(struct cli *cli, const struct care_opts *o, const char *kind,
                      const char *done, int n_args, char **args, struct err *err)
{
	bool site = o->site && !o->tag && !o->match.n && !n_args && strcmp(kind, "remove") &&
		strcmp(kind, "restore");
	struct caring all = { .cli = cli, .opts = o }, one;
	struct mailing m = { .c = &one };
	struct inbox_stats stats = { 0 };
	char *key = NULL;
	uint32_t left = 0;
	int rc = 0;

	shards_mail_begin(&m.mail, cli, site ? "decide" : kind, NULL);
	for (int i = 0; i < n_args && rc == 0; i++)
		if (shards_of(cli, args[i]) < 0)
			log_warn("'%s' is no URL of a page", args[i]);
		else
			rc = shards_mail_line(&m.mail, cli, shards_of(cli, args[i]),
			                      (struct text){ args[i], strlen(args[i]) }, err);
	if (site && !o->dry_run) {      /* the rule holds for pages that come later, too */
		rc = site_settings_key("paused", o->site, &key, err);
		if (rc == 0)
			rc = fleet_set(cli->shards->fleet, key, !strcmp(kind, "pause") ? "yes" : "no", err);
		if (rc == 0)
			rc = shards_mail_line(&m.mail, cli, -1, (struct text){ "sites", 5 }, err);
		free(key);
	}
	for (size_t i = 0; !n_args && i < cli->shards->n && rc == 0; i++) {
		one = (struct caring){ .cli = cli, .opts = o };
		cli->shard = m.shard = cli->shards->list[i].shard;
		if (!site || o->dry_run)
			rc = mail_chosen(&m, err);
		if (o->dry_run)
			stats.cared += one.pages.pages.n;
		caring_close(&one);
	}
	if (rc == 0 && !o->dry_run)
		rc = shards_mail_end(&m.mail, cli, &stats, &left, err);
	shards_mail_release(&m.mail, cli);
	if (rc < 0)
		return rc;
	all.pages.n_unknown = (uint32_t)stats.unknown;
	caring_print(&all, stats.cared, done, NULL);
	if (left)
		log_info("%u shard%s held by workers: they do the rest", left, left == 1 ? " is" : "s are");
	return 0;
}

static int remove_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct care_opts *o = opts;
	struct caring c;
	uint64_t n;
	int rc;

	if (shards_any(cli))
		return care_fleet(cli, o, o->undo ? "restore" : "remove",
		                  o->undo ? "brought back" : "removed", n_args, args, err);
	rc = caring_open(&c, cli, opts, n_args, args, true, err);
	if (rc == 0 && (rc = caring_choose(&c, err)) == 0)
		rc = care_change(&c.writing, &c.pages, o->undo ? 0 : CARE_REMOVED,
		                 o->undo ? CARE_REMOVED : 0, &n, err);
	if (rc == 0)
		caring_print(&c, n, o->undo ? "brought back" : "removed", o->undo ? "" :
		             "; history stays: `freshet add`, or remove --undo, brings back what went");
	caring_close(&c);
	return rc;
}

/* The rule for a whole site: it holds for pages that come later, too. */
static int pause_site(struct caring *c, bool pause, struct err *err)
{
	struct care_effect effect = { 0 };
	struct care_rules rules = { 0 };
	const char *above;
	char *key = NULL;
	uint32_t at;
	bool fresh;
	int rc = site_settings_key("paused", c->opts->site, &key, err);

	if (rc < 0 || (rc = care_rules_load(&rules, c->writing.store, err)) < 0) {
		care_rules_release(&rules);
		free(key);
		return rc;
	}
	/* what holds without a rule for this host itself? */
	at = strtab_intern(&rules.sites.keys, key, strlen(key), &fresh);
	if (fresh)
		vec_push(&rules.sites.values, NULL);
	free(rules.sites.values.v[at]);
	rules.sites.values.v[at] = NULL;
	above = site_settings_of(&rules.sites, "paused", key + 7, strlen(key + 7));
	c->writing.setting = key;
	c->writing.value = pause ? "yes" : above && !strcmp(above, "yes") ? "no" : NULL;
	rules.sites.values.v[at] = mem_strdup(c->writing.value ? c->writing.value :
	                                      above ? above : "no");
	rules.any_paused = true;
	rc = care_decide(&c->writing, &rules, &effect, err);
	c->writing.setting = NULL;
	free(key);
	care_rules_release(&rules);
	return rc;
}

static uint64_t count_waiting(const struct care_pages *p, unsigned bits)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->pages.n; i++)
		n += (p->pages.v[i].care & bits) != 0;
	return n;
}

static int pause_or_resume(struct cli *cli, void *opts, int n_args, char **args, bool pause,
                           struct err *err)
{
	const struct care_opts *o = opts;
	bool whole = o->site && !o->tag && !o->match.n && !n_args;
	struct caring c;
	uint64_t n = 0, held = 0;
	int rc;

	if (shards_any(cli))
		return care_fleet(cli, o, pause ? "pause" : "resume", pause ? "paused" : "resumed",
		                  n_args, args, err);
	rc = caring_open(&c, cli, opts, n_args, args, true, err);
	if (rc == 0)
		rc = caring_choose(&c, err);
	if (rc == 0 && whole && !pause)         /* also pages that were paused one by one */
		rc = care_change(&c.writing, &c.pages, 0, CARE_PAUSED, &n, err);
	if (rc == 0 && whole) {
		struct care_pages before = c.pages;

		rc = pause_site(&c, pause, err);
		n = before.pages.n - (pause ? count_waiting(&before, CARE_SITE) :
		                      before.pages.n - count_waiting(&before, CARE_SITE | CARE_PAUSED));
	} else if (rc == 0) {
		rc = care_change(&c.writing, &c.pages, pause ? CARE_PAUSED : 0,
		                 pause ? 0 : CARE_PAUSED, &n, err);
		held = pause ? 0 : count_waiting(&c.pages, CARE_SITE);
	}
	if (rc == 0)
		caring_print(&c, n, pause ? "paused" : "resumed",
		             pause && whole ? "; so will be those that come" : "");
	if (rc == 0 && held)
		log_info("%llu of them still rest: their site is paused, `freshet resume --site HOST` "
		         "ends that", (unsigned long long)held);
	caring_close(&c);
	return rc;
}

static int pause_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	return pause_or_resume(cli, opts, n_args, args, true, err);
}

static int resume_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	return pause_or_resume(cli, opts, n_args, args, false, err);
}

const struct command command_remove = {
	.name = "remove",
	.on_fleet = FLEET_SELF,
	.arguments = "[URL...]",
	.summary = "take pages out of care; their history stays",
	.description =
		"A removed page is in no plan and in no count of `freshet status`, and a replay of the\n"
		"repository leaves it out. Its visits and copies stay where they are. `freshet add URL`\n"
		"and `remove --undo` bring it back, with all that is known of it; importing a list that\n"
		"names it does not.\n\n"
		"A cycle that is open goes on without the page. What another crawler tells of one that it\n"
		"was offered before is taken.",
	.examples =
		"  freshet -C crawl remove https://example.org/about.html\n"
		"  freshet -C crawl remove --site example.org --match 'regex:[?&]session=' --dry-run\n"
		"  freshet -C crawl remove --undo https://example.org/about.html\n",
	.options = remove_options,
	.opts_size = sizeof(struct care_opts),
	.n_args_min = 0,
	.n_args_max = -1,
	.run = remove_run,
};

const struct command command_pause = {
	.name = "pause",
	.on_fleet = FLEET_SELF,
	.arguments = "[URL...]",
	.summary = "leave pages or sites alone for a while",
	.description =
		"Paused pages are in no plan until `freshet resume`. With --site alone the site is paused,\n"
		"with its subdomains, and so are pages of it that come later; with --match or --tag beside\n"
		"it only the pages that are there. It holds at once, also for a cycle that is open.",
	.examples =
		"  freshet -C crawl pause --site example.org\n"
		"  freshet -C crawl pause --tag seasonal\n",
	.options = pause_options,
	.opts_size = sizeof(struct care_opts),
	.n_args_min = 0,
	.n_args_max = -1,
	.run = pause_run,
};

const struct command command_resume = {
	.name = "resume",
	.on_fleet = FLEET_SELF,
	.arguments = "[URL...]",
	.summary = "end a pause",
	.description =
		"The pages take part again from the next cycle on. With --site alone all of the site does,\n"
		"whether it was paused as a whole or page by page.",
	.examples = "  freshet -C crawl resume --site example.org\n",
	.options = pause_options,
	.opts_size = sizeof(struct care_opts),
	.n_args_min = 0,
	.n_args_max = -1,
	.run = resume_run,
};
