/* SPDX-License-Identifier: Apache-2.0 */
/* workers.c - lanes of threads that handle requests; see http.h. */
#include "serve/http/http_inner.h"

static void handle(struct exchange *x)
{
	struct http *h = x->http;

	h->opts.handle(h->opts.arg, &x->request, &x->answer);
	if (h->opts.done)
		h->opts.done(h->opts.arg, &x->request, &x->answer);
	x->ready = true;
	MHD_resume_connection(x->request.connection);
}

static void *work(void *arg)
{
	struct lane *l = arg;

	pthread_mutex_lock(&l->lock);
	for (;;) {
		struct exchange *x = l->first;

		if (!x && l->stop)
			break;
		if (!x) {
			pthread_cond_wait(&l->more, &l->lock);
			continue;
		}
		l->first = x->next;
		if (!l->first)
			l->last = &l->first;
		l->waiting--;
		pthread_mutex_unlock(&l->lock);
		handle(x);
		pthread_mutex_lock(&l->lock);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

void lanes_start(struct http *h)
{
	for (int i = 0; i < HTTP_LANES; i++) {
		struct lane *l = &h->lanes[i];

		l->http = h;
		l->last = &l->first;
		l->most = h->opts.lanes[i].queue;
		pthread_mutex_init(&l->lock, NULL);
		pthread_cond_init(&l->more, NULL);
		l->threads = mem_zalloc(h->opts.lanes[i].threads + 1, sizeof *l->threads);
		for (unsigned k = 0; k < h->opts.lanes[i].threads; k++)
			if (!pthread_create(&l->threads[l->n_threads], NULL, work, l))
				l->n_threads++;
	}
}

void lanes_stop(struct http *h)
{
	for (int i = 0; i < HTTP_LANES; i++) {
		struct lane *l = &h->lanes[i];

		pthread_mutex_lock(&l->lock);
		l->stop = true;
		pthread_cond_broadcast(&l->more);
		pthread_mutex_unlock(&l->lock);
		for (unsigned k = 0; k < l->n_threads; k++)
			pthread_join(l->threads[k], NULL);
		free(l->threads);
		pthread_cond_destroy(&l->more);
		pthread_mutex_destroy(&l->lock);
	}
}

bool lane_push(struct http *h, struct exchange *x)
{
	struct lane *l = &h->lanes[x->request.lane];
	bool room;

	pthread_mutex_lock(&l->lock);
	room = !l->stop && l->n_threads && l->waiting < l->most;
	if (room) {
		/* before a worker can see it, which resumes */
		MHD_suspend_connection(x->request.connection);
		x->next = NULL;
		*l->last = x;
		l->last = &x->next;
		l->waiting++;
		pthread_cond_signal(&l->more);
	}
	pthread_mutex_unlock(&l->lock);
	return room;
}
