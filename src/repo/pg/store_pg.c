/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_pg.c - the store on PostgreSQL: open and close, locks, one moment for all reads.
 * store_pg.h says how batches work, pg/link.h how a connection is made.
 */
#include "repo/pg/store_pg.h"

#include <string.h>
#include <unistd.h>

extern const struct store_ops store_pg_ops;

static bool takes(const char *where)
{
	return !strncmp(where, "postgresql://", 13) || !strncmp(where, "postgres://", 11);
}

/* Which server, database, schema and shard: caches are named by it. */
static uint64_t identity(const struct store *base)
{
	const struct store_pg *s = (const struct store_pg *)base;

	return hash_bytes(s->target.shown, strlen(s->target.shown), (uint64_t)s->lock_key);
}

/* The server ends the transaction and the locks of a connection some time after it is closed.
 * Who comes next must not find the lock still held, so it is given back first. */
static void pg_close(struct store *base)
{
	struct store_pg *s = pg_self(base);

	pg_pipe_release(&s->noting.pipe);
	pg_link_close(&s->side);
	if (s->link.conn && PQtransactionStatus(s->link.conn) == PQTRANS_IDLE)
		base->ops->unlock(base);
	pg_link_close(&s->link);
	pg_batch_release(&s->batch);
	pg_target_release(&s->target);
	map_release(&s->bodies_known);
	strtab_release(&s->files_known);
	vec_release(&s->file_ids);
	vec_release(&s->journal);
	free(s);
}

static int check_schema(struct store_pg *s, bool make, struct err *err)
{
	PGresult *r = NULL;
	int rc = pg_link_connect(&s->link, err);

	if (rc == 0)
		rc = pg_schema_check(&s->link, make, err);
	if (rc == E_NET)                /* a wrong name does not get better by waiting */
		rc = err->code = E_STORE;
	if (rc == 0)
		rc = pg_ask(s, PG_LOCK_KEY, NULL, &r, err);
	if (rc == 0) {
		struct pg_row row = { .r = r, .err = err, .where = s->target.shown };

		/* locks are of the whole database, so a key names the schema, too; and the fence,
		 * for a worker that hangs may have locks of a lease that it lost */
		s->free_key = (int64_t)((uint64_t)pg_row_any(&row, 0) << 32 |
		                        (uint64_t)(uint32_t)s->target.shard << 2);
		s->lock_key = s->free_key | (s->target.fence & 0x3fff) << 18;
		PQclear(r);
	}
	return rc;
}

static int pg_open(struct store **ret, const char *where, enum store_mode mode,
                   struct err *err)
{
	struct store_pg *s = mem_zalloc(1, sizeof *s);
	int rc;

	s->base.ops = &store_pg_ops;
	pg_batch_init(&s->batch);
	s->link = (struct pg_link){ .target = &s->target, .prepared = s->prepared[0] };
	s->side = (struct pg_link){ .target = &s->target, .prepared = s->prepared[1] };
	s->link.reads_only = mode == STORE_READ;
	rc = pg_target_parse(&s->target, where, err);
	if (rc == 0)
		rc = check_schema(s, mode == STORE_CREATE, err);
	if (rc < 0) {
		pg_close(&s->base);
		return rc;
	}
	if (mode == STORE_READ) {       /* from the first read on */
		s->reads_only = s->user_frozen = true;
		s->frozen = 1;
		s->frozen_batch = -1;
	}
	*ret = &s->base;
	return 0;
}

/* Does another kind of writer work on the shard?  Who has a lease looks for a lock of those
 * who need none, and they look for a lease.  Each takes its own first, so one of two that
 * come at a time sees the other. */
static int look_for_others(struct store_pg *s, struct err *err)
{
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	if (!s->target.fence) {
		pg_shard_args(s, &a);
		rc = pg_ask(s, PG_LEASE_HOLDER, &a, &r, err);
		if (rc == 0 && PQntuples(r))
			rc = pg_leased_by_other(s, r, err);
	} else {
		pg_args_int(&a, s->free_key + 1);
		pg_args_int(&a, s->target.shard);
		rc = pg_ask(s, PG_LOCK_HOLDER, &a, &r, err);
		if (rc == 0 && PQntuples(r))
			rc = pg_tell_holder(s, s->free_key + 1, err);
	}
	PQclear(r);
	pg_args_release(&a);
	return rc;
}

/* The lock of the repository: of the session, so it ends with the program. */
static int lock_step(struct store_pg *s, void *arg, struct err *err)
{
	struct pg_pipe p = { .link = &s->link };
	struct pg_args a = { 0 };
	bool *got = arg;
	int rc;

	pg_args_int(&a, s->lock_key + 1);
	pg_pipe_add(&p, PG_TRY_LOCK, &a);
	rc = pg_pipe_run(&p, err);
	if (rc == 0) {
		struct pg_row r = { .r = p.results.v[0] };

		*got = s->has.held = pg_row_any(&r, 0) != 0;
	}
	pg_args_release(&a);
	pg_pipe_release(&p);
	return rc;
}

static int pg_lock(struct store *base, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_args a = { 0 };
	char host[256] = "";
	bool got = false;
	int rc;

	if (s->held)
		return 0;
	rc = pg_try(s, lock_step, &got, err);
	if (rc < 0)
		return rc;
	if (!got)
		return pg_tell_holder(s, s->lock_key + 1, err);
	s->held = true;
	rc = look_for_others(s, err);
	if (rc < 0) {
		base->ops->unlock(base);
		return rc;
	}
	if (s->reads_only)              /* who may not write cannot leave a name */
		return 0;
	gethostname(host, sizeof host - 1);
	pg_shard_args(s, &a);
	pg_args_text(&a, (struct text){ host, strlen(host) });
	pg_args_int(&a, getpid());
	rc = pg_ask(s, PG_HOLDER_PUT, &a, NULL, err);
	pg_args_release(&a);
	return rc;
}

