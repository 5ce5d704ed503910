/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.h - the pages that were found new, changed or gone, each once with what was
 * found last.  For `export changed`, `export atom` and `run --on-change`.
 */
#ifndef CLI_EXPORT_CHANGES_H
#define CLI_EXPORT_CHANGES_H

#include "base/io/json.h"
#include "base/mem.h"
#include "repo/store.h"

struct changes {                        /* zeroed, it is empty */
	VEC(struct store_visit) rows;   /* by page */
};

/* Of visits at `since` or later, in cycles >= from and < to. */
MUST_CHECK int changes_load(struct changes *c, struct store *s, int64_t since, uint32_t from,
                            uint32_t to, struct err *err);
void changes_release(struct changes *c);
/* new, changed or gone */
const char *change_name(const struct store_visit *v);

/* Keys of a visit that all exports name alike; an object must be open. */
void visit_print_json(struct json *j, const struct store_visit *v);
/* The same of a page. */
void page_print_json(struct json *j, const struct store_page *p);
/* One change as a line: url, the visit, and where its content lies.  folder: of the
 * repository; NULL: the reader cannot open files there, and is told no path. */
MUST_CHECK int change_print_json(struct json *j, struct store *s, const char *folder,
                                 const struct store_visit *v, struct err *err);

/* Members that are left out if there is nothing to say. */
void export_time(struct json *j, const char *key, int64_t t);
void export_text(struct json *j, const char *key, struct text t);

#endif
