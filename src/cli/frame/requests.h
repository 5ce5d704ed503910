/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requests.h - options of requests: who we say we are, own headers, cookies, credentials,
 * what is taken of answers, and the way to the network.  See fetch/asking/asking.h.
 *
 * All of them are settings, too.  `header`, `accept` and `max-body` can be set for one site.
 * Settings that name a file of secrets have its whole path.
 */
#ifndef CLI_FRAME_REQUESTS_H
#define CLI_FRAME_REQUESTS_H

#include "cli/frame/repository.h"
#include "fetch/asking/asking.h"
#include "fetch/fetch.h"
#include "repo/site_settings.h"

struct request_opts {
	const char *user_agent, *cookies, *credentials, *accept, *bind;
	struct option_list header;
	int64_t limit_rate, max_body, max_decoded;
	int ip;
};

#define REQUEST_SETTING(S, n, f, t, a, h) \
	{ .name = n, .type = t, .arg = a, .help = h, .setting = true, \
	  .offset = offsetof(struct S, f) }
/* Rows of an option table; S has a member `struct request_opts request` in `web`. */
#define REQUEST_OPTIONS(S) \
	REQUEST_SETTING(S, "user_agent", web.request.user_agent, OPTION_TEXT, "NAME[/VERSION]", \
	                "the name of your crawler, for User-Agent and robots.txt, instead of freshet"), \
	REQUEST_SETTING(S, "header", web.request.header, OPTION_LIST, "'NAME: VALUE'", \
	                "a header that goes with every request, and into the archive"), \
	REQUEST_SETTING(S, "cookies", web.request.cookies, OPTION_TEXT, "FILE", \
	                "cookies to send, as curl and wget write them; nobody else may read the file"), \
	REQUEST_SETTING(S, "credentials", web.request.credentials, OPTION_TEXT, "FILE", \
	                "logins, bearer tokens and secret headers by host, as in .netrc; nobody else may " \
	                "read the file"), \
	REQUEST_SETTING(S, "limit_rate", web.request.limit_rate, OPTION_SIZE, "SIZE", \
	                "receive at most so many bytes a second, of all hosts together"), \
	{ .name = "ip", .type = OPTION_CHOICE, .def = "any", .choices = "any|4|6", \
	  .arg = "any|4|6", .setting = true, .offset = offsetof(struct S, web.request.ip), \
	  .help = "connect by IPv4 or IPv6 only" }, \
	REQUEST_SETTING(S, "bind", web.request.bind, OPTION_TEXT, "ADDRESS|INTERFACE", \
	                "connect from this address or network interface of this machine")
/* Of cycles, not of tests of life: what is taken of answers. */
#define TAKING_OPTIONS(S) \
	REQUEST_SETTING(S, "accept", web.request.accept, OPTION_TEXT, "TYPES", \
	                "pages of these media types only, as in text/html,text/*; others count as " \
	                "failed (type) and keep their copies"), \
	{ .name = "max_body", .type = OPTION_SIZE, .def = "10M", .min = 1024, .max = 1 << 30, \
	  .arg = "SIZE", .setting = true, .offset = offsetof(struct S, web.request.max_body), \
	  .help = "a longer answer is kept as far as it came" }, \
	{ .name = "max_decoded", .type = OPTION_SIZE, .def = "32M", .min = 1024, .max = 1 << 30, \
	  .arg = "SIZE", .setting = true, .offset = offsetof(struct S, web.request.max_decoded), \
	  .help = "an answer that is more once uncompressed fails (too-large)" }

struct requests {                       /* zeroed at first */
	struct asking_rules asking;
	struct buf headers;
	char agent[400], robots[101], bind[80];
};

/* Fill the options of the fetcher.  contact may be NULL: then nothing is asked.  sites must
 * live as long as *ret. */
MUST_CHECK int requests_set(struct requests *ret, const struct cli *cli,
                            const struct request_opts *o, const char *contact,
                            const struct site_settings *sites, struct fetch_options *fetch,
                            struct err *err);
void requests_release(struct requests *r);
/* Can the setting have this value?  Files are read; 0 for other settings. */
MUST_CHECK int requests_check(const char *name, const char *value, struct err *err);
/* The value to keep: the whole path of a file, headers parted by newlines.  For free(). */
MUST_CHECK int requests_kept(const char *name, int n, char **values, char **ret,
                             struct err *err);

#endif
