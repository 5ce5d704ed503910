/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - indexed binary heap: the item with the largest key on top.
 *
 * Items are numbers below `n_max`; each is in the heap at most once and its key
 * can be changed in O(log n).  Equal keys: the smaller number comes first, so
 * the order never depends on history.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct heap {
	uint32_t *item;         /* heap order */
	uint32_t *place;        /* by item: index in `item` + 1; 0: not in the heap */
	double *key;            /* by item */
	uint32_t n, n_max;
};

void heap_init(struct heap *h, uint32_t n_max);
void heap_release(struct heap *h);
bool heap_has(const struct heap *h, uint32_t item);
void heap_set(struct heap *h, uint32_t item, double key);       /* add or move */
void heap_remove(struct heap *h, uint32_t item);                /* if there */
bool heap_top(const struct heap *h, uint32_t *ret_item, double *ret_key);
bool heap_pop(struct heap *h, uint32_t *ret_item, double *ret_key);

#endif
