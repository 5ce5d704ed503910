/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.c - two queues of questions, one of answers, one lock for all.
 *
 * Threads start with the first question (up to RESOLVE_THREADS, one for each
 * question that finds none idle), so a fetcher behind a proxy has none.
 *
 * Questions of guests (where redirects lead) wait in a queue of their own, and half of the
 * threads answer them: a site that redirects to ever new names whose servers say nothing
 * would else hold all threads, for as long as the system's resolver waits.
 */
#include "fetch/resolve.h"

#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"

struct question {
	struct question *next;
	struct resolve_answer answer;
	bool guest;
	char host[];
};

struct queue { struct question *first, **end; };

struct resolve {
	int (*lookup)(void *arg, const char *host, struct sockaddr_storage *ret);
	void *arg;
	int fd;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct queue questions, guests, answers;
	pthread_t threads[RESOLVE_THREADS];
	unsigned n_threads, n_idle;
	unsigned n_waiting;             /* questions */
	unsigned n_guests;              /* threads that answer guests */
	bool stop;
};

static void push(struct queue *q, struct question *x)
{
	x->next = NULL;
	*q->end = x;
	q->end = &x->next;
}

static struct question *pop(struct queue *q)
{
	struct question *x = q->first;

	if (x && !(q->first = x->next))
		q->end = &q->first;
	return x;
}

/* The next question that may be asked now, or NULL. */
static struct question *take(struct resolve *r)
{
	struct question *x = pop(&r->questions);

	if (!x && r->n_guests < RESOLVE_THREADS / 2)
		x = pop(&r->guests);
	if (x) {
		r->n_waiting--;
		r->n_guests += x->guest;
	}
	return x;
}

/* All addresses, not only those that this machine can reach: the gate checks every one.
 * */
static void ask_system(struct question *x)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
	struct resolve_answer *a = &x->answer;
	int r = getaddrinfo(x->host, NULL, &hints, &list);

	if (r) {
		a->n = -1;
		snprintf(a->why, sizeof a->why, "%s", gai_strerror(r));
		return;
	}
	for (struct addrinfo *i = list; i && a->n < FETCH_ADDRESSES_MAX; i = i->ai_next)
		if (i->ai_addrlen <= sizeof a->addresses[0])
			memcpy(&a->addresses[a->n++], i->ai_addr, i->ai_addrlen);
	freeaddrinfo(list);
}

static void *run(void *arg)
{
	struct resolve *r = arg;
	uint64_t one = 1;

	pthread_mutex_lock(&r->lock);
	for (;;) {
		struct question *x = NULL;

		r->n_idle++;
		while (!r->stop && !(x = take(r)))
			pthread_cond_wait(&r->more, &r->lock);
		r->n_idle--;
		if (!x)
			break;
		pthread_mutex_unlock(&r->lock);
		if (r->lookup) {
			x->answer.n = r->lookup(r->arg, x->host, x->answer.addresses);
			snprintf(x->answer.why, sizeof x->answer.why, "name not known");
		} else {
			ask_system(x);
		}
		pthread_mutex_lock(&r->lock);
		r->n_guests -= x->guest;
		push(&r->answers, x);
		if (write(r->fd, &one, sizeof one) < 0)
			continue;       /* full means readable: nothing is lost */
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

struct resolve *resolve_new(int (*lookup)(void *arg, const char *host,
                                          struct sockaddr_storage *ret), void *arg)
{
	struct resolve *r = mem_zalloc(1, sizeof *r);

	r->lookup = lookup;
	r->arg = arg;
	r->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	r->questions.end = &r->questions.first;
	r->guests.end = &r->guests.first;
	r->answers.end = &r->answers.first;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->more, NULL);
	return r;
}

void resolve_free(struct resolve *r)
{
	struct question *x;

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_broadcast(&r->more);
	pthread_mutex_unlock(&r->lock);
	for (unsigned i = 0; i < r->n_threads; i++)
		pthread_join(r->threads[i], NULL);
	while ((x = pop(&r->questions)) || (x = pop(&r->guests)) || (x = pop(&r->answers)))
		free(x);
	if (r->fd >= 0)
		close(r->fd);
	pthread_cond_destroy(&r->more);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

int resolve_fd(const struct resolve *r)
{
	return r->fd;
}

void resolve_ask(struct resolve *r, const char *host, uint32_t tag, bool guest)
{
	size_t size = strlen(host) + 1;
	struct question *x = mem_alloc(sizeof *x + size);

	memset(&x->answer, 0, sizeof x->answer);
	x->answer.tag = tag;
	x->guest = guest;
	memcpy(x->host, host, size);
	pthread_mutex_lock(&r->lock);
	push(guest ? &r->guests : &r->questions, x);
	r->n_waiting++;
	if (r->n_waiting > r->n_idle && r->n_threads < RESOLVE_THREADS &&
	    !pthread_create(&r->threads[r->n_threads], NULL, run, r))
		r->n_threads++;
	pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
}

bool resolve_take(struct resolve *r, struct resolve_answer *ret)
{
	struct question *x;
	uint64_t count;

	pthread_mutex_lock(&r->lock);
	x = pop(&r->answers);
	if (!x && read(r->fd, &count, sizeof count) < 0)
		count = 0;              /* was empty already */
	pthread_mutex_unlock(&r->lock);
	if (!x)
		return false;
	*ret = x->answer;
	free(x);
	return true;
}

