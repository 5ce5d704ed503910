/* SPDX-License-Identifier: Apache-2.0 */
/*
 * by_command.c - answers that are the documents of commands.
 *
 * The command runs in this thread, with the words that the route names, the parameters of the
 * request that the route allows, and --json; its document is the body.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <xxhash.h>

#include "base/io/output.h"
#include "cli/frame/repository.h"
#include "cli/frame/running.h"
#include "repo/place.h"
#include "serve/desk.h"
#include "serve/fleet/fleet.h"
#include "serve/serve_inner.h"

#define WORDS_MAX (URI_PARAMS_MAX + 3)
#define CACHE (8u << 20)                /* bytes of the tables in memory, of handles that but read */
#define ROOM (64u << 10)                /* bytes; a disk that has fewer left is full */

static int run_words(struct serve *s, int argc, char **argv, FILE *out, struct err *err)
{
	const struct command *c = command_find(argv[0]);
	struct cli cli;
	int n = 0, rc;

	if (!c)
		return err_set(err, E_FAIL, "no command %s", argv[0]);
	log_hush(true);
	output_divert(out);
	rc = running_parse(&cli, c, "freshet serve", argc - 1, argv + 1, &n, err);
	cli.common.repository = s->opts.folder;
	cli.common.store = s->opts.store;
	if (rc == 0 && s->opts.shard >= 0 && c->on_fleet != FLEET_UNAWARE)
		cli.common.shard = s->opts.shard;
	cli.common.seed = (int64_t)s->opts.client.seed;
	if (rc == 0)
		rc = running_go(&cli, n, argv + 1, err);
	running_release(&cli);
	output_divert(NULL);
	log_hush(false);
	return rc;
}

int command_answer(struct serve *s, const char *words, const char *const *more, size_t n_more,
                   struct buf *out, struct err *err)
{
	struct text rest = { words, strlen(words) }, word;
	struct arena keep = { 0 };
	VEC(char *) argv = { 0 };
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	int rc;

	if (!to)
		return err_errno(err, E_FAIL, "no memory for the answer");
	while (text_word(&rest, &word))
		vec_push(&argv, arena_strndup(&keep, word.s, word.size));
	for (size_t i = 0; i < n_more; i++)
		vec_push(&argv, arena_strndup(&keep, more[i], strlen(more[i])));
	vec_push(&argv, NULL);
	rc = run_words(s, (int)argv.n - 1, argv.v, to, err);
	vec_release(&argv);
	if (fclose(to) && rc == 0)
		rc = err_errno(err, E_FAIL, "no memory for the answer");
	if (rc == 0)
		buf_add(out, text, size);
	free(text);
	arena_release(&keep);
	return rc;
}

/* ---- answers ---- */

/* The tables grow by up to 32 KiB at a time (the index of the log): with less, the disk is full. */
static bool has_room(const char *folder)
{
	struct statvfs v;

	return statvfs(folder, &v) || (uint64_t)v.f_bavail * v.f_frsize >= ROOM;
}

/* A server that does not answer is an error of the store, as damage is: is it there now? */
static bool is_away(const struct serve *s)
{
	struct store *store;
	struct err err;

	if (!s->fleet && !store_is_far(s->desk->store))
		return false;
	if (serve_store(s, STORE_READ, &store, &err) < 0)
		return true;
	store_close(store);
	return false;
}

void answer_error(struct call *c, int rc, const struct err *err)
{
	int status = rc == E_USAGE || rc == E_PARSE || rc == E_LIMIT ? 400 :
	             rc == E_FAIL ? 404 : rc == E_GONE ? 410 : rc == E_BUSY ? 503 : rc == E_NET ? 503 :
	             rc == E_STORE && is_away(c->serve) ? 503 :
	             has_room(c->serve->opts.folder) ? 500 : 507;

	http_problem(c->answer, status, "%s", err->text);
	if (status == 503 || status == 507)
		http_answer_header(c->answer, "Retry-After", "2");
}

void answer_json(struct call *c)
{
	struct http_answer *a = c->answer;
	const char *known = http_header(c->request, "If-None-Match");
	char tag[24];

	a->status = a->status ? a->status : 200;
	a->type = a->type ? a->type : "application/json";
	if (strcmp(c->route->method, "GET") || a->status != 200)
		return;
	snprintf(tag, sizeof tag, "\"%016" PRIx64 "\"", XXH3_64bits(buf_text(&a->body), a->body.size));
	http_answer_header(a, "ETag", "%s", tag);
	if (known && strstr(known, tag)) {
		buf_clear(&a->body);
		a->status = 304;
	}
}

