/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simd.h - code compiled twice: for every machine, and for x86-64 with AVX2 and
 * the bit instructions that came with it (Intel since 2013, AMD since 2015).
 *
 *     static SIMD_INLINE void work(...) { ... }        the body
 *     SIMD_V3 static void work_v3(...) { work(...); }  the same by better instructions
 *     ... if (simd_v3()) work_v3(...); else work(...);
 */
#ifndef WEB_TEXT_SIMD_H
#define WEB_TEXT_SIMD_H

#include <stdbool.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define SIMD_INLINE inline __attribute__((always_inline))

#if defined(__x86_64__) && defined(__SSE2__) && !defined(SIMD_NO_V3)
#include <immintrin.h>
#define SIMD_HAS_V3 1
#define SIMD_V3 __attribute__((target("avx2,bmi,bmi2,popcnt")))
static inline bool simd_v3(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	       __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}
#endif

#endif
