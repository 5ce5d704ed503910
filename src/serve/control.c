/* SPDX-License-Identifier: Apache-2.0 */
/* control.c - see control.h. */
#include "serve/control.h"

#include <stdio.h>
#include <time.h>

#include "base/when.h"
#include "cli/frame/command.h"
#include "cli/frame/repository.h"
#include "serve/http/body.h"
#include "serve/desk.h"
#include "serve/job/jobs.h"

#define URLS_MAX 1000                   /* of one request */

/* ---- cycles ---- */

struct newest { bool clients, open; uint32_t number; };

static int see_cycle(void *arg, const struct store_cycle *c, struct err *err)
{
	(void)err;
	*(struct newest *)arg = (struct newest){ c->clients, c->open, c->number };
	return 0;
}

static int check_newest(struct serve *s, struct err *err)
{
	struct newest n = { 0 };
	struct store *store;
	int rc = serve_store(s, STORE_READ, &store, err);

	if (rc < 0)
		return rc;
	rc = store_cycles(store, STORE_NEWEST, see_cycle, &n, err);
	store_close(store);
	if (rc == 0 && n.open && n.clients)
		rc = err_set(err, E_USAGE, "cycle %u is open for other crawlers: POST /v1/lease/end ends "
		             "it, or \"new\": true", n.number);
	return rc;
}

char *control_option(struct arena *keep, const char *option, const char *value)
{
	size_t size = strlen(option) + strlen(value) + 4;
	char *text = arena_alloc(keep, size);

	snprintf(text, size, "--%s=%s", option, value);
	return text;
}

int control_begin_cycle(struct serve *s, const char *budget, const char *policy, bool anew,
                        struct err *err)
{
	const struct option_list *given = &s->opts.cycle_words;
	const char *words[JOB_WORDS_MAX] = { "cycle", "--json", "--doing", "/dev/fd/3" };
	struct arena keep = { 0 };
	size_t n = 4;
	uint32_t number;
	int rc = anew ? 0 : check_newest(s, err);

	for (size_t i = 0; i < given->n && i < JOB_WORDS_MAX - 8; i++)
		words[n++] = given->v[i];
	if (budget)                     /* of two the last holds */
		words[n++] = control_option(&keep, "budget", budget);
	if (policy)
		words[n++] = control_option(&keep, "policy", policy);
	if (anew)
		words[n++] = "--new";
	if (rc == 0)
		rc = jobs_begin(s->jobs, JOB_CYCLE, words, n, "{}", &number, err);
	arena_release(&keep);
	return rc;
}

void control_conflict(struct call *c, int rc, const struct err *err)
{
	if (rc == E_USAGE || rc == E_BUSY)
		http_problem(c->answer, 409, "%s", err->text);
	else
		answer_error(c, rc, err);
}

static bool budget_is_good(struct call *c, const char *budget)
{
	struct share share;

	if (!budget || share_parse(budget, &share))
		return true;
	http_problem(c->answer, 400, "budget: a number of requests, or a share of the pages as \"2%%\", "
	             "please");
	return false;
}

void route_cycle_start(struct call *c)
{
	struct body *b = body_parse(c->request, c->answer, "budget policy new");
	const char *budget, *policy;
	struct err err = { 0 };
	bool anew;
	int rc;

	if (b && body_amount(b, c->answer, "budget", &c->request->keep, &budget) &&
	    body_text(b, c->answer, "policy", &policy) && body_flag(b, c->answer, "new", &anew) &&
	    budget_is_good(c, budget)) {
		rc = control_begin_cycle(c->serve, budget, policy, anew, &err);
		if (rc < 0) {
			control_conflict(c, rc, &err);
		} else {
			cli_json_schema(&c->j, "started");
			json_kbool(&c->j, "started", true);
			json_kstr(&c->j, "look", "/v1/now");
			cli_json_end(&c->j);
			c->answer->status = 202;
			answer_json(c);
		}
	}
	body_free(b);
}

void route_cycle_stop(struct call *c)
{
	if (!jobs_stop(c->serve->jobs, JOB_CYCLE, 0)) {
		http_problem(c->answer, 409, "no cycle of our own runs");
		return;
	}
	answer_stopping(c);
}

/* ---- settings and pages ---- */

static void answer_words(struct call *c, const char *command, const char **words, size_t n)
{
	struct err err = { 0 };
	int rc = command_answer(c->serve, command, words, n, &c->answer->body, &err);

	if (rc < 0)
		answer_error(c, rc, &err);
	else
		answer_json(c);
}

