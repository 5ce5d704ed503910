/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_print.c - see cluster_print.h. */
#include "cli/print/cluster_print.h"

#include <stdio.h>
#include <string.h>

#include "cli/frame/command.h"

static const char *const set_names[] = {
	"url", "content", "url+content", "static", "dynamic", "combined", "first-copy",
};

static double mean_cosine(const struct cluster_output *o)
{
	return o->clusters.n_members ? o->clusters.criterion / o->clusters.n_members : 0;
}

/* "word word" for words, "column+ column-" for columns above and below. */
static void traits_text(const struct cluster_output *o, const struct described *d, char *out,
                        size_t size)
{
	size_t at = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < d->n_traits && at < size; i++) {
		char buf[32];
		const char *name = describe_name(o->features, o->set, d->trait[i], o->words, buf);
		const char *sign = o->set < SET_STATIC ? "" :
		                   d->here[i] > d->everywhere[i] ? "+" : "-";

		at += (size_t)snprintf(out + at, size - at, "%s%.24s%s", i ? " " : "", name, sign);
	}
}

/* What a column above or below the usual says of pages, in words; ranks and others that say
 * nothing to a reader are left out. */
static const char *trait_words(const char *column, bool above)
{
	static const struct { const char *column, *above, *below; } words[] = {
		{ "images", "many images", "few images" }, { "tables", "many tables", "few tables" },
		{ "words", "long text", "little text" }, { "size", "long text", "little text" },
		{ "is_html", "HTML", "not HTML" }, { "is_text", "plain text", NULL },
		{ "is_other", "other files", NULL }, { "depth", "deep paths", "near the top" },
		{ "tld_com", ".com", NULL }, { "tld_edu", ".edu", NULL }, { "tld_gov", ".gov", NULL },
		{ "tld_org", ".org", NULL }, { "tld_net", ".net", NULL }, { "tld_mil", ".mil", NULL },
		{ "pagerank", "well linked", "hardly linked" },
		{ "in_links", "well linked", "hardly linked" },
		{ "out_links", "many links", "few links" }, { "emails", "e-mail addresses", NULL },
		{ "similarity", "changing little", "changing much" },
		{ "change_images", "images change", NULL }, { "change_tables", "tables change", NULL },
		{ "change_size", "length changes", NULL }, { "change_words", "length changes", NULL },
		{ "change_pagerank", "links to it change", NULL },
		{ "change_in_links", "links to it change", NULL },
		{ "change_out_links", "links change", "links stay" },
		{ "change_emails", "addresses change", NULL },
		{ "change_frequency", "often changed", "seldom changed" },
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(words[i].column, column))
			return above ? words[i].above : words[i].below;
	return NULL;
}

/* A name that a person understands: up to three traits in words, and where the pages lie. */
static void name_text(const struct cluster_output *o, const struct described *d, char *out,
                      size_t size)
{
	const char *site = d->site_size[0] ? strtab_get(&o->pages->site_names, d->site[0]) : "?";
	size_t at = 0;
	int n = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < d->n_traits && at < size && n < 3; i++) {
		char buf[32], quoted[40];
		const char *name = describe_name(o->features, o->set, d->trait[i], o->words, buf);

		if (o->set >= SET_STATIC) {
			name = trait_words(name, d->here[i] > d->everywhere[i]);
		} else {
			snprintf(quoted, sizeof quoted, "\"%.30s\"", name);
			name = quoted;
		}
		if (!name || strstr(out, name))
			continue;
		at += (size_t)snprintf(out + at, size - at, "%s%s", n++ ? ", " : "", name);
	}
	if (at < size && d->n_sites == 1)
		snprintf(out + at, size - at, "%s%.60s", n ? " on " : "pages on ", site);
	else if (at < size && d->site_size[0] * 2 > d->size)
		snprintf(out + at, size - at, "%smostly %.60s", n ? "; " : "", site);
	else if (at < size)
		snprintf(out + at, size - at, "%s%u sites", n ? " on " : "pages of ", d->n_sites);
}

static void sites_text(const struct cluster_output *o, const struct described *d, char *out,
                       size_t size)
{
	size_t at = 0;

	out[0] = '\0';
	for (int i = 0; i < DESCRIBE_SITES && d->site_size[i] && at < size; i++)
		at += (size_t)snprintf(out + at, size - at, "%s%.28s %.0f%%", i ? ", " : "",
		                       strtab_get(&o->pages->site_names, d->site[i]),
		                       100.0 * d->site_size[i] / d->size);
}

static void print_pages(const struct cluster_output *o)
{
	printf("%u pages", o->n_pages);
	if (o->n_here != o->n_pages)
		printf(", chosen of %u by chance,", o->n_here);
}