void answer_stopping(struct call *c)
{
	cli_json_schema(&c->j, "stopping");
	json_kbool(&c->j, "stopping", true);
	cli_json_end(&c->j);
	c->answer->status = 202;
	answer_json(c);
}

bool call_number(struct call *c, const char *key, int64_t def, int64_t min, int64_t max,
                 int64_t *ret)
{
	const char *value = uri_param(&c->request->uri, key);
	char *end;
	long long v;

	*ret = def;
	if (!value)
		return true;
	v = strtoll(value, &end, 10);
	if (!*value || *end || v < min || v > max) {
		http_problem(c->answer, 400, "%s: a number from %lld to %lld, please", key,
		             (long long)min, (long long)max);
		return false;
	}
	*ret = v;
	return true;
}

/* Over a fleet: its first shard, to read what is of the whole service. */
int serve_store(const struct serve *s, enum store_mode mode, struct store **ret,
                struct err *err)
{
	char path[PLACE_SIZE];
	int rc = s->opts.store || s->fleet ? 0 : place_find(s->opts.folder, path, err);

	if (rc >= 0)
		rc = s->fleet ? serve_fleet_store(s->fleet, 0, ret, err) :
		     store_open(ret, s->opts.store ? s->opts.store : path, mode, err);
	if (rc == 0)
		store_cache(*ret, CACHE);
	return rc;
}

struct store *call_store(struct call *c, enum store_mode mode)
{
	struct store *s = NULL;
	struct err err;
	int rc = serve_store(c->serve, mode, &s, &err);

	if (rc < 0)
		answer_error(c, rc, &err);
	return rc < 0 ? NULL : s;
}

/* The number of a page, if the name is one: over a fleet SHARD.NUMBER. */
static bool page_number(const struct serve *s, const char *name, int32_t *ret_shard,
                        uint64_t *ret)
{
	char *end;
	unsigned long long v;

	*ret_shard = 0;
	if (*name < '0' || *name > '9')
		return false;
	v = strtoull(name, &end, 10);
	if (s->fleet && *end == '.' && end[1] >= '0' && end[1] <= '9' && v < FLEET_SHARDS_MAX) {
		*ret_shard = (int32_t)v;
		v = strtoull(end + 1, &end, 10);
	} else if (s->fleet) {
		return false;
	}
	*ret = v;
	return !*end;
}

/* The store that has the page: over a fleet that of its shard. */
static int page_store(struct call *c, int32_t shard, bool by_url, struct store **ret,
                      struct err *err)
{
	struct serve_fleet *f = c->serve->fleet;
	int rc = 0;

	if (!f)
		return serve_store(c->serve, STORE_READ, ret, err);
	if (by_url)
		rc = serve_fleet_find(f, c->args[0], &shard, err);
	else if ((rc = serve_fleet_has(f, shard, err)) >= 0)
		shard = rc ? shard : -1;
	if (rc >= 0 && shard < 0)
		rc = err_set(err, E_FAIL, "%.200s: is neither a URL nor SHARD.NUMBER of a page", c->args[0]);
	return rc < 0 ? rc : serve_fleet_store(f, shard, ret, err);
}

static int find_page(struct call *c, struct store **s, struct store_page *ret, struct err *err)
{
	const char *name = c->args[0];
	uint64_t number = 0;
	int32_t shard;
	bool numbered = page_number(c->serve, name, &shard, &number);
	int rc = page_store(c, shard, !numbered, s, err);

	if (rc < 0)
		return rc;
	if (!numbered) {
		rc = repository_page(*s, name, ret, err);
		return rc == E_USAGE ? E_FAIL : rc;
	}
	rc = number < STORE_NONE ? store_page_get(*s, (uint32_t)number, ret, err) : 0;
	return rc > 0 ? 0 : rc < 0 ? rc :
	       err_set(err, E_FAIL, "page %.60s: there is no such page", name);
}

struct store *call_page(struct call *c, struct store_page *ret, const char **ret_url)
{
	struct store *s = NULL;
	struct err err = { 0 };
	int rc = find_page(c, &s, ret, &err);

