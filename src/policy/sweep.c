/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c - passes by blocks; see sweep.h. */
#include "policy/sweep.h"

#include "base/thread/pool.h"

struct sweeping {
	sweep_pass *pass;
	void *arg;
	size_t n;
	unsigned n_blocks;
};

static void sweep_block(void *arg, size_t i)
{
	const struct sweeping *s = arg;

	s->pass(s->arg, (unsigned)i, s->n * i / s->n_blocks, s->n * (i + 1) / s->n_blocks);
}

unsigned sweep_blocks(size_t n)
{
	return n > SWEEP_FEW ? SWEEP_BLOCKS : 1;
}

void sweep(const struct view *v, size_t n, unsigned n_blocks, sweep_pass *pass, void *arg)
{
	struct sweeping s = { pass, arg, n, n_blocks };

	pool_run(v->threads ? v->threads : pool_threads(), n_blocks, sweep_block, &s);
}
