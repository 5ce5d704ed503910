/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demo.h - the demo's web and its players, between cmd_demo.c, demo_players.c and demo_print.c.
 */
#ifndef CLI_CMD_LAB_DEMO_H
#define CLI_CMD_LAB_DEMO_H

#include <signal.h>

#include "cli/cmd/lab/demo_fleet.h"
#include "cli/frame/repository.h"
#include "demo/origin.h"
#include "fetch/gate.h"

#define DEMO_REPORT "freshet-demo.html"

struct demo_opts {
	int64_t cycles, workers;
	struct share budget;
	int64_t every;
	const char *report, *keep;
};

/* What a player is called, and how it plans. */
struct demo_contender { const char *name, *policy; enum aim aim; };

struct demo_turn { uint32_t downloads, changed, failed; double freshness; };

struct demo_player {
	struct demo_contender as;
	char name[48];                  /* of a fleet */
	struct store *store;            /* NULL: it is the fleet */
	char folder[4096], warc[4200];
	uint64_t downloads, changed, failed;
	double freshness;               /* summed over the cycles measured */
	struct demo_turn *turns;        /* by cycle */
};

struct demo {
	struct origin_world world;
	struct origin *origin;
	struct gate gate;
	struct demo_player *players;
	size_t n_players;
	struct demo_fleet *fleet;       /* NULL: none */
	char **urls;                    /* by page */
	uint32_t n_pages, n_measured;
	uint64_t seed;
	const volatile sig_atomic_t *stop;
	char root[256];
	bool keep_made;                 /* the folder of --keep, by us: it may be removed again */
};

/* In demo_players.c.  A repository for each policy; a fleet, if one is wanted. */
MUST_CHECK int demo_players_open(struct demo *d, struct cli *cli, const struct demo_opts *o,
                                 struct err *err);
/* One cycle; turn NULL: the first copies of everything. */
MUST_CHECK int demo_play(struct demo *d, struct demo_player *p, const struct demo_opts *o,
                         struct demo_turn *turn, struct err *err);
/* How fresh its copies are now. */
MUST_CHECK int demo_measure(struct demo *d, const struct demo_player *p, struct demo_turn *turn,
                            struct err *err);

/* In demo_print.c. */
void demo_print_begin(const struct demo *d, const struct demo_opts *o);
void demo_print_standing(const struct demo *d, int64_t cycle, int64_t cycles, bool redraw);
void demo_print_json(struct json *j, const struct demo *d, const struct demo_opts *o);
/* The comparison, and the history of the repository that was kept freshest; of a fleet only the
 * comparison.  And what to do next, on standard output. */
MUST_CHECK int demo_write_report(struct demo *d, struct cli *cli, const struct demo_opts *o,
                                 struct err *err);

#endif
