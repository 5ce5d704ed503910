/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_robots.c - robots.txt of each origin, fetched once and cached for a day.
 *
 * When the first page of an origin has its turn, robots.txt is fetched instead.  That
 * page and later ones are parked until the rules are known.  The request obeys
 * politeness, gate and caps as any other.  It may be redirected five times, also to other
 * hosts; the rules bind the origin that was asked.  It costs no budget, unless a redirect
 * causes it: see robots_payer().  A robots.txt that cannot be fetched closes the origin
 * for a while: with the network's error if there was no answer, as forbidden if the
 * server failed.  Old rules stay in force when a later request fails.  If there are none,
 * a file that could not be fetched for 30 days counts as absent (RFC 9309 2.3.1.4).
 *
 * The caller may cache the files from run to run (robots_load, robots_save).  Then each
 * origin is asked once a day, however often the program is started.
 */
#include "fetch/fetch_inner.h"

#include <stdio.h>
#include <string.h>

#include "warc/http.h"
#include "web/rules/robots.h"

#define RULES_ALWAYS (16 << 10) /* bytes; rules of this size are stored though max_rules is reached */
#define ROBOTS_FAILED_AGE 600   /* seconds until a failed robots.txt is tried again */

void origin_release(struct origin *o)
{
	if (o->rules)
		robots_release(o->rules);
	free(o->rules);
	free(o->why);
}

static void ask_for(struct fetch *f, uint32_t number, const struct job *page, double now)
{
	struct job *j = job_new(f);

	j->is_robots = true;
	j->origin = number;
	j->payer = page->hops.n ? page->number : NONE;
	j->home = page->home;
	buf_add(&j->url, page->url.data, page->parts.path);
	buf_str(&j->url, "/robots.txt");
	f->origins.v[number].known = ASKED;
	job_queue(f, j, now, true);
}

/* The caller's pages have a known number of sites, so their robots.txt files are free.
 * But redirects lead to as many sites as a server likes.  So two kinds are charged, as
 * hops are, to the page that waits for them: the robots.txt of a redirect's target, and a
 * robots.txt that is itself redirected to another domain. */
uint32_t robots_payer(const struct fetch *f, const struct job *j)
{
	const struct origin *o = &f->origins.v[j->origin];
	uint32_t payer = j->payer;
	struct buf from, to;

	if (payer != NONE || !j->hops.n)
		return payer;
	buf_init(&from, URL_SIZE_MAX);
	buf_init(&to, URL_SIZE_MAX);
	url_site(j->hops.v[0].url, strlen(j->hops.v[0].url), true, &from);
	url_site(j->url.data, j->url.size, true, &to);
	if (strcmp(buf_text(&from), buf_text(&to)))
		payer = o->parked.first;
	buf_release(&from);
	buf_release(&to);
	return payer;
}

static bool remember(struct fetch *f, const struct job *page, double now);

/* Is its Crawl-delay longer than our limit?  Then its pages are not fetched. */
static bool is_too_slow(const struct fetch *f, const struct origin *o)
{
	const struct polite_options *p = &f->opt.polite;

	return o->rules && o->rules->crawl_delay > p->max_crawl_delay &&
		o->rules->crawl_delay > p->delay;
}

bool robots_ask(struct fetch *f, struct job *j, double now)
{
	struct origin *o = &f->origins.v[j->origin];
	const char *rule = NULL;

	if (j->is_robots || f->opt.ignore_robots)
		return true;
	if (o->known == KNOWN && now > o->until)
		o->known = UNKNOWN;
	if (o->known != KNOWN && !(o->known == UNKNOWN && remember(f, j, now))) {
		polite_cancel(f->polite, j->host);
		list_push(f, &o->parked, j);
		if (o->known == UNKNOWN)
			ask_for(f, j->origin, j, now);
		host_hurry(f, j);
		return false;
	}
	if (o->error == FETCH_OK && !is_too_slow(f, o) &&
	    (!o->rules || robots_allows(o->rules, j->url.data, j->url.size, &rule)))
		return true;
	polite_cancel(f->polite, j->host);
	j->blocked = polite_blocked(f->polite, j->host, now);
	if (o->error != FETCH_OK)
		job_done(f, j, o->error, "robots.txt: %s", o->why ? o->why : "");
	else if (is_too_slow(f, o))
		job_done(f, j, FETCH_CRAWL_DELAY, "robots.txt: Crawl-delay: %.10g is more than "
		         "the %.10g s of --crawl-delay", o->rules->crawl_delay,
		         f->opt.polite.max_crawl_delay);
	else
		job_done(f, j, FETCH_ROBOTS, "robots.txt: Disallow: %.200s", rule ? rule : "");
	return false;
}

static size_t rules_size(const struct robots *r)
{
	return sizeof *r + r->text.size + r->rules.n * sizeof *r->rules.v;
}

