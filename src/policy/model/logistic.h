/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logistic.h - ridge logistic regression around prior means, few features.
 *
 * Maximises  sum of log-likelihood - 1/2 sum of precision_i (w_i - prior_i)^2  by
 * Newton's method, each step at most 2 in any weight and halved until it does not
 * go down.  With no rows the result is the prior.  O(steps * rows * features^2).
 */
#ifndef POLICY_MODEL_LOGISTIC_H
#define POLICY_MODEL_LOGISTIC_H

#include <stddef.h>
#include <stdint.h>

#define LOGISTIC_MAX 32         /* features */

struct logistic_prior { double mean, precision; };

/* rows: n_rows x n floats; hit: n_rows of 0 or 1; w holds the start and then
 * the result. */
void logistic_fit(const float *rows, const uint8_t *hit, size_t n_rows, int n,
                  const struct logistic_prior *prior, double *w);

/* Solve A x = b for a symmetric positive definite A (n x n, row by row, with
 * rows LOGISTIC_MAX apart); A and b are overwritten, x is in b. */
void solve_positive(double a[][LOGISTIC_MAX], double *b, int n);

#endif
