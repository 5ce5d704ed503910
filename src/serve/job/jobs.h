/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.h - work that takes minutes, as children of this program: cycles of our own fetcher,
 * replays.
 *
 * A child is the same program with another command.  So it may take memory and give it back,
 * crash without taking the service with it, and be stopped as a user stops it (SIGTERM: what
 * is in flight finishes and is kept).  If the service is killed, its children are told to stop.
 * Its standard output is the document of the job; what it writes to --doing is its progress.
 */
#ifndef SERVE_JOB_JOBS_H
#define SERVE_JOB_JOBS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

#define JOBS_KEPT 50                    /* jobs that are over and still shown: the newest */
#define JOB_OUTPUT_MAX (64u << 20)
#define JOB_WORDS_MAX 32

enum job_kind { JOB_CYCLE, JOB_REPLAY };
enum job_state { JOB_RUNS, JOB_STOPPING, JOB_DONE, JOB_FAILED };

struct job {
	struct job *next;
	uint32_t number;
	enum job_kind kind;
	enum job_state state;
	pid_t pid;
	int out, messages, doing;       /* pipes; -1: closed */
	struct buf output, said;        /* its standard output; its messages */
	struct buf line;                /* what it says of its progress, as far as it came */
	struct buf now;                 /* the newest whole line of that */
	int64_t began, ended;
	int status;                     /* exit status */
	char *note;                     /* what was asked for, as JSON */
};

/* What every child is called with; the texts live longer than the jobs. */
struct job_base {
	const char *program;            /* the path of this program */
	const char *folder, *store;     /* the repository; store may be NULL */
	bool no_sandbox;
};

struct jobs;
struct jobs *jobs_new(const struct job_base *base);
/* Stop all and wait for them. */
void jobs_free(struct jobs *j);

/* words: after the options that name the repository.  ret: its number.  E_BUSY: one of the
 * kind runs. */
MUST_CHECK int jobs_begin(struct jobs *j, enum job_kind kind, const char *const *words,
                          size_t n, const char *note, uint32_t *ret, struct err *err);
/* 0: there is no such job that runs. */
int jobs_stop(struct jobs *j, enum job_kind kind, uint32_t number);
/* Look at jobs, newest first, until it returns true; with the lock. */
void jobs_each(struct jobs *j, bool (*each)(void *arg, const struct job *job), void *arg);
bool jobs_running(struct jobs *j, enum job_kind kind);
const char *job_state_name(enum job_state s);

#endif
