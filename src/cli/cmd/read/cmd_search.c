/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_search.c - `freshet search QUERY`: the copies that match, best first, with
 * when each was last seen and how likely it is stale by now.
 *
 * Ranking is that of engine/replay/search.h, on the words of the newest copies, and on the
 * PageRank that policies see, which lies beside the store (engine/view/kept_links.h).
 * Stale: 1 - exp(-rate * age), the rate being that of the site's pages, times the changes
 * found at the page against those expected of it, both with SITES_PRIOR added so that a page
 * seldom visited is taken as one of its site.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "cli/frame/repository.h"
#include "engine/import/import_words.h"
#include "engine/recall/sites.h"
#include "engine/replay/search.h"
#include "web/html/encoding.h"
#include "web/text/terms.h"
#include "web/text/words.h"

#define QUERY_MAX 65536         /* bytes of an argument that are read */

struct search_cli_opts { int64_t k, now; double text_weight; };

static const struct option_spec search_options[] = {
	OPT_INT(search_cli_opts, k, 10, 1, SEARCH_K_MAX, "results"),
	OPT_DOUBLE(search_cli_opts, text_weight, 0.5, 0, 1,
	           "weight of the text; PageRank has the rest"),
	OPT_TIME(search_cli_opts, now, NULL, "as if it were this time"),
	OPT_END
};

struct found { uint32_t page; double score, stale; int64_t seen; char title[160]; };

struct copy {
	int64_t time;
	uint64_t terms;                 /* key of its text */
	uint32_t same;                  /* another page with that text; MAP_NONE: no more */
	float words;
	bool is_there, has_terms;
	bool lacks;                     /* a copy has words that were not counted */
};

struct searching {
	struct store *store;
	struct inventory has;
	struct import_words words;
	struct search_set set;
	struct search_index index;
	struct visit_counts visits;
	struct site_status *sites;
	struct copy *copies;            /* by page */
	uint64_t n_read;                /* captures, then texts */
	struct progress progress;
};

/* Rising numbers of the query's words, each once. */
struct query {
	struct import_words *words;
	uint32_t number[SEARCH_TERMS_MAX], n;
};

/* False: no page has it. */
static bool query_add(struct query *q, const char *word, size_t size)
{
	uint32_t number, at;
	const char *stem = stemmer_stem(q->words->stemmer, word, &size);

	number = strtab_find(&q->words->words.words, stem, size);
	if (number == MAP_NONE)
		return false;
	for (at = 0; at < q->n && q->number[at] < number; at++)
		;
	if (q->n == SEARCH_TERMS_MAX || (at < q->n && q->number[at] == number))
		return true;
	memmove(&q->number[at + 1], &q->number[at], (q->n - at) * sizeof *q->number);
	q->number[at] = number;
	q->n++;
	return true;
}

static void query_each(void *arg, const char *word, size_t size, uint64_t hash)
{
	(void)hash;
	query_add(arg, word, size);
}

/* The words of the query as rows of the set.  An argument that is not a word itself, such
 * as a quoted query, is split into words as pages are.  1: no word is known. */
static int make_set(struct searching *s, const struct search_cli_opts *o, int n, char **words,
                    struct err *err)
{
	struct query q = { .words = &s->words };
	struct words split = { .no_simhash = true, .each = query_each, .arg = &q };
	struct encoding encoding = { 0 };
	const uint32_t *numbers = q.number;
	uint32_t n_numbers;

	for (int i = 0; i < n; i++) {
		const char *text;
		size_t size;

		for (char *p = words[i]; *p; p++)
			*p = (char)tolower((unsigned char)*p);
		if (query_add(&q, words[i], strlen(words[i])))
			continue;
		encoding_decode(&encoding, words[i], strlen(words[i]), "utf-8", 5, QUERY_MAX, &text,
		                &size);
		words_add(&split, text, size);
	}
	encoding_release(&encoding);
	n_numbers = q.n;
	if (!s->words.words.words.n)
		return err_set(err, E_FAIL, "no words were counted yet: `freshet set words yes` has the "
		               "cycles from now on do it; archives bring theirs");
	if (!n_numbers)
		return 1;
	s->set.opts = (struct search_opts){ .k = (uint32_t)o->k, .weight_text = o->text_weight,
	                                    .weight_rank = 1 - o->text_weight };
	s->set.n_queries = 1;
	s->set.queries = mem_zalloc(1, sizeof *s->set.queries);
	s->set.terms = mem_array(n_numbers, sizeof *s->set.terms);
	memcpy(s->set.terms, numbers, n_numbers * sizeof *numbers);
	s->set.n_terms = n_numbers;
	s->set.queries[0].n = n_numbers;
	for (uint32_t i = 0; i < n_numbers; i++)
		s->set.queries[0].row[i] = i;
	return 0;
}

