/* SPDX-License-Identifier: Apache-2.0 */
/* time_left.c - the longest queue; see time_left.h. */
#include "engine/crawl/time_left.h"

double time_left(const struct left_host *hosts, size_t n, unsigned connections)
{
	double longest = 0, work = 0;

	for (size_t i = 0; i < n; i++) {
		double requests = hosts[i].requests, answer = hosts[i].answer, way;

		if (!hosts[i].requests)
			continue;
		way = requests * answer + (requests - 1) * hosts[i].pause;
		longest = way > longest ? way : longest;
		work += requests * answer;
	}
	work /= connections ? connections : 1;
	return work > longest ? work : longest;
}
