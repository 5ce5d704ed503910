/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c - see schema.h.
 *
 * `shard` leads every key.  So each statement touches one shard, and a database that deals
 * out its tables by that column serves the same statements.  Captures and visits are
 * divided by year: old history goes with DROP TABLE, not with a DELETE of hours.  No foreign
 * keys: one program writes a shard at a time (store_pg.c), and every row is checked when it
 * is read (row.h).
 */
#include "repo/pg/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/when.h"

/* migrations[v] takes the tables from version v to v + 1. */
static const char *const migrations[PG_SCHEMA] = {
	[1] = pg_schema_fleet,
	[2] =
	"ALTER TABLE pages ADD COLUMN touched bigint NOT NULL DEFAULT 0;"
	"ALTER TABLE pages ADD COLUMN notifier bigint NOT NULL DEFAULT 0;"
	"CREATE INDEX pages_touched ON pages (shard, number) WHERE touched > 0;"
	"COMMENT ON COLUMN pages.touched IS 'When somebody said that it changed; 0: a visit has looked since';"
	"COMMENT ON COLUMN pages.notifier IS 'Who said so: a line of the state notifiers, from 1';",
	/* lz4 takes a third of the time of pglz; a server older than 14, or built without it, has none */
	[3] =
	"DO $$BEGIN EXECUTE 'ALTER TABLE bodies ALTER body SET COMPRESSION lz4';"
	" EXCEPTION WHEN syntax_error OR feature_not_supported OR invalid_parameter_value THEN NULL;"
	" END$$;",
	/* a row for each write; none of them is large enough to be worth compressing */
	[4] =
	"ALTER TABLE sent ALTER cycle TYPE bigint[] USING ARRAY[cycle],"
	" ALTER place TYPE bigint[] USING ARRAY[place], ALTER page TYPE bigint[] USING ARRAY[page],"
	" ALTER reason TYPE smallint[] USING ARRAY[reason],"
	" ALTER read TYPE smallint[] USING ARRAY[read::int::smallint],"
	" SET (toast_tuple_target = 8160);"
	"COMMENT ON TABLE sent IS 'Journal of requests under way, a row for each write; empty between cycles';"
	"COMMENT ON COLUMN sent.token IS 'Drawn by its writer: repeated after a lost connection, it is written once';"
	"COMMENT ON COLUMN sent.read IS '1: its answer was read, and is in no batch yet';",
	/* what is 0 in most rows takes no room: a new page has half as many bytes.  The table is written
	 * anew, which may take longer than a statement may else */
	[5] =
	"SET LOCAL statement_timeout = 0;"
	"ALTER TABLE pages ALTER touched DROP DEFAULT, ALTER notifier DROP DEFAULT,"
	" ALTER last_visit DROP NOT NULL, ALTER last_visit TYPE bigint USING nullif(last_visit, 0),"
	" ALTER last_change DROP NOT NULL, ALTER last_change TYPE bigint USING nullif(last_change, 0),"
	" ALTER visits DROP NOT NULL, ALTER visits TYPE bigint USING nullif(visits, 0),"
	" ALTER changes DROP NOT NULL, ALTER changes TYPE bigint USING nullif(changes, 0),"
	" ALTER fails DROP NOT NULL, ALTER fails TYPE bigint USING nullif(fails, 0),"
	" ALTER capture DROP NOT NULL, ALTER capture TYPE bigint USING nullif(capture, 0),"
	" ALTER hint DROP NOT NULL, ALTER hint TYPE bigint USING nullif(hint, 0),"
	" ALTER hint_seen DROP NOT NULL, ALTER hint_seen TYPE bigint USING nullif(hint_seen, 0),"
	" ALTER found DROP NOT NULL, ALTER found TYPE bigint USING nullif(found, 0),"
	" ALTER fails_gone DROP NOT NULL, ALTER fails_gone TYPE bigint USING nullif(fails_gone, 0),"
	" ALTER touched DROP NOT NULL, ALTER touched TYPE bigint USING nullif(touched, 0),"
	" ALTER notifier DROP NOT NULL, ALTER notifier TYPE bigint USING nullif(notifier, 0),"
	" ALTER weight DROP NOT NULL, ALTER weight TYPE double precision USING nullif(weight, 1),"
	" ALTER captured DROP NOT NULL, ALTER captured TYPE bigint USING nullif(captured, -9223372036854775808);"
	/* `copy` of older programs left this at 0, so that ids were given twice */
	"UPDATE drawn d SET captures = greatest(captures, (SELECT max(id) FROM captures c WHERE c.shard"
	" = d.shard));"
	"COMMENT ON TABLE pages IS 'Pages that are kept fresh. Times are Unix seconds: to_timestamp(). NULL: 0 (weight: 1), for a time never';"
	"COMMENT ON COLUMN pages.weight IS 'Importance; NULL: 1, which is usual';"
	"COMMENT ON COLUMN pages.capture IS 'captures.id of the newest good copy; NULL: none';"
	"COMMENT ON COLUMN pages.captured IS 'Time of its last capture; NULL: none';"
	"COMMENT ON COLUMN pages.found IS 'Cycle in which discovery added it; NULL: the user did';"
	"COMMENT ON COLUMN pages.touched IS 'When somebody said that it changed; NULL: a visit has looked since';",
	[0] =
	"CREATE TABLE shards (shard int PRIMARY KEY, batch bigint NOT NULL DEFAULT 0,"
	" token bigint NOT NULL DEFAULT 0, pages bigint NOT NULL DEFAULT 0,"
	" files bigint NOT NULL DEFAULT 0, past bigint NOT NULL DEFAULT 0);"
	"CREATE TABLE drawn (shard int PRIMARY KEY, captures bigint NOT NULL DEFAULT 0);"
	"CREATE TABLE holders (shard int PRIMARY KEY, pid int NOT NULL, host text NOT NULL,"
	" process bigint NOT NULL, since bigint NOT NULL);"
	"CREATE TABLE settings (shard int, key text, value text NOT NULL,"
	" PRIMARY KEY (shard, key));"
	"CREATE TABLE states (shard int, worker text, key text, value text NOT NULL,"
	" PRIMARY KEY (shard, worker, key));"
	"CREATE TABLE pages (shard int, number bigint, key bigint NOT NULL, url text NOT NULL,"
	" added bigint NOT NULL, last_visit bigint NOT NULL, last_change bigint NOT NULL,"
	" visits bigint NOT NULL, changes bigint NOT NULL, fails bigint NOT NULL,"
	" state smallint NOT NULL, capture bigint NOT NULL, hint bigint NOT NULL,"
	" hint_seen bigint NOT NULL, found bigint NOT NULL, weight double precision NOT NULL,"
	" given text, care smallint NOT NULL,"
	" fails_gone bigint NOT NULL, captured bigint NOT NULL, PRIMARY KEY (shard, number))"
	" WITH (fillfactor = 80);"
	"CREATE INDEX pages_key ON pages (shard, key);"
	"CREATE TABLE captures (shard int NOT NULL, id bigint NOT NULL, page bigint NOT NULL,"
	" time bigint NOT NULL, status int NOT NULL, revisit boolean NOT NULL, mime text,"
	" digest text, prose text, tags text, title text, etag text, modified text,"
	" simhash bigint, length bigint, bytes_text bigint, words bigint, images bigint,"
	" tables bigint, emails bigint, outlinks bigint, links bigint, terms bigint, file bigint,"
	" \"offset\" bigint, size bigint, target text, robots text,"
	" PRIMARY KEY (shard, page, time)) PARTITION BY RANGE (time);"
	"CREATE INDEX captures_id ON captures (shard, id);"
	"CREATE TABLE bodies (shard int, key bigint, body text NOT NULL,"
	" PRIMARY KEY (shard, key));"
	"CREATE TABLE files (shard int, id bigint, worker text, name text NOT NULL,"
	" PRIMARY KEY (shard, id));"
	"CREATE INDEX files_name ON files (shard, name);"
	"CREATE TABLE words (shard int, number bigint, word text NOT NULL,"
	" PRIMARY KEY (shard, number));"
	"CREATE TABLE visits (shard int NOT NULL, cycle bigint NOT NULL, ord bigint NOT NULL,"
	" page bigint NOT NULL, time bigint NOT NULL, outcome smallint NOT NULL,"
	" reason smallint NOT NULL, status int NOT NULL, hit boolean NOT NULL, score real,"
	" probability real, capture bigint NOT NULL, cause smallint NOT NULL,"
	" extra bigint NOT NULL, place bigint NOT NULL,"
	" PRIMARY KEY (shard, cycle, ord, time)) PARTITION BY RANGE (time);"
	"CREATE INDEX visits_page ON visits (shard, page, cycle);"
	"CREATE TABLE cycles (shard int, number bigint, time bigint NOT NULL,"
	" open boolean NOT NULL, policy text NOT NULL, seed bigint NOT NULL,"
	" budget bigint NOT NULL, downloads bigint NOT NULL, fresh bigint NOT NULL,"
	" changed bigint NOT NULL, same bigint NOT NULL, gone bigint NOT NULL,"
	" failed bigint NOT NULL, blocked bigint NOT NULL, seconds_plan double precision NOT NULL,"
	" seconds_total double precision NOT NULL, goal smallint NOT NULL,"
	" clients boolean NOT NULL, pages bigint NOT NULL, owed bigint NOT NULL,"
	" PRIMARY KEY (shard, number));"
	"CREATE TABLE rounds (shard int, cycle bigint, number bigint, after bigint NOT NULL,"
	" PRIMARY KEY (shard, cycle, number));"
	"CREATE TABLE leases (shard int, cycle bigint, place bigint, page bigint NOT NULL,"
	" client text NOT NULL, since bigint NOT NULL, until bigint NOT NULL,"
	" requests bigint NOT NULL, event bigint NOT NULL, state smallint NOT NULL,"
	" reason smallint NOT NULL, score real, probability real,"
	" PRIMARY KEY (shard, cycle, place));"
	"CREATE TABLE care (shard int, cycle bigint, ord bigint, page bigint NOT NULL,"
	" care smallint NOT NULL, time bigint NOT NULL, PRIMARY KEY (shard, cycle, ord));"
	"CREATE INDEX care_page ON care (shard, page);"
	"CREATE TABLE tagged (shard int, tag text, page bigint, PRIMARY KEY (shard, tag, page));"
	"CREATE INDEX tagged_page ON tagged (shard, page);"
	"CREATE TABLE sent (shard int, id bigint GENERATED ALWAYS AS IDENTITY,"
	" token bigint NOT NULL, cycle bigint NOT NULL, place bigint NOT NULL,"
	" page bigint NOT NULL, reason smallint NOT NULL, read boolean NOT NULL,"
	" PRIMARY KEY (shard, id), UNIQUE (shard, token));"
	"CREATE TABLE hints (shard int, site text, checks bigint NOT NULL, hits bigint NOT NULL,"
	" told bigint NOT NULL, read bigint NOT NULL, doubt bigint NOT NULL,"
	" PRIMARY KEY (shard, site));"
	"CREATE TABLE robots (shard int, origin text, time bigint NOT NULL, status int NOT NULL,"
	" cut boolean NOT NULL, body bytea, tried bigint NOT NULL, failing bigint NOT NULL,"
	" PRIMARY KEY (shard, origin));"
	"INSERT INTO shards (shard) VALUES (0); INSERT INTO drawn (shard) VALUES (0);"

	"COMMENT ON TABLE shards IS 'A shard is a repository: pages numbered from 0, and their history';"
	"COMMENT ON COLUMN shards.batch IS 'Batches written so far: who finds another number may not write';"
	"COMMENT ON COLUMN shards.token IS 'Of the last batch, drawn by its writer: was it mine?';"
	"COMMENT ON COLUMN shards.pages IS 'Number of pages; the next page has this number';"
	"COMMENT ON COLUMN shards.files IS 'Number of WARC files; ids go from 1 to this';"
	"COMMENT ON COLUMN shards.past IS 'Raised when history before the newest cycle changes';"
	"COMMENT ON TABLE drawn IS 'Ids given out; apart, so that a batch under way does not lock it';"
	"COMMENT ON COLUMN drawn.captures IS 'The highest id of a capture';"
	"COMMENT ON TABLE holders IS 'Who holds the lock of a shard, or held it last';"
	"COMMENT ON TABLE settings IS 'What the user has set: freshet set';"
	"COMMENT ON TABLE states IS 'What the program remembers';"
	"COMMENT ON COLUMN states.worker IS 'Of which worker; empty: of the shard';"
	"COMMENT ON TABLE pages IS 'Pages that are kept fresh. Times are Unix seconds: to_timestamp(); 0: never';"
	"COMMENT ON COLUMN pages.number IS 'Dense, from 0; never changes';"
	"COMMENT ON COLUMN pages.key IS '64-bit hash of the URL';"
	"COMMENT ON COLUMN pages.url IS 'Canonical';"
	"COMMENT ON COLUMN pages.fails IS 'Failed visits in a row';"
	"COMMENT ON COLUMN pages.fails_gone IS 'Of them, those that were answered \"gone\"';"
	"COMMENT ON COLUMN pages.state IS '0 here, 1 gone, 2 left';"
	"COMMENT ON COLUMN pages.capture IS 'captures.id of the newest good copy; 0: none';"
	"COMMENT ON COLUMN pages.hint IS 'lastmod date of the sitemap';"
	"COMMENT ON COLUMN pages.hint_seen IS 'When that sitemap was read';"
	"COMMENT ON COLUMN pages.found IS 'Cycle in which discovery added it; 0: the user did';"
	"COMMENT ON COLUMN pages.weight IS 'Importance; 1 is usual';"
	"COMMENT ON COLUMN pages.given IS 'URL as the user wrote it; NULL: the same as url';"
	"COMMENT ON COLUMN pages.captured IS 'Time of its last capture; the least number: none';"
	"COMMENT ON COLUMN pages.care IS '0 under care; or-ed 1 removed, 2 paused, 4 its site is paused, 8 out of scope';"
	"COMMENT ON TABLE captures IS 'Copies of pages, one a second at most. A partition a year: drop one to forget it';"
	"COMMENT ON COLUMN captures.links IS 'bodies.key of its links';"
	"COMMENT ON COLUMN captures.terms IS 'bodies.key of its words and their counts';"
	"COMMENT ON COLUMN captures.file IS 'files.id of the WARC file';"
	"COMMENT ON COLUMN captures.\"offset\" IS 'Of the record in that file, bytes';"
	"COMMENT ON COLUMN captures.target IS 'URL that answered after redirects';"
	"COMMENT ON TABLE bodies IS 'Texts that captures share, by 64-bit hash';"
	"COMMENT ON TABLE files IS 'WARC files: which worker has them, and their names in its folder';"
	"COMMENT ON TABLE words IS 'The words that bodies of terms count, by number';"
	"COMMENT ON TABLE visits IS 'Requests for pages and what came of them. A partition a year: drop one to forget it';"
	"COMMENT ON COLUMN visits.cycle IS '0: imported history';"
	"COMMENT ON COLUMN visits.ord IS 'In the cycle, as told, from 1';"
	"COMMENT ON COLUMN visits.outcome IS '0 same, 1 changed, 2 gone, 3 failed, 4 blocked';"
	"COMMENT ON COLUMN visits.hit IS 'It found a change';"
	"COMMENT ON COLUMN visits.extra IS 'Requests after the first';"
	"COMMENT ON COLUMN visits.place IS 'In the cycle, as planned, from 1; 0: not planned';"
	"COMMENT ON TABLE cycles IS 'Cycles: what was planned, and what came of it';"
	"COMMENT ON COLUMN cycles.open IS 'Begun and not ended';"
	"COMMENT ON COLUMN cycles.clients IS 'Opened for other crawlers';"
	"COMMENT ON COLUMN cycles.pages IS 'Pages of the shard when it began; 0: not known';"
	"COMMENT ON COLUMN cycles.owed IS 'Requests beyond the budgets before, not paid yet';"
	"COMMENT ON TABLE care IS 'Each change of pages.care; cycle: the newest when it happened';"
	"COMMENT ON TABLE tagged IS 'Tags of pages';"
	"COMMENT ON TABLE rounds IS 'Rounds of a cycle; after: events before it was planned';"
	"COMMENT ON TABLE leases IS 'Offers of the open cycle to other crawlers';"
	"COMMENT ON COLUMN leases.state IS '0 out, 1 told, 2 released, 3 lapsed';"
	"COMMENT ON TABLE sent IS 'Journal of requests under way; empty between cycles';"
	"COMMENT ON COLUMN sent.token IS 'Drawn by its writer: repeated after a lost connection, it is written once';"
	"COMMENT ON COLUMN sent.read IS 'Its answer was read, and is in no batch yet';"
	"COMMENT ON TABLE hints IS 'Trust in the sitemap dates and validators of a site';"
	"COMMENT ON TABLE robots IS 'The robots.txt of an origin, as fetched last';",
};

