/* SPDX-License-Identifier: Apache-2.0 */
/* tide.h - the parts of the policy `tide`; see tide.c. */
#ifndef POLICY_TIDE_H
#define POLICY_TIDE_H

#include "policy/plan.h"
#include "policy/tide_model.h"

struct tide_opts {
	double batch, explore, noise, family, memory;
	double voice, voice_base, discount, k_base, k_site, k_dir, k_page;
	bool nocap;
	int weight;
};

/* Found more or less often than expected: a random effect on the log-odds. */
struct tide_family {
	float sum, var;                 /* hits less expected; its variance */
	float factor;                   /* of the odds, less 1 */
};

struct tide_page {
	float hits, expected;
	float chance;                   /* of being stale, as of its site's last rescoring */
};

struct tide_state {
	struct tide_model model;
	bool ready;
	struct tide_family *family[N_FAMILIES];
	/* for the cycle only */
	uint8_t *dirty;                 /* by directory, roots only */
	uint32_t *dirty_roots, n_dirty;
	uint32_t *found, *taken;        /* by directory: hits; taken in this batch */
	uint32_t *touched;              /* directories with taken != 0 */
	struct offer *best;
	size_t n_best, cap_best;
	struct offer *skipped;
	double carry;
	float *normal;
};

#endif
