/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_set.c - `freshet set`: settings of a repository, and of one site. */
#include <stdio.h>

#include "cli/frame/crawling.h"
#include "cli/frame/shards.h"
#include "engine/book/care.h"
#include "engine/fleet/work.h"
#include "engine/recall/planning.h"
#include "fetch/gate.h"
#include "fetch/proxy.h"

/* Check texts that have a grammar now, not when they are used. */
static int check_meaning(const char *name, const char *value, struct err *err)
{
	struct gate gate = { 0 };
	struct proxy proxy = { 0 };
	int rc;

	if (!strcmp(name, "allow_net"))
		rc = crawling_allow(&gate, value, err);
	else if (!strcmp(name, "contact"))
		rc = crawling_contact(value, err);
	else if (!strcmp(name, "proxy"))
		rc = proxy_init(&proxy, value, NULL, NULL, err);
	else if ((rc = planning_check(name, value, err)) == 0)
		rc = requests_check(name, value, err);
	proxy_release(&proxy);
	gate_release(&gate);
	return rc;
}

/* Try the value on a scratch copy of the option's struct. */
static int check_value(const struct option_spec *s, const char *value, struct err *err)
{
	struct option_spec scratch = *s;
	union { char bytes[sizeof(struct option_list)]; double d; int64_t i; void *p;
	        struct share share; struct option_list list; } place = { { 0 } };
	int rc;

	scratch.offset = 0;
	rc = option_set(&scratch, &place, value, err);
	if (s->type == OPTION_LIST)
		free(place.list.v);
	return rc < 0 ? rc : check_meaning(s->name, value, err);
}

#define SITE_SETTINGS "delay, budget, max-age, weight, detect, ignore, header, accept or max-body"

struct set_opts { const char *site; bool dry_run; };

static const struct option_spec set_options[] = {
	OPT_TEXT(set_opts, site, NULL, "HOST", "for this host and its subdomains only: " SITE_SETTINGS),
	OPT_FLAG(set_opts, dry_run, "include, exclude: change nothing; say which pages would come "
	         "into scope or leave it"),
	OPT_END
};

static void print_set(const struct cli *cli, const char *name, const char *value,
                      const struct care_effect *effect)
{
	struct json j;

	if (!cli->common.json)
		return;
	cli_json_begin(&j, "set");
	json_kstr(&j, "key", name);
	json_kstr(&j, "value", value);
	if (effect) {
		json_kint(&j, "in_scope", (int64_t)effect->in);
		json_kint(&j, "out_of_scope", (int64_t)effect->out);
	}
	cli_json_end(&j);
}

#define PAGES_SHOWN 20          /* of those that come into scope or leave it */

static void show_page(void *arg, struct text url, bool in)
{
	uint64_t *shown = arg;

	if ((*shown)++ < PAGES_SHOWN)
		printf("%s %.*s\n", in ? "in " : "out", (int)url.size, url.s);
	else if (*shown == PAGES_SHOWN + 1)
		puts("... and more");
}

/* The same of all shards of a fleet: each does it by itself. */
static int decide_all(struct cli *cli, const struct care_writing *w, struct care_effect *ret,
                      struct err *err)
{
	struct inbox_stats done;
	struct shards_mail mail;
	uint32_t left;
	int rc = fleet_set(cli->shards->fleet, w->setting, w->value, err);

	shards_mail_begin(&mail, cli, "decide", NULL);
	if (rc == 0)
		rc = shards_mail_line(&mail, cli, -1, (struct text){ "scope", 5 }, err);
	if (rc == 0)
		rc = shards_mail_end(&mail, cli, &done, &left, err);
	shards_mail_release(&mail, cli);
	if (rc == 0)
		log_info("%llu page%s came into scope or left it%s", (unsigned long long)done.cared,
		         done.cared == 1 ? "" : "s", left ? "; workers decide about those of their shards" : "");
	ret->in = ret->out = 0;
	return rc;
}

/* include or exclude: every page is decided about anew, in the same batch. */
static int set_scope(struct cli *cli, const struct set_opts *o, const char *name,
                     int n, char **rules, struct err *err)
{
	uint64_t shown = 0;
	struct care_effect effect = { .arg = &shown };
	struct care_writing w = { .now = clock_now(), .dry = o->dry_run, .setting = name };
	struct care_rules care = { 0 };
	struct scope_list *list = !strcmp(name, "include") ? &care.scope.include :
	                          &care.scope.exclude;
	struct buf text;
	int rc = o->dry_run || shards_any(cli) ? repository_read(cli, &w.store, err) :
	         repository_open(cli, &w.store, err);

	buf_init(&text, BUF_NO_LIMIT);
	if (rc == 0 && (rc = care_rules_load(&care, w.store, err)) == 0) {
		scope_list_release(list);
		*list = (struct scope_list){ 0 };
	}
	for (int i = 0; i < n && rc == 0; i++)
		rc = scope_list_add(list, rules[i], err);
	if (rc == 0) {
		scope_list_text(list, &text);   /* rules of files, too: the file may change */
		w.value = text.size ? buf_text(&text) : NULL;
		effect.each = o->dry_run && !cli->common.json ? show_page : NULL;
		rc = shards_any(cli) && !o->dry_run ? decide_all(cli, &w, &effect, err) :
		     care_decide(&w, &care, &effect, err);
	}
	if (rc == 0)
		print_set(cli, name, w.value, &effect);
	if (rc == 0 && (effect.in || effect.out || o->dry_run))
		log_info("%llu page%s %sinto scope, %llu %sout of it", (unsigned long long)effect.in,
		         effect.in == 1 ? "" : "s", o->dry_run ? "would come " : "came ",
		         (unsigned long long)effect.out, o->dry_run ? "would go " : "went ");
	buf_release(&text);
	care_rules_release(&care);
	store_close(w.store);
	return rc;
}

