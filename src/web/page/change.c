/* SPDX-License-Identifier: Apache-2.0 */
/* change.c - detectors as data; see change.h. */
#include "web/page/change.h"

#include <stdlib.h>
#include <string.h>

/* One refinement; false if this detector has none of that name. */
static bool refine(struct detector *d, const char *word, size_t size)
{
	bool of_tags = d->kind == DETECT_TAGS;
	bool of_text = d->kind == DETECT_TEXT || d->kind == DETECT_NEAR;

	if (of_text && size == 6 && !memcmp(word, "digits", 6))
		return d->digits = true;
	if (of_tags && size == 10 && !memcmp(word, "attributes", 10))
		return d->attributes = true;
	if (of_tags && size == 6 && !memcmp(word, "values", 6))
		return d->values = true;
	return false;
}

int detector_parse(struct detector *ret, const char *spec, struct err *err)
{
	static const char *const names[N_DETECTORS] = { "bytes", "text", "tags", "near" };
	struct detector d = { .kind = DETECT_BYTES };
	size_t n = strcspn(spec, ":");
	const char *p = spec + n;
	unsigned kind;

	for (kind = 0; kind < N_DETECTORS; kind++)
		if (strlen(names[kind]) == n && !memcmp(names[kind], spec, n))
			break;
	if (kind == N_DETECTORS)
		return err_set(err, E_USAGE, "detector \"%.40s\": it is one of " DETECTOR_CHOICES,
		               spec);
	d.kind = (enum detector_kind)kind;
	if (d.kind == DETECT_NEAR) {
		char *end;
		unsigned long bits = *p == ':' && p[1] >= '0' && p[1] <= '9' ?
			strtoul(p + 1, &end, 10) : 65;

		if (bits > 64)
			return err_set(err, E_USAGE, "detector \"%.40s\": say how many bits may "
			               "differ, near:0 to near:64", spec);
		d.bits = (unsigned)bits;
		p = end;
	}
	while (*p) {
		n = strcspn(p + 1, ":");
		if (*p != ':' || !refine(&d, p + 1, n))
			return err_set(err, E_USAGE, "detector \"%.40s\": %s has no \"%.20s\"", spec,
			               names[kind], p + (*p == ':'));
		p += 1 + n;
	}
	*ret = d;
	return 0;
}

void detector_options(const struct detector *d, struct extract_options *options)
{
	options->fold_digits = d->digits;
	options->tag_attributes = d->attributes;
	options->tag_values = d->values;
}

void change_compare(const struct digest *before, const struct digest *after,
                    struct change_view *ret)
{
	ret->bytes = before->bytes[0] != after->bytes[0] || before->bytes[1] != after->bytes[1];
	ret->text = before->text != after->text;
	ret->tags = before->tags != after->tags;
	ret->bits = simhash_distance(before->simhash, after->simhash);
	ret->comparable = before->settings == after->settings;
}
