/* SPDX-License-Identifier: Apache-2.0 */
/*
 * polite.c - two heaps ordered by time, one of hosts and one of addresses.
 *
 * A host with waiting jobs and a free slot is in the host heap until the time when it may
 * be asked again; then it is in the queue of its address.  An address with such a queue
 * and a free slot is in the address heap.  So a thousand hosts behind one address have
 * one entry in the address heap, and a step is O(log hosts).  A host without known
 * address goes from the host heap directly to the caller.
 *
 * polite_rest.c decides when a host rests: it is blocked, or has a pause.
 *
 * Memory: about 100 bytes a host besides its name, 8 a waiting job.
 */
#include "fetch/polite/polite_inner.h"

#include <math.h>
#include <stdlib.h>

struct polite *polite_new(const struct polite_options *options)
{
	struct polite *p = mem_zalloc(1, sizeof *p);

	p->opt = *options;
	p->free_node = p->drained = POLITE_NONE;
	heap_init(&p->host_heap, 64);
	heap_init(&p->address_heap, 64);
	return p;
}

void polite_free(struct polite *p)
{
	if (!p)
		return;
	strtab_release(&p->host_names);
	strtab_release(&p->address_names);
	vec_release(&p->hosts);
	vec_release(&p->addresses);
	vec_release(&p->nodes);
	heap_release(&p->host_heap);
	heap_release(&p->address_heap);
	free(p);
}

/* Heaps have a fixed size: move to one of twice the size. */
static void heap_fit(struct heap *h, uint32_t n)
{
	struct heap bigger;

	if (n <= h->n_max)
		return;
	heap_init(&bigger, n * 2);
	for (uint32_t i = 0; i < h->n; i++)
		heap_set(&bigger, h->item[i], h->key[h->item[i]]);
	heap_release(h);
	*h = bigger;
}

static double own_delay(const struct polite *p, const char *name, size_t size)
{
	double own = p->opt.delay_of ? p->opt.delay_of(p->opt.delay_arg, name, size) : (double)NAN;

	return isnan(own) ? p->opt.delay : own;
}

uint32_t polite_host(struct polite *p, const char *name, size_t size)
{
	bool is_new;
	uint32_t i = strtab_intern(&p->host_names, name, size, &is_new);

	if (is_new) {
		double delay = own_delay(p, name, size);
		struct host h = { .delay = delay, .own_delay = delay, .ready = -INFINITY,
			.blocked_until = -INFINITY, .last_incident = -INFINITY,
			.address = POLITE_NONE, .first = POLITE_NONE,
			.last = POLITE_NONE, .next_at_address = POLITE_NONE,
			.next_drained = POLITE_NONE };

		vec_push(&p->hosts, h);
		heap_fit(&p->host_heap, i + 1);
	}
	return i;
}

uint32_t polite_address(struct polite *p, const void *bytes, size_t size)
{
	bool is_new;
	uint32_t i = strtab_intern(&p->address_names, bytes, size, &is_new);

	if (is_new) {
		struct address a = { .ready = -INFINITY, .first = POLITE_NONE,
			.last = POLITE_NONE };

		vec_push(&p->addresses, a);
		heap_fit(&p->address_heap, i + 1);
	}
	return i;
}

/* Put the address into the heap if it has a waiting host and a free slot; else remove it.
 * */
static void list_address(struct polite *p, uint32_t i)
{
	struct address *a = &p->addresses.v[i];

	if (a->first != POLITE_NONE && a->open < p->opt.address_connections)
		heap_set(&p->address_heap, i, -a->ready);
	else
		heap_remove(&p->address_heap, i);
}

void polite_list_host(struct polite *p, uint32_t i)
{
	struct host *h = &p->hosts.v[i];

	if (h->waits == WAITS_AT_ADDRESS)
		return;
	if (h->first != POLITE_NONE && h->open < p->opt.host_connections && !h->draining &&
	    !h->moving) {
		heap_set(&p->host_heap, i, -polite_moment(h));
		h->waits = WAITS_IN_HEAP;
	} else {
		heap_remove(&p->host_heap, i);
		h->waits = NOT_WAITING;
	}
}

static uint32_t pop_at_address(struct polite *p, uint32_t address)
{
	struct address *a = &p->addresses.v[address];
	uint32_t i = a->first;
	struct host *h = &p->hosts.v[i];

	a->first = h->next_at_address;
	if (a->first == POLITE_NONE)
		a->last = POLITE_NONE;
	h->next_at_address = POLITE_NONE;
	h->waits = NOT_WAITING;
	list_address(p, address);
	return i;
}

static void push_at_address(struct polite *p, uint32_t i)
{
	struct host *h = &p->hosts.v[i];
	struct address *a = &p->addresses.v[h->address];

	if (a->last == POLITE_NONE)
		a->first = i;
	else
		p->hosts.v[a->last].next_at_address = i;
	a->last = i;
	h->waits = WAITS_AT_ADDRESS;
	list_address(p, h->address);
}

void polite_set_address(struct polite *p, uint32_t host, uint32_t address)
{
	struct host *h = &p->hosts.v[host];

	h->moving = h->open && h->address != address;
	h->moves_to = address;
	if (h->moving || h->address == address) {
		polite_list_host(p, host);
		return;
	}
	if (h->waits == WAITS_AT_ADDRESS) {        /* rare: it moved while it waited */
		struct address *a = &p->addresses.v[h->address];
		uint32_t *link = &a->first, before = POLITE_NONE;

		while (*link != host) {
			before = *link;
			link = &p->hosts.v[*link].next_at_address;
		}
		*link = h->next_at_address;
		if (a->last == host)
			a->last = before;
		h->next_at_address = POLITE_NONE;
		h->waits = NOT_WAITING;
		list_address(p, h->address);
	}
	h->address = address;
	polite_list_host(p, host);
}

