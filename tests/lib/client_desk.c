/* SPDX-License-Identifier: Apache-2.0 */
#include "client_desk.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "scratch.h"

const char *desk_url(uint32_t page)
{
	static char url[64];

	snprintf(url, sizeof url, "http://h%u.example/d%u/p%u", page % 9, page / 10 % 4, page);
	return url;
}

uint32_t desk_page(const char *url)
{
	unsigned page = DESK_PAGES;

	assert_int_equal(sscanf(strrchr(url, '/'), "/p%u", &page), 1);
	assert_true(page < DESK_PAGES);
	return page;
}

int desk_fate(uint32_t page)
{
	return page % 11 == 3 ? OUTCOME_FAILED : page % 13 == 5 ? OUTCOME_BLOCKED :
	       page % 3 == 0 ? OUTCOME_CHANGED : OUTCOME_SAME;
}

void desk_open(struct client_desk *b, const char *policy)
{
	char folder[SCRATCH_PATH];
	struct store *s;
	uint32_t number;

	*b = (struct client_desk){ 0 };
	scratch_folder(folder, "client");
	snprintf(b->path, sizeof b->path, "%.250s/freshet.db", folder);
	snprintf(b->folder, sizeof b->folder, "%.250s/warc", folder);
	assert_int_equal(mkdir(b->folder, 0777), 0);
	assert_int_equal(store_open(&s, b->path, STORE_CREATE, &b->err), 0);
	assert_int_equal(store_begin(s, &b->err), 0);
	for (uint32_t i = 0; i < DESK_PAGES; i++)
		assert_int_equal(store_page_add(s, (struct text){ desk_url(i), strlen(desk_url(i)) },
		                                DESK_NOW - 1000, &number, &b->err), 1);
	assert_int_equal(store_commit(s, &b->err), 0);
	store_close(s);
	b->opts = (struct client_opts){
		.policy = policy, .seed = 1, .budget = { DESK_BUDGET, false },
		.rules = { .every = DAY_SECONDS }, .confirmations = 1,
	};
	for (unsigned i = 0; i < DESK_CLIENTS; i++) {
		assert_int_equal(store_open(&b->store[i], b->path, STORE_EXISTING, &b->err), 0);
		client_open(&b->client[i], b->store[i], &b->opts);
	}
}

void desk_close(struct client_desk *b)
{
	for (unsigned i = 0; i < DESK_CLIENTS; i++) {
		client_close(b->client[i]);
		store_close(b->store[i]);
	}
}

void desk_use(struct client_desk *b, unsigned client)
{
	b->used = client;
}

struct client *desk_client(struct client_desk *b)
{
	return b->client[b->used];
}

void desk_kill(struct client_desk *b)
{
	client_close(b->client[b->used]);
	store_close(b->store[b->used]);
	assert_int_equal(store_open(&b->store[b->used], b->path, STORE_EXISTING, &b->err), 0);
	client_open(&b->client[b->used], b->store[b->used], &b->opts);
}

struct client_asked desk_ask(struct client_desk *b, const struct client_asking *a)
{
	struct client_asked ret;
	int rc = client_ask(desk_client(b), a, &ret, &b->err);

	if (rc < 0)
		print_error("%s\n", b->err.text);
	assert_int_equal(rc, 0);
	return ret;
}

struct tell_stats desk_tell(struct client_desk *b, const struct told *t, int64_t now)
{
	struct tell_stats stats;
	int rc = client_tell(desk_client(b), t, 1, now, NULL, NULL, &stats, &b->err);

	if (rc < 0)
		print_error("%s\n", b->err.text);
	assert_int_equal(rc, 0);
	return stats;
}

struct told desk_told(void)
{
	return (struct told){ .outcome = TOLD_NOTHING, .score = NAN, .probability = NAN,
	                      .weight = NAN };
}

void desk_text(struct text *t, const char *s)
{
	*t = (struct text){ s, s ? strlen(s) : 0 };
}
