/* SPDX-License-Identifier: Apache-2.0 */
/* wacz.c - see wacz.h. */
#include "engine/export/wacz.h"

#include <stdlib.h>
#include <string.h>

#include "base/io/json.h"
#include "base/when.h"

#define VERSION "1.1.1"
#define MANIFEST "datapackage.json"

int wacz_open(struct wacz *w, const char *path, int64_t now, struct err *err)
{
	*w = (struct wacz){ 0 };
	buf_init(&w->main_url, BUF_NO_LIMIT);
	return zip_writer_open(&w->zip, path, now, err);
}

int wacz_begin(struct wacz *w, const char *name, struct err *err)
{
	struct wacz_resource r = { .name = mem_strdup(name) };

	vec_push(&w->resources, r);
	warc_hasher_begin(&w->hasher, WARC_SHA256);
	w->size = 0;
	w->open = true;
	return zip_writer_begin(w->zip, name, err);
}

int wacz_add(struct wacz *w, const void *data, size_t size, struct err *err)
{
	warc_hasher_add(&w->hasher, data, size);
	w->size += size;
	return zip_writer_add(w->zip, data, size, err);
}

int wacz_end(struct wacz *w, struct err *err)
{
	struct wacz_resource *r = &w->resources.v[w->resources.n - 1];

	warc_hasher_end(&w->hasher, &r->digest);
	r->size = w->size;
	w->open = false;
	return zip_writer_end(w->zip, err);
}

int wacz_put(struct wacz *w, const char *name, const struct buf *data,
             struct err *err)
{
	int rc = wacz_begin(w, name, err);

	if (rc == 0)
		rc = wacz_add(w, buf_text(data), data->size, err);
	return rc < 0 ? rc : wacz_end(w, err);
}

static void put_manifest(const struct wacz *w, int64_t now, struct buf *out)
{
	char text[WARC_DIGEST_TEXT], time[21];
	struct json j;

	json_to_buf(&j, out);
	json_object(&j);
	json_kstr(&j, "profile", "data-package");
	json_kstr(&j, "wacz_version", VERSION);
	when_iso(now, time);
	json_kstr(&j, "title", "Pages kept by Freshet");
	json_kstr(&j, "created", time);
	json_kstr(&j, "software", "freshet/" FRESHET_VERSION);
	if (w->main_url.size) {
		json_key(&j, "mainPageUrl");
		json_strn(&j, w->main_url.data, w->main_url.size);
		when_iso(w->main_time, time);
		json_kstr(&j, "mainPageDate", time);
	}
	json_key(&j, "resources");
	json_array(&j);
	for (size_t i = 0; i < w->resources.n; i++) {
		const struct wacz_resource *r = &w->resources.v[i];

		warc_digest_format(&r->digest, text);
		json_object(&j);
		json_kstr(&j, "name", strrchr(r->name, '/') + 1);
		json_kstr(&j, "path", r->name);
		json_kstr(&j, "hash", text);
		json_kint(&j, "bytes", (int64_t)r->size);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
	json_newline(&j);
}

static int write_manifest(struct wacz *w, int64_t now, struct err *err)
{
	char text[WARC_DIGEST_TEXT];
	struct buf manifest, digest;
	int rc;

	buf_init(&manifest, BUF_NO_LIMIT);
	buf_init(&digest, BUF_NO_LIMIT);
	put_manifest(w, now, &manifest);
	rc = wacz_put(w, MANIFEST, &manifest, err);
	if (rc == 0) {
		warc_digest_format(&w->resources.v[w->resources.n - 1].digest, text);
		buf_printf(&digest, "{\"path\": \"" MANIFEST "\", \"hash\": \"%s\"}\n", text);
		rc = wacz_put(w, "datapackage-digest.json", &digest, err);
	}
	buf_release(&manifest);
	buf_release(&digest);
	return rc;
}

int wacz_close(struct wacz *w, int64_t now, int rc, struct err *err)
{
	if (rc == 0)
		rc = write_manifest(w, now, err);
	if (rc == 0)
		rc = zip_writer_close(w->zip, err);
	else
		zip_writer_abandon(w->zip);
	for (size_t i = 0; i < w->resources.n; i++)
		free(w->resources.v[i].name);
	vec_release(&w->resources);
	warc_hasher_release(&w->hasher);
	buf_release(&w->main_url);
	return rc;
}
