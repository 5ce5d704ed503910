/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.c - the made-up web; see world.h.
 *
 * Every draw is a hash of (seed, step, number, purpose), so the history of a page
 * does not depend on how many others there are or in which order it is asked.
 * Directories are numbered through; directory d of a site hangs under a random
 * earlier one, at most DEPTH_MAX deep.
 */
#include "engine/archive/world.h"

#include <math.h>
#include <stdio.h>

#include "base/io/output.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "warc/cdx.h"
#include "web/url/url.h"

#define DEPTH_MAX 6
#define SITES_MAX 10000000
#define PAGES_PER_DIR_MAX 1000000

const struct option_spec world_options[] = {
	OPT_INT(world_opts, sites, 20, 1, SITES_MAX, "sites"),
	OPT_INT(world_opts, steps, 52, 1, 100000, "steps of its history"),
	OPT_DURATION(world_opts, step_seconds, "2w", "length of a step"),
	OPT_TIME(world_opts, start, "20220101000000", "when it begins"),
	OPT_DOUBLE(world_opts, dirs, 12, 1, 100000, "mean number of directories of a site"),
	OPT_DOUBLE(world_opts, pages, 8, 1, 100000, "median number of pages of a directory"),
	OPT_DOUBLE(world_opts, rate, 0.03, 0, 1, "median changes of a page in a step"),
	OPT_DOUBLE(world_opts, rate_spread, 1.2, 0, 10, "spread of the rates (sd of the log)"),
	OPT_DOUBLE(world_opts, site_spread, 0.5, 0, 10, "spread of the sites' factors"),
	OPT_DOUBLE(world_opts, dir_spread, 0.7, 0, 10, "spread of the directories' factors"),
	OPT_DOUBLE(world_opts, burst, 0.03, 0, 1, "chance of a directory to burst in a step"),
	OPT_DOUBLE(world_opts, burst_share, 0.6, 0, 1, "share of its pages that a burst changes"),
	OPT_DOUBLE(world_opts, death, 0.0005, 0, 1, "chance of a page to disappear in a step"),
	OPT_DOUBLE(world_opts, site_dies, 0, 0, 1, "chance of a site to die in the first step"),
	OPT_DOUBLE(world_opts, dir_dies, 0, 0, 1, "the same of a directory"),
	OPT_DOUBLE(world_opts, page_dies, 0, 0, 1, "the same of a page"),
	OPT_DOUBLE(world_opts, fail, 0, 0, 1, "chance of a page to begin to fail in a step, for ever"),
	OPT_DOUBLE(world_opts, outage, 0, 0, 1, "chance of a site to fail in a step"),
	OPT_INT(world_opts, regime, 0, 0, 100000, "step at which rates are drawn anew"),
	OPT_INT(world_opts, links, 5, 0, 400, "links of a page"),
	OPT_END
};

enum { SITE_DIRS = RNG_USER, SITE_FACTOR, DIR_PARENT, DIR_PAGES, DIR_FACTOR, DIR_BURST,
       DIR_UP, PAGE_RATE, PAGE_CHANGE, PAGE_MOMENT, PAGE_DEATH, PAGE_LINK, SITE_DIES,
       DIR_DIES, PAGE_DIES, PAGE_FAILS, SITE_FAILS };

struct site {
	uint32_t n_dirs;
	uint32_t *parent, *n_pages;     /* by directory of this site */
	uint8_t *depth;
	char (*path)[96];
	uint32_t n_pages_all;
	uint64_t number;
};

static double unit(const struct world_opts *o, uint64_t step, uint64_t n, unsigned purpose)
{
	return rng_unit(rng_draw((uint64_t)o->seed, step, n, purpose));
}

static double normal(const struct world_opts *o, uint64_t step, uint64_t n, unsigned purpose)
{
	struct rng r;

	rng_init(&r, rng_draw((uint64_t)o->seed, step, n, purpose));
	return rng_normal(&r);
}

/* Directories of a site: geometric with the mean asked for. */
static void make_site(const struct world_opts *o, uint64_t s, struct site *site)
{
	double u = 1 - unit(o, 0, s, SITE_DIRS);
	double n = o->dirs > 1 ? ceil(log(u) / log1p(-1 / o->dirs)) : 1;

	site->number = s;
	site->n_dirs = (uint32_t)(n < 1 ? 1 : n > 65535 ? 65535 : n);
	site->parent = mem_zalloc(site->n_dirs, sizeof *site->parent);
	site->n_pages = mem_zalloc(site->n_dirs, sizeof *site->n_pages);
	site->depth = mem_zalloc(site->n_dirs, sizeof *site->depth);
	site->path = mem_zalloc(site->n_dirs, sizeof *site->path);
	site->n_pages_all = 0;
	for (uint32_t d = 0; d < site->n_dirs; d++) {
		double pages = o->pages * exp(normal(o, 0, s << 20 | d, DIR_PAGES));
		uint32_t up = d ? (uint32_t)(unit(o, 0, s << 20 | d, DIR_PARENT) * d) : 0;

		while (d && site->depth[up] >= DEPTH_MAX)
			up = site->parent[up];
		site->parent[d] = up;
		site->depth[d] = d ? (uint8_t)(site->depth[up] + 1) : 0;
		if (d) {
			size_t above = strlen(site->path[up]);  /* at most 6 times "d65535/" */

			memcpy(site->path[d], site->path[up], above);
			snprintf(site->path[d] + above, sizeof site->path[d] - above, "d%u/", d);
		}
		site->n_pages[d] = pages < 1 ? 1 : pages > PAGES_PER_DIR_MAX ? PAGES_PER_DIR_MAX :
		                   (uint32_t)(pages + 0.5);
		site->n_pages_all += site->n_pages[d];
	}
}

