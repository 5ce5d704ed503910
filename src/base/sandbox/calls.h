/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - which system calls this process may make from now on, by seccomp.
 *
 * A list for each kind of process (calls.def).  What is on no list fails as if the kernel did
 * not know it, so that libraries take another way; what is on the list NEVER, and programs
 * started by a process that starts none, end the process.  A reader of hostile bytes is ended
 * by every call that it needs not.  The filter holds for all threads, and for what they start.
 */
#ifndef BASE_SANDBOX_CALLS_H
#define BASE_SANDBOX_CALLS_H

#include <stdbool.h>

#include "base/err.h"

enum calls_kind {
	CALLS_READER,           /* computes, and reads and writes what is open */
	CALLS_FILES,            /* and files: no network */
	CALLS_NETWORK,          /* and connects */
	CALLS_LISTENER,         /* and listens */
	CALLS_SERVICE,          /* and runs programs */
};

/* Built with a sanitizer that needs calls of its own (ptrace at the end, for leaks). */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CALLS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CALLS_SANITIZED 1
#endif
#endif
#ifndef CALLS_SANITIZED
#define CALLS_SANITIZED 0
#endif

/* Has the kernel seccomp with filters? */
bool calls_known(void);
/* local: if it connects, to sockets with a name in a folder, too.  0, or an errno. */
MUST_CHECK int calls_limit(enum calls_kind kind, bool local);

#endif
