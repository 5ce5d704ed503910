/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discovery on an origin with good links, sitemaps and traps: what must be found is,
 * what must not be asked for never is, the share is kept to the request, traps are
 * bounded, and a kill at any moment changes none of it.
 *
 * FRESHET_CRASHES=N sets the number of kills (default 6).
 *
 * Sanitized only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "base/when.h"
#include "demo/origin.h"
#include "../../../lib/bed.h"
#include "../../../lib/pack.h"

#define DAY 86400
#define START 1700000000
#define PER_DIRECTORY 20

struct stage {
	int day;                        /* the origin's clock; shared with children */
	struct origin *origin;
	struct bed bed;
};

static void home(const struct origin_request *q, struct buf *b)
{
	for (int i = 1; i < 10; i++)
		buf_printf(b, "<a href=/p/%d>p</a>", i);
	buf_str(b, "<a href=/private/x>no</a><a href=/logo.png>i</a><a href=/cal/2099/01/>c</a>"
	        "<a href='/s?sid=7'>s</a><a href=/r/r/r/>r</a><a href=http://127.0.9.9:1/>o</a>"
	        "<a href=/trap/1>t</a><a href=/deep/a/>d</a><a href=/year/1/1/>y</a>"
	        "<a href=/alias>a</a>");
	(void)q;
}

/* Page i of the dated site was last changed on this day, and says so. */
static int changed_on(int page, int day)
{
	while (day > 0 && (page + day) % 5)
		day--;
	return day;
}

static void dated(const struct stage *s, const struct origin_request *q,
                  struct origin_reply *r)
{
	unsigned i;
	char date[21];

	buf_str(&r->headers, "Content-Type: text/html\n");
	if (!strcmp(q->path, "/robots.txt")) {
		r->status = 404;
	} else if (sscanf(q->path, "/l/%u", &i) == 1) {
		buf_printf(&r->body, "of day %d", changed_on((int)i, s->day));
	} else {
		buf_str(&r->body, "<urlset>");
		for (i = 0; i < 30; i++) {
			when_iso(START + changed_on((int)i, s->day) * DAY - 5, date);
			buf_printf(&r->body, "<url><loc>/l/%u</loc><lastmod>%s</lastmod></url>"
			           "<url><loc>/l/%u</loc><lastmod>2001-01-01</lastmod></url>", i, date,
			           i);
		}
		buf_str(&r->body, "</urlset>");
	}
}

/* Sitemaps that attack: a bomb, entities, indexes without end, one that leads away. */
static void hostile(const struct stage *s, const struct origin_request *q,
                    struct origin_reply *r)
{
	unsigned host = 0;
	struct buf b;

	sscanf(q->host, "127.0.5.%u", &host);
	if (!strcmp(q->path, "/robots.txt")) {
		r->status = 404;
	} else if (!strstr(q->path, ".xml")) {
		buf_str(&r->body, "a page");
	} else if (host == 11) {
		buf_init(&b, 80 << 20);
		buf_str(&b, "<urlset>");
		while (b.size < (55u << 20))
			buf_str(&b, "                                                                ");
		buf_str(&b, "<url><loc>/behind</loc></url></urlset>");
		buf_str(&r->headers, "Content-Type: application/gzip\n");
		pack_gzip(&r->body, b.data, b.size);
		buf_release(&b);
	} else if (host == 12) {
		buf_str(&r->body, "<!DOCTYPE urlset [<!ENTITY a \"/entity\">]><urlset><url><loc>&a;</loc>"
		        "</url></urlset>");
	} else if (host == 13) {        /* every index names a hundred others */
		buf_str(&r->body, "<sitemapindex>");
		for (int i = 0; i < 100; i++)
			buf_printf(&r->body, "<sitemap><loc>/%zu-%d.xml</loc></sitemap>",
			           strlen(q->path), i);
		buf_str(&r->body, "</sitemapindex>");
	} else if (host == 15 && !strcmp(q->path, "/sitemap.xml")) {
		buf_str(&r->body, "<sitemapindex><sitemap><loc>/1.xml</loc></sitemap>"
		        "<sitemap><loc>/2.xml</loc></sitemap></sitemapindex>");
	} else if (host == 15) {        /* more URLs than a site may show in a cycle */
		buf_str(&r->body, "<urlset>");
		for (int i = 0; i < DISCOVER_SITE_URLS_MAX / 2 + 100; i++)
			buf_printf(&r->body, "<url><loc>%s/%d</loc></url>", q->path, i);
		buf_str(&r->body, "</urlset>");
	} else {
		r->status = 302;
		buf_printf(&r->headers, "Location: http://127.0.5.1:%u/maps/a.xml.gz\n",
		           origin_port(s->origin));
	}
}

