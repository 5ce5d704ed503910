/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_wacz.c - a repository as one WACZ file (1.1.1); see export.h.
 *
 * The file is written from front to back: WARC files as they are packed, the index, the
 * page list, the manifest with the digest of all of these, and the digest of the manifest.
 * All entries are stored, so that a player reads records and parts of the index by ranges.
 *
 * An index of up to INDEX_PLAIN lines is one text.  A larger one is compressed in blocks
 * of INDEX_BLOCK lines, each a gzip member, with the first key of every block in index.idx
 * (ZipNum), so that a player loads only the blocks that it needs.
 *
 * Memory: that of export_records(), and the sorter's; nothing grows with the file but 24
 * bytes a capture and one line of index.idx for INDEX_BLOCK captures.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/io/json.h"
#include "base/io/squeeze.h"
#include "base/io/zip.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/when.h"
#include "engine/export/export_records.h"
#include "warc/cdx.h"
#include "warc/cdx_sort.h"
#include "web/url/url.h"

#define VERSION "1.1.1"
#define INDEX_PLAIN 3000
#define INDEX_BLOCK 3000
#define MANIFEST "datapackage.json"
#define PACKED_INDEX "index.cdx.gz"

struct resource { char *name; uint64_t size; struct warc_digest digest; };

struct packing {
	struct export *e;
	struct zip_writer *zip;
	struct warc_hasher hasher;      /* of the open entry */
	uint64_t size;                  /* of it */
	VEC(struct resource) resources; /* the last of them may be open */
	bool open;
	/* archive/ */
	struct warc_writer_options about;
	struct warc_packer *packer;
	struct warc_packed info;
	uint64_t seed, n_ids;
	unsigned n_archives;
	char archive[32];
	/* indexes/ */
	struct cdx_sorter *sorter;
	uint64_t n_lines, n_emitted;
	struct buf url, surt, line, block, packed, idx;
	uint64_t packed_at;
	/* pages/ */
	struct store_capture page;      /* the newest that can be shown, of page.page */
	bool has_page;
	struct buf page_url, title, main_url;
	int64_t main_time;
};

/* ---- entries ---- */

static int begin_entry(struct packing *p, const char *name, struct err *err)
{
	struct resource r = { .name = mem_strdup(name) };

	vec_push(&p->resources, r);
	warc_hasher_begin(&p->hasher, WARC_SHA256);
	p->size = 0;
	p->open = true;
	return zip_writer_begin(p->zip, name, err);
}

static int add(struct packing *p, const void *data, size_t size, struct err *err)
{
	warc_hasher_add(&p->hasher, data, size);
	p->size += size;
	return zip_writer_add(p->zip, data, size, err);
}

static int end_entry(struct packing *p, struct err *err)
{
	struct resource *r = &p->resources.v[p->resources.n - 1];

	warc_hasher_end(&p->hasher, &r->digest);
	r->size = p->size;
	p->open = false;
	return zip_writer_end(p->zip, err);
}

static int whole_entry(struct packing *p, const char *name, const struct buf *data,
                       struct err *err)
{
	int rc = begin_entry(p, name, err);

	if (rc == 0)
		rc = add(p, buf_text(data), data->size, err);
	return rc < 0 ? rc : end_entry(p, err);
}

/* ---- archive/ ---- */

static struct warc_ids take_ids(void *arg)
{
	struct packing *p = arg;
	struct warc_ids ids = { p->seed, p->n_ids };

	p->n_ids += 2;
	return ids;
}

/* The next WARC file, with its warcinfo. */
static int begin_archive(struct packing *p, int64_t time, struct err *err)
{
	char name[64];
	int rc;

	snprintf(p->archive, sizeof p->archive, "data-%05u.warc.gz", p->n_archives++);
	snprintf(name, sizeof name, "archive/%s", p->archive);
	rc = begin_entry(p, name, err);
	if (rc == 0)
		rc = warc_pack_info(p->packer, &p->about, p->archive, time, take_ids(p), &p->info, err);
	return rc < 0 ? rc : add(p, p->info.members.data, p->info.members.size, err);
}

/* The line of a record for the index: under the URL that the record has. */
static int index_record(struct packing *p, const struct warc_packed *record, const char *url,
                        const struct store_capture *c, uint64_t offset, struct err *err)
{
	static const char revisit[] = "warc/revisit", unknown[] = "unk";       /* as pywb has them */
	char digest[WARC_DIGEST_TEXT];
	struct cdx_line line;
	int rc;

	buf_clear(&p->url);
	buf_clear(&p->surt);
	buf_clear(&p->line);
	rc = url_canonical(url, strlen(url), &p->url, err);
	if (rc < 0)
		return rc;
	url_surt(p->url.data, p->url.size, &p->surt);
	cdx_clear(&line);
	line.surt = (struct text){ p->surt.data, p->surt.size };
	line.url = (struct text){ url, strlen(url) };
	line.time = c->time;
	line.status = c->status ? c->status : -1;
	line.length = (int64_t)record->first;
	line.offset = (int64_t)offset;
	line.mime = c->revisit ? (struct text){ revisit, sizeof revisit - 1 } :
	            c->mime.s ? c->mime : (struct text){ unknown, sizeof unknown - 1 };
	line.filename = (struct text){ p->archive, strlen(p->archive) };
	if (record->payload.hash != WARC_HASH_NONE) {
		warc_digest_format(&record->payload, digest);
		line.digest = (struct text){ digest, strlen(digest) };
	}
	rc = cdx_write(&p->line, &line, false, err);
	if (rc < 0)
		return rc;
	p->n_lines++;
	return cdx_sorter_add(p->sorter, p->line.data, p->line.size - 1, err);
}

