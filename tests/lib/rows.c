/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - see rows.h. */
#include "rows.h"

static void put_text(struct buf *b, struct text t)
{
	if (!t.s)
		buf_str(b, " -");
	else
		buf_printf(b, " %zu:", t.size);
	for (size_t i = 0; i < t.size; i++)
		buf_printf(b, "%02x", (unsigned char)t.s[i]);
}

void rows_id(struct rows *d, uint64_t id)
{
	for (size_t i = 0; id && i < *d->n_ids; i++)
		if (d->ids[i] == id) {
			buf_printf(&d->out, " #%zu", i);
			return;
		}
	buf_printf(&d->out, id ? " #?" : " none");
}

int rows_page(void *arg, const struct store_page *p, struct err *err)
{
	struct rows *d = arg;

	(void)err;
	buf_printf(&d->out, "page %u %lld %lld %lld %u %u %u %u %u", p->number,
	           (long long)p->added, (long long)p->last_visit, (long long)p->last_change,
	           p->visits, p->changes, p->fails, p->fails_gone, p->state);
	rows_id(d, p->capture);
	buf_printf(&d->out, " %lld %lld %u %.17g %u %lld %u", (long long)p->hint, (long long)p->hint_seen,
	           p->found, p->weight, p->care, (long long)p->touched, p->notifier);
	put_text(&d->out, p->url);
	put_text(&d->out, p->given);
	buf_byte(&d->out, '\n');
	return 0;
}

int rows_page_brief(void *arg, const struct store_page *p, struct err *err)
{
	struct store_page brief = { .number = p->number, .url = p->url, .added = p->added,
	                            .last_visit = p->last_visit, .state = p->state,
	                            .weight = p->weight, .care = p->care };

	return rows_page(arg, &brief, err);
}

int rows_capture(void *arg, const struct store_capture *c, struct err *err)
{
	const struct text texts[] = { c->mime, c->digest, c->prose, c->tags, c->title, c->etag,
	                              c->modified, c->links, c->terms, c->robots, c->target,
	                              c->worker, c->file };
	const int64_t numbers[] = { c->time, c->status, c->revisit, c->length, c->bytes_text,
	                            c->words, c->images, c->tables, c->emails, c->outlinks,
	                            c->offset, c->size, c->has_simhash };
	struct rows *d = arg;

	(void)err;
	buf_printf(&d->out, "capture %u", c->page);
	rows_id(d, c->id);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		buf_printf(&d->out, " %lld", (long long)numbers[i]);
	buf_printf(&d->out, " %llx", (unsigned long long)(c->has_simhash ? c->simhash : 0));
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		put_text(&d->out, texts[i]);
	buf_byte(&d->out, '\n');
	return 0;
}

struct linked { struct rows *d; struct map keys, terms; uint64_t n, sum; };

static int see_linked(void *arg, const struct store_linked *c, struct err *err)
{
	const int64_t numbers[] = { c->time, c->status, c->revisit, c->length, c->words,
	                            c->has_links, c->has_terms };
	struct linked *l = arg;
	struct rows *d = l->d;

	(void)err;
	buf_printf(&d->out, "linked %u", c->page);
	rows_id(d, c->id);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		buf_printf(&d->out, " %lld", (long long)numbers[i]);
	put_text(&d->out, c->target);
	buf_printf(&d->out, " %llx %llx\n", (unsigned long long)c->links,
	           (unsigned long long)c->terms);
	if (c->has_terms && c->page % 3 != 1)
		map_put(&l->terms, c->terms, c->page);
	if (c->has_links && c->page % 3)
		map_put(&l->keys, c->links, c->page);
	return 0;
}

static int see_links(void *arg, uint32_t value, struct text text, struct err *err)
{
	struct linked *l = arg;

	(void)err;
	l->n++;
	l->sum += hash_bytes(text.s, text.size, value);
	return 0;
}

int rows_linked(struct rows *d, struct err *err)
{
	struct linked l = { .d = d };
	int rc = store_captures_linked(d->s, see_linked, &l, err);

	if (rc == 0)
		rc = store_links(d->s, &l.keys, see_links, &l, err);
	if (rc == 0)
		rc = store_terms(d->s, &l.terms, see_links, &l, err);
	buf_printf(&d->out, "links %llu %llx\n", (unsigned long long)l.n, (unsigned long long)l.sum);
	map_release(&l.keys);
	map_release(&l.terms);
	return rc;
}