static void free_site(struct site *site)
{
	free(site->parent);
	free(site->n_pages);
	free(site->depth);
	free(site->path);
}

static bool bursts(const struct world_opts *o, const struct site *site, uint32_t d, int64_t step)
{
	return o->burst > 0 &&
	       unit(o, (uint64_t)step, site->number << 20 | d, DIR_BURST) < o->burst;
}

/* A burst reaches the directory's own pages, and now and then its parent's. */
static bool touched(const struct world_opts *o, const struct site *site, uint32_t d, int64_t step)
{
	if (bursts(o, site, d, step))
		return true;
	for (uint32_t k = d + 1; k < site->n_dirs; k++)
		if (site->parent[k] == d && bursts(o, site, k, step) &&
		    unit(o, (uint64_t)step, site->number << 20 | k, DIR_UP) < 0.3)
			return true;
	return false;
}

static double page_rate(const struct world_opts *o, const struct site *site, uint32_t d,
                        uint64_t page, int64_t step)
{
	uint64_t era = o->regime && step >= o->regime ? 1 : 0;
	double log_factor = o->rate_spread * normal(o, era, page, PAGE_RATE) +
	                    o->site_spread * normal(o, era, site->number, SITE_FACTOR) +
	                    o->dir_spread * normal(o, era, site->number << 20 | d, DIR_FACTOR);

	return fmin(1, o->rate * exp(log_factor));
}

struct writer {
	const struct world_opts *o;
	int (*record)(void *arg, const struct record *r, struct err *err);
	void *arg;
	struct buf url, links, digest;
};

static void page_url(struct buf *out, const struct site *site, uint32_t d, uint32_t i)
{
	buf_clear(out);
	buf_printf(out, "http://site%llu.example/%s", (unsigned long long)site->number,
	           d ? site->path[d] : "");
	if (i)
		buf_printf(out, "p%u.html", i);
}

/* 70 % within the directory, 20 % anywhere on the site, 10 % to another's home. */
static void page_links(struct writer *w, const struct site *site, uint32_t d, uint64_t page)
{
	buf_clear(&w->links);
	for (int64_t k = 0; k < w->o->links; k++) {
		double u = unit(w->o, (uint64_t)k, page, PAGE_LINK), v = u * 10 - floor(u * 10);
		uint32_t to = u < 0.7 ? d : (uint32_t)(v * site->n_dirs) % site->n_dirs;
		uint32_t i = (uint32_t)(unit(w->o, (uint64_t)k + 1000, page, PAGE_LINK) *
		                        site->n_pages[to]);

		if (u >= 0.9) {
			buf_printf(&w->links, "%shttp://site%llu.example/", k ? " " : "",
			           (unsigned long long)(v * (double)w->o->sites));
			continue;
		}
		buf_printf(&w->links, "%s/%s", k ? " " : "", to ? site->path[to] : "");
		if (i)
			buf_printf(&w->links, "p%u.html", i);
	}
}

static int emit(struct writer *w, int64_t time, uint64_t page, uint32_t version, int status,
                struct err *err)
{
	struct record r = { .time = time, .status = status, .length = -1, .offset = -1,
	                    .record_size = -1, .facts = { -1, -1, -1, -1, -1, -1 } };

	buf_clear(&w->digest);
	buf_printf(&w->digest, "%016llx", (unsigned long long)
	           rng_draw((uint64_t)w->o->seed, version, page, RNG_WORLD));
	r.url = (struct text){ w->url.data, w->url.size };
	r.mime = (struct text){ "text/html", 9 };
	if (status == 200) {
		r.digest = (struct text){ w->digest.data, w->digest.size };
		r.links = (struct text){ buf_text(&w->links), w->links.size };
	}
	return w->record(w->arg, &r, err);
}

/* Sites, directories and pages die independently of each other. */
static bool dies(const struct world_opts *o, const struct site *site, uint32_t d,
                 uint64_t page)
{
	return unit(o, 0, site->number, SITE_DIES) < o->site_dies ||
	       unit(o, 0, site->number << 20 | d, DIR_DIES) < o->dir_dies ||
	       unit(o, 0, page, PAGE_DIES) < o->page_dies;
}

