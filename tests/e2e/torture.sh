#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A sample of what `make torture` and `make power` try at every point: calls and allocations
# that fail while a command runs, and power that is lost; see tests/torture/torture.py.
# TORTURE=fail or power, and EVERY=1: all of one of them.
# Plain only.
. "$SRC/tests/lib/e2e.sh"
# (A sanitizer has its own allocator, and takes ten times as long.)
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 "$SRC/tests/torture/tracer.c" -o tracer || fail "the tracer"
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -shared -fPIC "$SRC/tests/torture/nomem.c" -o nomem.so -ldl || fail "the library"
nomem=$PWD/nomem.so
./tracer --under . -- true || { echo "no ptrace here: skipped"; exit 0; }
echo 0 > state
start_origin "$SRC/tests/torture/web.py"
for mode in ${TORTURE:-fail power}; do
	mkdir $mode; ln -s ../state $mode/state; cd $mode
	case $mode in fail) every=${EVERY:-500} ;; power) every=${EVERY:-200} ;; esac
	PYTHONDONTWRITEBYTECODE=1 python3 "$SRC/tests/torture/torture.py" "$FRESHET" "$TMP/tracer" "$nomem" "$url" $mode $every || fail "$mode, one point in $every"
	cd ..
done
