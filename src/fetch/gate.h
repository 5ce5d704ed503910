/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - which network addresses a crawler may connect to.
 *
 * Strangers write URLs, DNS records and redirects.  Only the address of the socket cannot
 * lie, so every connection is checked here.  An address is open if it is global unicast
 * by the IANA special-purpose registries, or if the user's own list (`--allow-net`) has
 * it. An IPv6 address that wraps an IPv4 address is judged by the address inside.
 *
 * Pure: no resolver, no socket.
 */
#ifndef FETCH_GATE_H
#define FETCH_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct sockaddr;
struct sockaddr_storage;

#define GATE_NETS_MAX 1024      /* entries of an allow list */

struct gate_net {
	uint8_t addr[16];       /* IPv4 as ::ffff:a.b.c.d */
	uint8_t bits;           /* of the 128 */
};

struct gate {                   /* zeroed: only global addresses */
	struct gate_net *nets;
	size_t n_nets, cap;
};

/* Add "10.0.0.0/8", "fd00::/8", or one address.  Host bits must be zero, so that a typing
 * error does not open more than was meant. */
MUST_CHECK int gate_allow(struct gate *g, const char *cidr, struct err *err);
void gate_release(struct gate *g);

/* NULL: the address may be connected to.  Otherwise why not, as a noun:
 * "loopback", "private network", "6to4 of loopback" ... */
const char *gate_refuses(const struct gate *g, const struct sockaddr *sa);

/* Is host an address rather than a name, in any spelling that a resolver takes
 * for one (127.1, 0x7f.1, 2130706433, [::1])?  Fills *ret if so. */
bool gate_literal(const char *host, struct sockaddr_storage *ret);

/* Behind a proxy the name is not resolved here.  Refuse what the text shows: addresses,
 * and names of this machine (localhost). */
const char *gate_refuses_name(const struct gate *g, const char *host);

/* Ports of other protocols, which HTTP requests could attack (the "bad ports" of the
 * Fetch standard).  No allow list opens them. */
bool gate_refuses_port(unsigned port);

/* The party behind an address, to count requests to one party: the IPv4 address (also
 * inside NAT64 and 6to4), or the /64 of an IPv6 address, which is what one machine is
 * given. Returns the size of *out in bytes; 0: not an internet address. */
#define GATE_PARTY 8
size_t gate_party(const struct sockaddr *sa, uint8_t out[GATE_PARTY]);

/* The address as text, without port; "" if it has none. */
#define GATE_TEXT 48
const char *gate_text(const struct sockaddr *sa, char out[GATE_TEXT]);

#endif
