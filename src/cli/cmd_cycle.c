/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_cycle.c - `freshet cycle` and `freshet run`: the live web.
 *
 * The first SIGINT or SIGTERM lets what is in flight finish and keeps it; the
 * second leaves at once, which is no worse than a crash: the store is
 * transactional, and the next start goes on with the cycle.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/progress.h"
#include "cli/repository.h"
#include "engine/crawl.h"
#include "fetch/gate.h"

struct cycle_opts {
	const char *policy, *contact, *detect, *proxy, *ca_file;
	struct share budget;
	int64_t every, max_age, now, cycles;
	int64_t confirmations, connections;
	double delay, crawl_delay;
	struct option_list allow_net;
	struct option_list ignore;
	bool ignore_robots;
};

#define SETTING(n, t, d, a, h) \
	{ .name = #n, .type = t, .def = d, .arg = a, .help = h, .setting = true, \
	  .offset = offsetof(struct cycle_opts, n) }
#define RANGED(n, t, d, lo, hi, a, h) \
	{ .name = #n, .type = t, .def = d, .arg = a, .help = h, .setting = true, \
	  .min = lo, .max = hi, .offset = offsetof(struct cycle_opts, n) }

#define CYCLE_OPTIONS \
	SETTING(policy, OPTION_TEXT, "auto", "SPEC", \
	        "the policy: name or name:key=value,..."), \
	SETTING(budget, OPTION_SHARE, "2%", "N|N%", \
	        "requests of a cycle, as a number or a share of the pages"), \
	SETTING(every, OPTION_DURATION, "1d", "DURATION", "time between cycles"), \
	SETTING(max_age, OPTION_DURATION, NULL, "DURATION", "no page stays unvisited longer"), \
	SETTING(contact, OPTION_TEXT, NULL, "URL|MAIL", \
	        "whom a webmaster can ask; part of the User-Agent, must be set"), \
	SETTING(detect, OPTION_TEXT, "bytes", "HOW", \
	        "what counts as a change: bytes, text, tags, near:BITS"), \
	RANGED(confirmations, OPTION_INT, "2", 1, 100, "N", \
	       "times a page must be seen gone before it is believed"), \
	RANGED(delay, OPTION_DOUBLE, "1", 0, 3600, "SECONDS", \
	       "pause between requests to one host"), \
	RANGED(crawl_delay, OPTION_DOUBLE, "30", 0, 3600, "SECONDS", \
	       "robots.txt may ask for a pause up to this"), \
	RANGED(connections, OPTION_INT, "128", 1, 10000, "N", \
	       "connections at a time, to all hosts together"), \
	SETTING(proxy, OPTION_TEXT, NULL, "URL", \
	        "http, https, socks4a or socks5h proxy (default: http_proxy and its kin)"), \
	SETTING(ca_file, OPTION_TEXT, NULL, "FILE", "certificates to trust instead"), \
	SETTING(allow_net, OPTION_LIST, NULL, "CIDR", \
	        "a network of your own that may be asked though it is not public"), \
	SETTING(ignore, OPTION_LIST, NULL, "RULES", \
	        "elements that are no change, as in `#clock, .ad`, for all sites or `HOST: RULES`"), \
	OPT_FLAG(cycle_opts, ignore_robots, "do not ask for robots.txt; for your own servers"), \
	OPT_TIME(cycle_opts, now, NULL, "the engine's clock, for trials")

static const struct option_spec cycle_options[] = { CYCLE_OPTIONS, OPT_END };
static const struct option_spec run_options[] = {
	CYCLE_OPTIONS,
	OPT_INT(cycle_opts, cycles, 0, 0, 1e9, "end after so many; 0: go on until stopped"),
	OPT_END
};

static volatile sig_atomic_t stop_asked;        /* signals leave no other way */

static void on_signal(int number)
{
	(void)number;
	if (stop_asked)
		_exit(130);
	stop_asked = 1;
}

struct live {                   /* an open repository and what its cycles need */
	struct store *store;
	struct arena keep;
	struct gate gate;
	struct crawl_opts crawl;
	struct progress progress;
	char folder[4096], agent[400];
};

static void on_progress(void *arg, uint32_t spent, uint32_t budget)
{
	struct live *l = arg;

	l->progress.total = budget;
	progress_set(&l->progress, spent);
}

