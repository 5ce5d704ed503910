#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A PostgreSQL of our own, for tests: in a temporary folder, as an unprivileged user, on a
# unix socket only, so no port is taken and two runs never meet.
#
#   tests/lib/postgres.sh      starts a server and prints its URL.  When its standard input
#                              ends, it stops the server and removes the folder.  So a server
#                              ends with the program that started it, however that ends.
#   . tests/lib/postgres.sh    the same in steps, for trials that kill it: pg_make, pg_start,
#                              pg_crash, pg_stop, pg_remove; $pg_folder, $pg_url
#
# PG_FSYNC=on for trials that crash the machine's disk; off is enough where only the server
# is killed, since the system keeps what was written.  PG_DISK=SIZE: on a small disk of its own
# (a tmpfs, which only root can mount), for trials that fill it.

pg_programs() { # the folder of the newest version
	command -v pg_config > /dev/null && [ -x "$(pg_config --bindir)/initdb" ] && pg_config --bindir && return
	ls -d /usr/lib/postgresql/*/bin 2> /dev/null | sort -V | tail -n 1
}
# PostgreSQL refuses to run as root: then it runs as the user that Debian's package made.
pg_as() {
	if [ "$(id -u)" != 0 ]; then "$@"; return; fi
	local user=postgres; id -u $user > /dev/null 2>&1 || user=nobody
	( cd / && exec setpriv --reuid="$(id -u $user)" --regid="$(id -g $user)" --clear-groups env HOME=/ "$@" )
}
pg_make() {
	pg_bin=$(pg_programs)
	[ -n "$pg_bin" ] || { echo "no PostgreSQL here: scripts/deps installs it" >&2; return 1; }
	pg_folder=$(env -u TMPDIR mktemp -d /tmp/freshet-pg.XXXXXX) # short: the path of a socket has 107 bytes at most
	[ -z "${PG_DISK:-}" ] || mount -t tmpfs -o "size=$PG_DISK" none "$pg_folder" || return 1
	[ "$(id -u)" != 0 ] || chown "$(id -u postgres 2> /dev/null || id -u nobody)" "$pg_folder"
	pg_as "$pg_bin/initdb" -D "$pg_folder/data" -A trust -U freshet -E UTF8 --locale=C -N > "$pg_folder/init" 2>&1 ||
		{ cat "$pg_folder/init" >&2; return 1; }
	pg_url="postgresql:///postgres?user=freshet&host=$pg_folder"
}
pg_start() {
	pg_as "$pg_bin/pg_ctl" -D "$pg_folder/data" -l "$pg_folder/log" -w -t 60 -s start \
		-o "-c listen_addresses='' -k '$pg_folder' -c fsync=${PG_FSYNC:-off} -c max_connections=100 \
		-c shared_buffers=${PG_BUFFERS:-64MB} -c max_wal_size=2GB -c autovacuum_naptime=10s -c jit=off ${PG_MORE:-}" \
		> "$pg_folder/start" 2>&1 9>&- || { cat "$pg_folder/start" "$pg_folder/log" >&2; return 1; }
}
pg_id() { head -n 1 "$pg_folder/data/postmaster.pid" 2> /dev/null; }
pg_crash() { # nothing is written, nobody is told; then it starts again
	local id; id=$(pg_id) || return 0
	kill -9 "$id"; while kill -0 "$id" 2> /dev/null; do sleep 0.02; done
	${1:-:}     # what happens while it is away
	until pg_start 2> /dev/null; do sleep 0.1; done # its children must go first: they see that it has gone
}
pg_stop() { pg_as "$pg_bin/pg_ctl" -D "$pg_folder/data" -w -s -m immediate stop > /dev/null 2>&1 || true; }
pg_freeze() { kill -STOP "$(pg_id)" $(ps -o pid= --ppid "$(pg_id)"); }
pg_thaw() { kill -CONT $(ps -o pid= --ppid "$(pg_id)") "$(pg_id)"; }
pg_remove() { pg_stop; [ -z "${PG_DISK:-}" ] || umount "$pg_folder"; rm -rf "$pg_folder"; }

# Two servers, a primary and a synchronous standby: pg_pair, then pg_failover as often as wanted.
# $pg_url names both; $pg_primary is a or b.
pg_psql() { # a|b, statement
	"$pg_bin/psql" -qAt "postgresql:///postgres?user=freshet&host=$pg_folder/$1" -c "$2"
}
pg_up() { # a|b
	pg_as "$pg_bin/pg_ctl" -D "$pg_folder/$1/data" -l "$pg_folder/$1/log" -w -t 60 -s start \
		-o "-c listen_addresses='' -k '$pg_folder/$1' -c fsync=off -c max_connections=100 -c shared_buffers=32MB \
		-c wal_level=replica -c max_wal_senders=5 -c wal_keep_size=512MB -c jit=off" > "$pg_folder/$1/start" 2>&1 9>&- ||
		{ cat "$pg_folder/$1/start" "$pg_folder/$1/log" >&2; return 1; }
}
pg_attach() { # a|b: it becomes the standby of the primary; commits wait for it from then on
	rm -rf "$pg_folder/$1/data"
	pg_as "$pg_bin/pg_basebackup" -h "$pg_folder/$pg_primary" -U freshet -D "$pg_folder/$1/data" -R -X stream -c fast -N \
		> "$pg_folder/$1/backup" 2>&1 || { cat "$pg_folder/$1/backup" >&2; return 1; }
	pg_up "$1" || return 1
	pg_psql "$pg_primary" "ALTER SYSTEM SET synchronous_standby_names = '*'" && pg_psql "$pg_primary" 'SELECT pg_reload_conf()' > /dev/null
	for _ in $(seq 600); do
		[ "$(pg_psql "$pg_primary" "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")" = 1 ] && return
		sleep 0.1
	done
	echo "the standby does not follow" >&2; return 1
}
pg_pair() {
	pg_bin=$(pg_programs)
	[ -n "$pg_bin" ] || { echo "no PostgreSQL here: scripts/deps installs it" >&2; return 1; }
	pg_folder=$(env -u TMPDIR mktemp -d /tmp/freshet-pg.XXXXXX) pg_primary=a
	mkdir "$pg_folder/a" "$pg_folder/b"
	[ "$(id -u)" != 0 ] || chown -R "$(id -u postgres 2> /dev/null || id -u nobody)" "$pg_folder"
	pg_as "$pg_bin/initdb" -D "$pg_folder/a/data" -A trust -U freshet -E UTF8 --locale=C -N > "$pg_folder/a/init" 2>&1 ||
		{ cat "$pg_folder/a/init" >&2; return 1; }
	pg_url="postgresql:///postgres?user=freshet&host=$pg_folder/a,$pg_folder/b&target_session_attrs=read-write"
	pg_up a && pg_attach b
}
pg_failover() { # the primary dies, the standby takes over; its command is run in between
	local id old=$pg_primary children
	id=$(head -n 1 "$pg_folder/$old/data/postmaster.pid")
	children=$(pgrep -P "$id" || true)
	kill -9 "$id"
	for id in $id $children; do while kill -0 "$id" 2> /dev/null; do sleep 0.02; done; done
	${1:-:}
	[ "$old" = a ] && pg_primary=b || pg_primary=a
	pg_as "$pg_bin/pg_ctl" -D "$pg_folder/$pg_primary/data" -w -t 60 -s promote
}
pg_pair_remove() {
	local s
	for s in a b; do pg_as "$pg_bin/pg_ctl" -D "$pg_folder/$s/data" -w -s -m immediate stop > /dev/null 2>&1 || true; done
	rm -rf "$pg_folder"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	trap '' INT HUP TERM    # the end of the input is the way to stop it
	pg_make && pg_start || { [ -z "${pg_folder:-}" ] || pg_remove; exit 1; }
	echo "$pg_url"
	exec 1>&-
	cat > /dev/null
	pg_remove
fi
