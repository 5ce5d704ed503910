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
