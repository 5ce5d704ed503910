/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - runs a fuzz target over the files of its corpus, as a plain test.
 *
 *   fuzz_x DIR|FILE...
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;
	size_t n;
	long size;

	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0) {
		perror(path);
		exit(1);
	}
	rewind(f);
	data = malloc((size_t)size + 1);
	n = fread(data, 1, (size_t)size, f);
	fclose(f);
	/* exact size, so that reading past the end is seen */
	uint8_t *exact = malloc(n ? n : 1);
	for (size_t i = 0; i < n; i++)
		exact[i] = data[i];
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
	free(data);
	return 1;
}

int main(int argc, char **argv)
{
	int n = 0;

	for (int i = 1; i < argc; i++) {
		struct stat st;
		struct dirent *e;
		DIR *d;

		if (stat(argv[i], &st)) {
			perror(argv[i]);
			return 1;
		}
		if (!S_ISDIR(st.st_mode)) {
			n += run_file(argv[i]);
			continue;
		}
		d = opendir(argv[i]);
		while (d && (e = readdir(d))) {
			char path[1024];

			snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
			if (e->d_name[0] != '.')
				n += run_file(path);
		}
		if (d)
			closedir(d);
	}
	printf("%d inputs\n", n);
	return n == 0;
}
