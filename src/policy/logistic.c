/* SPDX-License-Identifier: Apache-2.0 */
/* logistic.c - Newton's method for a ridge logistic regression; see logistic.h. */
#include "policy/logistic.h"

#include <math.h>

#define STEPS_MAX 10
#define STEP_MAX 2.0
#define STEP_ENOUGH 0.001

void solve_positive(double a[][LOGISTIC_MAX], double *b, int n)
{
	/* Cholesky: a = l l' */
	for (int i = 0; i < n; i++) {
		for (int j = 0; j <= i; j++) {
			double s = a[i][j];

			for (int k = 0; k < j; k++)
				s -= a[i][k] * a[j][k];
			a[i][j] = i == j ? sqrt(fmax(s, 1e-12)) : s / a[j][j];
		}
	}
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < i; k++)
			b[i] -= a[i][k] * b[k];
		b[i] /= a[i][i];
	}
	for (int i = n; i-- > 0;) {
		for (int k = i + 1; k < n; k++)
			b[i] -= a[k][i] * b[k];
		b[i] /= a[i][i];
	}
}

static double chance_of(const float *x, const double *w, int n)
{
	double s = 0;

	for (int i = 0; i < n; i++)
		s += w[i] * (double)x[i];
	return 1 / (1 + exp(-s));
}

void logistic_fit(const float *rows, const uint8_t *hit, size_t n_rows, int n,
                  const struct logistic_prior *prior, double *w)
{
	double h[LOGISTIC_MAX][LOGISTIC_MAX], g[LOGISTIC_MAX];

	for (int step = 0; step < STEPS_MAX; step++) {
		double most = 0, scale;

		for (int i = 0; i < n; i++) {
			for (int j = 0; j <= i; j++)
				h[i][j] = i == j ? prior[i].precision : 0;
			g[i] = prior[i].precision * (prior[i].mean - w[i]);
		}
		for (size_t r = 0; r < n_rows; r++) {
			const float *x = rows + r * (size_t)n;
			double p = chance_of(x, w, n), q = p * (1 - p), e = hit[r] - p;

			for (int i = 0; i < n; i++) {
				double qx = q * (double)x[i];

				g[i] += e * (double)x[i];
				for (int j = 0; j <= i; j++)
					h[i][j] += qx * (double)x[j];
			}
		}
		solve_positive(h, g, n);
		for (int i = 0; i < n; i++)
			most = fmax(most, fabs(g[i]));
		scale = most > STEP_MAX ? STEP_MAX / most : 1;
		for (int i = 0; i < n; i++)
			w[i] += scale * g[i];
		if (most < STEP_ENOUGH)
			break;
	}
}
