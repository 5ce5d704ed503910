/* SPDX-License-Identifier: Apache-2.0 */
/* desk.c - see desk.h. */
#include "serve/desk.h"

#include <openssl/sha.h>
#include <stdio.h>
#include <time.h>

#include "base/log.h"
#include "base/map.h"
#include "cli/frame/command.h"
#include "cli/print/ask_print.h"
#include "serve/http/body.h"
#include "serve/jobs.h"

#define KEY_MAX 200                     /* bytes of an idempotency key */
#define HOSTS_MAX 1000                  /* that a lease may name */
#define KEY_PREFIX "told."

struct desk_client { char *name; int64_t seen; uint64_t leased, told; };

struct desk {
	struct serve *serve;
	pthread_mutex_t lock;
	struct store *store;
	struct client *client;
	struct client_opts opts;
	pthread_mutex_t shown;          /* of the following; taken after lock, and briefly */
	struct store_cycle cycle;       /* as it was last seen; texts are not used */
	bool begun;                     /* one was seen */
	struct strtab names;
	VEC(struct desk_client) clients;
	struct desk_counts counts;
	int64_t cleaned;
	pthread_t warmer;
	bool warm;                      /* the engine was loaded once; or it cannot be */
};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The first who asks must not wait for it. */
static void *warm_up(void *arg)
{
	struct desk *d = arg;
	struct err err = { 0 };

	log_hush(true);
	pthread_mutex_lock(&d->lock);
	if (client_warm(d->client, &err) < 0)
		log_warn("%s", err.text);
	pthread_mutex_lock(&d->shown);
	d->warm = true;
	pthread_mutex_unlock(&d->shown);
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

bool desk_is_warm(struct desk *d)
{
	bool warm;

	pthread_mutex_lock(&d->shown);
	warm = d->warm;
	pthread_mutex_unlock(&d->shown);
	return warm;
}

int desk_open(struct desk **ret, struct serve *s, struct err *err)
{
	struct desk *d = mem_zalloc(1, sizeof *d);
	int rc;

	d->serve = s;
	d->opts = s->opts.client;
	pthread_mutex_init(&d->lock, NULL);
	pthread_mutex_init(&d->shown, NULL);
	if ((rc = serve_store(s, STORE_EXISTING, &d->store, err)) < 0) {
		free(d);
		return rc;
	}
	client_open(&d->client, d->store, &d->opts);
	pthread_create(&d->warmer, NULL, warm_up, d);
	*ret = d;
	return 0;
}

void desk_close(struct desk *d)
{
	if (!d)
		return;
	pthread_join(d->warmer, NULL);
	client_close(d->client);
	store_close(d->store);
	for (size_t i = 0; i < d->clients.n; i++)
		free(d->clients.v[i].name);
	vec_release(&d->clients);
	strtab_release(&d->names);
	pthread_mutex_destroy(&d->shown);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

void desk_renew(struct desk *d, const struct client_opts *opts)
{
	pthread_mutex_lock(&d->lock);
	d->opts = *opts;
	client_close(d->client);
	client_open(&d->client, d->store, &d->opts);
	pthread_mutex_unlock(&d->lock);
}

static struct desk_client *note_client(struct desk *d, const char *name)
{
	bool is_new;
	uint32_t at;

	name = name ? name : "";
	if (d->clients.n >= DESK_CLIENTS_MAX && strtab_find(&d->names, name, strlen(name)) == MAP_NONE)
		name = "";
	at = strtab_intern(&d->names, name, strlen(name), &is_new);
	if (is_new)
		vec_push(&d->clients, ((struct desk_client){ .name = mem_strdup(name) }));
	d->clients.v[at].seen = (int64_t)time(NULL);
	return &d->clients.v[at];
}

/* ---- lease ---- */

static bool read_asking(struct call *c, const struct body *b, struct client_asking *a)
{
	struct http_answer *to = c->answer;
	int64_t count, per_host, seconds_held, max_requests;
	const char **hosts;

	if (!body_int(b, to, "count", 100, 1, CLIENT_WANT_MAX, &count) ||
	    !body_int(b, to, "per_host", 0, 0, INT32_MAX, &per_host) ||
	    !body_int(b, to, "seconds", CLIENT_FOR, 1, 30 * DAY_SECONDS, &seconds_held) ||
	    !body_int(b, to, "max_requests", 1, 1, 1000, &max_requests) ||
	    !body_text(b, to, "client", &a->name) || !body_text(b, to, "agent", &a->agent) ||
	    !body_flag(b, to, "new", &a->anew) ||
	    !body_texts(b, to, "hosts", HOSTS_MAX, &c->request->keep, &hosts, &a->n_hosts))
		return false;
	a->hosts = hosts;
	a->want = (uint32_t)count;
	a->per_host = (uint32_t)per_host;
	a->seconds = seconds_held;
	a->max_requests = (uint32_t)max_requests;
	return true;
}

void route_lease(struct call *c)
{
	struct desk *d = c->serve->desk;
	struct body *b = body_parse(c->request, c->answer,
	                            "count per_host seconds max_requests client agent hosts new");
	struct client_asking a = { .now = (int64_t)time(NULL) };
	struct client_asked r = { 0 };
	struct err err = { 0 };
	double began = seconds();
	int rc;

	if (!b || !read_asking(c, b, &a)) {
		body_free(b);
		return;
	}
	if (jobs_running(c->serve->jobs, JOB_CYCLE)) {
		http_problem(c->answer, 409, "a cycle of our own fetcher runs: ask when it is over, or stop "
		             "it (DELETE /v1/cycles/current)");
		body_free(b);
		return;
	}
	pthread_mutex_lock(&d->lock);
	rc = client_ask(d->client, &a, &r, &err);
	if (rc == 0) {
		cli_json_schema(&c->j, "ask");
		ask_print_json(&c->j, &r);
		cli_json_end(&c->j);
	}
	pthread_mutex_lock(&d->shown);
	if (rc == 0) {
		note_client(d, a.name)->leased += r.n;
		d->counts.leased += r.n;
		d->cycle = r.cycle;
		d->begun = r.cycle.number != 0;
	}
	d->counts.asks++;
	d->counts.seconds_ask += seconds() - began;
	pthread_mutex_unlock(&d->shown);
	pthread_mutex_unlock(&d->lock);
	body_free(b);
	if (rc == E_USAGE)
		http_problem(c->answer, 409, "%s", err.text);
	else if (rc < 0)
		answer_error(c, rc, &err);
	else
		answer_json(c);
}

/* POST /v1/lease/end: the cycle is over. */
void route_lease_end(struct call *c)
{
	struct desk *d = c->serve->desk;
	struct store_cycle row;
	struct err err = { 0 };
	int rc;

	pthread_mutex_lock(&d->lock);
	rc = client_end(d->client, (int64_t)time(NULL), &row, &err);
	pthread_mutex_lock(&d->shown);
	if (rc > 0)
		d->cycle = row;
	pthread_mutex_unlock(&d->shown);
	pthread_mutex_unlock(&d->lock);
	if (rc < 0) {
		answer_error(c, rc, &err);
	} else if (rc == 0) {
		http_problem(c->answer, 409, "no cycle is open for other crawlers");
	} else {
		cli_json_schema(&c->j, "end");
		json_kint(&c->j, "cycle", row.number);
		json_kint(&c->j, "budget", row.budget);
		json_kint(&c->j, "downloads", row.downloads);
		json_kint(&c->j, "changed", row.changed);
		cli_json_end(&c->j);
		answer_json(c);
	}
}

/* ---- tell ---- */

struct telling {
	struct call *call;
	struct desk *desk;
	const char *key;                /* of the state, or NULL */
	char digest[2 * SHA256_DIGEST_LENGTH + 1];      /* of the body */
	VEC(struct told) told;
	VEC(uint32_t) line;             /* of each */
	VEC(struct buf) texts;
	struct tell_stats stats;
	uint32_t n_lines;
	struct buf refused;             /* elements of a list, as JSON */
	struct json j;
};

static void hex_digest(const void *data, size_t size, char out[2 * SHA256_DIGEST_LENGTH + 1])
{
	unsigned char raw[SHA256_DIGEST_LENGTH];

	SHA256(data, size, raw);
	for (size_t i = 0; i < sizeof raw; i++)
		snprintf(out + 2 * i, 3, "%02x", raw[i]);
}

static void refuse_line(struct telling *t, uint32_t line, const char *why)
{
	json_object(&t->j);
	json_kint(&t->j, "line", line);
	json_kstr(&t->j, "why", why);
	json_end_object(&t->j);
}

static void note_line(void *arg, size_t i, const char *why)
{
	struct telling *t = arg;

	if (why)
		refuse_line(t, t->line.v[i], why);
}

static bool read_lines(struct telling *t)
{
	const struct buf *b = &t->call->request->body;
	const char *p = b->data, *end = p + b->size;

	for (uint32_t line = 1; p < end; line++) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t size = (size_t)((stop ? stop : end) - p);
		struct told told;
		struct buf texts;
		const char *why;

		while (size && (p[size - 1] == '\r' || p[size - 1] == ' '))
			size--;
		if (size) {
			if (t->n_lines++ == DESK_LINES_MAX) {
				http_problem(t->call->answer, 413, "more than %d lines: send them in parts",
				             DESK_LINES_MAX);
				return false;
			}
			buf_init(&texts, TELL_LINE_MAX);
			why = size > TELL_LINE_MAX ? "the line is too long" : tell_parse(&told, &texts, p, size);
			if (why) {
				refuse_line(t, line, why);
				t->stats.n_bad++;
				buf_release(&texts);
			} else {
				vec_push(&t->told, told);
				vec_push(&t->line, line);
				vec_push(&t->texts, texts);
			}
		}
		p = stop ? stop + 1 : end;
	}
	return true;
}

static void print_told(struct telling *t, const struct tell_stats *s, struct buf *out)
{
	struct json j;

	json_to_buf(&j, out);
	cli_json_schema(&j, "tell");
	json_kint(&j, "told", (int64_t)s->n_lines);
	json_kint(&j, "new", (int64_t)s->fresh);
	json_kint(&j, "changed", (int64_t)s->changed);
	json_kint(&j, "same", (int64_t)s->same);
	json_kint(&j, "gone", (int64_t)s->gone);
	json_kint(&j, "failed", (int64_t)s->failed);
	json_kint(&j, "released", (int64_t)s->n_given_back);
	json_kint(&j, "repeated", (int64_t)s->n_repeated);
	json_kint(&j, "late", (int64_t)s->n_late);
	json_kint(&j, "unknown", (int64_t)s->n_unknown);
	json_kint(&j, "malformed", (int64_t)(s->n_bad + t->stats.n_bad - s->n_unknown));
	json_kint(&j, "future", (int64_t)s->n_future);
	json_key(&j, "refused");
	buf_add(out, t->refused.size ? t->refused.data : "[", t->refused.size ? t->refused.size : 1);
	buf_str(out, "]}\n");
}

/* The key goes into the batch of the outcomes: both are kept, or none. */
static int keep_key(void *arg, const struct tell_stats *s, struct err *err)
{
	struct telling *t = arg;
	struct buf text;
	int rc = 0;

	print_told(t, s, &t->call->answer->body);
	if (!t->key)
		return 0;
	buf_init(&text, BUF_NO_LIMIT);
	buf_printf(&text, "%lld %s %s", (long long)time(NULL), t->digest,
	           buf_text(&t->call->answer->body));
	rc = store_state_put(t->desk->store, STORE_OF_SHARD, t->key, buf_text(&text), err);
	buf_release(&text);
	return rc;
}

/* Was this request heard before?  1: the answer is there. */
static int heard_before(struct telling *t, struct err *err)
{
	char *kept = NULL, digest[65] = "";
	int at = 0, rc = store_state_get(t->desk->store, STORE_OF_SHARD, t->key, &kept, err);

	if (rc <= 0)
		return rc;
	if (sscanf(kept, "%*d %64s %n", digest, &at) < 1 || !at)
		rc = err_set(err, E_STORE, "an idempotency key that cannot be read");
	else if (strcmp(digest, t->digest))
		http_problem(t->call->answer, 422, "this Idempotency-Key came with another body before");
	else
		buf_str(&t->call->answer->body, kept + at);
	free(kept);
	return rc < 0 ? rc : 1;
}

static void name_key(struct telling *t, const char *key)
{
	struct buf name;
	char digest[2 * SHA256_DIGEST_LENGTH + 1];

	buf_init(&name, BUF_NO_LIMIT);
	buf_printf(&name, "%s %s", t->call->who ? t->call->who : "", key);
	hex_digest(buf_text(&name), name.size, digest);
	buf_clear(&name);
	buf_printf(&name, KEY_PREFIX "%s", digest);
	t->key = arena_strndup(&t->call->request->keep, buf_text(&name), name.size);
	hex_digest(t->call->request->body.data, t->call->request->body.size, t->digest);
	buf_release(&name);
}

static int tell(struct telling *t, struct err *err)
{
	struct desk *d = t->desk;
	const char *name = uri_param(&t->call->request->uri, "client");
	struct tell_stats s = { 0 };
	double began = seconds();
	int rc = t->key ? heard_before(t, err) : 0;

	if (rc == 0) {
		rc = client_tell_and(d->client, t->told.v, t->told.n, (int64_t)time(NULL), note_line,
		                     keep_key, t, &s, err);
		if (rc == 0 && !t->call->answer->body.size)     /* nothing was kept */
			print_told(t, &s, &t->call->answer->body);
	}
	pthread_mutex_lock(&d->shown);
	d->counts.told += s.n_lines;
	d->cycle.downloads += (uint32_t)s.n_lines;      /* about: redirects are not counted here */
	d->counts.refused += s.n_bad + t->stats.n_bad;
	note_client(d, name)->told += s.n_lines;
	d->counts.tells++;
	d->counts.seconds_tell += seconds() - began;
	pthread_mutex_unlock(&d->shown);
	return rc < 0 ? rc : 0;
}

void route_tell(struct call *c)
{
	struct telling t = { .call = c, .desk = c->serve->desk };
	const char *key = http_header(c->request, "Idempotency-Key");
	struct err err = { 0 };
	int rc = 0;

	if (key && (!*key || strlen(key) > KEY_MAX)) {
		http_problem(c->answer, 400, "Idempotency-Key: 1 to %d bytes, please", KEY_MAX);
		return;
	}
	if (!c->request->body.size) {
		http_problem(c->answer, 400, "the body has no line; one outcome a line, please");
		return;
	}
	buf_init(&t.refused, BUF_NO_LIMIT);
	json_to_buf(&t.j, &t.refused);
	json_array(&t.j);
	if (key)
		name_key(&t, key);
	if (read_lines(&t)) {
		pthread_mutex_lock(&t.desk->lock);
		rc = tell(&t, &err);
		pthread_mutex_unlock(&t.desk->lock);
		if (rc < 0) {
			buf_clear(&c->answer->body);
			answer_error(c, rc, &err);
		} else if (!c->answer->status) {
			answer_json(c);
		}
	}
	for (size_t i = 0; i < t.texts.n; i++)
		buf_release(&t.texts.v[i]);
	vec_release(&t.texts);
	vec_release(&t.told);
	vec_release(&t.line);
	buf_release(&t.refused);
}

/* ---- beside ---- */

struct cleaning { int64_t before; VEC(char *) old; };

static int see_key(void *arg, const char *key, const char *value, struct err *err)
{
	struct cleaning *c = arg;

	(void)err;
	if (!strncmp(key, KEY_PREFIX, strlen(KEY_PREFIX)) && strtoll(value, NULL, 10) < c->before)
		vec_push(&c->old, mem_strdup(key));
	return 0;
}

void desk_clean(struct desk *d, int64_t now)
{
	struct cleaning c = { .before = now - DESK_KEYS_SECONDS };
	struct err err;
	int rc;

	if (now - d->cleaned < 3600)
		return;
	d->cleaned = now;
	pthread_mutex_lock(&d->lock);
	rc = store_states(d->store, STORE_OF_SHARD, see_key, &c, &err);
	if (rc == 0 && c.old.n && (rc = store_begin(d->store, &err)) == 0) {
		for (size_t i = 0; rc == 0 && i < c.old.n; i++)
			rc = store_state_put(d->store, STORE_OF_SHARD, c.old.v[i], NULL, &err);
		if (rc == 0)
			rc = store_commit(d->store, &err);
		if (rc < 0)
			store_rollback(d->store);
	}
	pthread_mutex_unlock(&d->lock);
	for (size_t i = 0; i < c.old.n; i++)
		free(c.old.v[i]);
	vec_release(&c.old);
}

void desk_print(struct desk *d, struct json *j)
{
	pthread_mutex_lock(&d->shown);
	json_key(j, "leases");
	if (!d->begun) {
		json_null(j);
	} else {
		json_object(j);
		json_kint(j, "cycle", d->cycle.number);
		json_kbool(j, "open", d->cycle.open);
		json_kint(j, "budget", d->cycle.budget);
		json_kint(j, "spent", d->cycle.downloads);
		json_kint(j, "leased", (int64_t)d->counts.leased);
		json_kint(j, "told", (int64_t)d->counts.told);
		json_key(j, "clients");
		json_array(j);
		for (size_t i = 0; i < d->clients.n && i < 100; i++) {
			char t[21];

			when_iso(d->clients.v[i].seen, t);
			json_object(j);
			json_kstr(j, "client", d->clients.v[i].name);
			json_kstr(j, "seen", t);
			json_kint(j, "leased", (int64_t)d->clients.v[i].leased);
			json_kint(j, "told", (int64_t)d->clients.v[i].told);
			json_end_object(j);
		}
		json_end_array(j);
		json_end_object(j);
	}
	pthread_mutex_unlock(&d->shown);
}

void desk_counts(struct desk *d, struct desk_counts *ret)
{
	pthread_mutex_lock(&d->shown);
	*ret = d->counts;
	pthread_mutex_unlock(&d->shown);
}
