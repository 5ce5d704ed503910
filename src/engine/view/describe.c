/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.c - what clusters look like; see describe.h.
 *
 * Traits.  For sparse rows the terms whose mean weight is farthest above the mean
 * of all pages; for dense rows the columns whose mean differs most, in standard
 * deviations over all pages, in either direction.
 */
#include "engine/view/describe.h"

#include <math.h>
#include <stdio.h>

#include "cluster/centroid.h"

struct overall { double *mean, *sd; };

static void measure_all(const struct clusters *c, const struct rows *r, struct overall *o)
{
	double n = c->n_members ? c->n_members : 1;
	double *square = mem_zalloc(r->dim, sizeof *square);

	o->mean = mem_zalloc(r->dim, sizeof *o->mean);
	o->sd = mem_zalloc(r->dim, sizeof *o->sd);
	for (uint32_t i = 0; i < c->n_members; i++) {
		uint32_t row = c->order[i];

		rows_add_to(r, row, 1 / n, o->mean);
		for (uint32_t j = 0; rows_is_dense(r) && j < r->dim; j++)
			square[j] += (double)rows_dense(r, row)[j] * (double)rows_dense(r, row)[j] / n;
	}
	for (uint32_t j = 0; j < r->dim; j++)
		o->sd[j] = sqrt(fmax(0, square[j] - o->mean[j] * o->mean[j]));
	free(square);
}

/* Insert into a short list kept by falling strength. */
static void add_trait(struct described *d, double strength[DESCRIBE_TRAITS], uint32_t number,
                      double s, double here, double everywhere)
{
	uint32_t at = d->n_traits;

	while (at > 0 && strength[at - 1] < s)
		at--;
	if (at >= DESCRIBE_TRAITS)
		return;
	if (d->n_traits < DESCRIBE_TRAITS)
		d->n_traits++;
	for (uint32_t i = d->n_traits - 1; i > at; i--) {
		strength[i] = strength[i - 1];
		d->trait[i] = d->trait[i - 1];
		d->here[i] = d->here[i - 1];
		d->everywhere[i] = d->everywhere[i - 1];
	}
	strength[at] = s;
	d->trait[at] = number;
	d->here[at] = (float)here;
	d->everywhere[at] = (float)everywhere;
}

static void find_traits(struct described *d, const struct rows *r, const uint32_t *members,
                        uint32_t n, const struct overall *all, double *mean)
{
	double strength[DESCRIBE_TRAITS];

	memset(mean, 0, r->dim * sizeof *mean);
	for (uint32_t i = 0; i < n; i++)
		rows_add_to(r, members[i], 1.0 / n, mean);
	for (uint32_t j = 0; j < r->dim; j++) {
		double above = mean[j] - all->mean[j];

		if (rows_is_dense(r))
			above = all->sd[j] > 1e-9 ? fabs(above) / all->sd[j] : 0;
		if (above > 1e-6)
			add_trait(d, strength, j, above, mean[j], all->mean[j]);
	}
}

static void find_sites(struct described *d, const struct pages *p, const uint32_t *members,
                       uint32_t n, uint32_t *count)
{
	for (uint32_t i = 0; i < n; i++)
		d->n_sites += count[p->site[members[i]]]++ == 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t site = p->site[members[i]], size = count[site], at = DESCRIBE_SITES;

		count[site] = 0;
		while (at > 0 && d->site_size[at - 1] < size)
			at--;
		for (uint32_t k = DESCRIBE_SITES - 1; k > at && at < DESCRIBE_SITES; k--) {
			d->site[k] = d->site[k - 1];
			d->site_size[k] = d->site_size[k - 1];
		}
		if (at < DESCRIBE_SITES && size) {
			d->site[at] = site;
			d->site_size[at] = size;
		}
	}
}

static void find_changes(struct described *d, const struct copies *copies,
                         const uint32_t *members, uint32_t n)
{
	double changes = 0, days = 0;

	for (uint32_t i = 0; i < n; i++) {
		changes += copies->changes[members[i]];
		days += (double)copies->days[members[i]];
	}
	d->changes = days > 0 ? changes / days * 30 : 0;
}

static void find_near(struct described *d, const struct clusters *c, uint32_t cluster,
                      uint32_t *order)
{
	centroid_order(&c->centroids, cluster, order);
	for (uint32_t i = 1; i < c->k && i <= DESCRIBE_NEAR; i++) {
		d->near[d->n_near] = order[i];
		d->cosine[d->n_near++] = (float)rows_dot(&c->centroids, cluster, &c->centroids,
		                                         order[i]);
	}
}

struct described *describe(const struct clusters *c, const struct rows *rows,
                           const struct copies *copies, const struct pages *pages)
{
	struct described *list = mem_zalloc(c->k, sizeof *list);
	uint32_t *count = mem_zalloc(pages->tree.n_sites, sizeof *count);
	uint32_t *order = mem_array(c->k, sizeof *order);
	double *mean = mem_array(rows->dim, sizeof *mean);
	struct overall all;

	measure_all(c, rows, &all);
	for (uint32_t i = 0; i < c->k; i++) {
		uint32_t n;
		const uint32_t *members = clusters_members(c, i, &n);
		struct described *d = &list[i];

		d->size = n;
		d->cohesion = c->nodes[c->leaf[i]].norm / n;
		find_sites(d, pages, members, n, count);
		find_traits(d, rows, members, n, &all, mean);
		find_changes(d, copies, members, n);
		find_near(d, c, i, order);
	}
	free(all.mean);
	free(all.sd);
	free(count);
	free(order);
	free(mean);
	return list;
}

const char *describe_name(const struct features *f, enum feature_set set, uint32_t number,
                          const struct strtab *words, char buf[32])
{
	uint8_t column[FEATURE_COUNT];
	uint32_t n_columns = features_columns(set, column);

	if (n_columns)
		return number < n_columns ? feature_rows[column[number]].name : "?";
	if (set != SET_CONTENT && number < f->url_words.n)
		return strtab_get(&f->url_words, number);
	if (set == SET_URL_CONTENT)
		number -= f->url_words.n;
	if (words && number < words->n)
		return strtab_get(words, number);
	snprintf(buf, 32, "#%u", number);
	return buf;
}
