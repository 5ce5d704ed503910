/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_show.c - `freshet show URL`: what is known of one page. */
#include <stdio.h>

#include "base/buf.h"
#include "base/log.h"
#include "cli/frame/repository.h"
#include "cli/print/failing_print.h"
#include "engine/book/visit.h"
#include "engine/view/inventory.h"
#include "web/rules/lastmod.h"

struct show_opts { bool features; };

static const struct option_spec show_options[] = {
	OPT_FLAG(show_opts, features, "the 48 features that pages are clustered by"),
	OPT_END
};

static int json_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct json *j = arg;
	char t[21];

	(void)err;
	when_iso(c->time, t);
	json_object(j);
	json_kstr(j, "time", t);
	json_kint(j, "status", c->status);
	if (c->revisit)
		json_kbool(j, "revisit", true);
	if (c->digest.s) {
		json_key(j, "digest");
		json_strn(j, c->digest.s, c->digest.size);
	}
	if (c->robots.s) {
		json_key(j, "robots");
		json_strn(j, c->robots.s, c->robots.size);
	}
	if (c->file.s) {
		json_key(j, "file");
		json_strn(j, c->file.s, c->file.size);
		json_kint(j, "offset", c->offset);
	}
	json_end_object(j);
	return 0;
}

static int print_capture(void *arg, const struct store_capture *c, struct err *err)
{
	char t[21], digest[160];

	(void)arg;
	(void)err;
	when_iso(c->time, t);
	snprintf(digest, sizeof digest, "%.*s", (int)c->digest.size,
	         c->digest.s ? c->digest.s : "");
	printf("  %s  %3d  %s\n", t, c->status, log_plain(digest));
	return 0;
}

static void print_time(const char *what, int64_t t)
{
	char text[21];

	if (t)
		when_iso(t, text);
	printf("%-13s%s\n", what, t ? text : "never");
}

static void json_time(struct json *j, const char *key, int64_t t)
{
	char text[21];

	if (t)
		when_iso(t, text);
	json_kstr(j, key, t ? text : NULL);
}

/* The date in the site's sitemap, and how often such dates were right. */
static int print_hint(struct store *s, const struct store_page *p, struct err *err)
{
	struct lastmod_trust trust = { 0 };
	char text[21];
	int rc;

	if (!p->hint)
		return 0;
	rc = visit_trust(s, p->url, &trust, err);
	when_iso(p->hint, text);
	if (rc == 0)
		printf("%-13s%s by its sitemap; the site's dates were right in %u of %u checks: %s\n",
		       "modified", text, trust.hits, trust.checks,
		       lastmod_trusted(&trust) ? "trusted" : "not trusted");
	return rc;
}

static int json_tag(void *arg, struct text tag, uint64_t n, struct err *err)
{
	(void)n;
	(void)err;
	json_strn(arg, tag.s, tag.size);
	return 0;
}

static int print_tag(void *arg, struct text tag, uint64_t n, struct err *err)
{
	unsigned *before = arg;
	char shown[STORE_TAG_MAX + 1];

	(void)n;
	(void)err;
	snprintf(shown, sizeof shown, "%.*s", (int)tag.size, tag.s);
	printf("%s%s", (*before)++ ? ", " : "tags         ", log_plain(shown));
	return 0;
}

static int show_json(struct store *s, const struct store_page *p, const struct failing *f,
                     const struct moved_page *m, struct err *err)
{
	struct lastmod_trust trust = { 0 };
	struct json j;
	int rc;

	cli_json_begin(&j, "show");
	json_key(&j, "url");
	json_strn(&j, p->url.s, p->url.size);
	if (p->given.size) {
		json_key(&j, "given");
		json_strn(&j, p->given.s, p->given.size);
	}
	json_kint(&j, "page", p->number);
	json_kstr(&j, "state", store_state_name(p->state));
	json_kstr(&j, "care", store_care_name(p->care));
	json_knum(&j, "weight", p->weight);
	json_key(&j, "tags");
	json_array(&j);
	rc = store_tags(s, p->number, json_tag, &j, err);
	json_end_array(&j);
	json_time(&j, "added", p->added);
	json_time(&j, "last_visit", p->last_visit);
	json_time(&j, "last_change", p->last_change);
	json_kint(&j, "visits", p->visits);
	json_kint(&j, "changes", p->changes);
	failing_page_json(&j, f);
	moved_page_json(m, &j);
	if (rc == 0)
		rc = visit_trust(s, p->url, &trust, err);
	if (rc == 0 && p->hint) {
		json_time(&j, "lastmod", p->hint);
		json_kbool(&j, "lastmod_trusted", lastmod_trusted(&trust));
		json_kint(&j, "lastmod_checks", trust.checks);
		json_kint(&j, "lastmod_right", trust.hits);
	}
	json_key(&j, "captures");
	json_array(&j);
	if (rc == 0)
		rc = store_captures(s, &p->number, 1, json_capture, &j, err);
	json_end_array(&j);
	cli_json_end(&j);
	return rc;
}

