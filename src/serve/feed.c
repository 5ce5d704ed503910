/* SPDX-License-Identifier: Apache-2.0 */
/* feed.c - see feed.h. */
#include "serve/feed.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/export/changes.h"
#include "cli/frame/command.h"
#include "engine/changes/change_place.h"
#include "serve/fleet/fleet.h"
#include "serve/hub.h"

struct feed {
	struct change_place at;         /* of one store: one place */
	bool fleet, more;
};

static int place_of(struct change_cursor *ret, struct store *s, const char *text, int64_t last,
                    struct err *err)
{
	return text && !strcmp(text, "now") ? change_cursor_end(ret, s, err) :
	       last ? change_cursor_last(ret, s, (uint32_t)last, err) :
	       change_cursor_read(ret, s, text, err);
}

/* Each shard by itself: behind all, or before the newest, or as the text says. */
static int places_of(struct change_place *at, struct serve_fleet *fleet, const char *text,
                     int64_t last, struct err *err)
{
	struct fleet_shard *list = NULL;
	bool each = last || (text && !strcmp(text, "now"));
	int64_t epoch;
	size_t n = 0;
	int rc = fleet_epoch(serve_fleet_ledger(fleet), &epoch, err);

	if (rc == 0)
		rc = serve_fleet_shards(fleet, &list, &n, err);
	if (rc == 0)
		rc = change_place_read(at, epoch, (uint32_t)n, each ? NULL : text, err);
	for (size_t i = 0; i < n && rc == 0; i++) {
		struct change_cursor *c = &at->at.v[i];
		struct store *s = NULL;

		if (!each && !c->cycle)
			continue;
		rc = serve_fleet_store(fleet, list[i].shard, &s, err);
		if (rc == 0)
			rc = each ? place_of(c, s, text, last, err) : change_cursor_check(c, s, err);
		store_close(s);
	}
	free(list);
	return rc;
}

int feed_new(struct feed **ret, struct feed_from from, const char *text, int64_t last,
             struct err *err)
{
	struct feed *f = mem_zalloc(1, sizeof *f);
	int rc;

	f->fleet = from.fleet != NULL;
	if (!f->fleet)
		change_place_begin(&f->at, 0, 1);
	rc = f->fleet ? places_of(&f->at, from.fleet, text, last, err) :
	     place_of(&f->at.at.v[0], from.store, text, last, err);
	if (rc < 0)
		feed_free(f);
	else
		*ret = f;
	return rc;
}

void feed_free(struct feed *f)
{
	if (f)
		change_place_release(&f->at);
	free(f);
}

struct feed *feed_copy(const struct feed *f)
{
	struct feed *copy = mem_zalloc(1, sizeof *copy);

	copy->fleet = f->fleet;
	change_place_begin(&copy->at, f->at.epoch, (uint32_t)f->at.at.n);
	feed_move(copy, f);
	return copy;
}

bool feed_same(const struct feed *a, const struct feed *b)
{
	return a->at.epoch == b->at.epoch && a->at.at.n == b->at.at.n &&
	       !memcmp(a->at.at.v, b->at.at.v, a->at.at.n * sizeof *a->at.at.v);
}

void feed_move(struct feed *f, const struct feed *to)
{
	for (size_t i = 0; i < f->at.at.n; i++)
		f->at.at.v[i] = to->at.at.v[i];
	f->more = to->more;
}

bool feed_has_more(const struct feed *f)
{
	return f->more;
}

size_t feed_shards(const struct feed *f)
{
	return f->at.at.n;
}

void feed_cursor(const struct feed *f, struct buf *out)
{
	char text[CHANGE_CURSOR_SIZE];

	if (f->fleet) {
		change_place_write(&f->at, out);
	} else {
		change_cursor_write(&f->at.at.v[0], text);
		buf_str(out, text);
	}
}

void feed_event(struct buf *out, const char *name, const char *id, const char *data,
                size_t size)
{
	while (size && data[size - 1] == '\n')
		size--;
	if (id)
		buf_printf(out, "id: %s\n", id);
	buf_printf(out, "event: %s\ndata: ", name);
	for (size_t i = 0; i < size; i++)       /* documents within documents end with a line */
		if (data[i] != '\n')
			buf_byte(out, (unsigned char)data[i]);
	buf_str(out, "\n\n");
}

struct listing {
	struct feed *feed;
	size_t shard;
	struct store *store;
	struct json *j;                 /* a list, */
	struct buf *out;                /* or events */
	int64_t most;
	size_t n;
	bool more;
};

static int print_change(struct listing *l, const struct store_visit *v, struct err *err)
{
	struct change_cursor *at = &l->feed->at.at.v[l->shard], was = *at;
	struct buf text, cursor;
	struct json j;
	int rc;

	if (l->j)
		return change_print_json(l->j, l->store, NULL, v, err);
	buf_init(&text, BUF_NO_LIMIT);
	buf_init(&cursor, BUF_NO_LIMIT);
	*at = (struct change_cursor){ v->cycle, v->order };     /* the place behind this one */
	feed_cursor(l->feed, &cursor);
	*at = was;
	json_to_buf(&j, &text);
	rc = change_print_json(&j, l->store, NULL, v, err);
	if (rc == 0)
		feed_event(l->out, "change", buf_text(&cursor), text.data, text.size);
	buf_release(&text);
	buf_release(&cursor);
	return rc;
}

