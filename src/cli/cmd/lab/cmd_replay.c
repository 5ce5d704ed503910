/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_replay.c - `freshet replay`: compare policies on recorded history.
 *
 * Here are its options, and which kind of replay they ask for; replay_all.c runs the usual
 * kind.  Printing is in cli/replay.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/io/progress.h"
#include "cli/cmd/lab/replay_all.h"
#include "cli/figures/figures.h"
#include "cli/frame/repository.h"
#include "cli/replay/replay_logged.h"
#include "cli/report/report.h"
#include "engine/history/trace.h"
#include "engine/replay/replay_search.h"
#include "engine/replay/replay.h"
#include "web/page/change.h"

static const struct option_spec replay_options[] = {
	OPT_LIST(replay_cli_opts, policy, "SPEC",
	         "a policy, or several with commas between: name or name:key=value,...; a range "
	         "d=-2..4 stands for each value; `all` for every policy; default: some well-known "
	         "ones"),
	OPT_TEXT(replay_cli_opts, cycle, "2w", "DURATION[,...]", "length of a cycle"),
	OPT_TEXT(replay_cli_opts, budget, "2%", "N|N%[,...]",
	         "downloads of a cycle, as a number or a share of the pages at the start"),
	OPT_INT(replay_cli_opts, seeds, 5, 1, 1000, "repetitions with different seeds"),
	OPT_TEXT(replay_cli_opts, detect, "bytes", DETECTOR_ARG,
	         "what counts as a change"),
	OPT_CHOICE(replay_cli_opts, goal, "changed|alive", "changed", "what counts as a hit"),
	OPT_CHOICE(replay_cli_opts, aim, AIM_CHOICES, AIM_DEFAULT,
	           "what downloads are for, under goal changed: to find changes, to have true "
	           "copies over time, or to leave none false for long"),
	OPT_CHOICE(replay_cli_opts, weight, WEIGHT_CHOICES, "none",
	           "what pages count by, for policies and in the measure of the aim"),
	OPT_CHOICE(replay_cli_opts, observe, "local|cycle", "local",
	           "what policies are told: changed against our copy, or against the page's "
	           "own state one cycle ago"),
	OPT_CHOICE(replay_cli_opts, at, "newest|nearest", "newest",
	           "which capture a download sees: the newest by then, or the nearest in time"),
	OPT_CHOICE(replay_cli_opts, weights, "pagerank|pagerank10", "pagerank",
	           "weights of the weighted measures: PageRank times pages, or 0..10"),
	OPT_FLAG(replay_cli_opts, join, "pages that appear, or come back, later enter"),
	OPT_TEXT(replay_cli_opts, max_age, NULL, "DURATION|N",
	         "no page stays unvisited longer: a duration, or a number of cycles"),
	{ .name = "site-share", .type = OPTION_SHARE, .arg = "N|N%",
	  .offset = offsetof(struct replay_cli_opts, site_share),
	  .help = "no domain gets more of a cycle, unless it has more of the pages; default: no "
	          "such ceiling, though live cycles have one" },
	{ .name = "retry_share", .type = OPTION_SHARE, .def = "5%", .arg = "N|N%",
	  .offset = offsetof(struct replay_cli_opts, retry_share),
	  .help = "pages that failed and have rested get at most this part of a cycle, one request "
	          "at least" },
	OPT_TEXT(replay_cli_opts, fail, NULL, "N%[,SEED]",
	         "make so many of the pages fail, alone, with their directory or with their host, "
	         "for a time or for ever"),
	OPT_TIME(replay_cli_opts, start, NULL, "start; default: first midnight of the history"),
	OPT_TIME(replay_cli_opts, end, NULL, "end; default: midnight behind the last capture"),
	OPT_CHOICE(replay_cli_opts, site_by, "host|domain", "host", "what a site is"),
	OPT_FLAG(replay_cli_opts, by_site, "figures of each site, too: in the table, in --json, in "
	         "the report"),
	OPT_FLAG(replay_cli_opts, search, "measure the results of searches, too: freshness@k, "
	         "MAP@k, embarrassment"),
	OPT_TEXT(replay_cli_opts, queries, NULL, "FILE",
	         "search: queries, one a line; default: drawn from the pages"),
	OPT_TEXT(replay_cli_opts, words, NULL, "FILE",
	         "search: the words of the trace's terms, one a line; default: words.txt beside it"),
	OPT_INT(replay_cli_opts, n_queries, 100, 1, 100000, "search: how many queries are drawn"),
	OPT_INT(replay_cli_opts, k, 10, 1, SEARCH_K_MAX, "search: results that are looked at"),
	OPT_INT(replay_cli_opts, relevant, 10, 1, SEARCH_K_MAX,
	        "search: how many results of the ideal count as relevant"),
	OPT_DOUBLE(replay_cli_opts, text_weight, 0.5, 0, 1,
	           "search: weight of the text; PageRank has the rest"),
	OPT_CHOICE(replay_cli_opts, map_divisor, "relevant|found", "relevant",
	           "search: MAP divides by min(k, relevant), or by the relevant found"),
	OPT_TEXT(replay_cli_opts, figures, NULL, "PAPER[:ID,...]",
	         "regenerate the tables and figures of paper1, paper2, paper3, paper4 (which reads "
	         "graphs, as rank does) or beyond (ours against all), all or some, each under its own "
	         "policies and settings"),
	OPT_OUTPUT(replay_cli_opts, svg, NULL, "FOLDER", "figures: draw each into this folder"),
	OPT_OUTPUT(replay_cli_opts, report, NULL, "FILE", "show it in one HTML file, too"),
	OPT_OUTPUT(replay_cli_opts, doing, NULL, "FILE",
	         "write there how far it is, one JSON object a line"),
	OPT_INT(replay_cli_opts, shards, 0, 0, SHARDS_MAX, "as a fleet does it: sites dealt out to "
	        "so many shards, each with a policy of its own, and one budget; 0: no shards"),
	OPT_INT(replay_cli_opts, loaded, 0, 0, SHARDS_MAX, "shards: how many are loaded at a time; "
	        "0: all"),
	OPT_CHOICE(replay_cli_opts, shard_by, "host|domain", "domain",
	           "shards: what is kept together"),
	OPT_CHOICE(replay_cli_opts, split, "market|fixed", "market", "shards: how the budget is "
	           "split: granted while the cycle runs to those that bid most, or by pages when it "
	           "begins"),
	OPT_FLAG(replay_cli_opts, logged, "estimate from the probabilities that a repository's "
	         "own visits were logged with; TRACE is that repository"),
	OPT_DOUBLE(replay_cli_opts, confidence, 0.95, 0.5, 0.999, "logged: of the interval"),
	OPT_OUTPUT(replay_cli_opts, visits, NULL, "FILE",
	         "every visit, in order, as a line of JSON; .gz and .zst are compressed"),
	OPT_FLAG(replay_cli_opts, csv, "one line a policy, seed and cycle"),
	OPT_INT(replay_cli_opts, threads, 0, 0, 256, "threads; 0: all processors"),
	OPT_FLAG(replay_cli_opts, no_time, "leave out what a clock measured, so that equal "
	         "seeds give equal bytes"),
	OPT_END
};