static int set_agent(struct live *l, const struct cycle_opts *o, struct err *err)
{
	int n;

	if (!o->contact || !*o->contact)
		return err_set(err, E_USAGE, "say whom a webmaster can ask: freshet set contact "
		               "mailto:you@example.org (or a URL)");
	for (const char *s = o->contact; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return err_set(err, E_USAGE, "contact: holds control bytes");
	n = snprintf(l->agent, sizeof l->agent, "freshet/" FRESHET_VERSION " (+%s)", o->contact);
	if (n < 0 || (size_t)n >= sizeof l->agent)
		return err_set(err, E_USAGE, "contact: too long");
	return 0;
}

static int set_crawl(struct live *l, const struct cli *cli, const struct cycle_opts *o,
                     struct err *err)
{
	struct fetch_options fetch = FETCH_DEFAULTS;
	const char *ca = getenv("CURL_CA_BUNDLE") ? getenv("CURL_CA_BUNDLE")
		: getenv("SSL_CERT_FILE");
	int rc = set_agent(l, o, err);

	for (size_t i = 0; rc == 0 && i < o->allow_net.n; i++)
		rc = gate_allow(&l->gate, o->allow_net.v[i], err);
	for (size_t i = 0; rc == 0 && i < o->ignore.n; i++)
		rc = ignore_list_add(&l->crawl.ignore, o->ignore.v[i], err);
	if (rc < 0 || (rc = detector_parse(&l->crawl.detect, o->detect, err)) < 0)
		return rc;
	snprintf(l->folder, sizeof l->folder, "%.4000s/warc", cli->common.repository);
	if (mkdir(l->folder, 0777) && errno != EEXIST)
		return err_errno(err, E_IO, "%s", l->folder);
	fetch.user_agent = l->agent;
	fetch.gate = &l->gate;
	fetch.connections = (unsigned)o->connections;
	fetch.polite.delay = o->delay;
	fetch.polite.max_crawl_delay = o->crawl_delay;
	if (fetch.polite.address_delay > o->delay)
		fetch.polite.address_delay = o->delay;
	fetch.proxy = o->proxy;
	fetch.ca_file = o->ca_file ? o->ca_file : ca;
	fetch.ca_path = getenv("SSL_CERT_DIR");
	fetch.ignore_robots = o->ignore_robots;
	l->crawl.fetch = fetch;
	l->crawl.warc_folder = l->folder;
	l->crawl.policy = o->policy;
	l->crawl.budget = o->budget;
	l->crawl.seed = (uint64_t)cli->common.seed;
	l->crawl.cycle_seconds = o->every;
	l->crawl.now = o->now;
	l->crawl.max_age = o->max_age && o->every > 0 ? (uint32_t)(o->max_age / o->every) : 0;
	l->crawl.confirmations = (unsigned)o->confirmations;
	l->crawl.stop = &stop_asked;
	l->crawl.progress = on_progress;
	l->crawl.arg = l;
	return 0;
}

static int live_open(struct live *l, struct cli *cli, struct cycle_opts *o, struct err *err)
{
	struct sigaction sa = { .sa_handler = on_signal };
	int rc = repository_open(cli, &l->store, err);

	if (rc == 0)
		rc = repository_settings(cli, l->store, &l->keep, err);
	if (rc == 0)
		rc = set_crawl(l, cli, o, err);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	return rc;
}

static void live_close(struct live *l)
{
	store_close(l->store);
	gate_release(&l->gate);
	ignore_list_release(&l->crawl.ignore);
	arena_release(&l->keep);
}

static double change_ratio(const struct store_cycle *c)
{
	return c->downloads ? (double)(c->changed + c->gone) / c->downloads : 0;
}

static void print_json(const struct crawl_report *r)
{
	const struct store_cycle *c = &r->cycle;
	struct json j;
	char t[15];

	when_digits(c->time, t);
	cli_json_begin(&j, "cycle");
	json_kint(&j, "cycle", c->number);
	json_kstr(&j, "time", t);
	json_kstr(&j, "policy", r->policy);
	json_kint(&j, "budget", c->budget);
	json_kint(&j, "downloads", c->downloads);
	json_kint(&j, "new", c->fresh);
	json_kint(&j, "changed", c->changed);
	json_kint(&j, "same", c->same);
	json_kint(&j, "gone", c->gone);
	json_kint(&j, "failed", c->failed);
	json_kint(&j, "blocked", c->blocked);
	json_knum(&j, "change_ratio", change_ratio(c));
	json_key(&j, "seconds");
	json_object(&j);
	json_knum(&j, "plan", c->seconds_plan);
	json_knum(&j, "total", c->seconds_total);
	json_end_object(&j);
	json_kbool(&j, "complete", !r->stopped);
	json_kbool(&j, "resumed", r->resumed);
	json_kint(&j, "unasked", r->unasked);
	json_kint(&j, "robots_requests", (int64_t)r->fetch.robots_requests);
	json_kint(&j, "bytes", (int64_t)r->fetch.bytes);
	json_key(&j, "reasons");
	json_object(&j);
	for (int i = 1; i < FETCH_N_ERRORS; i++)
		if (r->reasons[i])
			json_kint(&j, fetch_error_name((enum fetch_error)i), r->reasons[i]);
	if (r->reasons[FETCH_OK])
		json_kint(&j, "status", r->reasons[FETCH_OK]);
	json_end_object(&j);
	cli_json_end(&j);
}

static void print_text(const struct crawl_report *r)
{
	static const char *const heads[] = { "cycle", "<time", "budget", "requests", "new",
		"changed", "same", "gone", "failed", "blocked", "ratio", "seconds" };
	const struct store_cycle *c = &r->cycle;
	struct table *t = table_new(heads, 12);
	char when[21];
	const char *between = "";

	when_iso(c->time, when);
	table_cell(t, "%u", c->number);
	table_cell(t, "%s", when);
	table_cell(t, "%u", c->budget);
	table_cell(t, "%u", c->downloads);
	table_cell(t, "%u", c->fresh);
	table_cell(t, "%u", c->changed);
	table_cell(t, "%u", c->same);
	table_cell(t, "%u", c->gone);
	table_cell(t, "%u", c->failed);
	table_cell(t, "%u", c->blocked);
	table_cell(t, "%.3f", change_ratio(c));
	table_cell(t, "%.1f", c->seconds_total);
	table_print(t, stdout);
	table_free(t);
	if (c->failed + c->blocked) {
		printf("not had: ");
		for (int i = 0; i < FETCH_N_ERRORS; i++) {
			if (!r->reasons[i])
				continue;
			printf("%s%u %s", between, r->reasons[i],
			       i ? fetch_error_name((enum fetch_error)i) : "by status");
			between = ", ";
		}
		putchar('\n');
	}
	if (r->unasked)
		printf("redirects took the requests of %u pages that were planned\n", r->unasked);
	if (c->blocked)
		printf("the requests of %u blocked pages went to others\n", c->blocked);
}

static int one_cycle(struct live *l, const struct cli *cli, struct err *err)
{
	struct crawl_report r;
	int rc;

	progress_start(&l->progress, "fetching", "requests", 0);
	rc = crawl_cycle(l->store, &l->crawl, &r, err);
	progress_end(&l->progress);
	if (r.guarantee_broken)
		log_warn("the budget cannot keep --max-age: raise one of them");
	if (r.resumed)
		log_info("went on with cycle %u, which had been broken off", r.cycle.number);
	if (r.cycle.number && (rc == 0 || rc == E_STOP || rc == E_NET)) {
		if (cli->common.json)
			print_json(&r);
		else
			print_text(&r);
		fflush(stdout);
	}
	return rc;
}

static int cycle_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct live l = { 0 };
	int rc = live_open(&l, cli, opts, err);

	(void)n_args;
	(void)args;
	if (rc == 0)
		rc = one_cycle(&l, cli, err);
	live_close(&l);
	return rc;
}