/* -1: there are no tables; -2: nor is there a schema. */
static int read_version(struct pg_link *l, int *ret, struct err *err)
{
	PGresult *r = NULL;
	char sql[400];
	int rc;

	/* to_regclass() fails on a schema that we may not use; has_schema_privilege() says so */
	snprintf(sql, sizeof sql, "SELECT count(*), coalesce(bool_or(has_schema_privilege(oid, "
	         "'USAGE')), false) FROM pg_namespace WHERE nspname = '%s'", l->target->schema);
	if ((rc = pg_link_run(l, sql, &r, err)) < 0)
		return rc;
	if (!atoi(pg_link_cell(r, 0))) {
		*ret = -2;
		PQclear(r);
		return 0;
	}
	if (*pg_link_cell(r, 1) != 't')
		rc = err_set(err, E_STORE, "%s: the role may not use this schema: GRANT USAGE ON SCHEMA "
		             "%s, or see docs/stores.md", l->target->shown, l->target->schema);
	PQclear(r);
	snprintf(sql, sizeof sql, "SELECT to_regclass('%s.freshet') IS NOT NULL",
	         l->target->schema);
	if (rc < 0 || (rc = pg_link_run(l, sql, &r, err)) < 0)
		return rc;
	*ret = -1;
	if (*pg_link_cell(r, 0) == 't') {
		PQclear(r);
		rc = pg_link_run(l, "SELECT version FROM freshet", &r, err);
		if (rc == 0)
			*ret = PQntuples(r) ? atoi(pg_link_cell(r, 0)) : -1;
	}
	if (rc == 0)
		PQclear(r);
	return rc;
}