/* The word list asked for, or words.txt beside the trace if there is one. */
static int find_words(struct lexicon *words, const char *path, const char *trace,
                      struct err *err)
{
	const char *slash = strrchr(trace, '/');
	char beside[4096];

	if (path)
		return lexicon_read(words, path, err);
	snprintf(beside, sizeof beside, "%.*swords.txt", slash ? (int)(slash - trace + 1) : 0,
	         trace);
	return access(beside, R_OK) ? 0 : lexicon_read(words, beside, err);
}

/* The first of the options that the user gave, as it is typed. */
static bool given_one_of(const struct cli *cli, const char *const *names, char shown[64])
{
	for (; *names; names++) {
		if (cli_given(cli, *names)) {
			option_display(option_find(cli->options, *names, strlen(*names)), shown);
			return true;
		}
	}
	return false;
}

/* The paper says what to run; options of the user win. */
static int run_figures(struct cli *cli, const struct replay_cli_opts *o, int n_args,
                       char **args, struct err *err)
{
	struct figure_request ask = {
		.which = o->figures, .svg = o->svg, .start = o->start, .end = o->end,
		.detect = cli_given(cli, "detect") ? o->detect : NULL,
		.observe_given = cli_given(cli, "observe"), .observe = (enum observe)o->observe,
		.nearest = o->at == 1, .join = o->join, .site_by_domain = o->site_by == 1,
		.n_seeds = (uint32_t)o->seeds, .seed = (uint64_t)cli->common.seed,
		.threads = (unsigned)o->threads,
	};
	static const char *const fixed[] = { "policy", "cycle", "budget", "goal", "aim", "weight", "weights",
	                                     "max_age", "search", "csv", "report",
	                                     "visits", "by_site", "site_share",
	                                     "retry_share", "fail", "shards", NULL };
	char shown[64];

	if (given_one_of(cli, fixed, shown))
		return err_set(err, E_USAGE, "--figures has its own --%s: leave it out, or leave out "
		               "--figures", shown);
	return figures_run(cli, &ask, n_args, args, err);
}

