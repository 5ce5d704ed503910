/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_proxy.h - a web proxy on loopback for a program that fetches for us: every address that
 * it leads to was allowed by the gate, and what goes through it is counted.
 *
 * It knows CONNECT (https, of which it sees one connection and no requests) and plain HTTP,
 * one request a connection.  Each connection has a thread.
 */
#ifndef FETCH_PROGRAM_GATE_PROXY_H
#define FETCH_PROGRAM_GATE_PROXY_H

#include "fetch/program/program.h"

struct gate_proxy;

MUST_CHECK int gate_proxy_new(struct gate_proxy **ret, const struct program_options *o,
                              struct err *err);
void gate_proxy_free(struct gate_proxy *p);     /* cuts all connections; NULL is fine */
unsigned gate_proxy_port(const struct gate_proxy *p);
/* A page begins: so many requests are let through from now on.  Cuts what is left of
 * the last page. */
void gate_proxy_begin(struct gate_proxy *p, unsigned requests);
unsigned gate_proxy_count(const struct gate_proxy *p);  /* let through since then */

#endif