static void no_rules(struct fetch *f, struct origin *o)
{
	if (!o->rules)
		return;
	f->rules_held -= rules_size(o->rules);
	robots_release(o->rules);
	free(o->rules);
	o->rules = NULL;
}

/* False, with the reason: the rules are large and max_rules is reached, or they broke what read
 * them.  Rules of usual size are always stored; otherwise servers with large ones could lock out
 * all others. */
static bool set_rules(struct fetch *f, struct origin *o, const char *data, size_t size,
                      bool cut, struct err *why)
{
	struct robots *rules = mem_zalloc(1, sizeof *rules);
	size_t n;
	int rc = robots_read(rules, data, size, cut, f->opt.robots_name, why);

	n = rules_size(rules);
	if (rc == 0 && n > RULES_ALWAYS && f->rules_held + n > f->opt.max_rules)
		rc = err_set(why, E_LIMIT, "too many large ones are held");
	if (rc < 0) {
		robots_release(rules);
		free(rules);
		return false;
	}
	no_rules(f, o);
	f->rules_held += n;
	o->rules = rules;
	return true;
}

static void save(struct fetch *f, uint32_t origin, const struct fetch_robots_copy *copy)
{
	if (f->opt.robots_save)
		f->opt.robots_save(f->opt.arg, strtab_get(&f->origin_names, origin),
		                   strtab_size(&f->origin_names, origin), copy);
}

/* Parse the rules of an answer, and save them in the caller's cache. */
static bool learn_rules(struct fetch *f, const struct job *j, const struct transfer *t,
                        struct err *why)
{
	struct fetch_robots_copy copy = { .status = 200, .cut = t->cut != FETCH_WHOLE,
		.passing = j->payer != NONE,
		.body = buf_text(&t->body), .size = t->body.size };
	const char *value;
	struct buf plain;
	size_t n;
	bool room;

	buf_init(&plain, ROBOTS_SIZE_MAX + 1);
	if (fetch_header(t->head.data, t->head.size, "Content-Encoding", &value, &n)) {
		/* the part before the damage or the cap is in force */
		copy.cut |= http_decode(&plain, value, n, copy.body, copy.size, NULL) != 0;
		copy.body = buf_text(&plain);
		copy.size = plain.size;
	}
	room = set_rules(f, &f->origins.v[j->origin], copy.body, copy.size, copy.cut, why);
	if (copy.size > ROBOTS_SIZE_MAX) {
		copy.size = ROBOTS_SIZE_MAX;
		copy.cut = true;
	}
	save(f, j->origin, &copy);
	buf_release(&plain);
	return room;
}

static void failed(struct origin *o, enum fetch_error error, const char *why, double now)
{
	o->until = now + ROBOTS_FAILED_AGE;
	if (o->rules)
		return;                 /* yesterday's rules are better than none */
	o->error = error;
	free(o->why);
	o->why = mem_strdup(why);
}

/* Note that robots.txt could not be fetched, unless we had no time or budget to ask. */
static void note_failing(struct fetch *f, uint32_t origin, enum fetch_error error, int status,
                         double now)
{
	struct origin *o = &f->origins.v[origin];

	if (error == FETCH_STOPPED || error == FETCH_BUDGET || error == FETCH_BACKOFF ||
	    error == FETCH_GATE)
		return;
	if (!o->failing)
		o->failing_since = now;
	o->failing = true;
	save(f, origin, &(struct fetch_robots_copy){ .failed = true, .status = status });
}

/* Load the caller's copy.  True: it need not be fetched now, since it is recent enough,
 * or the last attempt failed a short time ago. */
static bool remember(struct fetch *f, const struct job *page, double now)
{
	struct origin *o = &f->origins.v[page->origin];
	struct fetch_robots_copy c = { 0 };
	bool old;

	if (!f->opt.robots_load ||
	    !f->opt.robots_load(f->opt.arg, strtab_get(&f->origin_names, page->origin),
	                        strtab_size(&f->origin_names, page->origin), &c))
		return false;
	o->error = FETCH_OK;
	if (c.status != 200 || !set_rules(f, o, c.body, c.size, c.cut, NULL))
		no_rules(f, o);
	if (c.status == 200 && !o->rules)
		return false;           /* no room, or it breaks its reader */
	o->failing = c.failed;
	o->failing_since = now - c.failing;
	if (o->rules && o->rules->crawl_delay > 0)
		polite_set_crawl_delay(f->polite, page->host, o->rules->crawl_delay);
	old = !c.status || c.age >= f->opt.robots_age;
	if (old && !(c.failed && c.tried < ROBOTS_FAILED_AGE))
		return false;
	o->known = KNOWN;
	o->until = now + f->opt.robots_age - c.age;
	if (old) {
		if (robots_policy(0, (int64_t)c.failing) == ROBOTS_DISALLOW_ALL)
			failed(o, FETCH_ROBOTS, "it could not be had just now", now);
		o->until = now + ROBOTS_FAILED_AGE - c.tried;
	}
	return true;
}

