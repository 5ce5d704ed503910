#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A short form of `make soak`: the service through eight cycles, with reads, listeners and a crawl beside it, and its
# memory stays; then, plain only, some seconds with faults.
. "$SRC/tests/lib/e2e.sh"
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY || true
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1         # else it keeps what is freed
mkdir calm; cd calm
python3 -B "$SRC/tests/soak/soak.py" "$f" 0 --calm --cycles 8 --pages 600 || fail "without faults"
! grep -i sanitizer served.err || fail "$(cat served.err)"
cd "$TMP"; rm -r calm
[ "${BUILD##*/}" = build ] || exit 0
mkdir faults; cd faults
python3 -B "$SRC/tests/soak/soak.py" "$f" 12 --pages 600 || fail "with faults"
grep -q '"faults": {$' soak.json || fail "no fault was tried"
cd "$TMP"; rm -r faults
