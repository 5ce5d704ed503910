/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_recall - the start of a cycle over the age of a repository: what it costs to read
 * pages and links and to recall the visits, without and with the files that the cycle before
 * left beside the store, and to plan, after 2, 50 and 200 cycles of `tide`.
 *
 * FRESHET_BENCH_PAGES (1,000,000) pages, FRESHET_BENCH_CYCLES ("2 50 200") ages,
 * FRESHET_BENCH_DIR (/tmp) where; recall_made.h says what the repository is like.
 *
 *   bench_recall make FOLDER PAGES FROM TO     make these cycles in a folder (and, from 1,
 *                                              the pages), and leave it
 *   bench_recall look FOLDER AGE               measure what is there
 *
 * Every measurement is a process of its own, for its
 * peak, and FRESHET_BENCH_WITH is a command put before each (one that waits for a quiet
 * moment, say).  Seconds are by the clock, in brackets those of the processors.  Starts with
 * caches are repeated, and the quickest counts: it is the one least disturbed.  Last comes
 * the program itself: `freshet plan`.
 */
#include "child.h"

#include "base/when.h"
#include "engine/recall/dry.h"
#include "engine/recall/snapshot.h"
#include "engine/view/kept_links.h"
#include "recall_made.h"

#define REPEATS 5

static void must(int rc, const struct err *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

static const struct resume_opts resuming = {
	.policy = "tide", .seed = 1, .cycle_seconds = DAY_SECONDS, .aim = AIM_FRESHNESS
};

struct seconds { double wall, cpu; };

static struct seconds seconds_now(void)
{
	return (struct seconds){ wall_now(), cpu_now() };
}

static struct seconds since(struct seconds from)
{
	return (struct seconds){ wall_now() - from.wall, cpu_now() - from.cpu };
}

/* What an engine takes to resume; it stays in r. */
static struct seconds time_resume(struct resumed *r, struct store *s, const struct resume_opts *o)
{
	struct seconds from = seconds_now();
	struct err err;

	must(resume(r, s, o, &err), &err);
	return since(from);
}

static struct seconds time_inventory(struct store *s, unsigned needs)
{
	struct inventory_opts io = { .needs = needs };
	struct seconds from = seconds_now();
	struct inventory v;
	struct err err;

	must(inventory_open(&v, s, &io, &err), &err);
	from = since(from);
	inventory_release(&v);
	return from;
}

/* What a start without caches begins with: pages alone, and with their links. */
static void measure_parts(struct store *s, struct seconds *ret)
{
	ret[0] = time_inventory(s, 0);
	ret[1] = time_inventory(s, NEED_LINKS | NEED_PAGERANK | NEED_SIZES | NEED_FAMILIES);
}

/* A start without caches, and a plan. */
static void measure_full(struct store *s, uint32_t age, struct seconds *ret)
{
	struct resume_opts ro = resuming;
	struct resumed r;
	struct err err;

	ro.before_cycle = age + 1;
	ret[0] = time_resume(&r, s, &ro);
	ret[1] = seconds_now();
	must(dry_cycle(&r, made_time(age + 1), r.has.loaded.n_here / 50, NULL, &err), &err);
	ret[1] = since(ret[1]);
	resume_release(&r);
}

static void forget(const char *path, const char *end)
{
	char cache[4300];

	snprintf(cache, sizeof cache, "%s%s", path, end);
	unlink(cache);
}

/* The caches that the last cycle left when it began, and no older ones. */
static void leave_caches(struct store *s, const char *path, uint32_t age, struct seconds *ret)
{
	struct resume_opts ro = resuming;
	struct resumed r;

	forget(path, SNAPSHOT_END);
	forget(path, KEPT_LINKS_END);
	ro.before_cycle = age;
	ro.snapshot = true;
	ret[0] = time_resume(&r, s, &ro);
	resume_release(&r);
}

static void measure_cached(struct store *s, uint32_t age, struct seconds *ret)
{
	struct resume_opts ro = resuming;
	struct resumed r;

	ro.before_cycle = age + 1;
	for (uint32_t i = 0; i < REPEATS; i++) {
		struct seconds t = time_resume(&r, s, &ro);

		ret[0] = i && ret[0].wall < t.wall ? ret[0] : t;
		if (r.recalled.n_thawed + 1 != age)
			fprintf(stderr, "the snapshot has %u cycles and not %u\n", r.recalled.n_thawed,
			        age - 1);
		resume_release(&r);
	}
}

/* `freshet plan`, as a user runs it; the peak is that of the program. */
static void measure_plan(const char *argv0, const char *path, struct seconds *ret)
{
	char program[4200], command[13000];
	struct child c;

	child_program(argv0, program, sizeof program);
	snprintf(command, sizeof command, "exec '%s' -C '%.*s' plan --policy tide --seed 1 --every 1d "
	         "--aim freshness --budget 1000 --format urls >/dev/null", program,
	         (int)(strrchr(path, '/') - path), path);
	c = child_must(command);
	ret[0] = (struct seconds){ c.wall, c.cpu };
	ret[1].wall = (double)(c.peak_kib >> 10);
}

static int write_seconds(FILE *out, const struct seconds t[2])
{
	for (int i = 0; i < 2; i++)
		fprintf(out, "%.3f %.3f ", t[i].wall, t[i].cpu);
	return fclose(out) != 0;
}

/* One measurement: bench_recall WHAT DATABASE OUT AGE. */
static int measure(char **argv)
{
	uint32_t age = (uint32_t)strtoul(argv[4], NULL, 10);
	struct seconds t[2] = { 0 };
	FILE *out = fopen(argv[3], "w");
	struct store *s;
	struct err err;

	if (!out)
		return 1;
	if (!strcmp(argv[1], "plan")) {
		measure_plan(argv[0], argv[2], t);
		return write_seconds(out, t);
	}
	must(store_open(&s, argv[2], STORE_READ, &err), &err);
	if (!strcmp(argv[1], "parts"))
		measure_parts(s, t);
	else if (!strcmp(argv[1], "full"))
		measure_full(s, age, t);
	else if (!strcmp(argv[1], "leave"))
		leave_caches(s, argv[2], age, t);
	else
		measure_cached(s, age, t);
	store_close(s);
	return write_seconds(out, t);
}

/* ---- over the ages ---- */

struct bench {
	const char *argv0, *folder, *with;
	double cached;                  /* at the first age */
};

/* Run one measurement in a child; returns its peak in MiB. */
static long take(const struct bench *b, const char *what, uint32_t age, struct seconds ret[2])
{
	bool quiet = b->with && strcmp(what, "leave");
	char command[13000], out[4200];
	struct child c;
	FILE *f;

	snprintf(out, sizeof out, "%s/out", b->folder);
	snprintf(command, sizeof command, "exec %s '%s' %s '%s/freshet.db' '%s' %u",
	         quiet ? b->with : "", b->argv0, what, b->folder, out, age);
	c = child_must(command);
	f = fopen(out, "r");
	for (int i = 0; i < 2; i++)
		if (!f || fscanf(f, "%lf %lf", &ret[i].wall, &ret[i].cpu) != 2) {
			fprintf(stderr, "%s: cannot be read\n", out);
			exit(1);
		}
	fclose(f);
	return c.peak_kib >> 10;
}

static void measure_age(struct bench *b, uint32_t age)
{
	struct seconds parts[2], full[2], cached[2], plan[2], unused[2];
	long peak, peak_cached;

	take(b, "parts", age, parts);
	peak = take(b, "full", age, full);
	printf("%6u cycles: start %.2f s (%.2f), of them pages %.2f s (%.2f) and links %.2f s (%.2f), "
	       "peak %ld MiB; plan %.2f s (%.2f); ", age, full[0].wall, full[0].cpu, parts[0].wall,
	       parts[0].cpu, parts[1].wall - parts[0].wall, parts[1].cpu - parts[0].cpu, peak,
	       full[1].wall, full[1].cpu);
	fflush(stdout);
	take(b, "leave", age, unused);
	peak_cached = take(b, "cached", age, cached);
	take(b, "plan", age, plan);
	b->cached = b->cached > 0 ? b->cached : cached[0].wall;
	printf("with caches %.3f s (%.3f), %.2f times the first, peak %ld MiB; `freshet plan` with "
	       "them %.2f s (%.2f), %.0f MiB\n", cached[0].wall, cached[0].cpu,
	       cached[0].wall / b->cached, peak_cached, plan[0].wall, plan[0].cpu, plan[1].wall);
	fflush(stdout);
}

static void make(const char *folder, uint32_t n_pages, uint32_t from, uint32_t to)
{
	char db[4200];

	snprintf(db, sizeof db, "%s/freshet.db", folder);
	made_cycles(db, n_pages, from, to);
}

static uint32_t number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 10);
}