static int show_text(struct store *s, const struct store_page *p, const struct failing *f,
                     const struct moved_page *m, struct err *err)
{
	unsigned tags = 0;
	char given[400];
	int rc;

	printf("%-13s%.*s\n", "url", (int)p->url.size, p->url.s);
	if (p->given.size)
		printf("%-13s%s\n", "given as", log_quote(p->given.s, p->given.size, given,
		                                          sizeof given));
	printf("%-13s%s%s%s\n", "state", store_state_name(p->state), p->care ? ", " : "",
	       p->care ? store_care_name(p->care) : "");
	printf("%-13s%g\n", "weight", p->weight);
	if ((rc = store_tags(s, p->number, print_tag, &tags, err)) < 0)
		return rc;
	if (tags)
		putchar('\n');
	print_time("added", p->added);
	print_time("last visit", p->last_visit);
	print_time("last change", p->last_change);
	printf("%-13s%u, %u of them found a change", "visits", p->visits, p->changes);
	failing_page_counts(f);
	putchar('\n');
	failing_page_text(f);
	moved_page_text(m);
	if ((rc = print_hint(s, p, err)) < 0)
		return rc;
	puts("captures");
	return store_captures(s, &p->number, 1, print_capture, NULL, err);
}

static const char *const feature_groups[] = { "content", "url", "content", "url", "linkage",
                                              "dynamic" };

static void print_features(const struct cli *cli, const char *url, const float *row)
{
	struct json j;

	if (cli->common.json) {
		cli_json_begin(&j, "show");
		json_kstr(&j, "url", url);
		json_key(&j, "features");
		json_object(&j);
	}
	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		const struct feature_row *f = &feature_rows[i];

		if (cli->common.json)
			json_knum(&j, f->name, (double)row[i]);
		else
			printf("%-18s %12.6g  %-8s %s\n", f->name, (double)row[i],
			       feature_groups[__builtin_ctz((unsigned)f->group)], f->description);
	}
	if (cli->common.json) {
		json_end_object(&j);
		cli_json_end(&j);
	}
}

static int show_features(struct cli *cli, struct store *s, uint32_t page, struct err *err)
{
	struct inventory_opts io = { .needs = NEED_CLUSTERS };
	struct inventory v;
	struct view view = { 0 };
	struct rows rows = { 0 };
	int rc = inventory_open(&v, s, &io, err);

	if (rc == 0) {
		pages_view(&v.loaded.pages, &v.loaded.visits, &view);
		inventory_view(&v, &view);
		features_raw(&v.copies.features, &view, true, &rows);
		print_features(cli, pages_url(&v.loaded.pages, page), rows_dense(&rows, page));
		rows_release(&rows);
	}
	inventory_release(&v);
	return rc;
}

static int show_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct show_opts *o = opts;
	struct store_page p;
	struct failing f;
	struct moved_page m = { 0 };
	struct store *s;
	int rc = repository_read(cli, &s, err);

	(void)n_args;
	if (rc < 0)
		return rc;
	rc = repository_page(s, args[0], &p, err);
	if (rc == 0 && o->features) {
		rc = show_features(cli, s, p.number, err);
	} else if (rc == 0) {
		rc = failing_page(s, p.number, &f, err);
		if (rc == 0)
			rc = moved_page_load(&m, s, p.number, err);
		/* other pages were looked at */
		if (rc == 0 && (rc = store_page_get(s, p.number, &p, err)) > 0)
			rc = cli->common.json ? show_json(s, &p, &f, &m, err) :
			     show_text(s, &p, &f, &m, err);
		moved_page_release(&m);
	}
	store_close(s);
	return rc;
}

const struct command command_show = {
	.name = "show",
	.on_fleet = FLEET_PAGE,
	.arguments = "URL",
	.summary = "what is known of one page",
	.description =
		"Visits are those that had an answer about the page, and the last visit is the last\n"
		"of them; those that failed or were blocked are counted behind. If the last ones in a\n"
		"row did, the line `failing` says why, since when and how often: the status of the\n"
		"server's answer, or the cause (docs/formats.md lists them).",
	.examples = "  freshet -C crawl show https://example.org/\n",
	.options = show_options,
	.opts_size = sizeof(struct show_opts),
	.n_args_min = 1,
	.n_args_max = 1,
	.read = true,
	.run = show_run,
};
