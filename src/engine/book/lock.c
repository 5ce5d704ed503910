/* SPDX-License-Identifier: Apache-2.0 */
/* lock.c - wait for the lock of the store; see lock.h. */
#include "engine/book/lock.h"

#include <unistd.h>

#include "engine/book/last_cycle.h"

#define BUSY_TRIES 600          /* for the lock, */
#define BUSY_WAIT 50000         /* microseconds apart: half a minute together */

int lock_wait(struct store *s, struct err *err)
{
	int rc = store_lock(s, err);

	for (int i = 0; i < BUSY_TRIES && rc == E_BUSY; i++) {
		struct last_cycle last;

		if (last_cycle_read(s, &last, NULL) == 0 && last.any && last.row.open &&
		    !last.row.clients)
			break;
		usleep(BUSY_WAIT);
		rc = store_lock(s, err);
	}
	return rc;
}
