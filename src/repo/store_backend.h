/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_backend.h - what a database must implement to be a store.  One backend is
 * one room, NAME/, and one line in stores.def.  store.h says what each
 * function does.  Calls come from one thread at a time.
 *
 * An array may be empty; then nothing is to be done.  Callbacks may call the store for
 * other reads (a page of a visit, for instance), but not for the same kind of read.
 */
#ifndef REPO_STORE_BACKEND_H
#define REPO_STORE_BACKEND_H

#include "base/buf.h"
#include "repo/store.h"

struct store_ops {
	const char *name;               /* "sqlite" */
	bool far;                       /* store_is_far() */
	bool (*takes)(const char *where);       /* is this text for this backend? */
	int (*open)(struct store **ret, const char *where, enum store_mode, struct err *);
	void (*close)(struct store *);
	const char *(*file)(const struct store *);      /* or NULL: then identity */
	uint64_t (*identity)(const struct store *);     /* of the store and its shard */
	int (*lock)(struct store *, struct err *);
	void (*unlock)(struct store *);
	int (*freeze)(struct store *, struct err *);
	void (*thaw)(struct store *);
	int (*begin)(struct store *, struct err *);
	int (*commit)(struct store *, struct err *);
	int (*commit_start)(struct store *, struct err *);              /* NULL, both: commit() */
	int (*commit_done)(struct store *, bool wait, struct err *);
	void (*rollback)(struct store *);

	int (*pages_add)(struct store *, struct store_page *, size_t n, bool *ret_new,
	                 struct err *);
	int (*pages_find)(struct store *, const struct text *urls, size_t n, uint32_t *ret,
	                  struct err *);
	int (*pages_get)(struct store *, const uint32_t *numbers, size_t n, store_page_each *,
	                 void *, struct err *);
	int (*pages_change)(struct store *, const struct store_page_change *, size_t n,
	                    struct err *);
	int (*pages)(struct store *, uint32_t from, store_page_each *, void *, struct err *);
	int (*pages_brief)(struct store *, store_page_each *, void *, struct err *); /* or NULL */
	int (*pages_touched)(struct store *, store_page_each *, void *, struct err *);

	int (*captures_put)(struct store *, struct store_capture *, size_t n, enum store_second,
	                    uint8_t *ret, struct err *);
	int (*capture_ids)(struct store *, uint32_t n, uint64_t *ret, struct err *);
	int (*captures_get)(struct store *, const uint64_t *ids, size_t n, store_capture_each *,
	                    void *, struct err *);
	/* without links and terms */
	int (*copies_get)(struct store *, const uint64_t *ids, size_t n, store_capture_each *,
	                  void *, struct err *);
	/* in a batch: what will be read; NULL: reads of single rows are cheap there */
	int (*foresee)(struct store *, const struct store_ahead *, struct err *);
	int (*captures_refresh)(struct store *, const struct store_headers *, size_t n,
	                        struct err *);
	int (*captures)(struct store *, const uint32_t *pages, size_t n, store_capture_each *,
	                void *, struct err *);
	int (*captures_linked)(struct store *, store_linked_each *, void *, struct err *);
	int (*links)(struct store *, const struct map *keys, store_text_each *, void *, struct err *);
	int (*terms)(struct store *, const struct map *keys, store_text_each *, void *, struct err *);
	int (*captures_since)(struct store *, uint64_t id, store_capture_each *, void *,
	                      struct err *);

	int (*captures_drop)(struct store *, const uint64_t *ids, size_t n, struct err *);
	int (*captures_move)(struct store *, const struct store_moved *, size_t n, struct err *);
	int (*files)(struct store *, store_file_each *, void *, struct err *);
	int (*file_drop)(struct store *, struct text worker, struct text name, struct err *);
	/* both or NULL: there is but one shard */
	int (*files_shared)(struct store *, store_file_each *, void *, struct err *);
	int (*file_leave)(struct store *, struct text worker, struct text name, bool *ret_last,
	                  struct err *);
	int (*sync)(struct store *, struct err *);      /* or NULL: each commit is so */
	int (*tidy)(struct store *, bool whole, struct err *);
	void (*leave_log)(struct store *);              /* or NULL: there is no such log */
	void (*cache)(struct store *, uint64_t bytes);  /* or NULL: there is none of ours */
	int (*carry_log)(struct store *, struct store_log *ret, struct err *);

