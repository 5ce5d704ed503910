/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All stores of stores.def are one: a random walk through every call of store.h, done on
 * each of them, in and out of batches, with rollbacks and new starts.  Every field of every
 * row that comes back is written down, and what the stores gave must be equal.  (What the
 * first store gives is checked by hand in store_test.c, care_test.c and others.)
 *
 * Ids of captures may differ between stores: they are written as the number of the capture
 * in the walk.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "repo/store.h"
#include "../../lib/pg.h"
#include "../../lib/rows.h"
#include "../../lib/whole.h"
#include "../../lib/scratch.h"

#define STEPS 250
#define CAPTURES_MAX 4000

enum {
#define STORE(x) STORE_##x,
#include "repo/stores.def"
#undef STORE
	N_STORES
};

struct side {
	struct store *s;
	char where[PG_URL + SCRATCH_PATH];
	struct rows rows;               /* all that it gave in this step */
	uint64_t ids[CAPTURES_MAX];     /* of the captures of the walk */
};

static struct side sides[N_STORES];
static uint64_t random_state;
static size_t n_captures, saved_captures;
static uint32_t n_pages, n_words, n_cycles, saved_pages, saved_words, saved_cycles;
static int64_t seconds[CAPTURES_MAX];
static bool in_batch;

static uint64_t next(void)
{
	return rng_mix(random_state++);
}

static uint32_t pick(uint32_t n)
{
	return (uint32_t)(next() % (n ? n : 1));
}

static struct text words_of(const char *s)
{
	return (struct text){ s, strlen(s) };
}

/* A text, or none; sometimes bytes that are no text.  Valid until 64 more are drawn. */
static struct text some_text(void)
{
	static char pool[64][24];
	static unsigned next;
	char *s = pool[next++ % 64];
	size_t size = pick(20);

	if (!pick(6))
		return (struct text){ 0 };
	for (size_t i = 0; i < size; i++)
		s[i] = pick(8) ? (char)('a' + pick(26)) : (char)pick(256);
	s[size] = '\0';
	return (struct text){ s, size };
}

#define EACH(d) for (struct side *d = sides; d < sides + N_STORES; d++)
#define DO(d, call) do { \
		int rc_ = (call); \
		buf_printf(&(d)->rows.out, "= %d\n", rc_); \
		if (rc_ < 0) \
			fail_msg("%s: %s: %s", (d)->where, #call, err.text); \
	} while (0)

static void add_pages(void)
{
	struct store_page rows[20];
	char urls[20][40];
	bool fresh[20];
	uint32_t n = pick(20) + 1, numbers[20];
	struct text texts[20];
	struct err err;

	for (uint32_t i = 0; i < n; i++) {
		snprintf(urls[i], sizeof urls[i], "http://h%u.example/%u", pick(5), pick(60));
		texts[i] = words_of(urls[i]);
		rows[i] = (struct store_page){ .url = texts[i], .added = pick(100000), .visits = pick(9),
			.changes = pick(9), .last_visit = pick(2000000000), .found = pick(3),
			.fails = pick(4), .fails_gone = pick(3), .state = (uint8_t)pick(3),
			.weight = pick(100) / 7.0, .hint = pick(9), .hint_seen = pick(9),
			.touched = pick(2) ? pick(9) : 0, .notifier = pick(3) };
		if (pick(2))
			rows[i].given = some_text();
	}
	EACH(d) {
		DO(d, store_pages_find(d->s, texts, n, numbers, &err));
		for (uint32_t i = 0; i < n; i++)
			buf_printf(&d->rows.out, "found %u\n", numbers[i]);
		DO(d, store_pages_add(d->s, rows, n, fresh, &err));
		for (uint32_t i = 0; i < n; i++) {
			buf_printf(&d->rows.out, "added %u %d\n", rows[i].number, fresh[i]);
			if (d == sides && fresh[i])
				n_pages++;
		}
		DO(d, store_pages_find(d->s, texts, n, numbers, &err));
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(numbers[i], rows[i].number);
	}
}