/* 127.0.5.1: a site with everything; 127.0.5.2: one with a plain sitemap. */
static void answer(void *arg, const struct origin_request *q, struct origin_reply *r)
{
	const struct stage *s = arg;
	unsigned n, k;
	struct buf xml;
	char date[21];

	if (strlen(q->host) == 10) {    /* 127.0.5.11 and on */
		if (!strcmp(q->host, "127.0.5.21"))
			dated(s, q, r);
		else
			hostile(s, q, r);
		return;
	}
	buf_str(&r->headers, "Content-Type: text/html\n");
	if (!strcmp(q->host, "127.0.5.2")) {
		if (!strcmp(q->path, "/robots.txt"))
			r->status = 404;
		else if (!strcmp(q->path, "/sitemap.xml"))
			buf_printf(&r->body, "<urlset><url><loc>http://%s:%u/only-here</loc></url>"
			           "<url><loc>http://127.0.5.1:1/far</loc></url></urlset>", q->host,
			           origin_port(s->origin));
		else
			buf_str(&r->body, "nothing here");
	} else if (!strcmp(q->path, "/robots.txt")) {
		buf_printf(&r->body, "User-agent: *\nDisallow: /private/\nSitemap: http://%s:%u/i.xml\n"
		           "Sitemap: http://127.0.9.9:1/theirs.xml\n", q->host,
		           origin_port(s->origin));
	} else if (!strcmp(q->path, "/i.xml")) {
		buf_str(&r->body, "<sitemapindex><sitemap><loc>/maps/a.xml.gz</loc></sitemap>"
		        "<sitemap><loc>/i.xml</loc></sitemap></sitemapindex>");
	} else if (!strcmp(q->path, "/maps/a.xml.gz")) {
		buf_init(&xml, 1 << 16);
		when_iso(START + s->day * DAY - 5, date);
		buf_printf(&xml, "<urlset><url><loc>/</loc><lastmod>%s</lastmod></url>", date);
		for (int i = 0; i < 12; i++)
			buf_printf(&xml, "<url><loc>/m/%d</loc></url>", i);
		buf_str(&xml, "<url><loc>/private/map</loc></url></urlset>");
		pack_gzip(&r->body, xml.data, xml.size);
		buf_release(&xml);
	} else if (!strcmp(q->path, "/alias")) {        /* of a page under care */
		r->status = 302;
		buf_str(&r->headers, "Location: /news\n");
	} else if (!strcmp(q->path, "/")) {
		home(q, &r->body);
	} else if (!strcmp(q->path, "/news")) {         /* two new ones a day */
		for (int i = 0; i <= 2 * s->day; i++)
			buf_printf(&r->body, "<a href=/story/%d>story</a>", i);
	} else if (sscanf(q->path, "/trap/%u", &n) == 1) {      /* one directory */
		for (k = 1; k < 30; k++)
			buf_printf(&r->body, "<a href=/trap/%u>next</a>", n * 30 + k);
	} else if (!strncmp(q->path, "/deep/", 6)) {            /* always deeper */
		for (k = 0; k < 3; k++)
			buf_printf(&r->body, "<a href='%s%c%zu/'>down</a>", q->path, 'a' + (int)k,
			           strlen(q->path));
	} else if (sscanf(q->path, "/year/%u/%u/", &n, &k) == 2) {      /* a directory each */
		for (unsigned i = 1; i < 10; i++)
			buf_printf(&r->body, "<a href=/year/%u/%u/>y</a>", n + i, k + i);
	} else {
		buf_printf(&r->body, "<p>%s", q->path);
	}
}

