/* SPDX-License-Identifier: Apache-2.0 */
/* features.c - filling the table of features; see features.h. */
#include "web/page/features.h"

#include <math.h>
#include <string.h>

#include "web/url/url.h"

const struct feature_row feature_rows[FEATURE_COUNT] = {
#define FEATURE(name, group, description) { #name, description, FEATURES_##group },
#include "web/page/feature_list.def"
#undef FEATURE
};

static double relative(double new, double old)
{
	return fabs(new - old) / (1 + old);
}

static void fill_address(double *ret, const char *url)
{
	static const char tlds[][4] = { "com", "edu", "gov", "org", "net", "mil" };
	struct url_parts parts;
	size_t size = strlen(url);
	const char *end;

	url_split(url, size, &parts);
	ret[FEATURE_depth] = url_depth(url, size);
	end = url + parts.host_end;
	if (parts.host_end - parts.host < 5 || end[-4] != '.')
		return;
	for (int i = 0; i < 6; i++)
		ret[FEATURE_tld_com + i] = !memcmp(end - 3, tlds[i], 3);
}

static void fill_dynamic(double *ret, const struct feature_input *in)
{
	const struct feature_copy *a = in->before, *b = in->copy;

	ret[FEATURE_similarity] = a ? in->similarity : 1;
	if (!a)
		return;
	ret[FEATURE_change_images] = relative(b->images, a->images);
	ret[FEATURE_change_tables] = relative(b->tables, a->tables);
	ret[FEATURE_change_size] = relative(b->size, a->size);
	ret[FEATURE_change_words] = relative(b->words, a->words);
	ret[FEATURE_change_pagerank] = relative(b->pagerank, a->pagerank);
	ret[FEATURE_change_in_links] = relative(b->in_links, a->in_links);
	ret[FEATURE_change_out_links] = relative(b->out_links, a->out_links);
	ret[FEATURE_change_emails] = relative(b->emails, a->emails);
	ret[FEATURE_change_frequency] = in->change_frequency;
}

void features_fill(double ret[FEATURE_COUNT], const struct feature_input *in)
{
	const struct feature_copy *c = in->copy;

	memset(ret, 0, FEATURE_COUNT * sizeof *ret);
	for (int i = 0; i < FEATURE_RANKS; i++) {
		ret[FEATURE_text_rank_1 + i] = in->text_ranks ? in->text_ranks[i] : 0;
		ret[FEATURE_url_rank_1 + i] = in->url_ranks ? in->url_ranks[i] : 0;
	}
	ret[FEATURE_images] = c->images;
	ret[FEATURE_tables] = c->tables;
	ret[FEATURE_words] = c->words;
	ret[FEATURE_size] = c->size;
	ret[FEATURE_is_html] = c->type == PAGE_HTML;
	ret[FEATURE_is_text] = c->type == PAGE_TEXT;
	ret[FEATURE_is_other] = c->type == PAGE_OTHER;
	fill_address(ret, in->url);
	ret[FEATURE_pagerank] = c->pagerank;
	ret[FEATURE_in_links] = c->in_links;
	ret[FEATURE_out_links] = c->out_links;
	ret[FEATURE_emails] = c->emails;
	fill_dynamic(ret, in);
}
