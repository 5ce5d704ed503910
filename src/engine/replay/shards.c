/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shards.c - the pages of a replay, dealt out to shards; see shards.h.
 *
 * Cost.  O(pages + links), once; each shard has its own copy of its URLs.
 */
#include "engine/replay/shards.h"

#include "base/buf.h"
#include "web/url/url.h"

#define HASH_SEED 25

/* The shard of each page; neighbouring pages are mostly of one site. */
static void deal_out(const struct replay *r, struct shard_set *s)
{
	uint32_t *of_site = mem_array(r->pages.tree.n_sites, sizeof *of_site);
	struct buf name;

	buf_init(&name, BUF_NO_LIMIT);
	memset(of_site, 0xff, r->pages.tree.n_sites * sizeof *of_site);
	for (uint32_t i = 0; i < r->pages.n; i++) {
		uint32_t site = r->pages.site[i];
		bool by_site = r->opts.site_by_domain == r->opts.shards.by_domain;

		if (!by_site || of_site[site] == UINT32_MAX) {
			buf_clear(&name);
			url_site(pages_url(&r->pages, i), pages_url_size(&r->pages, i),
			         r->opts.shards.by_domain, &name);
			of_site[site] = (uint32_t)(hash_bytes(buf_text(&name), name.size, HASH_SEED) %
			                           s->n);
		}
		s->shard_of[i] = of_site[site];
	}
	buf_release(&name);
	free(of_site);
}

static void number_pages(const struct replay *r, struct shard_set *s)
{
	uint32_t *n = mem_zalloc(s->n, sizeof *n);

	for (uint32_t i = 0; i < r->pages.n; i++)
		s->local[i] = n[s->shard_of[i]]++;
	for (uint32_t k = 0; k < s->n; k++) {
		s->v[k].global = mem_array((size_t)n[k] + 1, sizeof *s->v[k].global);
		s->v[k].pages.n = n[k];
	}
	for (uint32_t i = 0; i < r->pages.n; i++)
		s->v[s->shard_of[i]].global[s->local[i]] = i;
	free(n);
}

/* URLs of a shard, as pages_init() wants them. */
static void copy_urls(const struct replay *r, struct shard *s)
{
	struct pages_opts po = { .site_by_domain = r->opts.site_by_domain };
	uint32_t n = s->pages.n;
	uint64_t *offset = mem_array((size_t)n + 1, sizeof *offset), size = 0;
	char *pool;

	for (uint32_t i = 0; i < n; i++) {
		offset[i] = size;
		size += pages_url_size(&r->pages, s->global[i]) + 1;
	}
	offset[n] = size;
	pool = mem_array(size + 1, 1);
	for (uint32_t i = 0; i < n; i++)
		memcpy(pool + offset[i], pages_url(&r->pages, s->global[i]),
		       offset[i + 1] - offset[i]);
	pages_init(&s->pages, pool, offset, n, &po);
}

struct inner_links {
	const struct replay *r;
	const struct shard *shard;
	uint32_t number;
	struct replay_links *all, *kept;
};

/* Links to other shards are not known in a shard. */
static const uint32_t *links_within(const void *from, uint32_t page, size_t *ret_n)
{
	const struct inner_links *l = from;
	const struct shard_set *s = &l->r->shards;
	size_t n;
	const uint32_t *all = replay_links_at_start(l->all, l->shard->global[page], &n);

	l->kept->pages.n = 0;
	for (size_t i = 0; i < n; i++)
		if (s->shard_of[all[i]] == l->number)
			vec_push(&l->kept->pages, s->local[all[i]]);
	*ret_n = l->kept->pages.n;
	return l->kept->pages.v;
}

static int prepare_shard(const struct replay *r, uint32_t k, unsigned needs, struct err *err)
{
	struct shard *s = &r->shards.v[k];
	struct replay_links all = { .r = r }, kept = { .r = r };
	struct inner_links l = { r, s, k, &all, &kept };
	int rc = prepare(&s->prepared, &s->pages, needs, links_within, &l, err);

	vec_release(&all.pages);
	vec_release(&kept.pages);
	if (rc == 0 && (needs & NEED_SIZES)) {
		s->prepared.size = mem_zalloc(s->pages.n + 1ul, 1);
		for (uint32_t i = 0; i < s->pages.n; i++)
			s->prepared.size[i] = r->prepared.size[s->global[i]];
	}
	s->weight = mem_array(s->pages.n + 1ul, sizeof *s->weight);
	for (uint32_t i = 0; i < s->pages.n; i++)
		s->weight[i] = r->weight[s->global[i]];
	return rc;
}

int shards_open(struct replay *r, unsigned needs, struct err *err)
{
	struct shard_set *s = &r->shards;
	int rc = 0;

	s->n = r->opts.shards.count;
	s->v = mem_zalloc(s->n, sizeof *s->v);
	s->shard_of = mem_array(r->pages.n, sizeof *s->shard_of);
	s->local = mem_array(r->pages.n, sizeof *s->local);
	deal_out(r, s);
	number_pages(r, s);
	for (uint32_t k = 0; k < s->n && rc == 0; k++) {
		if (!s->v[k].pages.n)
			continue;
		copy_urls(r, &s->v[k]);
		rc = prepare_shard(r, k, needs, err);
	}
	return rc;
}

void shards_close(struct replay *r)
{
	struct shard_set *s = &r->shards;

	for (uint32_t k = 0; k < s->n; k++) {
		pages_release(&s->v[k].pages);
		prepare_release(&s->v[k].prepared);
		free(s->v[k].global);
		free(s->v[k].weight);
	}
	free(s->v);
	free(s->shard_of);
	free(s->local);
	*s = (struct shard_set){ 0 };
}
