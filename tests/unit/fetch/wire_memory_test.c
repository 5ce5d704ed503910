/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for libcurl, used through libcurl: pieces of all sizes, taken and given back
 * in any order and in two threads, keep what was written to them; what libcurl wants
 * zeroed is, though it was used before; what grows keeps its beginning; what is given
 * back twice is noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <curl/curl.h>
#include <pthread.h>

#include "base/math/rng.h"
#include "fetch/wire_inner.h"

#define N 200

struct text { struct curl_slist *list; size_t size; };

/* Text of some size whose bytes follow from the size. */
static void make(struct text *t, size_t size)
{
	char *s = mem_alloc(size + 1);

	for (size_t i = 0; i < size; i++)
		s[i] = (char)('a' + (size + i) % 26);
	s[size] = '\0';
	t->list = curl_slist_append(NULL, s);
	t->size = size;
	free(s);
	assert_non_null(t->list);
}

static void drop(struct text *t)
{
	if (!t->list)
		return;
	assert_int_equal(strlen(t->list->data), t->size);
	for (size_t i = 0; i < t->size; i++)
		assert_true(t->list->data[i] == (char)('a' + (t->size + i) % 26));
	curl_slist_free_all(t->list);
	t->list = NULL;
}

/* Around every border of a class, and beyond the last. */
static size_t draw_size(struct rng *r)
{
	size_t border = rng_below(r, 2) ? 64 * (1 + rng_below(r, 17))
		: (size_t)1 << (10 + rng_below(r, 9));

	return border - 3 + rng_below(r, 6);
}

static void churn(struct text *texts, uint64_t seed, int steps)
{
	struct rng r;

	rng_init(&r, seed);
	for (int i = 0; i < steps; i++) {
		struct text *t = &texts[rng_below(&r, N)];

		drop(t);
		make(t, draw_size(&r));
	}
}

static void *lane(void *arg)
{
	wire_memory_keep();
	churn(arg, 1, 2000);
	for (int i = 0; i < 50; i++) {
		CURL *easy = curl_easy_init();
		char *mine = (char *)1, *much, plain[3001];

		assert_non_null(easy);
		assert_int_equal(curl_easy_getinfo(easy, CURLINFO_PRIVATE, &mine), CURLE_OK);
		assert_null(mine);
		memset(plain, '%', 3000);
		plain[3000] = '\0';
		much = curl_easy_escape(easy, plain, 0);
		assert_int_equal(strlen(much), 9000);
		for (int k = 0; k < 9000; k++)
			assert_true(much[k] == "%25"[k % 3]);
		curl_free(much);
		curl_easy_cleanup(easy);
	}
	wire_memory_release();
	return NULL;
}

static void test_pieces(void **state)
{
	struct text texts[N] = { { 0 } };
	pthread_t thread;

	(void)state;
	assert_int_equal(wire_memory_init(), 0);
	churn(texts, 2, 500);           /* from here, given back there */
	assert_int_equal(pthread_create(&thread, NULL, lane, texts), 0);
	pthread_join(thread, NULL);
	churn(texts, 3, 500);           /* and the other way round */
	for (int i = 0; i < N; i++)
		drop(&texts[i]);
	curl_global_cleanup();
}

/* Memory that libcurl gives back twice ends the program.  (AddressSanitizer sees to it
 * itself.) */
static void test_given_back_twice(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	assert_true(child >= 0);
	if (!child) {
		char *one, *two;

		if (!freopen("/dev/null", "w", stderr) || wire_memory_init() < 0)
			_exit(0);
		wire_memory_keep();
		one = curl_easy_escape(NULL, "one", 0);
		two = curl_easy_escape(NULL, "two", 0);
		curl_free(one);
		curl_free(two);
		curl_free(one);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_given_back_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
