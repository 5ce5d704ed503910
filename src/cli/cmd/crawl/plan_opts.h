/* SPDX-License-Identifier: Apache-2.0 */
/* plan_opts.h - what `freshet plan` and `freshet explain` have in common: options, and the
 * repository resumed with them. */
#ifndef CLI_CMD_CRAWL_PLAN_OPTS_H
#define CLI_CMD_CRAWL_PLAN_OPTS_H

#include "cli/frame/scope_options.h"
#include "cli/frame/tagged.h"
#include "engine/book/care.h"
#include "engine/recall/planning.h"

struct plan_opts {
	const char *policy;
	struct share budget;
	int64_t every, now;
	int goal, aim, weight, format;
	int64_t max_age;
	struct share site_share, retry_share, notifier_share;
	struct option_list include, exclude;
	const char *tag;
};

#define PLAN_OPTIONS \
	{ .name = "policy", .type = OPTION_TEXT, .def = "auto", .arg = "SPEC", \
	  .offset = offsetof(struct plan_opts, policy), .setting = true, \
	  .help = "the policy: name or name:key=value,..." }, \
	SETTING_AIM(plan_opts), \
	{ .name = "budget", .type = OPTION_SHARE, .def = "2%", .arg = "N|N%", \
	  .offset = offsetof(struct plan_opts, budget), .setting = true, \
	  .help = "downloads of a cycle, as a number or a share of the pages" }, \
	{ .name = "every", .type = OPTION_DURATION, .def = "1d", .arg = "DURATION", \
	  .offset = offsetof(struct plan_opts, every), .setting = true, \
	  .help = "time between cycles" }, \
	{ .name = "max-age", .type = OPTION_DURATION, .arg = "DURATION", \
	  .offset = offsetof(struct plan_opts, max_age), .setting = true, \
	  .help = "no page stays unvisited longer" }, \
	{ .name = "site-share", .type = OPTION_SHARE, .arg = "N|N%", \
	  .offset = offsetof(struct plan_opts, site_share), .setting = true, \
	  .help = "no domain gets more of a cycle, unless it has more of the pages; default: " \
	          "its share of the pages and half of the rest" }, \
	{ .name = "notifier_share", .type = OPTION_SHARE, .def = TOUCH_SHARE, .arg = "N|N%", \
	  .offset = offsetof(struct plan_opts, notifier_share), .setting = true, \
	  .help = "pages that a notifier touched get at most this part of a cycle, for each " \
	          "notifier" }, \
	{ .name = "retry_share", .type = OPTION_SHARE, .def = "5%", .arg = "N|N%", \
	  .offset = offsetof(struct plan_opts, retry_share), .setting = true, \
	  .help = "pages that failed and have rested get at most this part of a cycle, one " \
	          "request at least" }, \
	SCOPE_OPTIONS(plan_opts), \
	OPT_CHOICE(plan_opts, goal, "changed|alive", "changed", "what counts as a hit"), \
	OPT_TIME(plan_opts, now, NULL, "plan as if it were this time")

/* The repository, the settings in force, and the plan. */
struct plan_work {
	struct store *store;
	struct arena texts;
	struct progress progress;
	struct planning plan;
	struct care_rules care;
	struct tagged tagged;           /* which pages are shown */
};

/* Resume the repository with the options and settings in force.  plan_close() also after a
 * failure. */
int plan_open(struct plan_work *p, struct cli *cli, struct plan_opts *o, struct err *err);
void plan_close(struct plan_work *p);
/* What the policy says of itself: what auto chose, and why. */
void plan_say_choice(const char *why, const char *policy);

#endif
