/* SPDX-License-Identifier: Apache-2.0 */
/* crawl_print.h - what `freshet cycle` and `freshet run` print of a cycle. */
#ifndef CLI_PRINT_CRAWL_PRINT_H
#define CLI_PRINT_CRAWL_PRINT_H

#include "base/io/json.h"
#include "engine/crawl/crawl.h"

void crawl_print_json(struct json *j, const struct crawl_report *r);
/* What a cycle is doing, freshet.doing/1, one line. */
void crawl_print_doing(struct json *j, const struct crawl_doing *d);
/* first: with the heads of the columns. */
void crawl_print_table(const struct crawl_report *r, bool first);

#endif
