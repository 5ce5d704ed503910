/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h - checks of the machine and of a repository, with advice.
 *
 * A check looks at one thing and adds one finding or more.  Checks change nothing and send
 * nothing to the hosts of the repository; names are resolved, which asks the resolver.
 */
#ifndef CLI_DOCTOR_DOCTOR_H
#define CLI_DOCTOR_DOCTOR_H

#include "cli/frame/command.h"
#include "repo/fleet/fleet.h"
#include "repo/store.h"

enum verdict {
	VERDICT_GOOD,
	VERDICT_ADVICE,                 /* works, but could be better or soon will not */
	VERDICT_WRONG,                  /* something will fail */
};

struct finding {
	const char *check;              /* one word: disk, clock, ... */
	enum verdict verdict;
	char found[400];                /* what there is */
	char advice[400];               /* what to do, or "" */
};

struct doctor {
	const char *folder;             /* of the repository */
	struct store *store;            /* open for reading, or NULL: there is none */
	bool fleet;                     /* it is a shard of several: doctor_fleet() looks at all */
	int64_t now;
	int64_t names_seconds;          /* time to resolve a name in */
	VEC(struct finding) findings;
};

/* Add a finding; the text is "found" and, after a '|', the advice. */
__attribute__((format(printf, 4, 5)))
void doctor_find(struct doctor *d, const char *check, enum verdict verdict, const char *fmt,
                 ...);

/* Of the machine: versions, clock, limits, certificates, ways out, proxies. */
void doctor_machine(struct doctor *d);
/* Of the folder: permissions, space. */
void doctor_folder(struct doctor *d);
/* Is another program at work?  It holds the lock of the store. */
void doctor_work(struct doctor *d);
/* Of a fleet: its shards, who works on them, its cycle. */
MUST_CHECK int doctor_fleet(struct doctor *d, struct fleet *f, struct err *err);
/* Of what the store says: contact, pages, time of the last cycle, names of hosts. */
MUST_CHECK int doctor_store(struct doctor *d, struct err *err);

#endif
