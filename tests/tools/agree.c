/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree.c - the reader and the naive reader on real pages.
 *
 *   FRESHET_DATA=folder of WARCs or pages make agree
 *
 * Every page's text, words, images, tables, e-mail addresses, out-links and tag
 * skeleton must be the same.
 */
#include "../../bench/html_pages.h"
#include "../lib/naive_page.h"
#include "web/page/extract.h"

int main(void)
{
	struct html_pages ps = { 0 };
	struct extract x = { 0 };
	size_t bad = 0;
	uint64_t words = 0, links = 0, images = 0, tables = 0, emails = 0, tags = 0;

	pages_load(&ps, getenv("FRESHET_DATA"));
	for (size_t i = 0; i < ps.list.n; i++) {
		struct extract_input in = { ps.list.v[i].data, ps.list.v[i].size,
		                            "text/html; charset=utf-8", ps.list.v[i].url };
		const struct page *p = extract_page(&x, &in, NULL);
		struct encoding e = { 0 };
		struct naive_page n;
		const char *text;
		size_t size;

		encoding_decode(&e, in.data, in.size, "utf-8", 5, EXTRACT_SIZE_MAX, &text, &size);
		naive_read(&n, text, size);
		if (p->text_size != n.text.size || memcmp(p->text, buf_text(&n.text), n.text.size) ||
		    p->words != n.words || p->images != n.images || p->tables != n.tables ||
		    p->emails != n.emails || p->outlinks != n.outlinks ||
		    p->digest.tags != digest_64(buf_text(&n.skeleton), n.skeleton.size)) {
			bad++;
			printf("%s: text %zu %zu words %llu %llu images %u %u tables %u %u emails "
			       "%u %u links %u %u\n", ps.list.v[i].url, p->text_size, n.text.size,
			       (unsigned long long)p->words, (unsigned long long)n.words, p->images,
			       n.images, p->tables, n.tables, p->emails, n.emails, p->outlinks,
			       n.outlinks);
		}
		words += n.words;
		links += n.outlinks;
		images += n.images;
		tables += n.tables;
		emails += n.emails;
		tags += n.tags;
		naive_release(&n);
		encoding_release(&e);
	}
	printf("%zu pages, %zu disagree; %llu tags, %llu words, %llu links, %llu images, "
	       "%llu tables, %llu e-mail addresses\n", ps.list.n, bad, (unsigned long long)tags,
	       (unsigned long long)words, (unsigned long long)links, (unsigned long long)images,
	       (unsigned long long)tables, (unsigned long long)emails);
	extract_release(&x);
	return bad != 0 || !ps.list.n;
}