	int (*visits_add)(struct store *, const struct store_visit *, size_t n, struct err *);
	int (*visits_forget)(struct store *, const uint32_t *pages, size_t n, struct err *);
	int (*visits)(struct store *, uint32_t from, uint32_t to, store_visit_each *, void *,
	              struct err *);
	int (*visits_found)(struct store *, uint32_t from, uint32_t to, store_visit_each *, void *,
	                    struct err *);
	int (*visits_of)(struct store *, const uint32_t *pages, size_t n, uint32_t from,
	                 uint32_t to, store_visit_each *, void *, struct err *);
	int (*past)(struct store *, uint64_t *, struct err *);
	int (*past_raise)(struct store *, struct err *);
	int (*others)(struct store *, uint64_t *, struct err *);        /* or NULL */

	int (*cycle_put)(struct store *, const struct store_cycle *, struct err *);
	int (*cycles)(struct store *, uint32_t from, store_cycle_each *, void *, struct err *);
	int (*rounds_add)(struct store *, uint32_t cycle, uint32_t first, const uint32_t *after,
	                  size_t n, struct err *);
	int (*rounds)(struct store *, uint32_t cycle, store_round_each *, void *, struct err *);
	int (*leases_put)(struct store *, const struct store_lease *, size_t n, struct err *);
	int (*leases)(struct store *, uint32_t cycle, store_lease_each *, void *, struct err *);
	int (*leases_forget)(struct store *, uint32_t but_cycle, struct err *);
	int (*sent_start)(struct store *, const struct store_sent *, size_t n, struct err *);
	int (*sent_done)(struct store *, bool wait, struct err *);      /* NULL: always */
	int (*sent)(struct store *, store_sent_each *, void *, struct err *);
	int (*sent_clear)(struct store *, struct err *);

	int (*care_put)(struct store *, const struct store_care *, size_t n, int64_t time,
	                struct err *);
	int (*care_log)(struct store *, uint32_t page, uint32_t from, uint32_t to,
	                store_care_each *, void *, struct err *);
	int (*tag_put)(struct store *, struct text, const uint32_t *pages, size_t n, bool on,
	               struct err *);
	int (*tags)(struct store *, uint32_t page, store_tag_each *, void *, struct err *);
	int (*tagged)(struct store *, struct text, store_tagged_each *, void *, struct err *);

	int (*setting_put)(struct store *, const char *key, const char *value, struct err *);
	int (*setting_get)(struct store *, const char *key, char **ret, struct err *);
	int (*settings)(struct store *, store_setting_each *, void *, struct err *);
	int (*state_put)(struct store *, enum store_owner, const char *key, const char *value,
	                 struct err *);
	int (*state_get)(struct store *, enum store_owner, const char *key, char **ret,
	                 struct err *);
	int (*states)(struct store *, enum store_owner, store_setting_each *, void *,
	              struct err *);

	int (*hints_get)(struct store *, const struct text *sites, size_t n, struct store_hint *,
	                 struct err *);
	int (*hints_change)(struct store *, const struct store_hint_change *, size_t n,
	                    struct err *);
	int (*hints)(struct store *, store_hint_each *, void *, struct err *);
	int (*robots_put)(struct store *, const struct store_robots *, size_t n, struct err *);
	int (*robots)(struct store *, const struct text *origins, size_t n, store_robots_each *,
	              void *, struct err *);
	int (*robots_size)(struct store *, uint64_t *, struct err *);
	int (*robots_forget)(struct store *, int64_t before, struct err *);
	int (*words_add)(struct store *, uint32_t first, const struct text *, size_t n,
	                 struct err *);
	int (*words)(struct store *, uint32_t from, store_word_each *, void *, struct err *);
	int (*count)(struct store *, struct store_counts *, struct err *);
	/* or NULL */
	int (*backup)(struct store *, const char *to, store_backup_each *, void *, struct err *);
	/* beyond its rows */
	int (*check)(struct store *, store_problem_each *, void *, struct err *);
	/* The row of the table that was read last and makes no sense, as JSON: 1, or 0 if it
	 * cannot go; and delete it.  NULL: rows stay as they are. */
	int (*bad_row)(struct store *, const char *table, struct buf *ret, struct err *);
	int (*bad_row_drop)(struct store *, struct err *);
};

/* The first member of every backend's own struct, zeroed by it.  store.c fills the rest. */
struct store {
	const struct store_ops *ops;
	struct buf page, capture, robots;       /* texts of the rows that were got last */
	struct gather *gather;                  /* rows that wait, or NULL */
	bool gathering;
	char *caches;                           /* or NULL: store_caches() */
	bool others_wrote;                      /* set by begin(): since the batch before */
};

#endif
