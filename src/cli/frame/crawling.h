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
#include "engine/crawl/crawl.h"
#include "fetch/gate.h"

struct web_opts {
	const char *contact, *proxy, *ca_file;
	int64_t connections, now;
	double delay, crawl_delay;
	struct option_list allow_net;
	bool ignore_robots;
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
	SETTING(S, "allow_net", web.allow_net, OPTION_LIST, NULL, "CIDR", \
	        "a network of your own that may be asked though it is not public; several " \
	        "with commas between"), \
	{ .name = "ignore_robots", .type = OPTION_FLAG, \
	  .offset = offsetof(struct S, web.ignore_robots), \
	  .help = "do not ask for robots.txt; for your own servers" }, \
	{ .name = "now", .type = OPTION_TIME, .offset = offsetof(struct S, web.now), \
	  .arg = "TIME", .help = "the engine's clock, for trials" }

struct crawling {                       /* zeroed at first */
	struct store *store;
	struct arena keep;              /* texts of settings */
	struct gate gate;
	struct crawl_opts crawl;
	struct fetch *fetch;            /* reused from cycle to cycle, if crawl.keep is set */
	struct progress progress;
	bool shown;                     /* a cycle was printed, with the heads of the columns */
	char folder[4096], agent[400];
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
/* For crawl.left, where progress is shown. */
void crawling_left(void *crawling, double seconds);
bool crawling_stopped(void);            /* a signal came */

#endif
