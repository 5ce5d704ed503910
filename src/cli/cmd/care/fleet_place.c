/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_place.c - see fleet_place.h. */
#include "cli/cmd/care/fleet_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "cli/frame/repository.h"
#include "cli/frame/shards.h"

/* Workers that have archive files of a shard, and how many. */
struct files { struct strtab workers; VEC(uint32_t) n; };

static int see_file(void *arg, struct text worker, struct text name, struct err *err)
{
	struct files *f = arg;
	bool is_new;
	uint32_t i;

	(void)name, (void)err;
	i = strtab_intern(&f->workers, worker.s ? worker.s : "", worker.s ? worker.size : 0, &is_new);
	if (is_new)
		vec_push(&f->n, 0);
	f->n.v[i]++;
	return 0;
}

static void json_files(struct json *j, const struct files *f)
{
	json_key(j, "files");
	json_array(j);
	for (uint32_t i = 0; i < f->workers.n; i++) {
		const char *worker = strtab_get(&f->workers, i);

		json_object(j);
		if (*worker)
			json_kstr(j, "worker", worker);
		json_kint(j, "files", f->n.v[i]);
		json_end_object(j);
	}
	json_end_array(j);
}

static void json_shard(struct json *j, const struct fleet_shard *s, const struct files *f)
{
	json_object(j);
	json_kint(j, "shard", s->shard);
	json_kint(j, "low", (int64_t)s->low);
	json_kint(j, "high", (int64_t)s->high);
	json_kint(j, "pages", s->pages);
	json_kbool(j, "held", s->held);
	json_kstr(j, "worker", s->worker);
	json_files(j, f);
	json_end_object(j);
}

/* Files of no worker were imported, or were written before the store was a fleet. */
static void table_row(struct table *t, const struct fleet_shard *s, const struct files *f)
{
	struct buf files;

	buf_init(&files, BUF_NO_LIMIT);
	for (uint32_t i = 0; i < f->workers.n; i++) {
		const char *worker = strtab_get(&f->workers, i);

		buf_printf(&files, "%s%s %u", i ? ", " : "", *worker ? worker : "of no worker",
		           f->n.v[i]);
	}
	table_cell(t, "%d", s->shard);
	table_cell(t, "%lld", (long long)s->pages);
	table_cell(t, "%s%s", *s->worker ? s->worker : "-", s->held ? "" : *s->worker ? " (last)" : "");
	table_cell(t, "%s", files.size ? buf_text(&files) : "-");
	buf_release(&files);
}

static int place_shard(struct cli *cli, size_t i, struct json *j, struct table *t,
                       struct err *err)
{
	struct files f = { 0 };
	struct store *s = NULL;
	int rc;

	cli->shard = cli->shards->list[i].shard;
	rc = repository_read(cli, &s, err);
	if (rc < 0)
		return rc;
	rc = store_files(s, see_file, &f, err);
	store_close(s);
	if (rc == 0 && j)
		json_shard(j, &cli->shards->list[i], &f);
	else if (rc == 0)
		table_row(t, &cli->shards->list[i], &f);
	strtab_release(&f.workers);
	vec_release(&f.n);
	return rc;
}

/* Which shards are the URLs of?  Said of each. */
static int find_urls(struct cli *cli, int n, char **urls, int32_t *ret, struct err *err)
{
	for (int i = 0; i < n; i++) {
		ret[i] = shards_of(cli, urls[i]);
		if (ret[i] < 0)
			return err_set(err, E_USAGE, "fleet place: '%.200s' is no URL of a page", urls[i]);
	}
	return 0;
}

static void print_url(const char *url, int32_t shard, struct json *j)
{
	if (!j) {
		printf("%s  shard %d\n", url, shard);
		return;
	}
	json_object(j);
	json_kstr(j, "url", url);
	json_kint(j, "shard", shard);
	json_end_object(j);
}

static bool is_wanted(const struct cli *cli, int32_t shard, const int32_t *of_urls, int n)
{
	for (int i = 0; i < n; i++)
		if (of_urls[i] == shard)
			return true;
	return !n && (cli->common.shard < 0 || cli->common.shard == shard);
}

int fleet_place(struct cli *cli, int n, char **urls, struct err *err)
{
	static const char *const heads[] = { "shard", "pages", "<worker", "<archive files" };
	int32_t *shards = mem_zalloc((size_t)n + 1, sizeof *shards);
	int rc = find_urls(cli, n, urls, shards, err);
	struct table *t = rc < 0 || cli->common.json ? NULL : table_new(heads, 4);
	struct json json, *j = rc < 0 || t ? NULL : &json;

	if (j) {
		cli_json_begin(j, "fleet");
		json_key(j, "urls");
		json_array(j);
	}
	for (int i = 0; i < n && rc == 0; i++)
		print_url(urls[i], shards[i], j);
	if (j) {
		json_end_array(j);
		json_key(j, "shards");
		json_array(j);
	}
	for (size_t i = 0; i < cli->shards->n && rc == 0; i++)
		if (is_wanted(cli, cli->shards->list[i].shard, shards, n))
			rc = place_shard(cli, i, j, t, err);
	if (j && rc == 0) {
		json_end_array(j);
		cli_json_end(j);
	} else if (rc == 0) {
		table_print(t, stdout);
	}
	if (t)
		table_free(t);
	free(shards);
	return rc;
}
