/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_memory.c - memory for libcurl: what a lane gave back is taken again.
 *
 * libcurl takes and gives back some seventy pieces for every exchange, the receive
 * buffer of 64 KiB among them, and most of them pass by what the C library keeps for a
 * thread (seven pieces of a size, none zeroed, none over 1 KiB).  Here every piece has a
 * class of sizes, and a lane's thread keeps lists of free ones, one a class, with no
 * lock and no search.  Other threads (libcurl's resolver, whoever ends the wire) go
 * straight to the C library; a piece may be taken in one thread and given back in
 * another.
 *
 * Cost: 16 bytes a piece, sizes rounded up to 64 bytes below 1 KiB and to powers of two
 * above.  What is kept is at most what was in use at one time, and no more than KEEP of
 * a class.  A piece says whether it is in use, and that is believed before its size: memory
 * used after it was given back ends the program.  libcurl's functions have no argument of ours, hence the thread's variable.
 * Under AddressSanitizer nothing of this is used: it shall see every piece.
 */
#include "fetch/wire_inner.h"

#include <curl/curl.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 1024              /* classes of 64 bytes up to here */
#define N_SMALL (SMALL / 64)
#define N_CLASSES (N_SMALL + 7) /* 2, 4 ... 128 KiB */
#define KEEP 256

enum { IN_USE = 0x75736564, GIVEN_BACK = 0x66726565 };

struct piece {
	alignas(16) uint32_t class;     /* N_CLASSES: larger than all */
	uint32_t state;
	union { size_t size; struct piece *next; } u;   /* in use; given back */
};

struct kept { struct piece *first; unsigned n; };

static _Thread_local struct kept *own;  /* by class; NULL: not a lane's thread */

/* The piece that libcurl means.  One that it gave back before has no size any more, and
 * goes on being used by nobody: better to end here than to write into another's memory. */
static struct piece *piece_of(void *memory)
{
	struct piece *p = (struct piece *)memory - 1;

	if (p->state != IN_USE) {
		fputs("freshet: libcurl uses memory that it gave back; please report it\n",
		      stderr);
		abort();
	}
	return p;
}

static size_t class_of(size_t size)
{
	size_t class = N_SMALL;

	if (size <= SMALL)
		return size ? (size - 1) / 64 : 0;
	while (class < N_CLASSES && size > (size_t)SMALL << (class - N_SMALL + 1))
		class++;
	return class;
}

static size_t class_size(size_t class, size_t size)
{
	return class < N_SMALL ? (class + 1) * 64
		: class < N_CLASSES ? (size_t)SMALL << (class - N_SMALL + 1) : size;
}

static void *take(size_t size)
{
	size_t class = class_of(size), room = class_size(class, size);
	struct piece *p;

	if (own && class < N_CLASSES && (p = own[class].first)) {
		own[class].first = p->u.next;
		own[class].n--;
	} else {
		p = room <= SIZE_MAX - sizeof *p ? malloc(sizeof *p + room) : NULL;
		if (!p)
			return NULL;
		p->class = (uint32_t)class;
	}
	p->state = IN_USE;
	p->u.size = room;
	return p + 1;
}

static void give(void *memory)
{
	struct piece *p;

	if (!memory)
		return;
	p = piece_of(memory);
	p->state = GIVEN_BACK;
	if (own && p->class < N_CLASSES && own[p->class].n < KEEP) {
		p->u.next = own[p->class].first;
		own[p->class].first = p;
		own[p->class].n++;
	} else {
		free(p);
	}
}

static void *resize(void *memory, size_t size)
{
	size_t before = memory ? piece_of(memory)->u.size : 0;
	void *more;

	if (memory && before >= size)
		return memory;
	more = take(size);
	if (more && memory) {
		memcpy(more, memory, before);
		give(memory);
	}
	return more;
}

static void *take_zeroed(size_t n, size_t size)
{
	void *p = size && n > SIZE_MAX / size ? NULL : take(n * size);

	return p ? memset(p, 0, n * size) : NULL;
}

static char *copy_text(const char *s)
{
	size_t size = strlen(s) + 1;
	char *p = take(size);

	return p ? memcpy(p, s, size) : NULL;
}

#if defined __SANITIZE_ADDRESS__
#define ALL_SEEN 1
#elif defined __has_feature
#define ALL_SEEN __has_feature(address_sanitizer)
#else
#define ALL_SEEN 0
#endif

int wire_memory_init(void)
{
	if (ALL_SEEN)
		return curl_global_init(CURL_GLOBAL_DEFAULT) ? -1 : 0;
	return curl_global_init_mem(CURL_GLOBAL_DEFAULT, take, give, resize, copy_text,
	                            take_zeroed) ? -1 : 0;
}

void wire_memory_keep(void)
{
	own = mem_zalloc(N_CLASSES, sizeof *own);
}

void wire_memory_release(void)
{
	for (size_t i = 0; i < N_CLASSES; i++) {
		struct piece *next;

		for (struct piece *p = own[i].first; p; p = next) {
			next = p->u.next;
			free(p);
		}
	}
	free(own);
	own = NULL;
}
