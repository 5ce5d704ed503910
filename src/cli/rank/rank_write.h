/* SPDX-License-Identifier: Apache-2.0 */
/* rank_write.h - files of ranks and of links. */
#ifndef CLI_RANK_RANK_WRITE_H
#define CLI_RANK_RANK_WRITE_H

#include "base/err.h"
#include "cli/rank/rank_print.h"

/* `node TAB rank`, a line for each node. */
MUST_CHECK int rank_write(const struct ranked *r, const char *path, struct err *err);
MUST_CHECK int rank_write_links(const struct ranked *r, const char *path, struct err *err);

#endif