static int put_record(void *arg, const struct warc_packed *record, const char *url,
                      const struct store_capture *c, struct err *err)
{
	struct packing *p = arg;
	uint64_t offset;
	int rc = 0;

	if (p->open && p->size + record->members.size > WARC_FILE_MAX)
		rc = end_entry(p, err);
	if (rc == 0 && !p->open)
		rc = begin_archive(p, record->time, err);
	if (rc < 0)
		return rc;
	offset = p->size + record->at;
	rc = add(p, record->members.data, record->members.size, err);
	return rc < 0 ? rc : index_record(p, record, url, c, offset, err);
}

static int write_archives(struct packing *p, struct err *err)
{
	struct export_sink sink = { .ids = take_ids, .put = put_record, .arg = p };
	int rc = export_records(p->e, (struct warc_packing){ 0 }, &sink, err);

	if (rc == 0 && !p->n_archives)
		return err_set(err, E_USAGE, "no capture has its content at hand: there is nothing to "
		               "make a WACZ of");
	return rc < 0 ? rc : end_entry(p, err);
}

/* ---- indexes/ ---- */

static int emit_plain(void *arg, const char *line, size_t size, struct err *err)
{
	int rc = add(arg, line, size, err);

	return rc < 0 ? rc : add(arg, "\n", 1, err);
}

static int end_block(struct packing *p, struct err *err)
{
	struct warc_hasher hasher = { 0 };
	struct warc_digest digest;
	char text[WARC_DIGEST_TEXT];

	if (!p->block.size)
		return 0;
	buf_clear(&p->packed);
	squeeze_gzip(&p->packed, buf_text(&p->block), p->block.size);
	warc_hasher_begin(&hasher, WARC_SHA256);
	warc_hasher_add(&hasher, p->packed.data, p->packed.size);
	warc_hasher_end(&hasher, &digest);
	warc_hasher_release(&hasher);
	warc_digest_format(&digest, text);
	buf_printf(&p->idx, " {\"offset\": %llu, \"length\": %zu, \"digest\": \"%s\", "
	           "\"filename\": \"" PACKED_INDEX "\"}\n", (unsigned long long)p->packed_at,
	           p->packed.size, text);
	p->packed_at += p->packed.size;
	buf_clear(&p->block);
	return add(p, p->packed.data, p->packed.size, err);
}

static int emit_packed(void *arg, const char *line, size_t size, struct err *err)
{
	struct packing *p = arg;
	int rc = p->n_emitted % INDEX_BLOCK == 0 ? end_block(p, err) : 0;

	if (p->n_emitted++ % INDEX_BLOCK == 0) {
		const char *json = memmem(line, size, " {", 2);

		buf_add(&p->idx, line, json ? (size_t)(json - line) : size);
	}
	buf_add(&p->block, line, size);
	buf_byte(&p->block, '\n');
	return rc;
}

static int write_index(struct packing *p, struct err *err)
{
	bool plain = p->n_lines <= INDEX_PLAIN;
	int rc = begin_entry(p, plain ? "indexes/index.cdxj" : "indexes/" PACKED_INDEX, err);

	if (rc == 0)
		rc = cdx_sorter_finish(p->sorter, plain ? emit_plain : emit_packed, p, err);
	if (rc == 0)
		rc = end_block(p, err);
	if (rc == 0)
		rc = end_entry(p, err);
	if (rc < 0 || plain)
		return rc;
	return whole_entry(p, "indexes/index.idx", &p->idx, err);
}

/* ---- pages/ ---- */

/* The line of the page whose captures are over. */
static int end_page(struct packing *p, struct err *err)
{
	struct json j;
	char time[21], id[17];
	int rc;

	if (!p->has_page)
		return 0;
	p->has_page = false;
	when_iso(p->page.time, time);
	snprintf(id, sizeof id, "%016llx", (unsigned long long)
	         hash_bytes(p->page_url.data, p->page_url.size, 0));
	buf_clear(&p->line);
	json_to_buf(&j, &p->line);
	json_object(&j);
	json_kstr(&j, "id", id);
	json_key(&j, "url");
	json_strn(&j, p->page_url.data, p->page_url.size);
	json_kstr(&j, "ts", time);
	if (p->title.size) {
		json_key(&j, "title");
		json_strn(&j, p->title.data, p->title.size);
	}
	json_end_object(&j);
	json_newline(&j);
	if (!p->main_url.size) {
		buf_add(&p->main_url, p->page_url.data, p->page_url.size);
		p->main_time = p->page.time;
	}
	rc = add(p, p->line.data, p->line.size, err);
	return rc;
}

