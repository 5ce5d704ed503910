/* SPDX-License-Identifier: Apache-2.0 */
/* live_print.h - what `freshet live` prints. */
#ifndef CLI_PRINT_LIVE_PRINT_H
#define CLI_PRINT_LIVE_PRINT_H

#include <stdio.h>

#include "base/io/json.h"
#include "engine/crawl/crawl.h"

enum live_format { LIVE_URLS, LIVE_JSONL, LIVE_CDXJ };

/* The living of a run; CDXJ is sorted, folder: where temporary files may go. */
MUST_CHECK int live_print_list(struct store *s, uint32_t cycle, enum live_format format,
                               const char *folder, FILE *out, struct err *err);
void live_print_json(struct json *j, const struct crawl_report *r,
                     const struct life_opts *o);
/* The classes of Table 1 of the LiveRank study, the estimate, the cost. */
void live_print_table(const struct crawl_report *r, const struct life_opts *o, FILE *out);

#endif
