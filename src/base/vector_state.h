/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_state.h - what a library leaves behind in the vector registers.
 *
 * ISA-L returns with their upper halves in use.  From then on every change between
 * old and new vector instructions, that is between our code and libc's memcpy, costs
 * some hundred cycles on current Intel processors: a third of the time that reading
 * a page takes.  Called behind such a library, this puts an end to it.
 */
#ifndef BASE_VECTOR_STATE_H
#define BASE_VECTOR_STATE_H

static inline void vector_state_clear(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx"))
		__asm__ volatile("vzeroupper" ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
		                 "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
		                 "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

#endif
