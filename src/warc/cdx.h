/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdx.h - indexes of captures: classic CDX, CDXJ, and extended CDXJ ("traces").
 *
 * One line is one capture.  Reading is in place: a parsed line is slices of the
 * text that it came from, with JSON escapes already undone, and nothing is allocated
 * per line.  The three kinds may be mixed in one file: a line whose third field
 * begins with '{' is CDXJ, any other is classic, laid out as the last header line
 * (" CDX N b a ...") said, or, without one, by its number of fields.  What index
 * servers answer is read, too: lines of JSON alone, whose key and time are its members
 * `urlkey` and `timestamp` (pywb, Common Crawl), and arrays of rows of columns (the
 * Internet Archive).
 *
 * A malformed line is reported with its number and reason, skipped and counted.
 * So is damage in the compression, which costs the lines up to the next member.
 */
#ifndef WARC_CDX_H
#define WARC_CDX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"

#define CDX_LINE_MAX (4u << 20)         /* bytes of a line */
#define CDX_COLUMNS_MAX 32              /* fields of a classic line */

struct cdx_line {
	struct text surt;                  /* first field, as it stands */
	int64_t time;                           /* seconds since the epoch */
	int64_t status, length, offset;         /* -1: absent or "-" */
	int64_t text, words, images, tables, emails, outlinks;
	struct text url, mime, digest, filename, redirect;
	struct text tags, prose, title, simhash, terms, links, robots;
	uint32_t present;                       /* bit i: field i of cdx.def given */
};

/* Bits of `present`. */
enum cdx_field {
#define CDX_FIELD(key, kind, member) CDX_##member,
#include "warc/cdx.def"
#undef CDX_FIELD
	CDX_N_FIELDS
};

static inline bool cdx_has(const struct cdx_line *line, enum cdx_field f)
{
	return line->present >> f & 1;
}

/* Make every number absent and every slice empty, to begin a new line. */
void cdx_clear(struct cdx_line *line);

/* Columns of classic CDX, one letter each; empty: guess by their number. */
struct cdx_layout {
	char letters[CDX_COLUMNS_MAX + 1];
	char delimiter;
};

enum cdx_verdict { CDX_CAPTURE, CDX_COMMENT, CDX_BAD };

/* Parse text[0..size), which is changed in place.  A header line is taken into
 * layout and is a comment, as are empty lines and lines that begin with '!' or
 * '#'.  With CDX_BAD *ret_reason is a static text. */
enum cdx_verdict cdx_parse(struct cdx_layout *layout, char *text, size_t size,
                           struct cdx_line *ret, const char **ret_reason);

/* Does a line hold rows of a JSON array?  (A key in brackets is an IPv6 address.) */
bool cdx_is_rows(const char *text, size_t size);
/* As cdx_parse(), for one row of such a line.  *text and *size become the rest of the
 * line, which may have more rows. */
enum cdx_verdict cdx_parse_row(struct cdx_layout *layout, char **text, size_t *size,
                               struct cdx_line *ret, const char **ret_reason);

/* The next "id:count" of a list of terms; it is taken off its front.  False: there is none.
 * A term that is not two numbers is passed over. */
bool cdx_next_term(struct text *terms, uint32_t *ret_id, uint32_t *ret_count);
/* 1 to 16 hexadecimal digits, as in tags, prose and simhash. */
bool cdx_hex64(struct text s, uint64_t *ret);

struct cdx_reader {
	struct input *in;
	struct cdx_layout layout;
	char *rest;                     /* of a line of rows */
	size_t rest_size;
	uint64_t line_number;           /* of the line last returned, from 1 */
	uint64_t n_lines, n_bad;        /* captures, and malformed lines */
	uint64_t n_damaged, bytes_lost; /* places where compression was damaged */
	/* Called for each bad line or damage; may be NULL.  text is complete:
	 * "FILE:LINE: reason". */
	void (*report)(void *arg, const char *text);
	void *report_arg;
};

MUST_CHECK int cdx_open(struct cdx_reader *r, const char *path, struct err *err);
/* Takes over an input already open. */
void cdx_open_input(struct cdx_reader *r, struct input *in);
void cdx_close(struct cdx_reader *r);
/* 1: a capture, valid until the next call; 0: the end; < 0: cannot be read. */
MUST_CHECK int cdx_next(struct cdx_reader *r, struct cdx_line *ret, struct err *err);

/* Append the line and a newline.  Numbers below 0 and slices whose data is NULL
 * are left out, extended fields also unless `extended`.  E_PARSE if surt is empty,
 * holds a blank or a control byte, or begins as a comment or JSON does, or if the time
 * has no 14 digits: nothing is appended then. */
MUST_CHECK int cdx_write(struct buf *out, const struct cdx_line *line, bool extended,
                         struct err *err);

#endif