/* False if a signal came before the time did. */
static bool wait_until(int64_t when)
{
	while (!stop_asked && clock_now() < when)
		sleep(1);
	return !stop_asked;
}

static int run_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct cycle_opts *o = opts;
	struct live l = { 0 };
	int rc = live_open(&l, cli, o, err);
	int64_t next = clock_now();

	(void)n_args;
	(void)args;
	if (rc == 0 && o->every <= 0)
		rc = err_set(err, E_USAGE, "--every: must be longer than 0");
	for (int64_t i = 0; rc == 0 && (!o->cycles || i < o->cycles); i++) {
		if (i && !o->now && !wait_until(next))
			break;
		rc = one_cycle(&l, cli, err);
		if (rc == E_NET) {      /* the network may come back */
			log_warn("%s", err->text);
			rc = 0;
		}
		next += o->every;
		if (o->now)
			l.crawl.now += o->every;
	}
	live_close(&l);
	if (rc == 0 && stop_asked)
		rc = err_set(err, E_STOP, "stopped between two cycles");
	return rc;
}

const struct command command_cycle = {
	.name = "cycle",
	.arguments = "",
	.summary = "one cycle on the live web: plan, fetch, detect, archive, learn",
	.description =
		"The budget counts requests: pages, redirect hops and retries; robots.txt is counted\n"
		"apart. Hosts are asked politely (--delay, robots.txt, Retry-After). Only public\n"
		"addresses are asked, whatever names and redirects say; --allow-net opens networks of\n"
		"your own. The answers are in DIR/warc; a page that is gone or fails keeps its copy.\n\n"
		"SIGINT and SIGTERM finish what is in flight. A cycle that was broken off, also by a\n"
		"crash, is gone on with at the next start.",
	.examples =
		"  freshet -C crawl set contact mailto:crawl@example.org\n"
		"  freshet -C crawl cycle --budget 1000\n",
	.options = cycle_options,
	.opts_size = sizeof(struct cycle_opts),
	.run = cycle_run,
};

const struct command command_run = {
	.name = "run",
	.arguments = "",
	.summary = "cycles on the live web until told to stop",
	.description =
		"One cycle every --every, counted from the start of the first; a cycle that takes\n"
		"longer is followed by the next at once. With --now the clock of the engine is moved\n"
		"by --every after each cycle and nothing is waited for.",
	.examples = "  freshet -C crawl run --every 12h --budget 5%\n",
	.options = run_options,
	.opts_size = sizeof(struct cycle_opts),
	.run = run_run,
};
