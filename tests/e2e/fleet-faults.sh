#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The short form of scripts/fleet-trial: workers are killed, a synchronous standby takes over for
# the server, clocks are ten minutes apart.  What must hold is checked there.
# Plain only.
. "$SRC/tests/lib/e2e.sh"
"$SRC/scripts/fleet-trial" short > said 2>&1 || fail "$(cat said)"
