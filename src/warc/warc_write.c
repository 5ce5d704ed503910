/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_write.c - makes WARC/1.1 records; see warc_write.h.
 *
 * Revisits always name the original's URL and date, because players resolve them
 * by those and not by its id, and carry the original's payload digest, also for
 * a 304 whose own body is empty.
 */
#include "warc/warc_write.h"

#include <string.h>

#include "base/mem.h"
#include "base/when.h"
#include "warc/warc_file.h"

#define PROFILE "http://netpreserve.org/warc/1.1/revisit/"

/* No control bytes; in a URI no blanks either. */
static bool is_clean(const char *s, bool uri)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f || (uri && *s == ' '))
			return false;
	return true;
}

static int check_value(const char *what, const char *s, bool uri, struct err *err)
{
	if (!s || (*s && is_clean(s, uri)))
		return 0;
	return err_set(err, E_USAGE, "%s is empty or holds %scontrol bytes: not written",
	               what, uri ? "blanks or " : "");
}

static bool is_name(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                     "0123456789._-");

	return n > 0 && n <= 64 && s[n] == '\0' && s[0] != '.';
}

static const char *copy(const char *s)
{
	return s ? mem_strdup(s) : NULL;
}

int warc_writer_open(struct warc_writer **ret, const struct warc_writer_options *o,
                     struct err *err)
{
	const char *values[] = { o->software, o->operator, o->robots, o->user_agent,
	                         o->description };
	struct warc_writer *w;
	int rc;

	if (!is_name(o->prefix) || !is_name(o->host))
		return err_set(err, E_USAGE, "names of archive files are of letters, digits, "
		               "'.', '_' and '-': '%s', '%s'", o->prefix, o->host);
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		rc = check_value("description of the archive", values[i], false, err);
		if (rc < 0)
			return rc;
	}
	w = mem_zalloc(1, sizeof *w);
	w->options = (struct warc_writer_options){
		.folder = copy(o->folder), .prefix = copy(o->prefix), .host = copy(o->host),
		.software = copy(o->software), .operator = copy(o->operator),
		.robots = copy(o->robots), .user_agent = copy(o->user_agent),
		.description = copy(o->description), .seed = o->seed,
		.file_max = o->file_max ? o->file_max : WARC_FILE_MAX,
	};
	rc = warc_file_init(w, err);
	if (rc < 0) {
		warc_writer_abandon(w);
		return rc;
	}
	*ret = w;
	return 0;
}

void warc_writer_abandon(struct warc_writer *w)
{
	if (!w)
		return;
	const char *strings[] = {
		w->options.folder, w->options.prefix, w->options.host, w->options.software,
		w->options.operator, w->options.robots, w->options.user_agent,
		w->options.description,
	};
	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
		free((char *)(uintptr_t)strings[i]);
	warc_file_release(w);
	free(w);
}

/* What one record is made of; NULL leaves a field out. */
struct parts {
	const char *type, *id, *url, *ip, *content_type, *concurrent_to, *truncated;
	const char *profile, *refers_to, *refers_to_url;
	int64_t time, refers_to_time;
	const struct warc_digest *payload;      /* its digest is given */
	bool with_payload;                      /* or that of the second piece wanted */
	struct { const char *data; size_t size; } piece[2];
};

static void put(struct buf *b, const char *name, const char *value)
{
	if (value)
		buf_printf(b, "%s: %s\r\n", name, value);
}

static void put_digest(struct buf *b, const char *name, const struct warc_digest *d)
{
	char text[WARC_DIGEST_TEXT];

	warc_digest_format(d, text);
	put(b, name, text);
}

/* Append the record as a gzip member to w->members; *ret_payload is set. */
static void make_record(struct warc_writer *w, const struct parts *p,
                        struct warc_digest *ret_payload)
{
	struct warc_digest block = { 0 }, payload = { 0 };
	struct buf *b = &w->text;
	char date[21];

