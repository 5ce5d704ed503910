/* SPDX-License-Identifier: Apache-2.0 */
/* bench_store_pg_big - bench_store_pg with 10,000,000 pages: some minutes, 5 GB of disk. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char path[4096];

	(void)argc;
	snprintf(path, sizeof path, "%.*s", (int)(strlen(argv[0]) - strlen("_big")), argv[0]);
	execl(path, path, "10000000", (char *)NULL);
	perror(path);
	return 1;
}