static void change_pages(void)
{
	struct store_page_change rows[10];
	uint32_t n = pick(10), numbers[12], capture = pick((uint32_t)n_captures);
	struct store_page p;
	struct err err;

	for (uint32_t i = 0; i < n; i++) {
		rows[i] = (struct store_page_change){ .number = pick(n_pages), .set = pick(1 << 12),
			.visits = pick(5), .changes = pick(2), .to = { .last_visit = pick(99999),
			.last_change = pick(99999), .fails = pick(9), .fails_gone = pick(9),
			.state = (uint8_t)pick(3), .hint = pick(999), .hint_seen = pick(999),
			.found = pick(9), .weight = pick(50) / 3.0, .given = some_text(),
			.touched = pick(2) ? pick(99) : 0, .notifier = pick(9) } };
		if (!rows[i].to.given.s)
			rows[i].set &= ~(unsigned)STORE_SET_GIVEN;
	}
	for (uint32_t i = 0; i < 12; i++)
		numbers[i] = pick(n_pages + 3);
	EACH(d) {
		for (uint32_t i = 0; i < n; i++)
			rows[i].to.capture = n_captures ? d->ids[capture] : 0;
		DO(d, store_pages_change(d->s, rows, n, &err));
		DO(d, store_pages_get(d->s, numbers, 12, rows_page, &d->rows, &err));
		DO(d, store_page_get(d->s, numbers[0], &p, &err));
		DO(d, store_pages_touched(d->s, rows_page, &d->rows, &err));
	}
}

static void put_captures(void)
{
	struct store_capture rows[8];
	uint8_t how[8];
	uint32_t n = pick(8) + 1, way = pick(3), ids_of[10], seen[5];
	size_t first = n_captures;
	char file[20];
	struct err err;

	snprintf(file, sizeof file, "warc/%u.gz", pick(4));
	if (n_captures + n > CAPTURES_MAX || !n_pages)
		return;
	for (uint32_t i = 0; i < n; i++)
		rows[i] = (struct store_capture){ .page = pick(n_pages),
			/* years 1970 to 2033, often the same second again */
			.time = n_captures && pick(2) ? seconds[pick((uint32_t)n_captures)] :
			        pick(2000000000),
			.status = (int)pick(4) * 100 + 200, .revisit = !pick(4), .mime = some_text(),
			.digest = some_text(), .prose = some_text(), .tags = some_text(),
			.title = some_text(), .etag = some_text(), .modified = some_text(),
			.has_simhash = pick(2) != 0, .simhash = next(),
			.length = (int64_t)pick(99) - 1, .bytes_text = (int64_t)pick(3) - 1,
			.words = (int64_t)pick(3) - 1, .images = (int64_t)pick(3) - 1,
			.tables = (int64_t)pick(3) - 1, .emails = -1, .outlinks = pick(9),
			.links = pick(3) ? words_of("/a /b") : some_text(), .terms = some_text(),
			.robots = some_text(), .file = pick(3) ? words_of(file) : (struct text){ 0 },
			.worker = pick(3) ? (struct text){ 0 } : words_of("north"), .offset = pick(9),
			.size = pick(9) };
	for (int i = 0; i < 10; i++)
		ids_of[i] = pick((uint32_t)first);
	for (int i = 0; i < 5; i++)
		seen[i] = pick(n_pages);
	EACH(d) {
		struct store_capture own[8];
		uint64_t ids[10];

		for (uint32_t i = 0; i < n; i++) {
			own[i] = rows[i];
			if (!own[i].file.s)
				own[i].worker.s = NULL, own[i].worker.size = 0;
		}
		DO(d, store_captures_put(d->s, own, n, (enum store_second)way, how, &err));
		n_captures = first;
		for (uint32_t i = 0; i < n; i++) {
			buf_printf(&d->rows.out, "put %u %lld\n", how[i], (long long)own[i].time);
			if (how[i] == STORE_ADDED) {
				seconds[n_captures] = own[i].time;
				d->ids[n_captures++] = own[i].id;
			}
			rows_id(&d->rows, own[i].id);
		}
		for (int i = 0; i < 10; i++)
			ids[i] = first ? d->ids[ids_of[i]] : 0;
		DO(d, store_captures_get(d->s, ids, 10, rows_capture, &d->rows, &err));
		DO(d, store_captures(d->s, seen, 5, rows_capture, &d->rows, &err));
	}
}

