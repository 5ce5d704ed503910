/* SPDX-License-Identifier: Apache-2.0 */
/* cycle_opts.c - see cycle_opts.h. */
#include "cli/cmd/crawl/cycle_opts.h"

#include "cli/frame/shards.h"
#include "cli/report/report.h"

struct on_change cycle_what_to_run(const struct cli *cli, const struct cycle_opts *o,
                                   const struct crawling *l)
{
	return (struct on_change){ .command = o->on_change, .shell = o->on_change_shell,
	                           .seconds = o->on_change_time, .stop = l->crawl.stop,
	                           .folder = cli->common.repository };
}

/* Called before the first request. */
static void on_goes_on(void *arg, const struct crawl_report *r)
{
	const struct store_cycle *c = &r->cycle;
	uint32_t left = c->budget - (c->downloads < c->budget ? c->downloads : c->budget);

	(void)arg;
	log_info("going on with cycle %u, which had been broken off: %u of its %u requests are "
	         "left, and its policy is %s. A budget or policy given now is not used; --new ends "
	         "this cycle and begins another", c->number, left, c->budget, r->policy);
	if (r->lapsed)
		log_warn("%u page%s under way when it was broken off: the requests are spent, and this "
		         "cycle does not ask again for what lapsed so", r->lapsed,
		         r->lapsed == 1 ? " was" : "s were");
}

int cycle_open(struct crawling *c, struct cli *cli, struct cycle_opts *o, struct err *err)
{
	struct on_change run = cycle_what_to_run(cli, o, c);
	int rc = report_check(o->report, err);

	if (rc == 0)
		rc = on_change_check(&run, err);
	if (rc == 0)
		rc = crawling_open(c, cli, err);
	return rc < 0 ? rc : cycle_set(c, cli, o, err);
}

int cycle_set(struct crawling *c, struct cli *cli, struct cycle_opts *o, struct err *err)
{
	int rc = crawling_set(c, cli, &o->web, err);

	for (size_t i = 0; rc == 0 && i < o->ignore.n; i++)
		rc = ignore_list_add(&c->crawl.ignore, o->ignore.v[i], err);
	if (rc == 0)
		rc = site_ignore_add(&c->crawl.ignore, &c->sites, err);
	if (rc == 0)
		rc = detector_parse(&c->crawl.detect, o->detect, err);
	if (rc == 0 && (cli_given(cli, "include") || cli_given(cli, "exclude"))) {
		rc = scope_options_load(cli, c->store, &o->include, &o->exclude, &o->care, err);
		c->crawl.scope = &o->care;
	}
	if (rc == 0 && o->doing && !(c->doing_to = fopen(o->doing, "ae")))
		rc = err_errno(err, E_IO, "--doing: %s", o->doing);
	c->crawl.policy = o->policy;
	c->crawl.anew = o->new_cycle;
	c->crawl.goes_on = on_goes_on;
	c->crawl.aim = (enum aim)o->aim;
	c->crawl.weight = (enum weight_by)o->weight;
	c->crawl.n_shards = shards_count(cli);
	c->crawl.words = (enum crawl_words)o->words;
	c->crawl.compress = (enum warc_compress)o->compress;
	c->crawl.stem = o->stem;
	c->crawl.no_requests = o->no_requests;
	c->crawl.discover = (struct discover_opts){ .share = o->discover,
		.per_directory = (uint32_t)o->discover_per_directory,
		.per_site = (uint32_t)o->discover_per_site, .follow_all = o->discover_nofollow };
	c->crawl.budget = o->budget;
	c->crawl.site_share = o->site_share;
	c->crawl.retry_share = o->retry_share;
	c->crawl.notifier_share = o->notifier_share;
	c->crawl.cycle_seconds = o->every;
	if (rc == 0)
		rc = guarantee_cycles(o->max_age, o->every, &c->crawl.max_age, err);
	c->crawl.confirmations = (unsigned)o->confirmations;
	c->crawl.moved_after = (unsigned)o->moved_after;
	c->crawl.fetch.cycle_seconds = (double)o->cycle_time;
	c->crawl.fetch.host_seconds = (double)o->host_time;
	return rc;
}

