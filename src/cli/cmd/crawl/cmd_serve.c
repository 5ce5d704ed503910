/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_serve.c - `freshet serve`: an API that crawlers ask, a dashboard that people look at. */
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/frame/crawling.h"
#include "cli/cmd/crawl/schedule.h"
#include "cli/cmd/crawl/serve_shard.h"
#include "cli/frame/shards.h"
#include "engine/book/touch.h"
#include "serve/serve.h"

struct serve_cli_opts {
	const char *listen, *tls_cert, *tls_key;
	struct option_list names, allow_net;
	bool behind_proxy;
	int64_t rate, connections, timeout, cache, ahead, every, max_age, confirmations, take;
	const char *policy;
	struct share budget, site_share, retry_share, notifier_share;
	double delay;
	int aim, weight;
};

static const struct option_spec serve_options[] = {
	OPT_TEXT(serve_cli_opts, listen, "127.0.0.1:8390", "ADDRESS:PORT",
	         "where to listen; port 0: any that is free"),
	{ .name = "name", .type = OPTION_LIST, .arg = "HOST",
	  .offset = offsetof(struct serve_cli_opts, names),
	  .help = "a name of this host that clients may use, besides its address" },
	OPT_TEXT(serve_cli_opts, tls_cert, NULL, "FILE", "speak TLS with this certificate (PEM)"),
	OPT_TEXT(serve_cli_opts, tls_key, NULL, "FILE", "its key (PEM)"),
	OPT_FLAG(serve_cli_opts, behind_proxy, "a proxy of yours stands before it and speaks TLS; "
	         "its X-Forwarded-For is believed"),
	OPT_INT(serve_cli_opts, rate, 1000, 0, 1e9, "requests a second of one client; 0: any number"),
	OPT_INT(serve_cli_opts, connections, 4000, 16, 100000, "connections at a time"),
	{ .name = "timeout", .type = OPTION_DURATION, .def = "30s", .min = 1, .max = 3600,
	  .arg = "DURATION", .offset = offsetof(struct serve_cli_opts, timeout),
	  .help = "a request that is not whole by then is cut" },
	{ .name = "cache", .type = OPTION_SIZE, .def = "128M", .min = 1 << 20, .max = (int64_t)1 << 40,
	  .arg = "SIZE", .offset = offsetof(struct serve_cli_opts, cache),
	  .help = "memory for the tables that lease and tell read and write; it fills as they grow" },
	OPT_INT(serve_cli_opts, ahead, 50000, 1, UINT32_MAX, "with so many pages, cycles are opened and "
	        "rounds are planned in the background: nobody waits for them"),
	OPT_INT(serve_cli_opts, take, 0, 0, 1000, "of a fleet: shards that it claims, and whose pages it "
	        "leases"),
	SETTING(serve_cli_opts, "policy", policy, OPTION_TEXT, "auto", "SPEC",
	        "the policy of cycles that are opened by leases: name or name:key=value,..."),
	SETTING_AIM(serve_cli_opts),
	SETTING(serve_cli_opts, "budget", budget, OPTION_SHARE, "2%", "N|N%",
	        "requests of a cycle, as a number or a share of the pages"),
	SETTING(serve_cli_opts, "every", every, OPTION_DURATION, "1d", "DURATION",
	        "time between cycles; if it is given here, our own fetcher begins one at once and then "
	        "each time it is over"),
	SETTING(serve_cli_opts, "max_age", max_age, OPTION_DURATION, NULL, "DURATION",
	        "no page stays unvisited longer"),
	SETTING(serve_cli_opts, "site_share", site_share, OPTION_SHARE, NULL, "N|N%",
	        "no domain gets more of a cycle, unless it has more of the pages; default: "
	        "its share of the pages and half of the rest"),
	SETTING(serve_cli_opts, "retry_share", retry_share, OPTION_SHARE, "5%", "N|N%",
	        "pages that failed and have rested get at most this part of a cycle, one request "
	        "at least"),
	SETTING(serve_cli_opts, "notifier_share", notifier_share, OPTION_SHARE, TOUCH_SHARE, "N|N%",
	        "pages that a notifier touched get at most this part of a cycle, for each notifier"),
	SETTING_RANGED(serve_cli_opts, "delay", delay, OPTION_SECONDS, "1s", 0, 3600, "DURATION",
	               "pause between requests to one host, over all clients (not_before)"),
	SETTING_RANGED(serve_cli_opts, "confirmations", confirmations, OPTION_INT, "2", 1, 100, "N",
	               "times a page must be seen gone before it is believed"),
	SETTING(serve_cli_opts, "allow_net", allow_net, OPTION_LIST, NULL, "CIDR",
	        "a network of your own that webhooks may be in though it is not public; several "
	        "with commas between"),
	OPT_END
};

