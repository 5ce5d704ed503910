/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.h - pages from the live web, politely and safely.
 *
 * Add requests with fetch_add() at any time, and call fetch_next() for outcomes, which
 * come in any order.  All decisions are made inside fetch_next(), on the caller's thread.
 * Other threads exchange bytes (fetch/wire.h) and resolve names (fetch/resolve.h).  The
 * fetcher decides when each host may be asked (fetch/polite/polite.h) and obeys robots.txt,
 * which it fetches itself and counts separately.  It follows redirects one hop at a time;
 * each hop is parsed, checked by the gate (fetch/gate.h) and counted.  It cuts answers
 * that are too long, too slow or too large.
 *
 * An outcome with error == FETCH_OK is an answer: any status but a followed redirect.  It
 * is complete, or cut at max_body (then `truncated` says so).  An outcome with an error
 * may still have a status (429 with FETCH_BACKOFF).  A body cut by time or disconnect is
 * kept for the archive, but says nothing about the page.  A 304 is an answer only if
 * validators were sent.
 *
 * The fetcher sends no cookies, credentials and headers but those that the user gave it for
 * that very URL (fetch/asking/asking.h), takes no cookies, uses no scheme but http and
 * https, and sends no byte of a URL or validator that could end a header line.
 */
#ifndef FETCH_FETCH_H
#define FETCH_FETCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "fetch/polite/polite.h"
#include "web/rules/scope.h"

struct asking_rules;
struct asking_extra;
struct gate;
struct sockaddr_storage;
struct fetch;

enum fetch_error {
#define FETCH_ERROR(code, name) code,
#include "fetch/fetch_error.def"
#undef FETCH_ERROR
	FETCH_N_ERRORS
};
const char *fetch_error_name(enum fetch_error e);

enum fetch_method { FETCH_GET, FETCH_HEAD };
/* Values of WARC-Truncated. */
enum fetch_cut { FETCH_WHOLE, FETCH_CUT_LENGTH, FETCH_CUT_TIME, FETCH_CUT_DISCONNECT };
const char *fetch_cut_name(enum fetch_cut c);   /* "", "length", "time", ... */

#define FETCH_ADDRESSES_MAX 8           /* of one name; more are ignored */

/* What is known of an origin's robots.txt; ages in seconds. */
struct fetch_robots_copy {
	int status;                     /* of the answer in force; 0: there never was one */
	double age;                     /* of that answer */
	const char *body;               /* if it is 200: the file, decoded */
	size_t size;
	bool cut;                       /* body is only the first part of the file */
	bool passing;                   /* saved: only a redirect has led there */
	bool failed;                    /* the last request failed.  In robots_save(): only this
	                                 * is new; status is that of the request, 0: no answer */
	double tried;                   /* since that request */
	double failing;                 /* since the first of the failures in a row */
};

/* A request that is about to be sent; numbers as in struct fetch_request. */
struct fetch_sent { uint32_t page, site; };

enum fetch_spend {
	FETCH_LOOK,     /* would the first request be granted?  Before robots.txt is fetched */
	FETCH_FIRST,    /* the first request is about to be sent */
	FETCH_MORE,     /* a redirect hop, a second opinion, a retry, or robots.txt of another
	                 * site that a redirect leads to */
};

