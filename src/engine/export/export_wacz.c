/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_wacz.c - a repository as one WACZ file (1.1.1); see export.h.
 *
 * The file (wacz.h) is written from front to back: WARC files as they are packed, the index,
 * the page list, the manifest.  All entries are stored, so that a player reads records and
 * parts of the index by ranges.
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
#include "base/map.h"
#include "base/when.h"
#include "engine/export/export_records.h"
#include "engine/export/wacz.h"
#include "warc/cdx.h"
#include "warc/cdx_sort.h"
#include "web/url/url.h"

#define INDEX_PLAIN 3000
#define INDEX_BLOCK 3000
#define PACKED_INDEX "index.cdx.gz"

struct packing {
	struct export *e;
	struct wacz wacz;
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
	struct buf page_url, title;
};

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
	rc = wacz_begin(&p->wacz, name, err);
	if (rc == 0)
		rc = warc_pack_info(p->packer, &p->about, p->archive, time, take_ids(p), &p->info, err);
	if (rc == 0)
		rc = wacz_add(&p->wacz, p->info.members.data, p->info.members.size, err);
	return rc;
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

	if (p->wacz.open && p->wacz.size + record->members.size > WARC_FILE_MAX)
		rc = wacz_end(&p->wacz, err);
	if (rc == 0 && !p->wacz.open)
		rc = begin_archive(p, record->time, err);
	if (rc < 0)
		return rc;
	offset = p->wacz.size + record->at;
	rc = wacz_add(&p->wacz, record->members.data, record->members.size, err);
	return rc < 0 ? rc : index_record(p, record, url, c, offset, err);
}

static int write_archives(struct packing *p, struct err *err)
{
	struct export_sink sink = { .ids = take_ids, .put = put_record, .arg = p };
	int rc = export_records(p->e, (struct warc_packing){ 0 }, &sink, err);

	if (rc == 0 && !p->n_archives)
		return err_set(err, E_USAGE, "no capture has its content at hand: there is nothing to "
		               "make a WACZ of");
	return rc < 0 ? rc : wacz_end(&p->wacz, err);
}

/* ---- indexes/ ---- */

static int emit_plain(void *arg, const char *line, size_t size, struct err *err)
{
	struct packing *p = arg;
	int rc = wacz_add(&p->wacz, line, size, err);

	return rc < 0 ? rc : wacz_add(&p->wacz, "\n", 1, err);
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
	return wacz_add(&p->wacz, p->packed.data, p->packed.size, err);
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
	int rc = wacz_begin(&p->wacz, plain ? "indexes/index.cdxj" : "indexes/" PACKED_INDEX,
	                    err);

	if (rc == 0)
		rc = cdx_sorter_finish(p->sorter, plain ? emit_plain : emit_packed, p, err);
	if (rc == 0)
		rc = end_block(p, err);
	if (rc == 0)
		rc = wacz_end(&p->wacz, err);
	if (rc < 0 || plain)
		return rc;
	return wacz_put(&p->wacz, "indexes/index.idx", &p->idx, err);
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
	if (!p->wacz.main_url.size) {
		buf_add(&p->wacz.main_url, p->page_url.data, p->page_url.size);
		p->wacz.main_time = p->page.time;
	}
	rc = wacz_add(&p->wacz, p->line.data, p->line.size, err);
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
	int rc = wacz_begin(&p->wacz, "pages/pages.jsonl", err);

	if (rc == 0)
		rc = wacz_add(&p->wacz, head, sizeof head - 1, err);
	if (rc == 0)
		rc = store_captures(p->e->store, NULL, 0, note_page, p, err);
	if (rc == 0)
		rc = end_page(p, err);
	return rc < 0 ? rc : wacz_end(&p->wacz, err);
}

int export_wacz(struct export *e, const char *to, uint64_t seed, int64_t now, struct err *err)
{
	struct packing p = { .e = e, .seed = seed, .about = { .software = "freshet/" FRESHET_VERSION } };
	struct buf *bufs[] = { &p.url, &p.surt, &p.line, &p.block, &p.packed, &p.idx, &p.page_url,
	                       &p.title };
	int rc = wacz_open(&p.wacz, to, now, err);

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
	rc = wacz_close(&p.wacz, now, rc, err);
	for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
		buf_release(bufs[i]);
	warc_packed_release(&p.info);
	warc_packer_free(p.packer);
	cdx_sorter_free(p.sorter);
	return rc;
}
