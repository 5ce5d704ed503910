/* SPDX-License-Identifier: Apache-2.0 */
/* portable_test.c - agree_test.c and extract_test.c on src/web compiled without vector
 * instructions (tests/portable.mk). */
#define main agree_main
#include "agree_test.c"
#undef main
#define main extract_main
#define x other_x
#define release other_release
#include "extract_test.c"
#undef main

int main(void)
{
	return agree_main() | extract_main();
}
