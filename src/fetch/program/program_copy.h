/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_copy.h - one copy of the user's program: a process with two pipes and a proxy, which
 * is asked for one page at a time.
 */
#ifndef FETCH_PROGRAM_PROGRAM_COPY_H
#define FETCH_PROGRAM_PROGRAM_COPY_H

#include <stdatomic.h>
#include <sys/types.h>

#include "fetch/program/gate_proxy.h"
#include "fetch/program/program.h"

struct program_copy {
	const struct program_options *opt;
	const atomic_bool *stop;
	struct gate_proxy *proxy;
	/* private */
	pid_t pid;                      /* 0: it does not run */
	int in, out;                    /* our ends of its pipes */
};

/* Visit a page; the copy is started if it does not run. */
void program_copy_visit(struct program_copy *c, const struct program_request *r,
                        struct program_answer *a);
/* Its input ends; one that is in step has `ms` to end by itself, and to tidy up. */
void program_copy_end(struct program_copy *c, int ms);

#endif
