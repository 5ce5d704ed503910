/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - what a policy may see: the repository as arrays, indexed by page number.
 *
 * The engine owns the arrays.  It builds them from the store or from a recorded history,
 * and updates them between rounds.  A policy only reads them.  Page numbers are dense and
 * do not change while a repository is open; a page that left keeps its number.
 *
 * Directories form a forest: nodes 0 .. n_dirs - 1, parents before children.  The root of
 * a host is its "/" directory.  Memory: 37 bytes a page and 24 a directory, without links
 * and URL text.
 */
#ifndef POLICY_VIEW_H
#define POLICY_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/numbers.h"
#include "policy/shared.h"

#define PAGE_NONE UINT32_MAX
#define DIR_NONE UINT32_MAX

/* What a download is for, under goal changed: to find a change; to have true copies, as
 * many and as long as possible; or to leave no copy false for long. */
enum aim { AIM_CHANGES, AIM_FRESHNESS, AIM_AGE };
#define AIM_CHOICES "changes|freshness|age"
#define AIM_DEFAULT "freshness"
/* What pages count by. */
enum weight_by { WEIGHT_NONE, WEIGHT_PAGERANK, WEIGHT_GIVEN };
#define WEIGHT_CHOICES "none|pagerank|given"
/* What policies are told of a page: differs from our copy, or from its own
 * state one cycle ago (what the papers' archives could check). */
enum observe { OBSERVE_LOCAL, OBSERVE_CYCLE };

enum page_state {
	PAGE_HERE  = 1,         /* in the repository: may be planned */
	PAGE_TAKEN = 2,         /* already planned in this cycle */
	PAGE_CLOSED = 4,        /* its owner has reached its ceiling (engine/cycle/ceiling.h) */
	PAGE_RESTS = 8,         /* it failed and rests for a while (engine/cycle/retry.h) */
	PAGE_RETRIED = 16,      /* planned, back from a rest, and not told yet */
	PAGE_OUT = 32,          /* would be here, but the user keeps it out; not in a view */
};

struct tree {
	uint32_t n_dirs, n_sites;
	const uint32_t *dir_parent;     /* DIR_NONE for a host's root */
	const uint32_t *dir_site;
	const uint32_t *dir_depth;      /* 0 for a host's root */
	const uint8_t *dir_alone;       /* 1: of the settled pages one, and nothing below it */
	const uint32_t *dir_first;      /* n_dirs + 1: into dir_pages */
	const uint32_t *dir_pages;      /* pages grouped by their directory */
	const uint32_t *child_first;    /* n_dirs + 1: into child_dirs */
	const uint32_t *child_dirs;
	const uint32_t *site_first;     /* n_sites + 1: into site_pages */
	const uint32_t *site_pages;     /* pages grouped by site */
};

/* Groups of pages that a policy can ask for (NEED_FAMILIES): pages of one site
 * that share a file name, its leading letters, the last directory's name, or
 * the directory path with digit runs as 0. */
enum family { FAMILY_NAME, FAMILY_WORD, FAMILY_LAST, FAMILY_SHAPE, N_FAMILIES };

/*
 * Features to cluster pages by.  The first three are sparse rows: TF-IDF of words.  The
 * others are dense columns: 18 static ones without words; 10 of the changes between
 * copies; all 48; and the 38 that can be computed from one copy.
 */
enum feature_set {
	SET_URL, SET_CONTENT, SET_URL_CONTENT, SET_STATIC,
	SET_DYNAMIC, SET_COMBINED, SET_FIRST_COPY,
};
/* The same as choices of an option; users cannot choose the last one. */
#define SET_CHOICES "url|content|url+content|static|dynamic|combined"

struct graph;
struct grouping_share;
struct rows;
struct view;

/* Makes one unit row for each page from our present copy; pages that are not in the
 * repository have empty rows.  The caller releases the rows. */
struct feature_maker {
	void *self;
	void (*rows)(void *self, const struct view *v, enum feature_set set,
	             struct rows *ret);
};

struct view {
	int64_t now;                    /* time of the cycle, Unix seconds */
	int64_t cycle_seconds;          /* planned seconds between cycles */
	uint64_t seed;
	uint32_t cycle;                 /* 1, 2, ... */
	uint32_t round;                 /* 0 at the first ask() of a cycle */
	uint32_t budget;                /* R, the downloads of this cycle */
	uint32_t room;                  /* downloads that are not planned yet */
	uint32_t n_shards;              /* of the fleet that this is a shard of; 0: of none */
	struct shared shared;           /* what all its shards have learnt, before this cycle */
	enum goal goal;
	enum observe observe;
	enum aim aim;

	uint32_t n_pages;
	uint32_t n_settled;             /* the first so many have links, PageRank and sizes; those
	                                 * that came later have the least PageRank and no size */
	const uint8_t *state;           /* enum page_state, or-ed */
	const uint32_t *site;
	const uint32_t *dir;
	const uint32_t *last_cycle;     /* cycle of the last visit; 0: before the first cycle */
	const int64_t *last_visit;
	const char *url_pool;
	const uint64_t *url_offset;
	const struct tree *tree;

	/* Only if asked for by policy_ops.needs, else NULL. */
	const struct graph *links;      /* within a site and beyond, out-links */
	const struct graph *links_in;
	const double *pagerank;         /* of settled pages it sums to 1 */
	const uint8_t *pagerank10;      /* 0..10 on a log scale */
	const uint8_t *size;            /* of our copies: size_class(); 0: unknown */
	const uint32_t *family[N_FAMILIES];
	uint32_t n_family[N_FAMILIES];
	const struct feature_maker *features;   /* NEED_CLUSTERS */
	struct grouping_share *groups;  /* clusters shared by several replay runs, or NULL */
	unsigned threads;               /* for the kernels; 0: one a processor */
	const float *weight;            /* of pages, mean about 1; NULL: all count alike */
	const uint8_t *truth;           /* replay only: would a visit now be a hit? */
	/* replay only: when our copy became stale (INT64_MAX: it is fresh), and when the
	 * page changes next, or the history ends */
	const int64_t *stale_since, *next_change;
};

static inline bool view_open(const struct view *v, uint32_t page)
{
	return v->state[page] == PAGE_HERE;
}

static inline const char *view_url(const struct view *v, uint32_t page)
{
	return v->url_pool + v->url_offset[page];
}

/* Cycles since the last visit; at least 1 if the page was not visited in this cycle. */
static inline uint32_t view_age(const struct view *v, uint32_t page)
{
	return v->cycle - v->last_cycle[page];
}

#endif
