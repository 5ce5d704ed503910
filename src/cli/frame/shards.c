/* SPDX-License-Identifier: Apache-2.0 */
/* shards.c - see shards.h. */
#include "cli/frame/shards.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/frame/repository.h"
#include "engine/fleet/work.h"
#include "web/url/url.h"

#define ENTRY_BYTES 262144      /* a longer entry is divided */

/* ---- a lease for the time of the command ---- */

struct renewing {
	pthread_t thread;
	struct fleet *fleet;            /* a connection of its own */
	struct fleet_lease lease;
	_Atomic int over;
};

static void *renew(void *arg)
{
	struct renewing *r = arg;
	double next = fleet_clock() + RENEW_SECONDS;
	struct timespec t = { 0, 50000000 };
	bool held;

	while (!atomic_load(&r->over)) {
		if (fleet_clock() >= next) {
			next = fleet_clock() + RENEW_SECONDS;
			(void)!fleet_renew(r->fleet, &r->lease, 1, &held, NULL);        /* the fence tells */
		}
		nanosleep(&t, NULL);
	}
	return NULL;
}

int shards_hold(struct cli *cli, int32_t shard, struct err *err)
{
	struct shards *s = cli->shards;
	struct renewing *r;
	char name[FLEET_NAME_MAX];
	int rc;

	shards_release(cli);
	snprintf(name, sizeof name, "%.40s-%s-%d", fleet_worker(s->fleet), cli->command->name,
	         (int)getpid());
	rc = fleet_claim(s->fleet, name, 0, shard, &s->lease, err);
	if (rc == 0)
		rc = err_set(err, E_BUSY, "%s: shard %d is held by a worker: `freshet status --shards` "
		             "tells which; stop it, or wait until it has done its part of the cycle",
		             fleet_shown(s->fleet), shard);
	if (rc < 0)
		return rc;
	r = mem_zalloc(1, sizeof *r);
	r->lease = s->lease;
	s->holds = true;
	rc = fleet_open(&r->fleet, s->url, err);
	if (rc < 0) {
		free(r);
		shards_release(cli);
		return rc;
	}
	if (pthread_create(&r->thread, NULL, renew, r))
		err_no_memory();
	s->renewing = r;
	return 0;
}

void shards_release(struct cli *cli)
{
	struct shards *s = cli->shards;

	if (!s || !s->holds)
		return;
	if (s->renewing) {
		atomic_store(&s->renewing->over, 1);
		pthread_join(s->renewing->thread, NULL);
		fleet_close(s->renewing->fleet);
		free(s->renewing);
		s->renewing = NULL;
	}
	(void)!fleet_release(s->fleet, &s->lease, NULL);
	s->holds = false;
}

/* ---- which shard ---- */

int32_t shards_find(const struct fleet_shard *list, size_t n, const char *url)
{
	struct buf text, canonical;
	int32_t shard = -1;

	buf_init(&text, URL_SIZE_MAX);
	buf_init(&canonical, URL_SIZE_MAX);
	if (!strstr(url, "://"))
		buf_str(&text, "http://");
	buf_str(&text, url);
	if (url_canonical(buf_text(&text), text.size, &canonical, NULL) == 0)
		shard = fleet_shard_of(list, n, shard_hash(canonical.data, canonical.size));
	buf_release(&text);
	buf_release(&canonical);
	return shard;
}

int32_t shards_of(const struct cli *cli, const char *url)
{
	return shards_find(cli->shards->list, cli->shards->n, url);
}

void shards_where(const struct cli *cli, bool writes, struct buf *ret)
{
	const struct shards *s = cli->shards;
	int32_t shard = cli->shard < 0 ? 0 : cli->shard;
	bool leased = writes && s->holds && s->lease.shard == shard;

	fleet_url(s->url, shard, leased ? s->lease.fence : 0, NULL, ret);
}

