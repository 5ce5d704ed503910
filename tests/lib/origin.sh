# SPDX-License-Identifier: Apache-2.0
# For end-to-end scripts: a web server of their own on loopback.

# start_origin FILE: Python that ends with serve(answer) of origin.py.  Sets url and
# origin (its process, which ends with the script), empties log, and forgets proxies.
start_origin() {
	unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY no_proxy NO_PROXY || true
	rm -f port; : > log
	PYTHONPATH="$SRC/tests/lib" PYTHONDONTWRITEBYTECODE=1 python3 "$1" & origin=$!
	trap 'kill $origin' EXIT
	for i in $(seq 500); do [ -s port ] && break; sleep 0.02; done
	url=http://127.0.0.1:$(cat port)
}
