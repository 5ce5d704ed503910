/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_care.c - `freshet remove`, `pause`, `resume` and `tag`: which pages are under care. */
#include <stdio.h>
#include <string.h>

#include "cli/frame/repository.h"
#include "cli/frame/shards.h"
#include "engine/book/care.h"
#include "engine/fleet/work.h"

struct care_opts {
	const char *site, *tag;
	struct option_list match;
	bool dry_run, undo, delete_;
};

#define CHOOSING \
	OPT_TEXT(care_opts, site, NULL, "HOST", "the pages of a host and of its subdomains"), \
	OPT_LIST(care_opts, match, "RULE", "the pages that one of these rules fits: a prefix, a " \
	         "glob or regex:R; `freshet help set` has the forms"), \
	OPT_TEXT(care_opts, tag, NULL, "TAG", "the pages that have this tag"), \
	OPT_FLAG(care_opts, dry_run, "change nothing; say how many pages it would be")

static const struct option_spec remove_options[] = {
	CHOOSING,
	OPT_FLAG(care_opts, undo, "bring removed pages back"),
	OPT_END
};

static const struct option_spec pause_options[] = { CHOOSING, OPT_END };

static const struct option_spec tag_options[] = {
	CHOOSING,
	{ .name = "delete", .type = OPTION_FLAG, .offset = offsetof(struct care_opts, delete_),
	  .help = "take the tag away" },
	OPT_END
};

/* A command at work. */
struct caring {
	struct cli *cli;
	const struct care_opts *opts;
	struct care_which which;
	struct care_pages pages;
	struct care_writing writing;
	uint64_t n_warned;
};

static int choose(struct caring *c, struct err *err)
{
	struct care_which *w = &c->which;
	int rc = 0;

	for (size_t i = 0; i < c->opts->match.n && rc == 0; i++)
		rc = scope_list_add(&w->match, c->opts->match.v[i], err);
	if (rc < 0)
		return rc;
	w->site = c->opts->site;
	w->tag = c->opts->tag;
	w->report = log_warn_few;
	w->arg = &c->n_warned;
	if (!w->n_urls && !w->site && !w->tag && !w->match.rules.n)
		return err_set(err, E_USAGE, "%s: which pages? Name URLs, or give --site, --match or "
		               "--tag", c->cli->command->name);
	if (w->n_urls && (w->site || w->tag || w->match.rules.n))
		return err_set(err, E_USAGE, "%s: URLs go alone; --site, --match and --tag choose "
		               "together", c->cli->command->name);
	rc = care_choose(&c->pages, c->writing.store, w, err);
	if (rc == 0 && !c->pages.pages.n && c->pages.n_unknown)
		rc = err_set(err, E_USAGE, "none of these pages is in this repository");
	return rc;
}

static int caring_open(struct caring *c, struct cli *cli, void *opts, int n_args, char **args,
                       bool writes, struct err *err)
{
	*c = (struct caring){ .cli = cli, .opts = opts,
	                      .which = { .urls = args, .n_urls = (size_t)n_args } };
	c->writing = (struct care_writing){ .now = clock_now(), .dry = c->opts->dry_run };
	return writes && !c->opts->dry_run ? repository_open(cli, &c->writing.store, err) :
	       repository_read(cli, &c->writing.store, err);
}

static void caring_close(struct caring *c)
{
	store_close(c->writing.store);
	scope_list_release(&c->which.match);
	care_pages_release(&c->pages);
}

