/* SPDX-License-Identifier: Apache-2.0 */
/* polite_inner.h - what polite.c (queues) and polite_rest.c (blocks and pauses) share. */
#ifndef FETCH_POLITE_POLITE_INNER_H
#define FETCH_POLITE_POLITE_INNER_H

#include "base/heap.h"
#include "base/map.h"
#include "base/mem.h"
#include "fetch/polite/polite.h"

enum waits { NOT_WAITING, WAITS_IN_HEAP, WAITS_AT_ADDRESS };

struct host {
	double ready;                   /* earliest next start */
	double delay;
	double own_delay;               /* without what robots.txt asks for */
	double blocked_until;
	double last_incident;           /* when the last block ended */
	uint32_t address, moves_to;     /* moves_to: when its slots are free */
	uint32_t open, failures, incidents;
	uint32_t first, last;           /* its jobs, numbers of nodes */
	uint32_t next_at_address, next_drained;
	enum waits waits;
	bool draining, moving;
};

struct address {
	double ready;
	uint32_t open, first, last;     /* queue of hosts that may be asked now */
};

struct node { uint32_t job, next; };

struct polite {
	struct polite_options opt;
	struct strtab host_names, address_names;
	VEC(struct host) hosts;
	VEC(struct address) addresses;
	VEC(struct node) nodes;
	uint32_t free_node, n_waiting, drained, sweep;
	struct heap host_heap, address_heap;
};

/* The earliest next start. */
static inline double polite_moment(const struct host *h)
{
	return h->ready > h->blocked_until ? h->ready : h->blocked_until;
}

/* In polite.c. */
/* Put a host into the host heap or take it out, unless it waits at its address. */
void polite_list_host(struct polite *p, uint32_t i);
/* A job of the host has ended. */
void polite_close_slot(struct polite *p, uint32_t host);
uint32_t polite_take_job(struct polite *p, uint32_t host);

/* In polite_rest.c.  The jobs of this host are to be given back. */
void polite_drain(struct polite *p, uint32_t i);

#endif
