/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c - see schedule.h. */
#include "cli/cmd/crawl/schedule.h"

#include <stdio.h>

#include "cli/cmd/crawl/cycle_opts.h"
#include "cli/frame/running.h"
#include "policy/policy.h"

int schedule_options(const struct schedule *s, struct cli *ret, struct store *store,
                     struct arena *texts, struct err *err)
{
	int n, rc = running_parse(ret, command_find("cycle"), s->cli->line, 0, NULL, &n, err);

	ret->common = s->cli->common;
	return rc < 0 ? rc : repository_settings(ret, store, texts, err);
}

/* Look at the options that the settings of the fleet make. */
static int look(const struct schedule *s,
                int (*see)(const struct schedule *s, const struct cycle_opts *o, void *arg,
                           struct err *err), void *arg, struct err *err)
{
	struct arena texts = { 0 };
	struct store *store = NULL;
	struct cli cli = { 0 };
	struct buf where;
	int rc;

	buf_init(&where, BUF_NO_LIMIT);
	fleet_url(s->url, 0, 0, NULL, &where);
	rc = store_open(&store, buf_text(&where), STORE_READ, err);
	buf_release(&where);
	if (rc == 0) {
		rc = schedule_options(s, &cli, store, &texts, err);
		if (rc == 0)
			rc = see(s, cli.opts, arg, err);
		running_release(&cli);
	}
	store_close(store);
	arena_release(&texts);
	return rc;
}

static int see_schedule(const struct schedule *s, const struct cycle_opts *o, void *arg,
                        struct err *err)
{
	struct work_schedule *ret = arg;

	(void)s;
	ret->every = o->every;
	ret->budget = o->budget;
	snprintf(ret->policy, sizeof ret->policy, "%s", o->policy);
	snprintf(ret->aim, sizeof ret->aim, "%s", aim_name((enum aim)o->aim));
	return o->every > 0 ? 0 : err_set(err, E_USAGE, "the setting every must be longer than 0");
}

int schedule_load(const struct schedule *s, struct work_schedule *ret, struct err *err)
{
	return look(s, see_schedule, ret, err);
}

static int see_contact(const struct schedule *s, const struct cycle_opts *o, void *arg,
                       struct err *err)
{
	(void)arg;
	return o->web.contact && *o->web.contact ? 0 : crawling_unnamed(s->cli, err);
}

int schedule_named(const struct schedule *s, struct err *err)
{
	return look(s, see_contact, NULL, err);
}
