/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_import - putting pages and histories into a repository.
 *
 * 1,000,000 URLs of 1,000 sites in random order, against the sqlite3 program
 * reading the same lines into a bare table with an index, in the same run: at
 * least 150,000 URLs/s, at most 3 times its time, less than 300 MB.  With
 * FRESHET_DATA: its trace/ with links and words in under 60 s, its warc/ whole.
 * Processor time beside wall time, since the machine may be shared.
 */
#include <stdint.h>
#include <string.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "child.h"

#define N_URLS 1000000u
#define N_SITES 1000u

static void write_urls(const char *path)
{
	uint32_t *order = mem_array(N_URLS, sizeof *order);
	FILE *f = fopen(path, "w");
	struct rng r;

	if (!f) {
		perror(path);
		exit(1);
	}
	rng_init(&r, 1);
	for (uint32_t i = 0; i < N_URLS; i++)
		order[i] = i;
	for (uint32_t i = N_URLS - 1; i > 0; i--) {
		uint32_t k = (uint32_t)rng_below(&r, i + 1), swap = order[i];

		order[i] = order[k];
		order[k] = swap;
	}
	for (uint32_t i = 0; i < N_URLS; i++)
		fprintf(f, "http://www.site%u.example/section%u/topic%u/page-%u.html\n",
		        order[i] % N_SITES, order[i] / N_SITES % 10, order[i] / 7919 % 50, order[i]);
	free(order);
	if (fclose(f)) {
		perror(path);
		exit(1);
	}
}

static void print(const char *what, struct child c, double n, const char *unit)
{
	printf("%-28s %7.2f s (%6.2f s processor)  %9.0f %s/s  %4ld MiB\n", what, c.wall, c.cpu,
	       n / c.wall, unit, c.peak_kib >> 10);
}

static void bench_urls(const char *program, const char *folder)
{
	char command[6000], path[200];
	struct child ours, again, peer;

	snprintf(path, sizeof path, "%s/urls.txt", folder);
	write_urls(path);
	snprintf(command, sizeof command, "%s init %s/d 2>/dev/null", program, folder);
	child_must(command);
	snprintf(command, sizeof command, "exec %s -C %s/d import %s >/dev/null", program, folder,
	         path);
	ours = child_must(command);
	again = child_must(command);
	print("import, 1,000,000 URLs", ours, N_URLS, "URLs");
	print("the same once more", again, N_URLS, "URLs");
	snprintf(command, sizeof command, "exec sqlite3 %s/bare.db 'create table u (url text)' "
	         "'create index i on u (url)' '.import %s u'", folder, path);
	peer = child_run(command);
	if (peer.status) {
		printf("sqlite3: not here, skipped\n");
		return;
	}
	print("sqlite3 .import", peer, N_URLS, "URLs");
	printf("ratio to sqlite3: %.2f (processor %.2f; wanted: at most 3); rate wanted 150,000; "
	       "memory wanted under 300 MB\n", ours.wall / peer.wall, ours.cpu / peer.cpu);
}

static void bench_archive(const char *program, const char *folder, const char *name,
                          const char *files)
{
	char command[6000];

	snprintf(command, sizeof command, "%s init %s/%s 2>/dev/null", program, folder, name);
	child_must(command);
	snprintf(command, sizeof command, "exec %s -C %s/%s import %s", program, folder, name,
	         files);
	print(name, child_must(command), 1, "set");
}

int main(int argc, char **argv)
{
	const char *data = getenv("FRESHET_DATA");
	char program[4096], folder[] = "/tmp/freshet-bench-XXXXXX", files[1000];

	(void)argc;
	child_program(argv[0], program, sizeof program);
	if (!mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	bench_urls(program, folder);
	if (data) {
		snprintf(files, sizeof files, "%s/trace/*.cdxj.gz", data);
		bench_archive(program, folder, "trace", files);
		snprintf(files, sizeof files, "%s/warc/*.warc.gz", data);
		bench_archive(program, folder, "warc", files);
	}
	snprintf(files, sizeof files, "rm -rf %s", folder);
	child_must(files);
	return 0;
}
