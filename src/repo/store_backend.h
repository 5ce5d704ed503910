/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_backend.h - what a database must implement to be a store.  One backend is
 * one family of files, store_NAME*.c, and one line in stores.def.  store.h says what each
 * function does.  Calls come from one thread at a time.
 */
#ifndef REPO_STORE_BACKEND_H
#define REPO_STORE_BACKEND_H

#include "repo/store.h"

/* The setting that counts how often the past changed; see store_past(). */
#define STORE_PAST_KEY "state.past"

struct store_ops {
	const char *scheme;             /* "sqlite" */
	int (*open)(struct store **ret, const char *path, enum store_mode, struct err *);
	void (*close)(struct store *);
	const char *(*path)(const struct store *);
	int (*freeze)(struct store *, struct err *);
	void (*thaw)(struct store *);
	int (*begin)(struct store *, struct err *);
	int (*commit)(struct store *, struct err *);
	void (*rollback)(struct store *);
	int (*page_add)(struct store *, struct text, int64_t, uint32_t *, struct err *);
	int (*page_find)(struct store *, struct text, struct store_page *, struct err *);
	int (*page_get)(struct store *, uint32_t, struct store_page *, struct err *);
	int (*page_weigh)(struct store *, uint32_t number, double weight, struct err *);
	int (*page_update)(struct store *, const struct store_page *, struct err *);
	int (*capture_add)(struct store *, struct store_capture *, struct err *);
	int (*capture_put)(struct store *, struct store_capture *, struct err *);
	int (*capture_get)(struct store *, uint64_t, struct store_capture *, struct err *);
	int (*capture_refresh)(struct store *, uint64_t, struct text, struct text, struct text,
	                       struct err *);
	int (*visit_add)(struct store *, const struct store_visit *, struct err *);
	int (*visits_forget)(struct store *, uint32_t, struct err *);
	int (*cycle_put)(struct store *, const struct store_cycle *, struct err *);
	int (*setting_put)(struct store *, const char *, const char *, struct err *);
	int (*hint_get)(struct store *, struct text, struct store_hint *, struct err *);
	int (*hint_put)(struct store *, struct text, const struct store_hint *, struct err *);
	int (*robots_get)(struct store *, struct text, struct store_robots *, struct err *);
	int (*robots_put)(struct store *, struct text, const struct store_robots *, struct err *);
	int (*robots_size)(struct store *, uint64_t *, struct err *);
	int (*robots_forget)(struct store *, int64_t, struct err *);
	int (*word_add)(struct store *, uint32_t, struct text, struct err *);
	int (*words)(struct store *, uint32_t, store_word_each *, void *, struct err *);
	int (*pages)(struct store *, store_page_each *, void *, struct err *);
	int (*captures)(struct store *, uint32_t, store_capture_each *, void *, struct err *);
	int (*visits)(struct store *, uint32_t, uint32_t, uint32_t, store_visit_each *, void *,
	              struct err *);
	int (*cycles)(struct store *, store_cycle_each *, void *, struct err *);
	int (*settings)(struct store *, store_setting_each *, void *, struct err *);
	int (*round_add)(struct store *, uint32_t, uint32_t, uint32_t, struct err *);
	int (*rounds)(struct store *, uint32_t, store_round_each *, void *, struct err *);
	int (*lease_put)(struct store *, const struct store_lease *, struct err *);
	int (*leases)(struct store *, uint32_t, store_lease_each *, void *, struct err *);
	int (*leases_forget)(struct store *, uint32_t, struct err *);
	int (*sent_add)(struct store *, const struct store_sent *, size_t, struct err *);
	int (*sent)(struct store *, store_sent_each *, void *, struct err *);
	int (*sent_clear)(struct store *, struct err *);
	int (*count)(struct store *, struct store_counts *, struct err *);
	int (*check)(struct store *, struct err *);
};

struct store { const struct store_ops *ops; };

#endif
