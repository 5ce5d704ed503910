/* SPDX-License-Identifier: Apache-2.0 */
/* stop.h - a flag that a signal handler or another thread sets: end what you do. */
#ifndef BASE_STOP_H
#define BASE_STOP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static inline void stop_set(volatile sig_atomic_t *flag)
{
	__atomic_store_n(flag, 1, __ATOMIC_RELAXED);
}

/* NULL: nobody sets it. */
static inline bool stop_is_set(const volatile sig_atomic_t *flag)
{
	return flag && __atomic_load_n(flag, __ATOMIC_RELAXED);
}

#endif
