/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_wacz.c - the captures of a WACZ file (1.1) as records; see archive.h.
 *
 * A WACZ is a ZIP file of WARC files and of lists about them.  First its manifest is
 * checked: datapackage.json against datapackage-digest.json, and every file that it names
 * against its size and digest, in one pass over the file.  A wrong digest of a file is
 * reported, and its records are judged by their own digests: js-wacz 0.1.6 hashes each piece
 * of a WARC twice, so files in use have digests that are right for nothing.  Anything else that
 * differs ends it.  Then the records are read where they lie, so
 * that the repository can find them again by the offset in the WACZ; only records of a
 * deflated WARC, which the format forbids, are read without being found again.
 *
 * Index and page list are not read: the WARC files say the same.
 */
#include <stdio.h>
#include <string.h>

#include "base/io/input.h"
#include "base/io/json.h"
#include "base/io/zip.h"
#include "base/mem.h"
#include "engine/archive/archive.h"
#include "warc/warc_digest.h"

#define MANIFEST "datapackage.json"
#define MANIFEST_DIGEST "datapackage-digest.json"
#define MANIFEST_MAX ((size_t)64 << 20)         /* bytes */
#define PIECE 65536

struct wacz {
	struct archive_reader *out;
	const char *path;
	struct zip *zip;
	uint8_t *listed;                /* of each entry: the manifest names it */
	char piece[PIECE];
	char name[ZIP_NAME_MAX + 1];
};

static int wrong(const struct wacz *w, const char *name, const char *why, struct err *err)
{
	return err_set(err, E_PARSE, "%s: %.200s: %s", w->path, name, why);
}

static void report(struct wacz *w, const char *name, const char *why)
{
	char text[700];

	w->out->stats.n_bad++;
	snprintf(text, sizeof text, "%.300s: %.200s: %s", w->path, name, why);
	if (w->out->report)
		w->out->report(w->out->arg, text);
}

/* A whole entry; the caller releases *out. */
static int read_entry(struct wacz *w, const struct zip_entry *e, struct buf *out,
                      struct err *err)
{
	struct zip_stream *s;
	long n;

	if (e->size > MANIFEST_MAX)
		return err_set(err, E_LIMIT, "%s: %s has %llu bytes (at most %zu)", w->path, e->name,
		               (unsigned long long)e->size, MANIFEST_MAX);
	s = zip_stream_new(w->zip, e);
	while ((n = zip_stream_read(s, w->piece, PIECE, err)) > 0)
		buf_add(out, w->piece, (size_t)n);
	zip_stream_free(s);
	return (int)n;
}

/* Has the entry this digest?  1, 0, or error. */
static int check_digest(struct wacz *w, const struct zip_entry *e, const char *text,
                        size_t size, struct err *err)
{
	struct warc_hasher hasher = { 0 };
	struct warc_digest want, got;
	struct zip_stream *s;
	long n;

	if (!warc_digest_parse(text, size, &want))
		return wrong(w, e->name, "a digest that is not known in " MANIFEST, err);
	s = zip_stream_new(w->zip, e);
	warc_hasher_begin(&hasher, want.hash);
	while ((n = zip_stream_read(s, w->piece, PIECE, err)) > 0)
		warc_hasher_add(&hasher, w->piece, (size_t)n);
	warc_hasher_end(&hasher, &got);
	warc_hasher_release(&hasher);
	zip_stream_free(s);
	if (n < 0)
		return (int)n;
	return warc_digest_equal(&want, &got);
}

static bool is_key(const struct json_member *m, const char *key)
{
	return m->key_size == strlen(key) && !memcmp(m->key, key, m->key_size);
}

/* One of `resources`: path, hash and bytes of a file. */
static int check_resource(struct wacz *w, const struct json_member *resource, struct err *err)
{
	const char *p = resource->value, *end = p + resource->value_size;
	struct json_member m, hash = { 0 };
	const struct zip_entry *e;
	int64_t bytes = -1;
	long size = -1;
	size_t i;
	int rc = resource->type == JSON_NESTED && resource->value_size && *p == '{' ? 1 : -1;

	while (rc > 0 && (rc = json_next(&p, end, &m)) > 0) {
		if (is_key(&m, "path") && m.type == JSON_STRING && m.value_size <= ZIP_NAME_MAX)
			size = json_unescape(&m, w->name);
		else if (is_key(&m, "hash") && m.type == JSON_STRING)
			hash = m;
		else if (is_key(&m, "bytes") && m.type == JSON_NUMBER && m.value_size < 19 &&
		         sscanf(m.value, "%18lld", (long long *)&bytes) != 1)
			bytes = -1;
	}
	if (rc < 0 || size <= 0)
		return wrong(w, MANIFEST, "an entry of `resources` has no path", err);
	w->name[size] = '\0';
	e = zip_find(w->zip, w->name);
	if (!e)
		return wrong(w, w->name, "named in " MANIFEST " and not there", err);
	i = (size_t)(e - zip_entry(w->zip, 0));
	if (w->listed[i])
		return wrong(w, e->name, "named twice in " MANIFEST, err);
	w->listed[i] = 1;
	if (bytes >= 0 && (uint64_t)bytes != e->size)
		return wrong(w, e->name, "its size is not what " MANIFEST " says", err);
	if (!hash.value)
		return wrong(w, e->name, "no digest in " MANIFEST, err);
	rc = check_digest(w, e, hash.value, hash.value_size, err);
	if (rc == 0)
		report(w, e->name, "not what " MANIFEST " says (another digest); its records are judged "
		       "one by one");
	return rc < 0 ? rc : 0;
}

