/* SPDX-License-Identifier: Apache-2.0 */
/* replays.c - policies are compared on the history of the repository, in the background. */
#include <stdio.h>
#include <time.h>

#include "base/when.h"
#include "cli/frame/command.h"
#include "serve/control.h"
#include "serve/http/body.h"
#include "serve/job/jobs.h"

#define POLICIES_MAX 16

void route_replay_start(struct call *c)
{
	struct body *b = body_parse(c->request, c->answer, "policies cycle budget seeds aim");
	struct arena *keep = &c->request->keep;
	const char **policies, *texts[3], *words[JOB_WORDS_MAX] = { "replay", "--json", "--doing",
	                                                            "/dev/fd/3" };
	static const char *const keys[3] = { "cycle", "budget", "aim" };
	size_t n = 4, n_policies;
	struct err err = { 0 };
	int64_t seeds;
	uint32_t number;
	char text[24];
	int rc;

	if (!b || !body_texts(b, c->answer, "policies", POLICIES_MAX, keep, &policies, &n_policies) ||
	    !body_int(b, c->answer, "seeds", 3, 1, 100, &seeds)) {
		body_free(b);
		return;
	}
	for (size_t i = 0; i < n_policies; i++)
		words[n++] = control_option(keep, "policy", policies[i]);
	for (int i = 0; i < 3; i++) {
		if (!body_amount(b, c->answer, keys[i], keep, &texts[i])) {
			body_free(b);
			return;
		}
		if (texts[i])
			words[n++] = control_option(keep, keys[i], texts[i]);
	}
	snprintf(text, sizeof text, "%lld", (long long)seeds);
	words[n++] = control_option(keep, "seeds", text);
	words[n++] = "--";
	words[n++] = c->serve->opts.folder;
	rc = jobs_begin(c->serve->jobs, JOB_REPLAY, words, n,
	                c->request->body.size ? buf_text(&c->request->body) : "{}", &number, &err);
	body_free(b);
	if (rc < 0) {
		control_conflict(c, rc, &err);
		return;
	}
	cli_json_schema(&c->j, "started");
	json_kint(&c->j, "id", number);
	cli_json_end(&c->j);
	c->answer->status = 202;
	http_answer_header(c->answer, "Location", "/v1/replays/%u", number);
	answer_json(c);
}

struct looking { struct call *c; uint32_t number; bool found, whole; };

static void print_replay(struct json *j, const struct job *job, bool whole)
{
	char t[21];

	json_kint(j, "id", job->number);
	json_kstr(j, "state", job_state_name(job->state));
	when_iso(job->began, t);
	json_kstr(j, "began", t);
	json_kint(j, "seconds", (job->ended ? job->ended : (int64_t)time(NULL)) - job->began);
	json_key(j, "asked");
	json_raw(j, job->note);
	json_key(j, "doing");
	json_raw(j, job->now.size ? buf_text(&job->now) : "null");
	if (job->state == JOB_FAILED) {
		json_key(j, "said");
		json_strn(j, buf_text(&job->said), job->said.size < 2000 ? job->said.size : 2000);
	}
	if (whole) {
		json_key(j, "result");
		json_raw(j, job->state == JOB_DONE && job->output.size ? buf_text(&job->output) : "null");
	}
}

static bool see_replay(void *arg, const struct job *job)
{
	struct looking *l = arg;

	if (job->kind != JOB_REPLAY || (l->number && job->number != l->number))
		return false;
	l->found = true;
	if (!l->whole)
		json_object(&l->c->j);
	print_replay(&l->c->j, job, l->whole);
	if (!l->whole)
		json_end_object(&l->c->j);
	return l->whole;
}

void route_replays(struct call *c)
{
	struct looking l = { .c = c };

	cli_json_schema(&c->j, "replays");
	json_key(&c->j, "replays");
	json_array(&c->j);
	jobs_each(c->serve->jobs, see_replay, &l);
	json_end_array(&c->j);
	cli_json_end(&c->j);
	answer_json(c);
}

static bool replay_number(struct call *c, uint32_t *ret)
{
	char *end;
	unsigned long n = strtoul(c->args[0], &end, 10);

	*ret = (uint32_t)n;
	if (*end || !n || n > UINT32_MAX)
		http_problem(c->answer, 404, "there is no such replay");
	return !c->answer->status;
}

void route_replay(struct call *c)
{
	struct looking l = { .c = c, .whole = true };

	if (!replay_number(c, &l.number))
		return;
	cli_json_schema(&c->j, "replay-job");
	jobs_each(c->serve->jobs, see_replay, &l);
	cli_json_end(&c->j);
	if (l.found) {
		answer_json(c);
	} else {
		buf_clear(&c->answer->body);
		http_problem(c->answer, 404, "there is no such replay; the last %d are kept", JOBS_KEPT);
	}
}

void route_replay_stop(struct call *c)
{
	uint32_t number;

	if (!replay_number(c, &number))
		return;
	if (!jobs_stop(c->serve->jobs, JOB_REPLAY, number)) {
		http_problem(c->answer, 409, "this replay does not run");
		return;
	}
	answer_stopping(c);
}
