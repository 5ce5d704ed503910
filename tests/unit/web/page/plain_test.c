/* SPDX-License-Identifier: Apache-2.0 */
/* plain_test.c - the same on src/web compiled for SSE2 alone (tests/portable.mk). */
#include "portable_test.c"
