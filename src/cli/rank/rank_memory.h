/* SPDX-License-Identifier: Apache-2.0 */
/* rank_memory.h - how much memory this process may have. */
#ifndef CLI_RANK_RANK_MEMORY_H
#define CLI_RANK_RANK_MEMORY_H

#include <stdint.h>

/* Bytes: the least of what the system has to give, the limits of the control groups, and the
 * limit on data (`ulimit -d`).  UINT64_MAX: none of them is known. */
uint64_t rank_memory(void);

#endif