static int make_schema(struct pg_link *l, struct err *err)
{
	char sql[200];
	int rc;

	snprintf(sql, sizeof sql, "CREATE SCHEMA IF NOT EXISTS %s", l->target->schema);
	rc = pg_link_run(l, sql, NULL, err);
	if (rc == E_STORE)
		return err_set(err, E_STORE, "%s: the role may not make the schema %s in this "
		               "database: let an administrator run CREATE SCHEMA %s AUTHORIZATION role "
		               "(docs/stores.md has the whole text)", l->target->shown,
		               l->target->schema, l->target->schema);
	return rc;
}

/* One step, unless another program has done it meanwhile. */
static int migrate_once(struct pg_link *l, int version, struct err *err)
{
	char done[200];
	int now = version, rc = pg_link_run(l, "BEGIN", NULL, err);

	/* the lock of all who migrate in this database */
	if (rc == 0)
		rc = pg_link_run(l, "SELECT pg_advisory_xact_lock(7311142)", NULL, err);
	if (rc == 0)
		rc = read_version(l, &now, err);
	if (rc == 0 && now == version) {
		if (version < 0) {
			version = 0;
			rc = pg_link_run(l, "CREATE TABLE freshet (version int NOT NULL);"
			                 "INSERT INTO freshet VALUES (0);"
			                 "COMMENT ON TABLE freshet IS 'Version of these tables'", NULL, err);
		}
		if (rc == 0)
			rc = pg_link_run(l, migrations[version], NULL, err);
		snprintf(done, sizeof done, "UPDATE freshet SET version = %d", version + 1);
		if (rc == 0)
			rc = pg_link_run(l, done, NULL, err);
	}
	if (rc == 0)
		rc = pg_link_run(l, "COMMIT", NULL, err);
	if (rc < 0 && l->conn)
		(void)!pg_link_run(l, "ROLLBACK", NULL, NULL);
	if (rc == E_STORE)
		err_prefix(err, "the tables were not made, or not brought up to date");
	return rc;
}

