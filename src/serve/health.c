/* SPDX-License-Identifier: Apache-2.0 */
/* health.c - is it alive, can it serve, what goes on, and what does it offer (OpenAPI 3.1). */
#include <ctype.h>
#include <stdio.h>

#include "base/when.h"
#include "cli/frame/command.h"
#include "serve/desk.h"
#include "serve/hub.h"

void route_healthz(struct call *c)
{
	buf_str(&c->answer->body, "ok\n");
	c->answer->type = "text/plain";
	c->answer->status = 200;
}

void route_readyz(struct call *c)
{
	struct store *s = call_store(c, STORE_READ);
	struct store_page page;
	struct err err = { 0 };
	int rc;

	if (!s) {
		c->answer->status = 503;
		return;
	}
	if (!desk_is_warm(c->serve->desk)) {
		store_close(s);
		http_problem(c->answer, 503, "the engine is being loaded");
		return;
	}
	rc = store_page_get(s, 0, &page, &err);
	store_close(s);
	if (rc < 0) {
		http_problem(c->answer, 503, "%s", err.text);
		return;
	}
	buf_str(&c->answer->body, "ready\n");
	c->answer->type = "text/plain";
	c->answer->status = 200;
}

/* ---- what goes on ---- */

static bool print_cycle_job(void *arg, const struct job *job)
{
	struct json *j = arg;
	char t[21];

	if (job->kind != JOB_CYCLE)
		return false;
	json_kstr(j, "state", job_state_name(job->state));
	when_iso(job->began, t);
	json_kstr(j, "began", t);
	if (job->ended) {
		when_iso(job->ended, t);
		json_kstr(j, "ended", t);
		json_kint(j, "exit", job->status);
	}
	if (job->state == JOB_FAILED) {
		size_t n = job->said.size < 1000 ? job->said.size : 1000;

		json_key(j, "said");
		json_strn(j, job->said.data ? job->said.data + job->said.size - n : "", n);
	}
	json_key(j, "doing");
	json_raw(j, job->now.size ? buf_text(&job->now) : "null");
	json_key(j, "result");
	json_raw(j, job->output.size && job->state == JOB_DONE ? buf_text(&job->output) : "null");
	return true;
}

/* The members that change only when something happens: the time is not among them. */
void now_print(struct serve *s, struct json *j)
{
	int64_t due = hub_due(s->hub);
	char t[21];

	cli_json_schema(j, "now");
	when_iso(s->started, t);
	json_kstr(j, "started", t);
	json_kstr(j, "version", FRESHET_VERSION);
	json_kbool(j, "fleet", s->fleet != NULL);
	json_kbool(j, "running", jobs_running(s->jobs, JOB_CYCLE));
	json_kint(j, "every", s->opts.every);
	if (due)
		when_iso(due, t);
	json_kstr(j, "next_cycle", due ? t : NULL);
	json_key(j, "cycle");
	json_object(j);
	jobs_each(s->jobs, print_cycle_job, j);
	json_end_object(j);
	desk_print(s->desk, j);
	json_kint(j, "listeners", hub_listeners(s->hub));
	cli_json_end(j);
}

void route_now(struct call *c)
{
	now_print(c->serve, &c->j);
	answer_json(c);
}

/* ---- the description, from the table that routes ---- */

static const struct option_spec *option_of(const struct route *r, const char *name)
{
	const struct command *c = route_command_of(r);

	return c && c->options ? option_find(c->options, name, strlen(name)) : NULL;
}

static void print_parameter(struct json *j, const struct route *r, const char *name,
                            const char *in)
{
	const struct option_spec *o = option_of(r, name);

	json_object(j);
	json_kstr(j, "name", name);
	json_kstr(j, "in", in);
	json_kbool(j, "required", !strcmp(in, "path"));
	if (o && !strcmp(in, "query"))
		json_kstr(j, "description", o->help);
	json_key(j, "schema");
	json_object(j);
	json_kstr(j, "type", o && o->type == OPTION_INT ? "integer" :
	          o && o->type == OPTION_FLAG ? "boolean" : "string");
	json_end_object(j);
	json_end_object(j);
}

static void print_parameters(struct json *j, const struct route *r)
{
	struct text rest = { r->params, strlen(r->params) }, word;
	char name[64];

	json_key(j, "parameters");
	json_array(j);
	for (const char *p = strchr(r->path, '{'); p; p = strchr(p + 1, '{')) {
		snprintf(name, sizeof name, "%.*s", (int)strcspn(p + 1, "}"), p + 1);
		print_parameter(j, r, name, "path");
	}
	while (text_word(&rest, &word)) {
		snprintf(name, sizeof name, "%.*s", (int)word.size, word.s);
		print_parameter(j, r, name, "query");
	}
	json_end_array(j);
}

