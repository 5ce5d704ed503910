# SPDX-License-Identifier: Apache-2.0
# For scripts that try `freshet serve`; after e2e.sh.
#   start_service DIR [options]     on any free port; sets service (its process) and api (its URL)
#   stop_service                    politely; it must end well
start_service() {
	local dir=$1; shift
	: >served
	"$FRESHET" -C "$dir" serve --listen 127.0.0.1:0 "$@" >served 2>served.err & service=$!
	for i in $(seq 1200); do
		grep -q '^serving' served && break
		kill -0 $service 2>/dev/null || fail "serve ended: $(cat served.err)"
		sleep 0.05
	done
	api=$(sed -n 's/^serving //p' served)
	[ -n "$api" ] || fail "serve did not start: $(cat served.err)"
}
stop_service() {
	local rc=0
	kill $service
	wait $service || rc=$?
	[ $rc = 0 ] || fail "serve ended with $rc: $(cat served.err)"
	! grep -q -i sanitizer served.err || fail "$(cat served.err)"
}
trap 'kill -9 ${service:-} ${origin:-} 2>/dev/null || :' EXIT
