/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analyse_cell.c - a page is read in a cell; see analyse.h and base/sandbox/cell.h.
 *
 * There go the URL, two headers, how the page is to be read, and its body; here comes what the
 * record gets of it.  A page may have taken the cell over, so that all of this is a lie: every
 * text is checked to be what a reader could have found (links in canonical ASCII, titles in
 * UTF-8, words within their pool), and what is not fails as a whole.
 */
#include "engine/archive/analyse.h"

#include <string.h>

#include "base/sandbox/cell.h"
#include "base/sandbox/parcel.h"
#include "base/utf8.h"
#include "web/page/options_parcel.h"

enum flag { COUNT_WORDS = 1, LOOK_FOR_PHRASE = 2 };

#define ANSWER_ROOM ((size_t)48 << 20)  /* of links; and of the words of a page, */
#define ANSWER_FACTOR 6                 /* which are as many as its bytes allow */

#define LINKS_SIZE_MAX ((RECORD_LINKS_MAX + 1) * ((size_t)URL_SIZE_MAX + 1))

/* ---- in the cell ---- */

static int set_stemmer(struct word_counter *c, struct text language, struct err *err)
{
	const char *now = stemmer_language(c->stemmer);
	char name[64] = "";

	if (now && language.s && strlen(now) == language.size &&
	    !memcmp(now, language.s, language.size))
		return 0;
	stemmer_free(c->stemmer);
	c->stemmer = NULL;
	if (!language.s)
		return 0;
	if (language.size < sizeof name)
		memcpy(name, language.s, language.size);
	return stemmer_new(&c->stemmer, name, err);
}

static void put_answer(const struct analyser *a, const struct record *r, struct buf *out)
{
	const int64_t facts[] = { r->facts.text, r->facts.words, r->facts.images, r->facts.tables,
	                          r->facts.emails, r->facts.outlinks };
	const struct word_counts *counts;

	parcel_put(out, a->not_found);
	parcel_put(out, r->simhash);
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
		parcel_put(out, (uint64_t)facts[i]);
	parcel_put_text(out, r->prose);
	parcel_put_text(out, r->tags);
	parcel_put_text(out, r->title);
	parcel_put_text(out, r->links);
	parcel_put_text(out, r->robots);
	if (!a->words)
		return;
	counts = &a->words->page;
	parcel_put_text(out, (struct text){ buf_text(&counts->pool), counts->pool.size });
	parcel_put(out, counts->words.n * sizeof *counts->words.v);
	buf_add(out, counts->words.v, counts->words.n * sizeof *counts->words.v);
}

int analyse_cell(const struct text *parts, size_t n, struct buf *answer, struct err *err)
{
	static struct analyser a;
	static struct word_counter words;
	static struct ignore ignore;
	static bool ready;
	struct parcel p = { parts[0].s, parts[0].size, n != 2 };
	unsigned flags = (unsigned)parcel_number(&p);
	struct analyse_input in = { .body = parts[1].s, .size = parts[1].size };
	struct record r = { .facts = { -1, -1, -1, -1, -1, -1 } };
	int rc;

	if (!ready)
		analyser_init(&a);
	ready = true;
	in.robots = (unsigned)parcel_number(&p);
	in.url = parcel_text(&p);
	in.content_type = parcel_text(&p);
	in.content_encoding = parcel_text(&p);
	rc = set_stemmer(&words, parcel_text(&p), err);
	if (rc < 0)
		return rc;
	a.options = options_parcel_open(&p, &ignore);
	a.words = flags & COUNT_WORDS ? &words : NULL;
	a.look_for_phrase = flags & LOOK_FOR_PHRASE;
	if (p.bad)
		return err_set(err, E_PARSE, "the work makes no sense");
	analyse_here(&a, &in, &r);
	put_answer(&a, &r, answer);
	return 0;
}

/* ---- here ---- */

static void put_work(struct analyser *a, const struct analyse_input *in)
{
	struct extract_options o = a->options;
	const char *stem = a->words ? stemmer_language(a->words->stemmer) : NULL;
	unsigned flags = (a->words ? COUNT_WORDS : 0) | (a->look_for_phrase ? LOOK_FOR_PHRASE : 0);

	if (a->rules)
		o.ignore = ignore_list_find(a->rules, in->url.s, in->url.size);
	buf_clear(&a->asked);
	parcel_put(&a->asked, flags);
	parcel_put(&a->asked, in->robots);
	parcel_put_text(&a->asked, in->url);
	parcel_put_text(&a->asked, in->content_type);
	parcel_put_text(&a->asked, in->content_encoding);
	parcel_put_text(&a->asked, (struct text){ stem, stem ? strlen(stem) : 0 });
	options_parcel_put(&a->asked, &o);
}

/* Canonical URLs and words, blanks between; no more than RECORD_LINKS_MAX can be. */
static bool is_ascii(struct text t)
{
	for (size_t i = 0; i < t.size; i++)
		if ((unsigned char)t.s[i] < ' ' || (unsigned char)t.s[i] >= 127)
			return false;
	return t.size <= LINKS_SIZE_MAX;
}

