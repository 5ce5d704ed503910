/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_recall - the start of a cycle over the age of a repository: what it costs to read
 * pages and links and to recall the visits, without and with the files that the cycle before
 * left beside the store, and to plan, after 2, 50 and 200 cycles of `tide`.
 *
 * FRESHET_BENCH_PAGES (1,000,000) pages, FRESHET_BENCH_CYCLES ("2 50 200") ages,
 * FRESHET_BENCH_DIR (/tmp) where; recall_made.h says what the repository is like.  A start
 * without caches and starts with them have a process each, for its peak; seconds are those
 * of the processor.  Starts with caches are repeated, and the quickest counts: it is the one
 * least disturbed.  Last comes the program itself: `freshet plan`, by the clock.
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

/* Seconds that an engine takes to resume; it stays in r. */
static double resume_seconds(struct resumed *r, struct store *s, const struct resume_opts *o)
{
	double from = cpu_now();
	struct err err;

	must(resume(r, s, o, &err), &err);
	return cpu_now() - from;
}

static double inventory_seconds(struct store *s, unsigned needs)
{
	struct inventory_opts io = { .needs = needs };
	double from = cpu_now();
	struct inventory v;
	struct err err;

	must(inventory_open(&v, s, &io, &err), &err);
	inventory_release(&v);
	return cpu_now() - from;
}

static void forget(const char *path, const char *end)
{
	char cache[4300];

	snprintf(cache, sizeof cache, "%s%s", path, end);
	unlink(cache);
}

/* In a process of its own: a start without caches, and a plan.  It leaves caches as the
 * last cycle did when it began. */
static void measure_full(struct store *s, const char *path, uint32_t age, FILE *out)
{
	struct resume_opts ro = resuming;
	double pages = inventory_seconds(s, 0), links, full, from;
	struct resumed r;
	struct err err;

	forget(path, SNAPSHOT_END);
	forget(path, KEPT_LINKS_END);
	links = inventory_seconds(s, NEED_LINKS | NEED_PAGERANK | NEED_SIZES | NEED_FAMILIES);
	ro.before_cycle = age + 1;
	full = resume_seconds(&r, s, &ro);
	from = cpu_now();
	must(dry_cycle(&r, made_time(age + 1), r.has.loaded.n_here / 50, &err), &err);
	fprintf(out, "%.3f %.3f %.3f %.3f\n", pages, links - pages, full, cpu_now() - from);
	resume_release(&r);
	ro.before_cycle = age;
	ro.snapshot = true;
	resume_seconds(&r, s, &ro);
	resume_release(&r);
}

static void measure_cached(struct store *s, uint32_t age, uint32_t repeats, FILE *out)
{
	struct resume_opts ro = resuming;
	struct resumed r;
	double best = 0;

	ro.before_cycle = age + 1;
	for (uint32_t i = 0; i < repeats; i++) {
		double t = resume_seconds(&r, s, &ro);

		best = i && best < t ? best : t;
		if (r.recalled.n_thawed + 1 != age)
			fprintf(stderr, "the snapshot has %u cycles and not %u\n", r.recalled.n_thawed,
			        age - 1);
		resume_release(&r);
	}
	fprintf(out, "%.3f\n", best);
}

static int measure(char **argv)
{
	uint32_t age = (uint32_t)strtoul(argv[4], NULL, 10);
	FILE *out = fopen(argv[3], "w");
	struct store *s;
	struct err err;

	must(store_open(&s, argv[2], STORE_READ, &err), &err);
	if (!out)
		return 1;
	if (!strcmp(argv[1], "full"))
		measure_full(s, argv[2], age, out);
	else
		measure_cached(s, age, (uint32_t)strtoul(argv[5], NULL, 10), out);
	store_close(s);
	return fclose(out) != 0;
}

/* ---- over the ages ---- */

struct bench {
	const char *argv0, *folder;
	char db[4200];
	double cached;                  /* at the first age */
};

/* Run one measurement in a child; its numbers go to ret. */
static struct child take(const struct bench *b, const char *what, uint32_t age, int n,
                         double *ret)
{
	char command[13000], out[4200];
	struct child c;
	FILE *f;

	snprintf(out, sizeof out, "%s/out", b->folder);
	snprintf(command, sizeof command, "exec '%s' %s '%s' '%s' %u %d", b->argv0, what, b->db,
	         out, age, REPEATS);
	c = child_must(command);
	f = fopen(out, "r");
	for (int i = 0; i < n; i++)
		if (!f || fscanf(f, "%lf", &ret[i]) != 1) {
			fprintf(stderr, "%s: cannot be read\n", out);
			exit(1);
		}
	fclose(f);
	return c;
}

/* `freshet plan`, as a user runs it. */
static struct child plan(const struct bench *b)
{
	char program[4200], command[13000];

	child_program(b->argv0, program, sizeof program);
	snprintf(command, sizeof command, "exec '%s' -C '%s' plan --policy tide --seed 1 --every 1d "
	         "--aim freshness --budget 1000 --format urls > '%s/plan'", program, b->folder,
	         b->folder);
	return child_must(command);
}

static void print_age(struct bench *b, uint32_t age)
{
	double full[4], cached;
	struct child first = take(b, "full", age, 4, full), then = take(b, "cached", age, 1, &cached),
	             whole = plan(b);

	printf("%6u cycles: start %.2f s (of them pages %.2f, links %.2f; peak %ld MiB), with caches "
	       "%.3f s (peak %ld MiB)", age, full[2], full[0], full[1], first.peak_kib >> 10,
	       cached, then.peak_kib >> 10);
	if (b->cached > 0)
		printf(", %.2f times the first", cached / b->cached);
	else
		b->cached = cached;
	printf("; plan %.2f s; `freshet plan` with caches %.2f s by the clock, %.2f of the "
	       "processor, %ld MiB\n", full[3], whole.wall, whole.cpu, whole.peak_kib >> 10);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *pages = getenv("FRESHET_BENCH_PAGES"), *ages = getenv("FRESHET_BENCH_CYCLES"),
	           *dir = getenv("FRESHET_BENCH_DIR");
	struct bench b = { .argv0 = argv[0] };
	uint32_t n_pages, made = 0;
	char name[4100], command[4300];
	char *end;

	if (argc == 6)
		return measure(argv);
	n_pages = pages ? (uint32_t)strtoul(pages, NULL, 10) : 1000000;
	snprintf(name, sizeof name, "%s/freshet-bench-XXXXXX", dir ? dir : "/tmp");
	b.folder = mkdtemp(name);
	if (!b.folder || n_pages < MADE_PER_SITE) {
		fprintf(stderr, "no folder, or fewer than %d pages\n", MADE_PER_SITE);
		return 1;
	}
	snprintf(b.db, sizeof b.db, "%s/freshet.db", b.folder);
	printf("%u pages, %u visits a cycle, policy tide:\n", n_pages, n_pages / 50);
	fflush(stdout);
	made_pages(b.db, n_pages);
	for (const char *p = ages ? ages : "2 50 200"; *p; p = end) {
		uint32_t age = (uint32_t)strtoul(p, &end, 10);

		if (end == p)
			break;
		made_cycles(b.db, n_pages, made + 1, age);
		made = age;
		print_age(&b, age);
	}
	snprintf(command, sizeof command, "%s '%s'",
	         getenv("FRESHET_BENCH_KEEP") ? "echo kept:" : "rm -rf", b.folder);
	child_must(command);
	return 0;
}