static int rows_file(void *arg, struct text worker, struct text name, struct err *err)
{
	struct rows *d = arg;

	(void)err;
	buf_printf(&d->out, "file %.*s %.*s\n", (int)worker.size, worker.s ? worker.s : "",
	           (int)name.size, name.s);
	return 0;
}

/* Some captures go, others move to another file and to a third; the one between is dropped. */
static void prune_captures(void)
{
	uint32_t which[6], seen = pick(n_pages);
	struct err err;

	if (!n_captures)
		return;
	for (int i = 0; i < 6; i++)
		which[i] = pick((uint32_t)n_captures);
	saved_pages = n_pages;
	saved_words = n_words;
	saved_cycles = n_cycles;
	saved_captures = n_captures;
	EACH(d) {       /* in a batch before others are put */
		DO(d, store_commit(d->s, &err));
		DO(d, store_begin(d->s, &err));
	}
	EACH(d) {
		struct store_moved moved[2], again[2];
		uint64_t ids[6];

		for (int i = 0; i < 6; i++)
			ids[i] = d->ids[which[i]];
		for (int i = 0; i < 2; i++) {
			moved[i] = (struct store_moved){ .capture = ids[i], .file = words_of("between.gz"),
				.offset = i, .size = i + 5 };
			again[i] = moved[i];
			again[i].file = words_of("warc/0.gz");
		}
		DO(d, store_captures_drop(d->s, ids + 2, 4, &err));
		DO(d, store_captures_move(d->s, moved, 2 - (which[0] == which[1]), &err));
		DO(d, store_files(d->s, rows_file, &d->rows, &err));
		DO(d, store_captures_get(d->s, ids, 6, rows_capture, &d->rows, &err));
		DO(d, store_captures_move(d->s, again, 2 - (which[0] == which[1]), &err));
		DO(d, store_file_drop(d->s, (struct text){ 0 }, words_of("between.gz"), &err));
		DO(d, store_files(d->s, rows_file, &d->rows, &err));
		DO(d, store_captures(d->s, &seen, 1, rows_capture, &d->rows, &err));
	}
}

static void refresh_captures(void)
{
	struct store_headers rows[4];
	uint32_t which[4];
	struct err err;

	for (int i = 0; i < 4; i++) {
		which[i] = pick((uint32_t)n_captures);
		rows[i] = (struct store_headers){ 0, some_text(), some_text(), some_text() };
	}
	EACH(d) {
		for (int i = 0; i < 4; i++)
			rows[i].capture = n_captures ? d->ids[which[i]] : 0;
		DO(d, store_captures_refresh(d->s, rows, 4, &err));
		for (int i = 0; i < 4; i++) {
			struct store_capture c;
			int rc = store_capture_get(d->s, rows[i].capture, &c, &err);

			if (rc > 0)
				rows_capture(&d->rows, &c, &err);
		}
	}
}

static void add_visits(void)
{
	struct store_visit rows[12];
	uint32_t n = pick(12), pages[4], which = pick((uint32_t)n_captures);
	uint64_t past;
	struct err err;

	for (uint32_t i = 0; i < n; i++)
		rows[i] = (struct store_visit){ .cycle = pick(n_cycles + 1), .page = pick(n_pages),
			.time = pick(2000000000), .outcome = (uint8_t)pick(N_OUTCOMES),
			.reason = (uint8_t)pick(9), .cause = (uint8_t)pick(9), .extra = pick(5),
			.status = (int)pick(600), .hit = pick(2) != 0, .place = pick(99),
			.score = pick(3) ? (float)pick(1000) / 7 : NAN,
			.probability = pick(3) ? (float)pick(1000) / 1000 : NAN };
	for (int i = 0; i < 4; i++)
		pages[i] = pick(n_pages);
	EACH(d) {
		for (uint32_t i = 0; i < n && n_pages; i++)
			rows[i].capture = n_captures ? d->ids[which] : 0;
		DO(d, store_visits_add(d->s, rows, n_pages ? n : 0, &err));
		if (n == 3)
			DO(d, store_visits_forget(d->s, pages, n_pages ? 2 : 0, &err));
		if (n == 5)
			DO(d, store_past_raise(d->s, &err));
		DO(d, store_visits_of(d->s, pages, n_pages ? 4 : 0, n % 2, n_cycles + 1, rows_visit, &d->rows, 
		                      &err));
		DO(d, store_visits(d->s, n % 3, n_cycles + 1, rows_visit, &d->rows, &err));
		DO(d, store_past(d->s, &past, &err));
		buf_printf(&d->rows.out, "past %llu\n", (unsigned long long)past);
	}
}