int pg_schema_bring(struct pg_link *l, int version, int to, struct err *err)
{
	int rc = version == -2 ? make_schema(l, err) : 0;

	version = version == -2 ? -1 : version;
	while (rc == 0 && version < to) {
		rc = migrate_once(l, version, err);
		version = version < 0 ? 1 : version + 1;
	}
	return rc;
}

int pg_schema_check(struct pg_link *l, bool make, struct err *err)
{
	int version = 0, rc = read_version(l, &version, err);

	if (rc == 0 && version < 0 && !make)
		return err_set(err, E_STORE, "%s: no repository here: `freshet init --store URL` "
		               "makes one", l->target->shown);
	if (rc == 0 && version > PG_SCHEMA)
		return err_set(err, E_STORE, "%s: made by a newer freshet (tables of version %d, this "
		               "one knows %d): upgrade", l->target->shown, version, PG_SCHEMA);
	if (rc == 0 && l->reads_only && version < PG_SCHEMA)
		return err_set(err, E_STORE, "%s: made by an older freshet (tables of version %d, not "
		               "%d): run a command that writes once", l->target->shown, version,
		               PG_SCHEMA);
	return rc < 0 ? rc : pg_schema_bring(l, version, PG_SCHEMA, err);
}

unsigned pg_schema_part(int64_t time)
{
	char digits[15];
	int year;

	when_digits(time, digits);
	digits[4] = '\0';
	year = atoi(digits);
	return year < PG_PART_FIRST ? 0 : year > PG_PART_LAST ? PG_PARTS - 1 :
	       (unsigned)(year - PG_PART_FIRST + 1);
}