/* Put a page of 127.0.5.HOST under care. */
static void add_page(struct stage *s, int host, const char *path)
{
	bed_add(&s->bed, "http://127.0.5.%d:%u%s", host, origin_port(s->origin), path);
}

/* A repository on an origin that may be there already. */
static void setup_on(struct stage *s, struct origin *origin)
{
	*s = (struct stage){ 0 };
	s->origin = origin ? origin : origin_start(answer, s);
	bed_open(&s->bed, "127.0.5.0/24");
	add_page(s, 1, "/");
	add_page(s, 1, "/news");
	add_page(s, 2, "/");
	s->bed.opts.budget = (struct share){ 16, false };
	s->bed.opts.discover = (struct discover_opts){ .share = { 50, true },
		.per_directory = PER_DIRECTORY, .per_site = 1000 };
}

static void setup(struct stage *s)
{
	setup_on(s, NULL);
}

static void teardown(struct stage *s)
{
	bed_close(&s->bed);
	origin_stop(s->origin);
}

static struct crawl_report cycle(struct stage *s, int day)
{
	s->day = day;
	s->bed.opts.now = START + day * DAY;
	return bed_cycle(&s->bed);
}

static uint32_t known(struct stage *s, const char *host_path)
{
	char url[128];
	struct store_page p;
	struct err err;

	snprintf(url, sizeof url, "http://127.0.5.%c:%u%s", host_path[0],
	         origin_port(s->origin), host_path + 1);
	return store_page_find(s->bed.store, (struct text){ url, strlen(url) }, &p, &err) == 1 ?
		1 + p.found : 0;
}

struct audit {
	struct stage *s;
	uint32_t cycle, visits, asked, n_pages, left, trap, year, deep, found;
	uint8_t seen[4096];
	uint64_t pages_hash;
	uint32_t requests, lapsed_new;  /* of all visits; new pages that lapsed at a kill */
};

static int audit_page(void *arg, const struct store_page *p, struct err *err)
{
	struct audit *a = arg;
	char url[256];

	(void)err;
	snprintf(url, sizeof url, "%.*s", (int)p->url.size, p->url.s);
	a->n_pages++;
	a->found += p->found == a->cycle;
	a->left += p->state == STORE_PAGE_LEFT;
	a->trap += strstr(url, "/trap/") != NULL;
	a->year += strstr(url, "/year/") != NULL;
	a->deep += strstr(url, "/deep/") != NULL;
	a->pages_hash = hash_bytes(url, strlen(url), a->pages_hash ^ p->found);
	return 0;
}

static int audit_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct audit *a = arg;
	bool is_new = v->reason >= REASON_NEW && v->reason <= REASON_HUB;

	(void)err;
	assert_true(v->page < sizeof a->seen);
	assert_false(a->seen[v->page]);
	a->seen[v->page] = 1;
	a->visits += v->outcome != OUTCOME_BLOCKED;
	a->asked += v->outcome != OUTCOME_BLOCKED && is_new;
	/* (one that lapses twice in a row has failed, and is among those asked for) */
	a->lapsed_new += v->cause == CAUSE_LAPSED && v->outcome == OUTCOME_BLOCKED && is_new;
	a->requests += v->extra + (v->outcome != OUTCOME_BLOCKED);
	return 0;
}

static struct audit audit(struct stage *s, uint32_t number)
{
	struct audit a = { .s = s, .cycle = number };
	struct err err;

	assert_int_equal(store_pages(s->bed.store, 0, audit_page, &a, &err), 0);
	assert_int_equal(store_visits(s->bed.store, number, number + 1, audit_visit, &a,
	                              &err), 0);
	return a;
}

