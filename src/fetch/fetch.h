/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.h - pages from the live web, politely and safely.
 *
 * Add requests, then call fetch_next() for outcomes, in any order; add more
 * whenever it suits.  Everything is decided inside fetch_next(); the exchanges go on
 * in a few threads of their own (fetch/wire.h), as does the resolving of names.  The
 * fetcher decides when each host may be asked (fetch/polite.h), obeys robots.txt
 * (fetched by itself, counted apart), follows redirects hop by hop, each hop parsed,
 * checked against the gate and counted, and cuts what is too long, too slow or too
 * large.
 *
 * An outcome with error == FETCH_OK is an answer: any status but a redirect
 * that was followed, complete, or cut at max_body (truncated says so).  With an
 * error the status may still be there (429 with FETCH_BACKOFF), and a body cut
 * by time or disconnect is kept for the archive but proves nothing about the
 * page.  A 304 is an answer only if validators were sent.
 *
 * No cookies, no credentials, no scheme but http and https; no byte of a URL or
 * validator that could end a header line goes out.
 */
#ifndef FETCH_FETCH_H
#define FETCH_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "fetch/polite.h"

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

#define FETCH_ADDRESSES_MAX 8   /* of one name; more are not looked at */

/* What was learnt of an origin's robots.txt; ages in seconds. */
struct fetch_robots_copy {
	int status;                     /* of the answer that holds; 0: there never was one */
	double age;                     /* of that answer */
	const char *body;               /* if it is 200: the file, decoded */
	size_t size;
	bool cut;                       /* there was more of it */
	bool passing;                   /* saved: only a redirect has led there */
	bool failed;                    /* the last request brought none; saved: only this is
	                                 * new, status being that of the request, 0: no answer */
	double tried;                   /* since that request */
	double failing;                 /* since the first of those that failed in a row */
};

/* A request that is about to be made, for a page as it was added. */
struct fetch_sent { uint32_t page, site; };

enum fetch_spend {
	FETCH_LOOK,     /* would its first be granted?  Asked before robots.txt is */
	FETCH_FIRST,    /* its turn has come, and all that is needed for it is known */
	FETCH_MORE,     /* a redirect hop, a second opinion, a retry, robots.txt of another site
	                 * that a redirect leads to */
};

struct fetch_options {
	const char *user_agent;         /* "freshet/VERSION (+URL or mail)" */
	const char *robots_name;        /* product token for robots.txt; "freshet" */
	bool ignore_robots;             /* for one's own test servers */
	const struct gate *gate;        /* NULL: global addresses only */
	struct polite_options polite;
	unsigned connections;           /* at a time, over all hosts */
	unsigned threads;               /* that work on them; 0: by processors */
	double connect_timeout, head_timeout, whole_timeout;    /* seconds */
	double cycle_seconds;           /* from fetch_new() or fetch_again() on, and for each */
	double host_seconds;            /* host from its first request on: see fetch_over(); 0:
	                                 * without end */
	double slow_seconds;            /* a window of this length with less than */
	double slow_rate;               /* this many bytes/s ends the transfer */
	size_t max_head, max_body, max_decoded, max_memory;
	size_t max_rules;               /* bytes of robots.txt held, of all origins */
	unsigned max_redirects;
	unsigned retries;               /* after 429/503, within polite.max_wait */
	double robots_age, dns_age;     /* seconds that what was learnt stays true */
	const char *proxy, *no_proxy;   /* NULL: as the environment says; "": none */
	const char *ca_file, *ca_path;  /* NULL: libcurl's */
	bool decode;                    /* undo Content-Encoding */
	/* May one more request be spent on a page, by its numbers as it was added?  Asked
	 * before each; a page that is refused its first is done.  NULL: always. */
	bool (*spend)(void *arg, uint32_t page, uint32_t site, enum fetch_spend what);
	/* Told before requests of pages go out (robots.txt that spend() was asked for, too), of
	 * all at once that go together.  NULL: nobody wants to know. */
	void (*sent)(void *arg, const struct fetch_sent *requests, size_t n);
	/* Asked when the HEAD of a page is about to go out, for more may be known of its
	 * host than when it was added: GET instead?  NULL: as it was added. */
	void (*head)(void *arg, uint32_t page, enum fetch_method *method,
	             bool *second_opinion);
	/* Memory of robots.txt beyond this fetcher's: false if there is nothing of an origin
	 * ("http://host:port"); what is given must live until the next call.  NULL: none. */
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
	uint32_t page, site;            /* the caller's, given back */
	const char *url;
	enum fetch_method method;
	bool second_opinion;            /* HEAD that fails is asked again by GET */
	bool only_robots;               /* it is done when robots.txt is known */
	bool next;                      /* before all else that waits for its host */
	const char *etag, *last_modified;       /* verbatim, or NULL */
};

