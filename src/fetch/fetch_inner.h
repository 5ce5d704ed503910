/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_inner.h - what the files fetch*.c share.
 *
 * A job is one page (or one robots.txt) with all its hops.  It is always in exactly one
 * of: a queue of polite, the wire, the list of a host until its name is resolved, the
 * list of an origin until robots.txt is known, or the list of done jobs.
 */
#ifndef FETCH_FETCH_INNER_H
#define FETCH_FETCH_INNER_H

#include "base/map.h"
#include "base/mem.h"
#include "fetch/asking/asking.h"
#include "fetch/fetch.h"
#include "fetch/program/program.h"
#include "fetch/proxy.h"
#include "fetch/resolve.h"
#include "fetch/wire.h"
#include "web/url/url.h"

#define NONE UINT32_MAX
#define HOP_BODY_MAX (16 << 10)         /* bytes of a redirect's body, for the archive */
#define HOPS_HELD_MAX (16 << 20)        /* bytes of all redirects of pending pages */

struct list { uint32_t first, last; };          /* of jobs */

enum known { UNKNOWN, ASKED, KNOWN };

/* A checked address of a host. */
struct pin {
	char text[GATE_TEXT];           /* [] around IPv6 */
	uint32_t address;               /* its number in polite */
};

/* From ask_until on no request is sent; at `until` transfers are cut. */
struct span { double ask_until, until; };
#define SPAN_OVER "the time of the cycle, or of its host in it, was over"

/* A host and its addresses; index: its number in polite. */
struct host {
	enum known known;
	double until;                   /* the answer is valid until then */
	enum fetch_error error;         /* of resolving, or FETCH_OK */
	char *why;
	struct pin *pins;
	unsigned n_pins, pin;           /* pin: the one in use, also known to polite */
	bool asked_by_guest;            /* who wanted to know was a guest (job_is_guest()) only */
	unsigned guest_failures;        /* in a row */
	double guests_until;            /* no guest is let in before */
	struct span part;               /* its time in the cycle; until 0: not asked yet */
	struct list parked;
};

/* scheme://host[:port]: has one robots.txt. */
struct origin {
	enum known known;
	double until;
	enum fetch_error error;         /* all pages fail with it, or FETCH_OK */
	char *why;
	struct robots *rules;           /* NULL: everything is allowed */
	bool failing;
	double failing_since;           /* by wire_now(); may be before this fetcher began */
	struct list parked;
};

struct job {
	uint32_t number, next;
	uint32_t page, site;
	bool is_robots, second_opinion, only_robots, conditional, live, begun, any_type;
	bool tells_secret;              /* a redirect's target holds what we sent as a secret */
	struct asking_extra *extra;     /* of the last request; or NULL */
	enum fetch_method method;
	int head_status;
	char *etag, *last_modified;
	struct buf url;                 /* canonical, of the next or last request */
	struct url_parts parts;
	uint32_t host, origin;          /* of a robots.txt: the origin it is fetched for */
	uint32_t home;                  /* host of the first URL; of a robots.txt: of its page's */
	uint32_t payer;                 /* of a robots.txt: job whose budget pays, or NONE */
	VEC(struct fetch_hop) hops;
	unsigned requests, robots, tries;
	unsigned granted;               /* requests after the first, granted by spend(), not sent yet */
	unsigned pin, pins_tried;       /* last address tried; how many were tried */
	int64_t time;
	uint64_t bytes;
	struct transfer *transfer;      /* of the last answer, when done */
	enum fetch_error error;
	char *why;
	double blocked;
};

struct fetch {
	struct fetch_options opt;
	struct polite *polite;
	struct wire *wire;
	struct program *program;        /* or NULL */
	struct resolve *resolve;
	struct proxy proxy;
	struct strtab origin_names;
	VEC(struct host) hosts;
	VEC(struct origin) origins;
	VEC(struct job *) jobs;
	uint32_t free_job;
	struct list done;
	size_t n_done, n_pending;
	unsigned n_handed;              /* outcomes since the wire was last polled */
	size_t hops_held;               /* bytes */
	size_t rules_held;              /* bytes of origins' rules */
	bool stopped;
	struct span cycle;
	uint64_t draws;
	VEC(struct fetch_sent) sent;    /* started, and not yet reported by opt.sent() */
	bool held;                      /* what was started waits for opt.cleared() */
	struct job *delivered;
	struct buf decoded;
	struct err decode_err;
	struct fetch_result result;
	struct fetch_stats stats;
};

/* fetch.c */
struct job *job_new(struct fetch *f);
void job_free(struct fetch *f, struct job *j);
void list_push(struct fetch *f, struct list *l, struct job *j);
/* fmt NULL: no message. */
void job_done(struct fetch *f, struct job *j, enum fetch_error error, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Find host and origin of j->url and queue the job, `first` or last; false: job is done.
 * */
bool job_queue(struct fetch *f, struct job *j, double now, bool first);

/* fetch_job.c */
void job_dispatch(struct fetch *f, struct job *j, double now);
/* May the page of this job have one more request?  Requests for robots.txt alone are free. */
bool job_may_spend(struct fetch *f, struct job *j, enum fetch_spend what);
void host_resolved(struct fetch *f, const struct resolve_answer *a, double now);
/* Has another host sent it here, by a redirect? */
bool job_is_guest(const struct job *j);
/* A page wants the host, whose addresses only guests have asked for: they come sooner. */
void host_hurry(struct fetch *f, const struct job *j);
/* Connect to this one of the host's addresses from now on. */
void host_use_address(struct fetch *f, uint32_t host, unsigned pin);

/* fetch_answer.c */
void job_answered(struct fetch *f, struct job *j, struct transfer *t, double now);
/* Follow the Location of an answer.  True: the job is queued again; false: the answer is
 * no redirect, or the job is done. */
bool job_redirect(struct fetch *f, struct job *j, struct transfer *t, double now);

/* fetch_result.c: fill f->result from a job that is done. */
void job_fill_result(struct fetch *f, struct job *j);

/* fetch_program.c */
MUST_CHECK int fetch_program_new(struct fetch *f, struct err *err);
/* Is this request one for the program? */
bool fetch_program_takes(struct fetch *f, const struct job *j, const struct wire_request *r);
void fetch_program_start(struct fetch *f, struct job *j, const struct wire_request *r, double now);
void fetch_program_answers(struct fetch *f, double now);
void fetch_recycle(struct fetch *f, struct transfer *t);        /* of the wire's, or of the program's */

/* fetch_span.c */
struct span span_begin(double seconds, double now);
void span_start_host(struct fetch *f, uint32_t host, double now);
double job_until(const struct fetch *f, const struct job *j);
bool job_is_late(const struct fetch *f, const struct job *j, double now);
void job_give_up(struct fetch *f, struct job *j);       /* its time is over; the job is in no queue */

/* fetch_robots.c */
/* May the job continue?  If not, it is parked or done. */
bool robots_ask(struct fetch *f, struct job *j, double now);
/* The page that pays for the next request of a robots.txt job, or NONE. */
uint32_t robots_payer(const struct fetch *f, const struct job *j);
/* End of a robots.txt job; t may be NULL if no answer came. */
void robots_done(struct fetch *f, struct job *j, struct transfer *t, double now);
void origin_release(struct origin *o);

#endif