/* Requests for paths that begin so, of any host. */
static size_t asked_for(struct stage *s, const char *prefix)
{
	size_t n, found = 0;
	struct origin_log *l = origin_read_log(s->origin, &n);

	for (size_t i = 0; i < n; i++)
		found += !strncmp(l[i].path, prefix, strlen(prefix));
	free(l);
	return found;
}

static uint64_t run_days(struct stage *s, int days)
{
	struct audit a = { 0 };

	for (int day = 0; day < days; day++) {
		struct crawl_report r = cycle(s, day);

		a = audit(s, r.cycle.number);
		assert_int_equal(r.cycle.budget, 16);
		assert_true(r.cycle.downloads <= 16);
		/* a request each, and the alias's redirect */
		assert_int_equal(a.visits + r.discovery.aliases, r.cycle.downloads);
		assert_int_equal(r.discovery.share, 8);
		assert_int_equal(a.found, r.discovery.added);
		assert_true(a.found <= 8);
		assert_int_equal(a.asked, r.discovery.asked_new + r.discovery.asked_told +
		                 r.discovery.asked_hubs);
		assert_true(a.asked <= 8);
		if (r.discovery.waiting)        /* as much as it may, exactly */
			assert_int_equal(r.discovery.asked_new, 8);
		if (day > 6)
			assert_int_equal(r.cycle.downloads, 16);
		/* each URL found is one of these */
		uint32_t sum = r.discovery.added + r.discovery.waiting;

		for (int i = 0; i < N_REFUSALS; i++)
			sum += i == REFUSED_MANY ? 0 : r.discovery.refused[i];
		assert_int_equal(sum, r.discovery.found);
	}
	return a.pages_hash;
}

static void test_found_and_bounded(void **state)
{
	struct stage s;
	struct audit a;
	struct crawl_report r;

	(void)state;
	setup(&s);
	run_days(&s, 25);
	/* good links, sitemap entries by index and gzip, growing pages */
	for (int i = 1; i < 10; i++)
		assert_true(known(&s, (char[]){ '1', '/', 'p', '/', (char)('0' + i), 0 }) > 1);
	assert_true(known(&s, "1/m/0") > 1);
	assert_true(known(&s, "1/m/11") > 1);
	assert_true(known(&s, "2/only-here") > 1);
	assert_true(known(&s, "1/story/5") > 1);
	assert_int_equal(known(&s, "1/"), 1);           /* put under care, not found */
	/* what must never be asked for */
	assert_int_equal(asked_for(&s, "/private") + asked_for(&s, "/logo") +
	                 asked_for(&s, "/cal") + asked_for(&s, "/s?") + asked_for(&s, "/r/") +
	                 asked_for(&s, "/far") + asked_for(&s, "/theirs"), 0);
	a = audit(&s, 25);
	assert_true(a.trap <= PER_DIRECTORY && a.trap > 2);
	assert_true(a.deep > 2);
	/* an alias of a page we have is asked for once, and leaves */
	assert_int_equal(asked_for(&s, "/alias"), 1);
	assert_int_equal(a.left, 1);
	r = cycle(&s, 25);
	assert_true(r.discovery.refused[TRAP_CALENDAR] && r.discovery.refused[TRAP_SESSION] &&
	            r.discovery.refused[TRAP_REPEATED] && r.discovery.refused[TRAP_FILE] &&
	            r.discovery.refused[REFUSED_ROBOTS] && r.discovery.outside);
	/* once a day, index and map; the other site's guess */
	assert_int_equal(asked_for(&s, "/i.xml"), 26);
	assert_int_equal(asked_for(&s, "/maps/a.xml.gz"), 26);
	assert_int_equal(asked_for(&s, "/sitemap.xml"), 26);
	print_message("26 days: %u pages; traps: one directory %u, numbered directories %u, "
	              "deeper and deeper %u\n", a.n_pages, a.trap, a.year, a.deep);
	teardown(&s);
}

