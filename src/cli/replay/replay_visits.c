/* SPDX-License-Identifier: Apache-2.0 */
/* replay_visits.c - see replay_visits.h. */
#include "cli/replay/replay_visits.h"

#include "base/when.h"

static void write_cycle(void *arg, const struct replay_cycle *c)
{
	struct replay_visits *v = arg;
	struct json *j = &v->j;
	char time[15];

	when_digits(c->time, time);
	for (size_t i = 0; i < c->n_seen; i++) {
		const struct seen *s = &c->seen[i];

		json_object(j);
		json_kstr(j, "policy", c->policy);
		json_kint(j, "seed", (int64_t)c->seed);
		json_kint(j, "cycle", c->cycle);
		json_kstr(j, "time", time);
		json_kstr(j, "url", pages_url(c->pages, s->page));
		json_kstr(j, "outcome", outcome_name(s->outcome));
		json_kbool(j, "hit", s->hit);
		json_kstr(j, "reason", reason_name(s->reason));
		json_knum(j, "score", (double)s->score);
		json_knum(j, "probability", (double)s->probability);
		json_end_object(j);
		json_newline(j);
	}
}

int replay_visits_open(struct replay_visits *v, const char *path, struct replay_opts *o,
                       struct err *err)
{
	int rc = path ? output_open(&v->out, path, err) : 0;

	if (rc < 0 || !path)
		return rc;
	json_to_file(&v->j, output_file(v->out));
	o->each_cycle = write_cycle;
	o->each_arg = v;
	return 0;
}

int replay_visits_close(struct replay_visits *v, int rc, struct err *err)
{
	if (rc == 0 && v->out)
		return output_close(v->out, err);
	output_abandon(v->out);
	return rc;
}
