/* SPDX-License-Identifier: Apache-2.0 */
/* caring.c - see caring.h. */
#include "cli/cmd/care/caring.h"

#include <stdio.h>

int caring_choose(struct caring *c, struct err *err)
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

int caring_open(struct caring *c, struct cli *cli, void *opts, int n_args, char **args,
                bool writes, struct err *err)
{
	*c = (struct caring){ .cli = cli, .opts = opts,
	                      .which = { .urls = args, .n_urls = (size_t)n_args } };
	c->writing = (struct care_writing){ .now = clock_now(), .dry = c->opts->dry_run };
	return writes && !c->opts->dry_run ? repository_open(cli, &c->writing.store, err) :
	       repository_read(cli, &c->writing.store, err);
}

void caring_close(struct caring *c)
{
	store_close(c->writing.store);
	scope_list_release(&c->which.match);
	care_pages_release(&c->pages);
}

void caring_print(const struct caring *c, uint64_t n, const char *done, const char *more)
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