/* ---- the copies ---- */

/* The newest good capture of a page is its copy, even if it has no words, unless its words were
 * not counted. */
static int see_capture(void *arg, const struct store_linked *c, struct err *err)
{
	struct searching *s = arg;
	struct copy *copy;

	if (progress_set(&s->progress, ++s->n_read))
		return err_set(err, E_STOP, "the search was stopped");
	if (c->page >= s->has.loaded.pages.n || c->status < 200 || c->status > 299)
		return 0;
	copy = &s->copies[c->page];
	if (!c->has_terms && c->words)
		copy->lacks = true;
	else if (!copy->is_there || c->time >= copy->time)
		*copy = (struct copy){ c->time, c->terms, MAP_NONE, (float)c->words, true,
		                       c->has_terms, copy->lacks };
	return 0;
}

/* Pages by the text of their words; returns how many texts. */
static size_t index_texts(struct searching *s, struct map *by_text)
{
	for (uint32_t i = 0; i < s->has.loaded.pages.n; i++) {
		if (!s->copies[i].has_terms)
			continue;
		s->copies[i].same = map_get(by_text, s->copies[i].terms);
		map_put(by_text, s->copies[i].terms, i);
	}
	return by_text->n;
}

/* The counts of the query's words only, and how many words the text has. */
static int see_text(void *arg, uint32_t page, struct text text, struct err *err)
{
	struct searching *s = arg;
	struct term picked[SEARCH_TERMS_MAX];
	uint32_t counts[SEARCH_TERMS_MAX], n = 0;
	uint64_t sum;

	if (progress_set(&s->progress, ++s->n_read))
		return err_set(err, E_STOP, "the search was stopped");
	if (!terms_pick(text.s, text.size, s->set.terms, s->set.n_terms, counts, &sum))
		return 0;
	for (uint32_t i = 0; i < s->set.n_terms; i++)
		if (counts[i])
			picked[n++] = (struct term){ s->set.terms[i], counts[i] };
	for (; page != MAP_NONE; page = s->copies[page].same) {
		float words = s->copies[page].words;
		struct page_facts f = { .words = words > 0 ? words : (float)sum, .terms = picked,
		                        .n_terms = n };

		search_index_put(&s->index, page, &f);
	}
	return 0;
}

/* Captures and texts are read as they lie in the store: first which captures count, then their
 * texts, each once. */
static int index_copies(struct searching *s, struct err *err)
{
	struct map by_text = { 0 };
	struct store_counts has;
	int rc = store_count(s->store, &has, err);

	if (rc < 0)
		return rc;
	s->set.pagerank = s->has.prepared.pagerank;
	search_index_init(&s->index, &s->set, s->has.loaded.pages.n);
	s->copies = mem_zalloc(s->has.loaded.pages.n, sizeof *s->copies);
	progress_start(&s->progress, "looking for copies", "captures", has.captures);
	rc = store_captures_linked(s->store, see_capture, s, err);
	s->n_read = 0;
	progress_start(&s->progress, "searching", "texts", index_texts(s, &by_text));
	if (rc == 0)
		rc = store_terms(s->store, &by_text, see_text, s, err);
	progress_end(&s->progress);
	map_release(&by_text);
	return rc;
}

/* A search that leaves pages out says so: a page that never changes would be missed for ever. */
static void say_what_lacks(const struct searching *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; s->copies && i < s->has.loaded.pages.n; i++)
		n += s->copies[i].lacks && !s->copies[i].is_there;
	if (n)
		log_info("the words of %u page%s were not counted, so %s not searched: that comes with "
		         "the next change of the page", n, n == 1 ? "" : "s", n == 1 ? "it is" : "they are");
}

static int describe(struct searching *s, struct found *f, int64_t now, struct err *err)
{
	const struct site_status *site;
	struct store_capture c;
	struct store_page p;
	double rate, age;
	int rc = store_page_get(s->store, f->page, &p, err);

	if (rc <= 0)
		return rc;
	f->seen = p.last_visit;
	site = &s->sites[s->has.loaded.pages.site[f->page]];
	rate = sites_page_rate(site, p.visits, p.changes);
	age = now > p.last_visit ? (double)(now - p.last_visit) / DAY_SECONDS : 0;
	f->stale = rate > 0 ? -expm1(-rate * age) : NAN;
	if (p.capture && store_capture_get(s->store, p.capture, &c, err) > 0 && c.title.s)
		snprintf(f->title, sizeof f->title, "%.*s", (int)c.title.size, c.title.s);
	return 0;
}

