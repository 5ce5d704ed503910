/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - histories from files (CDX, CDXJ, WARC) or from a repository. */
#ifndef ENGINE_HISTORY_TRACE_H
#define ENGINE_HISTORY_TRACE_H

#include "engine/history/history.h"

struct trace_report {
	uint64_t n_records, n_bad;
	/* Called for each line or record that was lost; may be NULL. */
	void (*report)(void *arg, const char *text);
	/* Called now and then: bytes read of all files' bytes; true: stop, with E_STOP.
	 * May be NULL. */
	bool (*progress)(void *arg, uint64_t done, uint64_t total);
	void *arg;
};

/* Load every file (or folder of a repository) into h, and finish it. */
MUST_CHECK int trace_load(struct history *h, const char *const *paths, size_t n,
                          struct trace_report *report, struct err *err);

#endif