/* "12 pages removed", or would be; *more: what else is to be said. */
static void print_change(const struct caring *c, uint64_t n, const char *done, const char *more)
{
	struct json j;

	if (c->cli->common.json) {
		cli_json_begin(&j, c->cli->command->name);
		json_kint(&j, "pages", (int64_t)c->pages.pages.n);
		json_kint(&j, "changed", (int64_t)n);
		json_kint(&j, "unknown", c->pages.n_unknown);
		json_kbool(&j, "dry_run", c->opts->dry_run);
		cli_json_end(&j);
		return;
	}
	printf("%llu page%s %s%s", (unsigned long long)n, n == 1 ? "" : "s",
	       c->opts->dry_run ? "would be " : "", done);
	if (c->pages.pages.n > n)
		printf(", %llu already %s so", (unsigned long long)(c->pages.pages.n - n),
		       c->pages.pages.n - n == 1 ? "was" : "were");
	if (c->pages.n_unknown)
		printf(", %u not in this repository", c->pages.n_unknown);
	printf("%s\n", n && more && !c->opts->dry_run ? more : "");
}

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
		rc = choose(c, err);
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
	print_change(&all, stats.cared, done, NULL);
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
	if (rc == 0 && (rc = choose(&c, err)) == 0)
		rc = care_change(&c.writing, &c.pages, o->undo ? 0 : CARE_REMOVED,
		                 o->undo ? CARE_REMOVED : 0, &n, err);
	if (rc == 0)
		print_change(&c, n, o->undo ? "brought back" : "removed", o->undo ? "" :
		             "; their history stays: `freshet add`, or remove --undo, brings them back");
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
		rc = choose(&c, err);
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
		print_change(&c, n, pause ? "paused" : "resumed",
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

/* ---- tags ---- */

static int list_tag(void *arg, struct text tag, uint64_t n, struct err *err)
{
	struct json *j = arg;

	(void)err;
	if (!j) {
		char shown[STORE_TAG_MAX + 1];

		snprintf(shown, sizeof shown, "%.*s", (int)tag.size, tag.s);
		printf("%s %llu\n", log_plain(shown), (unsigned long long)n);
		return 0;
	}
	json_object(j);
	json_key(j, "tag");
	json_strn(j, tag.s, tag.size);
	json_kint(j, "pages", (int64_t)n);
	json_end_object(j);
	return 0;
}

static int list_tags(struct caring *c, struct err *err)
{
	struct json j;
	int rc;

	if (!c->cli->common.json)
		return store_tags(c->writing.store, STORE_NONE, list_tag, NULL, err);
	cli_json_begin(&j, "tag");
	json_key(&j, "tags");
	json_array(&j);
	rc = store_tags(c->writing.store, STORE_NONE, list_tag, &j, err);
	json_end_array(&j);
	cli_json_end(&j);
	return rc;
}

static int put_tag(struct caring *c, const char *tag, struct err *err)
{
	VEC(uint32_t) pages = { 0 };
	struct store *s = c->writing.store;
	int rc;

	for (size_t i = 0; i < c->pages.pages.n; i++)
		vec_push(&pages, c->pages.pages.v[i].page);
	rc = store_begin(s, err);
	if (rc == 0)
		rc = store_tag_put(s, (struct text){ tag, strlen(tag) }, pages.v, pages.n,
		                   !c->opts->delete_, err);
	if (rc == 0)
		rc = store_commit(s, err);
	if (rc < 0)
		store_rollback(s);
	vec_release(&pages);
	return rc;
}

static int tag_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct care_opts *o = opts;
	struct caring c;
	VEC(char *) own = { 0 };
	int rc;

	/* of a fleet, shard after shard: each has its own pages */
	if (shards_count(cli) > 1 && cli->common.shard < 0 && n_args > 1) {
		vec_push(&own, args[0]);
		for (int i = 1; i < n_args; i++)
			if (shards_of(cli, args[i]) == cli->shard)
				vec_push(&own, args[i]);
		if (own.n == 1) {
			vec_release(&own);
			return 0;
		}
		args = own.v;
		n_args = (int)own.n;
	}
	rc = caring_open(&c, cli, opts, n_args ? n_args - 1 : 0, args + 1, n_args > 0, err);
	if (rc == 0 && !n_args) {
		rc = list_tags(&c, err);
	} else if (rc == 0 && (rc = choose(&c, err)) == 0) {
		if (!o->dry_run)
			rc = put_tag(&c, args[0], err);
		if (rc == 0)
			print_change(&c, c.pages.pages.n, o->delete_ ? "without the tag" : "tagged", "");
	}
	caring_close(&c);
	vec_release(&own);
	return rc;
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

const struct command command_tag = {
	.name = "tag",
	.on_fleet = FLEET_EACH,
	.arguments = "[TAG [URL...]]",
	.summary = "give pages a tag; without arguments, list the tags",
	.description =
		"A tag is a word of yours. `add` and `import` give it to the pages they are told of\n"
		"(--tag); remove, pause, resume, plan and export pages choose by it.",
	.examples =
		"  freshet -C crawl tag news --match https://example.org/news/\n"
		"  freshet -C crawl tag news https://example.org/ --delete\n"
		"  freshet -C crawl tag\n",
	.options = tag_options,
	.opts_size = sizeof(struct care_opts),
	.n_args_min = 0,
	.n_args_max = -1,
	.run = tag_run,
};
