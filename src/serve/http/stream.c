/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - answers that go on: one thread adds, the thread of the sockets takes.
 *
 * While there is nothing to take, the connection is suspended.  libmicrohttpd does not notice
 * that a suspended peer has gone; so who adds must add something now and then (a comment line
 * of server-sent events).
 */
#include "serve/http/http_inner.h"

struct http_stream {
	pthread_mutex_t lock;
	struct buf waiting;
	size_t taken;                   /* of waiting */
	struct MHD_Connection *asleep;  /* suspended, or NULL */
	bool over, gone;                /* no more is added; nobody takes */
	unsigned references;
};

struct http_stream *http_stream_new(void)
{
	struct http_stream *s = mem_zalloc(1, sizeof *s);

	pthread_mutex_init(&s->lock, NULL);
	buf_init(&s->waiting, HTTP_STREAM_MAX);
	s->references = 1;
	return s;
}

static void wake(struct http_stream *s)
{
	if (s->asleep)
		MHD_resume_connection(s->asleep);
	s->asleep = NULL;
}

bool http_stream_add(struct http_stream *s, const void *data, size_t size)
{
	bool ok;

	pthread_mutex_lock(&s->lock);
	if (!s->over && !s->gone) {
		buf_add(&s->waiting, data, size);
		s->over = s->waiting.full;      /* so slow that it would never catch up */
	}
	ok = !s->over && !s->gone;
	wake(s);
	pthread_mutex_unlock(&s->lock);
	return ok;
}

void http_stream_end(struct http_stream *s)
{
	pthread_mutex_lock(&s->lock);
	s->over = true;
	wake(s);
	pthread_mutex_unlock(&s->lock);
}

struct http_stream *http_stream_keep(struct http_stream *s)
{
	pthread_mutex_lock(&s->lock);
	s->references++;
	pthread_mutex_unlock(&s->lock);
	return s;
}

void http_stream_release(struct http_stream *s)
{
	bool last;

	pthread_mutex_lock(&s->lock);
	last = --s->references == 0;
	pthread_mutex_unlock(&s->lock);
	if (!last)
		return;
	buf_release(&s->waiting);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

struct taking { struct http_stream *stream; struct MHD_Connection *c; };

static ssize_t take(void *arg, uint64_t pos, char *out, size_t max)
{
	struct taking *t = arg;
	struct http_stream *s = t->stream;
	bool over;
	size_t n;

	(void)pos;
	pthread_mutex_lock(&s->lock);
	over = s->over;
	n = s->waiting.size - s->taken;
	if (n > max)
		n = max;
	if (n)
		memcpy(out, s->waiting.data + s->taken, n);
	s->taken += n;
	if (s->taken == s->waiting.size && !s->waiting.full) {
		buf_clear(&s->waiting);
		s->taken = 0;
	}
	if (!n && !over) {
		s->asleep = t->c;
		MHD_suspend_connection(t->c);
	}
	pthread_mutex_unlock(&s->lock);
	return n ? (ssize_t)n : over ? MHD_CONTENT_READER_END_OF_STREAM : 0;
}

static void forget(void *arg)
{
	struct taking *t = arg;

	pthread_mutex_lock(&t->stream->lock);
	t->stream->gone = true;
	t->stream->asleep = NULL;
	pthread_mutex_unlock(&t->stream->lock);
	http_stream_release(t->stream);
	free(t);
}

struct MHD_Response *stream_response(struct http_stream *s, struct MHD_Connection *c)
{
	struct taking *t = mem_zalloc(1, sizeof *t);

	*t = (struct taking){ http_stream_keep(s), c };
	return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, take, t, forget);
}