static void print_results(const struct cli *cli, const struct searching *s,
                          struct found *f, uint32_t n)
{
	struct json j;

	if (cli->common.json) {
		cli_json_begin(&j, "search");
		json_key(&j, "results");
		json_array(&j);
	}
	for (uint32_t i = 0; i < n; i++) {
		const char *url = pages_url(&s->has.loaded.pages, f[i].page);
		char t[21] = "never";

		if (f[i].seen)
			when_iso(f[i].seen, t);
		if (cli->common.json) {
			json_object(&j);
			json_kint(&j, "rank", i + 1);
			json_kstr(&j, "url", url);
			json_kstr(&j, "title", *f[i].title ? f[i].title : NULL);
			json_kstr(&j, "last_seen", f[i].seen ? t : NULL);
			json_knum(&j, "stale", f[i].stale);
			json_end_object(&j);
			continue;
		}
		printf("%2u. %s\n    %s%sseen %s, ", i + 1, url, log_plain(f[i].title),
		       *f[i].title ? " - " : "", t);
		if (isnan(f[i].stale))
			puts("nothing is known of its changes");
		else
			printf("stale with probability %.2f\n", f[i].stale);
	}
	if (cli->common.json) {
		json_end_array(&j);
		cli_json_end(&j);
	}
}

static int see_newest(void *arg, const struct store_cycle *c, struct err *err)
{
	struct inventory_opts *io = arg;

	(void)err;
	io->cache = !c->open;
	io->before_cycle = c->open ? c->number : c->number + 1;
	return 0;
}

/* The pages, with the PageRank that policies see. */
static int open_pages(struct searching *s, struct err *err)
{
	struct inventory_opts io = { .needs = NEED_PAGERANK, .as_planned = true, .cache = true,
	                             .progress = &s->progress };
	int rc = store_cycles(s->store, STORE_NEWEST, see_newest, &io, err);

	return rc < 0 ? rc : inventory_open(&s->has, s->store, &io, err);
}

/* What is known of the sites, to say how stale a copy is. */
static int look_at_sites(struct searching *s, struct err *err)
{
	int rc = visit_counts_load(&s->visits, s->store, &s->has.loaded.pages, &s->progress, err);

	if (rc == 0)
		s->sites = sites_status(&s->has.loaded, NULL, &s->visits, DAY_SECONDS, clock_now());
	return rc;
}

static void searching_release(struct searching *s)
{
	search_index_release(&s->index);
	search_set_release(&s->set);
	import_words_release(&s->words);
	free(s->copies);
	free(s->sites);
	visit_counts_release(&s->visits);
	inventory_release(&s->has);
	store_close(s->store);
}

static int search_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	struct search_cli_opts *o = opts;
	struct searching s = { 0 };
	struct found found[SEARCH_K_MAX] = { { 0 } };
	uint32_t top[SEARCH_K_MAX], n = 0;
	int rc = repository_read(cli, &s.store, err);

	if (rc < 0)
		return rc;
	if ((rc = import_words_load(&s.words, s.store, NULL, false, err)) == 0 &&
	    (rc = make_set(&s, o, n_args, args, err)) == 0 &&
	    (rc = open_pages(&s, err)) == 0 && (rc = index_copies(&s, err)) == 0)
		n = search_rank(&s.index, 0, (uint32_t)o->k, top);
	if (n)
		rc = look_at_sites(&s, err);
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		found[i].page = top[i];
		rc = describe(&s, &found[i], o->now ? o->now : clock_now(), err);
		if (rc > 0)
			rc = 0;
	}
	if (rc == 1)                    /* no word of the query is in the repository */
		rc = 0;
	if (rc == 0 && !n)
		log_info("no copy has any of these words");
	if (rc == 0)
		say_what_lacks(&s);
	if (rc == 0)
		print_results(cli, &s, found, n);
	searching_release(&s);
	return rc;
}

const struct command command_search = {
	.name = "search",
	.on_fleet = FLEET_EACH,
	.arguments = "WORD...",
	.summary = "copies that match, with when they were seen and how likely they are stale",
	.description =
		"Searches the newest copies by the words that were counted in them, ranked by text and\n"
		"PageRank (of the links that policies see, which are read again every 26 cycles). Every\n"
		"copy is read. Archives bring words (extended CDXJ with terms, or WARC), and so do cycles\n"
		"on the live web from then on; `freshet set words yes` has them count from the start.",
	.examples = "  freshet -C crawl search security update\n",
	.options = search_options,
	.opts_size = sizeof(struct search_cli_opts),
	.n_args_min = 1,
	.n_args_max = -1,
	.read = true,
	.exits = "0 done, also if nothing was found\n"
		"1 no words were counted yet\n",
	.run = search_run,
};
