/* SPDX-License-Identifier: Apache-2.0 */
/*
 * families.c - groups of pages of one site whose names are alike.
 *
 *   name   the file name            /a/b/index.html   index.html
 *   word   its leading letters                        index
 *   last   the last directory's name                  b
 *   shape  the directories with digit runs as 0       /a/b/   (/2024/07/ = /0/0/)
 * Where /a/b/ is alone in its directory it is named as /a/b.html would be: b, b, a, /a/.
 * Pages of a family change together more often than strangers: release notes,
 * index pages, every translation of one page.
 *
 * Cost.  O(bytes of URLs); a hash table while numbering, 4 bytes a page each.
 */

#include <ctype.h>

#include "base/map.h"
#include "base/mem.h"
#include "engine/view/families.h"

/* The path of a canonical URL without its query. */
static void split(const char *url, size_t size, const char **ret_path, const char **ret_name,
                  const char **ret_end)
{
	const char *end = memchr(url, '?', size), *path, *name;

	if (!end)
		end = url + size;
	path = strstr(url, "://");
	path = path ? strchrnul(path + 3, '/') : url;
	if (path > end)
		path = end;
	for (name = end; name > path && name[-1] != '/'; name--)
		;
	*ret_path = path;
	*ret_name = name;
	*ret_end = end;
}

/* The directories with every run of digits as one 0; at most `max` bytes. */
static size_t shape_of(const char *s, const char *end, char *out, size_t max)
{
	size_t n = 0;

	while (s < end && n < max) {
		bool digit = isdigit((unsigned char)*s);

		out[n++] = digit ? '0' : *s;
		s++;
		while (digit && s < end && isdigit((unsigned char)*s))
			s++;
	}
	return n;
}

static bool starts_with(const char *s, const char *end, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(end - s) >= n && !memcmp(s, word, n);
}

void families_of(const char *url, size_t size, bool alone, struct families *ret)
{
	const char *path, *name, *end, *p, *last_end;

	split(url, size, &path, &name, &end);
	if (alone && name > path + 1 && (name == end || starts_with(name, end, "index."))) {
		/* /a/b/ is to its site what /a/b.html is to another */
		for (end = --name; name > path && name[-1] != '/'; name--)
			;
	}
	ret->part[FAMILY_NAME] = name;
	ret->size[FAMILY_NAME] = (size_t)(end - name);
	for (p = name; p < end && isalpha((unsigned char)*p); p++)
		;
	ret->part[FAMILY_WORD] = name;
	ret->size[FAMILY_WORD] = (size_t)(p - name);
	last_end = name > path ? name - 1 : name;
	for (p = last_end; p > path && p[-1] != '/'; p--)
		;
	ret->part[FAMILY_LAST] = p;
	ret->size[FAMILY_LAST] = (size_t)(last_end - p);
	ret->part[FAMILY_SHAPE] = ret->shape;
	ret->size[FAMILY_SHAPE] = shape_of(path, name, ret->shape, sizeof ret->shape);
}

void families_number(const struct pages *pages, uint32_t *family[N_FAMILIES],
                     uint32_t n_family[N_FAMILIES])
{
	struct map seen[N_FAMILIES] = { { 0 } };
	struct families f;

	for (int k = 0; k < N_FAMILIES; k++) {
		family[k] = mem_array(pages->n, sizeof *family[k]);
		n_family[k] = 0;
	}
	for (uint32_t i = 0; i < pages->n; i++) {
		const struct tree *t = &pages->tree;
		uint32_t d = pages->dir[i];

		families_of(pages_url(pages, i), pages_url_size(pages, i), t->dir_alone[d], &f);
		for (int k = 0; k < N_FAMILIES; k++) {
			uint64_t key = hash_bytes(f.part[k], f.size[k], pages->site[i]);
			bool fresh;

			family[k][i] = map_intern(&seen[k], key, n_family[k], &fresh);
			n_family[k] += fresh;
		}
	}
	for (int k = 0; k < N_FAMILIES; k++)
		map_release(&seen[k]);
}