	warc_hasher_begin(&w->block, WARC_SHA1);
	for (int i = 0; i < 2; i++)
		warc_hasher_add(&w->block, p->piece[i].data, p->piece[i].size);
	warc_hasher_end(&w->block, &block);
	if (p->payload) {
		payload = *p->payload;
	} else if (p->with_payload) {
		warc_hasher_begin(&w->payload, WARC_SHA1);
		warc_hasher_add(&w->payload, p->piece[1].data, p->piece[1].size);
		warc_hasher_end(&w->payload, &payload);
	}
	buf_clear(b);
	buf_str(b, "WARC/1.1\r\n");
	put(b, "WARC-Type", p->type);
	put(b, "WARC-Record-ID", p->id);
	when_iso(p->time, date);
	put(b, "WARC-Date", date);
	put(b, "WARC-Target-URI", p->url);
	put(b, "WARC-IP-Address", p->ip);
	put(b, "WARC-Concurrent-To", p->concurrent_to);
	put(b, "WARC-Profile", p->profile);
	if (p->refers_to_url) {
		put(b, "WARC-Refers-To", p->refers_to);
		put(b, "WARC-Refers-To-Target-URI", p->refers_to_url);
		when_iso(p->refers_to_time, date);
		put(b, "WARC-Refers-To-Date", date);
	}
	if (strcmp(p->type, "warcinfo") == 0)
		put(b, "WARC-Filename", w->name);
	put(b, "WARC-Truncated", p->truncated);
	if (payload.hash != WARC_HASH_NONE)
		put_digest(b, "WARC-Payload-Digest", &payload);
	put_digest(b, "WARC-Block-Digest", &block);
	put(b, "Content-Type", p->content_type);
	buf_printf(b, "Content-Length: %zu\r\n\r\n", p->piece[0].size + p->piece[1].size);
	warc_member_begin(w);
	warc_member_add(w, b->data, b->size);
	for (int i = 0; i < 2; i++)
		warc_member_add(w, p->piece[i].data, p->piece[i].size);
	warc_member_add(w, "\r\n\r\n", 4);
	warc_member_end(w);
	*ret_payload = payload;
}

static int write_info(struct warc_writer *w, int64_t time, struct err *err)
{
	const struct warc_writer_options *o = &w->options;
	char id[WARC_ID_SIZE];
	struct parts p = { .type = "warcinfo", .id = id, .time = time,
	                   .content_type = "application/warc-fields" };
	struct warc_digest none;
	struct buf text, held = w->members;
	int rc;

	buf_init(&text, BUF_NO_LIMIT);
	put(&text, "software", o->software);
	put(&text, "format", "WARC File Format 1.1");
	put(&text, "conformsTo", "http://iipc.github.io/warc-specifications/specifications/"
	    "warc-format/warc-1.1/");
	put(&text, "operator", o->operator);
	put(&text, "robots", o->robots);
	put(&text, "http-header-user-agent", o->user_agent);
	put(&text, "description", o->description);
	p.piece[0].data = text.data;
	p.piece[0].size = text.size;
	warc_new_id(w, time, id);
	/* the records that need the file are waiting in w->members */
	buf_init(&w->members, BUF_NO_LIMIT);
	make_record(w, &p, &none);
	rc = warc_file_append(w, w->members.data, w->members.size, err);
	buf_release(&w->members);
	w->members = held;
	buf_release(&text);
	return rc;
}

/* Put the members made so far into a file; *ret is of the first one. */
static int place(struct warc_writer *w, int64_t time, size_t first_size,
                 struct warc_place *ret, struct err *err)
{
	int rc = w->broken ? err_set(err, E_IO, "%s: archive could not be written before",
	                             w->options.folder) :
	         warc_file_make_room(w, w->members.size, err);

	if (rc == 0 && w->fd < 0) {
		rc = warc_file_create(w, time, err);
		if (rc == 0)
			rc = write_info(w, time, err);
	}
	if (rc < 0)
		return rc;
	memcpy(ret->filename, w->name, sizeof ret->filename);
	ret->offset = w->file_size;
	ret->length = first_size;
	return warc_file_append(w, w->members.data, w->members.size, err);
}

