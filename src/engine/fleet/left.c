/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left.c - files that a worker had open when it died.
 *
 * Its shards are others' by then, and it may never have them again, but the files are its own: no
 * other process has its name (fleet_hello()).  So it finishes them when it starts, before it takes a
 * shard.  How long each is stands in the store, which is only read.
 */
#include "engine/fleet/work_inner.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* The shard of a folder of a worker; -1: it is none. */
static int32_t shard_of_folder(const char *name)
{
	char *end;
	long shard;

	if (strncmp(name, "shard-", 6) || name[6] < '0' || name[6] > '9')
		return -1;
	shard = strtol(name + 6, &end, 10);
	return *end || shard >= FLEET_SHARDS_MAX ? -1 : (int32_t)shard;
}

static int finish(const struct work *w, int32_t shard, const char *folder, struct err *err)
{
	struct crawl_report report = { 0 };
	struct store *s = NULL;
	struct buf url;
	int rc;

	buf_init(&url, BUF_NO_LIMIT);
	fleet_url(w->o->url, shard, 0, w->o->worker, &url);
	rc = store_open(&s, buf_text(&url), STORE_READ, err);
	if (rc == 0)
		rc = crawl_finish_files(s, folder, &report, err);
	if (report.n_aside)
		log_warn("%s: the store knows nothing of %u file%s, kept aside: %s", folder, report.n_aside,
		         report.n_aside == 1 ? "" : "s", report.aside);
	store_close(s);
	buf_release(&url);
	return rc;
}

void left_finish(const struct work *w)
{
	char own[4096], folder[4400];
	struct dirent *e;
	struct err err;
	DIR *d;

	snprintf(own, sizeof own, "%.3800s/%s", w->o->warc_folder, w->o->worker);
	d = opendir(own);
	while (d && (e = readdir(d))) {
		int32_t shard = shard_of_folder(e->d_name);

		snprintf(folder, sizeof folder, "%s/%s", own, e->d_name);
		if (shard >= 0 && crawl_has_open_files(folder) && finish(w, shard, folder, &err) < 0)
			log_warn("%s", err.text);
	}
	if (d)
		closedir(d);
}
