/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_touched.c - `freshet touched`: somebody says that pages have changed. */
#include <stdio.h>
#include <string.h>

#include "base/io/input.h"
#include "base/mem.h"
#include "cli/frame/repository.h"
#include "cli/frame/shards.h"
#include "engine/book/touch.h"
#include "engine/fleet/work.h"

#define LINE_MAX_BYTES 65536

struct touched_opts { const char *by; };

static const struct option_spec touched_options[] = {
	OPT_TEXT(touched_opts, by, TOUCH_LOCAL, "NAME", "who says so: trust is learnt for each name"),
	OPT_END
};

struct urls { const char **v; size_t n, cap; };

/* The arguments; "-" stands for lines of standard input. */
static int read_urls(struct urls *u, struct arena *texts, int n, char **args, struct err *err)
{
	struct input *in;
	char *line;
	size_t size;
	int rc = 0;

	for (int i = 0; i < n && rc == 0; i++) {
		if (strcmp(args[i], "-")) {
			vec_push(u, args[i]);
			continue;
		}
		if ((rc = input_open(&in, "-", err)) < 0)
			return rc;
		while ((rc = input_line(in, LINE_MAX_BYTES, &line, &size, err)) > 0)
			if (size && *line != '#')
				vec_push(u, arena_strndup(texts, line, size));
		input_close(in);
	}
	return rc;
}

/* On a fleet: each URL goes to the inbox of its shard. */
static int touch_fleet(struct cli *cli, const char *by, const struct urls *u,
                       struct touch_stats *ret, struct err *err)
{
	struct inbox_stats done = { 0 };
	struct shards_mail mail;
	char head[TOUCH_NAME_MAX + 8];
	uint32_t left = 0;
	int rc = 0;

	snprintf(head, sizeof head, "#by %s", by);
	shards_mail_begin(&mail, cli, "touched", head);
	for (size_t i = 0; i < u->n && rc == 0; i++) {
		int32_t shard = shards_of(cli, u->v[i]);

		if (shard < 0)
			ret->bad++;
		else
			rc = shards_mail_line(&mail, cli, shard, (struct text){ u->v[i], strlen(u->v[i]) },
			                      err);
	}
	if (rc == 0)
		rc = shards_mail_end(&mail, cli, &done, &left, err);
	shards_mail_release(&mail, cli);
	ret->touched = done.touched;
	ret->again = done.again;
	ret->unknown = done.unknown;
	ret->bad += done.bad;
	if (rc == 0 && left)
		log_info("%u shard%s held by workers: they do the rest", left, left == 1 ? " is" : "s are");
	return rc;
}

static void print(const struct cli *cli, const char *by, const struct touch_stats *t)
{
	struct json j;

	if (cli->common.json) {
		cli_json_begin(&j, "touched");
		json_kstr(&j, "notifier", by);
		json_kint(&j, "touched", (int64_t)t->touched);
		json_kint(&j, "again", (int64_t)t->again);
		json_kint(&j, "unknown", (int64_t)t->unknown);
		json_kint(&j, "malformed", (int64_t)t->bad);
		cli_json_end(&j);
		return;
	}
	printf("%llu page%s touched", (unsigned long long)t->touched, t->touched == 1 ? "" : "s");
	if (t->again)
		printf(", %llu already so", (unsigned long long)t->again);
	if (t->unknown)
		printf(", %llu not under care", (unsigned long long)t->unknown);
	if (t->bad)
		printf(", %llu no URL of a page", (unsigned long long)t->bad);
	putchar('\n');
}

static int touched_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const char *by = ((struct touched_opts *)opts)->by;
	struct touch_stats stats = { 0 };
	struct arena texts = { 0 };
	struct store *s = NULL;
	struct urls urls = { 0 };
	int rc;

	if (!touch_is_name(by))
		return err_set(err, E_USAGE, "--by: 1 to %d letters, digits or characters of . _ - @",
		               TOUCH_NAME_MAX);
	rc = read_urls(&urls, &texts, n_args, args, err);
	if (rc == 0 && shards_any(cli)) {
		rc = touch_fleet(cli, by, &urls, &stats, err);
	} else if (rc == 0 && (rc = repository_open(cli, &s, err)) == 0) {
		rc = touch_pages(s, by, urls.v, urls.n, clock_now(), &stats, err);
	}
	store_close(s);
	if (rc == 0)
		print(cli, by, &stats);
	vec_release(&urls);
	arena_release(&texts);
	return rc;
}

const struct command command_touched = {
	.name = "touched",
	.on_fleet = FLEET_SELF,
	.arguments = "URL...",
	.summary = "somebody says that pages have changed; it counts as far as it was right before",
	.description =
		"For publishing systems, webhooks and people who know of a change. Touched pages come\n"
		"first in the next cycle, oldest first, as far as their notifier (--by) is believed.\n"
		"`-` stands for standard input, one URL a line.\n\n"
		"Each visit of a touched page, whatever it was made for, checks the touch and takes it off.\n"
		"A notifier is believed about a site when more than .9 of at least 20 checks there found a\n"
		"change, as with the dates of sitemaps. Before that its pages are on trial: so many as the\n"
		"checks still need. When it was wrong, its touches are only checked, where the policy goes\n"
		"anyway; being right again for long wins the trust back. One notifier gets at most\n"
		"--notifier-share of a cycle, all of them half of it. `freshet explain` shows what is known.\n\n"
		"Nothing comes under care by this: other URLs are counted as such.",
	.examples = "  freshet -C crawl touched --by shop https://shop.example/new\n"
		"  echo https://example.org/ | freshet -C crawl touched --by cms -\n",
	.options = touched_options,
	.opts_size = sizeof(struct touched_opts),
	.n_args_min = 1,
	.n_args_max = -1,
	.run = touched_run,
};