/* Each age in turn, in a folder that is removed at the end. */
static int all_ages(struct bench *b, const char *ages, uint32_t n_pages, const char *dir)
{
	uint32_t made = 0, age;
	char name[4100], command[4300];

	snprintf(name, sizeof name, "%s/freshet-bench-XXXXXX", dir);
	b->folder = mkdtemp(name);
	if (!b->folder || n_pages < MADE_PER_SITE) {
		fprintf(stderr, "no folder, or fewer than %d pages\n", MADE_PER_SITE);
		return 1;
	}
	printf("%u pages, %u visits a cycle, policy tide:\n", n_pages, n_pages / 50);
	fflush(stdout);
	for (char *p = (char *)(uintptr_t)ages; (age = (uint32_t)strtoul(p, &p, 10)) > made; made = age) {
		make(b->folder, n_pages, made + 1, age);
		measure_age(b, age);
	}
	snprintf(command, sizeof command, "rm -rf '%s'", b->folder);
	child_must(command);
	return 0;
}

int main(int argc, char **argv)
{
	const char *pages = getenv("FRESHET_BENCH_PAGES"), *ages = getenv("FRESHET_BENCH_CYCLES"),
	           *dir = getenv("FRESHET_BENCH_DIR");
	struct bench b = { .argv0 = argv[0], .with = getenv("FRESHET_BENCH_WITH") };

	if (argc == 6 && !strcmp(argv[1], "make")) {
		make(argv[2], number(argv[3]), number(argv[4]), number(argv[5]));
		return 0;
	}
	if (argc == 5)
		return measure(argv);
	if (argc == 4 && !strcmp(argv[1], "look")) {
		b.folder = argv[2];
		measure_age(&b, number(argv[3]));
		return 0;
	}
	return all_ages(&b, ages ? ages : "2 50 200", pages ? number(pages) : 1000000,
	                dir ? dir : "/tmp");
}
