/* SPDX-License-Identifier: Apache-2.0 */
/* ask_print.c - see ask_print.h. */
#include "cli/print/ask_print.h"

#include "base/when.h"

static void json_ktime(struct json *j, const char *key, int64_t t)
{
	char text[15];

	if (t)
		when_digits(t, text);
	json_kstr(j, key, t ? text : NULL);
}

void ask_print_offer(struct json *j, const struct client_offer *o)
{
	json_object(j);
	json_kstr(j, "lease", o->lease);
	json_kstr(j, "url", o->url);
	json_kstr(j, "given", o->given);
	json_kstr(j, "etag", o->etag);
	json_kstr(j, "last_modified", o->last_modified);
	json_ktime(j, "last_visit", o->last_visit);
	json_ktime(j, "not_before", o->not_before);
	json_ktime(j, "until", o->until);
	json_kint(j, "max_requests", o->max_requests);
	json_knum(j, "score", o->score);
	json_knum(j, "probability", o->probability);
	json_kstr(j, "reason", o->reason);
	json_kstr(j, "robots", o->robots);
	json_ktime(j, "robots_read", o->robots_read);
	json_knum(j, "crawl_delay", o->crawl_delay);
	if (o->again)
		json_kbool(j, "again", true);
	json_end_object(j);
	if (!j->depth)
		json_newline(j);
}

void ask_print_none(struct json *j, const struct client_asked *r)
{
	json_object(j);
	if (r->answer == CLIENT_WAIT)
		json_kint(j, "wait", r->wait);
	else
		json_kbool(j, "done", true);
	json_end_object(j);
	json_newline(j);
}

void ask_print_json(struct json *j, const struct client_asked *r)
{
	json_kint(j, "cycle", r->cycle.number);
	json_ktime(j, "time", r->cycle.time);
	json_kbool(j, "begun", r->begun);
	json_kint(j, "budget", r->cycle.budget);
	json_kint(j, "downloads", r->cycle.downloads);
	json_kint(j, "taken_off", r->taken_off);
	json_key(j, "offers");
	json_array(j);
	for (size_t i = 0; i < r->n; i++)
		ask_print_offer(j, &r->offers[i]);
	json_end_array(j);
	if (r->answer == CLIENT_WAIT)
		json_kint(j, "wait", r->wait);
	json_kbool(j, "done", r->answer == CLIENT_DONE);
}
