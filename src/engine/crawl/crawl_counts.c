/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_counts.c - what a report counts beyond the cycle's row, whole also if the cycle
 * was broken off and gone on with.
 *
 * The state `report`, written with each batch, has the numbers of the open cycle as
 * NAME=NUMBER, reasons by their names, so that a later version with more of them reads it
 * as it was meant.  What was not in the last batch is not counted, as its pages are not.
 */
#include "engine/crawl/crawl_inner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE_KEY "report"

static void put(struct buf *b, const char *name, uint64_t n)
{
	if (n)
		buf_printf(b, " %s=%" PRIu64, name, n);
}

int crawl_counts_save(struct crawl *c, struct err *err)
{
	const struct crawl_report *r = c->report;
	struct fetch_stats stats = { 0 };
	struct buf text;
	int rc;

	fetch_stats(c->fetch, &stats);
	buf_init(&text, 4096);
	buf_printf(&text, "cycle=%u", r->cycle.number);
	put(&text, "visits", r->visits);
	put(&text, "answered", r->answered);
	put(&text, "not-modified", r->not_modified);
	put(&text, "unasked", r->unasked);
	put(&text, "late", r->late);
	put(&text, "checks", r->checks);
	put(&text, "lies", r->lies);
	put(&text, "aliases", r->discovery.aliases);
	put(&text, "bytes", c->before.bytes + stats.bytes);
	put(&text, "robots-requests", c->before.robots + stats.robots_requests);
	put(&text, "robots-budgeted", c->before.budgeted + stats.robots_budgeted);
	for (int i = 1; i < FETCH_N_ERRORS; i++)
		put(&text, fetch_error_name((enum fetch_error)i), r->reasons[i]);
	put(&text, "status", r->reasons[FETCH_OK]);
	rc = store_state_put(c->store, STORE_OF_SHARD, STATE_KEY, buf_text(&text), err);
	buf_release(&text);
	return rc;
}

static void take(struct crawl *c, const char *name, uint64_t n)
{
	struct crawl_report *r = c->report;
	struct { const char *name; uint32_t *to; } known[] = {
		{ "visits", &r->visits }, { "answered", &r->answered }, { "unasked", &r->unasked },
		{ "late", &r->late },
		{ "not-modified", &r->not_modified }, { "checks", &r->checks }, { "lies", &r->lies },
		{ "aliases", &r->discovery.aliases }, { "status", &r->reasons[FETCH_OK] },
	};

	if (!strcmp(name, "bytes"))
		c->before.bytes = n;
	if (!strcmp(name, "robots-requests"))
		c->before.robots = n;
	if (!strcmp(name, "robots-budgeted"))
		c->before.budgeted = n;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(name, known[i].name))
			*known[i].to = (uint32_t)n;
	for (int i = 1; i < FETCH_N_ERRORS; i++)
		if (!strcmp(name, fetch_error_name((enum fetch_error)i)))
			r->reasons[i] = (uint32_t)n;
}

int crawl_counts_load(struct crawl *c, struct err *err)
{
	char *text = NULL, *word, *save = NULL;
	int rc = store_state_get(c->store, STORE_OF_SHARD, STATE_KEY, &text, err);

	word = text ? strtok_r(text, " ", &save) : NULL;
	if (word && (strncmp(word, "cycle=", 6) ||
	             strtoull(word + 6, NULL, 10) != c->report->cycle.number))
		word = NULL;            /* it is of another cycle: ignore it */
	while (word && (word = strtok_r(NULL, " ", &save))) {
		char *equals = strchr(word, '=');

		if (!equals)
			continue;
		*equals = '\0';
		take(c, word, strtoull(equals + 1, NULL, 10));
	}
	free(text);
	return rc < 0 ? rc : 0;
}

void crawl_counts_ceiling(struct crawl *c)
{
	struct ceiling *ceiling = &c->resumed->engine.ceiling;
	struct buf name;

	if (!ceiling->n_excess)
		return;
	c->report->given_up += ceiling->n_excess;
	ceiling->n_excess = 0;          /* it is in the report now */
	buf_init(&name, BUF_NO_LIMIT);
	ceiling_worst(ceiling, &c->resumed->engine.view, &name);
	snprintf(c->report->full_site, sizeof c->report->full_site, "%s", buf_text(&name));
	buf_release(&name);
}

void crawl_counts_end(struct crawl *c)
{
	if (!c->fetch)
		return;
	fetch_stats(c->fetch, &c->report->fetch);
	c->report->fetch.bytes += c->before.bytes;
	c->report->fetch.robots_requests += c->before.robots;
	c->report->fetch.robots_budgeted += c->before.budgeted;
}