uint32_t shards_at(const char *where)
{
	struct fleet_shard *list = NULL;
	struct fleet *f = NULL;
	size_t n = 0;

	if (!fleet_is_for(where) || strstr(where, "shard="))
		return 0;
	if (fleet_open(&f, where, NULL) == 0 && fleet_shards(f, &list, &n, NULL) < 0)
		n = 0;
	free(list);
	fleet_close(f);
	return (uint32_t)n;
}

void shards_file(const struct cli *cli, const char *name, struct buf *ret)
{
	const char *slash = strrchr(name, '/'), *dot = strrchr(slash ? slash : name, '.');
	size_t stem = dot ? (size_t)(dot - name) : strlen(name);

	if (shards_count(cli) < 2 || cli->common.shard >= 0)
		buf_str(ret, name);
	else
		buf_printf(ret, "%.*s-shard-%d%s", (int)stem, name, cli->shard, name + stem);
}

/* Open the ledger, if the store has one and the command must know of it. */
static int open_shards(struct cli *cli, struct err *err)
{
	struct shards *s = mem_zalloc(1, sizeof *s);
	bool held = false;
	char where[4096];
	int rc = repository_where(cli, where, sizeof where, err);

	if (rc < 0 || !fleet_is_for(where)) {
		free(s);
		return cli->common.shard > 0 && rc == 0 ?
			err_set(err, E_USAGE, "--shard: this repository has one shard") : 0;
	}
	s->url = mem_strdup(where);
	/* whatever is wrong, a command that opens the store finds out by itself and says so */
	rc = fleet_open(&s->fleet, where, err);
	if (rc == 0)
		rc = fleet_shards(s->fleet, &s->list, &s->n, err);
	for (size_t i = 0; rc == 0 && i < s->n; i++)
		held |= s->list[i].held;
	cli->shards = s;
	if (rc < 0 && cli->command->on_fleet == FLEET_ALWAYS)
		return rc;
	if (rc < 0 || (s->n < 2 && !held && cli->command->on_fleet != FLEET_ALWAYS))
		return cli->common.shard > 0 ? err_set(err, E_USAGE, "--shard: there is one shard, 0, or "
		                                       "none could be looked at") : 1;
	if (cli->common.shard >= 0 && (size_t)cli->common.shard >= s->n)
		return err_set(err, E_USAGE, "--shard: there are %zu shards, from 0 on", s->n);
	return 0;
}

static void close_shards(struct cli *cli)
{
	struct shards *s = cli->shards;

	if (!s)
		return;
	shards_release(cli);
	fleet_close(s->fleet);
	free(s->list);
	free(s->url);
	free(s);
	cli->shards = NULL;
}

static int run_each(struct cli *cli, int n, char **args, shards_go *go, struct err *err)
{
	int rc = 0;

	table_join_begin(cli);
	for (size_t i = 0; i < cli->shards->n && rc == 0; i++) {
		cli->shard = cli->shards->list[i].shard;
		rc = go(cli, n, args, err);
		shards_release(cli);
		if (rc < 0)
			err_prefix(err, "shard %d", cli->shard);
	}
	table_join_end(cli);
	return rc;
}

int shards_run(struct cli *cli, int n, char **args, shards_go *go, struct err *err)
{
	enum on_fleet how = cli->command->on_fleet;
	int rc;

	cli->shard = -1;
	if (how == FLEET_UNAWARE)
		return cli->common.shard >= 0 ? err_set(err, E_USAGE, "%s: --shard means nothing here",
		                                        cli->command->name) : go(cli, n, args, err);
	rc = open_shards(cli, err);
	if (rc != 0)
		close_shards(cli);
	if (rc < 0)
		return rc;
	if (!cli->shards)
		return go(cli, n, args, err);
	if (how == FLEET_NEVER && cli->shards->n > 1) {
		rc = err_set(err, E_USAGE, "%s: works on stores of one shard only, and this is a fleet of %zu: "
		             "%s", cli->command->name, cli->shards->n, cli->command->fleet_instead);
		close_shards(cli);
		return rc;
	}
	cli->shard = (int32_t)cli->common.shard;
	if (how == FLEET_PAGE && cli->shard < 0 && n)
		cli->shard = shards_of(cli, args[0]);
	if (cli->shard < 0 && cli->shards->n == 1)
		cli->shard = 0;
	if (how == FLEET_EACH && cli->shard < 0)
		rc = run_each(cli, n, args, go, err);
	else if (how == FLEET_ONE && cli->shard < 0)
		rc = err_set(err, E_USAGE, "%s: this is a fleet of %zu shards: say which with --shard K%s%s",
		             cli->command->name, cli->shards->n, cli->command->fleet_instead ? "; " : "",
		             cli->command->fleet_instead ? cli->command->fleet_instead : "");
	else
		rc = go(cli, n, args, err);
	close_shards(cli);
	return rc;
}

