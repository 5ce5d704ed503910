/* SPDX-License-Identifier: Apache-2.0 */
/* cycle_opts.h - the options of commands that run cycles: cycle, run, work. */
#ifndef CLI_CMD_CRAWL_CYCLE_OPTS_H
#define CLI_CMD_CRAWL_CYCLE_OPTS_H

#include "cli/export/on_change.h"
#include "cli/frame/crawling.h"
#include "cli/frame/scope_options.h"
#include "engine/book/touch.h"
#include "web/page/change.h"

struct cycle_opts {
	struct web_opts web;
	const char *policy, *detect, *stem;
	struct share budget, site_share, retry_share, notifier_share;
	int64_t moved_after;
	int64_t every, max_age, cycles, confirmations, cycle_time, host_time;
	int words, aim, weight, compress;
	bool no_requests, new_cycle;
	struct share discover;
	bool discover_nofollow;
	int64_t discover_per_directory, discover_per_site;
	struct option_list ignore, include, exclude;
	struct care_rules care;
	const char *report, *on_change, *doing;
	bool on_change_shell;
	int64_t on_change_time;
};

#define CYCLE_OPTIONS \
	SETTING(cycle_opts, "policy", policy, OPTION_TEXT, "auto", "SPEC", \
	        "the policy: name or name:key=value,..."), \
	SETTING_AIM(cycle_opts), \
	SETTING(cycle_opts, "budget", budget, OPTION_SHARE, "2%", "N|N%", \
	        "requests of a cycle, as a number or a share of the pages"), \
	SETTING(cycle_opts, "every", every, OPTION_DURATION, "1d", "DURATION", \
	        "time between cycles"), \
	SETTING(cycle_opts, "cycle_time", cycle_time, OPTION_DURATION, NULL, "DURATION", \
	        "a cycle ends after it, whatever is left; default: under `run` when the next " \
	        "is due, else it has no end"), \
	SETTING(cycle_opts, "host_time", host_time, OPTION_DURATION, NULL, "DURATION", \
	        "a host's part of a cycle ends after it, whatever is left of it"), \
	SETTING(cycle_opts, "max_age", max_age, OPTION_DURATION, NULL, "DURATION", \
	        "no page stays unvisited longer"), \
	SETTING(cycle_opts, "site_share", site_share, OPTION_SHARE, NULL, "N|N%", \
	        "no domain gets more of a cycle, unless it has more of the pages; default: " \
	        "its share of the pages and half of the rest"), \
	SETTING(cycle_opts, "retry_share", retry_share, OPTION_SHARE, "5%", "N|N%", \
	        "pages that failed and have rested get at most this part of a cycle, one request " \
	        "at least"), \
	SETTING(cycle_opts, "notifier_share", notifier_share, OPTION_SHARE, TOUCH_SHARE, "N|N%", \
	        "pages that a notifier touched get at most this part of a cycle, for each notifier"), \
	SETTING(cycle_opts, "detect", detect, OPTION_TEXT, "bytes", "HOW", \
	        "what counts as a change: " DETECTOR_CHOICES), \
	SETTING_RANGED(cycle_opts, "confirmations", confirmations, OPTION_INT, "2", 1, 100, \
	               "N", "times a page must be seen gone before it is believed"), \
	SETTING_RANGED(cycle_opts, "moved_after", moved_after, OPTION_INT, "3", 0, 1000, "N", \
	               "times that a page must be seen to have moved for good (301, 308) before its " \
	               "new address is asked for at once; 0: never"), \
	SETTING(cycle_opts, "ignore", ignore, OPTION_LIST, NULL, "RULES", \
	        "elements that are no change, as in `#clock, .ad`, for all sites or " \
	        "`HOST: RULES`"), \
	{ .name = "words", .type = OPTION_CHOICE, .def = "auto", .choices = "auto|no|yes", \
	  .arg = "auto|no|yes", .setting = true, .offset = offsetof(struct cycle_opts, words), \
	  .help = "count the words of pages, for search and clusters; auto: if there are " \
	          "words already, or the policy needs them" }, \
	{ .name = "compress", .type = OPTION_CHOICE, .def = "gzip", .choices = WARC_COMPRESS_CHOICES, \
	  .arg = WARC_COMPRESS_CHOICES, .setting = true, .offset = offsetof(struct cycle_opts, compress), \
	  .help = "of new archive files; zstd: .warc.zst, with a dictionary learned from the " \
	          "pages that are there" }, \
	SETTING(cycle_opts, "stem", stem, OPTION_TEXT, NULL, "LANGUAGE", \
	        "count stems of words (english, french, ...); settled by the first words"), \
	SETTING(cycle_opts, "discover", discover, OPTION_SHARE, NULL, "N|N%", \
	        "requests of a cycle that are for new pages of the same sites"), \
	SETTING_RANGED(cycle_opts, "discover_per_directory", discover_per_directory, \
	               OPTION_INT, "100", 1, 1e9, "N", \
	               "new pages of a directory, ever"), \
	SETTING_RANGED(cycle_opts, "discover_per_site", discover_per_site, OPTION_INT, \
	               "10000", 1, 1e9, "N", "new pages of a site, ever"), \
	{ .name = "discover_nofollow", .type = OPTION_FLAG, .setting = true, \
	  .offset = offsetof(struct cycle_opts, discover_nofollow), \
	  .help = "new pages are found behind links marked nofollow, too" }, \
	{ .name = "no_requests", .type = OPTION_FLAG, .setting = true, \
	  .offset = offsetof(struct cycle_opts, no_requests), \
	  .help = "archive answers only, without the requests they answer" }, \
	SCOPE_OPTIONS(cycle_opts), \
	TAKING_OPTIONS(cycle_opts), \
	WEB_OPTIONS(cycle_opts), \
	{ .name = "new", .type = OPTION_FLAG, .offset = offsetof(struct cycle_opts, new_cycle), \
	  .help = "end a cycle that was broken off, and begin a new one" }, \
	OPT_OUTPUT(cycle_opts, report, NULL, "FILE", \
	         "show it and the history of the repository in one HTML file, too"), \
	OPT_OUTPUT(cycle_opts, doing, NULL, "FILE", \
	         "write there what it is doing, one JSON object a line, about once a second"), \
	OPT_TEXT(cycle_opts, on_change, NULL, "COMMAND", \
	         "run it after a cycle that found changes, with one JSON object a line on its " \
	         "standard input"), \
	OPT_FLAG(cycle_opts, on_change_shell, "give the command to /bin/sh"), \
	OPT_DURATION(cycle_opts, on_change_time, "10m", "the command is ended after it")

struct on_change cycle_what_to_run(const struct cli *cli, const struct cycle_opts *o,
                                   const struct crawling *l);
/* Open the repository and set up its crawl.  cycle_set(): c->store is open, and the options
 * are filled. */
MUST_CHECK int cycle_open(struct crawling *c, struct cli *cli, struct cycle_opts *o,
                          struct err *err);
MUST_CHECK int cycle_set(struct crawling *c, struct cli *cli, struct cycle_opts *o,
                         struct err *err);

#endif
