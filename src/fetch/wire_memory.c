/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_memory.c - an allocator for libcurl: each lane caches the memory that it frees.
 *
 * libcurl allocates and frees some seventy pieces for every exchange, among them the
 * receive buffer of 64 KiB.  Most of them miss the C library's cache of a thread (seven
 * pieces of a size, none zeroed, none over 1 KiB).  Here every piece has a size class,
 * and a lane's thread has a list of free pieces for each class, without locks or search.
 * Other threads (libcurl's resolver, the thread that ends the wire) use the C library.  A
 * piece may be allocated in one thread and freed in another.
 *
 * Cost: 16 bytes a piece; sizes are rounded up to 64 bytes below 1 KiB and to powers of
 * two above.  The cache holds at most what was in use at one time, and no more than KEEP
 * pieces of a class.  A piece has a mark "in use", which is checked before its size is
 * used: a double free or a realloc after free ends the program.  libcurl's functions have
 * no argument for us, hence the thread-local variable.  AddressSanitizer builds do not
 * use any of this.
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
	alignas(16) uint32_t class;     /* N_CLASSES: larger than every class */
	uint32_t state;
	union { size_t size; struct piece *next; } u;   /* size while in use; next while free */
};

struct kept { struct piece *first; unsigned n; };

static _Thread_local struct kept *own;  /* by class; NULL: not a lane's thread */

/* The piece of this memory.  If it was freed before, end the program: going on could
 * write into other memory. */
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
