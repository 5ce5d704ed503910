/* SPDX-License-Identifier: Apache-2.0 */
/* input_inner.h - what input.c (reading) and input_open.c share. */
#ifndef BASE_IO_INPUT_INNER_H
#define BASE_IO_INPUT_INNER_H

#include "base/io/input.h"
#include "base/io/input_raw.h"
#include "base/mem.h"

struct input_mark {
	uint64_t position;              /* in the data */
	uint64_t offset;                /* in the file */
};

struct input {
	char *name;
	struct raw raw;
	struct codec codec;
	uint64_t raw_size, raw_start;   /* size of the file; offset where we began */
	char *out;                      /* cap + 1 bytes: room for a NUL */
	size_t pos, len, cap;
	uint64_t out_base;              /* position in the data of out[0] */
	bool ended;
	struct err broken;              /* code != 0: the data after out[len] is damaged */
	VEC(struct input_mark) marks;         /* in use from first_mark on; rising */
	size_t first_mark;
};

#endif
