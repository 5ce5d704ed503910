/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frozen.h - memory as bytes of a file, both ways: the same calls in the same order write
 * it and read it back, so that a struct has one function for both.
 *
 * Reading trusts nothing: what is longer than the file is bad, and then everything that is
 * read from there on is zero or empty.  The caller looks at `bad` when it is through.
 */
#ifndef POLICY_FROZEN_H
#define POLICY_FROZEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct frozen {
	FILE *file;
	bool thaw;                      /* read; else write */
	bool bad;                       /* writing failed, or what was read makes no sense */
	uint64_t left;                  /* thaw: bytes that are left to read */
	uint64_t hash;                  /* of all whole blocks so far */
	unsigned char block[4096];      /* the one that is being filled, so that the hash does */
	size_t filled;                  /* not depend on how bytes were grouped */
};

void frozen_bytes(struct frozen *f, void *bytes, size_t size);
/* Of all bytes so far. */
uint64_t frozen_hash(const struct frozen *f);
/* An array whose length is not known before it is read; it must be empty then. */
void frozen_array(struct frozen *f, void **v, size_t *n, size_t *cap, size_t size);

/* n rows of an array.  What is read may have fewer: pages, directories and sites that came
 * later are behind those that were there, and their rows stay as they are. */
void frozen_rows(struct frozen *f, void *rows, size_t n, size_t size);
/* What is read is good only if there were as many then. */
void frozen_same(struct frozen *f, uint64_t n);

#define frozen_value(f, value) frozen_bytes(f, value, sizeof *(value))
#define frozen_vec(f, vec) \
	frozen_array(f, (void **)&(vec)->v, &(vec)->n, &(vec)->cap, sizeof *(vec)->v)

/* What was read is good only if this holds. */
static inline void frozen_check(struct frozen *f, bool holds)
{
	f->bad |= f->thaw && !holds;
}

#endif
