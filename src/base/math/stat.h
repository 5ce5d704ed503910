/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat.h - the statistics several layers share: running means with their
 * standard errors, Student's t, tests of a difference, weights over history.
 *
 * Nothing here returns NaN: what is not defined (the error of one value, a test
 * on constants) has a stated value instead, so that tables and scores stay
 * finite whatever the data.
 */
#ifndef BASE_MATH_STAT_H
#define BASE_MATH_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Mean and variance in one pass (Welford); zeroed, it is empty. */
struct stat_mean {
	uint64_t n;
	double mean;
	double m2;              /* sum of squared deviations from the mean */
};

void stat_add(struct stat_mean *m, double x);
void stat_merge(struct stat_mean *m, const struct stat_mean *other);
double stat_variance(const struct stat_mean *m);        /* n - 1; 0 if n < 2 */
double stat_se(const struct stat_mean *m);              /* of the mean */

/* Standard normal: P(Z > z), and the z below which a share p lies.  Quantiles
 * at p <= 0 and p >= 1 are -HUGE_VAL and HUGE_VAL. */
double stat_normal_above(double z);
double stat_normal_quantile(double p);

/* Student's t with nu > 0 degrees of freedom, which need not be whole. */
double stat_t_above(double t, double nu);               /* P(T > t) */
double stat_t_quantile(double p, double nu);

/* Wilson's interval for a share of n > 0 trials: its middle, and half its width.  n need not
 * be whole; z is the normal quantile of the confidence. */
#define STAT_Z95 1.96
void stat_wilson(double share, double n, double z, double *ret_middle, double *ret_half);

/* A test of "no difference".  Without any variance: t = 0, p = 1 when the means
 * are equal, t = +-HUGE_VAL, p = 0 when not; with too few values t = 0, p = 1. */
struct stat_test {
	double difference;      /* first mean minus second */
	double se;              /* of the difference */
	double t, nu;
	double p;               /* two-sided */
};

/* Welch's two samples of unequal variance. */
struct stat_test stat_welch(const struct stat_mean *a, const struct stat_mean *b);
/* The mean of a - b, pair by pair. */
struct stat_test stat_paired(const double *a, const double *b, size_t n);

/* Half the width of the two-sided confidence interval of the mean; HUGE_VAL
 * for fewer than two values. */
double stat_half_width(const struct stat_mean *m, double confidence);

/* The sequential sampling rule: have enough values been drawn?  At least
 * `least` of them, and the mean known to +-delta at that confidence. */
bool stat_enough(const struct stat_mean *m, double confidence, double delta,
                 unsigned least);

/*
 * The weighted share of cycles 1..n in which a change was seen, the weights
 * adding up to 1: equal (NON), only the last (SHORT), i (ARITH), 2^i (GEO).
 * One number per page and O(1) work: cycles without a note count as "no
 * change", whenever the share is asked for.  Notes come in rising order of
 * cycle.  Count visits instead of cycles by passing visit numbers.
 */
enum stat_weights { STAT_NON, STAT_SHORT, STAT_ARITH, STAT_GEO };

struct stat_history {           /* zeroed, it is empty */
	float sum;
	uint32_t last;          /* cycle of the latest note */
};

void stat_note(struct stat_history *h, enum stat_weights w, uint32_t cycle, bool changed);
double stat_share(const struct stat_history *h, enum stat_weights w, uint32_t n);

#endif