/* A revisit must say of what, and tell the truth about it. */
static int check_revisit(const struct warc_capture *c, struct err *err)
{
	const char *space = c->head_size ? memchr(c->head, ' ', c->head_size) : NULL;

	if (!c->refers_to_url || !c->payload_digest ||
	    c->payload_digest->hash == WARC_HASH_NONE)
		return err_set(err, E_USAGE, "revisit of %s without the original's URL or "
		               "digest", c->url);
	if (c->revisit == WARC_NOT_MODIFIED &&
	    (!space || c->head_size - (size_t)(space - c->head) < 4 ||
	     memcmp(space, " 304", 4)))
		return err_set(err, E_USAGE, "revisit of %s: server-not-modified without a 304",
		               c->url);
	return 0;
}

static int check_capture(const struct warc_capture *c, struct err *err)
{
	const struct { const char *what, *value; bool uri; } values[] = {
		{ "URL", c->url, true }, { "IP address", c->ip_address, true },
		{ "reason of truncation", c->truncated, true },
		{ "id referred to", c->refers_to_id, true },
		{ "URL referred to", c->refers_to_url, true },
	};

	if (!c->url)
		return err_set(err, E_USAGE, "capture without a URL");
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		int rc = check_value(values[i].what, values[i].value, values[i].uri, err);

		if (rc < 0)
			return rc;
	}
	return c->revisit == WARC_PROFILE_OTHER ? 0 : check_revisit(c, err);
}

int warc_write_capture(struct warc_writer *w, const struct warc_capture *c,
                       struct warc_place *ret, struct err *err)
{
	bool revisit = c->revisit != WARC_PROFILE_OTHER;
	char request_id[WARC_ID_SIZE];
	struct warc_place placed = { 0 };
	struct parts p = {
		.type = revisit ? "revisit" : "response", .id = placed.id, .url = c->url,
		.ip = c->ip_address, .time = c->time, .truncated = c->truncated,
		.content_type = "application/http; msgtype=response",
		.payload = c->payload_digest, .with_payload = true,
	};
	struct warc_digest none;
	size_t first;
	int rc = check_capture(c, err);

	if (rc < 0)
		return rc;
	p.piece[0].data = c->head;
	p.piece[0].size = c->head_size;
	if (revisit) {
		p.profile = c->revisit == WARC_NOT_MODIFIED ? PROFILE "server-not-modified" :
		            PROFILE "identical-payload-digest";
		p.refers_to = c->refers_to_id;
		p.refers_to_url = c->refers_to_url;
		p.refers_to_time = c->refers_to_time;
		if (c->body_size && !p.truncated)
			p.truncated = "length";
	} else {
		p.piece[1].data = c->body;
		p.piece[1].size = c->body_size;
	}
	buf_clear(&w->members);
	warc_new_id(w, c->time, placed.id);
	make_record(w, &p, &placed.payload);
	first = w->members.size;
	if (c->request) {
		struct parts q = {
			.type = "request", .id = request_id, .url = c->url, .time = c->time,
			.ip = c->ip_address, .concurrent_to = placed.id,
			.content_type = "application/http; msgtype=request",
		};

		q.piece[0].data = c->request;
		q.piece[0].size = c->request_size;
		warc_new_id(w, c->time, request_id);
		make_record(w, &q, &none);
	}
	rc = place(w, c->time, first, &placed, err);
	if (rc == 0)
		*ret = placed;
	return rc;
}

int warc_write_record(struct warc_writer *w, const struct warc_out *rec,
                      struct warc_place *ret, struct err *err)
{
	struct warc_place placed = { 0 };
	struct parts p = {
		.type = rec->type, .id = placed.id, .url = rec->url, .time = rec->time,
		.content_type = rec->content_type, .concurrent_to = rec->concurrent_to,
	};
	int rc = check_value("record type", rec->type, true, err);

	if (rc == 0)
		rc = check_value("URL", rec->url, true, err);
	if (rc == 0)
		rc = check_value("content type", rec->content_type, false, err);
	if (rc == 0)
		rc = check_value("id referred to", rec->concurrent_to, true, err);
	if (rc < 0)
		return rc;
	p.piece[0].data = rec->block;
	p.piece[0].size = rec->block_size;
	buf_clear(&w->members);
	warc_new_id(w, rec->time, placed.id);
	make_record(w, &p, &placed.payload);
	rc = place(w, rec->time, w->members.size, &placed, err);
	if (rc == 0)
		*ret = placed;
	return rc;
}
