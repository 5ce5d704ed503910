/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_export.c - `freshet export`: data of the repository for other programs.  A kind is
 * one line in the table below; docs/formats.md says what each kind writes.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/io/output.h"
#include "cli/frame/repository.h"
#include "cli/print/failing_print.h"
#include "cli/print/history_print.h"
#include "engine/archive/export.h"
#include "policy/policy.h"

struct export_opts { const char *since, *output; bool extended; };

static const struct option_spec export_options[] = {
	OPT_TEXT(export_opts, since, NULL, "TIME|DURATION|last",
	         "changed, visits: only what was seen since then, that long ago until now, or in the "
	         "last cycle"),
	OPT_FLAG(export_opts, extended, "cdxj: with what was read out of the pages, so that the "
	         "history can be replayed without its content"),
	{ .name = "output", .type = OPTION_TEXT, .offset = offsetof(struct export_opts, output),
	  .arg = "FILE", .letter = 'o', .help = "where to; .gz and .zst are compressed; warc: a "
	  "folder" },
	OPT_END
};

struct exporting {
	struct cli *cli;
	const struct export_opts *opts;
	struct store *store;
	struct output *out;
	struct json j;
	int64_t since;                  /* INT64_MIN: everything */
	uint32_t last_cycle, from, to;  /* cycles [from, to) */
	struct store_page page;         /* the one looked up last */
	bool has_page;
	uint64_t n_written;             /* lines */
	VEC(struct store_visit) changes;
	VEC(uint32_t) by_page;          /* number of its change + 1 */
};

static void json_time(struct json *j, const char *key, int64_t t)
{
	char text[21];

	if (!t)
		return;
	when_iso(t, text);
	json_kstr(j, key, text);
}

static void json_text(struct json *j, const char *key, struct text t)
{
	if (!t.s)
		return;
	json_key(j, key);
	json_strn(j, t.s, t.size);
}

static void end_line(struct exporting *e)
{
	json_end_object(&e->j);
	json_newline(&e->j);
	e->n_written++;
}

static int export_page(void *arg, const struct store_page *p, struct err *err)
{
	struct exporting *e = arg;
	struct json *j = &e->j;

	(void)err;
	json_object(j);
	json_text(j, "url", p->url);
	json_kstr(j, "state", store_state_name(p->state));
	json_time(j, "added", p->added);
	if (p->found)
		json_kint(j, "found", p->found);
	json_time(j, "last_visit", p->last_visit);
	json_time(j, "last_change", p->last_change);
	json_kint(j, "visits", p->visits);
	json_kint(j, "changes", p->changes);
	json_time(j, "lastmod", p->hint);
	json_knum(j, "weight", p->weight);
	end_line(e);
	return 0;
}

static int export_pages(struct exporting *e, struct err *err)
{
	return store_pages(e->store, export_page, e, err);
}

static int write_url(struct exporting *e, uint32_t page, struct err *err)
{
	int rc = 1;

	if (!e->has_page || e->page.number != page)
		rc = store_page_get(e->store, page, &e->page, err);
	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "a visit of page %u, which is not there",
		                             page);
	e->has_page = true;
	json_text(&e->j, "url", e->page.url);
	return 0;
}

/* The outcome of a visit, named alike in all exports. */
static void write_outcome(struct json *j, const struct store_visit *v)
{
	json_kint(j, "cycle", v->cycle);
	json_time(j, "time", v->time);
	json_kstr(j, "outcome", visit_is_first(v) ? "new" : outcome_name((enum outcome)v->outcome));
	if (v->status)
		json_kint(j, "status", v->status);
	cause_print_json(j, v);
}

static int export_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct exporting *e = arg;
	struct json *j = &e->j;
	int rc;

	if (v->time < e->since)
		return 0;
	json_object(j);
	rc = write_url(e, v->page, err);
	if (rc < 0)
		return rc;
	write_outcome(j, v);
	json_kbool(j, "hit", v->hit);
	if (v->reason)
		json_kstr(j, "reason", reason_name(v->reason));
	if (!isnan(v->score))
		json_knum(j, "score", (double)v->score);
	if (!isnan(v->probability))
		json_knum(j, "probability", (double)v->probability);
	end_line(e);
	return 0;
}

static int export_visits(struct exporting *e, struct err *err)
{
	return store_visits(e->store, STORE_NONE, e->from, e->to, export_visit, e, err);
}

/* Keep, for each page, the last visit that found it new, changed or gone. */
static int note_change(void *arg, const struct store_visit *v, struct err *err)
{
	struct exporting *e = arg;
	uint32_t *k;

	(void)err;
	if (v->time < e->since || (v->outcome != OUTCOME_CHANGED && v->outcome != OUTCOME_GONE))
		return 0;
	while (e->by_page.n <= v->page)
		vec_push(&e->by_page, 0);
	k = &e->by_page.v[v->page];
	if (!*k) {
		vec_push(&e->changes, *v);
		*k = (uint32_t)e->changes.n;
	} else if (v->time >= e->changes.v[*k - 1].time) {
		e->changes.v[*k - 1] = *v;
	}
	return 0;
}

