/* SPDX-License-Identifier: Apache-2.0 */
/* bench_serve.c - `freshet serve` on a million pages: ready after, and 8 crawlers that lease and
 * tell.  There is no peer to compare with; the figures are absolute. */
#include <stdlib.h>

int main(void)
{
	return system("scripts/trial-serve bench 1000000 10") != 0;
}
