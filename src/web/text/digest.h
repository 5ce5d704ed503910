/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.h - the fingerprints of one capture, which detectors compare.
 *
 *   bytes    XXH3-128 of the payload
 *   text     XXH3-64 of the visible text (web/page/extract.h)
 *   tags     XXH3-64 of the tag skeleton: "name\n" for each start tag, "/name\n"
 *            for each end tag; with options, attributes too
 *   simhash  64-bit simhash of the visible text's words
 *
 * For a document without text and tags (an image, a PDF) all fingerprints are of its
 * bytes, so every detector sees it change.
 */
#ifndef WEB_TEXT_DIGEST_H
#define WEB_TEXT_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct digest {
	uint64_t bytes[2];
	uint64_t text, tags, simhash;
	uint32_t settings;              /* which options made text, tags, simhash */
};

void digest_bytes(const void *data, size_t size, uint64_t ret[2]);
uint64_t digest_64(const void *data, size_t size);

/* A part of a text that does not count, [from, to). */
struct digest_gap {
	uint32_t from, to;
};
/* The text without its gaps (in order, disjoint); fold: a run of digits counts
 * as one 0. */
uint64_t digest_text(const char *text, size_t size, const struct digest_gap *gaps,
                     size_t n_gaps, bool fold);

#endif
