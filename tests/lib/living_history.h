/* SPDX-License-Identifier: Apache-2.0 */
/* living_history.h - the history of the living web of the demo, for replay. */
#ifndef TESTS_LIB_LIVING_HISTORY_H
#define TESTS_LIB_LIVING_HISTORY_H

#include "demo/living.h"
#include "engine/history/history.h"

/* Add a record for each state of each page until `end`, and at the moment of each cycle one
 * of each page that fails then.  url() says where a page is. */
void living_history(const struct living *l, int64_t end, int64_t cycle_seconds,
                    struct history *h, void (*url)(void *arg, uint32_t page, char out[128]),
                    void *arg);

#endif
