/* SPDX-License-Identifier: Apache-2.0 */
/* when.c - times, durations, sizes and shares; see when.h. */
#include "base/when.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define YEAR_MAX 9999

/* Days since the epoch of a proleptic Gregorian date. */
static int64_t days_of(int64_t y, int m, int d)
{
	int64_t era, yoe, doy;

	y -= m <= 2;
	era = (y >= 0 ? y : y - 399) / 400;
	yoe = y - era * 400;
	doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

struct civil { int64_t y; int m, d, h, min, s, weekday; };

static struct civil civil_of(int64_t t)
{
	int64_t days = t / DAY_SECONDS, rest = t % DAY_SECONDS;
	int64_t z, era, doe, yoe, doy, mp;
	struct civil c;

	if (rest < 0) {
		rest += DAY_SECONDS;
		days--;
	}
	z = days + 719468;
	era = (z >= 0 ? z : z - 146096) / 146097;
	doe = z - era * 146097;
	yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	mp = (5 * doy + 2) / 153;
	c.d = (int)(doy - (153 * mp + 2) / 5 + 1);
	c.m = (int)(mp < 10 ? mp + 3 : mp - 9);
	c.y = yoe + era * 400 + (c.m <= 2);
	c.h = (int)(rest / 3600);
	c.min = (int)(rest / 60 % 60);
	c.s = (int)(rest % 60);
	c.weekday = (int)(((days % 7) + 11) % 7);       /* 0 = Sunday */
	return c;
}

static bool make_time(const struct civil *c, int64_t *ret)
{
	static const int len[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (c->y % 4 == 0 && c->y % 100 != 0) || c->y % 400 == 0;

	if (c->y < 1 || c->y > YEAR_MAX || c->m < 1 || c->m > 12 || c->d < 1 ||
	    c->d > len[c->m - 1] + (leap && c->m == 2) ||
	    c->h < 0 || c->h > 23 || c->min < 0 || c->min > 59 || c->s < 0 || c->s > 60)
		return false;
	*ret = days_of(c->y, c->m, c->d) * DAY_SECONDS +
	       c->h * 3600 + c->min * 60 + c->s;
	return true;
}

/* Reads exactly n digits at *p before end. */
static bool digits(const char **p, const char *end, int n, int *ret)
{
	int v = 0;

	if (end - *p < n)
		return false;
	for (int i = 0; i < n; i++) {
		if (!isdigit((unsigned char)(*p)[i]))
			return false;
		v = v * 10 + ((*p)[i] - '0');
	}
	*p += n;
	*ret = v;
	return true;
}

static bool parse_digits(const char *s, size_t size, int64_t *ret)
{
	char full[] = "00010101000000";
	struct civil c;
	int year;
	const char *p = full, *end = full + 14;

	if (size > 14 || size < 4 || size % 2)
		return false;
	memcpy(full, s, size);
	if (!digits(&p, end, 4, &year) || !digits(&p, end, 2, &c.m) ||
	    !digits(&p, end, 2, &c.d) || !digits(&p, end, 2, &c.h) ||
	    !digits(&p, end, 2, &c.min) || !digits(&p, end, 2, &c.s))
		return false;
	c.y = year;
	return make_time(&c, ret);
}

static bool parse_offset(const char **p, const char *end, int64_t *ret)
{
	int h, m = 0, sign;

	if (*p < end && (**p == 'Z' || **p == 'z')) {
		++*p;
		*ret = 0;
		return true;
	}
	if (*p == end || (**p != '+' && **p != '-'))
		return false;
	sign = *(*p)++ == '-' ? -1 : 1;
	if (!digits(p, end, 2, &h))
		return false;
	if (*p < end && **p == ':')
		++*p;
	if (*p < end && !digits(p, end, 2, &m))
		return false;
	*ret = sign * (h * 3600 + m * 60);
	return true;
}

/* YYYY-MM[-DD[Thh:mm[:ss[.frac]][Z|+hh:mm]]]; no zone means UTC. */
static bool parse_iso(const char *s, size_t size, int64_t *ret)
{
	const char *p = s, *end = s + size;
	struct civil c = { .d = 1 };
	int64_t offset = 0, t;
	int year;

	if (!digits(&p, end, 4, &year) || p == end || *p++ != '-' ||
	    !digits(&p, end, 2, &c.m))
		return false;
	c.y = year;
	if (p < end && (*p++ != '-' || !digits(&p, end, 2, &c.d)))
		return false;
	if (p < end) {
		if ((*p != 'T' && *p != 't' && *p != ' ') ||
		    (p++, !digits(&p, end, 2, &c.h)) || p == end || *p++ != ':' ||
		    !digits(&p, end, 2, &c.min))
			return false;
		if (p < end && *p == ':' && (p++, !digits(&p, end, 2, &c.s)))
			return false;
		if (p < end && *p == '.')
			for (p++; p < end && isdigit((unsigned char)*p); p++)
				;
		if (p < end && !parse_offset(&p, end, &offset))
			return false;
	}
	if (p != end || !make_time(&c, &t) || t - offset < WHEN_MIN || t - offset > WHEN_MAX)
		return false;
	*ret = t - offset;
	return true;
}

bool when_parse(const char *s, size_t size, int64_t *ret_time)
{
	bool plain = size > 0;

	for (size_t i = 0; i < size; i++)
		plain = plain && isdigit((unsigned char)s[i]);
	return plain ? parse_digits(s, size, ret_time) : parse_iso(s, size, ret_time);
}

static char *put_2(char *out, int64_t v)
{
	out[0] = (char)('0' + v / 10 % 10);
	out[1] = (char)('0' + v % 10);
	return out + 2;
}

/* Write the six numbers of a time, each followed by its text of `between`. */
static void put_time(int64_t t, const char *const between[6], char *out)
{
	struct civil c = civil_of(t);
	const int64_t parts[6] = { (int64_t)((uint64_t)c.y % 10000), c.m, c.d, c.h, c.min, c.s };

	out = put_2(out, parts[0] / 100);
	for (int i = 0; i < 6; i++) {
		out = put_2(out, parts[i] % 100);
		if (*between[i])
			*out++ = *between[i];
	}
	*out = '\0';
}

void when_digits(int64_t t, char out[15])
{
	put_time(t, (const char *const[6]){ "", "", "", "", "", "" }, out);
}

void when_iso(int64_t t, char out[21])
{
	put_time(t, (const char *const[6]){ "-", "-", "T", ":", ":", "Z" }, out);
}

static const char day_names[] = "SunMonTueWedThuFriSat";
static const char month_names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

static int month_of(const char *s)
{
	for (int i = 0; i < 12; i++)
		if (!strncmp(month_names + i * 3, s, 3))
			return i + 1;
	return 0;
}

bool when_parse_http(const char *s, size_t size, int64_t *ret_time)
{
	char text[64], mon[4] = "", zone[8] = "";
	struct civil c = { 0 };
	long year = 0;

	if (size >= sizeof text)
		return false;
	memcpy(text, s, size);
	text[size] = '\0';
	if (sscanf(text, "%*3[A-Za-z], %2d %3[A-Za-z] %4ld %2d:%2d:%2d %7s",
	           &c.d, mon, &year, &c.h, &c.min, &c.s, zone) == 7) {
		;
	} else if (sscanf(text, "%*[A-Za-z], %2d-%3[A-Za-z]-%2ld %2d:%2d:%2d %7s",
	                  &c.d, mon, &year, &c.h, &c.min, &c.s, zone) == 7) {
		year += year < 70 ? 2000 : 1900;
	} else if (sscanf(text, "%*3[A-Za-z] %3[A-Za-z] %2d %2d:%2d:%2d %4ld",
	                  mon, &c.d, &c.h, &c.min, &c.s, &year) == 6) {
		memcpy(zone, "GMT", 4);
	} else {
		return false;
	}
	c.y = year;
	c.m = month_of(mon);
	if (strcmp(zone, "GMT") && strcmp(zone, "UTC") && strcmp(zone, "+0000"))
		return false;
	return make_time(&c, ret_time);
}

void when_http(int64_t t, char out[30])
{
	struct civil c = civil_of(t);

	snprintf(out, 30, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT",
	         day_names + c.weekday * 3, (unsigned)c.d % 100u,
	         month_names + (c.m - 1) * 3, (unsigned)c.y % 10000u,
	         (unsigned)c.h % 100u, (unsigned)c.min % 100u, (unsigned)c.s % 100u);
}

static const struct { char unit; int64_t seconds; } units[] = {
	{ 'w', 7 * DAY_SECONDS }, { 'd', DAY_SECONDS }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 },
};

bool duration_parse_exact(const char *s, double *ret_seconds)
{
	double total = 0;

	if (!*s)
		return false;
	while (*s) {
		char *end;
		double v;
		size_t i;

		if (!isdigit((unsigned char)*s) && *s != '.')
			return false;
		v = strtod(s, &end);
		if (end == s)
			return false;
		if (end[0] == 'm' && end[1] == 's') {
			total += v / 1000;
			s = end + 2;
			continue;
		}
		for (i = 0; i < 5 && units[i].unit != *end; i++)
			;
		if (i == 5 && *end)
			return false;
		total += v * (double)(*end ? units[i].seconds : 1);
		s = *end ? end + 1 : end;
	}
	if (!(total <= 1e12))
		return false;
	*ret_seconds = total;
	return true;
}

bool duration_parse(const char *s, int64_t *ret_seconds)
{
	double total;

	if (!duration_parse_exact(s, &total) || (total > 0 && total < 1))
		return false;
	*ret_seconds = (int64_t)(total + 0.5);
	return true;
}

void duration_format(int64_t seconds, char out[24])
{
	size_t n = 0, parts = 0;

	if (seconds <= 0) {
		memcpy(out, "0s", 3);
		return;
	}
	for (size_t i = 0; i < 5 && parts < 2; i++) {
		int64_t k = seconds / units[i].seconds;

		if (!k)
			continue;
		n += (size_t)snprintf(out + n, 24 - n, "%.0f%c", (double)k, units[i].unit);
		seconds -= k * units[i].seconds;
		parts++;
	}
}

bool share_parse(const char *s, struct share *ret)
{
	char *end;
	double v;

	if (!isdigit((unsigned char)*s) && *s != '.')
		return false;
	v = strtod(s, &end);
	if (end == s || (*end && strcmp(end, "%")) || !(v > 0) || v > 1e15 ||
	    (*end && v > 100) || (!*end && v != (double)(uint64_t)v))
		return false;
	*ret = (struct share){ v, *end == '%' };
	return true;
}

uint64_t share_of(struct share s, uint64_t n)
{
	double want = s.percent ? s.value / 100 * (double)n : s.value;
	uint64_t r = (uint64_t)(want + 0.5);

	if (r < 1)
		r = 1;
	return r > n ? n : r;
}

void figure_format(double v, int digits, char out[32])
{
	double size = fmin(fabs(v), 1e15);
	int decimals = digits - 1 - (size > 1e-12 ? (int)floor(log10(size)) : 0);
	char *end;

	decimals = decimals < 0 ? 0 : decimals > 12 ? 12 : decimals;
	snprintf(out, 32, "%.*f", decimals, copysign(size, v));
	if (isnan(v))
		snprintf(out, 32, "-");
	if (!strchr(out, '.'))
		return;
	for (end = out + strlen(out); end[-1] == '0'; end--)
		;
	end[-(end[-1] == '.')] = '\0';
}
