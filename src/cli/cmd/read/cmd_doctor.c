/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_doctor.c - `freshet doctor`: is everything there that a crawl needs? */
#include <stdio.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "cli/frame/repository.h"
#include "cli/frame/shards.h"
#include "cli/frame/terminal.h"
#include "repo/place.h"

struct doctor_opts { int64_t wait; };

static const struct option_spec doctor_options[] = {
	OPT_DURATION(doctor_opts, wait, "5s", "how long a name may take to resolve"),
	OPT_END
};

static const char *const verdicts[] = { "good", "advice", "wrong" };

static void print_text(const struct doctor *d)
{
	for (size_t i = 0; i < d->findings.n; i++) {
		const struct finding *f = &d->findings.v[i];
		bool wrong = f->verdict == VERDICT_WRONG;

		printf("%s%-6s%s  %-12s  %s\n", wrong ? tone_on(TONE_BAD) : "", verdicts[f->verdict],
		       wrong ? tone_off() : "", f->check, f->found);
		if (*f->advice)
			printf("%-6s  %-12s  -> %s\n", "", "", f->advice);
	}
}

static void print_json(const struct doctor *d, const unsigned n[])
{
	struct json j;

	cli_json_begin(&j, "doctor");
	json_key(&j, "checks");
	json_array(&j);
	for (size_t i = 0; i < d->findings.n; i++) {
		const struct finding *f = &d->findings.v[i];

		json_object(&j);
		json_kstr(&j, "check", f->check);
		json_kstr(&j, "verdict", verdicts[f->verdict]);
		json_kstr(&j, "found", f->found);
		if (*f->advice)
			json_kstr(&j, "advice", f->advice);
		json_end_object(&j);
	}
	json_end_array(&j);
	for (int v = VERDICT_GOOD; v <= VERDICT_WRONG; v++)
		json_kint(&j, verdicts[v], n[v]);
	cli_json_end(&j);
}

/* A repository that cannot be opened is a finding, not the end of the visit. */
static void look_at_repository(struct cli *cli, struct doctor *d)
{
	struct err err = { 0 };

	if (repository_read(cli, &d->store, &err) < 0) {
		doctor_find(d, "store", VERDICT_WRONG, "%s", err.text);
		return;
	}
	d->fleet = shards_count(cli) > 1 && cli->common.shard < 0;
	if (!d->fleet)
		doctor_work(d);
	if ((d->fleet && doctor_fleet(d, cli->shards->fleet, &err) < 0) || doctor_store(d, &err) < 0)
		doctor_find(d, "store", VERDICT_WRONG, "%s|`freshet check` says what else is damaged",
		            err.text);
	store_close(d->store);
}

static int doctor_run(struct cli *cli, void *opts, int n_args, char **args, struct err *err)
{
	const struct doctor_opts *o = opts;
	struct doctor d = { .folder = cli->common.repository, .now = clock_now(),
	                    .names_seconds = o->wait };
	unsigned n[VERDICT_WRONG + 1] = { 0 };

	(void)n_args;
	(void)args;
	doctor_machine(&d);
	if (cli->common.store || strcmp(d.folder, ".") || place_is_repository(d.folder)) {
		doctor_folder(&d);
		look_at_repository(cli, &d);
	} else {
		doctor_find(&d, "store", VERDICT_ADVICE, "no repository here|-C DIR names one, "
		            "freshet init DIR makes one");
	}
	for (size_t i = 0; i < d.findings.n; i++)
		n[d.findings.v[i].verdict]++;
	if (cli->common.json)
		print_json(&d, n);
	else
		print_text(&d);
	vec_release(&d.findings);
	return n[VERDICT_WRONG] ? err_set(err, E_FAIL, "%u thing%s wrong", n[VERDICT_WRONG],
	                                  n[VERDICT_WRONG] == 1 ? " is" : "s are") : 0;
}

const struct command command_doctor = {
	.name = "doctor",
	.reach = MAY_CONNECT,
	.on_fleet = FLEET_SELF,
	.arguments = "",
	.summary = "is everything there that a crawl needs? with advice",
	.description =
		"Looks at the machine (versions, clock, limits, certificates, ways out, proxies, the\n"
		"sandbox that is in force), and with a repository at its folder (permissions, space, who\n"
		"is at work) and its tables (contact, pages, cycles, whether the names of the first hosts\n"
		"resolve). It changes nothing and asks no host of the repository for anything. Whether\n"
		"all that is kept is whole is another question: `freshet check` reads everything.\n\n"
		"Each line is good, advice (it works, but could be better) or wrong (something will\n"
		"fail). The exit status is 1 if anything is wrong.",
	.examples =
		"  freshet doctor\n"
		"  freshet -C crawl doctor\n",
	.options = doctor_options,
	.opts_size = sizeof(struct doctor_opts),
	.n_args_min = 0,
	.n_args_max = 0,
	.read = true,
	.exits = "0 all is well; there may be advice\n"
		"1 something is wrong\n",
	.run = doctor_run,
};