	if (rc == 0) {
		*ret_url = arena_strndup(&c->request->keep, ret->url.s, ret->url.size);
		return s;
	}
	store_close(s);
	answer_error(c, rc, &err);
	return NULL;
}

/* ---- routes ---- */

const struct command *route_command_of(const struct route *r)
{
	char name[32];

	if (!r->command)
		return NULL;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(r->command, " "), r->command);
	return command_find(name);
}

/* The parameters of the request as options; q is the command's arguments. */
static size_t options_of(struct call *c, const char *options[WORDS_MAX])
{
	const struct uri *u = &c->request->uri;
	const struct command *command = route_command_of(c->route);
	size_t n = 0;

	for (size_t i = 0; i < u->n_params; i++) {
		const struct option_spec *o = option_find(command->options, u->params[i].key,
		                                          strlen(u->params[i].key));
		struct buf text;

		if (!o)
			continue;
		buf_init(&text, BUF_NO_LIMIT);
		if (o->type != OPTION_FLAG)
			buf_printf(&text, "--%s=%s", u->params[i].key, u->params[i].value);
		else if (strcmp(u->params[i].value, "0") && strcmp(u->params[i].value, "false"))
			buf_printf(&text, "--%s", u->params[i].key);
		if (text.size)
			options[n++] = arena_strndup(&c->request->keep, text.data, text.size);
		buf_release(&text);
	}
	return n;
}

/* Commands that go shard after shard print a document for each, in a line of its own: they become
 * the members of one. */
static void join_documents(struct buf *body)
{
	const char *end = body->size ? memchr(body->data, '\n', body->size) : NULL;
	struct text rest = { body->data, body->size };
	struct buf whole;
	struct json j;

	if (!end || (size_t)(end - body->data) + 1 == body->size)
		return;
	buf_init(&whole, BUF_NO_LIMIT);
	json_to_buf(&j, &whole);
	cli_json_schema(&j, "shards");
	json_key(&j, "shards");
	json_array(&j);
	while (rest.size) {
		end = memchr(rest.s, '\n', rest.size);
		size_t size = end ? (size_t)(end - rest.s) : rest.size;
		char *one = mem_strndup(rest.s, size);

		if (size)
			json_raw(&j, one);
		free(one);
		size += end != NULL;
		rest = (struct text){ rest.s + size, rest.size - size };
	}
	json_end_array(&j);
	cli_json_end(&j);
	buf_clear(body);
	buf_add(body, whole.data, whole.size);
	buf_release(&whole);
}

static bool run_command(struct call *c, const char *argument, bool json)
{
	const char *words[WORDS_MAX];
	size_t n = options_of(c, words);
	struct err err = { 0 };
	int rc;

	if (json)
		words[n++] = "--json";
	if (argument) {
		words[n++] = "--";
		words[n++] = argument;
	}
	rc = command_answer(c->serve, c->route->command, words, n, &c->answer->body, &err);
	if (rc < 0)
		answer_error(c, rc, &err);
	else if (json && c->serve->fleet)
		join_documents(&c->answer->body);
	return rc == 0;
}

void route_command(struct call *c)
{
	if (run_command(c, uri_param(&c->request->uri, "q"), true))
		answer_json(c);
}

void route_page_command(struct call *c)
{
	struct store_page page;
	const char *url;
	struct store *s = call_page(c, &page, &url);

	if (s && run_command(c, url, true))
		answer_json(c);
	store_close(s);
}

/* Nothing of a page is ever HTML here: whatever it is, a browser shows it as text or keeps it
 * as a file, and runs nothing. */
void route_content(struct call *c)
{
	struct store_page page;
	const char *url;
	struct store *s = call_page(c, &page, &url);

	if (s && run_command(c, url, false)) {
		if (uri_param(&c->request->uri, "download")) {
			c->answer->type = "application/octet-stream";
			http_answer_header(c->answer, "Content-Disposition",
			                   "attachment; filename=\"page-%u\"", page.number);
		} else {
			c->answer->type = "text/plain";
		}
		http_answer_header(c->answer, "Content-Security-Policy",
		                   "sandbox; default-src 'none'; frame-ancestors 'none'");
		answer_json(c);
	}
	store_close(s);
}
