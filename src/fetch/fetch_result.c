/* SPDX-License-Identifier: Apache-2.0 */
/* fetch_result.c - an outcome as its caller sees it: fields, content, names of errors. */
#include "fetch/fetch_inner.h"

#include <string.h>
#include <strings.h>

#include "warc/http.h"

#define DECODED_KEPT (1 << 20)  /* bytes; larger buffers are freed after use */

static const char *const error_names[] = {
#define FETCH_ERROR(code, name) name,
#include "fetch/fetch_error.def"
#undef FETCH_ERROR
};

const char *fetch_error_name(enum fetch_error e)
{
	return (unsigned)e < FETCH_N_ERRORS ? error_names[e] : "?";
}

const char *fetch_cut_name(enum fetch_cut c)
{
	static const char *const names[] = { "", "length", "time", "disconnect" };

	return names[c];
}

void fetch_decode(struct fetch_result *r, struct buf *out, struct err *err)
{
	const char *value;
	size_t size, max = out->max;
	int e;

	if (out->cap > DECODED_KEPT) {
		buf_release(out);
		buf_init(out, max);
	}
	buf_clear(out);
	if (!r->body_size ||
	    !fetch_header(r->head, r->head_size, "Content-Encoding", &value, &size))
		return;
	if (memchr(value, ',', size)) { /* several codings: no page needs them, only bombs */
		r->undecodable = true;
		return;
	}
	e = http_decode(out, value, size, r->body, r->body_size, err);
	asking_mask(r->extra, out->data, out->size);
	r->decoded = buf_text(out);
	r->decoded_size = out->size;
	if (e && r->truncated == FETCH_WHOLE && r->error == FETCH_OK) {
		r->undecodable = true;
		r->error = e == E_LIMIT ? FETCH_TOO_LARGE : e == E_READER ? FETCH_READER :
			   FETCH_PROTOCOL;
		r->why = err->text;
	}
}

void job_fill_result(struct fetch *f, struct job *j)
{
	struct fetch_result *r = &f->result;
	struct transfer *t = j->transfer;

	*r = (struct fetch_result){
		.page = j->page, .site = j->site, .error = j->error,
		.why = j->why ? j->why : "", .method = j->method,
		.url = buf_text(&j->url), .hops = j->hops.v, .n_hops = j->hops.n,
		.requests = j->requests, .robots = j->robots, .unused = j->granted,
		.begun = j->begun, .head_status = j->head_status,
		.time = j->time, .blocked = j->blocked,
		.wire_bytes = j->bytes, .conditional = j->conditional,
		.extra = j->extra, .etag = j->etag, .last_modified = j->last_modified,
		.head = "", .body = "", .decoded = "", .ip = "",
	};
	if (t) {
		r->status = t->status;
		r->head = buf_text(&t->head);
		r->head_size = t->head.size;
		r->body = buf_text(&t->body);
		r->body_size = t->body.size;
		r->truncated = t->cut;
		r->ip = t->ip;
		r->seconds = t->seconds;
		r->connect_seconds = t->connect_seconds;
		r->head_seconds = t->head_done ? t->first - t->started : 0;
		r->decoded = r->body;
		r->decoded_size = r->body_size;
		if (f->opt.decode)
			fetch_decode(r, &f->decoded, &f->decode_err);
	}
	f->stats.errors[r->error]++;
}

bool fetch_header(const char *head, size_t size, const char *name,
                  const char **ret_value, size_t *ret_size)
{
	size_t n = strlen(name);
	const char *end = head + size, *line = memchr(head, '\n', size);

	for (line = line ? line + 1 : end; line < end; ) {
		const char *stop = memchr(line, '\n', (size_t)(end - line)), *v;

		stop = stop ? stop : end;
		if ((size_t)(stop - line) > n && line[n] == ':' && !strncasecmp(line, name, n)) {
			v = line + n + 1;
			while (v < stop && (*v == ' ' || *v == '\t'))
				v++;
			while (stop > v && (stop[-1] == '\r' || stop[-1] == ' ' || stop[-1] == '\t'))
				stop--;
			*ret_value = v;
			*ret_size = (size_t)(stop - v);
			return true;
		}
		line = stop + 1;
	}
	return false;
}
