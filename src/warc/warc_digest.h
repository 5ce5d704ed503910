/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_digest.h - labelled digests as archives write them, and computing them.
 *
 * "sha1:" and base32 is what nearly everybody writes; sha256 comes in hex or
 * base32; an index has the bare base32 of SHA-1.  All are read; we write
 * "sha1:BASE32" and "sha256:hex".
 */
#ifndef WARC_WARC_DIGEST_H
#define WARC_WARC_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum warc_hash { WARC_HASH_NONE, WARC_SHA1, WARC_SHA256, WARC_SHA512, WARC_MD5 };

#define WARC_DIGEST_MAX 64
#define WARC_DIGEST_TEXT 144            /* room for any digest as text and NUL */

struct warc_digest {
	enum warc_hash hash;            /* WARC_HASH_NONE: none */
	size_t size;
	uint8_t bytes[WARC_DIGEST_MAX];
};

/* "sha1:...", "sha-256:...", or bare base32 or hex of SHA-1 or SHA-256.  The
 * label in any case, base32 and hex too.  False if it is none of these. */
bool warc_digest_parse(const char *text, size_t size, struct warc_digest *ret);
void warc_digest_format(const struct warc_digest *d, char out[WARC_DIGEST_TEXT]);
/* Without the label, as an index writes it. */
void warc_digest_bare(const struct warc_digest *d, char out[WARC_DIGEST_TEXT]);
bool warc_digest_equal(const struct warc_digest *a, const struct warc_digest *b);

/* A running digest; zeroed, it is idle. */
struct warc_hasher {
	enum warc_hash hash;
	enum warc_hash made_for;        /* what context is set up for */
	void *context;
};

/* WARC_HASH_NONE makes the other two do nothing. */
void warc_hasher_begin(struct warc_hasher *h, enum warc_hash hash);
void warc_hasher_add(struct warc_hasher *h, const void *data, size_t size);
void warc_hasher_end(struct warc_hasher *h, struct warc_digest *ret);
void warc_hasher_release(struct warc_hasher *h);

#endif
