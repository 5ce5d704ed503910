/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_policies_big.c - every policy for goal changed on the made-up repository of
 * bench_tide, two cycles each: seconds of the second one and of the dearest
 * (clusters are made in the first), and bytes a page.
 *
 *   bench_policies_big [PAGES]          default 10000000
 */
#include "child.h"

int main(int argc, char **argv)
{
	static const char *const policies[] = {
		"random", "round-robin", "oldest", "site", "frequency", "nutch", "stormcrawler",
		"lambda", "thompson", "automaton", "automaton:kind=htraa", "neighbour:by=dir,d=1",
		"neighbour:by=link,d=0", "neighbour:by=link,d=3", "neighbour:by=cluster", "cluster",
		"tide", "auto", "oracle:aim=changes",
	};
	const char *pages = argc > 1 ? argv[1] : "10000000";
	size_t n = strlen(argv[0]), cut = strlen("policies_big");

	if (n < cut || n > 4000 || strlen(pages) > 10)
		return 2;
	for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
		char command[4200];

		fflush(stdout);
		snprintf(command, sizeof command, "exec '%.*stide' %s 2 %s", (int)(n - cut), argv[0],
		         pages, policies[i]);
		if (child_run(command).status)
			printf("%s failed\n", policies[i]);
	}
	return 0;
}