struct fetch_options {
	const char *user_agent;         /* "freshet/VERSION (+URL or mail)" */
	const char *robots_name;        /* product token for robots.txt; "freshet" */
	bool ignore_robots;             /* only for the user's own test servers */
	const struct asking_rules *asking;    /* what goes with requests; NULL: nothing more */
	const struct gate *gate;        /* NULL: global addresses only */
	struct polite_options polite;
	unsigned connections;           /* at a time, over all hosts */
	unsigned threads;               /* for the exchanges; 0: by the number of processors */
	double connect_timeout, head_timeout, whole_timeout;    /* seconds */
	double cycle_seconds;           /* from fetch_new() or fetch_again() on; 0: no limit */
	double host_seconds;            /* for each host, from its first request on; 0: no limit.
	                                 * See fetch_over() */
	double slow_seconds;            /* a window of this length with less than */
	double slow_rate;               /* this many bytes/s ends the transfer */
	size_t max_head, max_body, max_decoded, max_memory;
	size_t max_rules;               /* bytes of robots.txt held, of all origins */
	unsigned max_redirects;
	unsigned retries;               /* after 429/503, within polite.max_wait */
	double robots_age, dns_age;     /* seconds until robots.txt and addresses are read again */
	const char *proxy, *no_proxy;   /* NULL: as the environment says; "": none */
	const char *ca_file, *ca_path;  /* NULL: libcurl's */
	int family;                     /* AF_INET or AF_INET6 only; 0: both */
	const char *bind;               /* "host!ADDRESS" or "if!NAME" to send from; or NULL */
	double limit_rate;              /* bytes/s received, of all hosts together; 0: no limit */
	const char *program;            /* a command that fetches pages; NULL: none */
	struct scope_list *program_for; /* those that a rule fits; NULL: all */
	unsigned program_copies;        /* of it, at a time */
	unsigned program_requests;      /* that a page may make by it */
	double program_seconds;         /* that a page may take by it */
	bool decode;                    /* undo Content-Encoding */
	/* May one more request be sent for this page?  Called before each request; a page
	 * whose first request is refused is done.  NULL: always yes. */
	bool (*spend)(void *arg, uint32_t page, uint32_t site, enum fetch_spend what);
	/* Called before requests of pages are sent (and robots.txt that spend() was asked
	 * for), once for all that are sent together.  False: they wait until cleared(), which is
	 * called often and may wait if it is told to, returns true.  May be NULL, both. */
	bool (*sent)(void *arg, const struct fetch_sent *requests, size_t n);
	bool (*cleared)(void *arg, bool wait);
	/* Or NULL.  May this redirect be followed?  If not, the page ends with FETCH_MOVED. */
	bool (*follows)(void *arg, const char *url, size_t size);
	/* Or NULL.  Milliseconds of CLOCK_BOOTTIME: no request is sent later.  Looked at directly
	 * before each is, by the thread that sends it; others may change it at any time. */
	const _Atomic int64_t *send_until;
	/* Called before the HEAD of a page is sent: may change it to GET, since more may
	 * be known of the host than when the page was added.  May be NULL. */
	void (*head)(void *arg, uint32_t page, enum fetch_method *method,
	             bool *second_opinion);
	/* The caller's cache of robots.txt, which outlives the fetcher.  load returns
	 * false if it has nothing of an origin ("http://host:port"); its copy must stay
	 * valid until the next call.  May be NULL. */
	bool (*robots_load)(void *arg, const char *origin, size_t size,
	                    struct fetch_robots_copy *ret);
	void (*robots_save)(void *arg, const char *origin, size_t size,
	                    const struct fetch_robots_copy *copy);
	/* Addresses of a name, at most FETCH_ADDRESSES_MAX: their number, or < 0.
	 * Called from helper threads.  NULL: the system's resolver. */
	int (*resolve)(void *arg, const char *host, struct sockaddr_storage *ret);
	void *arg;
	uint64_t seed;                  /* of the jitter */
};

#define FETCH_DEFAULTS { \
	.user_agent = "freshet/" FRESHET_VERSION, .robots_name = "freshet", \
	.polite = POLITE_DEFAULTS, .connections = 128, \
	.connect_timeout = 10, .head_timeout = 30, .whole_timeout = 120, \
	.slow_seconds = 20, .slow_rate = 100, .max_head = 128 << 10, \
	.max_body = 10 << 20, .max_decoded = 32 << 20, .max_memory = 64 << 20, \
	.max_rules = 256 << 20, \
	.max_redirects = 5, .retries = 1, .robots_age = 86400, .dns_age = 600, \
	.decode = true }

struct fetch_request {
	uint32_t page, site;            /* the caller's numbers, returned in the result */
	const char *url;
	enum fetch_method method;
	bool second_opinion;            /* repeat a HEAD that fails as GET */
	bool only_robots;               /* stop when robots.txt is known */
	bool any_type;                  /* whatever media types the user asks for */
	bool next;                      /* goes first in the queue of its host */
	const char *etag, *last_modified;       /* verbatim, or NULL */
};

/* A redirect that was followed: request and answer. */
struct fetch_hop {
	const char *url;
	int status;
	int64_t time;                   /* of the request, by the real clock */
	const char *ip;
	const char *head, *body;        /* as received; NULL: HOPS_HELD_MAX was reached */
	size_t head_size, body_size;
	bool cut;                       /* body is only its first part */
};

struct fetch_result {
	uint32_t page, site;
	enum fetch_error error;
	const char *why;                /* "" or more about the error */
	enum fetch_method method;       /* of the last request */
	const char *url;                /* of the last request: canonical */
	const struct fetch_hop *hops;   /* redirects before it, in order */
	size_t n_hops;
	unsigned requests;              /* sent for this page, hops included */
	unsigned robots;                /* not in `requests`: for robots.txt, granted by spend() */
	unsigned unused;                /* granted by spend() and not sent */
	bool begun;                     /* its first request was granted */
	int status;                     /* 0: no answer */
	int head_status;                /* of the HEAD that this GET is the second opinion on */
	const char *head;               /* status line and headers, as received */
	size_t head_size;
	const char *body;               /* as sent, transfer coding removed */
	size_t body_size;
	enum fetch_cut truncated;
	const char *decoded;            /* Content-Encoding undone; body if there was none */
	size_t decoded_size;
	bool undecodable;               /* damaged, unknown or layered: decoded is partial, or body */
	const struct asking_extra *extra;       /* sent along with the last request; or NULL */
	bool conditional;               /* validators went out with the last request */
	const char *etag, *last_modified;       /* sent with the first request, or NULL */
	const char *ip;                 /* of the peer, or of the proxy */
	int64_t time;                   /* of the last request, by the real clock */
	double seconds, connect_seconds, head_seconds;
	uint64_t wire_bytes;            /* received, heads included, all hops */
	double blocked;                 /* BACKOFF: seconds the host wants to rest */
};