/* Low caps, many cycles: the traps stop for good. */
static void test_caps_hold(void **state)
{
	struct stage s;
	struct audit a;

	(void)state;
	setup(&s);
	s.bed.opts.discover.per_directory = 2;
	s.bed.opts.discover.per_site = 60;
	s.bed.opts.discover.share = (struct share){ 100, true };
	for (int day = 0; day < 12; day++)
		cycle(&s, day);
	a = audit(&s, 12);
	assert_true(a.n_pages <= 3 + 60 + 1);   /* and the other site's one */
	assert_true(a.trap <= 2);
	assert_true(a.year <= 2 * DISCOVER_SHAPE);
	assert_int_equal(a.found, 0);           /* at the end of it */
	teardown(&s);
}

static void test_same_seed_same_pages(void **state)
{
	struct origin *origin = NULL;   /* draws depend on URLs, and these on the port */
	uint64_t hash[2];
	struct stage s;

	(void)state;
	for (int i = 0; i < 2; i++) {
		setup_on(&s, origin);
		hash[i] = run_days(&s, 8);
		origin = s.origin;
		bed_close(&s.bed);
	}
	origin_stop(origin);
	assert_true(hash[0] == hash[1]);
}

static void test_hostile_sitemaps(void **state)
{
	struct crawl_report r;
	struct stage s;
	struct audit a;

	(void)state;
	setup(&s);
	for (int i = 11; i < 15; i++)
		add_page(&s, i, "/");
	r = cycle(&s, 0);
	a = audit(&s, 1);
	/* from the good sites' maps, as without them; of the bad ones nothing */
	assert_int_equal(a.n_pages, 7 + 8);
	assert_int_equal(asked_for(&s, "/behind") + asked_for(&s, "/entity"), 0);
	assert_true(r.discovery.sitemap_requests <= 2 + 1 + 1 + 1 + DISCOVER_SITEMAPS_MAX + 2);
	assert_int_equal(asked_for(&s, "/12-"), DISCOVER_SITEMAPS_MAX - 1);
	/* one site cannot take the place of all others */
	add_page(&s, 15, "/");
	r = cycle(&s, 1);
	assert_int_equal(r.discovery.refused[REFUSED_MANY], 200);
	assert_true(r.discovery.found > DISCOVER_SITE_URLS_MAX);
	teardown(&s);
}

/* Dates that have proved true send us to what changed; before, they do not. */
static void test_trusted_dates(void **state)
{
	struct crawl_report r;
	struct stage s;

	(void)state;
	setup(&s);
	s.bed.opts.discover.per_site = 0;           /* no new pages */
	s.bed.opts.discover.share = (struct share){ 6, false };
	for (int i = 0; i < 30; i++) {
		char path[16];

		snprintf(path, sizeof path, "/l/%d", i);
		add_page(&s, 21, path);
	}
	s.bed.opts.budget = (struct share){ 100, true };
	for (int day = 0; day < 2; day++) {
		r = cycle(&s, day);
		assert_int_equal(r.discovery.dates, 31);        /* and one of the first site */
		assert_int_equal(r.discovery.asked_told, 0);
	}
	/* 30 checks, all right, six changes told: now the dates are worth something */
	s.bed.opts.budget = (struct share){ 8, false };
	for (int day = 2; day < 5; day++) {
		r = cycle(&s, day);
		assert_int_equal(r.discovery.asked_told, 6);
		assert_true(r.cycle.changed >= 6);
	}
	teardown(&s);
}

/* Off by default: the same world, not one page more, no sitemap asked for. */
static void test_off(void **state)
{
	struct stage s;

	(void)state;
	setup(&s);
	s.bed.opts.discover.share.value = 0;
	for (int day = 0; day < 3; day++)
		assert_false(cycle(&s, day).discovery.on);
	assert_int_equal(audit(&s, 1).n_pages, 3);
	assert_int_equal(asked_for(&s, "/i.xml"), 0);
	teardown(&s);
}

static int last_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	(void)err;
	*(struct store_cycle *)arg = *c;
	return 0;
}

