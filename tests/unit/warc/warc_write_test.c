/* SPDX-License-Identifier: Apache-2.0 */
/* What the writer writes, judged by the strict validator and read back. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "../../lib/pack.h"
#include "../../lib/scratch.h"
#include "../../lib/warc_valid.h"
#include "base/io/input.h"
#include "base/math/rng.h"
#include "base/mem.h"
#include "warc/warc.h"
#include "warc/warc_write.h"

static char folder[SCRATCH_PATH];

static int make_folder(void **state)
{
	(void)state;
	scratch_folder(folder, "warc");
	return 0;
}

static void slurp(const char *name, struct buf *b)
{
	char path[SCRATCH_LONG];
	struct stat st;
	int fd;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	buf_clear(b);
	assert_int_equal(read(fd, buf_room(b, (size_t)st.st_size), (size_t)st.st_size),
	                 st.st_size);
	b->size = (size_t)st.st_size;
	close(fd);
}

static struct warc_writer *open_writer(uint64_t file_max, uint64_t seed)
{
	struct warc_writer_options o = {
		.folder = folder, .prefix = "TEST", .host = "box", .software = "test/1",
		.operator = "me", .user_agent = "bot", .robots = "obey", .file_max = file_max,
		.seed = seed,
	};
	struct warc_writer *w;

	assert_int_equal(warc_writer_open(&w, &o, NULL), 0);
	return w;
}

static const char head_ok[] = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
static const char head_304[] = "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n";

static struct warc_capture capture_of(const char *url, int64_t time, const char *body,
                                      size_t size)
{
	return (struct warc_capture){
		.time = time, .url = url, .head = head_ok, .head_size = sizeof head_ok - 1,
		.body = body, .body_size = size,
	};
}

#define T0 1700000000                   /* 2023-11-14T22:13:20Z */

/* A response with its request, the same again as both kinds of revisit, and a
 * metadata record. */
static void write_some(struct warc_writer *w, struct warc_position place[5])
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
	struct warc_capture c = capture_of("http://a.example/", T0, "<html>one</html>", 16);
	struct warc_out meta = {
		.type = "metadata", .time = T0 + 5, .url = "http://a.example/",
		.content_type = "application/warc-fields", .block = "via: x\r\n", .block_size = 8,
	};

	c.request = request;
	c.request_size = sizeof request - 1;
	c.ip_address = "192.0.2.7";
	assert_int_equal(warc_write_capture(w, &c, &place[0], NULL), 0);
	c = capture_of("http://a.example/b", T0 + 1, NULL, 0);
	assert_int_equal(warc_write_capture(w, &c, &place[1], NULL), 0);
	c = capture_of("http://a.example/", T0 + 2, "<html>one</html>", 16);
	c.revisit = WARC_IDENTICAL_DIGEST;
	c.payload_digest = &place[0].payload;
	c.refers_to_url = "http://a.example/";
	c.refers_to_time = T0;
	c.refers_to_id = place[0].id;
	assert_int_equal(warc_write_capture(w, &c, &place[2], NULL), 0);
	c.revisit = WARC_NOT_MODIFIED;
	c.time = T0 + 3;
	c.head = head_304;
	c.head_size = sizeof head_304 - 1;
	c.body_size = 0;
	assert_int_equal(warc_write_capture(w, &c, &place[3], NULL), 0);
	meta.concurrent_to = place[0].id;
	assert_int_equal(warc_write_record(w, &meta, &place[4], NULL), 0);
}

