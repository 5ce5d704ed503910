/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_left.h - how long until all pages of some hosts are had, at the pace of each.
 *
 * A host is asked for one page at a time: the answer, a pause, the next.  So the host with
 * the longest way to go says when all is done, unless there are so many hosts that they
 * wait for a connection.  Both are bounds from below, and one of them is close.
 */
#ifndef ENGINE_CRAWL_TIME_LEFT_H
#define ENGINE_CRAWL_TIME_LEFT_H

#include <stddef.h>
#include <stdint.h>

struct left_host {
	uint32_t requests;              /* still to be made, robots.txt included */
	double pause;                   /* seconds between an answer and the next request */
	double answer;                  /* seconds that one of its answers takes */
};

/* connections: to all hosts together. */
double time_left(const struct left_host *hosts, size_t n, unsigned connections);

#endif
