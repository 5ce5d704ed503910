/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_recall - the start of a cycle over the age of a repository: what it costs to read
 * pages and links and to recall the visits, without and with the files that the cycle before
 * left beside the store, and to plan, after 2, 50 and 200 cycles of `tide`.
 *
 * FRESHET_BENCH_PAGES (1,000,000) pages, FRESHET_BENCH_CYCLES ("2 50 200") ages; 2 % of the
 * pages are visited in a cycle, and a third of the visits find a change.  Each age is
 * measured in a process of its own, in seconds of the processor.  Ratios are to the first
 * age.
 */
#include "child.h"

#include <math.h>

#include "base/math/rng.h"
#include "engine/recall/dry.h"
#include "engine/recall/snapshot.h"
#include "engine/view/kept_links.h"

#define PER_SITE 1000

static uint32_t n_pages;
static const char *folder;

static void must(int rc, const struct err *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

static struct text url_of(uint32_t i, char *ret, size_t size)
{
	int n = snprintf(ret, size, "http://www.site%u.example/section%u/topic%u/page-%u.html",
	                 i / PER_SITE, i / 100 % 10, i / 20 % 5, i);

	return (struct text){ ret, (size_t)n };
}

static int64_t moment(uint32_t cycle)
{
	return INT64_C(1700000000) + (int64_t)cycle * DAY_SECONDS;
}

/* A copy with three links: to neighbours, and one across. */
static uint64_t add_capture(struct store *s, uint32_t page, int64_t time, struct err *err)
{
	char links[400], url[120], digest[40];
	size_t n = 0;
	struct store_capture c = { .page = page, .time = time, .status = 200, .length = 9000,
		.bytes_text = 3000, .words = 400, .images = 3, .tables = -1, .emails = -1,
		.outlinks = 3 };

	for (uint32_t k = 0; k < 3; k++) {
		uint32_t to = k < 2 ? page / PER_SITE * PER_SITE + (page + k + 1) % PER_SITE :
			(uint32_t)(rng_draw(1, 0, page, RNG_USER) % n_pages);

		url_of(to < n_pages ? to : 0, url, sizeof url);
		n += (size_t)snprintf(links + n, sizeof links - n, "%s%s", k ? " " : "", url);
	}
	c.links = (struct text){ links, n };
	c.digest = (struct text){ digest, (size_t)snprintf(digest, sizeof digest, "sha1:%u-%lld",
	                                                   page, (long long)time) };
	must(store_capture_add(s, &c, err), err);
	return c.id;
}

static void add_pages(struct store *s)
{
	struct err err;
	char url[120];

	must(store_begin(s, &err), &err);
	for (uint32_t i = 0; i < n_pages; i++) {
		uint32_t number;
		struct store_visit v = { .page = i, .time = moment(0), .score = NAN,
		                         .probability = NAN };

		must(store_page_add(s, url_of(i, url, sizeof url), moment(0) - 1, &number, &err), &err);
		v.capture = add_capture(s, i, moment(0), &err);
		must(store_visit_add(s, &v, &err), &err);
	}
	must(store_commit(s, &err), &err);
}

static void add_cycle(struct store *s, uint32_t cycle)
{
	uint32_t budget = n_pages / 50;
	struct store_cycle row = { .number = cycle, .time = moment(cycle), .budget = budget,
	                           .downloads = budget, .policy = { "tide", 4 }, .seed = 1,
	                           .pages = n_pages };
	struct err err;

	must(store_begin(s, &err), &err);
	must(store_cycle_put(s, &row, &err), &err);
	for (uint32_t k = 0; k < budget; k++) {
		/* each page once in 50 cycles, far apart */
		uint32_t page = (uint32_t)(((uint64_t)k * 50 + cycle % 50) % n_pages);
		struct store_visit v = { .cycle = cycle, .page = page, .time = moment(cycle),
			.status = 200, .score = 0.5f, .probability = NAN };

		v.hit = rng_draw(2, cycle, page, RNG_USER) % 3 == 0;
		v.outcome = v.hit ? OUTCOME_CHANGED : OUTCOME_SAME;
		if (v.hit)
			v.capture = add_capture(s, page, moment(cycle), &err);
		must(store_visit_add(s, &v, &err), &err);
	}
	must(store_commit(s, &err), &err);
}

/* Seconds that an engine takes to resume; it stays in r. */
static double resume_seconds(struct resumed *r, struct store *s, const struct resume_opts *o)
{
	double from = cpu_now();
	struct err err;

	must(resume(r, s, o, &err), &err);
	return cpu_now() - from;
}

/* In a process of its own: what each part costs. */
static int measure(const char *path, const char *out, uint32_t age)
{
	struct inventory_opts io = { 0 };
	struct resume_opts ro = { .policy = "tide", .seed = 1, .cycle_seconds = DAY_SECONDS,
	                          .aim = AIM_FRESHNESS };
	double at[4], full, frozen, plan;
	char cache[4300];
	struct inventory v;
	struct resumed r;
	struct store *s;
	struct err err;
	FILE *f;

	must(store_open(&s, path, STORE_READ, &err), &err);
	snprintf(cache, sizeof cache, "%s" SNAPSHOT_END, path);
	unlink(cache);
	snprintf(cache, sizeof cache, "%s" KEPT_LINKS_END, path);
	unlink(cache);
	at[0] = cpu_now();
	must(inventory_open(&v, s, &io, &err), &err);
	inventory_release(&v);
	at[1] = cpu_now();
	io.needs = NEED_LINKS | NEED_PAGERANK | NEED_SIZES | NEED_FAMILIES;
	must(inventory_open(&v, s, &io, &err), &err);
	inventory_release(&v);
	at[2] = cpu_now();
	ro.before_cycle = age + 1;
	full = resume_seconds(&r, s, &ro);
	at[3] = cpu_now();
	must(dry_cycle(&r, moment(age + 1), r.has.loaded.n_here / 50, &err), &err);
	plan = cpu_now() - at[3];
	resume_release(&r);
	ro.before_cycle = age;          /* the cycle before wrote its caches */
	ro.snapshot = true;
	resume_seconds(&r, s, &ro);
	resume_release(&r);
	ro.before_cycle = age + 1;
	frozen = resume_seconds(&r, s, &ro);
	resume_release(&r);
	store_close(s);
	f = fopen(out, "w");
	if (!f)
		return 1;
	fprintf(f, "%.3f %.3f %.3f %.3f %.3f\n", at[1] - at[0],
	        at[2] - at[1] - (at[1] - at[0]), full, frozen, plan);
	return fclose(f) != 0;
}

/* Full, frozen: the whole start of a cycle, without and with caches. */
struct costs { double pages, links, full, frozen, plan; };

static struct costs print_age(const char *argv0, const char *db, uint32_t age,
                              const struct costs *first)
{
	char command[9000], out[4200];
	struct costs c = { 0 };
	struct child child;
	FILE *f;

	snprintf(out, sizeof out, "%s/out", folder);
	snprintf(command, sizeof command, "exec '%s' measure '%s' '%s' %u", argv0, db, out,
	         age);
	child = child_must(command);
	f = fopen(out, "r");
	if (!f || fscanf(f, "%lf %lf %lf %lf %lf", &c.pages, &c.links, &c.full, &c.frozen,
	                 &c.plan) != 5) {
		fprintf(stderr, "%s: cannot be read\n", out);
		exit(1);
	}
	fclose(f);
	printf("%6u cycles: start %.2f s (of them pages %.2f, links %.2f), with caches %.2f s; "
	       "plan %.2f s", age, c.full, c.pages, c.links, c.frozen, c.plan);
	if (first)
		printf("; against the first: start %.2f times, with caches %.2f times",
		       c.full / first->full, c.frozen / first->frozen);
	printf("; peak %ld MiB\n", child.peak_kib >> 10);
	fflush(stdout);
	return c;
}

int main(int argc, char **argv)
{
	char name[] = "/tmp/freshet-bench-XXXXXX", db[4200], command[4300];
	const char *pages = getenv("FRESHET_BENCH_PAGES"), *ages = getenv("FRESHET_BENCH_CYCLES");
	struct costs first = { 0 };
	uint32_t cycle = 0;
	struct store *s;
	struct err err;
	char *end;

	if (argc == 5 && !strcmp(argv[1], "measure"))
		return measure(argv[2], argv[3], (uint32_t)strtoul(argv[4], NULL, 10));
	n_pages = pages ? (uint32_t)strtoul(pages, NULL, 10) : 1000000;
	folder = mkdtemp(name);
	if (!folder || n_pages < PER_SITE) {
		fprintf(stderr, "no folder, or fewer than %d pages\n", PER_SITE);
		return 1;
	}
	snprintf(db, sizeof db, "%s/freshet.db", folder);
	printf("%u pages, %u visits a cycle, policy tide:\n", n_pages, n_pages / 50);
	fflush(stdout);
	must(store_open(&s, db, STORE_CREATE, &err), &err);
	add_pages(s);
	for (const char *p = ages ? ages : "2 50 200"; *p; p = end) {
		uint32_t age = (uint32_t)strtoul(p, &end, 10);
		struct costs c;

		if (end == p)
			break;
		while (cycle < age)
			add_cycle(s, ++cycle);
		c = print_age(argv[0], db, age, first.pages > 0 ? &first : NULL);
		if (!(first.pages > 0))
			first = c;
	}
	store_close(s);
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	child_must(command);
	return 0;
}
