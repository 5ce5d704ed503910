/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - see program.h.
 *
 * Each copy of the program (program_copy.h) has a thread.  The threads share one queue of
 * orders; a copy is started when its thread has its first order.  Answers go into a list, and
 * a descriptor says that there are some.
 */
#include "fetch/program/program_copy.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"

#define COPIES_MAX 64
#define END_MS 5000             /* at the end of the crawl, for a copy to end by itself */

struct order {
	struct program_request r;
	char *texts[3];         /* its url, etag, last_modified */
	struct order *next;
};

struct worker {
	struct program *program;
	struct program_copy copy;
	pthread_t thread;
	bool started;           /* the thread */
};

struct program {
	struct program_options opt;
	unsigned n_copies, n_active;
	struct worker workers[COPIES_MAX];
	int fd;
	atomic_bool stop;
	pthread_mutex_t lock;   /* of what follows */
	pthread_cond_t more;
	struct order *orders, **orders_end;
	struct program_answer *answers, **answers_end;
};

static void free_order(struct order *o)
{
	for (int i = 0; i < 3; i++)
		free(o->texts[i]);
	free(o);
}

static void *run(void *arg)
{
	struct worker *w = arg;
	struct program *p = w->program;
	uint64_t one = 1;

	for (;;) {
		struct program_answer *a;
		struct order *o;

		pthread_mutex_lock(&p->lock);
		while (!p->orders && !p->stop)
			pthread_cond_wait(&p->more, &p->lock);
		o = p->stop ? NULL : p->orders;
		if (o) {
			p->orders = o->next;
			if (!p->orders)
				p->orders_end = &p->orders;
		}
		pthread_mutex_unlock(&p->lock);
		if (!o)
			break;
		a = mem_zalloc(1, sizeof *a);
		a->owner = o->r.owner;
		buf_init(&a->head, BUF_NO_LIMIT);
		buf_init(&a->body, BUF_NO_LIMIT);
		program_copy_visit(&w->copy, &o->r, a);
		free_order(o);
		pthread_mutex_lock(&p->lock);
		*p->answers_end = a;
		p->answers_end = &a->next;
		pthread_mutex_unlock(&p->lock);
		(void)!write(p->fd, &one, sizeof one);
	}
	program_copy_end(&w->copy, END_MS);
	return NULL;
}

int program_new(struct program **ret, const struct program_options *o, struct err *err)
{
	struct program *p = mem_zalloc(1, sizeof *p);
	unsigned n = o->copies < 1 ? 1 : o->copies < COPIES_MAX ? o->copies : COPIES_MAX;
	int rc = 0;

	p->opt = *o;
	p->orders_end = &p->orders;
	p->answers_end = &p->answers;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, NULL);
	p->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->fd < 0)
		rc = err_errno(err, E_FAIL, "fetcher: no descriptor");
	for (; rc == 0 && p->n_copies < n; p->n_copies++) {
		struct worker *w = &p->workers[p->n_copies];

		w->program = p;
		w->copy = (struct program_copy){ .opt = &p->opt, .stop = &p->stop };
		rc = gate_proxy_new(&w->copy.proxy, &p->opt, err);
		if (rc == 0 && pthread_create(&w->thread, NULL, run, w))
			rc = err_errno(err, E_FAIL, "fetcher: no thread");
		else if (rc == 0)
			w->started = true;
	}
	if (rc < 0)
		program_free(p);
	else
		*ret = p;
	return rc;
}

void program_free(struct program *p)
{
	struct program_answer *a;
	struct order *o;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->n_copies; i++) {
		if (p->workers[i].started)
			pthread_join(p->workers[i].thread, NULL);
		gate_proxy_free(p->workers[i].copy.proxy);
	}
	while ((o = p->orders)) {
		p->orders = o->next;
		free_order(o);
	}
	while ((a = program_finished(p)))
		program_answer_free(a);
	if (p->fd >= 0)
		close(p->fd);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->more);
	free(p);
}

int program_fd(const struct program *p)
{
	return p->fd;
}

void program_start(struct program *p, const struct program_request *r)
{
	struct order *o = mem_zalloc(1, sizeof *o);
	const char *from[3] = { r->url, r->etag, r->last_modified };

	o->r = *r;
	for (int i = 0; i < 3; i++)
		o->texts[i] = from[i] ? mem_strdup(from[i]) : NULL;
	o->r.url = o->texts[0];
	o->r.etag = o->texts[1];
	o->r.last_modified = o->texts[2];
	p->n_active++;
	pthread_mutex_lock(&p->lock);
	*p->orders_end = o;
	p->orders_end = &o->next;
	pthread_cond_signal(&p->more);
	pthread_mutex_unlock(&p->lock);
}

struct program_answer *program_finished(struct program *p)
{
	struct program_answer *a;
	uint64_t n;

	pthread_mutex_lock(&p->lock);
	a = p->answers;
	if (a) {
		p->answers = a->next;
		p->n_active--;
	}
	if (!p->answers) {
		p->answers_end = &p->answers;
		(void)!read(p->fd, &n, sizeof n);
	}
	pthread_mutex_unlock(&p->lock);
	return a;
}

void program_answer_free(struct program_answer *a)
{
	buf_release(&a->head);
	buf_release(&a->body);
	free(a);
}

unsigned program_active(const struct program *p)
{
	return p->n_active;
}
