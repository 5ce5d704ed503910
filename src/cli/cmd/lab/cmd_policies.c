/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_policies.c - the catalogue of policies, with every parameter. */
#include <stdio.h>

#include "cli/frame/command.h"
#include "policy/catalogue/catalogue.h"
#include "policy/policy.h"

static void print_one(const struct policy_ops *ops)
{
	printf("%s: %s\n", ops->name, ops->summary);
	if (ops->origin)
		printf("  from: %s\n", ops->origin);
	if (!ops->options) {
		puts("  no parameters");
		return;
	}
	puts("  parameters (as " "name:key=value,key=value):");
	for (const struct option_spec *s = ops->options; s->name; s++) {
		char shown[64];

		option_display(s, shown);
		printf("    %s=%s%s%s\n        %s", shown, s->type == OPTION_FLAG ? "0|1" : s->arg,
		       s->def ? ", default " : "", s->def ? s->def : "", s->help);
		if (s->max > s->min)
			printf(" [%.16g .. %.16g]", s->min, s->max);
		putchar('\n');
	}
}

static void json_one(struct json *j, const struct policy_ops *ops)
{
	json_object(j);
	json_kstr(j, "name", ops->name);
	json_kstr(j, "summary", ops->summary);
	json_kstr(j, "origin", ops->origin);
	json_kbool(j, "replay_only", ops->only_replay);
	json_key(j, "parameters");
	json_array(j);
	for (const struct option_spec *s = ops->options; s && s->name; s++) {
		json_object(j);
		cli_json_option(j, s);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

static int policies_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct policy_ops *only = NULL, *ops;
	struct json j;

	(void)opts;
	if (n_args && !(only = policy_find(args[0], strcspn(args[0], ":"))))
		return policy_unknown(args[0], strcspn(args[0], ":"), err);
	if (cli->common.json) {
		cli_json_begin(&j, "policies");
		json_key(&j, "policies");
		json_array(&j);
		for (size_t i = 0; (ops = policy_at(i)); i++)
			if (!only || only == ops)
				json_one(&j, ops);
		json_end_array(&j);
		cli_json_end(&j);
		return 0;
	}
	if (only) {
		print_one(only);
		return 0;
	}
	for (size_t i = 0; (ops = policy_at(i)); i++)
		printf("%-13s %s\n", ops->name, ops->summary);
	puts("\n`freshet policies NAME` shows a policy's parameters.");
	return 0;
}

const struct command command_policies = {
	.name = "policies",
	.reach = MAY_SKIP_STORE,
	.arguments = "[NAME]",
	.summary = "the catalogue of policies, with every parameter",
	.examples = "  freshet policies neighbour   # parameters, defaults, ranges\n",
	.n_args_min = 0,
	.n_args_max = 1,
	.read = true,
	.run = policies_run,
};
