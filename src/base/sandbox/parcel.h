/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parcel.h - numbers and texts one after the other, for a process and a cell (cell.h).
 *
 * Who opens one trusts nothing: after anything that is not there, or is longer than what is
 * left, `bad` is set and all that follows is empty.
 */
#ifndef BASE_SANDBOX_PARCEL_H
#define BASE_SANDBOX_PARCEL_H

#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"

#define PARCEL_NOTHING UINT64_MAX       /* the size of a text that is not there */

struct parcel { const char *at; size_t left; bool bad; };

static inline void parcel_put(struct buf *b, uint64_t number)
{
	buf_add(b, &number, sizeof number);
}

static inline void parcel_put_text(struct buf *b, struct text t)
{
	parcel_put(b, t.s ? t.size : PARCEL_NOTHING);
	if (t.s)
		buf_add(b, t.s, t.size);
}

static inline uint64_t parcel_number(struct parcel *p)
{
	uint64_t number = 0;

	p->bad |= p->left < sizeof number;
	if (p->bad)
		return 0;
	memcpy(&number, p->at, sizeof number);
	p->at += sizeof number;
	p->left -= sizeof number;
	return number;
}

/* It lies in the parcel. */
static inline struct text parcel_text(struct parcel *p)
{
	uint64_t size = parcel_number(p);
	struct text t = { p->at, (size_t)size };

	if (p->bad || size == PARCEL_NOTHING || size > p->left) {
		p->bad |= size != PARCEL_NOTHING;
		return (struct text){ 0 };
	}
	p->at += size;
	p->left -= size;
	return t;
}

#endif
