/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_settings.c - how a repository wants archives read.
 *
 * Captures must be read in one way to be compared, and words must be counted in one way.
 * So callers without options of their own use the settings of the repository.
 */
#include <stdlib.h>

#include "engine/archive/site_detect.h"
#include "engine/import/import.h"

struct import_settings {
	struct detectors detect;
	struct site_settings sites;
	struct ignore_list rules;
	struct care_rules care;
	char *stem;
};

int import_settings_load(struct import_settings **ret, struct import *i, struct err *err)
{
	struct import_settings *r = mem_zalloc(1, sizeof *r);
	char *detect = NULL, *ignore = NULL;
	int rc = store_setting_get(i->store, "stem", &r->stem, err);

	*ret = r;
	if (rc >= 0)
		rc = store_setting_get(i->store, "detect", &detect, err);
	if (rc > 0)
		rc = detector_parse(&r->detect.general, detect, err);
	if (rc >= 0)
		rc = site_settings_load(&r->sites, i->store, err);
	r->detect.sites = &r->sites;
	i->detectors = &r->detect;
	if (rc >= 0)
		rc = store_setting_get(i->store, "ignore", &ignore, err);
	if (rc > 0)
		rc = ignore_list_add(&r->rules, ignore, err);
	if (rc >= 0)
		rc = site_ignore_add(&r->rules, &r->sites, err);
	i->rules = &r->rules;
	if (rc >= 0)
		rc = care_rules_load(&r->care, i->store, err);
	i->care = &r->care;
	i->stem = r->stem;
	free(detect);
	free(ignore);
	return rc < 0 ? rc : 0;
}

void import_settings_free(struct import_settings *r)
{
	if (!r)
		return;
	ignore_list_release(&r->rules);
	site_settings_release(&r->sites);
	care_rules_release(&r->care);
	free(r->stem);
	free(r);
}
