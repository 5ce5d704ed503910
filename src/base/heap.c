/* SPDX-License-Identifier: Apache-2.0 */
/* heap.c - the indexed binary heap; see heap.h. */
#include "base/heap.h"

#include "base/mem.h"

void heap_init(struct heap *h, uint32_t n_max)
{
	*h = (struct heap){ .n_max = n_max };
	h->item = mem_array(n_max, sizeof *h->item);
	h->place = mem_zalloc(n_max, sizeof *h->place);
	h->key = mem_array(n_max, sizeof *h->key);
}

void heap_release(struct heap *h)
{
	free(h->item);
	free(h->place);
	free(h->key);
	*h = (struct heap){ 0 };
}

bool heap_has(const struct heap *h, uint32_t item)
{
	return h->place[item] != 0;
}

static bool before(const struct heap *h, uint32_t a, uint32_t b)
{
	if (h->key[a] > h->key[b])
		return true;
	return !(h->key[a] < h->key[b]) && a < b;
}

static void put(struct heap *h, uint32_t at, uint32_t item)
{
	h->item[at] = item;
	h->place[item] = at + 1;
}

static void sift_up(struct heap *h, uint32_t at, uint32_t item)
{
	while (at > 0 && before(h, item, h->item[(at - 1) / 2])) {
		put(h, at, h->item[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put(h, at, item);
}

static void sift_down(struct heap *h, uint32_t at, uint32_t item)
{
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= h->n)
			break;
		if (child + 1 < h->n && before(h, h->item[child + 1], h->item[child]))
			child++;
		if (!before(h, h->item[child], item))
			break;
		put(h, at, h->item[child]);
		at = child;
	}
	put(h, at, item);
}

void heap_set(struct heap *h, uint32_t item, double key)
{
	uint32_t at = h->place[item] ? h->place[item] - 1 : h->n++;

	h->key[item] = key;
	sift_up(h, at, item);
	sift_down(h, h->place[item] - 1, item);
}

void heap_remove(struct heap *h, uint32_t item)
{
	uint32_t at, last;

	if (!h->place[item])
		return;
	at = h->place[item] - 1;
	h->place[item] = 0;
	last = h->item[--h->n];
	if (last == item)
		return;
	sift_up(h, at, last);
	sift_down(h, h->place[last] - 1, last);
}

bool heap_top(const struct heap *h, uint32_t *ret_item, double *ret_key)
{
	if (!h->n)
		return false;
	*ret_item = h->item[0];
	if (ret_key)
		*ret_key = h->key[h->item[0]];
	return true;
}

bool heap_pop(struct heap *h, uint32_t *ret_item, double *ret_key)
{
	if (!heap_top(h, ret_item, ret_key))
		return false;
	heap_remove(h, *ret_item);
	return true;
}
