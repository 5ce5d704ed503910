/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inbox.c - what others want of a shard, done by who holds it.
 *
 * Kinds of entries, and their bodies:
 *   add      URLs, one a line, a weight behind each if it is told; as `freshet add`: pages
 *            that were removed come back.  A first line "#tags A B" gives them tags
 *   list     the same as `freshet import`: pages that were removed stay so
 *   remove, restore, pause, resume    URLs, one a line
 *   decide   the settings say anew what is in scope, and which sites are paused
 *   tell     lines of JSON, as `freshet tell`; with a first line "#add" pages come under care
 *
 * An entry may be applied twice if the program ends before it is dropped.  That changes
 * nothing, but for `tell`, whose batch notes the entry's id with the shard.  A URL of another
 * shard (one was split meanwhile) goes to the inbox of that.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/import/import.h"
#include "engine/book/last_cycle.h"
#include "engine/book/tell.h"
#include "engine/fleet/work.h"

#define AT_ONCE 200             /* entries */
#define TAGS_MAX 32

struct applying {
	struct fleet *fleet;
	const struct fleet_lease *lease;
	struct store *store;
	struct fleet_shard *shards;
	size_t n_shards;
	int64_t now, told;              /* told: the last entry that was told */
	bool tell;
	VEC(int64_t) done;
	struct inbox_stats *stats;
	struct arena texts;
};

static void warn(void *arg, const char *text)
{
	log_warn("inbox of shard %d: %s", ((struct applying *)arg)->lease->shard, text);
}

/* A file in memory. */
static int make_file(struct text body, char path[64], struct err *err)
{
	int fd = memfd_create("inbox", MFD_CLOEXEC);

	for (size_t at = 0; fd >= 0 && at < body.size;) {
		ssize_t n = write(fd, body.s + at, body.size - at);

		if (n <= 0 && errno != EINTR) {
			close(fd);
			fd = -1;
		}
		at += n > 0 ? (size_t)n : 0;
	}
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd < 0 ? err_errno(err, E_IO, "no room for an entry of the inbox") : fd;
}

/* The first line, if it begins with `head`; it is taken off. */
static bool take_head(struct text *body, const char *head, struct text *ret)
{
	size_t n = strlen(head);
	const char *end = memchr(body->s, '\n', body->size);
	size_t size = end ? (size_t)(end - body->s) : body->size;

	if (size < n || memcmp(body->s, head, n))
		return false;
	*ret = (struct text){ body->s + n, size - n };
	size += end != NULL;
	*body = (struct text){ body->s + size, body->size - size };
	return true;
}

static bool is_ours(void *arg, struct text url, bool listed, float weight)
{
	struct applying *a = arg;
	int32_t to = fleet_shard_of(a->shards, a->n_shards, shard_hash(url.s, url.size));

	(void)listed, (void)weight;
	if (to == a->lease->shard || to < 0)
		return to >= 0;
	(void)!fleet_inbox_put(a->fleet, &(struct fleet_entry){ to, 0, "list", url }, 1, NULL);
	return false;
}

static int add_pages(struct applying *a, struct text body, bool restore, struct err *err)
{
	struct import i = { .store = a->store, .now = a->now, .report = warn, .arg = a,
	                    .restore = restore, .takes = is_ours };
	const char *tags[TAGS_MAX];
	struct import_settings *as = NULL;
	struct text head, word;
	char path[64];
	int fd, rc;

	i.tags = tags;
	if (take_head(&body, "#tags ", &head))
		while (i.n_tags < TAGS_MAX && text_word(&head, &word))
			tags[i.n_tags++] = arena_strndup(&a->texts, word.s, word.size);
	fd = make_file(body, path, err);
	if (fd < 0)
		return fd;
	rc = import_settings_load(&as, &i, err);
	if (rc == 0)
		rc = import_file(&i, path, err);
	a->stats->pages += i.kept.n_pages;
	a->stats->known += i.kept.n_known;
	a->stats->outside += i.kept.n_outside;
	a->stats->removed += i.kept.n_removed;
	a->stats->back += i.kept.n_back;
	a->stats->bad += i.stats.n_bad;
	import_settings_free(as);
	close(fd);
	return rc;
}

static int change_care(struct applying *a, struct text body, unsigned set, unsigned clear,
                       struct err *err)
{
	struct care_writing w = { .store = a->store, .now = a->now };
	struct care_pages pages = { 0 };
	VEC(char *) urls = { 0 };
	struct care_which which = { .report = warn, .arg = a };
	uint64_t n;
	int rc;

	for (size_t at = 0; at < body.size;) {
		const char *end = memchr(body.s + at, '\n', body.size - at);
		size_t size = end ? (size_t)(end - body.s) - at : body.size - at;

		if (size)
			vec_push(&urls, arena_strndup(&a->texts, body.s + at, size));
		at += size + 1;
	}
	which.urls = urls.v;
	which.n_urls = urls.n;
	rc = urls.n ? care_choose(&pages, a->store, &which, err) : 0;
	if (rc == 0 && pages.pages.n && (rc = care_change(&w, &pages, set, clear, &n, err)) == 0)
		a->stats->cared += n;
	a->stats->unknown += pages.n_unknown;
	care_pages_release(&pages);
	vec_release(&urls);
	return rc;
}

