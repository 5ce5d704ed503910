/* SPDX-License-Identifier: Apache-2.0 */
/* digits.h - numbers as text, faster than printf. */
#ifndef BASE_IO_DIGITS_H
#define BASE_IO_DIGITS_H

#include <stddef.h>
#include <stdint.h>

#define DIGITS_SIZE 32          /* room for any of these, with a NUL */

/* As printf("%.12g") and printf("%u") write it; returns the length. */
size_t digits_12g(char *out, double x);
size_t digits_u32(char *out, uint32_t v);

#endif
