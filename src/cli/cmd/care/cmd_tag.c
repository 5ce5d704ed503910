/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_tag.c - `freshet tag`: words of the user that pages are chosen by. */
#include <stdio.h>
#include <string.h>

#include "cli/cmd/care/caring.h"
#include "cli/frame/shards.h"

static const struct option_spec tag_options[] = {
	CARE_CHOOSING,
	{ .name = "delete", .type = OPTION_FLAG, .offset = offsetof(struct care_opts, delete_),
	  .help = "take the tag away" },
	OPT_END
};

static int list_tag(void *arg, struct text tag, uint64_t n, struct err *err)
{
	struct json *j = arg;

	(void)err;
	if (!j) {
		char shown[STORE_TAG_MAX + 1];

		snprintf(shown, sizeof shown, "%.*s", (int)tag.size, tag.s);
		printf("%s %llu\n", log_plain(shown), (unsigned long long)n);
		return 0;
	}
	json_object(j);
	json_key(j, "tag");
	json_strn(j, tag.s, tag.size);
	json_kint(j, "pages", (int64_t)n);
	json_end_object(j);
	return 0;
}

static int list_tags(struct caring *c, struct err *err)
{
	struct json j;
	int rc;

	if (!c->cli->common.json)
		return store_tags(c->writing.store, STORE_NONE, list_tag, NULL, err);
	cli_json_begin(&j, "tag");
	json_key(&j, "tags");
	json_array(&j);
	rc = store_tags(c->writing.store, STORE_NONE, list_tag, &j, err);
	json_end_array(&j);
	cli_json_end(&j);
	return rc;
}

static int put_tag(struct caring *c, const char *tag, struct err *err)
{
	VEC(uint32_t) pages = { 0 };
	struct store *s = c->writing.store;
	int rc;

	for (size_t i = 0; i < c->pages.pages.n; i++)
		vec_push(&pages, c->pages.pages.v[i].page);
	rc = store_begin(s, err);
	if (rc == 0)
		rc = store_tag_put(s, (struct text){ tag, strlen(tag) }, pages.v, pages.n,
		                   !c->opts->delete_, err);
	if (rc == 0)
		rc = store_commit(s, err);
	if (rc < 0)
		store_rollback(s);
	vec_release(&pages);
	return rc;
}

static int tag_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct care_opts *o = opts;
	struct caring c;
	VEC(char *) own = { 0 };
	int rc;

	/* of a fleet, shard after shard: each has its own pages */
	if (shards_count(cli) > 1 && cli->common.shard < 0 && n_args > 1) {
		vec_push(&own, args[0]);
		for (int i = 1; i < n_args; i++)
			if (shards_of(cli, args[i]) == cli->shard)
				vec_push(&own, args[i]);
		if (own.n == 1) {
			vec_release(&own);
			return 0;
		}
		args = own.v;
		n_args = (int)own.n;
	}
	rc = caring_open(&c, cli, opts, n_args ? n_args - 1 : 0, args + 1, n_args > 0, err);
	if (rc == 0 && !n_args) {
		rc = list_tags(&c, err);
	} else if (rc == 0 && (rc = caring_choose(&c, err)) == 0) {
		if (!o->dry_run)
			rc = put_tag(&c, args[0], err);
		if (rc == 0)
			caring_print(&c, c.pages.pages.n, o->delete_ ? "without the tag" : "tagged", "");
	}
	caring_close(&c);
	vec_release(&own);
	return rc;
}

const struct command command_tag = {
	.name = "tag",
	.on_fleet = FLEET_EACH,
	.arguments = "[TAG [URL...]]",
	.summary = "give pages a tag; without arguments, list the tags",
	.description =
		"A tag is a word of yours. `add` and `import` give it to the pages they are told of\n"
		"(--tag); remove, pause, resume, plan and export pages choose by it.",
	.examples =
		"  freshet -C crawl tag news --match https://example.org/news/\n"
		"  freshet -C crawl tag news https://example.org/ --delete\n"
		"  freshet -C crawl tag\n",
	.options = tag_options,
	.opts_size = sizeof(struct care_opts),
	.n_args_min = 0,
	.n_args_max = -1,
	.run = tag_run,
};
