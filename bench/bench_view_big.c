/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_view_big - the view of a repository of 10,000,000 pages: in under 20 s and
 * 80 bytes a page, URL text excluded.  The pages are put there by the sqlite3
 * program, since only loading them is measured.  Needs 1.5 GB of disk and memory.
 */
#include "child.h"

#define N_PAGES 10000000L

int main(int argc, char **argv)
{
	char program[4096], folder[] = "/tmp/freshet-bench-XXXXXX", command[9000], text[600];
	struct child c;
	long bytes = 0;
	FILE *f;

	(void)argc;
	child_program(argv[0], program, sizeof program);
	if (!mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	snprintf(command, sizeof command, "%s init %s/d 2>/dev/null && sqlite3 %s/d/freshet.db "
	         "'pragma journal_mode=off' 'pragma synchronous=off' 'drop index pages_key' "
	         "\"insert into pages (id, key, url, added) select value, value, "
	         "printf('http://www.site%%d.example/section%%d/topic%%d/page-%%d.html', value / 1000, "
	         "value / 100 %% 10, value / 20 %% 5, value), 1 from generate_series(1, %ld)\" "
	         "'create index pages_key on pages (key)' 'pragma journal_mode=wal' >/dev/null",
	         program, folder, folder, N_PAGES);
	child_must(command);
	snprintf(command, sizeof command, "exec %s -C %s/d status --json >%s/out", program, folder,
	         folder);
	c = child_must(command);
	snprintf(command, sizeof command, "%s/out", folder);
	f = fopen(command, "r");
	if (f && fgets(text, sizeof text, f) && strstr(text, "\"view_bytes\":"))
		bytes = atol(strstr(text, "\"view_bytes\":") + 13);
	if (f)
		fclose(f);
	printf("status of %ld pages: %.1f s (%.1f s processor; wanted: under 20), view %.1f bytes a "
	       "page (wanted: under 80), peak %ld MiB with the URLs\n", N_PAGES, c.wall, c.cpu,
	       (double)bytes / N_PAGES, c.peak_kib >> 10);
	snprintf(command, sizeof command, "rm -rf %s", folder);
	child_must(command);
	return 0;
}
