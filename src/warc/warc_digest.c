/* SPDX-License-Identifier: Apache-2.0 */
/* warc_digest.c - digests by OpenSSL, base32 and hex by hand; see warc_digest.h. */
#include "warc/warc_digest.h"

#include <openssl/evp.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"

static const struct {
	const char *label, *other;
	size_t size;
} hashes[] = {
	[WARC_HASH_NONE] = { "", "", 0 },
	[WARC_SHA1]      = { "sha1", "sha-1", 20 },
	[WARC_SHA256]    = { "sha256", "sha-256", 32 },
	[WARC_SHA512]    = { "sha512", "sha-512", 64 },
	[WARC_MD5]       = { "md5", "md-5", 16 },
};

#define N_HASHES (sizeof hashes / sizeof *hashes)

static int base32_value(char c)
{
	if ((c | 32) >= 'a' && (c | 32) <= 'z')
		return (c | 32) - 'a';
	return c >= '2' && c <= '7' ? c - '2' + 26 : -1;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Digits of `bits` bits each into exactly `want` bytes. */
static bool decode_digits(const char *s, size_t size, unsigned bits,
                          int (*value)(char), uint8_t *out, size_t want)
{
	unsigned held = 0, acc = 0;
	size_t n = 0;

	for (size_t i = 0; i < size; i++) {
		int v = value(s[i]);

		if (v < 0)
			return false;
		acc = (acc << bits | (unsigned)v) & 0xffff;
		held += bits;
		if (held >= 8) {
			held -= 8;
			if (n == want)
				return false;
			out[n++] = (uint8_t)(acc >> held);
		}
	}
	return n == want && (acc & ((1u << held) - 1)) == 0;
}

static bool decode(const char *s, size_t size, enum warc_hash hash,
                   struct warc_digest *ret)
{
	struct warc_digest d = { .hash = hash, .size = hashes[hash].size };

	while (size && s[size - 1] == '=')      /* base32 padding */
		size--;
	if (size == d.size * 2) {
		if (!decode_digits(s, size, 4, hex_value, d.bytes, d.size))
			return false;
	} else if (size == (d.size * 8 + 4) / 5) {
		if (!decode_digits(s, size, 5, base32_value, d.bytes, d.size))
			return false;
	} else {
		return false;
	}
	*ret = d;
	return true;
}

bool warc_digest_parse(const char *text, size_t size, struct warc_digest *ret)
{
	const char *colon = size ? memchr(text, ':', size) : NULL;
	size_t label = colon ? (size_t)(colon - text) : 0;

	if (!colon)
		return decode(text, size, WARC_SHA1, ret) || decode(text, size, WARC_SHA256, ret);
	for (enum warc_hash h = WARC_SHA1; h < N_HASHES; h++)
		if ((label == strlen(hashes[h].label) &&
		     strncasecmp(text, hashes[h].label, label) == 0) ||
		    (label == strlen(hashes[h].other) &&
		     strncasecmp(text, hashes[h].other, label) == 0))
			return decode(colon + 1, size - label - 1, h, ret);
	return false;
}

static void base32(const uint8_t *bytes, size_t size, char *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
	unsigned acc = 0, held = 0;

	for (size_t i = 0; i < size; i++) {
		acc = (acc << 8 | bytes[i]) & 0xffff;
		held += 8;
		while (held >= 5) {
			held -= 5;
			*out++ = digits[acc >> held & 31];
		}
	}
	if (held)
		*out++ = digits[acc << (5 - held) & 31];
	*out = '\0';
}

static void digits_of(const struct warc_digest *d, char *out)
{
	static const char digits[] = "0123456789abcdef";

	if (d->hash == WARC_SHA1) {
		base32(d->bytes, d->size, out);
		return;
	}
	for (size_t i = 0; i < d->size; i++) {
		*out++ = digits[d->bytes[i] >> 4];
		*out++ = digits[d->bytes[i] & 15];
	}
	*out = '\0';
}

void warc_digest_bare(const struct warc_digest *d, char out[WARC_DIGEST_TEXT])
{
	digits_of(d, out);
}

void warc_digest_format(const struct warc_digest *d, char out[WARC_DIGEST_TEXT])
{
	size_t label = strlen(hashes[d->hash].label);

	memcpy(out, hashes[d->hash].label, label);
	out[label] = ':';
	digits_of(d, out + label + 1);
}

bool warc_digest_equal(const struct warc_digest *a, const struct warc_digest *b)
{
	return a->hash == b->hash && a->size == b->size &&
	       memcmp(a->bytes, b->bytes, a->size) == 0;
}

static const EVP_MD *method(enum warc_hash hash)
{
	switch (hash) {
	case WARC_SHA1: return EVP_sha1();
	case WARC_SHA256: return EVP_sha256();
	case WARC_SHA512: return EVP_sha512();
	default: return EVP_md5();
	}
}

void warc_hasher_begin(struct warc_hasher *h, enum warc_hash hash)
{
	h->hash = hash;
	if (hash == WARC_HASH_NONE)
		return;
	if (!h->context && !(h->context = EVP_MD_CTX_new()))
		err_no_memory();
	/* NULL: the method that the context has already */
	if (!EVP_DigestInit_ex2(h->context, h->made_for == hash ? NULL : method(hash), NULL))
		h->hash = WARC_HASH_NONE;       /* not in this OpenSSL */
	h->made_for = h->hash;
}

void warc_hasher_add(struct warc_hasher *h, const void *data, size_t size)
{
	if (h->hash != WARC_HASH_NONE && size)
		EVP_DigestUpdate(h->context, data, size);
}

void warc_hasher_end(struct warc_hasher *h, struct warc_digest *ret)
{
	*ret = (struct warc_digest){ .hash = h->hash, .size = hashes[h->hash].size };
	if (h->hash != WARC_HASH_NONE)
		EVP_DigestFinal_ex(h->context, ret->bytes, NULL);
	h->hash = WARC_HASH_NONE;
}

void warc_hasher_release(struct warc_hasher *h)
{
	EVP_MD_CTX_free(h->context);
	*h = (struct warc_hasher){ 0 };
}