void pg_schema_part_name(unsigned part, char out[8])
{
	if (part == 0 || part == PG_PARTS - 1)
		snprintf(out, 8, "%s", part ? "after" : "before");
	else
		snprintf(out, 8, "%u", (PG_PART_FIRST - 1 + part) % 10000);
}

static int64_t first_second(unsigned part)
{
	char year[8];
	int64_t t = 0;

	snprintf(year, sizeof year, "%u", (PG_PART_FIRST - 1 + part) % 10000);
	when_parse(year, strlen(year), &t);
	return t;
}

void pg_schema_part_make(struct buf *sql, const char *table, unsigned part)
{
	char name[8], from[32] = "MINVALUE", to[32] = "MAXVALUE";

	pg_schema_part_name(part, name);
	if (part > 0)
		snprintf(from, sizeof from, "%lld", (long long)first_second(part));
	if (part < PG_PARTS - 1)
		snprintf(to, sizeof to, "%lld", (long long)first_second(part + 1));
	/* ATTACH does not wait for who reads the other partitions; CREATE ... PARTITION OF
	 * would.  A second to_regclass() would say again that there is none: it is answered from what
	 * the connection knows, and waiting for the lock of another that made it tells it nothing new. */
	buf_printf(sql, "DO $$BEGIN IF to_regclass('%s_%s') IS NULL THEN "
	           "PERFORM pg_advisory_xact_lock(7311142); "
	           "IF NOT EXISTS (SELECT FROM pg_class p JOIN pg_class t ON t.relnamespace = "
	           "p.relnamespace WHERE t.oid = '%s'::regclass AND p.relname = '%s_%s') THEN "
	           "CREATE TABLE %s_%s (LIKE %s INCLUDING ALL); "
	           "ALTER TABLE %s ATTACH PARTITION %s_%s FOR VALUES FROM (%s) TO (%s); "
	           "END IF; END IF; END$$", table, name, table, table, name, table, name, table,
	           table, table, name, from, to);
}
