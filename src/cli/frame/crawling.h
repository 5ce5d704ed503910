/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawling.h - shared by all commands that use the live web: options, repository, gate,
 * User-Agent, signals, progress.
 *
 * After the first SIGINT or SIGTERM requests in flight finish and are stored.  The second
 * ends the program at once, which is no worse than a crash: the store is transactional,
 * and the next start resumes the cycle.
 */
#ifndef CLI_FRAME_CRAWLING_H
#define CLI_FRAME_CRAWLING_H

#include "base/io/progress.h"
#include "cli/frame/repository.h"
#include "cli/frame/requests.h"
#include "engine/crawl/crawl.h"
#include "fetch/gate.h"
#include "repo/site_settings.h"

struct web_opts {
	const char *contact, *proxy, *ca_file;
	int64_t connections, now;
	double delay, crawl_delay;
	struct option_list allow_net;
	bool ignore_robots;
	const char *fetcher;
	struct option_list fetcher_for;
	int64_t fetcher_copies, fetcher_requests;
	double fetcher_time;
	struct request_opts request;
};

#define SETTING(S, n, f, t, d, a, h) \
	{ .name = n, .type = t, .def = d, .arg = a, .help = h, .setting = true, \
	  .offset = offsetof(struct S, f) }
#define SETTING_RANGED(S, n, f, t, d, lo, hi, a, h) \
	{ .name = n, .type = t, .def = d, .arg = a, .help = h, .setting = true, \
	  .min = lo, .max = hi, .offset = offsetof(struct S, f) }

/* Rows of an option table; S has a member `struct web_opts web`. */
#define WEB_OPTIONS(S) \
	SETTING(S, "contact", web.contact, OPTION_TEXT, NULL, "URL|MAIL", \
	        "whom a webmaster can ask; part of the User-Agent, must be set"), \
	SETTING_RANGED(S, "delay", web.delay, OPTION_SECONDS, "1s", 0, 3600, "DURATION", \
	               "pause between requests to one host"), \
	SETTING_RANGED(S, "crawl_delay", web.crawl_delay, OPTION_SECONDS, "30s", 0, 3600, \
	               "DURATION", "longest pause that robots.txt may ask for; sites that want more are skipped"), \
	SETTING_RANGED(S, "connections", web.connections, OPTION_INT, "128", 1, 10000, "N", \
	               "connections at a time, to all hosts together"), \
	SETTING(S, "proxy", web.proxy, OPTION_TEXT, NULL, "URL", \
	        "http, https, socks4a or socks5h proxy (default: http_proxy and its kin)"), \
	SETTING(S, "ca_file", web.ca_file, OPTION_TEXT, NULL, "FILE", \
	        "certificates to trust instead"), \
	REQUEST_OPTIONS(S), \
	SETTING(S, "allow_net", web.allow_net, OPTION_LIST, NULL, "CIDR", \
	        "a network of your own that may be asked though it is not public; several " \
	        "with commas between"), \
	{ .name = "fetcher", .type = OPTION_TEXT, .arg = "COMMAND", \
	  .offset = offsetof(struct S, web.fetcher), \
	  .help = "a program of yours that fetches pages, a browser for instance; it is given no shell" }, \
	{ .name = "fetcher_for", .type = OPTION_LIST, .arg = "RULE", \
	  .offset = offsetof(struct S, web.fetcher_for), \
	  .help = "only pages that a rule fits go to --fetcher; rules are those of --include" }, \
	{ .name = "fetcher_copies", .type = OPTION_INT, .def = "2", .min = 1, .max = 64, .arg = "N", \
	  .offset = offsetof(struct S, web.fetcher_copies), .help = "copies of --fetcher at a time" }, \
	{ .name = "fetcher_time", .type = OPTION_SECONDS, .def = "60s", .min = 1, .max = 3600, \
	  .arg = "DURATION", .offset = offsetof(struct S, web.fetcher_time), \
	  .help = "a page may take so long by --fetcher; then that copy is killed" }, \
	{ .name = "fetcher_requests", .type = OPTION_INT, .def = "10", .min = 1, .max = 1000, .arg = "N", \
	  .offset = offsetof(struct S, web.fetcher_requests), \
	  .help = "requests of the budget that a page may take by --fetcher" }, \
	{ .name = "ignore_robots", .type = OPTION_FLAG, \
	  .offset = offsetof(struct S, web.ignore_robots), \
	  .help = "do not ask for robots.txt; for your own servers" }, \
	{ .name = "now", .type = OPTION_TIME, .offset = offsetof(struct S, web.now), \
	  .arg = "TIME", .help = "the engine's clock, for trials" }

struct crawling {                       /* zeroed at first */
	struct store *store;
	struct arena texts;             /* texts of settings */
	struct gate gate;
	struct site_settings sites;     /* their delays, headers and so on */
	struct requests requests;
	struct scope_list fetcher_for;
	struct crawl_opts crawl;
	struct fetch *fetch;            /* reused from cycle to cycle, if crawl.fetcher is set, */
	struct resumed resumed;         /* and if crawl.resumed is */
	struct progress progress;
	bool shown;                     /* a cycle was printed, with the heads of the columns */
	FILE *doing_to;                 /* what a cycle is doing is written there; or NULL */
	char folder[4096];
};

/* Open the repository and fill the command's options from its settings. */
MUST_CHECK int crawling_open(struct crawling *c, struct cli *cli, struct err *err);
/* Set crawl.fetch and all other options that do not depend on the command.  Installs the
 * signal handlers. */
MUST_CHECK int crawling_set(struct crawling *c, struct cli *cli, const struct web_opts *o,
                            struct err *err);
/* Warn the user of problems in a cycle, whether it ended well or not. */
void crawling_warn(const struct crawling *c, const struct crawl_report *r);
void crawling_close(struct crawling *c);
/* list: networks, separated by commas, so that one setting can hold several. */
MUST_CHECK int crawling_allow(struct gate *gate, const char *list, struct err *err);
/* Check a contact: it becomes part of a header. */
MUST_CHECK int crawling_contact(const char *contact, struct err *err);
/* The error that no contact is set, with what to do; E_USAGE. */
int crawling_unnamed(const struct cli *cli, struct err *err);
/* For crawl.doing, where progress is shown. */
void crawling_doing(void *crawling, const struct crawl_doing *now);
/* From now on SIGINT and SIGTERM ask for a stop. */
void crawling_signals(void);
bool crawling_stopped(void);            /* a signal came */
const volatile sig_atomic_t *crawling_stop_flag(void);

#endif
