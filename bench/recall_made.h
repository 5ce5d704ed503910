/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_made.h - a repository of a chosen size and age, for bench_recall.
 *
 * Pages of 1,000 a site in directories of 20, each with a copy that has three links; cycles
 * of `tide` that visit 2 % of the pages, of which a third have changed.  Rows are written
 * straight into SQLite, without a journal: some 2 us a row, where the store takes 15.
 */
#ifndef BENCH_RECALL_MADE_H
#define BENCH_RECALL_MADE_H

#include <stdint.h>

#define MADE_PER_SITE 1000

/* When a cycle begins; imported copies are of cycle 0. */
int64_t made_time(uint32_t cycle);

/* Make cycles from..to, both included; with cycle 1 come the tables and the pages.  Errors end
 * the program. */
void made_cycles(const char *path, uint32_t n_pages, uint32_t from, uint32_t to);

#endif