static volatile sig_atomic_t stop_asked;        /* set by the signal handler */

static void on_signal(int sig)
{
	(void)sig;
	if (stop_asked)
		_exit(130);
	stop_asked = 1;
}

static void catch_signals(void)
{
	struct sigaction a = { .sa_handler = on_signal };

	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	signal(SIGPIPE, SIG_IGN);
}

struct serving { struct cli *cli; struct serve_cli_opts *o; struct arena texts; };

/* One line on standard output, for programs that wait for it. */
static void on_ready(void *arg, const char *url)
{
	const struct cli *cli = ((struct serving *)arg)->cli;
	struct json j;

	if (cli->common.json) {
		cli_json_begin(&j, "serve");
		json_kstr(&j, "url", url);
		cli_json_end(&j);
	} else {
		printf("serving %s\n", url);
	}
	fflush(stdout);
}

static struct client_opts cycle_opts(const struct cli *cli, const struct serve_cli_opts *o)
{
	return (struct client_opts){
		.policy = o->policy, .seed = (uint64_t)cli->common.seed, .budget = o->budget,
		.rules = { .aim = (enum aim)o->aim, .weight = (enum weight_by)o->weight,
		           .every = o->every, .max_age = o->max_age,
		           .site_share = o->site_share, .retry_share = o->retry_share },
		.notifier_share = o->notifier_share,
		.delay = o->delay, .confirmations = (unsigned)o->confirmations,
		.ahead = (uint32_t)o->ahead,
	};
}

/* What is set now.  Texts live as long as the service, so each change costs a little. */
static int renew(void *arg, struct client_opts *client, struct err *err)
{
	struct serving *v = arg;
	struct store *store;
	int rc = repository_read(v->cli, &store, err);          /* of a fleet: any shard has them */

	if (rc < 0)
		return rc;
	rc = repository_settings(v->cli, store, &v->texts, err);
	store_close(store);
	if (rc == 0)
		*client = cycle_opts(v->cli, v->o);
	return rc;
}

/* What was given here holds for cycles of our own fetcher, too. */
static void cycle_words(struct serving *v, struct option_list *ret)
{
	const struct serve_cli_opts *o = v->o;
	struct buf text;

	buf_init(&text, BUF_NO_LIMIT);
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = { "budget", "every", "policy" };

		if (!cli_given(v->cli, names[i]))
			continue;
		buf_clear(&text);
		buf_printf(&text, "--%s=", names[i]);
		if (i == 0)
			buf_printf(&text, "%.9g%s", o->budget.value, o->budget.percent ? "%" : "");
		else if (i == 1)
			buf_printf(&text, "%llds", (long long)o->every);
		else
			buf_str(&text, o->policy);
		mem_grow((void **)&ret->v, &ret->cap, ret->n + 1, sizeof *ret->v);
		ret->v[ret->n++] = arena_strndup(&v->texts, text.data, text.size);
	}
	buf_release(&text);
}

/* Of a fleet: what is said here and cannot be meant. */
static int check_fleet(const struct cli *cli, const struct serve_cli_opts *o, struct err *err)
{
	static const char *const settings[] = { "every", "budget", "policy", "aim" };
	bool fleet = shards_any(cli), whole = fleet && shards_count(cli) > 1 && cli->common.shard < 0;

	if (o->take && !whole)
		return err_set(err, E_USAGE, fleet && cli->common.shard >= 0 ?
		               "--take: claims shards of the whole fleet; leave --shard out" :
		               "--take: this is no fleet of several shards");
	for (size_t i = 0; fleet && i < (whole ? 4 : 1); i++)
		if (cli_given(cli, settings[i]))
			return err_set(err, E_USAGE, "--%s: the cycles of a fleet are those of its workers (`freshet "
			               "work`): it is a setting of the fleet (`freshet set`)", settings[i]);
	return 0;
}

static int load_schedule(void *arg, struct work_schedule *ret, struct err *err)
{
	return schedule_load(arg, ret, err);
}

