/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_cdxj - parsing uncompressed extended CDXJ, one core, at least 400 MB/s.
 *
 * The peers, over the same file in the same run: getline(3), which only finds the
 * lines, and Python's json module on a part of it.  Ours reads the file from the
 * disk cache, parses every field, and, the second time, every term and link too.
 *
 * FRESHET_DATA/trace/(some).cdxj.gz if that is set, else lines made up here.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io/input.h"
#include "base/math/rng.h"
#include "clock.h"
#include "warc/cdx.h"

#define BYTES_MAX ((uint64_t)200 << 20)
#define ROUNDS 3

static uint64_t copy_traces(const char *data, FILE *to)
{
	char pattern[500];
	uint64_t bytes = 0;
	glob_t g;

	snprintf(pattern, sizeof pattern, "%s/trace/*.cdxj.gz", data);
	if (glob(pattern, 0, NULL, &g))
		return 0;
	for (size_t i = 0; i < g.gl_pathc && bytes < BYTES_MAX; i++) {
		struct input *in;
		const char *p;
		size_t n;

		if (input_open(&in, g.gl_pathv[i], NULL) < 0)
			continue;
		while (input_peek(in, 1, &p, &n, NULL) == 0 && n) {
			bytes += fwrite(p, 1, n, to);
			input_skip(in, n);
		}
		input_close(in);
	}
	globfree(&g);
	return bytes;
}

/* Lines of the size and shape a crawl's have. */
static uint64_t make_traces(FILE *to)
{
	uint64_t bytes = 0;
	struct cdx_line l;
	struct buf out, terms, links;
	char url[80], surt[80];
	struct rng r;

	rng_init(&r, 1);
	buf_init(&out, BUF_NO_LIMIT);
	buf_init(&terms, BUF_NO_LIMIT);
	buf_init(&links, BUF_NO_LIMIT);
	for (unsigned i = 0; bytes < BYTES_MAX; i++) {
		cdx_clear(&l);
		snprintf(surt, sizeof surt, "org,example)/docs/page%u.html", i / 3);
		snprintf(url, sizeof url, "http://example.org/docs/page%u.html", i / 3);
		buf_clear(&terms);
		buf_clear(&links);
		for (uint64_t n = rng_below(&r, 150); n > 0; n--)
			buf_printf(&terms, "%u:%u ", (unsigned)rng_below(&r, 1000),
			           1 + (unsigned)rng_below(&r, 4));
		for (uint64_t n = rng_below(&r, 60); n > 0; n--)
			buf_printf(&links, "/docs/page%u.html ", (unsigned)rng_below(&r, 100000));
		l.surt = (struct text){ surt, strlen(surt) };
		l.url = (struct text){ url, strlen(url) };
		l.time = 1664582400 + i % 3 * 86400;
		l.mime = (struct text){ "text/html", 9 };
		l.digest = (struct text){ "EAMI3NY55X3QYGC5I33KKMLFVSAHRSFX", 32 };
		l.status = 200;
		l.length = l.text = l.words = (int64_t)rng_below(&r, 30000);
		l.images = l.tables = l.emails = l.outlinks = (int64_t)rng_below(&r, 30);
		l.tags = l.prose = (struct text){ "8fb507af327482e5", 16 };
		l.terms = (struct text){ buf_text(&terms), terms.size };
		l.links = (struct text){ buf_text(&links), links.size };
		buf_clear(&out);
		if (cdx_write(&out, &l, true, NULL) < 0)
			exit(1);
		bytes += fwrite(out.data, 1, out.size, to);
	}
	buf_release(&out);
	buf_release(&terms);
	buf_release(&links);
	return bytes;
}

static double parse(const char *path, bool deep, uint64_t *ret_lines, uint64_t *ret_sum)
{
	double t = cpu_now();
	struct cdx_reader r;
	struct cdx_line l;
	struct err err;
	uint64_t sum = 0;

	if (cdx_open(&r, path, &err) < 0) {
		fprintf(stderr, "bench_cdxj: %s\n", err.text);
		exit(1);
	}
	while (cdx_next(&r, &l, &err) > 0) {
		struct text link;
		uint32_t id, n;

		sum += (uint64_t)l.status + l.url.size;
		if (!deep)
			continue;
		while (l.terms.s && cdx_next_term(&l.terms, &id, &n))
			sum += id * n;
		while (l.links.s && text_word(&l.links, &link))
			sum += link.size;
	}
	*ret_lines = r.n_lines;
	*ret_sum = sum;
	if (r.n_bad)
		printf("  %llu bad lines\n", (unsigned long long)r.n_bad);
	cdx_close(&r);
	return cpu_now() - t;
}

static double lines_only(const char *path)
{
	double t = cpu_now();
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t cap = 0;

	while (f && getline(&line, &cap, f) > 0)
		;
	if (f)
		fclose(f);
	free(line);
	return cpu_now() - t;
}

/* Seconds per 32 MB that Python needs; 0 without Python. */
static double python(const char *path)
{
	char command[700], answer[64] = "";
	FILE *p;

	snprintf(command, sizeof command,
	         "python3 -c 'import json,time\nt=time.process_time()\nn=0\n"
	         "for l in open(\"%s\"):\n n+=len(l);json.loads(l.split(\" \",2)[2])\n"
	         " if n>32<<20: break\nprint((time.process_time()-t)/n*(32<<20))' 2>/dev/null", path);
	p = popen(command, "r");
	if (p) {
		if (!fgets(answer, sizeof answer, p))
			answer[0] = '\0';
		pclose(p);
	}
	return atof(answer);
}

int main(void)
{
	const char *data = getenv("FRESHET_DATA");
	char path[] = "/tmp/freshet-bench-XXXXXX";
	double best[3] = { 1e9, 1e9, 1e9 }, mb, py;
	uint64_t bytes, lines = 0, sum;
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f)
		return 1;
	bytes = data ? copy_traces(data, f) : make_traces(f);
	fclose(f);
	mb = (double)bytes * 1e-6;
	for (int i = 0; i < ROUNDS; i++) {
		double t[3] = { parse(path, false, &lines, &sum), parse(path, true, &lines, &sum),
		                lines_only(path) };

		for (int k = 0; k < 3; k++)
			best[k] = t[k] < best[k] ? t[k] : best[k];
	}
	py = python(path);
	printf("extended CDXJ, %.0f MB, %llu lines: %.0f MB/s (at least 400); with every term "
	       "and link %.0f MB/s; getline alone %.0f MB/s, ratio %.2f\n", mb,
	       (unsigned long long)lines, mb / best[0], mb / best[1], mb / best[2],
	       best[0] / best[2]);
	if (py > 0)
		printf("Python's json: %.0f MB/s; ours is %.0f times as fast\n", 33.55 / py,
		       mb / best[0] / (33.55 / py));
	unlink(path);
	return 0;
}