void cluster_print_table(const struct cluster_output *o)
{
	static const char *const heads[] = { "cluster", "pages", "cosine", "changes/30d", "near",
	                                     "sites", "<name", "<largest sites", "<stands out" };
	struct table *t = table_new(heads, 9);

	print_pages(o);
	printf(" in %u clusters by %s, mean cosine to the centroid %.4f\n\n", o->clusters.k,
	       set_names[o->set], mean_cosine(o));
	for (uint32_t i = 0; i < o->clusters.k && i < o->top; i++) {
		const struct described *d = &o->described[i];
		char near[64] = "", sites[256], traits[256], name[256];

		for (uint32_t k = 0, at = 0; k < d->n_near && at < sizeof near; k++)
			at += (uint32_t)snprintf(near + at, sizeof near - at, "%s%u", k ? " " : "",
			                         d->near[k]);
		sites_text(o, d, sites, sizeof sites);
		traits_text(o, d, traits, sizeof traits);
		name_text(o, d, name, sizeof name);
		table_cell(t, "%u", i);
		table_cell(t, "%u", d->size);
		table_cell(t, "%.3f", d->cohesion);
		table_cell(t, "%.3f", d->changes);
		table_cell(t, "%s", near);
		table_cell(t, "%u", d->n_sites);
		table_cell(t, "%s", name);
		table_cell(t, "%s", sites);
		table_cell(t, "%s", traits);
	}
	table_print(t, stdout);
	table_free(t);
	if (o->clusters.k > o->top)
		printf("... and %u more (--top, --json)\n", o->clusters.k - o->top);
}

void cluster_print_curve(const struct cluster_output *o)
{
	static const char *const heads[] = { "k", "cosine held out", "+-", "cosine fitted" };
	struct table *t = table_new(heads, 4);

	print_pages(o);
	printf(" by %s, cross-validated\n\n", set_names[o->set]);
	for (uint32_t i = 0; i < o->n_points; i++) {
		table_cell(t, "%u", o->points[i].k);
		table_cell(t, "%.4f", o->points[i].cosine);
		table_cell(t, "%.4f", o->points[i].se);
		table_cell(t, "%.4f", o->points[i].fitted);
	}
	table_print(t, stdout);
	table_free(t);
	printf("\nknee: k = %u (farthest above the chord), k = %u (doubling it adds less than "
	       "5 %%)\n", choose_knee(o->points, o->n_points),
	       choose_doubling(o->points, o->n_points));
}

static void json_curve(struct json *j, const struct cluster_output *o)
{
	json_key(j, "curve");
	json_array(j);
	for (uint32_t i = 0; i < o->n_points; i++) {
		json_object(j);
		json_kint(j, "k", o->points[i].k);
		json_knum(j, "cosine", o->points[i].cosine);
		json_knum(j, "cosine_se", o->points[i].se);
		json_knum(j, "cosine_fitted", o->points[i].fitted);
		json_end_object(j);
	}
	json_end_array(j);
	json_kint(j, "knee", choose_knee(o->points, o->n_points));
	json_kint(j, "doubling", choose_doubling(o->points, o->n_points));
}

static void json_cluster(struct json *j, const struct cluster_output *o, uint32_t i)
{
	const struct described *d = &o->described[i];
	char name[256];

	name_text(o, d, name, sizeof name);
	json_object(j);
	json_kint(j, "cluster", i);
	json_kstr(j, "name", name);
	json_kint(j, "pages", d->size);
	json_knum(j, "cosine", d->cohesion);
	json_knum(j, "changes_30d", d->changes);
	json_kint(j, "sites", d->n_sites);
	json_key(j, "largest_sites");
	json_array(j);
	for (int k = 0; k < DESCRIBE_SITES && d->site_size[k]; k++) {
		json_array(j);
		json_str(j, strtab_get(&o->pages->site_names, d->site[k]));
		json_int(j, d->site_size[k]);
		json_end_array(j);
	}
	json_end_array(j);
	json_key(j, "stands_out");
	json_array(j);
	for (uint32_t k = 0; k < d->n_traits; k++) {
		char buf[32];

		json_array(j);
		json_str(j, describe_name(o->features, o->set, d->trait[k], o->words, buf));
		json_num(j, (double)d->here[k]);
		json_num(j, (double)d->everywhere[k]);
		json_end_array(j);
	}
	json_end_array(j);
	json_key(j, "near");
	json_array(j);
	for (uint32_t k = 0; k < d->n_near; k++) {
		json_array(j);
		json_int(j, d->near[k]);
		json_num(j, (double)d->cosine[k]);
		json_end_array(j);
	}
	json_end_array(j);
	json_end_object(j);
}

void cluster_print_json(const struct cluster_output *o, struct json *j)
{
	cli_json_schema(j, "cluster");
	json_kstr(j, "features", set_names[o->set]);
	json_kint(j, "pages", o->n_pages);
	json_kint(j, "of_pages", o->n_here);
	if (o->points) {
		json_curve(j, o);
	} else {
		json_kint(j, "k", o->clusters.k);
		json_knum(j, "cosine", mean_cosine(o));
		json_key(j, "clusters");
		json_array(j);
		for (uint32_t i = 0; i < o->clusters.k; i++)
			json_cluster(j, o, i);
		json_end_array(j);
	}
	cli_json_end(j);
}
