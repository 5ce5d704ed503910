/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ZIP files, and WACZ files in them.  Entries of a file that is accepted lie inside of it,
 * one behind the other, and none delivers more than its directory says.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io/zip.h"
#include "engine/archive/archive.h"

#define OUT_MAX (8u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take_record(void *arg, const struct record *r, struct err *err)
{
	(void)arg;
	(void)err;
	if (!r->url.size || (r->file.s && r->offset < 0))
		abort();
	return 0;
}

static void read_all(const struct zip *z, size_t file)
{
	uint64_t end = 0;
	char piece[4096];

	for (size_t i = 0; i < zip_count(z); i++) {
		const struct zip_entry *e = zip_entry(z, i);
		struct zip_stream *s = zip_stream_new(z, e);
		uint64_t got = 0;
		long n;

		if (e->offset < end || e->offset + e->packed > file || zip_find(z, e->name) != e)
			abort();
		end = e->offset + e->packed;
		while (got < OUT_MAX && (n = zip_stream_read(s, piece, sizeof piece, NULL)) > 0)
			got += (uint64_t)n;
		if (got > e->size)
			abort();
		zip_stream_free(s);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct archive_reader reader = { .record = take_record };
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct zip *z;
	char path[40];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (zip_open(&z, path, NULL) == 0) {
		read_all(z, size);
		zip_close(z);
		(void)!archive_read_wacz(&reader, path, NULL);
	}
	close(fd);
	return 0;
}