static int export_change(struct exporting *e, const struct store_visit *v, struct err *err)
{
	struct json *j = &e->j;
	struct store_capture c;
	int rc;

	json_object(j);
	rc = write_url(e, v->page, err);
	if (rc < 0)
		return rc;
	write_outcome(j, v);
	rc = v->capture ? store_capture_get(e->store, v->capture, &c, err) : 0;
	if (rc > 0) {
		json_text(j, "mime", c.mime);
		json_text(j, "title", c.title);
		json_text(j, "robots", c.robots);
		json_text(j, "digest", c.digest);
		json_text(j, "file", c.file);
		if (c.offset >= 0)
			json_kint(j, "offset", c.offset);
		if (c.size >= 0)
			json_kint(j, "size", c.size);
	}
	end_line(e);
	return rc < 0 ? rc : 0;
}

static int export_changed(struct exporting *e, struct err *err)
{
	int rc = store_visits(e->store, STORE_NONE, e->from, e->to, note_change, e, err);

	for (size_t i = 0; i < e->by_page.n && rc == 0; i++)
		if (e->by_page.v[i])
			rc = export_change(e, &e->changes.v[e->by_page.v[i] - 1], err);
	vec_release(&e->changes);
	vec_release(&e->by_page);
	return rc;
}

/* Is the file there, and not an older state of this list? */
static bool is_other_list(const char *path, const struct buf *words)
{
	FILE *f = fopen(path, "re");
	bool other = false;
	size_t at = 0, n;
	char piece[4096];

	if (!f)
		return false;
	while (!other && (n = fread(piece, 1, sizeof piece, f)) > 0) {
		other = at + n > words->size || memcmp(words->data + at, piece, n);
		at += n;
	}
	fclose(f);
	return other;
}

/* The numbers of `terms` need their list: words.txt beside the trace. */
static int write_words(struct exporting *e, struct err *err)
{
	const char *to = e->opts->output, *slash = strrchr(to, '/');
	struct output *out;
	struct buf words;
	char path[4096];
	int rc;

	buf_init(&words, BUF_NO_LIMIT);
	snprintf(path, sizeof path, "%.*swords.txt", slash ? (int)(slash - to + 1) : 0, to);
	rc = export_words(e->store, &words, err);
	if (rc == 0 && words.size && is_other_list(path, &words))
		rc = err_set(err, E_USAGE, "%s belongs to another trace: write to another folder",
		             path);
	if (rc == 0 && words.size && (rc = output_open(&out, path, err)) == 0) {
		fwrite(words.data, 1, words.size, output_file(out));
		rc = output_close(out, err);
	}
	buf_release(&words);
	return rc;
}

static int export_index(struct exporting *e, struct err *err)
{
	struct export x = { .store = e->store, .folder = e->cli->common.repository };
	int rc = 0;

	if (e->opts->extended && e->opts->output && strcmp(e->opts->output, "-"))
		rc = write_words(e, err);
	if (rc == 0)
		rc = export_cdxj(&x, e->opts->extended, output_file(e->out), err);
	e->n_written = x.n_written;
	return rc;
}

static int export_archive(struct exporting *e, struct err *err)
{
	uint64_t n_told = 0;
	struct export x = { .store = e->store, .folder = e->cli->common.repository,
	                    .report = log_warn_few, .arg = &n_told };
	uint64_t seed = (uint64_t)e->cli->common.seed ^ (uint64_t)clock_now() << 20;
	int rc = export_warc(&x, e->opts->output, seed, err);

	if (rc < 0)
		return rc;
	if (e->cli->common.json) {
		struct json j;

		cli_json_begin(&j, "export");
		json_kint(&j, "written", (int64_t)x.n_written);
		json_kint(&j, "without_content", (int64_t)x.n_missing);
		json_kint(&j, "lost", (int64_t)x.n_lost);
		cli_json_end(&j);
	} else {
		printf("%llu records written to %s; %llu captures without content; %llu lost\n",
		       (unsigned long long)x.n_written, e->opts->output,
		       (unsigned long long)x.n_missing, (unsigned long long)x.n_lost);
	}
	return 0;
}

struct export_kind {
	const char *name;
	int (*run)(struct exporting *e, struct err *err);
	bool own_output;                /* it opens its output itself */
	bool since, extended;           /* options that it takes */
};

