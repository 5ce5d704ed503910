# SPDX-License-Identifier: Apache-2.0
# For scripts that try a fleet; after e2e.sh.  A schema of its own ($schema; $u is its URL, sql runs a
# statement in it) on the PostgreSQL of scripts/run-tests.  By hand it starts one, which ends with the
# script, however that is: then its standard input ends.  So no trap of the script can forget it.
if [ -z "${FRESHET_TEST_PG:-}" ]; then
	coproc PG { exec "$SRC/tests/lib/postgres.sh"; }
	read -r FRESHET_TEST_PG <&"${PG[0]}" || fail "no PostgreSQL"
fi
schema=$(basename "$0" .sh | tr -- - _)_$$_$RANDOM
u="$FRESHET_TEST_PG&schema=$schema"
psql=$(ls -d /usr/lib/postgresql/*/bin/psql 2> /dev/null | tail -n 1); psql=${psql:-psql}
sql() { PGOPTIONS="-c search_path=$schema" "$psql" -qAt "$FRESHET_TEST_PG" -c "$1"; }
# A proxy before PostgreSQL that sees each message (statements.py), until the script ends: its socket is in
# the folder $wire, that of the server in $folder.
start_wire() {
	folder=${FRESHET_TEST_PG##*host=}; folder=${folder%%&*}
	wire=$(env -u TMPDIR mktemp -d /tmp/freshet-wire.XXXXXX)
	trap 'exec 8>&-; rm -rf "$wire"' EXIT
	unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY || true
	mkfifo hold
	python3 "$SRC/tests/lib/statements.py" "$folder" "$wire" < hold & exec 8> hold
	for i in $(seq 500); do [ -e "$wire/ready" ] && break; sleep 0.02; done
}
