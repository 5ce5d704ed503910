/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared.h - what the shards of a fleet learn together: a few sums over all that each has seen.
 *
 * A shard that was hardly ever visited knows little by itself; what is usual in the fleet is
 * the best guess for it.  Without that it would bid by its own few visits, be granted nothing,
 * and never learn more.
 *
 * A policy says its sums with its demand (policy/demand.h).  The sums of all shards, as they
 * were when the cycle began, come back in the view.  Only ask() and demand() may use them: what
 * a policy remembers is made of its own visits, so that it can be recalled without the others.
 */
#ifndef POLICY_SHARED_H
#define POLICY_SHARED_H

#include <stdbool.h>

#define SHARED_SUMS 24

struct shared {                         /* zeroed: nothing is known of others */
	bool any;
	double sum[SHARED_SUMS];        /* what they mean is up to the policy */
};

#endif