/* Rules may name a file with @, which is the server's: that is for its own terminal. */
static bool names_file(const char *const *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (values[i][0] == '@')
			return true;
	return false;
}

/* Its value is the name of a file of the server's, and what is said of it would tell what is there. */
static bool is_file_setting(const char *key)
{
	const struct option_spec *s = setting_find(key);

	return s && s->arg && !strcmp(s->arg, "FILE");
}

void route_setting_put(struct call *c)
{
	struct body *b = body_parse(c->request, c->answer, "key value values site");
	struct arena *keep = &c->request->keep;
	const char *key, *value, *site, **values, *words[URLS_MAX + 8];
	size_t n = 0, n_values;

	if (b && body_text(b, c->answer, "key", &key) && body_text(b, c->answer, "value", &value) &&
	    body_text(b, c->answer, "site", &site) &&
	    body_texts(b, c->answer, "values", URLS_MAX, keep, &values, &n_values)) {
		if (!key || (value && n_values)) {
			http_problem(c->answer, 400, "key, and one of value and values, please; without them "
			             "it is unset");
		} else if (is_file_setting(key) && (value || n_values)) {
			http_problem(c->answer, 403, "%.60s names a file of the server: that is for the command "
			             "`freshet set`", key);
		} else if (names_file(&value, value != NULL) || names_file(values, n_values)) {
			http_problem(c->answer, 400, "@FILE is for the command `freshet set`");
		} else {
			words[n++] = "--json";
			if (site)
				words[n++] = control_option(keep, "site", site);
			words[n++] = "--";
			words[n++] = key;
			if (value)
				words[n++] = value;
			for (size_t i = 0; i < n_values; i++)
				words[n++] = values[i];
			answer_words(c, "set", words, n);
			if (c->answer->status == 200)
				serve_renew(c->serve);
		}
	}
	body_free(b);
}

void route_page_add(struct call *c)
{
	struct body *b = body_parse(c->request, c->answer, "urls tag weight");
	const char **urls, *tag, *weight, *words[URLS_MAX + 8];
	size_t n = 0, n_urls;

	if (b && body_texts(b, c->answer, "urls", URLS_MAX, &c->request->keep, &urls, &n_urls) &&
	    body_text(b, c->answer, "tag", &tag) &&
	    body_number(b, c->answer, "weight", &c->request->keep, &weight)) {
		bool standard = false;

		for (size_t i = 0; i < n_urls; i++)
			standard |= !strcmp(urls[i], "-");
		if (!n_urls || standard) {
			http_problem(c->answer, 400, "urls: a list of URLs, please");
		} else {
			words[n++] = "--json";
			if (tag)
				words[n++] = control_option(&c->request->keep, "tag", tag);
			if (weight)
				words[n++] = control_option(&c->request->keep, "weight", weight);
			words[n++] = "--";
			for (size_t i = 0; i < n_urls; i++)
				words[n++] = urls[i];
			answer_words(c, "add", words, n);
		}
	}
	body_free(b);
}

/* The notifier is the token: a name that it could choose itself would be a new ceiling. */
void route_page_touched(struct call *c)
{
	struct body *b = body_parse(c->request, c->answer, "urls notifier");
	const char **urls, *name = NULL, *words[URLS_MAX + 8];
	bool standard = false;
	size_t n = 0, n_urls;

	if (b && body_texts(b, c->answer, "urls", URLS_MAX, &c->request->keep, &urls, &n_urls) &&
	    body_text(b, c->answer, "notifier", &name)) {
		for (size_t i = 0; i < n_urls; i++)
			standard |= !strcmp(urls[i], "-");
		if (!n_urls || standard) {
			http_problem(c->answer, 400, "urls: a list of URLs, please");
		} else if (c->who && name) {
			http_problem(c->answer, 400, "notifier: it is the name of the token, here");
		} else {
			words[n++] = "--json";
			if (c->who || name)
				words[n++] = control_option(&c->request->keep, "by", c->who ? c->who : name);
			words[n++] = "--";
			for (size_t i = 0; i < n_urls; i++)
				words[n++] = urls[i];
			answer_words(c, "touched", words, n);
		}
	}
	body_free(b);
}

void route_page_remove(struct call *c)
{
	const char *words[3] = { "--json", "--", NULL };
	struct store_page page;
	struct store *s = call_page(c, &page, &words[2]);

	store_close(s);
	if (s)
		answer_words(c, "remove", words, 3);
}
