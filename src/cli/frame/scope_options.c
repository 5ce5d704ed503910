/* SPDX-License-Identifier: Apache-2.0 */
/* scope_options.c - see scope_options.h. */
#include "cli/frame/scope_options.h"

static int replace(struct scope_list *l, const struct option_list *by, const char *name,
                   struct err *err)
{
	int rc = 0;

	scope_list_release(l);
	*l = (struct scope_list){ 0 };
	for (size_t i = 0; i < by->n && rc == 0; i++)
		rc = scope_list_add(l, by->v[i], err);
	return rc < 0 ? err_prefix(err, "--%s", name) : 0;
}

int scope_options_load(const struct cli *cli, struct store *s,
                       const struct option_list *include, const struct option_list *exclude,
                       struct care_rules *ret, struct err *err)
{
	int rc = care_rules_load(ret, s, err);

	if (rc == 0 && cli_given(cli, "include"))
		rc = replace(&ret->scope.include, include, "include", err);
	if (rc == 0 && cli_given(cli, "exclude"))
		rc = replace(&ret->scope.exclude, exclude, "exclude", err);
	return rc;
}
