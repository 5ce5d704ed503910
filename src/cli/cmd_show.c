/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_show.c - `freshet show URL`: what is known of one page. */
#include <stdio.h>

#include "base/buf.h"
#include "cli/page_arg.h"
#include "cli/repository.h"

static const char *const states[] = { "here", "gone", "left" };

static int json_capture(void *arg, const struct store_capture *c, struct err *err)
{
	struct json *j = arg;
	char t[21];

	(void)err;
	when_iso(c->time, t);
	json_object(j);
	json_kstr(j, "time", t);
	json_kint(j, "status", c->status);
	if (c->digest.s) {
		json_key(j, "digest");
		json_strn(j, c->digest.s, c->digest.size);
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
	char t[21];

	(void)arg;
	(void)err;
	when_iso(c->time, t);
	printf("  %s  %3d  %.*s\n", t, c->status, (int)c->digest.size,
	       c->digest.s ? c->digest.s : "");
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

static int show_json(struct store *s, const struct store_page *p, struct err *err)
{
	struct json j;
	int rc;

	cli_json_begin(&j, "show");
	json_key(&j, "url");
	json_strn(&j, p->url.s, p->url.size);
	json_kint(&j, "page", p->number);
	json_kstr(&j, "state", states[p->state % 3]);
	json_time(&j, "added", p->added);
	json_time(&j, "last_visit", p->last_visit);
	json_time(&j, "last_change", p->last_change);
	json_kint(&j, "visits", p->visits);
	json_kint(&j, "changes", p->changes);
	json_key(&j, "captures");
	json_array(&j);
	rc = store_captures(s, p->number, json_capture, &j, err);
	json_end_array(&j);
	cli_json_end(&j);
	return rc;
}

static int show_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct store_page p;
	struct store *s;
	int rc = repository_open(cli, &s, err);

	(void)opts;
	(void)n_args;
	if (rc < 0)
		return rc;
	rc = page_arg_find(s, args[0], &p, err);
	if (rc == 0 && cli->common.json) {
		rc = show_json(s, &p, err);
	} else if (rc == 0) {
		printf("%-13s%.*s\n", "url", (int)p.url.size, p.url.s);
		printf("%-13s%s\n", "state", states[p.state % 3]);
		print_time("added", p.added);
		print_time("last visit", p.last_visit);
		print_time("last change", p.last_change);
		printf("%-13s%u, %u of them found a change\n", "visits", p.visits, p.changes);
		puts("captures");
		rc = store_captures(s, p.number, print_capture, NULL, err);
	}
	store_close(s);
	return rc;
}

const struct command command_show = {
	.name = "show",
	.arguments = "URL",
	.summary = "what is known of one page",
	.examples = "  freshet -C crawl show https://example.org/\n",
	.n_args_min = 1,
	.n_args_max = 1,
	.run = show_run,
};
