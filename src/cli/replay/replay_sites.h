/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_sites.h - an experiment site by site (--by-site): where a policy spends its
 * downloads, and where it finds the changes.
 */
#ifndef CLI_REPLAY_REPLAY_SITES_H
#define CLI_REPLAY_REPLAY_SITES_H

#include <stdio.h>

#include "base/io/json.h"
#include "engine/replay/experiment.h"

struct replay_sites {                   /* empty where sites were not measured */
	const struct experiment *x;
	struct site_truth *truth;       /* by site */
	uint32_t *order;                /* sites, those with most pages first */
	uint32_t n;                     /* sites with a page in the repository, at the start or later */
};

void replay_sites_init(struct replay_sites *s, const struct experiment *x);
void replay_sites_release(struct replay_sites *s);
/* The member `sites` of a run: the largest `most` (0: all), and the number of the rest
 * in `more_sites`. */
void replay_sites_json(const struct replay_sites *s, const struct policy_result *p,
                       uint32_t most, struct json *j);
/* The largest sites as policy `best` did on them, and which policy did best there. */
void replay_sites_table(const struct replay_sites *s, size_t best, FILE *out);

#endif