static void test_killed_at_any_moment(void **state)
{
	const char *env = getenv("FRESHET_CRASHES");
	int kills = env ? atoi(env) : 6, day = 0, killed = 0, midway = 0;
	struct stage s;
	struct rng rng;
	uint32_t done = 0, answers = 0, failed = 0;     /* the two: on the day before */

	(void)state;
	setup(&s);
	rng_init(&rng, 5);
	s.bed.opts.batch = 2;
	store_close(s.bed.store);
	while (killed < kills || done < 6) {
		struct store_cycle last = { 0 };
		struct audit a;
		struct err err;
		pid_t pid;

		s.day = day;
		s.bed.opts.now = START + day * DAY;
		s.bed.store = NULL;
		pid = fork();
		if (!pid) {
			struct crawl_report r;

			if (store_open(&s.bed.store, s.bed.db, STORE_EXISTING, &err) < 0)
				_exit(9);
			_exit(crawl_cycle(s.bed.store, &s.bed.opts, &r, &err) < 0 ? 8 : 0);
		}
		killed += bed_kill(pid, s.origin, &rng, 16);
		assert_int_equal(store_open(&s.bed.store, s.bed.db, STORE_EXISTING, &err), 0);
		assert_int_equal(store_cycles(s.bed.store, 0, last_cycle, &last, &err), 0);
		a = audit(&s, last.number);     /* no page twice */
		assert_true(a.found <= 8 && a.asked + a.lapsed_new <= 8);
		/* every request is in a visit, of pages that lapsed too, or still under way */
		assert_in_range(last.downloads, a.requests, last.open ? 16 : a.requests);
		assert_true(last.downloads <= 16);
		midway += last.open && a.requests > 0;
		if (!last.open && last.number > done) {
			assert_int_equal(last.number, done + 1);
			/* New ones wait from the third day on: the share is spent on them.  (If much
			 * lapsed, fewer links were read; what lapses twice fails, and hosts rest.) */
			if (done > 2 && answers >= 5 && failed + last.failed < 4)
				assert_true(a.asked + a.lapsed_new == 8 && last.downloads == 16);
			answers = last.fresh + last.changed + last.same;
			failed = last.failed;
			done++;
			day++;
		}
		store_close(s.bed.store);
	}
	print_message("%d kills (%d in the middle of a cycle), %u cycles completed\n", killed,
	              midway, done);
	assert_true(midway > kills / 4);
	s.bed.store = NULL;
	teardown(&s);
}

/* A day that is killed in the middle, in the share of discovery or behind it, asks for the
 * pages of a whole one, each in its place.  (The budget is never spent: a redirect whose page
 * is lost by a kill costs a request more.) */
static void test_killed_days_are_whole_days(void **state)
{
	struct origin *origin = NULL;
	uint64_t hash[2] = { 0 };
	unsigned kills = 0;
	struct stage s;

	(void)state;
	for (int i = 0; i < 2; i++) {
		setup_on(&s, origin);
		s.bed.opts.batch = 2;
		s.bed.opts.fetch.connections = 1;       /* answers come in the order asked */
		s.bed.opts.budget = (struct share){ 100, false };
		s.bed.opts.discover.per_site = 30;
		for (int day = 0; day < 5; day++) {
			s.day = day;
			s.bed.opts.now = START + day * DAY;
			for (uint32_t at = 2; i && bed_killed_cycle(&s.bed, at); at += 9)
				kills++;
			if (!i)
				assert_true(cycle(&s, day).cycle.downloads < 100);
		}
		hash[i] = bed_hash_visits(&s.bed, true);
		origin = s.origin;
		bed_close(&s.bed);
	}
	origin_stop(origin);
	assert_true(kills > 10);
	assert_true(hash[0] == hash[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found_and_bounded),
		cmocka_unit_test(test_caps_hold),
		cmocka_unit_test(test_same_seed_same_pages),
		cmocka_unit_test(test_hostile_sitemaps),
		cmocka_unit_test(test_trusted_dates),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_killed_at_any_moment),
		cmocka_unit_test(test_killed_days_are_whole_days),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