void polite_set_crawl_delay(struct polite *p, uint32_t host, double seconds)
{
	struct host *h = &p->hosts.v[host];
	double old = h->delay;

	h->delay = h->own_delay;
	if (seconds > p->opt.max_crawl_delay)
		seconds = p->opt.max_crawl_delay;
	if (seconds > h->delay)
		h->delay = seconds;
	h->ready += h->delay - old;             /* the present pause changes, too */
	polite_list_host(p, host);
}

double polite_delay(const struct polite *p, const char *name, size_t size)
{
	uint32_t i = strtab_find(&p->host_names, name, size);

	return i == MAP_NONE ? own_delay(p, name, size) : p->hosts.v[i].delay;
}

static void add(struct polite *p, uint32_t host, uint32_t job, bool first, double now)
{
	struct host *h = &p->hosts.v[host];
	uint32_t i = p->free_node;

	if (i != POLITE_NONE) {
		p->free_node = p->nodes.v[i].next;
	} else {
		vec_push(&p->nodes, ((struct node){ 0 }));
		i = (uint32_t)p->nodes.n - 1;
	}
	p->nodes.v[i] = (struct node){ job, first ? h->first : POLITE_NONE };
	if (h->first == POLITE_NONE)
		h->first = h->last = i;
	else if (first)
		h->first = i;
	else
		p->nodes.v[h->last].next = i, h->last = i;
	if (p->opt.wait_first && h->ready == -INFINITY)
		h->ready = now + h->delay;
	p->n_waiting++;
	p->sweep = host < p->sweep ? host : p->sweep;
	if (h->blocked_until - now > p->opt.max_wait)
		polite_drain(p, host);
	polite_list_host(p, host);
}

void polite_add(struct polite *p, uint32_t host, uint32_t job, double now)
{
	add(p, host, job, false, now);
}

void polite_add_first(struct polite *p, uint32_t host, uint32_t job, double now)
{
	add(p, host, job, true, now);
}

uint32_t polite_take_job(struct polite *p, uint32_t host)
{
	struct host *h = &p->hosts.v[host];
	uint32_t i = h->first, job = p->nodes.v[i].job;

	h->first = p->nodes.v[i].next;
	if (h->first == POLITE_NONE)
		h->last = POLITE_NONE;
	p->nodes.v[i].next = p->free_node;
	p->free_node = i;
	p->n_waiting--;
	return job;
}

static void hand_out(struct polite *p, uint32_t host, uint32_t *ret_host,
                     uint32_t *ret_job)
{
	struct host *h = &p->hosts.v[host];

	*ret_job = polite_take_job(p, host);
	*ret_host = host;
	h->open++;
	if (h->address != POLITE_NONE) {
		p->addresses.v[h->address].open++;
		list_address(p, h->address);
	}
	polite_list_host(p, host);
}

bool polite_next(struct polite *p, double now, uint32_t *ret_host, uint32_t *ret_job)
{
	uint32_t i;
	double key;

	while (heap_top(&p->host_heap, &i, &key) && -key <= now) {
		struct host *h = &p->hosts.v[i];

		heap_pop(&p->host_heap, &i, &key);
		h->waits = NOT_WAITING;
		if (h->address == POLITE_NONE) {
			hand_out(p, i, ret_host, ret_job);
			return true;
		} else {
			push_at_address(p, i);
		}
	}
	while (heap_top(&p->address_heap, &i, &key) && -key <= now) {
		uint32_t host = pop_at_address(p, i);
		struct host *h = &p->hosts.v[host];

		/* blocked, emptied or filled up while it was queued here? */
		if (h->first == POLITE_NONE || polite_moment(h) > now || h->draining || h->moving ||
		    h->open >= p->opt.host_connections) {
			polite_list_host(p, host);
			continue;
		}
		hand_out(p, host, ret_host, ret_job);
		return true;
	}
	return false;
}

void polite_close_slot(struct polite *p, uint32_t host)
{
	struct host *h = &p->hosts.v[host];

	h->open--;
	if (h->address != POLITE_NONE) {
		p->addresses.v[h->address].open--;
		list_address(p, h->address);
	}
	if (h->moving && !h->open)
		polite_set_address(p, host, h->moves_to);
}

void polite_cancel(struct polite *p, uint32_t host)
{
	polite_close_slot(p, host);
	polite_list_host(p, host);
}

void polite_start(struct polite *p, uint32_t host, double now)
{
	struct host *h = &p->hosts.v[host];

	h->ready = now + h->delay;
	if (h->address != POLITE_NONE) {
		p->addresses.v[h->address].ready = now + p->opt.address_delay;
		list_address(p, h->address);
	}
	polite_list_host(p, host);
}

bool polite_take_any(struct polite *p, uint32_t *ret_host, uint32_t *ret_job)
{
	for (; p->sweep < p->hosts.n; p->sweep++) {
		if (p->hosts.v[p->sweep].first == POLITE_NONE)
			continue;
		*ret_host = p->sweep;
		*ret_job = polite_take_job(p, p->sweep);
		polite_list_host(p, p->sweep);
		return true;
	}
	return false;
}

double polite_wait(const struct polite *p, double now)
{
	double best = INFINITY, key;
	uint32_t i;

	if (heap_top(&p->host_heap, &i, &key))
		best = -key;
	if (heap_top(&p->address_heap, &i, &key) && -key < best)
		best = -key;
	if (best == INFINITY)
		return -1;
	return best > now ? best - now : 0;
}

uint32_t polite_waiting(const struct polite *p)
{
	return p->n_waiting;
}
