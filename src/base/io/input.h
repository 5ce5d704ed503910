/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h - a file as a stream of bytes or lines, whatever wraps it.
 *
 * Plain, gzip (one member or many) and zstd (one frame or many) are told apart
 * by their first bytes, never by the name; "-" is standard input.  Reading is
 * sequential.  Compressed input is hostile: what comes out is capped by the
 * caller's buffers, never by what the file says of itself.
 */
#ifndef BASE_IO_INPUT_H
#define BASE_IO_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct input;

MUST_CHECK int input_open(struct input **ret, const char *path, struct err *err);
/* The same over bytes in memory, which must outlive it (tests, fuzzing). */
MUST_CHECK int input_open_memory(struct input **ret, const void *data, size_t size,
                                 const char *name, struct err *err);
/* The same from `offset` on, where a member begins; offsets are those of the whole, and a
 * zstd dictionary is read from its front. */
MUST_CHECK int input_open_memory_at(struct input **ret, const void *data, size_t size,
                                    uint64_t offset, const char *name, struct err *err);
/* Bytes [offset, offset + size) of a file; file offsets are those of the whole file. */
MUST_CHECK int input_open_part(struct input **ret, const char *path, uint64_t offset,
                               uint64_t size, struct err *err);
enum input_form {
	INPUT_ANY,              /* plain, gzip or zstd, as the first bytes say */
	INPUT_PLAIN,            /* plain, whatever the first bytes are */
	INPUT_DEFLATED,         /* one deflated stream without a head; what follows is ignored */
};
/* What a function delivers: > 0 bytes, 0 at the end, < 0 error.  `source` must outlive the
 * input; close(arg), if it is set, is called when the input is closed. */
struct input_source {
	enum input_form form;
	long (*read)(void *arg, void *data, size_t size, struct err *err);
	void (*close)(void *arg);
	void *arg;
};
MUST_CHECK int input_open_source(struct input **ret, const struct input_source *source,
                                 const char *name, struct err *err);
void input_close(struct input *in);             /* NULL is fine */
const char *input_name(const struct input *in);

/* Up to size bytes of uncompressed data: > 0 how many, 0 at the end, < 0 error
 * (E_IO, or E_PARSE for damaged compression). */
MUST_CHECK long input_read(struct input *in, void *data, size_t size, struct err *err);

/* Look at the next bytes without taking them: *ret_size of them are at
 * *ret_data, at least `want` unless the input ends or is damaged before.  The
 * damage itself is reported when nothing is left in front of it. */
MUST_CHECK int input_peek(struct input *in, size_t want, const char **ret_data,
                          size_t *ret_size, struct err *err);
void input_skip(struct input *in, size_t size); /* only what was peeked */

/* The next line without its end (LF or CRLF), the first also without a byte order mark,
 * NUL-terminated in place, valid until the next call.  1: a line, 0: the end, < 0: error;
 * a line longer than `max` is E_LIMIT and is skipped, so reading can go on; a line cut by
 * damage is dropped and the damage reported. */
MUST_CHECK int input_line(struct input *in, size_t max, char **ret_line,
                          size_t *ret_size, struct err *err);

/* Bytes of uncompressed data taken so far. */
uint64_t input_position(const struct input *in);
/* Offset in the file (compressed if it is) where the gzip member or zstd frame
 * that holds the next byte begins; for plain files the offset of that byte.  At
 * the exact end of a member: where the next member begins. */
uint64_t input_file_offset(const struct input *in);
/* Is the next byte the first of a gzip member or zstd frame?  (Plain: false.) */
bool input_at_member(const struct input *in);
/* How many of the bytes that input_peek() showed belong to the member of the
 * next byte; all of them for plain files. */
size_t input_member_bytes(const struct input *in);
/* Bytes at some position of an uncompressed file or memory, anywhere, without
 * moving: how many there are, at most size; -1 if this input cannot do it. */
long input_probe(struct input *in, uint64_t position, void *data, size_t size);
/* Offset in the file up to which data has been consumed, and the file's size
 * (0 if unknown), for progress. */
uint64_t input_raw_position(const struct input *in);
uint64_t input_raw_size(const struct input *in);
/* After E_PARSE: go on at the next gzip member or zstd frame behind the damage,
 * if there is one.  1: found, 0: the end of the file.  *ret_lost: bytes of the
 * file skipped. */
MUST_CHECK int input_resync(struct input *in, uint64_t *ret_lost, struct err *err);

struct text;
struct buf;
/* What unpacks in a cell, where there are cells (base/sandbox/cell.h). */
int input_cell(const struct text *parts, size_t n, struct buf *answer, struct err *err);

#endif