static void print_answers(struct json *j, const struct route *r)
{
	bool json = !strncmp(r->path, "/v1/", 4) && r->run != route_content;

	json_key(j, "responses");
	json_object(j);
	json_key(j, "2XX");
	json_object(j);
	json_kstr(j, "description", r->summary);
	if (json) {
		json_key(j, "content");
		json_object(j);
		json_key(j, "application/json");
		json_object(j);
		json_key(j, "schema");
		json_object(j);
		json_kstr(j, "type", "object");
		json_end_object(j);
		json_end_object(j);
		json_end_object(j);
	}
	json_end_object(j);
	json_key(j, "default");
	json_object(j);
	json_kstr(j, "$ref", "#/components/responses/Problem");
	json_end_object(j);
	json_end_object(j);
}

static void print_operation(struct json *j, const struct route *r)
{
	char method[8] = "", id[100];
	size_t n = 0;

	for (size_t i = 0; i < sizeof method - 1 && r->method[i]; i++)
		method[i] = (char)tolower((unsigned char)r->method[i]);
	for (const char *p = r->path; *p && n < sizeof id - 10; p++)
		if (isalnum((unsigned char)*p) || *p == '/')
			id[n++] = *p == '/' ? '_' : *p;
	id[n] = '\0';
	json_key(j, method);
	json_object(j);
	json_key(j, "operationId");
	{
		char whole[120];

		snprintf(whole, sizeof whole, "%s%s", method, id);
		json_str(j, whole);
	}
	json_kstr(j, "summary", r->summary);
	if (r->right)
		json_kstr(j, "x-right", right_name(r->right));
	print_parameters(j, r);
	if (r->body_max) {
		json_key(j, "requestBody");
		json_object(j);
		json_key(j, "content");
		json_object(j);
		json_key(j, "application/json");
		json_object(j);
		json_key(j, "schema");
		json_object(j);
		json_end_object(j);
		json_end_object(j);
		json_end_object(j);
		json_end_object(j);
	}
	print_answers(j, r);
	json_end_object(j);
}

static void print_components(struct json *j)
{
	static const char *const keys[] = { "type", "title", "detail" };

	json_key(j, "components");
	json_object(j);
	json_key(j, "securitySchemes");
	json_object(j);
	json_key(j, "token");
	json_object(j);
	json_kstr(j, "type", "http");
	json_kstr(j, "scheme", "bearer");
	json_end_object(j);
	json_end_object(j);
	json_key(j, "responses");
	json_object(j);
	json_key(j, "Problem");
	json_object(j);
	json_kstr(j, "description", "what went wrong, and what to do (RFC 9457)");
	json_key(j, "content");
	json_object(j);
	json_key(j, "application/problem+json");
	json_object(j);
	json_key(j, "schema");
	json_object(j);
	json_kstr(j, "type", "object");
	json_key(j, "properties");
	json_object(j);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		json_key(j, keys[i]);
		json_object(j);
		json_kstr(j, "type", "string");
		json_end_object(j);
	}
	json_key(j, "status");
	json_object(j);
	json_kstr(j, "type", "integer");
	for (int i = 0; i < 8; i++)
		json_end_object(j);
}

void route_openapi(struct call *c)
{
	struct json *j = &c->j;
	const struct route *r, *other;

	json_object(j);
	json_kstr(j, "openapi", "3.1.0");
	json_key(j, "info");
	json_object(j);
	json_kstr(j, "title", "Freshet");
	json_kstr(j, "version", FRESHET_VERSION);
	json_end_object(j);
	json_key(j, "security");
	json_array(j);
	json_object(j);
	json_end_object(j);             /* or none: on loopback without tokens */
	json_object(j);
	json_key(j, "token");
	json_array(j);
	json_end_array(j);
	json_end_object(j);
	json_end_array(j);
	json_key(j, "paths");
	json_object(j);
	for (size_t i = 0; (r = route_at(i)); i++) {
		bool known = false;

		for (size_t k = 0; k < i; k++)
			known |= !strcmp(route_at(k)->path, r->path);
		if (known)
			continue;
		json_key(j, r->path);
		json_object(j);
		for (size_t k = i; (other = route_at(k)); k++)
			if (!strcmp(other->path, r->path))
				print_operation(j, other);
		json_end_object(j);
	}
	json_end_object(j);
	print_components(j);
	json_end_object(j);
	json_newline(j);
	answer_json(c);
}
