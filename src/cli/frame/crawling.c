/* SPDX-License-Identifier: Apache-2.0 */
/* crawling.c - the common part of cycle, run and live; see crawling.h. */
#include "cli/frame/crawling.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/spawn.h"

static volatile sig_atomic_t stop_asked;        /* set by the signal handler */

static void on_signal(int number)
{
	(void)number;
	if (stop_asked)
		_exit(130);
	stop_asked = 1;
}

void crawling_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

bool crawling_stopped(void)
{
	return stop_asked;
}

const volatile sig_atomic_t *crawling_stop_flag(void)
{
	return &stop_asked;
}

static void on_progress(void *arg, uint32_t done, uint32_t total)
{
	struct crawling *c = arg;

	c->progress.total = total;
	progress_set(&c->progress, done);
}

void crawling_doing(void *arg, const struct crawl_doing *now)
{
	struct crawling *c = arg;

	c->progress.left = now->seconds_left;
	c->progress.left_known = true;
	progress_set(&c->progress, c->progress.done);
}

static void on_stopping(void *arg, unsigned under_way)
{
	progress_clear(&((struct crawling *)arg)->progress);
	if (under_way)
		log_info("stopping: waiting for %u answer%s under way; Ctrl-C once more stops at once, "
		         "and loses %s", under_way, under_way == 1 ? "" : "s",
		         under_way == 1 ? "it" : "them");
}

/* Has it no character that would end the comment of a User-Agent header, or the address?
 * */
static bool is_word(const char *s, size_t size)
{
	return size && !memchr(s, '(', size) && !memchr(s, ')', size) && !memchr(s, ' ', size);
}

static bool is_page(const char *s)
{
	size_t scheme = !strncasecmp(s, "http://", 7) ? 7 : !strncasecmp(s, "https://", 8) ? 8 : 0;

	return scheme && is_word(s + scheme, strlen(s + scheme)) && isalnum((unsigned char)s[scheme]);
}

static bool is_mail(const char *s)
{
	const char *at;

	if (!strncasecmp(s, "mailto:", 7))
		s += 7;
	at = strchr(s, '@');
	return at && is_word(s, (size_t)(at - s)) && is_word(at + 1, strlen(at + 1)) &&
	       !strchr(at + 1, '@') && isalnum((unsigned char)at[1]);
}