static bool is_down(const struct world_opts *o, const struct site *site, int64_t step)
{
	return o->outage > 0 &&
	       unit(o, (uint64_t)step, site->number, SITE_FAILS) < o->outage;
}

static int write_page(struct writer *w, const struct site *site, uint32_t d, uint64_t page,
                      const bool *burst, struct err *err)
{
	const struct world_opts *o = w->o;
	double rate = page_rate(o, site, d, page, 0);
	uint32_t version = 0;
	bool fails = false;
	int rc = emit(w, o->start, page, 0, 200, err);

	for (int64_t step = 0; step < o->steps && rc == 0; step++) {
		double moment = unit(o, (uint64_t)step, page, PAGE_MOMENT);
		int64_t at = o->start + step * o->step_seconds + 1 +
		             (int64_t)(moment * (double)(o->step_seconds - 1));
		double u = unit(o, (uint64_t)step, page, PAGE_CHANGE), chance;

		if (o->regime && step == o->regime)
			rate = page_rate(o, site, d, page, step);
		if ((o->death > 0 && unit(o, (uint64_t)step, page, PAGE_DEATH) < o->death) ||
		    (step == 0 && dies(o, site, d, page)))
			return emit(w, at, page, 0, 404, err);
		fails = fails || (o->fail > 0 &&
		                  unit(o, (uint64_t)step, page, PAGE_FAILS) < o->fail);
		chance = 1 - (1 - rate) * (1 - (burst[step] ? o->burst_share : 0));
		if (u < chance && !fails)       /* a failing page hides its changes */
			rc = emit(w, at, page, ++version, 200, err);
		if (rc == 0 && (fails || is_down(o, site, step)))
			rc = emit(w, o->start + (step + 1) * o->step_seconds - 1, page, 0,
			          fails ? 403 : 500, err);
	}
	return rc;
}

int world_generate(const struct world_opts *o,
                   int (*record)(void *arg, const struct record *r, struct err *err),
                   void *arg, struct err *err)
{
	struct writer w = { .o = o, .record = record, .arg = arg };
	bool *burst = mem_zalloc((size_t)o->steps, sizeof *burst);
	uint64_t page = 0;
	int rc = 0;

	buf_init(&w.url, URL_SIZE_MAX);
	buf_init(&w.links, BUF_NO_LIMIT);
	buf_init(&w.digest, 64);
	for (int64_t s = 0; s < o->sites && rc == 0; s++) {
		struct site site;

		make_site(o, (uint64_t)s, &site);
		for (uint32_t d = 0; d < site.n_dirs && rc == 0; d++) {
			for (int64_t step = 0; step < o->steps; step++)
				burst[step] = touched(o, &site, d, step);
			for (uint32_t i = 0; i < site.n_pages[d] && rc == 0; i++, page++) {
				page_url(&w.url, &site, d, i);
				page_links(&w, &site, d, page);
				rc = write_page(&w, &site, d, page, burst, err);
			}
		}
		free_site(&site);
	}
	free(burst);
	buf_release(&w.url);
	buf_release(&w.links);
	buf_release(&w.digest);
	return rc;
}

struct file_writer {
	FILE *out;
	struct buf surt, line, url;     /* url: of the page before */
	struct world_stats stats;
};

static int write_record(void *arg, const struct record *r, struct err *err)
{
	struct file_writer *f = arg;
	struct cdx_line l;
	int rc;

	f->stats.captures++;
	if (f->url.size != r->url.size || memcmp(f->url.data, r->url.s, r->url.size)) {
		f->stats.pages++;
		buf_clear(&f->url);
		buf_add(&f->url, r->url.s, r->url.size);
	}
	cdx_clear(&l);
	buf_clear(&f->surt);
	buf_clear(&f->line);
	url_surt(r->url.s, r->url.size, &f->surt);
	l.surt = (struct text){ f->surt.data, f->surt.size };
	l.time = r->time;
	l.status = r->status;
	l.url = r->url;
	l.mime = r->mime;
	l.digest = r->digest;
	l.links = r->links;
	rc = cdx_write(&f->line, &l, true, err);
	if (rc == 0 && fwrite(f->line.data, 1, f->line.size, f->out) != f->line.size)
		rc = err_errno(err, E_IO, "writing the trace");
	return rc;
}

int world_write(const struct world_opts *o, const char *path, struct world_stats *ret,
                struct err *err)
{
	struct file_writer f = { 0 };
	struct output *out;
	int rc = output_open(&out, path, err);

	if (rc < 0)
		return rc;
	f.out = output_file(out);
	buf_init(&f.surt, BUF_NO_LIMIT);
	buf_init(&f.line, BUF_NO_LIMIT);
	buf_init(&f.url, BUF_NO_LIMIT);
	rc = world_generate(o, write_record, &f, err);
	if (rc == 0)
		rc = output_close(out, err);
	else
		output_abandon(out);
	buf_release(&f.surt);
	buf_release(&f.line);
	buf_release(&f.url);
	*ret = f.stats;
	return rc;
}