/* What can be set for one site, as the option of that name is checked; NULL: nothing. */
static const struct option_spec *site_setting(const char *name)
{
	static const struct option_spec own[] = {
		{ .name = "delay", .type = OPTION_SECONDS, .max = 3600 },
		{ .name = "budget", .type = OPTION_INT, .max = UINT32_MAX },
		{ .name = "max-age", .type = OPTION_DURATION },
		{ .name = "weight", .type = OPTION_DOUBLE, .max = STORE_WEIGHT_MAX },
		{ .name = "detect", .type = OPTION_TEXT },
		{ .name = "ignore", .type = OPTION_TEXT },
		{ .name = "header", .type = OPTION_TEXT },
		{ .name = "accept", .type = OPTION_TEXT },
		{ .name = "max-body", .type = OPTION_SIZE, .min = 1024, .max = 1 << 30 },
		OPT_END
	};

	return option_find(own, name, strlen(name));
}

static int set_site(struct cli *cli, const struct set_opts *o, int n_args, char **args,
                    struct err *err)
{
	const struct option_spec *spec = site_setting(args[0]);
	struct care_writing w = { .now = clock_now() };
	struct care_pages none = { 0 };
	char *key = NULL, *value = NULL;
	uint64_t n;
	int rc;

	if (!spec)
		return err_set(err, E_USAGE, "--site: " SITE_SETTINGS ", and a value");
	rc = requests_kept(spec->name, n_args - 1, args + 1, &value, err);
	if (rc == 0 && value)
		rc = check_value(spec, value, err);
	if (rc == 0)
		rc = site_settings_key(spec->name, o->site, &key, err);
	w.value = value;
	w.setting = key;
	if (rc == 0 && shards_any(cli)) {
		rc = fleet_set(cli->shards->fleet, key, w.value, err);
	} else if (rc == 0 && (rc = repository_open(cli, &w.store, err)) == 0) {
		rc = care_change(&w, &none, 0, 0, &n, err);
	}
	if (rc == 0)
		print_set(cli, key, w.value, NULL);
	store_close(w.store);
	free(key);
	free(value);
	return rc;
}

static int set_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct option_spec *spec = setting_find(args[0]);
	const struct set_opts *o = opts;
	struct store *s = NULL;
	char name[64], *value;
	int rc;

	if (o->site)
		return set_site(cli, o, n_args, args, err);
	if (!spec)
		return setting_unknown(args[0], err);
	option_display(spec, name);
	if (!strcmp(name, "include") || !strcmp(name, "exclude"))
		return set_scope(cli, o, name, n_args - 1, args + 1, err);
	if (o->dry_run)
		return err_set(err, E_USAGE, "--dry-run goes with include and exclude");
	rc = requests_kept(name, n_args - 1, args + 1, &value, err);
	if (rc == 0 && value)
		rc = check_value(spec, value, err);
	if (rc == 0 && shards_any(cli)) {
		rc = fleet_set(cli->shards->fleet, name, value, err);
	} else if (rc == 0 && (rc = repository_open(cli, &s, err)) == 0) {
		if ((rc = store_begin(s, err)) == 0 &&
		    (rc = store_setting_put(s, name, value, err)) == 0)
			rc = store_commit(s, err);
		store_close(s);
	}
	if (rc == 0)
		print_set(cli, name, value, NULL);
	free(value);
	return rc;
}

const struct command command_set = {
	.name = "set",
	.reach = MAY_READ_ARGS,
	.on_fleet = FLEET_SELF,
	.arguments = "KEY [VALUE...]",
	.summary = "set a setting of the repository; without a value, unset it",
	.description = "Settings carry the names of options and are used where the option is not "
		"given.\n`freshet get --all` lists them.\n\n"
		"With --site a setting holds for one host and its subdomains, unless a more special host\n"
		"has its own: delay (between requests), budget (requests of a cycle, shared by all of\n"
		"them), max-age (no page of it stays unvisited longer; one cycle at least), weight\n"
		"(multiplies those of its pages under --weight given), detect and ignore (what is a\n"
		"change), header (any number of values), accept and max-body (as the options of `cycle`).\n"
		"`status --sites` shows them. cookies and credentials are kept as the whole path of the\n"
		"file, never its content.\n\n"
		"The rules of scope, include and exclude, take any number of values. A URL is in scope if\n"
		"an include rule fits (or there are none) and no exclude rule does. A rule is a word:\n"
		"HOST (with its subdomains) or HOST/PATH; a URL or a path that others begin with; a glob,\n"
		"in which * stands for any text; regex:R, an expression of PCRE2 found anywhere in the\n"
		"URL; or @FILE, rules one a line, which are copied. They hold at once: pages that they\n"
		"leave out take part in no cycle, and come back when the rules do. import, discovery and\n"
		"tell --add take no page that is out of scope. --dry-run shows what they would do.",
	.examples = "  freshet -C crawl set contact https://example.org/crawler\n"
		"  freshet -C crawl set --site example.org delay 5s\n"
		"  freshet -C crawl set --site example.org budget 100\n"
		"  freshet -C crawl set --site example.org detect text\n"
		"  freshet -C crawl set --site example.org header 'X-Lab: one' 'Accept-Language: de'\n"
		"  freshet -C crawl set credentials logins   # read before each cycle\n"
		"  freshet -C crawl set exclude /private/ '*.pdf' 'regex:[?&]session=' --dry-run\n"
		"  freshet -C crawl set exclude              # no such rule any more\n",
	.options = set_options,
	.opts_size = sizeof(struct set_opts),
	.n_args_min = 1,
	.n_args_max = -1,
	.run = set_run,
};
