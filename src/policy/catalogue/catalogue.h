/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue.h - all policies, by name.
 *
 * A policy is one file and one line in list.def.  Large policies have their own room
 * (policy/tide, policy/evidence); they, too, have one line.
 */
#ifndef POLICY_CATALOGUE_CATALOGUE_H
#define POLICY_CATALOGUE_CATALOGUE_H

#include "policy/policy.h"

const struct policy_ops *policy_find(const char *name, size_t size);
/* Sets E_USAGE: no such policy, did you mean ...? */
int policy_unknown(const char *name, size_t size, struct err *err);
const struct policy_ops *policy_at(size_t i);           /* NULL past the last */
/* Make a policy from its spec, "name" or "name:key=value,...". */
MUST_CHECK int policy_new(struct policy **ret, const char *spec, struct err *err);

#endif