static int serve_cmd_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct serve_cli_opts *o = opts;
	struct serving v = { .cli = cli, .o = o };
	struct store *store = NULL;
	struct gate gate = { 0 };
	char program[4096];
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
	struct serve_shard *shard = NULL;
	struct schedule schedule = { cli, cli->shards ? cli->shards->url : NULL };
	bool whole = shards_count(cli) > 1 && cli->common.shard < 0;
	char worker[FLEET_NAME_MAX] = "";
	int rc = check_fleet(cli, o, err);

	(void)n_args;
	(void)args;
	if (whole)
		snprintf(worker, sizeof worker, "%.40s-serve-%d", fleet_worker(cli->shards->fleet),
		         (int)getpid());
	if (rc == 0)
		rc = whole ? repository_read(cli, &store, err) : repository_open(cli, &store, err);
	program[n > 0 ? n : 0] = '\0';
	if (rc == 0)
		rc = repository_settings(cli, store, &v.texts, err);
	store_close(store);
	if (rc == 0 && shards_any(cli) && !whole)
		rc = serve_shard_begin(&shard, cli, &stop_asked, err);
	for (size_t i = 0; rc == 0 && i < o->allow_net.n; i++)
		rc = crawling_allow(&gate, o->allow_net.v[i], err);
	if (rc == 0) {
		struct serve_opts so = {
			.folder = cli->common.repository, .listen = o->listen,
			.store = shard ? serve_shard_store(shard) : cli->common.store,
			.shard = shard ? cli->shard : -1,
			.fleet = { .url = whole ? cli->shards->url : NULL, .worker = worker,
			           .take = (uint32_t)o->take, .schedule = load_schedule, .arg = &schedule },
			.tls_cert = o->tls_cert, .tls_key = o->tls_key, .behind_proxy = o->behind_proxy,
			.no_sandbox = cli->common.no_sandbox,
			.names = o->names, .gate = &gate, .rate = o->rate, .connections = o->connections,
			.timeout = o->timeout, .cache = o->cache,
			.client = cycle_opts(cli, o), .program = program, .stop = &stop_asked,
			.every = cli_given(cli, "every") ? o->every : 0,
			.renew = renew, .ready = on_ready, .arg = &v,
		};

		cycle_words(&v, &so.cycle_words);
		catch_signals();
		rc = serve_run(&so, err);
		free(so.cycle_words.v);
	}
	if (serve_shard_lost(shard))
		rc = err_set(err, E_BUSY, "shard %d: its lease was lost: start the service again when "
		             "nobody holds it", cli->shard);
	serve_shard_end(shard);
	gate_release(&gate);
	arena_release(&v.texts);
	return rc;
}

static const char *const serve_needs[][2] = {
	{ "tls_cert", "tls_key" }, { "tls_key", "tls_cert" }, { NULL, NULL },
};

const struct command command_serve = {
	.name = "serve",
	.reach = MAY_CONNECT | MAY_SERVE,
	.arguments = "",
	.summary = "an API that crawlers ask, and a dashboard",
	.description =
		"Stays until it is stopped (SIGINT, SIGTERM), and answers on --listen: other crawlers\n"
		"lease pages and tell outcomes, programs read what is known, people look at the\n"
		"dashboard at /. docs/service.md is the guide, /v1/openapi.json lists all requests.\n"
		"`serving URL` is printed when it answers.\n\n"
		"It listens on loopback unless --listen says otherwise. Any other address wants tokens\n"
		"(`freshet token`) and TLS, or --behind-proxy. It takes a socket from systemd, tells it when\n"
		"it is ready, and that it lives (Type=notify, WatchdogSec).\n\n"
		"Of a fleet it reads all shards, and what it writes goes into their inboxes. With --take N\n"
		"it claims up to N shards, as a worker does, and leases their pages to clients, under the\n"
		"budget of the fleet. With --shard K it is a service of that shard alone, whose lease it\n"
		"holds while it runs; its exit status is that of a busy store when the lease is lost.",
	.examples = "  freshet -C crawl serve\n"
		"  freshet -C crawl serve --listen 127.0.0.1:9000\n"
		"  freshet serve --store postgresql://db.example/fleet --take 4\n",
	.options = serve_options,
	.needs = serve_needs,
	.opts_size = sizeof(struct serve_cli_opts),
	.on_fleet = FLEET_SELF,
	.run = serve_cmd_run,
};