int crawling_contact(const char *contact, struct err *err)
{
	for (const char *s = contact; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return err_set(err, E_USAGE, "contact: holds control bytes");
	if (!is_page(contact) && !is_mail(contact))
		return err_set(err, E_USAGE, "contact: '%s' is no way to reach you; write "
		               "mailto:you@example.org or the address of a page about your crawler, "
		               "https://example.org/crawler", contact);
	return 0;
}

int crawling_unnamed(const struct cli *cli, struct err *err)
{
	char option[REPOSITORY_OPTION_SIZE];

	return err_set(err, E_USAGE, "say whom a webmaster can ask: freshet %sset contact "
	               "mailto:you@example.org (or a URL)",
	               repository_option(cli->common.repository, option));
}

static int check_contact(const struct cli *cli, const struct web_opts *o, struct err *err)
{
	return o->contact && *o->contact ? crawling_contact(o->contact, err) :
	                                   crawling_unnamed(cli, err);
}

int crawling_allow(struct gate *gate, const char *list, struct err *err)
{
	int rc = 0;

	if (!list[strspn(list, ", ")])
		return err_set(err, E_USAGE, "allow-net: names no network");
	while (*list && rc == 0) {
		size_t size = strcspn(list, ", ");
		char one[128];

		if (size >= sizeof one)
			return err_set(err, E_USAGE, "allow-net: %.100s... is not a network", list);
		snprintf(one, sizeof one, "%.*s", (int)size, list);
		if (size)
			rc = gate_allow(gate, one, err);
		list += size;
		list += strspn(list, ", ");
	}
	return rc;
}

int crawling_open(struct crawling *c, struct cli *cli, struct err *err)
{
	int rc = repository_open(cli, &c->store, err);

	return rc < 0 ? rc : repository_settings(cli, c->store, &c->texts, err);
}

/* Checked when it was set. */
static double site_delay(void *arg, const char *name, size_t size)
{
	const char *value = site_settings_of(arg, "delay", name, size);
	double seconds;

	return value && duration_parse_exact(value, &seconds) ? seconds : (double)NAN;
}

/* A program that fetches, and for which pages. */
static int set_fetcher(struct crawling *c, const struct web_opts *o, struct fetch_options *fetch,
                       struct err *err)
{
	int rc = 0;

	if (!o->fetcher)
		return !o->fetcher_for.n ? 0 :
			err_set(err, E_USAGE, "fetcher-for: there is no --fetcher COMMAND");
	rc = spawn_check(o->fetcher, "fetcher", err);
	for (size_t i = 0; rc == 0 && i < o->fetcher_for.n; i++)
		rc = scope_list_add(&c->fetcher_for, o->fetcher_for.v[i], err);
	fetch->program = o->fetcher;
	fetch->program_for = o->fetcher_for.n ? &c->fetcher_for : NULL;
	fetch->program_copies = (unsigned)o->fetcher_copies;
	fetch->program_requests = (unsigned)o->fetcher_requests;
	fetch->program_seconds = o->fetcher_time;
	return rc;
}

int crawling_set(struct crawling *c, struct cli *cli, const struct web_opts *o,
                 struct err *err)
{
	struct fetch_options fetch = FETCH_DEFAULTS;
	const char *ca = getenv("CURL_CA_BUNDLE") ? getenv("CURL_CA_BUNDLE")
		: getenv("SSL_CERT_FILE");
	int rc = check_contact(cli, o, err);

	for (size_t i = 0; rc == 0 && i < o->allow_net.n; i++)
		rc = crawling_allow(&c->gate, o->allow_net.v[i], err);
	if (rc == 0 && o->ca_file && access(o->ca_file, R_OK))
		rc = err_errno(err, E_IO, "ca-file: %s", o->ca_file);
	if (rc < 0)
		return rc;
	snprintf(c->folder, sizeof c->folder, "%.4000s/warc", cli->common.repository);
	if (mkdir(c->folder, 0777) && errno != EEXIST)
		return err_errno(err, E_IO, "%s", c->folder);
	fetch.gate = &c->gate;
	fetch.connections = (unsigned)o->connections;
	if ((rc = site_settings_load(&c->sites, c->store, err)) < 0 ||
	    (rc = requests_set(&c->requests, cli, &o->request, o->contact, &c->sites, &fetch,
	                       err)) < 0)
		return rc;
	fetch.polite.delay = o->delay;
	fetch.polite.delay_of = site_delay;
	fetch.polite.delay_arg = &c->sites;
	fetch.polite.max_crawl_delay = o->crawl_delay;
	if (fetch.polite.address_delay > o->delay)
		fetch.polite.address_delay = o->delay;
	if ((rc = set_fetcher(c, o, &fetch, err)) < 0)
		return rc;
	fetch.proxy = o->proxy;
	fetch.ca_file = o->ca_file ? o->ca_file : ca;
	fetch.ca_path = getenv("SSL_CERT_DIR");
	fetch.ignore_robots = o->ignore_robots;
	c->crawl.fetch = fetch;
	c->crawl.sites = &c->sites;
	c->crawl.warc_folder = c->folder;
	c->crawl.seed = (uint64_t)cli->common.seed;
	c->crawl.now = o->now;
	c->crawl.stop = &stop_asked;
	c->crawl.progress = on_progress;
	c->crawl.stopping = on_stopping;
	c->crawl.arg = c;
	crawling_signals();
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

void crawling_warn(const struct crawling *c, const struct crawl_report *r)
{
	if (r->n_aside)
		log_warn("%s: %u file(s) of a broken-off cycle that the store does not know, kept "
		         "aside as %s", c->folder, r->n_aside, r->aside);
}

void crawling_close(struct crawling *c)
{
	fetch_free(c->fetch);
	resume_release(&c->resumed);
	store_close(c->store);
	gate_release(&c->gate);
	ignore_list_release(&c->crawl.ignore);
	arena_release(&c->texts);
	requests_release(&c->requests);
	scope_list_release(&c->fetcher_for);
	site_settings_release(&c->sites);
	if (c->doing_to)
		fclose(c->doing_to);
}
