/* SPDX-License-Identifier: Apache-2.0 */
/* site_detect.c - detectors and rules of sites; see site_detect.h. */
#include "engine/archive/site_detect.h"

struct detector detectors_for(const struct detectors *d, const char *url, size_t size)
{
	const char *spec = d && d->sites ? site_settings_get(d->sites, "detect", url, size) : NULL;
	struct detector own;

	if (spec && detector_parse(&own, spec, NULL) == 0)
		return own;
	return d ? d->general : (struct detector){ .kind = DETECT_BYTES };
}

int site_ignore_add(struct ignore_list *l, const struct site_settings *sites, struct err *err)
{
	static const char name[] = "ignore@";
	int rc = 0;

	for (uint32_t i = 0; i < sites->keys.n && rc == 0; i++) {
		const char *key = strtab_get(&sites->keys, i);

		if (strncmp(key, name, strlen(name)))
			continue;
		rc = ignore_list_add_site(l, key + strlen(name), sites->values.v[i], err);
		if (rc < 0)
			rc = err_prefix(err, "setting %s", key);
	}
	return rc;
}
