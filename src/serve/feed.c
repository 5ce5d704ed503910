/* SPDX-License-Identifier: Apache-2.0 */
/* feed.c - see feed.h. */
#include "serve/feed.h"

#include <stdio.h>

#include "cli/export/changes.h"
#include "cli/frame/command.h"
#include "serve/hub.h"

struct feed {
	struct change_cursor at;
	bool more;
};

int feed_new(struct feed **ret, struct store *s, const char *text, int64_t last,
             struct err *err)
{
	struct change_cursor at;
	int rc = text && !strcmp(text, "now") ? change_cursor_end(&at, s, err) :
	         last ? change_cursor_last(&at, s, (uint32_t)last, err) :
	         change_cursor_read(&at, s, text, err);

	if (rc < 0)
		return rc;
	*ret = mem_zalloc(1, sizeof **ret);
	(*ret)->at = at;
	return 0;
}

void feed_free(struct feed *f)
{
	free(f);
}

bool feed_has_more(const struct feed *f)
{
	return f->more;
}

const struct change_cursor *feed_at(const struct feed *f)
{
	return &f->at;
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
	struct store *store;
	struct json *j;                 /* a list, */
	struct buf *out;                /* or events */
	int64_t most;
	size_t n;
	bool more;
};

static int print_change(struct listing *l, const struct store_visit *v, struct err *err)
{
	char cursor[CHANGE_CURSOR_SIZE];
	struct buf text;
	struct json j;
	int rc;

	if (l->j)
		return change_print_json(l->j, l->store, NULL, v, err);
	change_cursor_write(&(struct change_cursor){ v->cycle, v->order }, cursor);
	buf_init(&text, BUF_NO_LIMIT);
	json_to_buf(&j, &text);
	rc = change_print_json(&j, l->store, NULL, v, err);
	if (rc == 0)
		feed_event(l->out, "change", cursor, text.data, text.size);
	buf_release(&text);
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

static int run(struct feed *f, struct listing *l, struct err *err)
{
	int rc = change_feed(l->store, &f->at, see_change, l, err);

	f->more = l->more;
	return rc;
}

int feed_events(struct feed *f, struct store *s, struct buf *out, struct err *err)
{
	struct listing l = { .store = s, .out = out, .most = FEED_LIMIT_MAX };

	return run(f, &l, err);
}

int feed_list(struct feed *f, struct store *s, int64_t most, struct json *j, size_t *ret_n,
              struct err *err)
{
	struct listing l = { .store = s, .j = j, .most = most };
	int rc = run(f, &l, err);

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

static void answer_list(struct call *c, struct feed *f, struct store *s, int64_t limit)
{
	char cursor[CHANGE_CURSOR_SIZE];
	struct err err = { 0 };
	int rc;

	cli_json_schema(&c->j, "changes");
	json_key(&c->j, "changes");
	json_array(&c->j);
	rc = feed_list(f, s, limit, &c->j, NULL, &err);
	json_end_array(&c->j);
	change_cursor_write(feed_at(f), cursor);
	json_kstr(&c->j, "next", cursor);
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

void route_changes(struct call *c)
{
	bool live = accepts(c, "text/event-stream");
	struct feed *f = NULL;
	struct err err = { 0 };
	struct store *s;
	int64_t limit, last;
	int rc;

	if (accepts(c, "application/atom+xml")) {
		answer_atom(c);
		return;
	}
	if (!call_number(c, "limit", 100, 1, FEED_LIMIT_MAX, &limit) ||
	    !call_number(c, "last", 0, 1, CHANGE_LAST_MAX, &last) || !(s = call_store(c, STORE_READ)))
		return;
	rc = feed_new(&f, s, since(c, live ? "now" : NULL), last, &err);
	if (rc < 0)
		answer_error(c, rc, &err);
	else if (live)
		hub_listen(c, true, f);
	else
		answer_list(c, f, s, limit);
	if (!live)
		feed_free(f);
	store_close(s);
}

void route_events(struct call *c)
{
	struct store *s = call_store(c, STORE_READ);
	struct feed *f = NULL;
	struct err err = { 0 };
	int rc;

	if (!s)
		return;
	rc = feed_new(&f, s, since(c, "now"), 0, &err);
	if (rc < 0)
		answer_error(c, rc, &err);
	else
		hub_listen(c, false, f);
	store_close(s);
}