static void test_valid(void **state)
{
	static const char *const types[] = { "warcinfo", "response", "request", "response",
	                                     "revisit", "revisit", "metadata" };
	static const size_t at[] = { 1, 3, 4, 5, 6 };
	struct warc_writer *w = open_writer(0, 1);
	struct warc_position place[5];
	struct valid_file f;
	struct buf b, again;

	(void)state;
	buf_init(&b, BUF_NO_LIMIT);
	buf_init(&again, BUF_NO_LIMIT);
	write_some(w, place);
	assert_int_equal(warc_writer_close(w, NULL), 0);
	assert_string_equal(place[0].filename, "TEST-20231114221320-00000-box.warc.gz");
	slurp(place[0].filename, &b);
	warc_valid(&f, place[0].filename, b.data, b.size);
	assert_string_equal(f.error, "");
	assert_int_equal(f.n, 7);
	for (size_t i = 0; i < 7; i++)
		assert_string_equal(f.v[i].type, types[i]);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(place[i].offset, f.v[at[i]].offset);
		assert_int_equal(place[i].length, f.v[at[i]].length);
		assert_string_equal(place[i].id, f.v[at[i]].id);
	}
	assert_string_equal(f.v[1].url, "http://a.example/");
	assert_string_equal(f.v[1].date, "2023-11-14T22:13:20Z");
	/* printf '<html>one</html>' | openssl sha1 -binary | base32 */
	assert_string_equal(f.v[1].digest, "sha1:3AWFGDTDX4O6YD6MBFOZMKJU6Y6572EZ");
	assert_string_equal(f.v[4].digest, f.v[1].digest);
	assert_string_equal(f.v[5].digest, f.v[1].digest);
	assert_string_equal(f.v[4].truncated, "length");
	assert_string_equal(f.v[5].truncated, "");
	warc_valid_release(&f);
	size_t first = place[0].offset;

	/* the same seed gives the same bytes, but never over a file that is there */
	w = open_writer(0, 1);
	write_some(w, place);
	assert_int_equal(warc_writer_close(w, NULL), 0);
	assert_string_equal(place[0].filename, "TEST-20231114221320-00001-box.warc.gz");
	slurp(place[0].filename, &again);
	size_t info = place[0].offset;
	assert_int_equal(b.size - first, again.size - info);
	assert_memory_equal(b.data + first, again.data + info, b.size - first);
	w = open_writer(0, 2);
	write_some(w, place);
	assert_int_equal(warc_writer_close(w, NULL), 0);
	slurp(place[0].filename, &again);
	assert_memory_not_equal(b.data + first, again.data + place[0].offset, place[0].length);
	buf_release(&b);
	buf_release(&again);
}

/* The validator must refuse: each rule broken once, by hand. */
static void test_validator_refuses(void **state)
{
	static const struct { const char *from, *to, *why; } changes[] = {
		{ "WARC/1.1", "WARC/1.0", "version" },
		{ "WARC-Type: response", "WARC-Type: resp0nse", "type" },
		{ "WARC-Date: 2023-11-14T22:13:20Z", "WARC-Date: 2023-11-14 22:13:20Z", "date" },
		{ "WARC-Record-ID", "WARC-Record-1D", "mandatory" },
		{ "Content-Length: 60", "Content-Length: 61", "length" },
		{ "one</html>", "0ne</html>", "digest" },
		{ "sha1:3AWF", "sha1:4AWF", "digest" },
		{ "WARC-Target-URI: ", "WARC-Target-UR1: ", "target" },
		{ "\r\nContent-Type: app", " \nContent-Type: app", "" },
	};
	struct warc_writer *w = open_writer(0, 1);
	struct warc_position place[5];
	struct buf file, text, packed;
	struct input *in;
	char block[4096];
	long n;

	(void)state;
	buf_init(&file, BUF_NO_LIMIT);
	buf_init(&text, BUF_NO_LIMIT);
	buf_init(&packed, BUF_NO_LIMIT);
	write_some(w, place);
	assert_int_equal(warc_writer_close(w, NULL), 0);
	slurp(place[0].filename, &file);
	/* the response alone, as text */
	assert_int_equal(input_open_memory(&in, file.data + place[0].offset, place[0].length, "m",
	                                   NULL), 0);
	while ((n = input_read(in, block, sizeof block, NULL)) > 0)
		buf_add(&text, block, (size_t)n);
	input_close(in);
	for (size_t i = 0; i <= sizeof changes / sizeof *changes; i++) {
		struct valid_file f;
		char *copy = mem_strndup(text.data, text.size), *at = NULL;

		if (i < sizeof changes / sizeof *changes) {
			at = strstr(copy, changes[i].from);
			assert_non_null(at);
			memcpy(at, changes[i].to, strlen(changes[i].to));
		}
		buf_clear(&packed);
		buf_add(&packed, file.data, place[0].offset);
		pack_gzip(&packed, copy, text.size);
		warc_valid(&f, place[0].filename, packed.data, packed.size);
		if (!at)
			assert_string_equal(f.error, "");
		else if (!*f.error || !strstr(f.error, changes[i].why))
			fail_msg("%s: '%s'", changes[i].to, f.error);
		warc_valid_release(&f);
		free(copy);
	}
	buf_release(&file);
	buf_release(&text);
	buf_release(&packed);
}

