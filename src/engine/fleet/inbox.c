/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inbox.c - what others want of a shard, done by who holds it.
 *
 * Kinds of entries, and their bodies:
 *   add      URLs, one a line, a weight behind each if it is told; as `freshet add`: pages
 *            that were removed come back.  A first line "#tags A B" gives them tags
 *   list     the same as `freshet import`: pages that were removed stay so
 *   remove, restore, pause, resume    URLs, one a line
 *   touched  URLs, one a line, and a first line "#by NAME"; as `freshet touched`
 *   decide   the settings say anew what is in scope, and which sites are paused
 *   tell     lines of JSON, as `freshet tell`; with a first line "#add" pages come under care
 *
 * An entry may be applied twice if the program ends before it is dropped.  That changes
 * nothing, but for `tell`, whose batch notes the entry's id with the shard.  Lines for pages of
 * another shard (one was split meanwhile) go to the inbox of that, before the rest is applied.
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
#include "engine/book/touch.h"
#include "engine/fleet/work.h"
#include "web/url/url.h"

#define AT_ONCE 200             /* entries */
#define TAGS_MAX 32
#define IN_MEMORY "/proc/self/fd/"      /* and a number: an entry as a file */

struct applying {
	struct fleet *fleet;
	const struct fleet_lease *lease;
	struct store *store;
	struct fleet_shard *shards;
	size_t n_shards;
	int64_t now, told;              /* told: the last entry that was told */
	bool tell;
	struct buf own, line;           /* of the entry: what is left to us; the parts of a line */
	VEC(int64_t) done;
	struct inbox_stats *stats;
	struct arena texts;
};