static void put_cycle(void)
{
	struct store_cycle c = { .number = n_cycles && pick(3) ? pick(n_cycles) + 1 : n_cycles + 1,
		.time = pick(2000000000), .open = pick(2) != 0, .clients = pick(2) != 0,
		.goal = (uint8_t)pick(2), .policy = words_of("tide"), .seed = next(),
		.budget = pick(999), .owed = pick(9), .pages = pick(99), .downloads = pick(99), .fresh = pick(9),
		.changed = pick(9), .same = pick(9), .gone = pick(9), .failed = pick(9),
		.blocked = pick(9), .seconds_plan = pick(99) / 7.0, .seconds_total = pick(99) / 3.0 };
	uint32_t after[3] = { pick(9), pick(9), pick(9) }, first = pick(3) + 1;
	bool from_first = pick(2) != 0;
	struct err err;

	n_cycles = c.number > n_cycles ? c.number : n_cycles;
	EACH(d) {
		DO(d, store_cycle_put(d->s, &c, &err));
		DO(d, store_cycles(d->s, from_first ? 0 : n_cycles, rows_cycle, &d->rows, &err));
		DO(d, store_cycles(d->s, STORE_NEWEST, rows_cycle, &d->rows, &err));
		DO(d, store_rounds_add(d->s, c.number, first, after, 3, &err));
		DO(d, store_rounds(d->s, c.number, rows_round, &d->rows, &err));
	}
}

static void put_leases(void)
{
	struct store_lease rows[5];
	struct store_sent sent[4];
	bool forget = !pick(5);
	struct err err;

	for (uint32_t i = 0; i < 5; i++)
		rows[i] = (struct store_lease){ .cycle = n_cycles, .place = pick(8) + 1,
			.page = pick(n_pages), .client = some_text(), .from = pick(99), .until = pick(99),
			.requests = pick(9), .order = pick(9), .state = (uint8_t)pick(N_STORE_LEASE_STATES),
			.reason = (uint8_t)pick(9), .score = (float)pick(9), .probability = NAN };
	for (uint32_t i = 0; i < 4; i++)
		sent[i] = (struct store_sent){ n_cycles, pick(n_pages), pick(9), 3, pick(2) != 0 };
	EACH(d) {
		if (n_pages && n_cycles)        /* those of no cycle are none: whole_check() */
			DO(d, store_leases_put(d->s, rows, 5, &err));
		if (forget)
			DO(d, store_leases_forget(d->s, n_cycles, &err));
		DO(d, store_leases(d->s, n_cycles, rows_lease, &d->rows, &err));
		DO(d, store_sent_add(d->s, sent, 4, &err));
		DO(d, store_sent(d->s, rows_sent, &d->rows, &err));
	}
	if (!pick(4))
		EACH(d)
			DO(d, store_sent_clear(d->s, &err));
}

static void put_care(void)
{
	struct store_care rows[6];
	uint32_t pages[6], n = n_pages ? pick(6) : 0, one = pick(n_pages);
	static const char *const tags[] = { "red", "gr\xc3\xbcn", "blue" };
	struct text tag = words_of(tags[pick(3)]);
	bool on = pick(3) != 0;
	struct err err;

	for (uint32_t i = 0; i < n; i++) {
		rows[i] = (struct store_care){ .page = pick(n_pages), .care = (uint8_t)pick(4) };
		pages[i] = rows[i].page;
	}
	EACH(d) {
		DO(d, store_care_put(d->s, rows, n, 77, &err));
		DO(d, store_tag_put(d->s, tag, pages, n, on, &err));
		DO(d, store_care_log(d->s, STORE_NONE, 0, UINT32_MAX, rows_care, &d->rows, &err));
		DO(d, store_care_log(d->s, one, 0, UINT32_MAX, rows_care, &d->rows, &err));
		DO(d, store_tags(d->s, STORE_NONE, rows_tag, &d->rows, &err));
		DO(d, store_tags(d->s, one, rows_tag, &d->rows, &err));
		DO(d, store_tagged(d->s, tag, rows_tagged, &d->rows, &err));
		DO(d, store_pages_get(d->s, pages, n, rows_page, &d->rows, &err));
	}
}

