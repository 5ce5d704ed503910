/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - open addressing with linear probing, at most 3/4 full; see map.h. */
#include "base/map.h"

#include "base/math/rng.h"
#include "base/mem.h"

#define CLEAR_MAX 4096                  /* clearing keeps at most so many slots: 64 KiB */

static bool is_used(const struct map *m, size_t i)
{
	return m->slots[i].used > m->clears;
}

static size_t find_slot(const struct map *m, uint64_t key)
{
	size_t i = (size_t)rng_mix(key) & (m->cap - 1);

	while (is_used(m, i) && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return i;
}

uint32_t map_get(const struct map *m, uint64_t key)
{
	size_t i;

	if (!m->n)
		return MAP_NONE;
	i = find_slot(m, key);
	return is_used(m, i) ? m->slots[i].value : MAP_NONE;
}

static void map_rehash(struct map *m, size_t cap)
{
	struct map old = *m;

	m->slots = mem_zalloc(cap, sizeof *m->slots);
	m->cap = m->room = cap;
	for (size_t i = 0; i < old.cap; i++)
		if (is_used(&old, i))
			m->slots[find_slot(m, old.slots[i].key)] = old.slots[i];
	free(old.slots);
}

uint32_t map_intern(struct map *m, uint64_t key, uint32_t value, bool *ret_new)
{
	size_t i;

	if ((m->n + 1) * 4 > m->cap * 3)
		map_rehash(m, m->cap ? m->cap * 2 : 16);
	i = find_slot(m, key);
	if (ret_new)
		*ret_new = !is_used(m, i);
	if (!is_used(m, i)) {
		m->slots[i] = (struct map_slot){ key, value, m->clears + 1 };
		m->n++;
	}
	return m->slots[i].value;
}

void map_reserve(struct map *m, size_t n)
{
	size_t cap = m->cap ? m->cap : 16;

	while (n * 4 > cap * 3)
		cap *= 2;
	if (cap > m->cap)
		map_rehash(m, cap);
}

void map_soon(const struct map *m, uint64_t key)
{
	if (m->cap)
		__builtin_prefetch(&m->slots[(size_t)rng_mix(key) & (m->cap - 1)]);
}

void map_put(struct map *m, uint64_t key, uint32_t value)
{
	bool fresh;

	map_intern(m, key, value, &fresh);
	if (!fresh)
		m->slots[find_slot(m, key)].value = value;
}

void map_clear(struct map *m)
{
	if (m->room > CLEAR_MAX || m->clears == UINT32_MAX - 1)
		map_release(m);
	else
		m->clears += m->n > 0;
	m->n = 0;
}

void map_clear_for(struct map *m, size_t n)
{
	size_t cap = 16;

	map_clear(m);
	while (n * 4 > cap * 3 && cap < m->room)
		cap *= 2;
	m->cap = cap < m->room ? cap : m->room;
}

void map_release(struct map *m)
{
	free(m->slots);
	*m = (struct map){ 0 };
}

static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

uint64_t hash_bytes(const void *data, size_t size, uint64_t seed)
{
	const unsigned char *p = data;
	uint64_t h = seed ^ 0xa0761d6478bd642fu, n = size;

	for (; n > 16; n -= 16, p += 16)
		h = fold(hash_load(p, 8) ^ 0xe7037ed1a0b428dbu, hash_load(p + 8, 8) ^ h);
	h = fold(hash_load(p, n > 8 ? 8 : n) ^ 0x8ebc6af09c88c6e3u,
	         (n > 8 ? hash_load(p + 8, n - 8) : 0) ^ h ^ 0x589965cc75374cc3u);
	return fold(h ^ size, 0x1d8e4e27c47d124fu);
}

static size_t str_slot(const struct strtab *t, const char *s, size_t size, uint64_t h)
{
	size_t i = (size_t)h & (t->cap - 1);

	for (; t->slots[i]; i = (i + 1) & (t->cap - 1)) {
		uint32_t k = t->slots[i] - 1;

		if (t->hashes[k] == (uint32_t)(h >> 32) && strtab_size(t, k) == size &&
		    !memcmp(t->pool + t->offset[k], s, size))
			break;
	}
	return i;
}

uint32_t strtab_find(const struct strtab *t, const char *s, size_t size)
{
	size_t i;

	if (!t->n)
		return MAP_NONE;
	i = str_slot(t, s, size, hash_bytes(s, size, 0));
	return t->slots[i] ? t->slots[i] - 1 : MAP_NONE;
}

/* Slots hold numbers only, so growing them hashes every string again: the
 * pool is read once, front to back. */
static void str_rehash(struct strtab *t)
{
	t->cap = t->cap ? t->cap * 2 : 16;
	free(t->slots);
	t->slots = mem_zalloc(t->cap, sizeof *t->slots);
	for (uint32_t k = 0; k < t->n; k++) {
		uint64_t h = hash_bytes(t->pool + t->offset[k], strtab_size(t, k), 0);
		size_t i = (size_t)h & (t->cap - 1);

		while (t->slots[i])
			i = (i + 1) & (t->cap - 1);
		t->slots[i] = k + 1;
	}
}

uint32_t strtab_intern(struct strtab *t, const char *s, size_t size, bool *ret_new)
{
	uint64_t h = hash_bytes(s, size, 0);
	size_t i;

	if (((size_t)t->n + 1) * 4 > t->cap * 3)
		str_rehash(t);
	i = str_slot(t, s, size, h);
	if (ret_new)
		*ret_new = !t->slots[i];
	if (t->slots[i])
		return t->slots[i] - 1;
	mem_grow((void **)&t->pool, &t->pool_cap, t->pool_size + size + 1, 1);
	mem_grow((void **)&t->offset, &t->offset_cap, (size_t)t->n + 2, sizeof *t->offset);
	mem_grow((void **)&t->hashes, &t->hash_cap, (size_t)t->n + 1, sizeof *t->hashes);
	memcpy(t->pool + t->pool_size, s, size);
	t->pool[t->pool_size + size] = '\0';
	t->offset[t->n] = t->pool_size;
	t->pool_size += size + 1;
	t->offset[t->n + 1] = t->pool_size;
	t->hashes[t->n] = (uint32_t)(h >> 32);
	t->slots[i] = ++t->n;
	return t->n - 1;
}

const char *strtab_get(const struct strtab *t, uint32_t i)
{
	return t->pool + t->offset[i];
}

size_t strtab_size(const struct strtab *t, uint32_t i)
{
	return (size_t)(t->offset[i + 1] - t->offset[i] - 1);
}

void strtab_release(struct strtab *t)
{
	free(t->pool);
	free(t->offset);
	free(t->slots);
	free(t->hashes);
	*t = (struct strtab){ 0 };
}
