/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_settings.c - how a repository wants archives read.
 *
 * Captures that are read otherwise than its others cannot be compared with them, and
 * words that are counted otherwise settle how words are counted from then on: so who
 * takes no options for it goes by the settings.
 */
#include <stdlib.h>

#include "engine/archive/ignore.h"
#include "engine/book/import.h"
#include "web/page/change.h"

struct import_settings {
	struct detector detect;
	struct ignore_list rules;
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
	if (rc > 0 && (rc = detector_parse(&r->detect, detect, err)) == 0)
		i->detector = &r->detect;
	if (rc >= 0)
		rc = store_setting_get(i->store, "ignore", &ignore, err);
	if (rc > 0 && (rc = ignore_list_add(&r->rules, ignore, err)) == 0)
		i->rules = &r->rules;
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
	free(r->stem);
	free(r);
}