static int see_change(void *arg, const struct store_visit *v, struct err *err)
{
	struct listing *l = arg;
	size_t before = l->out ? l->out->size : 0;
	int rc;

	if ((int64_t)l->n == l->most) {
		l->more = true;
		return 1;
	}
	rc = print_change(l, v, err);
	if (rc == 0 && l->out && l->out->full) {        /* it comes with the next */
		l->out->size = before;
		l->out->full = false;
		l->more = true;
		return 1;
	}
	l->n++;
	return rc;
}

static int run(struct listing *l, size_t shard, struct store *s, struct err *err)
{
	int rc;

	l->store = s;
	l->shard = shard;
	rc = change_feed(s, &l->feed->at.at.v[shard], see_change, l, err);
	l->feed->more = l->more;
	return rc;
}

int feed_events(struct feed *f, size_t shard, struct store *s, struct buf *out, struct err *err)
{
	struct listing l = { .feed = f, .out = out, .most = FEED_LIMIT_MAX };

	return run(&l, shard, s, err);
}

/* Shard after shard.  Those that were split since the place was read are for the next cursor, which
 * is refused. */
static int list_fleet(struct listing *l, struct serve_fleet *fleet, struct err *err)
{
	struct fleet_shard *list = NULL;
	size_t n = 0;
	int rc = serve_fleet_shards(fleet, &list, &n, err);

	for (size_t i = 0; i < n && i < l->feed->at.at.n && rc == 0 && !l->more; i++) {
		struct store *s = NULL;

		rc = serve_fleet_store(fleet, list[i].shard, &s, err);
		if (rc == 0)
			rc = run(l, i, s, err);
		store_close(s);
	}
	free(list);
	return rc;
}

int feed_list(struct feed *f, struct feed_from from, int64_t most, struct json *j, size_t *ret_n,
              struct err *err)
{
	struct listing l = { .feed = f, .j = j, .most = most };
	int rc = from.fleet ? list_fleet(&l, from.fleet, err) : run(&l, 0, from.store, err);

	if (ret_n)
		*ret_n = l.n;
	return rc;
}

/* ---- routes ---- */

static bool accepts(const struct call *c, const char *type)
{
	const char *accept = http_header(c->request, "Accept");

	return accept && strstr(accept, type);
}

static void answer_atom(struct call *c)
{
	static const char *const words[] = { "--limit=100" };
	struct err err = { 0 };
	int rc = command_answer(c->serve, "export atom", words, 1, &c->answer->body, &err);

	c->answer->type = "application/atom+xml";
	if (rc < 0)
		answer_error(c, rc, &err);
	else
		answer_json(c);
}

static void answer_list(struct call *c, struct feed *f, struct feed_from from, int64_t limit)
{
	struct err err = { 0 };
	struct buf cursor;
	int rc;

	cli_json_schema(&c->j, "changes");
	json_key(&c->j, "changes");
	json_array(&c->j);
	rc = feed_list(f, from, limit, &c->j, NULL, &err);
	json_end_array(&c->j);
	buf_init(&cursor, BUF_NO_LIMIT);
	feed_cursor(f, &cursor);
	json_kstr(&c->j, "next", buf_text(&cursor));
	buf_release(&cursor);
	json_kbool(&c->j, "more", feed_has_more(f));
	cli_json_end(&c->j);
	if (rc < 0)
		answer_error(c, rc, &err);
	else
		answer_json(c);
}

/* A browser that lost the stream names the last id it saw. */
static const char *since(const struct call *c, const char *def)
{
	const char *last = http_header(c->request, "Last-Event-ID");
	const char *param = uri_param(&c->request->uri, "since");

	return last && *last ? last : param ? param : def;
}

/* Where this service has changes.  False: the answer is there. */
static bool open_from(struct call *c, struct feed_from *ret)
{
	ret->fleet = c->serve->fleet;
	ret->store = ret->fleet ? NULL : call_store(c, STORE_READ);
	return ret->fleet || ret->store;
}

void route_changes(struct call *c)
{
	bool live = accepts(c, "text/event-stream");
	struct feed_from from = { 0 };
	struct feed *f = NULL;
	struct err err = { 0 };
	int64_t limit, last;
	int rc;

	if (accepts(c, "application/atom+xml")) {
		answer_atom(c);
		return;
	}
	if (!call_number(c, "limit", 100, 1, FEED_LIMIT_MAX, &limit) ||
	    !call_number(c, "last", 0, 1, CHANGE_LAST_MAX, &last))
		return;
	if (last && uri_param(&c->request->uri, "since")) {
		http_problem(c->answer, 400, "one of since and last, please");
		return;
	}
	if (!open_from(c, &from))
		return;
	rc = feed_new(&f, from, since(c, live ? "now" : NULL), last, &err);
	if (rc < 0)
		answer_error(c, rc, &err);
	else if (live)
		hub_listen(c, true, f);
	else
		answer_list(c, f, from, limit);
	if (!live)
		feed_free(f);
	store_close(from.store);
}

void route_events(struct call *c)
{
	struct feed_from from = { 0 };
	struct feed *f = NULL;
	struct err err = { 0 };
	int rc;

	if (!open_from(c, &from))
		return;
	rc = feed_new(&f, from, since(c, "now"), 0, &err);
	if (rc < 0)
		answer_error(c, rc, &err);
	else
		hub_listen(c, false, f);
	store_close(from.store);
}