static void put_settings(void)
{
	static const char *const keys[] = { "a", "budget", "z_z" };
	const char *key = keys[pick(3)], *value = pick(4) ? (pick(2) ? "1 %" : "") : NULL;
	enum store_owner owner = pick(2) ? STORE_OF_SHARD : STORE_OF_WORKER;
	struct err err;

	EACH(d) {
		char *got = NULL;

		DO(d, store_setting_put(d->s, key, value, &err));
		DO(d, store_setting_get(d->s, keys[0], &got, &err));
		buf_printf(&d->rows.out, "%s\n", got ? got : "-");
		free(got);
		DO(d, store_settings(d->s, rows_pair, &d->rows, &err));
		DO(d, store_state_put(d->s, owner, key, value, &err));
		got = NULL;
		DO(d, store_state_get(d->s, owner, keys[1], &got, &err));
		buf_printf(&d->rows.out, "%s\n", got ? got : "-");
		free(got);
		DO(d, store_states(d->s, owner, rows_pair, &d->rows, &err));
	}
}

static void put_sites(void)
{
	char names[3][16], origins[3][24];
	struct text sites[3], places[3];
	struct store_hint_change rows[3];
	struct store_robots robots[3];
	struct text fresh[2] = { some_text(), some_text() };
	int64_t before = pick(99);
	struct err err;

	for (int i = 0; i < 3; i++) {
		snprintf(names[i], sizeof names[i], "h%u", pick(6));
		snprintf(origins[i], sizeof origins[i], "https://h%u:443", pick(6));
		sites[i] = words_of(names[i]);
		places[i] = words_of(origins[i]);
		rows[i] = (struct store_hint_change){ sites[i], pick(5), pick(3), pick(3), pick(99),
		                                      pick(9), pick(2) != 0 };
		robots[i] = (struct store_robots){ places[i], pick(99), (int)pick(600), pick(2) != 0,
		                                   some_text(), pick(99), pick(99) };
	}
	for (int i = 0; i < 2; i++)
		if (!fresh[i].s)
			fresh[i] = words_of("word");
	EACH(d) {
		struct store_hint got[3];
		uint64_t size;

		DO(d, store_hints_get(d->s, sites, before % 2 ? 3 : 1, got, &err));
		for (int i = 0; i < (before % 2 ? 3 : 1); i++)
			rows_hint(&d->rows, sites[i], &got[i], &err);
		DO(d, store_hints_change(d->s, rows, 3, &err));
		DO(d, store_hints_get(d->s, sites, 3, got, &err));
		for (int i = 0; i < 3; i++)
			rows_hint(&d->rows, sites[i], &got[i], &err);
		DO(d, store_hints(d->s, rows_hint, &d->rows, &err));
		DO(d, store_robots_put(d->s, robots, 3, &err));
		DO(d, store_robots(d->s, places, 3, rows_robots, &d->rows, &err));
		if (before < 20)
			DO(d, store_robots_forget(d->s, before, &err));
		DO(d, store_robots_size(d->s, &size, &err));
		buf_printf(&d->rows.out, "%llu\n", (unsigned long long)size);
		DO(d, store_words_add(d->s, n_words, fresh, 2, &err));
		DO(d, store_words(d->s, n_words / 2, rows_word, &d->rows, &err));
	}
	n_words += 2;
}

