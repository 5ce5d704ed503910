/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat.c - running means, Student's t, tests, history weights; see stat.h.
 *
 * P(T > t) = I_x(nu/2, 1/2) / 2 for t >= 0, with x = nu / (nu + t^2) and I the
 * regularised incomplete beta function, from its continued fraction, evaluated
 * forwards after Lentz, on the side where it converges fast.
 *
 * Quantiles: the series of Fisher and Cornish in 1/nu starts Newton's method
 * on log P(T > t) as a function of log t.  That function is concave (t^2 has a
 * rising generalised failure rate), so after one step the iterates come down on
 * the root from one side and cannot escape, for any nu and any tail.
 */
#include "base/math/stat.h"

#include <math.h>

#define NEWTON_MAX 200
#define FRACTION_MAX 100000
#define NU_NORMAL 1e8           /* from here t and normal differ by < 1e-7 */

void stat_add(struct stat_mean *m, double x)
{
	double d = x - m->mean;

	m->n++;
	m->mean += d / (double)m->n;
	m->m2 += d * (x - m->mean);
}

void stat_merge(struct stat_mean *m, const struct stat_mean *other)
{
	double a = (double)m->n, b = (double)other->n, d = other->mean - m->mean;

	if (other->n == 0)
		return;
	m->m2 += other->m2 + d * d * a * b / (a + b);
	m->mean += d * b / (a + b);
	m->n += other->n;
}

double stat_variance(const struct stat_mean *m)
{
	return m->n < 2 || m->m2 <= 0 ? 0 : m->m2 / (double)(m->n - 1);
}

double stat_se(const struct stat_mean *m)
{
	return m->n < 2 ? 0 : sqrt(stat_variance(m) / (double)m->n);
}

double stat_normal_above(double z)
{
	return 0.5 * erfc(z * M_SQRT1_2);
}

/* The z > 0 with P(Z > z) = q, 0 < q < 1/2: Newton on the concave log P. */
static double normal_upper(double q)
{
	double z = sqrt(-2 * log(2 * q));

	for (int i = 0; i < NEWTON_MAX; i++) {
		double above = stat_normal_above(z);
		double density = exp(-z * z / 2) / sqrt(2 * M_PI);
		double step = log(above / q) * above / density;

		z += step;
		if (fabs(step) <= 1e-15 * z)
			break;
	}
	return z;
}

double stat_normal_quantile(double p)
{
	if (!(p > 0))
		return -HUGE_VAL;
	if (!(p < 1))
		return HUGE_VAL;
	if (p == 0.5)
		return 0;
	return p < 0.5 ? -normal_upper(p) : normal_upper(1 - p);
}

void stat_wilson(double share, double n, double z, double *ret_middle, double *ret_half)
{
	*ret_middle = (share + z * z / (2 * n)) / (1 + z * z / n);
	*ret_half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n));
}

/* Lentz's forward evaluation of the continued fraction of I_x(a, b). */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	double h;

	d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
	h = d;
	for (int m = 1; m < FRACTION_MAX; m++) {
		double k[2], turn;

		k[0] = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		k[1] = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		turn = 1;
		for (int i = 0; i < 2; i++) {
			d = 1 + k[i] * d;
			c = 1 + k[i] / c;
			d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
			c = fabs(c) < 1e-300 ? 1e-300 : c;
			turn = c * d;
			h *= turn;
		}
		if (fabs(turn - 1) < 1e-15)
			break;
	}
	return h;
}

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* I_x(a, b); y = 1 - x is passed too, for it may be tiny. */
static double beta_share(double x, double y, double a, double b)
{
	double front;

	if (x <= 0)
		return 0;
	if (y <= 0)
		return 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b)
	            + a * log(x) + b * log(y));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(y, b, a) / b;
}

double stat_t_above(double t, double nu)
{
	double half, s = t * t;

	if (nu >= NU_NORMAL)
		return stat_normal_above(t);
	if (isinf(s))
		return t > 0 ? 0 : 1;
	half = beta_share(nu / (nu + s), s / (nu + s), nu / 2, 0.5) / 2;
	return t >= 0 ? half : 1 - half;
}

static double t_log_density(double t, double nu)
{
	return log_gamma((nu + 1) / 2) - log_gamma(nu / 2) - log(nu * M_PI) / 2
	       - (nu + 1) / 2 * log1p(t * t / nu);
}