int rows_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct rows *d = arg;
	struct store_page p;

	buf_printf(&d->out, "visit %u %u %u %lld %u %u %u %u %d %d %.9g %.9g %u %u", v->cycle,
	           /* of imported visits only which is first counts */
	           v->cycle ? v->order : 0, v->page, (long long)v->time, v->outcome, v->reason, v->cause, v->extra,
	           v->status, v->hit, (double)v->score, (double)v->probability, v->place, v->goal);
	rows_id(d, v->capture);
	/* a callback may ask for other rows */
	buf_printf(&d->out, " %d\n", v->page % 7 ? 0 : store_page_get(d->s, v->page, &p, err));
	return 0;
}

int rows_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	struct rows *d = arg;

	(void)err;
	buf_printf(&d->out, "cycle %u %lld %d %d %u %llx %u %u %u %u %u %u %u %u %u %u %.17g %.17g",
	           c->number, (long long)c->time, c->open, c->clients, c->goal,
	           (unsigned long long)c->seed, c->budget, c->owed, c->pages, c->downloads, c->fresh,
	           c->changed, c->same, c->gone, c->failed, c->blocked, c->seconds_plan,
	           c->seconds_total);
	put_text(&d->out, c->policy);
	buf_byte(&d->out, '\n');
	return 0;
}

int rows_round(void *arg, uint32_t number, uint32_t after, struct err *err)
{
	(void)err;
	buf_printf(&((struct rows *)arg)->out, "round %u %u\n", number, after);
	return 0;
}

int rows_lease(void *arg, const struct store_lease *l, struct err *err)
{
	struct rows *d = arg;

	(void)err;
	buf_printf(&d->out, "lease %u %u %u %lld %lld %u %u %u %u %.9g %.9g", l->cycle, l->place,
	           l->page, (long long)l->from, (long long)l->until, l->requests, l->order, l->state,
	           l->reason, (double)l->score, (double)l->probability);
	put_text(&d->out, l->client);
	return 0;
}

int rows_sent(void *arg, const struct store_sent *s, struct err *err)
{
	(void)err;
	buf_printf(&((struct rows *)arg)->out, "sent %u %u %u %u %d\n", s->cycle, s->page, s->place,
	           s->reason, s->read);
	return 0;
}

int rows_care(void *arg, const struct store_care *c, struct err *err)
{
	(void)err;
	buf_printf(&((struct rows *)arg)->out, "care %u %u %u %lld\n", c->cycle, c->page, c->care,
	           (long long)c->time);
	return 0;
}

int rows_tag(void *arg, struct text tag, uint64_t n, struct err *err)
{
	struct rows *d = arg;

	(void)err;
	buf_printf(&d->out, "tag %llu", (unsigned long long)n);
	put_text(&d->out, tag);
	return 0;
}

int rows_tagged(void *arg, uint32_t page, struct err *err)
{
	(void)err;
	buf_printf(&((struct rows *)arg)->out, "tagged %u\n", page);
	return 0;
}

int rows_pair(void *arg, const char *key, const char *value, struct err *err)
{
	struct rows *d = arg;

	(void)err;
	buf_printf(&d->out, "pair %s %s\n", key, value);
	return 0;
}

int rows_hint(void *arg, struct text site, const struct store_hint *h, struct err *err)
{
	struct rows *d = arg;

	(void)err;
	buf_printf(&d->out, "hint %u %u %u %lld %u", h->checks, h->hits, h->told,
	           (long long)h->read, h->doubt);
	put_text(&d->out, site);
	return 0;
}

int rows_robots(void *arg, const struct store_robots *r, struct err *err)
{
	struct rows *d = arg;

	(void)err;
	buf_printf(&d->out, "robots %lld %d %d %lld %lld", (long long)r->time, r->status, r->cut,
	           (long long)r->tried, (long long)r->failing);
	put_text(&d->out, r->origin);
	put_text(&d->out, r->body.size ? r->body : (struct text){ 0 });
	return 0;
}

int rows_word(void *arg, uint32_t number, struct text word, struct err *err)
{
	struct rows *d = arg;

	(void)err;
	buf_printf(&d->out, "word %u", number);
	put_text(&d->out, word);
	return 0;
}
