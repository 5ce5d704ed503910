/* SPDX-License-Identifier: Apache-2.0 */
/* store.c - chooses the backend; opening, batches, the log; see store.h.  Calls for rows are in
 * store_calls.c, those for one row in store_row.c. */
#include "repo/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "repo/store_backend.h"
#include "repo/store_gather.h"

#define STORE(x) extern const struct store_ops store_##x##_ops;
#include "repo/stores.def"
#undef STORE

static const struct store_ops *const backends[] = {
#define STORE(x) &store_##x##_ops,
#include "repo/stores.def"
#undef STORE
};

const char *store_state_name(unsigned state)
{
	return state == STORE_PAGE_HERE ? "here" : state == STORE_PAGE_GONE ? "gone" : "left";
}

const char *store_care_name(unsigned care)
{
	return care & CARE_REMOVED ? "removed" : care & CARE_SCOPE ? "out-of-scope" :
	       care & CARE_PAUSED ? "paused" : care & CARE_SITE ? "site-paused" : NULL;
}

unsigned store_capture_rank(int status, bool revisit)
{
	if (revisit || status == 304)
		return 3;
	return status_is_page(status) ? 4 : status_is_redirect(status) ? 2 :
	       status_is_gone(status) ? 1 : 0;
}

/* The backend that takes the text; else a path is the first one's. */
static const struct store_ops *find_backend(const char *where)
{
	const char *colon = strchr(where, ':'), *slash = strchr(where, '/');

	for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
		if (backends[i]->takes(where))
			return backends[i];
	return !colon || (slash && slash < colon) ? backends[0] : NULL;
}

int store_open(struct store **ret, const char *where, enum store_mode mode, struct err *err)
{
	const struct store_ops *ops = find_backend(where);
	struct store *s;
	int rc;

	if (!ops)                       /* the text may hold a password: it is not shown */
		return err_set(err, E_USAGE, "store '%.*s:...': no such kind of store; use "
		               "sqlite:FILE or postgresql://HOST/DATABASE", (int)strcspn(where, ":"), where);
	rc = ops->open(&s, where, mode, err);
	if (rc < 0)
		return rc;
	buf_init(&s->page, BUF_NO_LIMIT);
	buf_init(&s->capture, BUF_NO_LIMIT);
	buf_init(&s->robots, BUF_NO_LIMIT);
	*ret = s;
	return 0;
}

void store_gather(struct store *s)
{
	if (!s->gather)
		s->gather = mem_zalloc(1, sizeof *s->gather);
	s->gathering = true;
}

int store_begin(struct store *s, struct err *err)
{
	int rc = s->ops->begin(s, err);

	if (rc == 0)
		s->gathering = false;
	if (rc == 0 && s->others_wrote && s->gather)
		ahead_doubt(&s->gather->ahead);
	s->others_wrote = false;
	return rc;
}

bool store_is_far(const struct store *s) { return s->ops->far; }

int store_foresee(struct store *s, const struct store_ahead *want, struct err *err)
{
	if (s->gathering)
		return ahead_read(s, &s->gather->ahead, want, err);
	return s->ops->foresee ? s->ops->foresee(s, want, err) : 0;
}

void store_waiting(struct store *s, store_waiting_each *each, void *arg)
{
	for (size_t i = 0; s->gather && i < s->gather->captures.n; i++)
		each(arg, &s->gather->captures.v[i]);
}

int store_write(struct store *s, struct err *err)
{
	int rc = s->gather ? gather_write(s, s->gather, err) : 0;

	if (rc == 0 && s->gather)
		gather_clear(s->gather);
	return rc;
}

void store_rollback(struct store *s)
{
	if (s->gather) {
		gather_clear(s->gather);
		ahead_release(&s->gather->ahead);
	}
	s->gathering = false;
	s->ops->rollback(s);
}

void store_close(struct store *s)
{
	if (!s)
		return;
	buf_release(&s->page);
	buf_release(&s->capture);
	buf_release(&s->robots);
	if (s->gather)
		gather_release(s->gather);
	free(s->gather);
	free(s->caches);
	s->ops->close(s);
}

const char *store_file(const struct store *s)
{
	return s->ops->file ? s->ops->file(s) : s->caches;
}

void store_caches(struct store *s, const char *folder)
{
	struct buf name;

	if (s->ops->file)
		return;
	buf_init(&name, BUF_NO_LIMIT);
	buf_printf(&name, "%s/freshet.db-%016" PRIx64, folder, s->ops->identity(s));
	free(s->caches);
	s->caches = mem_strdup(buf_text(&name));
	buf_release(&name);
}

int store_lock(struct store *s, struct err *err) { return s->ops->lock(s, err); }
void store_unlock(struct store *s) { s->ops->unlock(s); }
int store_freeze(struct store *s, struct err *err) { return s->ops->freeze(s, err); }
void store_thaw(struct store *s) { s->ops->thaw(s); }
int store_commit(struct store *s, struct err *err) { return s->ops->commit(s, err); }

int store_commit_start(struct store *s, struct err *err)
{
	return s->ops->commit_start ? s->ops->commit_start(s, err) : s->ops->commit(s, err);
}

int store_commit_done(struct store *s, bool wait, struct err *err)
{
	return s->ops->commit_done ? s->ops->commit_done(s, wait, err) : 1;
}

int store_past(struct store *s, uint64_t *ret, struct err *err)
{
	return s->ops->past(s, ret, err);
}

int store_count(struct store *s, struct store_counts *ret, struct err *err)
{
	return s->ops->count(s, ret, err);
}

int store_others(struct store *s, uint64_t *ret, struct err *err)
{
	*ret = 0;
	return s->ops->others ? s->ops->others(s, ret, err) : 0;
}

int store_past_raise(struct store *s, struct err *err) { return s->ops->past_raise(s, err); }

int store_sync(struct store *s, struct err *err)
{
	return s->ops->sync ? s->ops->sync(s, err) : 0;
}

void store_leave_log(struct store *s)
{
	if (s->ops->leave_log)
		s->ops->leave_log(s);
}

void store_cache(struct store *s, uint64_t bytes)
{
	if (s->ops->cache)
		s->ops->cache(s, bytes);
}

int store_carry_log(struct store *s, struct store_log *ret, struct err *err)
{
	*ret = (struct store_log){ 0 };
	return s->ops->carry_log ? s->ops->carry_log(s, ret, err) : 0;
}

int store_tidy(struct store *s, bool whole, struct err *err)
{
	return s->ops->tidy(s, whole, err);
}
