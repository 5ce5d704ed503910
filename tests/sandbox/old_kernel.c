/* SPDX-License-Identifier: Apache-2.0 */
/* old_kernel.c - loaded into a program: the kernel has neither seccomp nor Landlock, or lacks the
 * one that LACKS names. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/landlock.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	const char *lacks = getenv("LACKS");
	long a[6];
	va_list ap;

	if ((number == SYS_seccomp && (!lacks || strstr(lacks, "seccomp"))) ||
	    (number == SYS_landlock_create_ruleset && (!lacks || strstr(lacks, "Landlock")))) {
		errno = ENOSYS;
		return -1;
	}
	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
