/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_codec.c - gzip members and deflated streams by ISA-L, zstd frames by libzstd; see
 * input_raw.h.
 *
 * Both decoders stream, so a bomb costs time in proportion to what is taken from
 * it and no memory beyond the window (zstd's is capped at 2^ZSTD_WINDOW_LOG).
 * Zeros between members are padding, as for gzip(1).  A zstd file may begin with
 * a dictionary in a skippable frame, as .warc.zst files do.
 *
 * Resync.  A damaged deflate stream may run on through the members behind it
 * before it is found out, so the search for the next one begins right behind the
 * damaged member's first byte; only when the stream ended, merely its checksum is
 * wrong, and a member follows, is the end taken as found.  A place that looks like
 * a header must also decode for TRIAL_OUT bytes.  Blind spot: a .gz file stored
 * inside a damaged member without compression looks like a member; what reads the
 * data must judge what it finds.
 */
#include "base/io/input_raw.h"

#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include "base/little.h"
#include "base/mem.h"
#include "base/vector_state.h"

#define ZSTD_WINDOW_LOG 27
#define TRIAL_IN 4096
#define TRIAL_OUT 512
#define ZSTD_DICTIONARY_FRAME 0x184D2A5Du

static bool is_gzip(const uint8_t *p, size_t size)
{
	return size >= 2 && p[0] == 0x1f && p[1] == 0x8b;
}

static bool is_zstd(const uint8_t *p, size_t size)
{
	if (size < 4)
		return false;
	return little_get32(p) == 0xFD2FB528u || (little_get32(p) & 0xFFFFFFF0u) == 0x184D2A50u;
}

/* A deflated stream has no head: it is one wherever it is said to be, and never found. */
static bool is_member(const struct codec *c, const uint8_t *p, size_t size)
{
	return c->kind == CODEC_GZIP ? is_gzip(p, size) :
	       c->kind == CODEC_ZSTD ? is_zstd(p, size) : false;
}

const char *codec_member_name(const struct codec *c)
{
	return c->kind == CODEC_GZIP ? "gzip member" :
	       c->kind == CODEC_ZSTD ? "zstd frame" : "deflated data";
}

/* Take `size` bytes of the file into a new block. */
static int take_block(struct raw *r, size_t size, uint8_t **ret, struct err *err)
{
	uint8_t *block = mem_alloc(size ? size : 1);
	size_t have = 0;

	while (have < size) {
		size_t n;
		int rc = raw_need(r, 1, err);

		n = raw_avail(r) < size - have ? raw_avail(r) : size - have;
		if (rc == 0 && n == 0)
			rc = err_set(err, E_PARSE, "%s: zstd dictionary ends early", r->name);
		if (rc < 0) {
			free(block);
			return rc;
		}
		memcpy(block + have, r->data + r->pos, n);
		r->pos += n;
		have += n;
	}
	*ret = block;
	return 0;
}

/* The dictionary itself may be compressed as one zstd frame. */
static int use_dictionary(struct codec *c, const char *name, const uint8_t *block, size_t size,
                          struct err *err)
{
	uint8_t *plain = NULL;
	size_t rc;

	if (size >= 4 && little_get32(block) == 0xFD2FB528u) {
		plain = mem_alloc(DICTIONARY_MAX);
		size = ZSTD_decompress(plain, DICTIONARY_MAX, block, size);
	}
	rc = ZSTD_isError(size) ? size :
	     ZSTD_DCtx_loadDictionary(c->zstd, plain ? plain : block, size);
	free(plain);
	if (ZSTD_isError(rc))
		return err_set(err, E_PARSE, "%s: bad zstd dictionary: %s", name,
		               ZSTD_getErrorName(rc));
	return 0;
}

int codec_begin(struct codec *c, const char *name, const uint8_t *dictionary, size_t size,
                struct err *err)
{
	if (c->kind != CODEC_ZSTD) {
		c->inflate = mem_alloc(sizeof *c->inflate);
		isal_inflate_init(c->inflate);
		return 0;
	}
	if (!c->zstd) {
		c->zstd = ZSTD_createDCtx();
		if (!c->zstd)
			err_no_memory();
		(void)ZSTD_DCtx_setParameter(c->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
	}
	return dictionary ? use_dictionary(c, name, dictionary, size, err) : 0;
}

/* A decoder of zstd frames, with the dictionary that may be next. */
static int begin_zstd(struct codec *c, struct raw *r, struct err *err)
{
	uint8_t *block = NULL;
	size_t size = 0;
	int rc = 0;

	c->kind = CODEC_ZSTD;
	if (raw_avail(r) >= 8 && little_get32(r->data + r->pos) == ZSTD_DICTIONARY_FRAME) {
		size = little_get32(r->data + r->pos + 4);
		if (size > DICTIONARY_MAX)
			return err_set(err, E_LIMIT, "%s: zstd dictionary of %zu bytes (at most %u)",
			               r->name, size, DICTIONARY_MAX);
		r->pos += 8;
		rc = take_block(r, size, &block, err);
	}
	if (rc == 0)
		rc = c->apart ? apart_begin(c, r->name, block, size, err) :
		     codec_begin(c, r->name, block, size, err);
	free(block);
	return rc;
}

int codec_front(struct codec *c, struct raw *r, struct err *err)
{
	size_t at = r->pos;
	int rc = 0;

	r->pos = 0;
	if (is_zstd(r->data, r->len)) {
		c->apart = apart_new();
		rc = begin_zstd(c, r, err);
	}
	r->pos = at;
	return rc;
}

int codec_init(struct codec *c, struct raw *r, struct err *err)
{
	int rc = raw_need(r, 8, err);

	if (rc < 0)
		return rc;
	c->between = true;
	c->member = raw_offset(r);
	c->kind = r->source && r->source->form == INPUT_DEFLATED ? CODEC_DEFLATE :
	          r->source && r->source->form == INPUT_PLAIN ? CODEC_PLAIN :
	          is_gzip(r->data + r->pos, raw_avail(r)) ? CODEC_GZIP :
	          is_zstd(r->data + r->pos, raw_avail(r)) ? CODEC_ZSTD : CODEC_PLAIN;
	if (c->kind != CODEC_PLAIN && !c->apart)
		c->apart = apart_new();
	if (c->kind == CODEC_ZSTD)
		return begin_zstd(c, r, err);
	return c->kind == CODEC_PLAIN || c->apart ? 0 : codec_begin(c, r->name, NULL, 0, err);
}

void codec_release(struct codec *c)
{
	apart_free(c->apart);
	free(c->inflate);
	ZSTD_freeDCtx(c->zstd);
}

static int read_plain(struct raw *r, uint8_t *out, size_t room, size_t *ret_size,
                      struct err *err)
{
	size_t n = raw_avail(r);
	int rc;

	if (n == 0) {
		rc = raw_need(r, 1, err);
		if (rc < 0)
			return rc;
		n = raw_avail(r);
	}
	if (n > room)
		n = room;
	if (n)
		memcpy(out, r->data + r->pos, n);
	r->pos += n;
	*ret_size = n;
	return n > 0;
}

/* Begin to inflate; what: its wrapper. */
static void begin_inflate(struct codec *c, uint32_t what)
{
	isal_inflate_reset(c->inflate);
	c->inflate->crc_flag = what;
}

/* Between members: 1 at a new one, 0 at the end of the file. */
static int open_member(struct codec *c, struct raw *r, struct err *err)
{
	int rc;

	if (c->kind == CODEC_DEFLATE) {
		if (c->over)
			return 0;
		c->member = raw_offset(r);
		begin_inflate(c, ISAL_DEFLATE);
		c->between = false;
		return 1;
	}
	for (;;) {
		rc = raw_need(r, 4, err);
		if (rc < 0)
			return rc;
		if (raw_avail(r) == 0)
			return 0;
		if (r->data[r->pos] != 0)
			break;
		r->pos++;
	}
	c->member = raw_offset(r);
	c->wrong_sum = false;
	if (!is_member(c, r->data + r->pos, raw_avail(r)))
		return err_set(err, E_PARSE, "%s: no %s at offset %llu", r->name,
		               codec_member_name(c), (unsigned long long)c->member);
	if (c->kind == CODEC_GZIP)
		begin_inflate(c, ISAL_GZIP);
	else
		(void)ZSTD_DCtx_reset(c->zstd, ZSTD_reset_session_only);
	c->between = false;
	return 1;
}

/* One call of the inflater.  1: the member ended, 0: go on, < 0: its error. */
static int step_inflate(struct inflate_state *z, struct raw *r, uint8_t *out, size_t room,
                        size_t *ret_size)
{
	uint32_t avail = raw_avail(r) > (1u << 30) ? 1u << 30 : (uint32_t)raw_avail(r);
	uint32_t space = room > (1u << 30) ? 1u << 30 : (uint32_t)room;
	const uint8_t *from = r->data + r->pos;
	int rc;

	z->next_in = (uint8_t *)(uintptr_t)from;
	z->avail_in = avail;
	z->next_out = out;
	z->avail_out = space;
	rc = isal_inflate(z);
	vector_state_clear();
	r->pos = (size_t)(z->next_in - r->data);
	*ret_size = space - z->avail_out;
	if (rc != ISAL_DECOMP_OK)
		return rc > 0 ? -100 : rc;
	if (z->block_state == ISAL_BLOCK_FINISH)
		return 1;
	/* no byte read and none written: it would go on for ever */
	return r->data + r->pos == from && *ret_size == 0 && avail ? -100 : 0;
}

static int step_zstd(struct codec *c, struct raw *r, uint8_t *out, size_t room,
                     size_t *ret_size)
{
	ZSTD_inBuffer from = { r->data + r->pos, raw_avail(r), 0 };
	ZSTD_outBuffer to = { out, room, 0 };
	size_t rc = ZSTD_decompressStream(c->zstd, &to, &from);

	r->pos += from.pos;
	*ret_size = to.pos;
	if (ZSTD_isError(rc))
		return -1;
	return rc == 0;
}

int codec_read(struct codec *c, struct raw *r, uint8_t *out, size_t room,
               size_t *ret_size, struct err *err)
{
	const char *what = codec_member_name(c);
	int rc;

	*ret_size = 0;
	if (c->kind == CODEC_PLAIN)
		return read_plain(r, out, room, ret_size, err);
	if (c->apart)
		return apart_read(c, r, out, room, ret_size, err);
	if (c->between) {
		rc = open_member(c, r, err);
		if (rc <= 0)
			return rc;
	}
	rc = raw_need(r, 1, err);
	if (rc < 0)
		return rc;
	bool empty = raw_avail(r) == 0;
	rc = c->kind == CODEC_ZSTD ? step_zstd(c, r, out, room, ret_size) :
	                             step_inflate(c->inflate, r, out, room, ret_size);
	if (rc < 0) {
		c->wrong_sum = c->kind == CODEC_GZIP && rc == ISAL_INCORRECT_CHECKSUM;
		return err_set(err, E_PARSE, "%s: %s at offset %llu is damaged", r->name, what,
		               (unsigned long long)c->member);
	}
	if (rc > 0)
		c->between = c->over = true;
	else if (empty && *ret_size == 0)
		return err_set(err, E_PARSE, "%s: %s at offset %llu ends early", r->name, what,
		               (unsigned long long)c->member);
	return 1;
}

bool codec_member_at(struct codec *c, const struct raw *r)
{
	uint8_t out[TRIAL_OUT];
	struct raw trial = *r;
	size_t size = 0;
	int rc = 0;

	if (!is_member(c, r->data + r->pos, raw_avail(r)))
		return false;
	if (raw_avail(r) > TRIAL_IN)
		trial.len = r->pos + TRIAL_IN;
	if (c->apart)
		return apart_member_at(c, &trial);
	if (c->kind == CODEC_GZIP) {
		const uint8_t *p = r->data + r->pos;

		if (raw_avail(r) < 18 || p[2] != 8 || p[3] & 0xe0)
			return false;
		begin_inflate(c, ISAL_GZIP);
		rc = step_inflate(c->inflate, &trial, out, sizeof out, &size);
	} else {
		(void)ZSTD_DCtx_reset(c->zstd, ZSTD_reset_session_only);
		rc = step_zstd(c, &trial, out, sizeof out, &size);
	}
	return rc >= 0;
}

int codec_resync(struct codec *c, struct raw *r, uint64_t *ret_lost, struct err *err)
{
	int first = c->kind == CODEC_GZIP ? 0x1f : 0x28, rc;
	uint64_t from = c->member;

	c->between = true;
	rc = raw_need(r, TRIAL_IN, err);
	if (rc == 0 && !(c->wrong_sum && raw_offset(r) > from &&
	                 (raw_avail(r) == 0 || codec_member_at(c, r))))
		rc = raw_seek(r, from + 1, err);
	while (rc == 0) {
		const uint8_t *at;

		rc = raw_need(r, TRIAL_IN, err);
		if (rc < 0)
			return rc;
		at = raw_avail(r) ? memchr(r->data + r->pos, first, raw_avail(r)) : NULL;
		if (!at) {
			r->pos = r->len;
			if (!r->eof)
				continue;
			break;
		}
		r->pos = (size_t)(at - r->data);
		rc = raw_need(r, TRIAL_IN, err);
		if (rc < 0)
			return rc;
		if (codec_member_at(c, r)) {
			*ret_lost = raw_offset(r) - from;
			return 1;
		}
		r->pos++;
	}
	*ret_lost = raw_offset(r) - from;
	return rc;
}