/* Expansion of the quantile in powers of 1/nu around the normal one. */
static double t_series(double z, double nu)
{
	double z2 = z * z;

	return z + z * (z2 + 1) / (4 * nu)
	       + z * ((5 * z2 + 16) * z2 + 3) / (96 * nu * nu)
	       + z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * nu * nu * nu);
}

/* The t > 0 with P(T > t) = q, 0 < q < 1/2. */
static double t_upper(double q, double nu)
{
	double z = normal_upper(q), t = nu >= 1 ? t_series(z, nu) : z;

	if (nu == 1)
		return 1 / tan(M_PI * q);
	if (nu == 2)
		return (1 - 2 * q) / sqrt(2 * q * (1 - q));
	if (nu >= NU_NORMAL)
		return z;
	if (!(t > z))
		t = z;
	for (int i = 0; i < NEWTON_MAX; i++) {
		double above = stat_t_above(t, nu), step;

		if (!(above > 0)) {             /* underflow: far right of it */
			t /= 16;
			continue;
		}
		step = log(above / q) * above / (t * exp(t_log_density(t, nu)));
		t *= exp(step > 50 ? 50 : step);
		if (fabs(step) <= 1e-15)
			break;
	}
	return t;
}

double stat_t_quantile(double p, double nu)
{
	if (!(p > 0) || !(p < 1) || p == 0.5)   /* the same as for the normal curve */
		return stat_normal_quantile(p);
	return p < 0.5 ? -t_upper(p, nu) : t_upper(1 - p, nu);
}

static struct stat_test judge(double difference, double se, double nu)
{
	struct stat_test r = { .difference = difference, .se = se, .nu = nu, .p = 1 };

	if (nu <= 0 || (se == 0 && difference == 0))
		return r;
	r.t = se > 0 ? difference / se : copysign(HUGE_VAL, difference);
	r.p = 2 * stat_t_above(fabs(r.t), nu);
	return r;
}

struct stat_test stat_welch(const struct stat_mean *a, const struct stat_mean *b)
{
	double va, vb, nu;

	if (a->n < 2 || b->n < 2)
		return judge(a->mean - b->mean, 0, 0);
	va = stat_variance(a) / (double)a->n;
	vb = stat_variance(b) / (double)b->n;
	nu = (double)(a->n + b->n - 2);
	if (va + vb > 0)
		nu = (va + vb) * (va + vb) / (va * va / (double)(a->n - 1)
		                              + vb * vb / (double)(b->n - 1));
	return judge(a->mean - b->mean, sqrt(va + vb), nu);
}

struct stat_test stat_paired(const double *a, const double *b, size_t n)
{
	struct stat_mean d = { 0 };

	for (size_t i = 0; i < n; i++)
		stat_add(&d, a[i] - b[i]);
	return judge(d.mean, stat_se(&d), n < 2 ? 0 : (double)(n - 1));
}

double stat_half_width(const struct stat_mean *m, double confidence)
{
	double se = stat_se(m);

	if (m->n < 2)
		return HUGE_VAL;
	if (se == 0)
		return 0;
	return se * stat_t_quantile((1 + confidence) / 2, (double)(m->n - 1));
}

bool stat_enough(const struct stat_mean *m, double confidence, double delta,
                 unsigned least)
{
	return m->n >= least && stat_half_width(m, confidence) <= delta;
}

void stat_note(struct stat_history *h, enum stat_weights w, uint32_t cycle, bool changed)
{
	switch (w) {
	case STAT_NON:
		h->sum += changed;
		break;
	case STAT_SHORT:
		h->sum = changed;
		break;
	case STAT_ARITH:
		h->sum += changed ? (float)cycle : 0;
		break;
	case STAT_GEO:
		/* G <- (G + I) / 2 each cycle; I is 0 in the cycles since the last visit */
		h->sum = (ldexpf(h->sum, -(int)(cycle - h->last) + 1) + (float)changed) / 2;
		break;
	}
	h->last = cycle;
}

double stat_share(const struct stat_history *h, enum stat_weights w, uint32_t n)
{
	double c = n;

	if (n == 0 || h->last == 0)
		return 0;
	switch (w) {
	case STAT_NON:
		return h->sum / c;
	case STAT_SHORT:
		return h->last == n ? h->sum : 0;
	case STAT_ARITH:
		return 2 * h->sum / (c * (c + 1));
	default:
		return ldexp(h->sum, -(int)(n - h->last)) / -expm1(-c * M_LN2);
	}
}