static bool is_html(const struct store_capture *c)
{
	return c->mime.s && ((c->mime.size == 9 && !memcmp(c->mime.s, "text/html", 9)) ||
	       (c->mime.size == 21 && !memcmp(c->mime.s, "application/xhtml+xml", 21)));
}

/* Captures come by page, and by time. */
static int note_page(void *arg, const struct store_capture *c, struct err *err)
{
	struct packing *p = arg;
	struct store_page page;
	int rc = 0;

	if (p->has_page && p->page.page != c->page)
		rc = end_page(p, err);
	if (rc < 0 || !c->file.s || c->offset < 0 || c->revisit || c->status != 200 || !is_html(c))
		return rc;
	buf_clear(&p->page_url);
	buf_clear(&p->title);
	if (c->target.s) {              /* redirects led there, and the record has that URL */
		buf_add(&p->page_url, c->target.s, c->target.size);
	} else {
		rc = store_page_get(p->e->store, c->page, &page, err);
		if (rc <= 0)
			return rc < 0 ? rc : 0;
		buf_add(&p->page_url, page.url.s, page.url.size);
	}
	buf_add(&p->title, c->title.s, c->title.size);
	p->page = (struct store_capture){ .page = c->page, .time = c->time };
	p->has_page = true;
	return 0;
}

static int write_pages(struct packing *p, struct err *err)
{
	static const char head[] =
		"{\"format\": \"json-pages-1.0\", \"id\": \"pages\", \"title\": \"All Pages\"}\n";
	int rc = begin_entry(p, "pages/pages.jsonl", err);

	if (rc == 0)
		rc = add(p, head, sizeof head - 1, err);
	if (rc == 0)
		rc = store_captures(p->e->store, NULL, 0, note_page, p, err);
	if (rc == 0)
		rc = end_page(p, err);
	return rc < 0 ? rc : end_entry(p, err);
}

/* ---- the manifest ---- */

static void put_manifest(const struct packing *p, int64_t now, struct buf *out)
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
	if (p->main_url.size) {
		json_key(&j, "mainPageUrl");
		json_strn(&j, p->main_url.data, p->main_url.size);
		when_iso(p->main_time, time);
		json_kstr(&j, "mainPageDate", time);
	}
	json_key(&j, "resources");
	json_array(&j);
	for (size_t i = 0; i < p->resources.n; i++) {
		const struct resource *r = &p->resources.v[i];

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

static int write_manifest(struct packing *p, int64_t now, struct err *err)
{
	char text[WARC_DIGEST_TEXT];
	struct buf manifest, digest;
	int rc;

	buf_init(&manifest, BUF_NO_LIMIT);
	buf_init(&digest, BUF_NO_LIMIT);
	put_manifest(p, now, &manifest);
	rc = whole_entry(p, MANIFEST, &manifest, err);
	if (rc == 0) {
		warc_digest_format(&p->resources.v[p->resources.n - 1].digest, text);
		buf_printf(&digest, "{\"path\": \"" MANIFEST "\", \"hash\": \"%s\"}\n", text);
		rc = whole_entry(p, "datapackage-digest.json", &digest, err);
	}
	buf_release(&manifest);
	buf_release(&digest);
	return rc;
}

int export_wacz(struct export *e, const char *to, uint64_t seed, int64_t now, struct err *err)
{
	struct packing p = { .e = e, .seed = seed, .about = { .software = "freshet/" FRESHET_VERSION } };
	struct buf *bufs[] = { &p.url, &p.surt, &p.line, &p.block, &p.packed, &p.idx, &p.page_url,
	                       &p.title, &p.main_url };
	int rc = zip_writer_open(&p.zip, to, now, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
		buf_init(bufs[i], BUF_NO_LIMIT);
	buf_str(&p.idx, "!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": \"" PACKED_INDEX "\"}\n");
	warc_packed_init(&p.info);
	p.packer = warc_packer_new((struct warc_packing){ 0 });
	p.sorter = cdx_sorter_new(CDX_SORT_MEMORY, e->folder);
	rc = write_archives(&p, err);
	if (rc == 0)
		rc = write_index(&p, err);
	if (rc == 0)
		rc = write_pages(&p, err);
	if (rc == 0)
		rc = write_manifest(&p, now, err);
	if (rc == 0)
		rc = zip_writer_close(p.zip, err);
	else
		zip_writer_abandon(p.zip);
	for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
		buf_release(bufs[i]);
	for (size_t i = 0; i < p.resources.n; i++)
		free(p.resources.v[i].name);
	vec_release(&p.resources);
	warc_hasher_release(&p.hasher);
	warc_packed_release(&p.info);
	warc_packer_free(p.packer);
	cdx_sorter_free(p.sorter);
	return rc;
}
