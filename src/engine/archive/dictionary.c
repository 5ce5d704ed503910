/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary.c - a dictionary learned from the pages of a repository; see dictionary.h.
 *
 * The samples are whole blocks, HTTP heads with the beginnings of bodies, for that is
 * what records are.  They are drawn at random from all captures that have content
 * (a reservoir, so one pass and little memory), SAMPLES of them, SAMPLE_SIZE bytes each
 * at most.  What cannot be read back is left out.
 */
#include "engine/archive/dictionary.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io/input.h"
#include "base/io/output.h"
#include "base/log.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "engine/archive/content.h"

#define SAMPLES 2000
#define SAMPLE_SIZE ((size_t)8 << 10)
#define FILE_MAX_SIZE ((size_t)16 << 20)        /* bytes of a dictionary that is read */

struct drawing {
	VEC(uint64_t) ids;
	uint64_t n_seen;
};

static int draw(void *arg, const struct store_capture *c, struct err *err)
{
	struct drawing *d = arg;
	uint64_t at;

	(void)err;
	if (!c->file.s || c->offset < 0 || c->revisit || c->status != 200)
		return 0;
	d->n_seen++;
	if (d->ids.n < SAMPLES) {
		vec_push(&d->ids, c->id);
		return 0;
	}
	at = rng_draw(1, 0, d->n_seen, RNG_SAMPLE) % d->n_seen;
	if (at < SAMPLES)
		d->ids.v[at] = c->id;
	return 0;
}

static int compare_ids(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

struct samples {
	struct buf data;
	VEC(size_t) sizes;
};

/* One capture's block; one that cannot be read is left out.  0, or the store's error. */
static int take_sample(struct samples *to, struct content *from, struct store *s, uint64_t id,
                       struct err *err)
{
	size_t head, body, at = to->data.size;
	struct store_capture c;
	struct store_page p;
	int rc = store_capture_get(s, id, &c, err);

	if (rc > 0)
		rc = store_page_get(s, c.page, &p, err);
	if (rc <= 0)
		return rc;
	if (content_load(from, &c, p.url, NULL) < 0)
		return 0;
	head = from->body.head.size < SAMPLE_SIZE ? from->body.head.size : SAMPLE_SIZE;
	body = from->body.body.size < SAMPLE_SIZE - head ? from->body.body.size :
	       SAMPLE_SIZE - head;
	buf_add(&to->data, from->body.head.data, head);
	buf_add(&to->data, from->body.body.data, body);
	if (to->data.size > at)
		vec_push(&to->sizes, to->data.size - at);
	return 0;
}

/* 1: *ret has a dictionary; 0: there is nothing to learn one from. */
static int learn(struct buf *ret, struct store *s, const char *folder, struct err *err)
{
	struct drawing d = { 0 };
	struct samples samples = { 0 };
	struct content content;
	int rc = store_captures(s, NULL, 0, draw, &d, err);

	buf_init(&samples.data, BUF_NO_LIMIT);
	content_init(&content, folder, SAMPLE_SIZE);
	if (d.ids.n)                    /* ids rise as files grow: each is read forwards */
		qsort(d.ids.v, d.ids.n, sizeof *d.ids.v, compare_ids);
	for (size_t i = 0; i < d.ids.n && rc == 0; i++)
		rc = take_sample(&samples, &content, s, d.ids.v[i], err);
	if (rc == 0)
		rc = warc_dictionary_train(ret, samples.data.data, samples.sizes.v,
		                           samples.sizes.n, err);
	content_release(&content);
	buf_release(&samples.data);
	vec_release(&samples.sizes);
	vec_release(&d.ids);
	return rc;
}

static int read_file(const char *path, struct buf *out, struct err *err)
{
	FILE *f = fopen(path, "re");
	char piece[65536];
	size_t n;
	int rc = 0;

	if (!f)
		return err_errno(err, E_IO, "%s", path);
	while ((n = fread(piece, 1, sizeof piece, f)) > 0)
		buf_add(out, piece, n);
	if (ferror(f))
		rc = err_errno(err, E_IO, "%s", path);
	else if (out->full)
		rc = err_set(err, E_LIMIT, "%s: more than %zu bytes", path, FILE_MAX_SIZE);
	fclose(f);
	return rc;
}

static int write_file(const char *path, const struct buf *data, struct err *err)
{
	struct output *out;
	int rc = output_open_plain(&out, path, err);

	if (rc < 0)
		return rc;
	fwrite(data->data, 1, data->size, output_file(out));
	return output_close(out, err);
}

int dictionary_open(struct warc_dictionary **ret, struct store *s, const char *warc_folder,
                    bool keep, struct err *err)
{
	char path[4200], folder[4200];
	struct buf data;
	int rc;

	*ret = NULL;
	snprintf(path, sizeof path, "%s/" DICTIONARY_FILE, warc_folder);
	snprintf(folder, sizeof folder, "%s/..", warc_folder);
	buf_init(&data, FILE_MAX_SIZE);
	if (access(path, F_OK) == 0) {
		rc = read_file(path, &data, err);
		if (rc == 0)
			rc = 1;
	} else {
		rc = learn(&data, s, folder, err);
		if (rc > 0 && keep && (rc = write_file(path, &data, err)) == 0)
			rc = 1;
	}
	if (rc > 0 && (rc = warc_dictionary_make(ret, data.data, data.size, err)) < 0)
		err_prefix(err, "%s: remove it to have another one made", path);
	buf_release(&data);
	return rc < 0 ? rc : 0;
}