/* Set the state of the origin from the end of its robots.txt request. */
static void robots_answered(struct fetch *f, struct job *j, struct transfer *t,
                            enum fetch_error error, double now)
{
	struct origin *o = &f->origins.v[j->origin];
	int status = t && error == FETCH_OK ? t->status : 0;
	bool nowhere = error == FETCH_REDIRECT || error == FETCH_BAD_URL;
	enum robots_access access;
	struct err unread;
	char why[300];

	if (t && t->head_done && t->status == 200)
		status = 200;           /* also if it was cut */
	if (status)
		snprintf(why, sizeof why, "status %d", status);
	else
		snprintf(why, sizeof why, "%s", t && error ? t->why : j->why ? j->why : "");
	/* the redirects end nowhere: "unavailable", RFC 9309 2.3.1.2 */
	access = nowhere ? ROBOTS_ALLOW_ALL :
	         robots_policy(status, o->failing ? (int64_t)(now - o->failing_since) : 0);
	if (!nowhere && (!status || status == 429 || status >= 500)) {
		note_failing(f, j->origin, error, status, now);
		if (access == ROBOTS_DISALLOW_ALL)
			failed(o, status ? FETCH_ROBOTS : error, why, now);
		o->until = now + ROBOTS_FAILED_AGE;
		return;
	}
	o->failing = false;
	if (access == ROBOTS_READ && !learn_rules(f, j, t, &unread))
		failed(o, FETCH_ROBOTS, unread.text, now);
	if (access == ROBOTS_ALLOW_ALL) {
		no_rules(f, o);
		save(f, j->origin, &(struct fetch_robots_copy){ .status = status ? status : 404 });
	}
}

void robots_done(struct fetch *f, struct job *j, struct transfer *t, double now)
{
	struct origin *o;
	struct list parked;
	enum fetch_error error = t ? t->error : j->error;

	if (t && error == FETCH_OK && j->hops.n < f->opt.max_redirects &&
	    job_redirect(f, j, t, now)) {
		fetch_recycle(f, t);
		return;                 /* the job continues, or came back here with t == NULL */
	}
	o = &f->origins.v[j->origin];   /* again: a redirect may have moved the array */
	o->known = KNOWN;
	o->error = FETCH_OK;
	o->until = now + f->opt.robots_age;
	robots_answered(f, j, t, error, now);
	/* the page that should pay could not, or was unwelcome: the next of the origin asks again */
	if (j->payer != NONE &&
	    (error == FETCH_BUDGET || (error == FETCH_BACKOFF && job_is_guest(j))))
		o->known = UNKNOWN;
	parked = o->parked;
	o->parked = (struct list){ NONE, NONE };
	/* a host may have several origins: the Crawl-delay of any of them stays */
	if (parked.first != NONE && o->rules && o->rules->crawl_delay > 0)
		polite_set_crawl_delay(f->polite, f->jobs.v[parked.first]->host,
		                       o->rules->crawl_delay);
	while (parked.first != NONE) {
		struct job *page = f->jobs.v[parked.first];

		parked.first = page->next;
		if (o->known == UNKNOWN && page->hops.n)
			job_done(f, page, error, "robots.txt: %s", j->why ? j->why : "");
		else
			polite_add(f->polite, page->host, page->number, now);
	}
	if (t)
		fetch_recycle(f, t);
	job_free(f, j);
}

static const struct origin *find_origin(const struct fetch *f, const char *url, size_t size)
{
	struct url_parts p;
	uint32_t i;

	url_split(url, size, &p);
	i = strtab_find(&f->origin_names, url, p.path);
	return i == MAP_NONE || f->origins.v[i].known != KNOWN ? NULL : &f->origins.v[i];
}

double fetch_pause(const struct fetch *f, const char *url, size_t size, bool *ret_robots)
{
	struct url_parts p;

	url_split(url, size, &p);
	*ret_robots = !f->opt.ignore_robots && !find_origin(f, url, size);
	return polite_delay(f->polite, url + p.host, p.host_end - p.host);
}

const struct robots *fetch_robots(const struct fetch *f, const char *url, size_t size)
{
	const struct origin *o = find_origin(f, url, size);

	return o ? o->rules : NULL;
}

bool fetch_allows(const struct fetch *f, const char *url, size_t size)
{
	const struct origin *o = find_origin(f, url, size);

	return f->opt.ignore_robots ||
	       (o && o->error == FETCH_OK && !is_too_slow(f, o) &&
	        (!o->rules || robots_allows(o->rules, url, size, NULL)));
}
