/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_warc - reading and writing archives against the tools everybody has.
 *
 * Read: every record of a .warc.gz with its HTTP head parsed and both digests
 * checked, against `zcat FILE >/dev/null`; at most 1.3 times its time.
 * Write: SHA-1 of block and payload, gzip, file, against the same with zlib -6;
 * at least 4 times as fast.  Processor time, the best of three rounds each.
 *
 * FRESHET_DATA/warc/sites.warc.gz if that is set, else 64 MB of made-up pages.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include "base/math/rng.h"
#include "base/mem.h"
#include "warc/warc.h"
#include "warc/warc_write.h"

#define KEEP_MAX ((size_t)256 << 20)    /* bytes of pages held for writing */
#define ROUNDS 3

struct page {
	char *url, *head, *body;
	size_t head_size, body_size;
	int64_t time;
};

struct pages { struct page *v; size_t n, cap; size_t bytes; };

static double cpu(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static void fail(const struct err *err)
{
	fprintf(stderr, "bench_warc: %s\n", err->text);
	exit(1);
}

/* Text of a page: words of a skewed vocabulary between tags. */
static void make_pages(struct pages *p)
{
	struct rng r;

	rng_init(&r, 1);
	for (int i = 0; p->bytes < 64u << 20; i++) {
		struct page g = { .time = 1700000000 + i };
		struct buf b;
		char url[64];

		buf_init(&b, BUF_NO_LIMIT);
		for (uint64_t n = 200 + rng_below(&r, 3000); n > 0; n--) {
			uint64_t w = rng_below(&r, 4000) * rng_below(&r, 4000) / 4000;

			if (n % 17 == 0)
				buf_printf(&b, "</p>\n<p class=\"c%u\"><a href=\"/p%u.html\">",
				           (unsigned)(w % 9), (unsigned)w);
			buf_printf(&b, "%c%xw ", 'a' + (int)(w % 26), (unsigned)(w * 2654435761u % 65521));
		}
		snprintf(url, sizeof url, "http://a.example/p%d.html", i);
		g.url = mem_strdup(url);
		g.head = mem_strdup("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n");
		g.head_size = strlen(g.head);
		g.body = b.data;
		g.body_size = b.size;
		p->bytes += g.head_size + g.body_size;
		vec_push(p, g);
	}
}

/* Read the whole archive; with pages, keep what is in it. */
static size_t read_archive(const char *path, struct pages *keep)
{
	struct warc_content c;
	struct warc_reader r;
	struct err err;
	size_t bytes = 0;
	int rc;

	if (warc_open(&r, path, &err) < 0)
		fail(&err);
	warc_content_init(&c, 32 << 20);
	while ((rc = warc_next(&r, &err)) > 0) {
		if (warc_load(&r, &c, &err) != 1)
			continue;
		bytes += (size_t)r.record.length;
		if (!keep || !c.is_http || !r.record.target_uri || keep->bytes > KEEP_MAX)
			continue;
		vec_push(keep, ((struct page){
			.url = mem_strndup(r.record.target_uri->value, r.record.target_uri->value_size),
			.head = mem_strndup(c.head.data, c.head.size), .head_size = c.head.size,
			.body = mem_strndup(buf_text(&c.body), c.body.size),
			.body_size = c.body.size, .time = r.record.time }));
		keep->bytes += c.head.size + c.body.size;
	}
	if (rc < 0)
		fail(&err);
	if (r.n_damaged)
		printf("  %llu records damaged\n", (unsigned long long)r.n_damaged);
	warc_content_release(&c);
	warc_close(&r);
	return bytes;
}

static double write_ours(const struct pages *p, const char *folder, char *ret_name)
{
	struct warc_writer_options o = { .folder = folder, .prefix = "bench", .host = "box",
	                                 .file_max = UINT64_C(1) << 40, .seed = 1 };
	double t = cpu(RUSAGE_SELF);
	struct warc_writer *w;
	struct warc_position place = { .filename = "" };
	struct err err;

	if (warc_writer_open(&w, &o, &err) < 0)
		fail(&err);
	for (size_t i = 0; i < p->n; i++) {
		const struct page *g = &p->v[i];
		struct warc_capture c = { .time = g->time, .url = g->url, .head = g->head,
		                          .head_size = g->head_size, .body = g->body,
		                          .body_size = g->body_size };

		if (warc_write_capture(w, &c, &place, &err) < 0)
			fail(&err);
	}
	if (warc_writer_close(w, &err) < 0)
		fail(&err);
	snprintf(ret_name, 400, "%s/%s", folder, place.filename);
	return cpu(RUSAGE_SELF) - t;
}

/* What a plain writer does: both digests, one deflate stream a record. */
static double write_zlib(const struct pages *p, const char *path)
{
	double t = cpu(RUSAGE_SELF);
	FILE *f = fopen(path, "wb");
	struct warc_hasher sha = { 0 };
	z_stream z = { 0 };
	char head[400], *out = NULL;
	size_t cap = 0;

	if (!f || deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		exit(1);
	for (size_t i = 0; i < p->n; i++) {
		const struct page *g = &p->v[i];
		struct warc_digest block, payload;
		struct { const char *data; size_t size; } piece[4];

		warc_hasher_begin(&sha, WARC_SHA1);
		warc_hasher_add(&sha, g->head, g->head_size);
		warc_hasher_add(&sha, g->body, g->body_size);
		warc_hasher_end(&sha, &block);
		warc_hasher_begin(&sha, WARC_SHA1);
		warc_hasher_add(&sha, g->body, g->body_size);
		warc_hasher_end(&sha, &payload);
		snprintf(head, sizeof head, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Date: "
		         "2023-11-14T22:13:20Z\r\nWARC-Target-URI: %.200s\r\nWARC-Block-Digest: "
		         "%02x\r\nContent-Length: %zu\r\n\r\n", g->url, block.bytes[0] ^ payload.bytes[0],
		         g->head_size + g->body_size);
		piece[0].data = head; piece[0].size = strlen(head);
		piece[1].data = g->head; piece[1].size = g->head_size;
		piece[2].data = g->body; piece[2].size = g->body_size;
		piece[3].data = "\r\n\r\n"; piece[3].size = 4;
		deflateReset(&z);
		mem_grow((void **)&out, &cap, g->head_size + g->body_size + 2000, 1);
		z.next_out = (Bytef *)out;
		z.avail_out = (uInt)cap;
		for (int k = 0; k < 4; k++) {
			z.next_in = (Bytef *)(uintptr_t)piece[k].data;
			z.avail_in = (uInt)piece[k].size;
			deflate(&z, k == 3 ? Z_FINISH : Z_NO_FLUSH);
		}
		fwrite(out, 1, z.total_out, f);
	}
	deflateEnd(&z);
	warc_hasher_release(&sha);
	free(out);
	fclose(f);
	return cpu(RUSAGE_SELF) - t;
}

static double zcat(const char *path)
{
	double t = cpu(RUSAGE_CHILDREN);
	char command[512];

	snprintf(command, sizeof command, "zcat '%s' >/dev/null", path);
	if (system(command))
		exit(1);
	return cpu(RUSAGE_CHILDREN) - t;
}

static void bench_read(const char *path)
{
	double ours = 1e9, peer = 1e9;
	size_t bytes = 0;

	for (int i = 0; i < ROUNDS; i++) {
		double t = cpu(RUSAGE_SELF), z;

		bytes = read_archive(path, NULL);
		t = cpu(RUSAGE_SELF) - t;
		z = zcat(path);
		ours = t < ours ? t : ours;
		peer = z < peer ? z : peer;
	}
	printf("read %.0f MB of records, digests checked: %.3f s (%.0f MB/s); zcat %.3f s; "
	       "ratio %.2f (at most 1.3)\n", (double)bytes * 1e-6, ours,
	       (double)bytes * 1e-6 / ours, peer, ours / peer);
}

static void bench_write(const struct pages *p, const char *folder)
{
	double ours = 1e9, peer = 1e9, mb = (double)p->bytes * 1e-6;
	char name[400], other[400];
	long size[2] = { 0 };

	snprintf(other, sizeof other, "%s/zlib.warc.gz", folder);
	for (int i = 0; i < ROUNDS; i++) {
		double t = write_ours(p, folder, name), z = write_zlib(p, other);
		FILE *f[2] = { fopen(name, "rb"), fopen(other, "rb") };

		for (int k = 0; k < 2; k++) {
			fseek(f[k], 0, SEEK_END);
			size[k] = ftell(f[k]);
			fclose(f[k]);
		}
		unlink(name);
		unlink(other);
		ours = t < ours ? t : ours;
		peer = z < peer ? z : peer;
	}
	printf("write %.0f MB of pages, SHA-1 and gzip: %.3f s (%.0f MB/s, %.2f:1); zlib -6 "
	       "%.3f s (%.0f MB/s, %.2f:1); %.1f times as fast (at least 4)\n", mb, ours,
	       mb / ours, (double)p->bytes / (double)size[0], peer, mb / peer,
	       (double)p->bytes / (double)size[1], peer / ours);
}

int main(void)
{
	const char *data = getenv("FRESHET_DATA");
	char folder[] = "/tmp/freshet-bench-XXXXXX", path[500] = "";
	struct pages pages = { 0 };
	bool own = !data;

	if (!mkdtemp(folder))
		return 1;
	if (data) {
		snprintf(path, sizeof path, "%s/warc/sites.warc.gz", data);
		read_archive(path, &pages);
	} else {
		make_pages(&pages);
		write_ours(&pages, folder, path);
	}
	bench_read(path);
	if (own)
		unlink(path);
	bench_write(&pages, folder);
	for (size_t i = 0; i < pages.n; i++) {
		free(pages.v[i].url);
		free(pages.v[i].head);
		free(pages.v[i].body);
	}
	free(pages.v);
	rmdir(folder);
	return 0;
}
