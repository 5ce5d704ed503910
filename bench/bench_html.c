/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_html.c - reading pages, against libxml2's SAX parser.
 *
 * Three readers over the same pages, CPU time on one core, alternating, the best
 * of ROUNDS each:
 *   libxml2     html_sax.h: tags, links and words counted
 *   tokenizer   web/html/html.h, every reference in text and values decoded
 *   extraction  web/page/extract.h: text, words, links resolved, counts, all digests
 * FRESHET_DATA names a folder (WARCs or HTML files) or a file; without it pages
 * are made up.
 */
#include "clock.h"
#include "html_pages.h"
#include "html_sax.h"
#include "web/html/html.h"
#include "web/page/extract.h"

#define ROUNDS 5

static struct sax_sums run_libxml2(const struct html_pages *ps)
{
	struct sax_sums s = { 0 };

	for (size_t i = 0; i < ps->list.n; i++)
		sax_read(ps->list.v[i].data, ps->list.v[i].size, &s);
	return s;
}

static struct sax_sums run_tokenizer(const struct html_pages *ps)
{
	struct sax_sums s = { 0 };
	struct html t;

	html_init(&t, NULL, 0);
	for (size_t i = 0; i < ps->list.n; i++) {
		enum html_kind kind;

		html_reset(&t, ps->list.v[i].data, ps->list.v[i].size);
		while ((kind = html_next(&t)) != HTML_END) {
			if (kind == HTML_TEXT)
				s.bytes += t.token.text.size;
			if (kind != HTML_START_TAG)
				continue;
			s.tags++;
			for (size_t k = 0; k < t.token.n_attrs; k++) {
				struct html_attr *a = &t.token.attrs[k];

				html_value(&t, a);
				s.links += t.token.tag == TAG_a && a->name_size == 4 &&
				           !memcmp(a->name, "href", 4);
			}
		}
	}
	html_release(&t);
	return s;
}

static struct sax_sums run_extract(const struct html_pages *ps)
{
	struct sax_sums s = { 0 };
	struct extract x = { 0 };

	for (size_t i = 0; i < ps->list.n; i++) {
		struct extract_input in = { ps->list.v[i].data, ps->list.v[i].size,
		                            "text/html; charset=utf-8", ps->list.v[i].url };
		const struct page *p = extract_page(&x, &in, NULL);

		s.words += p->words;
		s.links += p->outlinks;
		s.bytes += p->text_size;
	}
	extract_release(&x);
	return s;
}

int main(void)
{
	static const struct {
		const char *name;
		struct sax_sums (*run)(const struct html_pages *);
		double target;
	} readers[] = {
		{ "libxml2 SAX", run_libxml2, 0 },
		{ "tokenizer", run_tokenizer, 8 },
		{ "full extraction", run_extract, 5 },
	};
	double best[3] = { 0 };
	struct sax_sums sums[3];
	struct html_pages ps = { 0 };

	pages_load(&ps, getenv("FRESHET_DATA"));
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < 3; i++) {
			double start = cpu_now(), took;

			if (i == 0 && round >= 2)
				continue;       /* the slow one twice */
			sums[i] = readers[i].run(&ps);
			took = cpu_now() - start;
			if (best[i] <= 0 || took < best[i])
				best[i] = took;
		}
	printf("%zu pages, %.1f MB\n", ps.list.n, (double)ps.bytes * 1e-6);
	printf("%-16s %9s %9s %8s %8s  %10s %10s %10s\n", "reader", "MB/s", "pages/s",
	       "ratio", "target", "tags", "links", "words");
	for (int i = 0; i < 3; i++)
		printf("%-16s %9.0f %9.0f %7.1fx %7.0fx  %10llu %10llu %10llu\n", readers[i].name,
		       (double)ps.bytes * 1e-6 / best[i], (double)ps.list.n / best[i],
		       best[0] / best[i], readers[i].target, (unsigned long long)sums[i].tags,
		       (unsigned long long)sums[i].links, (unsigned long long)sums[i].words);
	return 0;
}