static void test_refused(void **state)
{
	static const char *const bad[] = { "", "http://a/\r\nX: y", "http://a/\n", "http://a/ b",
	                                   "http://a/\x01", "http://a/\x7f" };
	struct warc_writer *w = open_writer(0, 1);
	struct warc_digest digest = { .hash = WARC_SHA1, .size = 20 };
	struct warc_writer *none;
	struct warc_position place;
	struct warc_capture c;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		c = capture_of(bad[i], T0, "x", 1);
		assert_int_equal(warc_write_capture(w, &c, &place, &err), E_USAGE);
		c = capture_of("http://a/", T0, "x", 1);
		c.ip_address = bad[i];
		assert_int_equal(warc_write_capture(w, &c, &place, &err), E_USAGE);
		c.ip_address = NULL;
		c.truncated = bad[i];
		assert_int_equal(warc_write_capture(w, &c, &place, &err), E_USAGE);
		c.truncated = NULL;
		c.revisit = WARC_IDENTICAL_DIGEST;
		c.payload_digest = &digest;
		c.refers_to_url = bad[i];
		assert_int_equal(warc_write_capture(w, &c, &place, &err), E_USAGE);
	}
	c = capture_of("http://a/", T0, "x", 1);
	c.revisit = WARC_IDENTICAL_DIGEST;
	c.payload_digest = &digest;
	assert_int_equal(warc_write_capture(w, &c, &place, &err), E_USAGE);
	c.refers_to_url = "http://a/";
	c.payload_digest = NULL;
	assert_int_equal(warc_write_capture(w, &c, &place, &err), E_USAGE);
	c.payload_digest = &digest;
	c.revisit = WARC_NOT_MODIFIED;          /* but it says 200 */
	assert_int_equal(warc_write_capture(w, &c, &place, &err), E_USAGE);
	assert_non_null(strstr(err.text, "304"));
	/* nothing was written: no file */
	assert_int_equal(warc_writer_close(w, NULL), 0);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(mkdir(folder, 0700), 0);

	struct warc_writer_options o = { .folder = folder, .prefix = "../x", .host = "h" };
	assert_int_equal(warc_writer_open(&none, &o, &err), E_USAGE);
	o.prefix = "x";
	o.operator = "a\r\nb";
	assert_int_equal(warc_writer_open(&none, &o, &err), E_USAGE);
	o.operator = NULL;
	o.folder = "/nonexistent";
	assert_int_equal(warc_writer_open(&none, &o, &err), E_IO);
}

/* Files stay below the maximum, each valid on its own, every record in one. */
static void test_rotation(void **state)
{
	struct warc_writer *w = open_writer(50000, 3);
	struct warc_position place[60];
	char *body = mem_alloc(6000);
	struct rng r;
	struct buf b;
	int files = 0;

	(void)state;
	rng_init(&r, 1);
	for (int i = 0; i < 6000; i++)
		body[i] = (char)('a' + rng_below(&r, 26));
	for (int i = 0; i < 60; i++) {
		char url[64];
		struct warc_capture c = capture_of(url, T0 + i, body, 6000);

		snprintf(url, sizeof url, "http://a.example/%d", i);
		assert_int_equal(warc_write_capture(w, &c, &place[i], NULL), 0);
	}
	assert_int_equal(warc_writer_close(w, NULL), 0);
	buf_init(&b, BUF_NO_LIMIT);
	for (int i = 0; i < 60;) {
		struct valid_file f;

		slurp(place[i].filename, &b);
		assert_in_range(b.size, 1, 50000);
		warc_valid(&f, place[i].filename, b.data, b.size);
		assert_string_equal(f.error, "");
		for (size_t k = 1; k < f.n; k++, i++) {
			assert_int_equal(f.v[k].offset, place[i].offset);
			assert_string_equal(f.v[k].id, place[i].id);
		}
		warc_valid_release(&f);
		files++;
	}
	assert_in_range(files, 5, 10);
	buf_release(&b);
	free(body);
}

/* Names come from us alone, and nothing that has such a name is written through or over:
 * no link to elsewhere, no file that is there. */