/* A redirect that was followed: what was asked, and what came. */
struct fetch_hop {
	const char *url;
	int status;
	int64_t time;                   /* of the request, by the real clock */
	const char *ip;
	const char *head, *body;        /* as received; NULL: too much was held already */
	size_t head_size, body_size;
	bool cut;                       /* there was more of the body */
};

struct fetch_result {
	uint32_t page, site;
	enum fetch_error error;
	const char *why;                /* "" or more about the error */
	enum fetch_method method;       /* of the last request */
	const char *url;                /* of the last request: canonical */
	const struct fetch_hop *hops;   /* redirects before it, in order */
	size_t n_hops;
	unsigned requests;              /* made for this page, all of the above */
	unsigned robots;                /* besides: for robots.txt, asked of spend() */
	unsigned unused;                /* granted by spend() and not made: the way ended */
	bool begun;                     /* its first was granted */
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
void fetch_free(struct fetch *f);               /* NULL is fine */

/* Nothing is pending: begin anew with these options, of which only spend, arg, seed, decode
 * and the times of the cycle and of hosts may differ.  What is known of hosts stays (robots.txt is looked up again, if there
 * is a memory of it: its clock may have moved); the statistics do not. */
void fetch_again(struct fetch *f, const struct fetch_options *options);

/* Always taken; what is wrong with it comes out as its outcome. */
void fetch_add(struct fetch *f, const struct fetch_request *r);

enum fetch_next { FETCH_IDLE, FETCH_GOT, FETCH_LATER };
/* FETCH_GOT: *ret holds until the next call.  FETCH_IDLE: nothing was added
 * that has not come out.  FETCH_LATER: nothing within `seconds` (< 0: wait). */
enum fetch_next fetch_next(struct fetch *f, double seconds,
                           const struct fetch_result **ret);
/* Keep all that the last outcome points to, but for what fetch decoded, until
 * fetch_drop(): the outcome itself is the caller's to copy.  It may be read by
 * other threads meanwhile.  What is held counts in max_memory. */
uint32_t fetch_hold(struct fetch *f);
void fetch_drop(struct fetch *f, uint32_t held);
/* Undo the Content-Encoding of an outcome fetched with decode = false: as
 * fetch_next() does it otherwise.  `out` (its maximum is that of the decoded
 * body) and *err must live as long as *r. */
void fetch_decode(struct fetch_result *r, struct buf *out, struct err *err);
/* Requests in flight finish; all others come out as FETCH_STOPPED.  Redirects
 * are no longer followed, nothing is tried again. */
void fetch_stop(struct fetch *f);
/* The time of the cycle is (almost) over.  Then what waits comes out as FETCH_STOPPED, as
 * it does for a host whose time is over; what was begun is cut, with FETCH_TIMEOUT, at the
 * end of the time, and held against the page but not the host. */
bool fetch_over(const struct fetch *f);
size_t fetch_pending(const struct fetch *f);    /* added and not come out */
unsigned fetch_active(const struct fetch *f);   /* requests under way */
/* The pause that is kept between requests to the host of a canonical URL; and must its
 * robots.txt be asked for first? */
double fetch_pause(const struct fetch *f, const char *url, size_t size, bool *ret_robots);
size_t fetch_known(const struct fetch *f);      /* hosts and origins it remembers */
void fetch_stats(const struct fetch *f, struct fetch_stats *ret);

/* Hosts that are to be left alone, with the seconds they still want; and such a host
 * that an earlier start knew of. */
void fetch_rests(const struct fetch *f, void (*each)(void *arg, const char *host,
                                                     double seconds), void *arg);
void fetch_rest(struct fetch *f, const char *host, size_t size, double seconds);

/* The rules of robots.txt for a canonical URL, as far as they are known now; NULL:
 * there are none.  May it be fetched?  Not before they are known. */
struct robots;
const struct robots *fetch_robots(const struct fetch *f, const char *url, size_t size);
bool fetch_allows(const struct fetch *f, const char *url, size_t size);

/* Append the request that was made for a URL, as it went out by HTTP/1.1. */
void fetch_request_text(const struct fetch_options *o, const char *url,
                        enum fetch_method method, const char *etag,
                        const char *last_modified, struct buf *out);

/* The first value of a header in a head; false if it is not there. */
bool fetch_header(const char *head, size_t size, const char *name,
                  const char **ret_value, size_t *ret_size);

#endif
