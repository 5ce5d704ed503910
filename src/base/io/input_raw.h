/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_raw.h - private to input.c and input_codec.c: the raw bytes of a file, and the
 * decoders.
 */
#ifndef BASE_IO_INPUT_RAW_H
#define BASE_IO_INPUT_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/io/input.h"

/* The inflater may return bytes that it took too early, also from the previous block.  So
 * this many bytes before the next byte are kept. */
#define RAW_HISTORY 64
#define RAW_SIZE (256 * 1024)
#define DICTIONARY_MAX (16u << 20)      /* bytes of a zstd dictionary */

struct raw {
	const char *name;
	int fd;                         /* -1: the bytes are in memory, or of `source` */
	const struct input_source *source;      /* or NULL */
	uint64_t end;                   /* offset in the file where it ends for us; 0: at its end */
	bool seekable, eof;
	const uint8_t *data;            /* buf, or the caller's memory */
	uint8_t *buf;
	size_t pos, len;                /* next byte and end, in data */
	uint64_t base;                  /* offset in the file of data[0] */
};

/* At least `want` (<= RAW_SIZE / 2) bytes behind pos, unless the file ends. */
MUST_CHECK int raw_need(struct raw *r, size_t want, struct err *err);
MUST_CHECK int raw_seek(struct raw *r, uint64_t offset, struct err *err);

static inline uint64_t raw_offset(const struct raw *r)
{
	return r->base + r->pos;
}

static inline size_t raw_avail(const struct raw *r)
{
	return r->len - r->pos;
}

enum codec_kind { CODEC_PLAIN, CODEC_GZIP, CODEC_ZSTD, CODEC_DEFLATE };

struct codec {
	enum codec_kind kind;
	bool between;                   /* no member or frame is open */
	uint64_t member;                /* offset of the open or last member */
	bool wrong_sum;                 /* damaged, but the end of the member was found */
	bool over;                      /* the only member has ended (CODEC_DEFLATE) */
	struct inflate_state *inflate;
	struct ZSTD_DCtx_s *zstd;
	struct apart *apart;            /* set: all of it is done in a cell */
};

/* Choose the codec by the first bytes. */
MUST_CHECK int codec_init(struct codec *c, struct raw *r, struct err *err);
/* Before it, for a member inside of the bytes in memory: look for a dictionary in front. */
MUST_CHECK int codec_front(struct codec *c, struct raw *r, struct err *err);
void codec_release(struct codec *c);
/* Make the decoder of a kind, with a dictionary or NULL. */
MUST_CHECK int codec_begin(struct codec *c, const char *name, const uint8_t *dictionary,
                           size_t size, struct err *err);
/* Does a member begin at pos, as far as a few thousand bytes show? */
bool codec_member_at(struct codec *c, const struct raw *r);
/* What a message calls a member. */
const char *codec_member_name(const struct codec *c);

/*
 * Decode up to room (> 0) bytes to out, never across the end of a member.
 * Returns 1 with *ret_size (which may be 0) bytes, 0 at the end of the file, or
 * an error; with an error *ret_size bytes before the damage are good to have.
 */
MUST_CHECK int codec_read(struct codec *c, struct raw *r, uint8_t *out, size_t room,
                          size_t *ret_size, struct err *err);
/* Move to the next member behind a damaged one.  1, 0 at the end, or error. */
MUST_CHECK int codec_resync(struct codec *c, struct raw *r, uint64_t *ret_lost,
                            struct err *err);

/*
 * The same in a cell, in input_cell.c.  apart_new(): NULL if there are none.  A member that
 * breaks its cell is damaged: E_PARSE.
 */
struct apart *apart_new(void);
void apart_free(struct apart *a);               /* NULL is fine */
MUST_CHECK int apart_begin(struct codec *c, const char *name, const uint8_t *dictionary,
                           size_t size, struct err *err);
MUST_CHECK int apart_read(struct codec *c, struct raw *r, uint8_t *out, size_t room,
                          size_t *ret_size, struct err *err);
bool apart_member_at(struct codec *c, const struct raw *r);

#endif
