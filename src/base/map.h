/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - open-addressed hash tables.
 *
 * struct map:    64-bit key -> 32-bit value; key 0 is allowed.
 * struct strtab: byte strings -> dense numbers 0, 1, 2 ... (interning), the
 *                bytes in one pool.  12 bytes a string beyond its bytes and
 *                the slots; no allocation per string.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MAP_NONE UINT32_MAX

struct map {
	struct map_slot { uint64_t key; uint32_t value; uint32_t used; } *slots;
	size_t n, cap;                  /* cap: slots in use, 0 or a power of two */
	size_t room;                    /* slots there are */
	uint32_t clears;                /* a slot is in use if its `used` is above this */
};

uint32_t map_get(const struct map *m, uint64_t key);    /* or MAP_NONE */
void     map_put(struct map *m, uint64_t key, uint32_t value);
/* The value under key, first put there if absent; *ret_new may be NULL. */
uint32_t map_intern(struct map *m, uint64_t key, uint32_t value, bool *ret_new);
void     map_reserve(struct map *m, size_t n);          /* room for n, without growing */
/* This key will be wanted soon: its place is asked for from main memory. */
void     map_soon(const struct map *m, uint64_t key);
void     map_release(struct map *m);
void     map_clear(struct map *m);      /* empty it; small tables keep their memory */
/* The same, for n keys: no more slots are used than these need, so that few are touched. */
void     map_clear_for(struct map *m, size_t n);

struct strtab {
	char *pool;
	size_t pool_size, pool_cap;
	uint64_t *offset;               /* of string i; n + 1 entries */
	size_t offset_cap;
	uint32_t n;
	uint32_t *slots;                /* number + 1, 0 = empty */
	uint32_t *hashes;               /* high half of the hash, by number */
	size_t hash_cap, cap;
};

/* The number of a string, new if it was not there; *ret_new may be NULL. */
uint32_t strtab_intern(struct strtab *t, const char *s, size_t size, bool *ret_new);
uint32_t strtab_find(const struct strtab *t, const char *s, size_t size); /* or MAP_NONE */
/* String i, NUL-terminated, valid until the next intern. */
const char *strtab_get(const struct strtab *t, uint32_t i);
size_t   strtab_size(const struct strtab *t, uint32_t i);
void     strtab_release(struct strtab *t);

/* 64-bit hash of bytes (wyhash-like multiply-fold); stable across runs. */
uint64_t hash_bytes(const void *data, size_t size, uint64_t seed);

/* n <= 8 bytes, the first lowest; pieces overlap where n is no power of two. */
static inline uint64_t hash_load(const void *data, size_t n)
{
	const unsigned char *p = data;
	uint32_t low, high;
	uint64_t x;

	if (n == 8) {
		memcpy(&x, p, 8);
		return x;
	}
	if (n >= 4) {
		memcpy(&low, p, 4);
		memcpy(&high, p + n - 4, 4);
		return low | (uint64_t)high << 8 * (n - 4);
	}
	return n ? p[0] | (uint64_t)p[n / 2] << 8 * (n / 2) | (uint64_t)p[n - 1] << 8 * (n - 1)
	         : 0;
}

#endif