struct fetch_stats {
	uint64_t requests, bytes, retries, connections;
	uint64_t robots_requests;       /* for robots.txt, without */
	uint64_t robots_budgeted;       /* those that spend() was asked for */
	uint64_t errors[FETCH_N_ERRORS];
	size_t memory_peak;             /* bytes of heads and bodies held */
	uint64_t hops_dropped;          /* redirects whose answers were too much to hold */
};

MUST_CHECK int fetch_new(struct fetch **ret, const struct fetch_options *options,
                         struct err *err);
void fetch_free(struct fetch *f);       /* f may be NULL */

/* Start again with new options; nothing may be pending.  Only spend, arg, seed, decode,
 * cycle_seconds and host_seconds may differ.  Knowledge of hosts stays, the statistics
 * are reset.  robots.txt is read again from the caller's cache, if there is one, since
 * the caller's clock may have moved. */
void fetch_again(struct fetch *f, const struct fetch_options *options);

/* Never fails: an invalid request has its error in the outcome. */
void fetch_add(struct fetch *f, const struct fetch_request *r);

enum fetch_next { FETCH_IDLE, FETCH_GOT, FETCH_LATER };
/* FETCH_GOT: *ret is valid until the next call.  FETCH_IDLE: no request is pending.
 * FETCH_LATER: no outcome within `seconds` (< 0: wait without limit). */
enum fetch_next fetch_next(struct fetch *f, double seconds,
                           const struct fetch_result **ret);
/* Keep the memory that the last outcome points to until fetch_drop(), except `decoded`.
 * The caller copies the struct itself.  Other threads may read the memory.  It counts in
 * max_memory. */
uint32_t fetch_hold(struct fetch *f);
void fetch_drop(struct fetch *f, uint32_t held);
/* Undo the Content-Encoding of an outcome fetched with decode = false, as fetch_next()
 * does with decode = true.  The limit of `out` limits the decoded body.  `out` and *err
 * must live as long as *r. */
void fetch_decode(struct fetch_result *r, struct buf *out, struct err *err);
/* Requests in flight finish; all others end with FETCH_STOPPED.  Redirects are no longer
 * followed, and nothing is retried. */
void fetch_stop(struct fetch *f);
/* Requests that wait for cleared() go out, as soon as they may: for a caller who has something
 * long to do before he comes back. */
void fetch_release(struct fetch *f);
/* True in the last part of cycle_seconds (fetch_span.c).  Waiting pages then end with
 * FETCH_STOPPED, as they do when the time of their host is over.  Pages that have begun
 * are cut with FETCH_TIMEOUT at the end of the time; that counts against the page, not
 * the host. */
bool fetch_over(const struct fetch *f);
size_t fetch_pending(const struct fetch *f);    /* added, without outcome so far */
unsigned fetch_active(const struct fetch *f);   /* requests under way */
/* Seconds between requests to the host of a canonical URL; *ret_robots: its robots.txt
 * must be fetched first. */
double fetch_pause(const struct fetch *f, const char *url, size_t size, bool *ret_robots);
size_t fetch_known(const struct fetch *f);      /* hosts and origins it remembers */
void fetch_stats(const struct fetch *f, struct fetch_stats *ret);

/* Call each() for every host that rests, with the seconds left. */
void fetch_rests(const struct fetch *f, void (*each)(void *arg, const char *host,
                                                     double seconds), void *arg);
/* The same for every host that must not be asked just now, because it rests or the pause after
 * the last request lasts on; and such a pause, as somebody else knew it. */
void fetch_pauses(const struct fetch *f, void (*each)(void *arg, const char *host,
                                                      double seconds), void *arg);
void fetch_hold_host(struct fetch *f, const char *host, size_t size, double seconds);
/* Let a host rest for so many seconds: an earlier run knew of it. */
void fetch_rest(struct fetch *f, const char *host, size_t size, double seconds);

/* The rules of robots.txt for a canonical URL, if they are known now; NULL: none known.
 * The second function: may the URL be fetched?  False while the rules are unknown. */
struct robots;
const struct robots *fetch_robots(const struct fetch *f, const char *url, size_t size);
bool fetch_allows(const struct fetch *f, const char *url, size_t size);

/* Append the request that was sent for a URL, as HTTP/1.1 text. */
void fetch_request_text(const struct fetch_options *o, const char *url,
                        enum fetch_method method, const char *etag,
                        const char *last_modified, struct buf *out);

/* The first value of a header in a head; false if it is not there. */
bool fetch_header(const char *head, size_t size, const char *name,
                  const char **ret_value, size_t *ret_size);

#endif
