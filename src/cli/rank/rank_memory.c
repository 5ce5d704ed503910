/* SPDX-License-Identifier: Apache-2.0 */
/* rank_memory.c - see rank_memory.h. */
#include "cli/rank/rank_memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t system_gives(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	uint64_t kib = UINT64_MAX / 1024;
	char line[256];

	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, "MemAvailable:", 13))
			kib = strtoull(line + 13, NULL, 10);
	if (f)
		fclose(f);
	return kib * 1024;
}

/* A file with a number, or with "max". */
static uint64_t limit_in(const char *path)
{
	FILE *f = fopen(path, "re");
	unsigned long long n = UINT64_MAX;

	if (!f)
		return UINT64_MAX;
	if (fscanf(f, "%llu", &n) != 1)
		n = UINT64_MAX;
	fclose(f);
	return n;
}

/* The limits of a group and of all above it.  group is changed. */
static uint64_t limit_of_group(const char *root, char *group, const char *name)
{
	uint64_t limit = UINT64_MAX;

	for (;;) {
		char path[PATH_MAX], *slash = strrchr(group, '/');

		if (snprintf(path, sizeof path, "%s%s/%s", root, group, name) < PATH_MAX)
			limit = least(limit, limit_in(path));
		if (!slash)
			return limit;
		*slash = '\0';
	}
}

/* A line is NUMBER:CONTROLLERS:GROUP; the second version names no controllers. */
static uint64_t groups_allow(void)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	uint64_t limit = UINT64_MAX;
	char line[PATH_MAX];

	while (f && fgets(line, sizeof line, f)) {
		char *group = strstr(line, "::/"), *of_memory = strstr(line, ":memory:/");

		line[strcspn(line, "\n")] = '\0';
		if (group)
			limit = least(limit, limit_of_group("/sys/fs/cgroup", group + 2, "memory.max"));
		else if (of_memory)
			limit = least(limit, limit_of_group("/sys/fs/cgroup/memory", of_memory + 8,
			                                    "memory.limit_in_bytes"));
	}
	if (f)
		fclose(f);
	return limit;
}

uint64_t rank_memory(void)
{
	uint64_t limit = least(system_gives(), groups_allow());
	struct rlimit data;

	if (getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY)
		limit = least(limit, data.rlim_cur);
	return limit;
}
