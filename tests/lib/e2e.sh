# SPDX-License-Identifier: Apache-2.0
# For end-to-end scripts, each of which begins with it: strict, in a folder of its own
# ($TMP; FRESHET is the program, BUILD and SRC are folders), with words to check by.
set -eu
cd "$TMP"
f=$FRESHET

fail() { # what is wrong; what the program printed last comes before it
	tail -n 20 out err 2> /dev/null || true
	echo "${0##*/}: $*"
	exit 1
}
code() { rc=0; "$@" > out 2> err || rc=$?; } # command...; sets rc
expect() { # status command...
	local want=$1; shift
	code "$@"
	[ "$rc" = "$want" ] || fail "exit $rc, wanted $want: $*"
}
# An expression of Python over the keys of the JSON document in `out`, which is r.
field() { python3 -c 'import json,sys; r = json.load(open("out")); print(eval(sys.argv[1], {"r": r}, dict(r)))' "$1"; }
is() { # expression value
	local got; got=$(field "$1")
	[ "$got" = "$2" ] || fail "$1 is $got, wanted $2"
}

# start_origin FILE: a web server on loopback; Python that ends with serve(answer) of
# origin.py.  Sets url and origin (its process, which ends with the script), empties log,
# and forgets proxies.
start_origin() {
	unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY no_proxy NO_PROXY || true
	rm -f port; : > log
	PYTHONPATH="$SRC/tests/lib" PYTHONDONTWRITEBYTECODE=1 python3 "$1" & origin=$!
	trap 'kill $origin' EXIT
	for i in $(seq 500); do [ -s port ] && break; sleep 0.02; done
	url=http://127.0.0.1:$(cat port)
}