static int check_resources(struct wacz *w, const struct json_member *list, struct err *err)
{
	const char *p = list->value, *end = p + list->value_size;
	struct json_member m;
	int rc;

	if (list->type != JSON_NESTED || !list->value_size || *p != '[')
		return wrong(w, MANIFEST, "`resources` is no list", err);
	while ((rc = json_element(&p, end, &m)) > 0) {
		rc = check_resource(w, &m, err);
		if (rc < 0)
			return rc;
	}
	return rc < 0 ? wrong(w, MANIFEST, "`resources` cannot be read", err) : 0;
}

/* A document into text, and where its members begin and end, for json_next(). */
static int read_json(struct wacz *w, const struct zip_entry *e, struct buf *text,
                     const char **ret_p, const char **ret_end, struct err *err)
{
	int rc = read_entry(w, e, text, err);
	const char *p = buf_text(text), *end = p + text->size;

	while (p < end && strchr(" \t\r\n", *p))
		p++;
	*ret_p = p;
	*ret_end = end;
	return rc;
}

static int check_manifest_digest(struct wacz *w, const struct zip_entry *manifest,
                                 struct err *err)
{
	const struct zip_entry *e = zip_find(w->zip, MANIFEST_DIGEST);
	const char *p, *end;
	struct json_member m;
	struct buf text;
	int rc;

	if (!e)
		return 0;
	buf_init(&text, MANIFEST_MAX);
	rc = read_json(w, e, &text, &p, &end, err);
	while (rc == 0 && (rc = json_next(&p, end, &m)) > 0) {
		rc = 0;
		if (is_key(&m, "hash") && m.type == JSON_STRING) {
			rc = check_digest(w, manifest, m.value, m.value_size, err);
			if (rc == 0)
				rc = wrong(w, MANIFEST, "not what " MANIFEST_DIGEST " says (another digest); to take "
				           "it nevertheless unzip it and import the files of archive/", err);
			rc = rc < 0 ? rc : 0;
			goto out;
		}
	}
	if (rc == 0 || rc == -1)
		rc = wrong(w, MANIFEST_DIGEST, "it has no `hash`", err);
out:
	buf_release(&text);
	return rc;
}

static int check_manifest(struct wacz *w, struct err *err)
{
	const struct zip_entry *e = zip_find(w->zip, MANIFEST);
	struct json_member m, list = { 0 };
	const char *p, *end;
	struct buf text;
	int rc;

	if (!e)
		return err_set(err, E_PARSE, "%s: a ZIP file but no WACZ: it has no " MANIFEST "; unzip "
		               "it and import what is in it", w->path);
	rc = check_manifest_digest(w, e, err);
	if (rc < 0)
		return rc;
	buf_init(&text, MANIFEST_MAX);
	rc = read_json(w, e, &text, &p, &end, err);
	while (rc == 0 && (rc = json_next(&p, end, &m)) > 0) {
		rc = 0;
		if (is_key(&m, "profile") && m.type == JSON_STRING &&
		    memmem(m.value, m.value_size, "multi", 5))
			rc = wrong(w, MANIFEST, "it gathers other WACZ files; import those", err);
		if (is_key(&m, "resources"))
			list = m;
	}
	if (rc == -1)
		rc = wrong(w, MANIFEST, "it cannot be read as JSON", err);
	if (rc == 0 && !list.value)
		rc = wrong(w, MANIFEST, "it names no `resources`", err);
	if (rc == 0)
		rc = check_resources(w, &list, err);
	buf_release(&text);
	return rc;
}

static int read_archives(struct wacz *w, struct err *err)
{
	static const char folder[] = "archive/";
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < zip_count(w->zip) && rc == 0; i++) {
		const struct zip_entry *e = zip_entry(w->zip, i);
		enum archive_kind kind = ARCHIVE_UNKNOWN;
		struct input *in;

		if (strncmp(e->name, folder, sizeof folder - 1))
			continue;
		n++;
		if (!w->listed[i]) {
			report(w, e->name, "left out: " MANIFEST " does not name it");
			continue;
		}
		rc = zip_input(w->zip, e, &in, err);
		if (rc < 0)
			break;
		if (archive_sniff(in, &kind, NULL) < 0 || kind != ARCHIVE_WARC) {
			report(w, e->name, "left out: it is no WARC file");
			input_close(in);
			continue;
		}
		w->out->in = in;
		w->out->unplaced = e->deflated;
		rc = archive_read_warc(w->out, in, err);
		w->out->in = NULL;
		w->out->unplaced = false;
	}
	if (rc == 0 && !n)
		rc = err_set(err, E_PARSE, "%s: no file in archive/: not a WACZ", w->path);
	return rc;
}

int archive_read_wacz(struct archive_reader *a, const char *path, struct err *err)
{
	struct wacz *w = mem_zalloc(1, sizeof *w);
	int rc;

	w->out = a;
	w->path = path;
	rc = strcmp(path, "standard input") ? zip_open(&w->zip, path, err) :
	     err_set(err, E_USAGE, "%s: a WACZ is read from its end: give it as a file", path);
	if (rc == 0) {
		w->listed = mem_zalloc(zip_count(w->zip) + 1, 1);
		rc = check_manifest(w, err);
	}
	if (rc == 0)
		rc = read_archives(w, err);
	free(w->listed);
	zip_close(w->zip);
	free(w);
	return rc;
}
