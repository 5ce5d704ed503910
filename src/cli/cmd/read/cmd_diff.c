/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_diff.c - `freshet diff URL`: what changed between two captures of a page,
 * and for which detectors it counts.
 */
#include <stdio.h>

#include "cli/frame/repository.h"
#include "cli/frame/terminal.h"
#include "engine/archive/site_detect.h"
#include "engine/changes/page_copy.h"
#include "web/page/change.h"
#include "web/page/compare.h"

struct diff_opts {
	bool tags;
	int64_t from, to;
	const char *detect;
	struct option_list ignore;
};

static const struct option_spec diff_options[] = {
	OPT_FLAG(diff_opts, tags, "only elements, and what concerns accessibility"),
	OPT_TIME(diff_opts, from, NULL, "the older capture: the newest at or before this time"),
	OPT_TIME(diff_opts, to, NULL, "the newer capture: the newest at or before this time"),
	{ .name = "detect", .type = OPTION_TEXT, .def = "bytes", .arg = "DETECTOR",
	  .offset = offsetof(struct diff_opts, detect), .setting = true,
	  .help = "whose settings the pages are read by: " DETECTOR_CHOICES },
	{ .name = "ignore", .type = OPTION_LIST, .arg = "RULES",
	  .offset = offsetof(struct diff_opts, ignore), .setting = true,
	  .help = "elements left out, as in `#clock, .ad`, for all sites or `HOST: RULES`" },
	OPT_END
};

/* The two captures with content that are compared. */
struct choice {
	int64_t from, to;
	uint64_t before, after;         /* ids, 0: none */
	char digest[100];               /* of `after` */
};

static int choose(void *arg, const struct store_capture *c, struct err *err)
{
	struct choice *w = arg;

	(void)err;
	if (!page_copy_is_there(c))
		return 0;
	if (w->from) {
		if (c->time <= w->from)
			w->before = c->id;
		if (!w->to || c->time <= w->to)
			w->after = c->id;
	} else if (!w->to || c->time <= w->to) {
		char digest[sizeof w->digest];

		snprintf(digest, sizeof digest, "%.*s", (int)c->digest.size,
		         c->digest.s ? c->digest.s : "");
		/* equal captures are skipped: the last change is wanted */
		if (!*digest || strcmp(digest, w->digest))
			w->before = w->after;
		memcpy(w->digest, digest, sizeof digest);
		w->after = c->id;
	}
	return 0;
}

static int load_side(struct page_copy *side, struct content *content, struct store *store,
                     uint64_t id, struct text url, struct err *err)
{
	struct store_capture c;
	int rc = store_capture_get(store, id, &c, err);

	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "capture %llu is missing",
		                             (unsigned long long)id);
	return page_copy_load(side, content, &c, url, err);
}

static const char *const kind_names[] = { "text", "elements", "accessibility" };

static void print_plain(const char *text, const char *after)
{
	log_print_plain(text);
	fputs(after, stdout);
}

static void print_text(const struct page_diff *d, const struct diff_opts *o,
                       const struct page_copy *before, const struct page_copy *after)
{
	char from[21], to[21];
	int last = -1;

	when_iso(before->time, from);
	when_iso(after->time, to);
	printf("from %s to %s\nchanged by: bytes %s, text %s, tags %s, near:BITS ", from, to,
	       d->view.bytes ? "yes" : "no", d->view.text ? "yes" : "no",
	       d->view.tags ? "yes" : "no");
	if (d->view.bits)
		printf("with BITS below %u\n", d->view.bits);
	else
		puts("no");
	for (size_t i = 0; i < d->items.n; i++) {
		const struct diff_item *item = &d->items.v[i];

		if (o->tags && item->kind == DIFF_TEXT)
			continue;
		if ((int)item->kind != last)
			printf("\n%s\n", kind_names[item->kind]);
		last = (int)item->kind;
		printf("  %s%c ", tone_on(item->added ? TONE_ADDED : TONE_REMOVED),
		       item->added ? '+' : '-');
		if (*item->label)
			print_plain(item->label, ": ");
		print_plain(item->text, "");
		if (item->kind == DIFF_ELEMENT && item->count > 1)
			printf(" (%u times)", item->count);
		puts(tone_off());
	}
	if (d->cut)
		puts("\n(a page is so long that the rest was not compared)");
}

