/* SPDX-License-Identifier: Apache-2.0 */
/* replay_visits.h - every visit of a replay as a line of JSON (`replay --visits FILE`). */
#ifndef CLI_REPLAY_REPLAY_VISITS_H
#define CLI_REPLAY_REPLAY_VISITS_H

#include "base/io/json.h"
#include "base/io/output.h"
#include "engine/replay/replay.h"

struct replay_visits { struct output *out; struct json j; };    /* zeroed: none wanted */

MUST_CHECK int replay_visits_open(struct replay_visits *v, const char *path,
                                  struct replay_opts *o, struct err *err);
/* Complete the file, or throw it away if rc is an error; the result of both. */
MUST_CHECK int replay_visits_close(struct replay_visits *v, int rc, struct err *err);

#endif
