/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_program.c - pages that a program of the user's fetches (fetch/program/program.h).
 *
 * Everything before and behind the exchange is as with our own: robots.txt, pauses, budget,
 * judging.  Only GETs of pages go to the program.  A page takes up to program_requests of the
 * budget before it begins; what was not used comes back with its result.
 */
#include "fetch/fetch_inner.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "fetch/program/program.h"

static const char *refuses(const void *gate, const struct sockaddr *sa)
{
	return gate_refuses(gate, sa);
}

int fetch_program_new(struct fetch *f, struct err *err)
{
	struct program_options o = { .command = f->opt.program, .copies = f->opt.program_copies,
		.user_agent = f->opt.user_agent, .refuses = refuses,
		.refuses_port = gate_refuses_port, .arg = f->opt.gate };
	int rc;

	if (!f->opt.program || !*f->opt.program)
		return 0;
	rc = program_new(&f->program, &o, err);
	if (rc == 0)
		wire_watch(f->wire, program_fd(f->program));
	return rc;
}

bool fetch_program_takes(struct fetch *f, const struct job *j, const struct wire_request *r)
{
	return f->program && !j->is_robots && !r->head_only && (!f->opt.program_for ||
		scope_list_fits(f->opt.program_for, j->url.data, j->url.size, false));
}

void fetch_program_start(struct fetch *f, struct job *j, const struct wire_request *r, double now)
{
	struct program_request q = { .owner = j->number, .url = r->url, .etag = r->etag,
		.last_modified = r->last_modified, .max_head = f->opt.max_head,
		.max_body = r->max_body, .seconds = f->opt.program_seconds, .max_requests = 1 };

	while (q.max_requests < f->opt.program_requests && job_may_spend(f, j, FETCH_MORE))
		q.max_requests++;
	if (q.seconds > r->until - now)
		q.seconds = r->until - now;
	program_start(f->program, &q);
}

static enum fetch_error error_of(const char *cause)
{
	return !*cause ? FETCH_OK : !strcmp(cause, "dns") ? FETCH_DNS :
	       !strcmp(cause, "connect") ? FETCH_CONNECT : !strcmp(cause, "timeout") ? FETCH_TIMEOUT :
	       !strcmp(cause, "tls") ? FETCH_TLS : FETCH_PROTOCOL;
}

/* The answer as the wire would have it. */
static struct transfer *make_transfer(struct fetch *f, struct program_answer *a, double now)
{
	struct transfer *t = mem_zalloc(1, sizeof *t);

	t->owner = a->owner;
	t->error = error_of(a->cause);
	snprintf(t->why, sizeof t->why, "%s", a->why);
	t->status = t->error == FETCH_OK ? a->status : 0;
	t->cut = a->cut ? FETCH_CUT_LENGTH : FETCH_WHOLE;
	t->head = a->head;
	t->body = a->body;
	t->received = a->head.size + a->body.size;
	t->head_done = t->error == FETCH_OK;
	t->seconds = a->seconds;
	t->started = now - a->seconds;
	t->first = now;
	t->until = job_until(f, f->jobs.v[a->owner]);
	return t;
}

void fetch_program_answers(struct fetch *f, double now)
{
	struct program_answer *a;

	while (f->program && (a = program_finished(f->program))) {
		struct job *j = f->jobs.v[a->owner];
		unsigned more = a->requests - 1, paid = more < j->granted ? more : j->granted;
		struct transfer *t = make_transfer(f, a, now);

		free(a);                /* its texts are the transfer's now */
		j->requests += more;
		j->granted -= paid;
		f->stats.requests += more;
		job_answered(f, j, t, now);
	}
}

/* A transfer of the program's has no lane. */
void fetch_recycle(struct fetch *f, struct transfer *t)
{
	if (t->lane) {
		wire_recycle(f->wire, t);
		return;
	}
	buf_release(&t->head);
	buf_release(&t->body);
	free(t);
}