static void print_json(const struct page_diff *d, const struct diff_opts *o, const char *url,
                       const struct page_copy *before, const struct page_copy *after)
{
	struct json j;
	char t[21];

	cli_json_begin(&j, "diff");
	json_kstr(&j, "url", url);
	when_iso(before->time, t);
	json_kstr(&j, "from", t);
	when_iso(after->time, t);
	json_kstr(&j, "to", t);
	json_kbool(&j, "bytes", d->view.bytes);
	json_kbool(&j, "text", d->view.text);
	json_kbool(&j, "tags", d->view.tags);
	json_kint(&j, "bits", d->view.bits);
	json_key(&j, "items");
	json_array(&j);
	for (size_t i = 0; i < d->items.n; i++) {
		const struct diff_item *item = &d->items.v[i];

		if (o->tags && item->kind == DIFF_TEXT)
			continue;
		json_object(&j);
		json_kstr(&j, "kind", kind_names[item->kind]);
		json_kbool(&j, "added", item->added);
		if (*item->label)
			json_kstr(&j, "label", item->label);
		json_kstr(&j, "text", item->text);
		if (item->kind == DIFF_ELEMENT)
			json_kint(&j, "count", item->count);
		json_end_object(&j);
	}
	json_end_array(&j);
	cli_json_end(&j);
}

static int compare(struct cli *cli, const struct diff_opts *o, struct store *s,
                   const struct store_page *page, const struct choice *w, struct err *err)
{
	struct extract_options options = { 0 };
	struct ignore_list rules = { 0 };
	struct page_copy before = { 0 }, after = { 0 };
	struct site_settings sites = { 0 };
	struct detectors detectors = { 0 };
	struct detector detect;
	struct page_diff d = { 0 };
	struct content content;
	char *url = mem_strndup(page->url.s, page->url.size);
	struct text named = { url, page->url.size };
	int rc = detector_parse(&detectors.general, o->detect, err);

	for (size_t i = 0; i < o->ignore.n && rc == 0; i++)
		rc = ignore_list_add(&rules, o->ignore.v[i], err);
	if (rc == 0)
		rc = site_settings_load(&sites, s, err);
	if (rc == 0 && !cli_given(cli, "ignore"))
		rc = site_ignore_add(&rules, &sites, err);
	detectors.sites = cli_given(cli, "detect") ? NULL : &sites;
	detect = detectors_for(&detectors, url, page->url.size);
	content_init(&content, cli->common.repository, EXTRACT_SIZE_MAX);
	if (rc == 0 && (rc = load_side(&before, &content, s, w->before, named, err)) == 0 &&
	    (rc = load_side(&after, &content, s, w->after, named, err)) == 0) {
		struct extract_input a = page_copy_input(&before, url), b = page_copy_input(&after, url);

		detector_options(&detect, &options);
		options.ignore = ignore_list_find(&rules, url, strlen(url));
		rc = compare_pages(&d, &a, &b, &options, err);
		if (rc == 0 && cli->common.json)
			print_json(&d, o, url, &before, &after);
		else if (rc == 0)
			print_text(&d, o, &before, &after);
		if (rc == 0)
			page_diff_release(&d);
	}
	content_release(&content);
	ignore_list_release(&rules);
	site_settings_release(&sites);
	page_copy_release(&before);
	page_copy_release(&after);
	free(url);
	return rc;
}

static int diff_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct diff_opts *o = opts;
	struct arena texts = { 0 };
	struct choice w = { 0 };
	struct store_page page;
	struct store *s;
	int rc = repository_read(cli, &s, err);

	(void)n_args;
	if (rc < 0)
		return rc;
	w.from = o->from;
	w.to = o->to;
	if ((rc = repository_settings(cli, s, &texts, err)) == 0 &&
	    (rc = repository_page(s, args[0], &page, err)) == 0 &&
	    (rc = store_captures(s, &page.number, 1, choose, &w, err)) == 0) {
		if (!w.before || !w.after || w.before == w.after)
			rc = err_set(err, E_FAIL, "%s: there are no two captures with different "
			             "content; `freshet show` lists what there is", args[0]);
		else if ((rc = store_page_get(s, page.number, &page, err)) > 0)
			rc = compare(cli, o, s, &page, &w, err);
	}
	store_close(s);
	arena_release(&texts);
	return rc;
}

const struct command command_diff = {
	.name = "diff",
	.on_fleet = FLEET_PAGE,
	.arguments = "URL",
	.summary = "what changed between two captures of a page, and which detectors see it",
	.description =
		"Compares the newest two contents that are at hand (in WARC files) and differ, or the\n"
		"ones named by --from and --to. Text is compared line by line; elements as what came\n"
		"and went; what a screen reader reads aloud (alternative texts, labels, headings,\n"
		"languages, roles, table headers) is named as such. --detect and --ignore are for the\n"
		"verdicts after `changed by`; what is listed is all that differs.",
	.examples =
		"  freshet -C crawl diff https://example.org/\n"
		"  freshet -C crawl diff https://example.org/ --tags --from 2024-01-01\n",
	.options = diff_options,
	.opts_size = sizeof(struct diff_opts),
	.n_args_min = 1,
	.n_args_max = 1,
	.read = true,
	.exits = "0 done, whether the copies differ or not\n"
		"1 there are no two copies to compare\n",
	.run = diff_run,
};
