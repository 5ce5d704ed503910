/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h - what counts as a change.
 *
 * A detector compares two captures' digests (web/text/digest.h):
 *   bytes      any byte of the payload differs
 *   text       the visible text differs
 *   tags       the tag skeleton differs
 *   near:BITS  the simhashes of the text differ in more than BITS bits (0..64)
 * Refinements are appended, "text:digits" and so on:
 *   :digits      (text, near) any number counts as the same number
 *   :attributes  (tags) attribute names belong to the skeleton
 *   :values      (tags) and values that are read aloud: alt, lang, role, title, label, aria-*
 * docs/reading-pages.md has a table of what each detector sees.
 */
#ifndef WEB_PAGE_CHANGE_H
#define WEB_PAGE_CHANGE_H

#include "base/err.h"
#include "web/page/extract.h"
#include "web/text/digest.h"

/* In the order of `names` in change.c. */
enum detector_kind { DETECT_BYTES, DETECT_TEXT, DETECT_TAGS, DETECT_NEAR, N_DETECTORS };

/* All of them, for help texts and messages. */
#define DETECTOR_CHOICES "bytes, text, tags, near:BITS"
#define DETECTOR_ARG "bytes|text|tags|near:BITS"

struct detector {
	enum detector_kind kind;
	unsigned bits;                  /* DETECT_NEAR */
	bool digits, attributes, values;
};

MUST_CHECK int detector_parse(struct detector *ret, const char *spec, struct err *err);
/* The options under which pages must be read for this detector; the ignore rules
 * and the word callback of *options stay as they are. */
void detector_options(const struct detector *d, struct extract_options *options);

/* The differences of two captures, for all detectors.  Text, tags and simhash of captures
 * read with different settings cannot be compared: then the bytes decide. */
struct change_view {
	bool bytes, text, tags;         /* differs */
	unsigned bits;                  /* of the simhash that differ */
	bool comparable;                /* same settings */
};
void change_compare(const struct digest *before, const struct digest *after,
                    struct change_view *ret);

#endif
