/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_fleet.c - the tables of the ledger: what the workers of a fleet agree on
 * (repo/fleet/fleet.h).  All times in them are those of the server's clock.
 *
 * A fence is a row of its own: writers of a shard hold it (FOR SHARE) while they write, and
 * renewals of the lease, in fleet_shards, need not wait for them.
 */
#include "repo/pg/schema.h"

const char pg_schema_fleet[] =
	"CREATE TABLE fleet (id int PRIMARY KEY CHECK (id = 1), epoch bigint NOT NULL);"
	"INSERT INTO fleet VALUES (1, 1);"
	"CREATE TABLE fleet_shards (shard int PRIMARY KEY, low bigint NOT NULL, high bigint NOT "
	"NULL CHECK (low < high), worker text NOT NULL DEFAULT '', until timestamptz NOT NULL "
	"DEFAULT '-infinity', free timestamptz NOT NULL DEFAULT '-infinity', lost boolean NOT "
	"NULL DEFAULT false, cycle bigint NOT NULL DEFAULT 0, done boolean NOT NULL DEFAULT true,"
	" here bigint, state text NOT NULL DEFAULT '', bid bytea, splitting int);"
	"CREATE TABLE fleet_fences (shard int PRIMARY KEY, fence bigint NOT NULL DEFAULT 0);"
	"CREATE TABLE fleet_cycles (number bigint PRIMARY KEY, slot bigint NOT NULL, opened "
	"bigint NOT NULL, every bigint NOT NULL, policy text NOT NULL, aim text NOT NULL, pages "
	"bigint NOT NULL, budget bigint NOT NULL, granted bigint NOT NULL DEFAULT 0, price double "
	"precision NOT NULL DEFAULT 0, CHECK (granted BETWEEN 0 AND budget));"
	"CREATE TABLE fleet_grants (cycle bigint, shard int, granted bigint NOT NULL CHECK "
	"(granted >= 0), downloads bigint NOT NULL DEFAULT 0, fresh bigint NOT NULL DEFAULT 0, "
	"changed bigint NOT NULL DEFAULT 0, same bigint NOT NULL DEFAULT 0, gone bigint NOT NULL "
	"DEFAULT 0, failed bigint NOT NULL DEFAULT 0, blocked bigint NOT NULL DEFAULT 0, seconds "
	"double precision NOT NULL DEFAULT 0, own bigint NOT NULL DEFAULT 0, worker text NOT NULL "
	"DEFAULT '', PRIMARY KEY (shard, cycle));"
	"CREATE TABLE fleet_workers (worker text PRIMARY KEY, host text NOT NULL, process bigint "
	"NOT NULL, started timestamptz NOT NULL, seen timestamptz NOT NULL, version text NOT NULL,"
	" take int NOT NULL, ahead double precision NOT NULL, requests bigint NOT NULL, stopped "
	"boolean NOT NULL);"
	"CREATE TABLE fleet_inbox (shard int, id bigint GENERATED ALWAYS AS IDENTITY, kind text "
	"NOT NULL, body text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY "
	"KEY (shard, id));"
	"INSERT INTO fleet_shards (shard, low, high) SELECT shard, 0, 4294967296 FROM shards;"
	"INSERT INTO fleet_fences (shard) SELECT shard FROM shards;"

	"COMMENT ON TABLE fleet IS 'The fleet; epoch: raised when its shards change';"
	"COMMENT ON TABLE fleet_shards IS 'Shards: which domains (hash from low to high), who holds the lease';"
	"COMMENT ON COLUMN fleet_shards.until IS 'When the lease ends; in the past: nobody has it';"
	"COMMENT ON COLUMN fleet_shards.free IS 'Since when nobody has it: who waited longest is next';"
	"COMMENT ON COLUMN fleet_shards.lost IS 'The last lease was not given back, it ended: hosts wait a full delay';"
	"COMMENT ON COLUMN fleet_shards.cycle IS 'The cycle of the fleet that it is in, or was last';"
	"COMMENT ON COLUMN fleet_shards.done IS 'It has done its part of that cycle';"
	"COMMENT ON COLUMN fleet_shards.here IS 'Pages that can be asked for; NULL: count them';"
	"COMMENT ON COLUMN fleet_shards.bid IS 'Its last demand curve: engine/market';"
	"COMMENT ON COLUMN fleet_shards.splitting IS 'The new shard that takes half of it; NULL: none';"
	"COMMENT ON TABLE fleet_fences IS 'Raised with each lease: who has an older number may not write';"
	"COMMENT ON TABLE fleet_cycles IS 'Cycles of the fleet; granted never passes budget';"
	"COMMENT ON TABLE fleet_grants IS 'The part of each shard: what it was granted, and what came of it';"
	"COMMENT ON COLUMN fleet_grants.own IS 'Number of this cycle in the shard';"
	"COMMENT ON TABLE fleet_workers IS 'Workers and their heartbeats';"
	"COMMENT ON COLUMN fleet_workers.ahead IS 'Seconds that its clock is ahead of the server''s';"
	"COMMENT ON TABLE fleet_inbox IS 'What others want of a shard; who holds it applies it';";
