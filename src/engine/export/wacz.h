/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wacz.h - a WACZ file (1.1.1): a ZIP file whose entries are stored and not compressed, with a
 * manifest that has the digest of each, and the digest of the manifest.
 */
#ifndef ENGINE_EXPORT_WACZ_H
#define ENGINE_EXPORT_WACZ_H

#include "base/buf.h"
#include "base/io/zip.h"
#include "base/mem.h"
#include "warc/warc_digest.h"

struct wacz_resource { char *name; uint64_t size; struct warc_digest digest; };

struct wacz {
	struct zip_writer *zip;
	struct warc_hasher hasher;      /* of the open entry */
	uint64_t size;                  /* of it, so far */
	bool open;
	VEC(struct wacz_resource) resources;    /* the last of them may be open */
	struct buf main_url;            /* the page that a player shows first, if there is one; */
	int64_t main_time;              /* set by the caller */
};

MUST_CHECK int wacz_open(struct wacz *w, const char *path, int64_t now, struct err *err);
MUST_CHECK int wacz_begin(struct wacz *w, const char *name, struct err *err);
MUST_CHECK int wacz_add(struct wacz *w, const void *data, size_t size, struct err *err);
MUST_CHECK int wacz_end(struct wacz *w, struct err *err);
/* A whole entry. */
MUST_CHECK int wacz_put(struct wacz *w, const char *name, const struct buf *data,
                        struct err *err);
/* Write the manifest and close the file; or, if rc is an error, leave no file.  Returns rc, or
 * why the file could not be closed. */
MUST_CHECK int wacz_close(struct wacz *w, int64_t now, int rc, struct err *err);

#endif