/* ---- mail ---- */

struct shards_letter { struct buf text; size_t head; };

void shards_mail_begin(struct shards_mail *m, const struct cli *cli, const char *kind,
                       const char *head)
{
	*m = (struct shards_mail){ .kind = kind, .n = cli->shards->n };
	m->letters = mem_zalloc(m->n, sizeof *m->letters);
	for (size_t i = 0; i < m->n; i++) {
		buf_init(&m->letters[i].text, BUF_NO_LIMIT);
		if (head)
			buf_printf(&m->letters[i].text, "%s\n", head);
		m->letters[i].head = m->letters[i].text.size;
	}
}

static int send_letter(struct shards_mail *m, struct cli *cli, size_t i, struct err *err)
{
	struct shards_letter *l = &m->letters[i];
	struct fleet_entry e = { cli->shards->list[i].shard, 0, m->kind,
	                         { l->text.data, l->text.size } };
	int rc;

	if (l->text.size == l->head)
		return 0;
	rc = fleet_inbox_put(cli->shards->fleet, &e, 1, err);
	l->text.size = l->head;
	return rc;
}

int shards_mail_line(struct shards_mail *m, struct cli *cli, int32_t shard, struct text line,
                     struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < m->n && rc == 0; i++) {
		struct shards_letter *l = &m->letters[i];

		if (shard >= 0 && cli->shards->list[i].shard != shard)
			continue;
		buf_add(&l->text, line.s, line.size);
		buf_byte(&l->text, '\n');
		if (l->text.size > ENTRY_BYTES)
			rc = send_letter(m, cli, i, err);
	}
	return rc;
}

/* Apply the inbox of a shard, unless somebody holds it. */
static int settle(struct cli *cli, int32_t shard, struct inbox_stats *ret, bool *ret_left,
                  struct err *err)
{
	struct store *s = NULL;
	int rc = shards_hold(cli, shard, err);

	*ret_left = rc == E_BUSY;
	if (rc < 0)
		return rc == E_BUSY ? 0 : rc;
	cli->shard = shard;
	rc = repository_open(cli, &s, err);
	if (rc == 0)
		rc = inbox_apply(cli->shards->fleet, &cli->shards->lease, s, INBOX_IF_CLOSED, ret, err);
	store_close(s);
	shards_release(cli);
	return rc;
}

int shards_mail_end(struct shards_mail *m, struct cli *cli, struct inbox_stats *ret,
                    uint32_t *ret_left, struct err *err)
{
	struct fleet_shard *now = NULL;
	int32_t was = cli->shard;
	size_t n = 0;
	int rc = 0;

	*ret_left = 0;
	*ret = (struct inbox_stats){ 0 };
	for (size_t i = 0; i < m->n && rc == 0; i++)
		rc = send_letter(m, cli, i, err);
	if (rc == 0)
		rc = fleet_shards(cli->shards->fleet, &now, &n, err);
	for (size_t i = 0; i < n && rc == 0; i++) {
		bool left = false;

		if (now[i].inbox)
			rc = settle(cli, now[i].shard, ret, &left, err);
		*ret_left += left;
	}
	free(now);
	cli->shard = was;
	return rc;
}

void shards_mail_release(struct shards_mail *m, const struct cli *cli)
{
	(void)cli;
	for (size_t i = 0; i < m->n; i++)
		buf_release(&m->letters[i].text);
	free(m->letters);
}
