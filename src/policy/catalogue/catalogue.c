/* SPDX-License-Identifier: Apache-2.0 */
/* catalogue.c - the list of policies, and how one is made; see catalogue.h. */
#include "policy/catalogue/catalogue.h"

#include <stdio.h>
#include <string.h>

#include "base/option/near.h"

#define POLICY(name) extern const struct policy_ops policy_##name;
#include "policy/catalogue/list.def"
#undef POLICY

static const struct policy_ops *const catalogue[] = {
#define POLICY(name) &policy_##name,
#include "policy/catalogue/list.def"
#undef POLICY
};

#define N_POLICIES (sizeof catalogue / sizeof *catalogue)

const struct policy_ops *policy_at(size_t i)
{
	return i < N_POLICIES ? catalogue[i] : NULL;
}

const struct policy_ops *policy_find(const char *name, size_t size)
{
	for (size_t i = 0; i < N_POLICIES; i++)
		if (strlen(catalogue[i]->name) == size && !memcmp(catalogue[i]->name, name, size))
			return catalogue[i];
	return NULL;
}

int policy_unknown(const char *name, size_t size, struct err *err)
{
	struct near near = near_begin(name, size);

	for (size_t i = 0; i < N_POLICIES; i++)
		near_try(&near, catalogue[i]->name);
	if (near.best)
		return err_set(err, E_USAGE, "no policy '%.*s'; did you mean %s? `freshet policies` "
		               "lists them", (int)size, name, near.best);
	return err_set(err, E_USAGE, "no policy '%.*s'; `freshet policies` lists them", (int)size,
	               name);
}

int policy_new(struct policy **ret, const char *spec, struct err *err)
{
	const char *colon = strchrnul(spec, ':');
	const struct policy_ops *ops = policy_find(spec, (size_t)(colon - spec));
	struct policy *p;
	int rc = 0;

	if (!ops)
		return policy_unknown(spec, (size_t)(colon - spec), err);
	p = mem_zalloc(1, sizeof *p);
	p->ops = ops;
	snprintf(p->spec, sizeof p->spec, "%s", spec);
	p->opts = mem_zalloc(1, ops->opts_size);
	p->state = mem_zalloc(1, ops->state_size);
	if (ops->options)
		option_defaults(ops->options, p->opts);
	if (*colon && !ops->options)
		rc = err_set(err, E_USAGE, "it takes no parameters");
	else if (*colon)
		rc = option_parse_spec(ops->options, p->opts, colon + 1, &p->texts, err);
	if (rc == 0 && ops->check)
		rc = ops->check(p->opts, err);
	if (rc < 0) {
		policy_free(p);
		return err_prefix(err, "policy '%s'", spec);
	}
	*ret = p;
	return 0;
}
