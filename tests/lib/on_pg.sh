#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The program ($ON_PG) with its tables on the PostgreSQL at $FRESHET_TEST_PG: `init DIR` makes them
# there, in a schema for each folder, and the folder remembers its store.  So an end-to-end script
# runs on that store as it is.  The tables of a folder that was removed go when it is made again.
# scripts/run-tests names the scripts that do in `make check`, scripts/e2e-postgres those that cannot.
folder=
for ((i = 1; i <= $#; i++)); do
	next=$((i + 1))
	case "${!i}" in
	init) case "${!next:-}" in ''|-*) ;; *) folder=${!next} ;; esac ;;
	--store|--store=*) folder=; break ;;
	esac
done
[ -n "$folder" ] || exec "$ON_PG" "$@"
schema=e2e_$(realpath -m "$folder" | md5sum | cut -c 1-20)
[ -e "$folder" ] || psql -qX "$FRESHET_TEST_PG" -c "DROP SCHEMA IF EXISTS $schema CASCADE" </dev/null >/dev/null 2>&1
exec "$ON_PG" "$@" --store "$FRESHET_TEST_PG&schema=$schema"
