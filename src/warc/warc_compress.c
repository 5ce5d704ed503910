/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_compress.c - zstd frames and their dictionary; see warc_compress.h.
 *
 * Pages of one site repeat each other: heads, menus, scripts.  A record is compressed
 * alone, so that it can be read alone, and a dictionary is what gives it back the common
 * parts.  The dictionary is digested once (CDict) and shared by all threads.
 *
 * The dictionary lies in the file compressed, as the convention allows; a reader finds
 * out by its first bytes.  Level 3 is zstd's own default.
 */
#include "warc/warc_compress.h"

#include <stdint.h>
#include <string.h>
#include <zdict.h>
#include <zstd.h>

#include "base/little.h"
#include "base/mem.h"

#define LEVEL 3
#define FRAME_LEVEL 19                  /* of the dictionary: once a file */
#define FRAME_MAGIC 0x184D2A5Du

struct warc_dictionary {
	ZSTD_CDict *digested;
	struct buf frame;               /* as a file begins */
};

struct warc_framer {
	ZSTD_CCtx *zstd;
};

const char *warc_compress_end(enum warc_compress how)
{
	return how == WARC_ZSTD ? ".warc.zst" : ".warc.gz";
}

int warc_dictionary_make(struct warc_dictionary **ret, const void *data, size_t size,
                         struct err *err)
{
	struct warc_dictionary *d;
	size_t packed, room = ZSTD_compressBound(size);
	char *block;

	if (ZDICT_getDictID(data, size) == 0)
		return err_set(err, E_PARSE, "%zu bytes are no zstd dictionary", size);
	d = mem_zalloc(1, sizeof *d);
	d->digested = ZSTD_createCDict(data, size, LEVEL);
	if (!d->digested) {
		free(d);
		return err_set(err, E_PARSE, "%zu bytes are a damaged zstd dictionary", size);
	}
	buf_init(&d->frame, BUF_NO_LIMIT);
	block = mem_alloc(room);
	packed = ZSTD_compress(block, room, data, size, FRAME_LEVEL);
	if (ZSTD_isError(packed))
		err_no_memory();        /* no other reason is left */
	little_add(&d->frame, FRAME_MAGIC, 4);
	little_add(&d->frame, packed, 4);
	buf_add(&d->frame, block, packed);
	free(block);
	*ret = d;
	return 0;
}

int warc_dictionary_train(struct buf *ret, const void *data, const size_t *sizes, size_t n,
                          struct err *err)
{
	char *room;
	size_t made;

	if (n < WARC_SAMPLES_MIN)
		return 0;
	if (n > UINT32_MAX)
		return err_set(err, E_LIMIT, "%zu records to learn a dictionary from", n);
	room = buf_room(ret, WARC_DICTIONARY_MAX);
	made = ZDICT_trainFromBuffer(room, WARC_DICTIONARY_MAX, data, sizes, (unsigned)n);
	if (ZDICT_isError(made))
		return 0;
	ret->size += made;
	ret->data[ret->size] = '\0';
	return 1;
}

void warc_dictionary_free(struct warc_dictionary *d)
{
	if (!d)
		return;
	ZSTD_freeCDict(d->digested);
	buf_release(&d->frame);
	free(d);
}

void warc_dictionary_frame(const struct warc_dictionary *d, struct buf *out)
{
	buf_add(out, d->frame.data, d->frame.size);
}

struct warc_framer *warc_framer_new(const struct warc_dictionary *d)
{
	struct warc_framer *f = mem_zalloc(1, sizeof *f);

	f->zstd = ZSTD_createCCtx();
	if (!f->zstd)
		err_no_memory();
	(void)ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_compressionLevel, LEVEL);
	(void)ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_checksumFlag, 1);
	if (d && ZSTD_isError(ZSTD_CCtx_refCDict(f->zstd, d->digested)))
		err_no_memory();
	return f;
}

void warc_framer_free(struct warc_framer *f)
{
	if (!f)
		return;
	ZSTD_freeCCtx(f->zstd);
	free(f);
}

void warc_framer_add(struct warc_framer *f, const void *data, size_t size, struct buf *out)
{
	size_t room = ZSTD_compressBound(size);
	char *to = buf_room(out, room);
	size_t made = ZSTD_compress2(f->zstd, to, room, data, size);

	if (ZSTD_isError(made))
		err_no_memory();        /* the room suffices and the parameters are good */
	out->size += made;
	out->data[out->size] = '\0';
}