/* --logged: no history is cut into cycles, the repository's own are taken. */
static int run_logged(struct cli *cli, const struct replay_cli_opts *o,
                      const struct option_list *specs, int n_args, char **args,
                      struct err *err)
{
	struct off_policy_opts lo = {
		.seed = (uint64_t)cli->common.seed, .n_seeds = (uint32_t)o->seeds,
		.confidence = o->confidence, .site_by_domain = o->site_by == 1,
	};
	static const char *const replayed[] = { "budget", "detect", "observe", "at", "weights", "join",
	                                        "start", "end", "max_age", "site_share", "by_site",
	                                        "search", "visits", "csv", "retry_share", "fail", "shards",
	                                        NULL };
	char shown[64];

	if (given_one_of(cli, replayed, shown))
		return err_set(err, E_USAGE, "--logged estimates from visits that were made: --%s is for "
		               "a replay, leave it out", shown);
	if (n_args != 1)
		return err_set(err, E_USAGE, "--logged takes one repository");
	if (o->goal != GOAL_CHANGED)
		return err_set(err, E_USAGE, "--logged estimates changes, not --goal alive");
	if (!duration_parse(o->cycle, &lo.cycle_seconds))
		return err_set(err, E_USAGE, "--cycle: '%s' is not a duration such as 12h "
		               "or 2w", o->cycle);
	return replay_logged(cli, args[0], specs, lo, o->report, err);
}

/* Read the histories, then run everything on them. */
static int run_recorded(struct cli *cli, const struct replay_cli_opts *o,
                        const struct option_list *specs, int n_args, char **args,
                        struct err *err)
{
	struct progress progress = { 0 };
	struct trace_report report = { .report = log_warn_text, .progress = progress_bytes,
	                               .arg = &progress };
	struct history h = { 0 };
	struct lexicon words = { 0 };
	struct detector detect;
	unsigned needs = 0;
	int rc = detector_parse(&detect, o->detect, err);

	if (rc == 0)
		rc = policy_list_needs(specs, &needs, err);
	if (rc == 0) {
		history_init(&h, detect, WANT_LINKS |
		             (needs & NEED_CLUSTERS || o->search ? WANT_FACTS : 0u));
		progress_start(&progress, "reading", "MB", 0);
		rc = trace_load(&h, (const char *const *)args, (size_t)n_args, &report, err);
		progress_end(&progress);
	}
	if (rc == 0 && (o->queries || o->words))
		rc = find_words(&words, o->words, args[0], err);
	if (rc == 0 && report.n_bad)
		log_warn("%llu lines or records could not be read", (unsigned long long)report.n_bad);
	if (rc == 0 && h.n_no_key)
		log_warn("%llu records lack the digest that --detect %s compares",
		         (unsigned long long)h.n_no_key, o->detect);
	if (rc == 0)
		rc = replay_all(cli, o, &h, words.words.n ? &words.words :
		             h.lexicon.words.n ? &h.lexicon.words : NULL, specs, needs, err);
	lexicon_release(&words);
	history_release(&h);
	return rc;
}

static int replay_cmd_run(struct cli *cli, void *opts, int n_args, char **args,
                          struct err *err)
{
	static const char *const usual[] = { "auto", "random", "round-robin", "site", "frequency",
	                                     "neighbour:by=dir,d=0", "oracle", NULL };
	/* policies that plan a cycle at once */
	static const char *const usual_logged[] = { "random", "round-robin", "oldest", "frequency",
	                                            "tide:batch=1", NULL };
	struct replay_cli_opts *o = opts;
	const char *const *default_specs = o->logged ? usual_logged : usual;
	struct option_list specs = { 0 };
	struct arena texts = { 0 };
	int rc = 0;

