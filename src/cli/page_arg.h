/* SPDX-License-Identifier: Apache-2.0 */
/* page_arg.h - a page named by its URL on the command line. */
#ifndef CLI_PAGE_ARG_H
#define CLI_PAGE_ARG_H

#include "repo/store.h"

/* 0, or E_USAGE when it is no URL or not in the repository. */
MUST_CHECK int page_arg_find(struct store *s, const char *url, struct store_page *ret,
                             struct err *err);

#endif
