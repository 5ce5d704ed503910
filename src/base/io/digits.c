/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digits.c - see digits.h.
 *
 * Small numbers, such as ranks, are scaled to an integer of 12 digits in long double.  The
 * powers of ten up to 10^27 are exact there, and a product is wrong by less than 1e-6 of the
 * last digit.  Where the rest is so near to a half that this could matter, and for all other
 * numbers, printf does it.
 */
#include "base/io/digits.h"

#include <stdio.h>
#include <string.h>

#define DIGITS 12
#define UNSURE 1e-5L

/* Exact only where long double has 64 bits or more. */
static const long double tens[] = {
	1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L, 1e21L, 1e22L, 1e23L,
	1e24L, 1e25L, 1e26L, 1e27L,
};
#define LEAST 1e-15             /* * 1e27: 12 digits before the point */
#define MOST 1e-5               /* larger ones are written without an exponent */

size_t digits_u32(char *out, uint32_t v)
{
	char text[10];
	size_t n = 0;

	do
		text[sizeof text - ++n] = (char)('0' + v % 10);
	while (v /= 10);
	memcpy(out, text + sizeof text - n, n);
	out[n] = '\0';
	return n;
}

/* d.ddde-NN of digits * 10^-(exponent + 11), trailing zeros left out. */
static size_t with_exponent(char *out, uint64_t digits, unsigned exponent)
{
	char text[DIGITS];
	size_t n = DIGITS, at = 0;

	for (size_t i = DIGITS; i-- > 0; digits /= 10)
		text[i] = (char)('0' + digits % 10);
	while (n > 1 && text[n - 1] == '0')
		n--;
	out[at++] = text[0];
	if (n > 1) {
		out[at++] = '.';
		memcpy(out + at, text + 1, n - 1);
		at += n - 1;
	}
	out[at++] = 'e';
	out[at++] = '-';
	out[at++] = (char)('0' + exponent / 10);
	out[at++] = (char)('0' + exponent % 10);
	out[at] = '\0';
	return at;
}

size_t digits_12g(char *out, double x)
{
	unsigned e = 5;
	long double scaled;
	uint64_t whole;

	if (__LDBL_MANT_DIG__ < 64 || !(x > LEAST && x < MOST))
		return (size_t)snprintf(out, DIGITS_SIZE, "%.12g", x);
	for (scaled = x * tens[e - 1]; scaled < 1e11L && e < 16; e++)
		scaled = x * tens[e];
	whole = (uint64_t)scaled;
	scaled -= (long double)whole;
	if (scaled > 0.5L - UNSURE && scaled < 0.5L + UNSURE)
		return (size_t)snprintf(out, DIGITS_SIZE, "%.12g", x);
	whole += scaled > 0.5L;
	if (whole < 100000000000 || whole > 999999999999)       /* next to a power of ten */
		return (size_t)snprintf(out, DIGITS_SIZE, "%.12g", x);
	return with_exponent(out, whole, e);
}
