/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_valid.h - a strict judge of WARC/1.1 files, written from the standard's
 * rules and sharing no code with the reader or the writer.
 */
#ifndef TESTS_LIB_WARC_VALID_H
#define TESTS_LIB_WARC_VALID_H

#include <stdbool.h>
#include <stddef.h>

struct valid_record {
	char type[16], id[64], date[32], url[512], digest[128];
	char profile[128], refers_url[512], refers_date[32], concurrent[64], truncated[32];
	size_t offset, length;          /* of its gzip member */
	char *block;
	size_t block_size, body_at;     /* body_at: behind the HTTP head */
};

struct valid_file {
	struct valid_record *v;
	size_t n;
	char error[256];                /* "" or what is wrong, and where */
	bool part;
};

/* `name` is the file's name, which warcinfo must give. */
void warc_valid(struct valid_file *ret, const char *name, const void *data, size_t size);
/* The same for one file of several: originals of revisits may be in another. */
void warc_valid_part(struct valid_file *ret, const char *name, const void *data, size_t size);
/* "sha1:" and base32, by OpenSSL and our own base32. */
void warc_valid_sha1(const char *data, size_t size, char out[64]);
void warc_valid_release(struct valid_file *f);

#endif
