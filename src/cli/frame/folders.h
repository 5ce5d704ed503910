/* SPDX-License-Identifier: Apache-2.0 */
/* folders.h - replace a folder among the arguments by the archives in it. */
#ifndef CLI_FRAME_FOLDERS_H
#define CLI_FRAME_FOLDERS_H

#include "base/err.h"
#include "base/mem.h"
#include "base/option/option.h"

/* Replace every folder by its .warc, .cdx and .cdxj files (also .gz and .zst), sorted by
 * name.  Repositories and files stay as they are.  A folder without archives is E_IO.
 * New names are allocated in `arena`. */
MUST_CHECK int folders_expand(int n_args, char **args, struct option_list *ret,
                              struct arena *arena, struct err *err);

#endif