static void warn(void *arg, const char *text)
{
	size_t file = strlen(IN_MEMORY);
	bool named = !strncmp(text, IN_MEMORY, file);   /* the name is of no use to who reads it */

	if (named)
		text += file + strspn(text + file, "0123456789");
	log_warn("inbox of shard %d: %s%s", ((struct applying *)arg)->lease->shard,
	         named ? "an entry" : "", text);
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
	snprintf(path, 64, IN_MEMORY "%d", fd);
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

static int add_pages(struct applying *a, struct text body, bool restore, struct err *err)
{
	struct import i = { .store = a->store, .now = a->now, .report = warn, .arg = a,
	                    .restore = restore };
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

struct urls { char **v; size_t n, cap; };

static void urls_of(struct applying *a, struct text body, struct urls *ret)
{
	for (size_t at = 0; at < body.size;) {
		const char *end = memchr(body.s + at, '\n', body.size - at);
		size_t size = end ? (size_t)(end - body.s) - at : body.size - at;

		if (size)
			vec_push(ret, arena_strndup(&a->texts, body.s + at, size));
		at += size + 1;
	}
}

static int touch(struct applying *a, struct text body, struct err *err)
{
	struct text by = { TOUCH_LOCAL, sizeof TOUCH_LOCAL - 1 };
	struct touch_stats done = { 0 };
	struct urls urls = { 0 };
	int rc;

	take_head(&body, "#by ", &by);
	urls_of(a, body, &urls);
	rc = touch_pages(a->store, arena_strndup(&a->texts, by.s, by.size),
	                 (const char *const *)urls.v, urls.n, a->now, &done, err);
	a->stats->touched += done.touched;
	a->stats->again += done.again;
	a->stats->unknown += done.unknown;
	a->stats->bad += done.bad;
	vec_release(&urls);
	return rc;
}

static int change_care(struct applying *a, struct text body, unsigned set, unsigned clear,
                       struct err *err)
{
	struct care_writing w = { .store = a->store, .now = a->now };
	struct care_pages pages = { 0 };
	struct urls urls = { 0 };
	struct care_which which = { .report = warn, .arg = a };
	uint64_t n;
	int rc;

	urls_of(a, body, &urls);
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

/* ---- entries of another shard ---- */

/* Which shard is this line for?  -1: it says nothing of a page, and stays. */
static int32_t shard_of_line(struct applying *a, bool tell, struct text line)
{
	struct text url = line;
	struct told told;
	int32_t shard = -1;

	if (tell) {
		if (tell_parse(&told, &a->line, line.s, line.size) || !told.url.s)
			return -1;
		return fleet_shard_of(a->shards, a->n_shards, shard_hash(told.url.s, told.url.size));
	}
	if (!line.size || *line.s == '#' || !text_word(&line, &url))
		return -1;
	buf_clear(&a->line);
	if (!memmem(url.s, url.size, "://", 3))
		buf_str(&a->line, "http://");
	buf_add(&a->line, url.s, url.size);
	url.s = arena_strndup(&a->texts, a->line.data, a->line.size);
	url.size = a->line.size;
	buf_clear(&a->line);
	if (url_canonical(url.s, url.size, &a->line, NULL) == 0)
		shard = fleet_shard_of(a->shards, a->n_shards, shard_hash(a->line.data, a->line.size));
	return shard;
}

/* Send lines of other shards there.  *body: what is left. */
static int divide(struct applying *a, const struct fleet_entry *e, struct text *body,
                  struct err *err)
{
	struct buf *letters = mem_zalloc(a->n_shards, sizeof *letters);
	VEC(struct fleet_entry) others = { 0 };
	struct text head = { "", 0 }, rest = e->body;
	bool tell = !strcmp(e->kind, "tell");
	int rc = 0;

	if (take_head(&rest, "#", &head))
		head = (struct text){ e->body.s, e->body.size - rest.size };
	buf_clear(&a->own);
	for (size_t i = 0; i < a->n_shards; i++)
		buf_init(&letters[i], BUF_NO_LIMIT);
	while (rest.size) {
		const char *end = memchr(rest.s, '\n', rest.size);
		size_t size = end ? (size_t)(end - rest.s) : rest.size;
		int32_t to = shard_of_line(a, tell, (struct text){ rest.s, size });
		struct buf *letter = &a->own;

		for (size_t i = 0; to >= 0 && to != a->lease->shard && i < a->n_shards; i++)
			if (a->shards[i].shard == to)
				letter = &letters[i];
		if (!letter->size)
			buf_add(letter, head.s, head.size);
		buf_add(letter, rest.s, size);
		buf_byte(letter, '\n');
		size += end != NULL;
		rest = (struct text){ rest.s + size, rest.size - size };
	}
	for (size_t i = 0; i < a->n_shards; i++)
		if (letters[i].size)
			vec_push(&others, ((struct fleet_entry){ a->shards[i].shard, 0, e->kind,
			                                         { letters[i].data, letters[i].size } }));
	if (others.n) {
		*body = (struct text){ a->own.data, a->own.size };
		rc = fleet_inbox_divide(a->fleet, a->lease, e->id, *body, others.v, others.n, err);
	}
	for (size_t i = 0; i < a->n_shards; i++)
		buf_release(&letters[i]);
	free(letters);
	vec_release(&others);
	arena_reset(&a->texts);
	return rc;
}

static int apply(void *arg, const struct fleet_entry *sent, struct err *err)
{
	struct fleet_entry entry = *sent, *e = &entry;
	struct applying *a = arg;
	int rc = strcmp(e->kind, "decide") ? divide(a, sent, &entry.body, err) : 0;

	if (rc < 0)
		return rc;
	if (!strcmp(e->kind, "tell") && !a->tell) {
		a->stats->waiting++;
		return 0;
	}
	if (!e->body.size)
		rc = 0;                 /* all of it was for others */
	else if (!strcmp(e->kind, "add") || !strcmp(e->kind, "list"))
		rc = add_pages(a, e->body, !strcmp(e->kind, "add"), err);
	else if (!strcmp(e->kind, "remove"))
		rc = change_care(a, e->body, CARE_REMOVED, 0, err);
	else if (!strcmp(e->kind, "restore"))
		rc = change_care(a, e->body, 0, CARE_REMOVED, err);
	else if (!strcmp(e->kind, "pause"))
		rc = change_care(a, e->body, CARE_PAUSED, 0, err);
	else if (!strcmp(e->kind, "resume"))
		rc = change_care(a, e->body, 0, CARE_PAUSED, err);
	else if (!strcmp(e->kind, "touched"))
		rc = touch(a, e->body, err);
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

	buf_init(&a.own, BUF_NO_LIMIT);
	buf_init(&a.line, 4 * (size_t)TELL_LINE_MAX);
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
	buf_release(&a.own);
	buf_release(&a.line);
	arena_release(&a.texts);
	free(a.shards);
	return rc;
}