/* The rules of scope, or the sites that are paused, are others. */
static int decide(struct applying *a, struct err *err)
{
	struct care_writing w = { .store = a->store, .now = a->now };
	struct care_effect effect = { 0 };
	struct care_rules rules = { 0 };
	int rc = care_rules_load(&rules, a->store, err);

	if (rc == 0)
		rc = care_decide(&w, &rules, &effect, err);
	a->stats->cared += rc == 0 ? effect.in + effect.out + effect.resumed + effect.paused : 0;
	care_rules_release(&rules);
	return rc;
}

static int tell_pages(struct applying *a, int64_t id, struct text body, struct err *err)
{
	struct tell t = { .store = a->store, .now = a->now, .confirmations = 2, .report = warn,
	                  .arg = a };
	char path[64], mark[24], *confirmations = NULL;
	struct text head;
	int fd, rc;

	if (id <= a->told)
		return 0;
	t.add = take_head(&body, "#add", &head);
	snprintf(mark, sizeof mark, "%lld", (long long)id);
	t.mark = mark;
	if ((rc = store_setting_get(a->store, "confirmations", &confirmations, err)) > 0)
		t.confirmations = (unsigned)atoi(confirmations);
	free(confirmations);
	if (rc < 0 || (fd = make_file(body, path, err)) < 0)
		return rc < 0 ? rc : E_IO;
	rc = tell_file(&t, path, err);
	a->stats->told += rc == 0 ? t.stats.n_lines : 0;
	a->stats->bad += t.stats.n_bad;
	a->stats->unknown += t.stats.n_unknown;
	close(fd);
	return rc;
}

static int apply(void *arg, const struct fleet_entry *e, struct err *err)
{
	struct applying *a = arg;
	int rc = 0;

	if (!strcmp(e->kind, "tell") && !a->tell) {
		a->stats->waiting++;
		return 0;
	}
	if (!strcmp(e->kind, "add") || !strcmp(e->kind, "list"))
		rc = add_pages(a, e->body, !strcmp(e->kind, "add"), err);
	else if (!strcmp(e->kind, "remove"))
		rc = change_care(a, e->body, CARE_REMOVED, 0, err);
	else if (!strcmp(e->kind, "restore"))
		rc = change_care(a, e->body, 0, CARE_REMOVED, err);
	else if (!strcmp(e->kind, "pause"))
		rc = change_care(a, e->body, CARE_PAUSED, 0, err);
	else if (!strcmp(e->kind, "resume"))
		rc = change_care(a, e->body, 0, CARE_PAUSED, err);
	else if (!strcmp(e->kind, "decide"))
		rc = decide(a, err);
	else if (!strcmp(e->kind, "tell"))
		rc = tell_pages(a, e->id, e->body, err);
	else
		log_warn("inbox of shard %d: an entry of a kind that this version does not know is "
		         "dropped", a->lease->shard);
	if (rc == E_STORE || rc == E_BUSY || rc == E_NET)
		return rc;
	if (rc < 0) {                   /* it makes no sense, and would make none later */
		warn(a, err->text);
		rc = 0;
	}
	vec_push(&a->done, e->id);
	return rc;
}

int inbox_apply(struct fleet *f, const struct fleet_lease *lease, struct store *s,
                enum inbox_tell tell, struct inbox_stats *ret, struct err *err)
{
	struct applying a = { .fleet = f, .lease = lease, .store = s, .stats = ret };
	struct last_cycle last = { 0 };
	double now, ahead;
	char *told = NULL;
	uint64_t before;
	int rc = fleet_now(f, &now, &ahead, err);

	a.now = (int64_t)now;
	if (rc == 0 && tell == INBOX_IF_CLOSED)
		rc = last_cycle_read(s, &last, err);
	a.tell = tell == INBOX_IF_CLOSED && !(last.any && last.row.open);
	if (rc == 0)
		rc = fleet_shards(f, &a.shards, &a.n_shards, err);
	if (rc == 0 && (rc = store_state_get(s, STORE_OF_SHARD, "inbox", &told, err)) > 0)
		a.told = atoll(told);
	free(told);
	do {
		before = ret->waiting;
		a.done.n = 0;
		rc = rc < 0 ? rc : fleet_inbox(f, lease->shard, AT_ONCE, apply, &a, err);
		if (rc == 0)
			rc = fleet_inbox_drop(f, lease, a.done.v, a.done.n, err);
		ret->entries += a.done.n;
	} while (rc == 0 && a.done.n && ret->waiting == before);
	vec_release(&a.done);
	arena_release(&a.texts);
	free(a.shards);
	return rc;
}