static void test_links_in_the_folder(void **state)
{
	static const char body[] = "mine";
	static const char *const urls[] = { "http://a.example/../../etc/passwd",
		"http://a.example/%2e%2e%2fx", "http://..%2f.example/", "http://a.example/nul" };
	char victim[SCRATCH_PATH], path[SCRATCH_LONG];
	struct warc_position place;
	struct buf b;

	(void)state;
	scratch_file(victim, "victim", body, sizeof body - 1);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/TEST-20220101000000-%05d-box.warc.gz%s", folder, i,
		         i ? "" : ".open");
		assert_int_equal(symlink(victim, path), 0);
	}
	for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
		struct warc_writer *w = open_writer(0, 7);
		struct warc_capture c = capture_of(urls[i], 1640995200, body, sizeof body - 1);

		assert_int_equal(warc_write_capture(w, &c, &place, NULL), 0);
		assert_int_equal(warc_writer_close(w, NULL), 0);
		assert_null(strchr(place.filename, '/'));
		snprintf(path, sizeof path, "TEST-20220101000000-%05zu-box.warc.gz", i + 2);
		assert_string_equal(place.filename, path);
	}
	buf_init(&b, BUF_NO_LIMIT);
	snprintf(path, sizeof path, "../%s", strrchr(victim, '/') + 1);
	slurp(path, &b);
	assert_int_equal(b.size, sizeof body - 1);
	buf_release(&b);
}

static size_t count_records(const char *path, uint64_t *ret_damaged)
{
	struct warc_content c;
	struct warc_reader r;
	size_t n = 0;

	warc_content_init(&c, 1 << 20);
	assert_int_equal(warc_open(&r, path, NULL), 0);
	while (warc_next(&r, NULL) > 0)
		n += warc_load(&r, &c, NULL) == 1;
	*ret_damaged = r.n_damaged;
	warc_close(&r);
	warc_content_release(&c);
	return n;
}

/* Not closed: the file keeps its open name and what was synced is all there. */
static void test_crash(void **state)
{
	struct warc_writer *w = open_writer(0, 4);
	struct warc_position place[5];
	char path[SCRATCH_LONG];
	uint64_t damaged;

	(void)state;
	write_some(w, place);
	assert_int_equal(warc_writer_sync(w, NULL), 0);
	write_some(w, place);
	warc_writer_abandon(w);
	snprintf(path, sizeof path, "%s/%s", folder, place[0].filename);
	assert_int_equal(access(path, F_OK), -1);
	strcat(path, ".open");
	assert_int_equal(count_records(path, &damaged), 7);
	assert_int_equal(damaged, 0);
}

/* The disk is full in the middle of a record: an error, and a file that reads. */
static void test_disk_full(void **state)
{
	struct rlimit old, small;
	struct warc_writer *w = open_writer(0, 5);
	char *body = mem_alloc(300000), path[SCRATCH_LONG] = "";
	struct warc_position place;
	struct rng r;
	uint64_t damaged;
	struct err err;
	int rc = 0, written = 0;

	(void)state;
	rng_init(&r, 1);
	for (int i = 0; i < 300000; i++)
		body[i] = (char)rng_next(&r);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 2 << 20;
	setrlimit(RLIMIT_FSIZE, &small);
	while (rc == 0 && written < 100) {
		struct warc_capture c = capture_of("http://a.example/", T0, body, 300000);

		rc = warc_write_capture(w, &c, &place, &err);
		if (rc == 0)
			snprintf(path, sizeof path, "%s/%s", folder, place.filename);
		written++;
	}
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(rc, E_IO);
	struct warc_capture c = capture_of("http://a.example/", T0, body, 300000);
	assert_int_equal(warc_write_capture(w, &c, &place, &err), E_IO);
	assert_int_equal(warc_writer_close(w, NULL), 0);
	assert_in_range(count_records(path, &damaged), 2, written);
	assert_int_equal(damaged, 0);
	free(body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_valid, make_folder),
		cmocka_unit_test_setup(test_validator_refuses, make_folder),
		cmocka_unit_test_setup(test_refused, make_folder),
		cmocka_unit_test_setup(test_rotation, make_folder),
		cmocka_unit_test_setup(test_links_in_the_folder, make_folder),
		cmocka_unit_test_setup(test_crash, make_folder),
		cmocka_unit_test_setup(test_disk_full, make_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