static void pg_unlock(struct store *base)
{
	struct store_pg *s = pg_self(base);
	struct pg_pipe p = { .link = &s->link };
	struct pg_args a = { 0 };

	if (s->held && s->link.conn && s->has.held && s->has.generation == s->link.generation) {
		pg_args_int(&a, s->lock_key + 1);
		pg_pipe_add(&p, PG_UNLOCK, &a);
		if (pg_pipe_run(&p, NULL) < 0)
			pg_link_close(&s->link);
	}
	s->held = s->has.held = false;
	pg_args_release(&a);
	pg_pipe_release(&p);
}

static int pg_freeze(struct store *base, struct err *err)
{
	struct store_pg *s = pg_self(base);

	(void)err;
	if (s->in_batch || s->user_frozen)
		return 0;
	s->user_frozen = true;
	if (!s->frozen++)
		s->frozen_batch = -1;
	return 0;
}

static void pg_thaw(struct store *base)
{
	struct store_pg *s = pg_self(base);
	struct pg_pipe p = { .link = &s->link };

	if (!s->user_frozen || s->reads_only)
		return;
	s->user_frozen = false;
	if (--s->frozen == 0 && s->link.conn && s->has.frozen &&
	    s->has.generation == s->link.generation) {
		pg_pipe_add(&p, PG_COMMIT, NULL);
		if (pg_pipe_run(&p, NULL) < 0)
			pg_link_close(&s->link);
		s->has.frozen = false;
		pg_pipe_release(&p);
	}
}

static int pg_count(struct store *base, struct store_counts *ret, struct err *err)
{
	struct store_pg *s = pg_self(base);
	struct pg_args a = { 0 };
	PGresult *r = NULL;
	int rc;

	pg_show_writes(s, PG_ALL_TABLES);
	pg_shard_args(s, &a);
	rc = pg_ask(s, PG_COUNT, &a, &r, err);
	pg_args_release(&a);
	if (rc == 0) {
		struct pg_row row = { .r = r, .where = s->target.shown, .err = err };

		*ret = (struct store_counts){
			.pages = pg_row_id(&row, 0), .captures = pg_row_id(&row, 1),
			.visits = pg_row_id(&row, 2), .cycles = pg_row_id(&row, 3),
			.gone = pg_row_id(&row, 4), .first_capture = pg_row_any(&row, 5),
			.last_capture = pg_row_any(&row, 6), .removed = pg_row_id(&row, 7),
			.outside = pg_row_id(&row, 8), .paused = pg_row_id(&row, 9),
		};
	}
	PQclear(r);
	return rc;
}

const struct store_ops store_pg_ops = {
	.name = "postgresql",
	.takes = takes,
	.open = pg_open,
	.close = pg_close,
	.identity = identity,
	.lock = pg_lock,
	.unlock = pg_unlock,
	.freeze = pg_freeze,
	.thaw = pg_thaw,
	.begin = pg_begin,
	.commit = pg_commit,
	.commit_start = pg_commit_start,
	.commit_done = pg_commit_done,
	.rollback = pg_rollback,
	.pages_add = pg_pages_add,
	.pages_find = pg_pages_find,
	.pages_get = pg_pages_get,
	.pages_change = pg_pages_change,
	.pages = pg_pages,
	.pages_touched = pg_pages_touched,
	.captures_put = pg_captures_put,
	.capture_ids = pg_capture_ids,
	.captures_get = pg_captures_get,
	.far = true,
	.copies_get = pg_copies_get,
	.foresee = pg_foresee,
	.captures_refresh = pg_captures_refresh,
	.captures = pg_captures,
	.captures_linked = pg_captures_linked,
	.links = pg_links,
	.terms = pg_terms,
	.captures_since = pg_captures_since,
	.captures_drop = pg_captures_drop,
	.captures_move = pg_captures_move,
	.files = pg_files,
	.file_drop = pg_file_drop,
	.files_shared = pg_files_shared,
	.file_leave = pg_file_leave,
	.tidy = pg_tidy,
	.visits_add = pg_visits_add,
	.visits_forget = pg_visits_forget,
	.visits = pg_visits,
	.visits_found = pg_visits_found,
	.visits_of = pg_visits_of,
	.past = pg_past,
	.past_raise = pg_past_raise,
	.cycle_put = pg_cycle_put,
	.cycles = pg_cycles,
	.rounds_add = pg_rounds_add,
	.rounds = pg_rounds,
	.leases_put = pg_leases_put,
	.leases = pg_leases,
	.leases_forget = pg_leases_forget,
	.care_put = pg_care_put,
	.care_log = pg_care_log,
	.tag_put = pg_tag_put,
	.tags = pg_tags,
	.tagged = pg_tagged,
	.sent_start = pg_sent_start,
	.sent_done = pg_sent_done,
	.sent = pg_sent,
	.sent_clear = pg_sent_clear,
	.setting_put = pg_setting_put,
	.setting_get = pg_setting_get,
	.settings = pg_settings,
	.state_put = pg_state_put,
	.state_get = pg_state_get,
	.states = pg_states,
	.hints_get = pg_hints_get,
	.hints_change = pg_hints_change,
	.hints = pg_hints,
	.robots_put = pg_robots_put,
	.robots = pg_robots,
	.robots_size = pg_robots_size,
	.robots_forget = pg_robots_forget,
	.words_add = pg_words_add,
	.words = pg_words,
	.count = pg_count,
	.check = pg_check,
};
