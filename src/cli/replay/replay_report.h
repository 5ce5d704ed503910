/* SPDX-License-Identifier: Apache-2.0 */
/* replay_report.h - experiments as a report: `freshet replay --report FILE`. */
#ifndef CLI_REPLAY_REPLAY_REPORT_H
#define CLI_REPLAY_REPLAY_REPORT_H

#include "cli/replay/replay_print.h"
#include "cli/report/report.h"

struct replay_report {
	bool wanted;                    /* else experiments are only counted */
	struct report report;
	char title[160];
	struct replay_winner { const char *spec; uint32_t n; } *winners;
	size_t n_winners;
	uint32_t n_experiments;
};

void replay_report_init(struct replay_report *r, bool wanted);
void replay_report_release(struct replay_report *r);
/* One experiment; the specs must live until the report is written. */
void replay_report_add(struct replay_report *r, const struct replay_output *o);
/* made: 0 leaves the time out. */
MUST_CHECK int replay_report_write(struct replay_report *r, const char *path,
                                   const struct cli *cli, int64_t made, struct err *err);

#endif
