/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_url - nanoseconds a URL: ours against libcurl's URL API, same run.
 *
 * The links are of the kinds pages hold, in the shares of a documentation page:
 * names in the same directory, climbing ones, rooted, absolute, fragments.
 */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "web/url/url.h"

#define N(a) (sizeof (a) / sizeof *(a))

static const char *const urls[] = {
	"http://example.com/", "https://www.example.org/docs/2.4/reference/api/index.html",
	"https://blog.example.net/2022/10/01/a-longer-title-of-a-post/?utm_source=feed&id=7",
	"http://Example.COM:80/a/../b/%7euser/x.html#top",
	"https://shop.example.co.uk/catalogue/item.php?id=1234&lang=en&page=2",
	"https://docs.example.io/en/latest/user/tutorial/part%201/setup.html",
};
static const char base[] = "https://docs.example.io/en/latest/user/tutorial/setup.html";
static const char *const links[] = {
	"install.html", "part2/index.html#first-steps", "../reference/api.html", "/",
	"/search?q=x",
	"../../../genindex.html", "#section-4",
	"https://github.com/example/project/issues/17",
	"//cdn.example.io/x/y/z.html", "./quickstart.html",
	"config.html?version=2.4#options", "..",
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static volatile size_t sink;

static double ours(const char *const *list, size_t n, long rounds, int resolve)
{
	struct buf b;
	double t;

	buf_init(&b, BUF_NO_LIMIT);
	t = now();
	for (long i = 0; i < rounds; i++)
		for (size_t j = 0; j < n; j++) {
			int r;

			b.size = 0;
			r = resolve ? url_resolve(base, sizeof base - 1, list[j],
			                          strlen(list[j]), &b, NULL)
			            : url_canonical(list[j], strlen(list[j]), &b, NULL);
			if (r)
				abort();
			sink += b.size;
		}
	t = (now() - t) / (double)rounds / (double)n;
	buf_release(&b);
	return t;
}

static double curls(const char *const *list, size_t n, long rounds, int resolve)
{
	double t = now();

	for (long i = 0; i < rounds; i++)
		for (size_t j = 0; j < n; j++) {
			CURLU *u = curl_url();
			char *s = NULL;

			if ((resolve && curl_url_set(u, CURLUPART_URL, base, 0))
			    || curl_url_set(u, CURLUPART_URL, list[j], 0)
			    || curl_url_get(u, CURLUPART_URL, &s, CURLU_NO_DEFAULT_PORT))
				abort();
			sink += strlen(s);
			curl_free(s);
			curl_url_cleanup(u);
		}
	return (now() - t) / (double)rounds / (double)n;
}

static void row(const char *what, double a, double b)
{
	printf("%-34s %8.1f ns %10.1f ns %8.1fx\n", what, a, b, b / a);
}

int main(void)
{
	struct buf canonical[N(urls)], key;
	double t, u;

	printf("%-34s %11s %13s %9s\n", "url (CPU time each)", "freshet", "libcurl", "ratio");
	ours(urls, N(urls), 10000, 0);
	t = ours(urls, N(urls), 300000, 0);
	u = curls(urls, N(urls), 30000, 0);
	row("canonical form", t, u);
	t = ours(links, N(links), 200000, 1);
	u = curls(links, N(links), 20000, 1);
	row("link resolved", t, u);
	t = ours(links, 1, 2000000, 1);
	u = curls(links, 1, 200000, 1);
	row("link resolved: install.html", t, u);

	buf_init(&key, BUF_NO_LIMIT);
	for (size_t j = 0; j < N(urls); j++) {
		buf_init(&canonical[j], BUF_NO_LIMIT);
		if (url_canonical(urls[j], strlen(urls[j]), &canonical[j], NULL))
			return 1;
	}
	t = now();
	for (long i = 0; i < 200000; i++)
		for (size_t j = 0; j < N(urls); j++) {
			key.size = 0;
			url_surt(canonical[j].data, canonical[j].size, &key);
			sink += key.size;
		}
	printf("%-34s %8.1f ns\n", "SURT key", (now() - t) / 200000 / (double)N(urls));
	t = now();
	for (long i = 0; i < 200000; i++)
		for (size_t j = 0; j < N(urls); j++) {
			struct url_dirs d;

			url_dirs(canonical[j].data, canonical[j].size, &d);
			sink += d.n;
		}
	printf("%-34s %8.1f ns\n", "directory chain", (now() - t) / 200000 / (double)N(urls));
	for (size_t j = 0; j < N(urls); j++)
		buf_release(&canonical[j]);
	buf_release(&key);
	return 0;
}
