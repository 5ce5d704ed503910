#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The service through eight cycles, with reads and listeners: its memory stays.  (`make soak` does it for long.)
. "$SRC/tests/lib/e2e.sh"
. "$SRC/tests/lib/service.sh"
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY || true
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1         # else it keeps what is freed
"$f" init crawl 2>/dev/null
for i in $(seq 600); do echo "http://h$((i % 6)).example/d/p$i"; done >urls
"$f" -C crawl import urls >/dev/null
"$f" -C crawl set budget 50%
"$f" -C crawl set delay 0s
start_service crawl --rate 0 --ahead 1 --cache 1M
trap 'kill -9 ${service:-} 2>/dev/null || :' EXIT
python3 "$SRC/bench/serve_soak.py" "$api" $service 0 600 8 || fail "memory grows, or a request failed: $(cat served.err)"
stop_service
