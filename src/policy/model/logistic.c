/* SPDX-License-Identifier: Apache-2.0 */
/* logistic.c - Newton's method for a ridge logistic regression; see logistic.h. */
#include "policy/model/logistic.h"

#include <math.h>
#include <string.h>

#define STEPS_MAX 10
#define STEP_MAX 2.0
#define STEP_ENOUGH 0.001
#define HALVINGS_MAX 20

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

static double sum_of(const float *x, const double *w, int n)
{
	double s = 0;

	for (int i = 0; i < n; i++)
		s += w[i] * (double)x[i];
	return s;
}

/* The data of one fit. */
struct fit {
	const float *rows;
	const uint8_t *hit;
	size_t n_rows;
	int n;
	const struct logistic_prior *prior;
};

/* What is maximised. */
static double merit(const struct fit *f, const double *w)
{
	double sum = 0;

	for (int i = 0; i < f->n; i++)
		sum -= 0.5 * f->prior[i].precision * (w[i] - f->prior[i].mean) *
		       (w[i] - f->prior[i].mean);
	for (size_t r = 0; r < f->n_rows; r++) {
		double s = sum_of(f->rows + r * (size_t)f->n, w, f->n);

		if (f->hit[r])
			s = -s;
		sum -= s > 0 ? s + log1p(exp(-s)) : log1p(exp(s));
	}
	return sum;
}

static void derivatives(const struct fit *f, const double *w, double h[][LOGISTIC_MAX],
                        double *g)
{
	int n = f->n;

	for (int i = 0; i < n; i++) {
		for (int j = 0; j <= i; j++)
			h[i][j] = i == j ? f->prior[i].precision : 0;
		g[i] = f->prior[i].precision * (f->prior[i].mean - w[i]);
	}
	for (size_t r = 0; r < f->n_rows; r++) {
		const float *x = f->rows + r * (size_t)n;
		double p = 1 / (1 + exp(-sum_of(x, w, n))), q = p * (1 - p), e = f->hit[r] - p;

		for (int i = 0; i < n; i++) {
			double qx = q * (double)x[i];

			g[i] += e * (double)x[i];
			for (int j = 0; j <= i; j++)
				h[i][j] += qx * (double)x[j];
		}
	}
}

void logistic_fit(const float *rows, const uint8_t *hit, size_t n_rows, int n,
                  const struct logistic_prior *prior, double *w)
{
	const struct fit f = { rows, hit, n_rows, n, prior };
	double h[LOGISTIC_MAX][LOGISTIC_MAX], g[LOGISTIC_MAX], at = merit(&f, w);

	for (int step = 0; step < STEPS_MAX; step++) {
		double most = 0, scale, next[LOGISTIC_MAX], there = -INFINITY;

		derivatives(&f, w, h, g);
		solve_positive(h, g, n);
		for (int i = 0; i < n; i++)
			most = fmax(most, fabs(g[i]));
		scale = most > STEP_MAX ? STEP_MAX / most : 1;
		/* far from the maximum the curvature is wrong: halve a step that goes
		 * down */
		for (int k = 0; k < HALVINGS_MAX && !(there >= at); k++) {
			for (int i = 0; i < n; i++)
				next[i] = w[i] + scale * g[i];
			there = merit(&f, next);
			scale /= 2;
		}
		if (!(there >= at))
			break;
		memcpy(w, next, (size_t)n * sizeof *w);
		at = there;
		if (most < STEP_ENOUGH)
			break;
	}
}
