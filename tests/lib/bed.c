/* SPDX-License-Identifier: Apache-2.0 */
/* bed.c - a new repository to crawl from; see bed.h. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/map.h"
#include "bed.h"

void bed_renew(struct bed *b, const char *name)
{
	struct err err;

	store_close(b->store);
	snprintf(b->db, sizeof b->db, "%s/%s.db", b->dir, name);
	snprintf(b->warc, sizeof b->warc, "%s/%s", b->dir, name);
	assert_int_equal(mkdir(b->warc, 0777), 0);
	if (store_open(&b->store, b->db, STORE_CREATE, &err) < 0)
		fail_msg("%s", err.text);
}

void bed_open(struct bed *b, const char *addresses)
{
	struct fetch_options fetch = FETCH_DEFAULTS;
	struct err err;

	*b = (struct bed){ 0 };
	scratch_folder(b->dir, "bed");
	bed_renew(b, "warc");
	assert_int_equal(gate_allow(&b->gate, addresses, &err), 0);
	fetch.gate = &b->gate;
	fetch.proxy = "";
	fetch.user_agent = "freshet/test (+mailto:a@example.org)";
	fetch.polite.delay = fetch.polite.address_delay = 0;
	b->opts = (struct crawl_opts){ .warc_folder = b->warc, .policy = "oldest",
		.budget = { 20, false }, .seed = 1, .cycle_seconds = 86400, .confirmations = 1,
		.fetch = fetch };
}

void bed_add(struct bed *b, const char *format, ...)
{
	char url[200];
	uint32_t number;
	struct err err;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(url, sizeof url, format, ap);
	va_end(ap);
	assert_in_range(n, 1, sizeof url - 1);
	assert_int_equal(store_begin(b->store, &err), 0);
	assert_int_equal(store_page_add(b->store, (struct text){ url, (size_t)n }, 1, &number,
	                                &err), 1);
	assert_int_equal(store_commit(b->store, &err), 0);
}

struct crawl_report bed_cycle(struct bed *b)
{
	struct crawl_report r;
	struct err err;

	if (crawl_cycle(b->store, &b->opts, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static void kill_at(void *arg, uint32_t done, uint32_t all)
{
	(void)all;
	if (done >= *(const uint32_t *)arg)
		raise(SIGKILL);
}

bool bed_killed_cycle(struct bed *b, uint32_t at)
{
	struct crawl_report r;
	struct err err;
	int status;
	pid_t pid;

	store_close(b->store);
	pid = fork();
	if (!pid) {
		b->opts.progress = kill_at;
		b->opts.arg = &at;
		if (store_open(&b->store, b->db, STORE_EXISTING, &err) < 0)
			_exit(9);
		_exit(crawl_cycle(b->store, &b->opts, &r, &err) < 0 ? 8 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(store_open(&b->store, b->db, STORE_EXISTING, &err), 0);
	if (!b->lapses)
		assert_int_equal(store_sent_clear(b->store, &err), 0);
	if (WIFEXITED(status))
		assert_int_equal(WEXITSTATUS(status), 0);
	return WIFSIGNALED(status);
}

bool bed_kill(pid_t pid, struct origin *o, struct rng *r, uint32_t most)
{
	size_t at = origin_count(o) + (rng_below(r, 5) ? rng_below(r, most) : 0);
	useconds_t then = (useconds_t)rng_below(r, 10000);
	int status;
	pid_t ended = 0;

	while (origin_count(o) < at && !(ended = waitpid(pid, &status, WNOHANG)))
		usleep(500);
	if (!ended) {
		usleep(then);
		kill(pid, SIGKILL);
		ended = waitpid(pid, &status, 0);
	}
	assert_int_equal(ended, pid);
	if (WIFEXITED(status))
		assert_int_equal(WEXITSTATUS(status), 0);
	return WIFSIGNALED(status);
}

struct hashing { uint64_t hash; bool outcomes; };

static int hash_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct hashing *h = arg;
	uint32_t what[] = { v->page, v->cycle, v->order, v->reason, v->hit,
		h->outcomes ? v->outcome : 0 };

	(void)err;
	h->hash = hash_bytes(what, sizeof what, h->hash);
	return 0;
}

uint64_t bed_hash_visits(struct bed *b, bool outcomes)
{
	struct hashing h = { .outcomes = outcomes };
	struct err err;

	assert_int_equal(store_visits(b->store, 1, UINT32_MAX, hash_visit, &h, &err), 0);
	return h.hash;
}

void bed_close(struct bed *b)
{
	store_close(b->store);
	gate_release(&b->gate);
	scratch_remove(b->dir);
}
