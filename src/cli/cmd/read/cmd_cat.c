/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_cat.c - `freshet cat URL`: our copy of a page, as the server sent it. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io/output.h"
#include "base/status.h"
#include "cli/frame/repository.h"
#include "engine/changes/page_copy.h"

struct cat_opts { int64_t at; bool headers; const char *output; };

static const struct option_spec cat_options[] = {
	OPT_TIME(cat_opts, at, NULL, "the copy of this time: the newest at or before it"),
	OPT_FLAG(cat_opts, headers, "the head of the answer first, as it stands in the archive"),
	{ .name = "output", .type = OPTION_TEXT, .offset = offsetof(struct cat_opts, output),
	  .arg = "FILE", .letter = 'o', .written = true, .help = "where to; .gz and .zst are compressed" },
	OPT_END
};

struct choice {
	int64_t at;                     /* 0: now */
	uint64_t id;                    /* of the copy; 0: none */
	int64_t time, first;            /* of the copy; of the page's first one with content */
	int64_t gone;                   /* since when the page is gone; 0: it is not */
};

/* A revisit says that the content was still that of the copy before. */
static int choose(void *arg, const struct store_capture *c, struct err *err)
{
	struct choice *w = arg;

	(void)err;
	if (status_is_gone(c->status)) {
		if (!w->at || c->time <= w->at)
			w->gone = w->gone ? w->gone : c->time;
		return 0;
	}
	if (!page_copy_is_there(c))
		return 0;
	if (!w->first)
		w->first = c->time;
	if (w->at && c->time > w->at)
		return 0;
	w->gone = 0;
	w->id = c->id;
	w->time = c->time;
	return 0;
}

static int no_copy(const struct choice *w, const char *url, struct err *err)
{
	char first[21];

	if (!w->first)
		return err_set(err, E_FAIL, "%s: there is no copy with content; `freshet show` says "
		               "what is known of the page", url);
	when_iso(w->first, first);
	return err_set(err, E_FAIL, "%s: the first copy is of %s", url, first);
}

static void print_json(const char *url, const struct store_capture *c,
                       const struct page_copy *copy)
{
	const struct { const char *key; struct text text; } texts[] = {
		{ "mime", c->mime }, { "title", c->title }, { "digest", c->digest },
		{ "file", c->file },
	};
	struct json j;
	char time[21];

	cli_json_begin(&j, "cat");
	json_kstr(&j, "url", url);
	when_iso(c->time, time);
	json_kstr(&j, "time", time);
	json_kint(&j, "status", c->status);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		if (!texts[i].text.s)
			continue;
		json_key(&j, texts[i].key);
		json_strn(&j, texts[i].text.s, texts[i].text.size);
	}
	json_kint(&j, "offset", c->offset);
	json_kint(&j, "bytes", (int64_t)copy->body.size);
	cli_json_end(&j);
}

/* No byte of a stranger's reaches a terminal raw. */
static int write_to_terminal(const struct page_copy *copy, const struct buf *head,
                             const char *url, struct err *err)
{
	if (memchr(buf_text(&copy->body), 0, copy->body.size))
		return err_set(err, E_USAGE, "%s is no text: write it to a file with -o FILE", url);
	if (head)
		log_print_plain(buf_text(head));
	log_print_plain(buf_text(&copy->body));
	return 0;
}

static int write_copy(const struct cat_opts *o, const struct page_copy *copy,
                      const struct buf *head, const char *url, struct err *err)
{
	struct output *out;
	int rc;

	if (!o->output && isatty(fileno(output_standard())))
		return write_to_terminal(copy, head, url, err);
	rc = output_open(&out, o->output, err);
	if (rc < 0)
		return rc;
	if (head)
		fwrite(buf_text(head), 1, head->size, output_file(out));
	fwrite(buf_text(&copy->body), 1, copy->body.size, output_file(out));
	return output_close(out, err);
}

static int cat_copy(struct cli *cli, const struct cat_opts *o, struct store *s, uint64_t id,
                    const char *url, struct err *err)
{
	struct page_copy copy = { 0 };
	struct store_capture c;
	struct content content;
	int rc = store_capture_get(s, id, &c, err);

	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "capture %llu is missing",
		                             (unsigned long long)id);
	content_init(&content, cli->common.repository, CONTENT_BLOCK_MAX);
	rc = page_copy_load(&copy, &content, &c, (struct text){ url, strlen(url) }, err);
	if (rc == 0 && copy.cut)
		rc = err_set(err, E_LIMIT, "%s: the copy has more than %zu bytes", url,
		             CONTENT_BLOCK_MAX);
	if (rc == 0 && cli->common.json)
		print_json(url, &c, &copy);
	else if (rc == 0)
		rc = write_copy(o, &copy, o->headers && content.body.is_http ? &content.body.head :
		                NULL, url, err);
	page_copy_release(&copy);
	content_release(&content);
	return rc;
}

static int cat_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct cat_opts *o = opts;
	struct choice w = { .at = o->at };
	struct store_page page;
	char *url = NULL, since[21];
	struct store *s;
	int rc = repository_read(cli, &s, err);

	(void)n_args;
	if (rc < 0)
		return rc;
	rc = repository_page(s, args[0], &page, err);
	if (rc == 0) {
		url = mem_strndup(page.url.s, page.url.size);
		rc = store_captures(s, &page.number, 1, choose, &w, err);
	}
	if (rc == 0 && !w.id)
		rc = no_copy(&w, url, err);
	if (rc == 0 && w.gone) {
		when_iso(w.gone, since);
		log_info("the page is gone since %s: this is the last copy", since);
	}
	if (rc == 0)
		rc = cat_copy(cli, o, s, w.id, url, err);
	free(url);
	store_close(s);
	return rc;
}

const struct command command_cat = {
	.name = "cat",
	.on_fleet = FLEET_PAGE,
	.arguments = "URL",
	.summary = "our copy of a page, as the server sent it",
	.description =
		"Prints the bytes of the newest copy, or of that of another time, with transfer and\n"
		"content encoding undone. A visit that found nothing changed has no copy of its own:\n"
		"the copy before it is printed. On a terminal, control characters are shown as\n"
		"question marks, and what is no text is refused: -o FILE keeps every byte.\n\n"
		"With --json: where the copy lies and what is known of it, without its bytes.",
	.examples =
		"  freshet -C crawl cat https://example.org/\n"
		"  freshet -C crawl cat https://example.org/ --at 2026-01-01 --headers\n",
	.options = cat_options,
	.opts_size = sizeof(struct cat_opts),
	.n_args_min = 1,
	.n_args_max = 1,
	.exits = "1 there is no copy, or none of that time\n",
	.run = cat_run,
};