static const struct export_kind kinds[] = {
	{ .name = "pages", .run = export_pages },
	{ .name = "changed", .run = export_changed, .since = true },
	{ .name = "visits", .run = export_visits, .since = true },
	{ .name = "cdxj", .run = export_index, .extended = true },
	{ .name = "warc", .run = export_archive, .own_output = true },
};

static int last_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	(void)err;
	if (!c->open)
		*(uint32_t *)arg = c->number;
	return 0;
}

/* A duration with its unit: that long ago. */
static bool parse_ago(const char *s, int64_t *ret)
{
	int64_t seconds;

	if (!*s || !isalpha((unsigned char)s[strlen(s) - 1]) || !duration_parse(s, &seconds))
		return false;
	*ret = clock_now() - seconds;
	return true;
}

/* --since: a time, a duration, or the last complete cycle (no cycle yet: nothing). */
static int parse_since(struct exporting *e, struct err *err)
{
	const char *s = e->opts->since;
	int rc;

	e->since = INT64_MIN;
	e->to = UINT32_MAX;
	if (!s)
		return 0;
	if (strcmp(s, "last"))
		return when_parse(s, strlen(s), &e->since) || parse_ago(s, &e->since) ? 0 :
		       err_set(err, E_USAGE, "since: '%s' is neither a time such as 2022-10-01, nor a "
		               "duration such as 2d (that long ago), nor `last`", s);
	rc = store_cycles(e->store, last_cycle, &e->from, err);
	e->to = e->from ? e->from + 1 : 0;
	return rc;
}

/* Report the number of lines, unless the lines themselves went to standard output. */
static void tell_written(const struct exporting *e, const char *kind)
{
	const char *path = e->opts->output;
	struct json j;

	if (e->to == 0)
		log_info("no cycle is complete yet: --since last has nothing to show");
	if (!path || !strcmp(path, "-"))
		return;
	if (!e->cli->common.json) {
		log_info("%llu line%s written to %s", (unsigned long long)e->n_written,
		         e->n_written == 1 ? "" : "s", path);
		return;
	}
	cli_json_begin(&j, "export");
	json_kstr(&j, "kind", kind);
	json_kstr(&j, "file", path);
	json_kint(&j, "written", (int64_t)e->n_written);
	cli_json_end(&j);
}

extern const struct command command_export;

static int export_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct exporting e = { .cli = cli, .opts = opts };
	const struct export_kind *kind = NULL;
	int rc;

	(void)n_args;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i].name, args[0]))
			kind = &kinds[i];
	if (!kind)
		return err_set(err, E_USAGE, "export: '%s' is none of %s", args[0],
		               command_export.arguments);
	if (kind->own_output && !e.opts->output)
		return err_set(err, E_USAGE, "export %s: say where to with -o FOLDER", kind->name);
	if (e.opts->since && !kind->since)
		return err_set(err, E_USAGE, "export %s: --since goes with changed and visits",
		               kind->name);
	if (e.opts->extended && !kind->extended)
		return err_set(err, E_USAGE, "export %s: --extended goes with cdxj", kind->name);
	rc = repository_read(cli, &e.store, err);
	if (rc < 0)
		return rc;
	rc = parse_since(&e, err);
	if (rc == 0 && !kind->own_output)
		rc = output_open(&e.out, e.opts->output, err);
	if (rc == 0) {
		if (e.out)
			json_to_file(&e.j, output_file(e.out));
		rc = kind->run(&e, err);
		if (rc == 0 && e.out)
			rc = output_close(e.out, err);
		else
			output_abandon(e.out);
	}
	if (rc == 0 && e.out)
		tell_written(&e, kind->name);
	store_close(e.store);
	return rc;
}

const struct command command_export = {
	.name = "export",
	.arguments = "pages|changed|visits|cdxj|warc",
	.summary = "what the repository holds, for other programs",
	.description =
		"pages: every page, one JSON object a line.\n\n"
		"changed: the pages that were found new, changed or gone, each once, with what was\n"
		"found last, what it asks of robots (an indexer leaves out noindex) and where its\n"
		"content lies; --since TIME, --since 2d (two days\n"
		"ago until now), or --since last for the last complete cycle.\n\n"
		"visits: every visit with its outcome, the cause if it failed or was blocked, and with\n"
		"what probability and why the page was asked for.\n\n"
		"cdxj: an index of all captures, sorted; with --extended a trace that `freshet\n"
		"replay` reads.\n\n"
		"warc: the records of all captures whose content is at hand, as WARC/1.1 files in\n"
		"the folder -o names.",
	.examples =
		"  freshet -C crawl export changed --since last\n"
		"  freshet -C crawl export cdxj --extended -o history.cdxj.gz\n"
		"  freshet -C crawl export warc -o archive/\n",
	.options = export_options,
	.opts_size = sizeof(struct export_opts),
	.n_args_min = 1,
	.n_args_max = 1,
	.run = export_run,
};