	if (o->figures)
		return run_figures(cli, o, n_args, args, err);
	if (o->csv && cli->common.json)
		rc = err_set(err, E_USAGE, "--csv or --json: results come in one of them");
	if (rc == 0 && o->shards > 1 && o->site_share.value > 0 && o->shard_by != 1)
		rc = err_set(err, E_USAGE, "--site-share is of a domain, which --shard-by host takes "
		             "apart: choose --shard-by domain");
	if (rc == 0 && o->csv && (o->by_site || o->search) && !o->report)
		rc = err_set(err, E_USAGE, "--%s: --csv has no place for it; --json and the table "
		             "have", o->by_site ? "by-site" : "search");
	if (rc == 0)
		rc = report_check(o->report, err);
	for (size_t i = 0; i < o->policy.n && rc == 0; i++)
		rc = policy_expand(o->policy.v[i], &specs, &texts, err);
	for (size_t i = 0; !o->policy.n && default_specs[i] && rc == 0; i++)
		rc = policy_expand(default_specs[i], &specs, &texts, err);
	if (rc == 0)
		rc = o->logged ? run_logged(cli, o, &specs, n_args, args, err) :
		                 run_recorded(cli, o, &specs, n_args, args, err);
	free(specs.v);
	arena_release(&texts);
	return rc;
}

static const char *const replay_needs[][2] = {
	{ "queries", "search" }, { "words", "search" }, { "n_queries", "search" }, { "k", "search" },
	{ "relevant", "search" }, { "text_weight", "search" }, { "map_divisor", "search" },
	{ "loaded", "shards" }, { "shard_by", "shards" }, { "split", "shards" },
	{ "svg", "figures" }, { "confidence", "logged" }, { NULL, NULL },
};

const struct command command_replay = {
	.name = "replay",
	.reach = MAY_READ_ARGS | MAY_SKIP_STORE,
	.arguments = "TRACE...",
	.summary = "compare policies on recorded history",
	.description =
		"Reads the histories of pages from CDX, CDXJ or WARC files (gz and zst too; `-` is\n"
		"standard input, a folder stands for those in it) or from repositories (folders with\n"
		"freshet.db), several as one history. Cuts their time into cycles, and lets every\n"
		"policy spend the same budget in each. A download sees the page as it was then. All\n"
		"measures are means over the cycles, with the standard error over seeds (+-). Several\n"
		"--cycle or --budget make an experiment each; with --json each is a document, one a\n"
		"line.\n\n"
		"ChangeRatio is the share of downloads that found the page other than our copy; cycle,\n"
		"other than it was one cycle ago; weighted, by PageRank. Freshness is the share of\n"
		"copies that are true after a cycle, age d how many days the stale ones have been so.\n"
		"Over time is the share of copies that are true at every midnight from the start to\n"
		"the end, and age all d the mean age of all copies then (0 of a true one): these two\n"
		"compare cycles of different length. The measure of the aim comes first and decides\n"
		"the order; policies that know no aim do the same under each of them. Unvisited d is\n"
		"the longest time without a visit, plan s the time a run spent planning. A star\n"
		"marks what differs from the best policy (oracle, which knows the future, aside) by\n"
		"more than chance.\n\n"
		"A page whose capture has a status of 4xx or 5xx (but 404 and 410) fails until its next\n"
		"capture, one cycle at most: the download is spent, the copy stays. Pages that fail rest,\n"
		"as in live cycles. --fail makes pages fail that did not.\n\n"
		"With --by-site, for each site its pages, how often they changed in all, and how the\n"
		"best policy did there; --json and the report have it of every policy.\n\n"
		"With --shards the same is done as a fleet of machines does it: sites are dealt out to\n"
		"shards, each shard has a policy that knows its own pages only, and the one budget is\n"
		"granted in small parts to the shards that bid most for them, or split by pages. What\n"
		"sharding costs is the difference to the same replay without it.\n\n"
		"With --logged nothing is simulated: the visits that a repository made, each logged\n"
		"with the probability with which it was chosen, say how often the plans of another\n"
		"policy would have hit, with an interval; or that the log cannot tell, and why. Visits\n"
		"are those of `freshet log`; imported ones, those of live, and cycles that made first\n"
		"copies only are not among them.",
	.examples =
		"  freshet replay archive.cdxj.gz --cycle 2w --budget 2% --policy all\n"
		"  freshet replay *.cdxj.gz --policy 'neighbour:by=dir,d=-2..4' --budget 1%,2%,5%\n"
		"  freshet replay site.warc.gz --policy random --policy site --json\n"
		"  freshet replay *.cdxj.gz --figures paper1 --svg figures\n"
		"  freshet replay archive.cdxj.gz --by-site --report report.html\n"
		"  freshet replay archive.cdxj.gz --policy tide --shards 16 --shard-by host\n"
		"  freshet replay crawl --logged --policy frequency --policy oldest\n",
	.options = replay_options,
	.opts_size = sizeof(struct replay_cli_opts),
	.needs = replay_needs,
	.n_args_min = 1,
	.n_args_max = -1,
	.archives = true,
	.run = replay_cmd_run,
};
