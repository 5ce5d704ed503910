#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# The Python package, the client of the service, and the example for Scrapy: tests/python, by
# Debian's pytest.
. "$SRC/tests/lib/e2e.sh"
case $BUILD in *-san) exit 0 ;; esac    # a sanitized library needs a sanitized program
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY no_proxy NO_PROXY || true
export FRESHET_LIBRARY="$BUILD/libfreshet.so" PYTHONPATH="$SRC/python" PYTHONDONTWRITEBYTECODE=1 FRESHET SRC
/usr/bin/python3 -m pytest -q -p no:cacheprovider --basetemp "$PWD/pytest" "$SRC/tests/python" > out 2>&1 || fail "see above"
grep -q passed out || fail "no test ran"