static bool is_hex(struct text t)
{
	return t.s && t.size == 16 && strspn(t.s, "0123456789abcdef") >= 16;
}

static bool is_title(struct text t)
{
	for (size_t i = 0, n; i < t.size; i += n) {
		uint32_t c;

		n = utf8_get(t.s + i, t.size - i, &c);
		if (!n || !c)
			return false;
	}
	return t.size <= EXTRACT_TITLE_MAX;
}

/* No more words than were counted, each within the pool. */
static bool take_words(struct parcel *p, struct word_counts *page)
{
	struct text pool = parcel_text(p);
	struct text words = parcel_text(p);
	struct word_count w;

	page->words.n = 0;
	buf_clear(&page->pool);
	if (p->bad || !pool.s || !words.s || words.size % sizeof w)
		return false;
	if (!page->pool.max)
		buf_init(&page->pool, BUF_NO_LIMIT);
	buf_add(&page->pool, pool.s, pool.size);
	for (size_t i = 0; i < words.size; i += sizeof w) {
		memcpy(&w, words.s + i, sizeof w);
		if (!w.size || !w.count || w.at > pool.size || w.size > pool.size - w.at)
			return false;
		vec_push(&page->words, w);
	}
	return true;
}

struct taking { struct analyser *a; struct record *r; };

static bool take_answer(void *arg, const char *answer, size_t size)
{
	struct analyser *a = ((struct taking *)arg)->a;
	struct record *r = ((struct taking *)arg)->r;
	struct parcel *p = &(struct parcel){ answer, size, false };
	int64_t *const facts[] = { &r->facts.text, &r->facts.words, &r->facts.images,
	                           &r->facts.tables, &r->facts.emails, &r->facts.outlinks };

	a->not_found = parcel_number(p) != 0;
	r->simhash = parcel_number(p);
	r->has_simhash = true;
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
		uint64_t n = parcel_number(p);

		if (n > UINT32_MAX && n != (uint64_t)-1)
			return false;
		*facts[i] = (int64_t)n;
	}
	r->prose = parcel_text(p);
	r->tags = parcel_text(p);
	r->title = parcel_text(p);
	r->links = parcel_text(p);
	r->robots = parcel_text(p);
	return !p->bad && is_hex(r->prose) && is_hex(r->tags) && is_title(r->title) &&
	       is_ascii(r->links) && is_ascii(r->robots) &&
	       (!a->words || take_words(p, &a->words->page));
}

bool analyse_may_wait(size_t n, size_t bytes)
{
	return cells_do(CELL_PAGE) && n < ANALYSE_TOGETHER && bytes < ANALYSE_TOGETHER_BYTES;
}

void analyser_rest(struct analyser *a)
{
	if (a->answer.cap > ANALYSE_TOGETHER_BYTES) {
		buf_release(&a->answer);
		buf_init(&a->answer, BUF_NO_LIMIT);
	}
}

static void analyse_some(struct analyse_job *jobs, size_t n)
{
	struct cell_job works[ANALYSE_TOGETHER];
	struct taking takings[ANALYSE_TOGETHER];
	struct record found[ANALYSE_TOGETHER];

	for (size_t i = 0; i < n; i++) {
		struct analyser *a = jobs[i].analyser;
		const struct analyse_input *in = jobs[i].in;

		put_work(a, in);
		buf_clear(&a->answer);
		found[i] = *jobs[i].record;
		takings[i] = (struct taking){ a, &found[i] };
		works[i] = (struct cell_job){
			.parts = { { a->asked.data, a->asked.size }, { in->body, in->size } }, .n = 2,
			.most = ANSWER_ROOM + ANSWER_FACTOR * in->size, .ret = &a->answer,
			.check = take_answer, .arg = &takings[i], .err = jobs[i].err };
	}
	cell_call_all(CELL_PAGE, works, n);
	for (size_t i = 0; i < n; i++) {
		jobs[i].rc = works[i].rc;
		if (works[i].rc == 0)
			*jobs[i].record = found[i];
	}
}

void analyse_all(struct analyse_job *jobs, size_t n)
{
	for (size_t i = 0; !cells_do(CELL_PAGE) && i < n; i++) {
		analyse_here(jobs[i].analyser, jobs[i].in, jobs[i].record);
		jobs[i].rc = 0;
	}
	for (size_t i = 0; cells_do(CELL_PAGE) && i < n; i += ANALYSE_TOGETHER)
		analyse_some(jobs + i, n - i < ANALYSE_TOGETHER ? n - i : ANALYSE_TOGETHER);
}

int analyse(struct analyser *a, const struct analyse_input *in, struct record *r,
            struct err *err)
{
	struct analyse_job j = { .analyser = a, .in = in, .record = r, .err = err };

	analyse_all(&j, 1);
	return j.rc;
}
