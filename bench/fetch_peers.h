/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_peers.h - who bench_fetch measures against.
 *
 * wget2 to files in memory or to nowhere; GNU wget, which writes a WARC with gzip and SHA-1 but
 * reads no page (its list by host, so that its one connection stays open); and what "a
 * pipeline of good peers" does behind wget2: its files read again by OpenSSL's SHA-1,
 * libxml2's SAX parser and zlib, without a store.
 *
 * Two tell what can be had at all.  Bare sockets: a loop of epoll, send and recv over 64
 * connections that understands nothing but Content-Length.  The least of a cycle: SHA-1
 * and gzip of bodies that are in memory, as OpenSSL and ISA-L do them.
 */
#ifndef BENCH_FETCH_PEERS_H
#define BENCH_FETCH_PEERS_H

#include <stdbool.h>

#include "fetch_world.h"

#define ONE_IN 10                       /* pages for the slow peers */

struct score peer_wget2(const struct world *w, unsigned threads, bool to_files);
struct score peer_wget(const struct world *w);          /* one page in ten */
/* Microseconds a page of SHA-1, SAX and zlib; one page in ten. */
double peer_behind(const struct world *w, int level);

struct score bare_sockets(const struct world *w);       /* plain HTTP only */
/* Microseconds a page. */
double least_of_a_cycle(const struct world *w);

#endif