/* Everything that is there, and where it may not be written. */
static void read_all(void)
{
	struct store_counts c;
	struct err err;

	EACH(d) {
		if (!in_batch)
			DO(d, store_freeze(d->s, &err));
		DO(d, store_pages(d->s, n_pages / 3, rows_page, &d->rows, &err));
		DO(d, store_pages_brief(d->s, rows_page_brief, &d->rows, &err));
		DO(d, store_captures(d->s, NULL, 0, rows_capture, &d->rows, &err));
		DO(d, rows_linked(&d->rows, &err));
		DO(d, store_captures_since(d->s, n_captures ? d->ids[n_captures / 2] : 0, rows_capture, &d->rows, 
		                           &err));
		DO(d, store_visits(d->s, 0, UINT32_MAX, rows_visit, &d->rows, &err));
		DO(d, store_visits_found(d->s, 0, UINT32_MAX, rows_visit, &d->rows, &err));
		DO(d, store_robots(d->s, NULL, 0, rows_robots, &d->rows, &err));
		DO(d, store_count(d->s, &c, &err));
		buf_printf(&d->rows.out, "count %llu %llu %llu %llu %llu %llu %llu %llu %lld %lld\n",
		           (unsigned long long)c.pages, (unsigned long long)c.captures,
		           (unsigned long long)c.visits, (unsigned long long)c.cycles,
		           (unsigned long long)c.gone, (unsigned long long)c.removed,
		           (unsigned long long)c.outside, (unsigned long long)c.paused,
		           (long long)c.first_capture, (long long)c.last_capture);
		if (!in_batch)
			store_thaw(d->s);
	}
}

static void turn(void)
{
	uint32_t way = pick(4), pick_tidy = pick(8);
	struct err err;

	EACH(d) {
		if (!in_batch)
			DO(d, store_begin(d->s, &err));
		else if (way == 3)              /* whatever is next waits for it */
			DO(d, store_commit_start(d->s, &err));
		else if (way)
			DO(d, store_commit(d->s, &err));
		else
			store_rollback(d->s);
		if (in_batch && way == 1) {
			DO(d, store_tidy(d->s, pick_tidy % 4 == 0, &err));
			DO(d, whole_check(d->s, &err));
			store_close(d->s);
			DO(d, store_open(&d->s, d->where, STORE_EXISTING, &err));
			d->rows.s = d->s;
		}
	}
	if (!in_batch) {
		saved_pages = n_pages;
		saved_words = n_words;
		saved_cycles = n_cycles;
		saved_captures = n_captures;
	} else if (!way) {
		n_pages = saved_pages;
		n_words = saved_words;
		n_cycles = saved_cycles;
		n_captures = saved_captures;
	}
	in_batch = !in_batch;
}

/* Which way the stores went apart. */
static void compare(unsigned seed, int step)
{
	for (int i = 1; i < N_STORES; i++) {
		const char *a = buf_text(&sides[0].rows.out), *b = buf_text(&sides[i].rows.out);
		size_t at = 0, line = 0;

		if (!strcmp(a, b))
			continue;
		for (; a[at] == b[at]; at++)
			if (a[at] == '\n')
				line = at + 1;
		fail_msg("seed %u, step %d: store %d gave\n%.*s\nand the first\n%.*s", seed, step, i,
		         (int)strcspn(b + line, "\n"), b + line, (int)strcspn(a + line, "\n"), a + line);
	}
	EACH(d)
		buf_clear(&d->rows.out);
}

static void test_all_stores_give_the_same(void **state)
{
	static void (*const ways[])(void) = {
		turn, add_pages, change_pages, put_captures, refresh_captures, prune_captures,
		add_visits, put_cycle, put_leases, put_care, put_settings, put_sites, read_all,
	};
	const char *more = getenv("STORES_SEEDS");
	struct err err;

	(void)state;
	/* the third walk found most */
	for (unsigned seed = more ? 1 : 3; seed <= (more ? (unsigned)atoi(more) : 3); seed++) {
		random_state = (uint64_t)seed << 32;
		n_captures = n_pages = n_words = n_cycles = 0;
		in_batch = false;
		scratch_path(sides[STORE_sqlite].where, "db");
		pg_url(sides[STORE_pg].where);
		EACH(d) {
			buf_init(&d->rows.out, BUF_NO_LIMIT);
			d->rows.ids = d->ids;
			d->rows.n_ids = &n_captures;
			if (store_open(&d->s, d->where, STORE_CREATE, &err) < 0)
				fail_msg("%s", err.text);
			d->rows.s = d->s;
		}
		for (int step = 0; step < STEPS; step++) {
			uint32_t way = pick(sizeof ways / sizeof *ways);

			if (!in_batch && ways[way] != read_all)
				way = 0;                /* writes are in batches */
			ways[step == 1 ? 1 : way]();    /* pages come first */
			compare(seed, step);
		}
		EACH(d) {
			store_close(d->s);
			buf_release(&d->rows.out);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_all_stores_give_the_same) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
