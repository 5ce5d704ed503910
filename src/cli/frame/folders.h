/* SPDX-License-Identifier: Apache-2.0 */
/* folders.h - a folder as an argument stands for the archives in it. */
#ifndef CLI_FRAME_FOLDERS_H
#define CLI_FRAME_FOLDERS_H

#include "base/err.h"
#include "base/mem.h"
#include "base/option.h"

/* The arguments with every folder replaced by its .warc, .cdx and .cdxj files (.gz and
 * .zst too), by name.  Repositories stay what they are, and so does what is no folder;
 * one without such a file is E_IO.  New names are kept in `keep`. */
MUST_CHECK int folders_expand(int n_args, char **args, struct option_list *ret,
                              struct arena *keep, struct err *err);

#endif
