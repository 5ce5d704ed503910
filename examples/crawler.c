/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawler.c - a small crawler on libfreshet and libcurl.
 *
 *     cc crawler.c $(pkg-config --cflags --libs freshet libcurl) -o crawler
 *     ./crawler REPOSITORY BUDGET [URL...]
 *
 * Puts the URLs under care, downloads BUDGET pages, and prints what has changed since it was
 * run last.  Freshet decides which pages, and learns from what came of them; this program
 * only fetches.  Stop it at any time and start it again: it goes on where it was.
 *
 * It fetches one page after the other and does not read robots.txt, so it is for servers of
 * your own.  `freshet cycle` is the crawler for those of others.
 */
#include <curl/curl.h>
#include <freshet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CLIENT "crawler"

static int fail(struct freshet *f, const char *what)
{
	fprintf(stderr, "crawler: %s: %s\n", what, freshet_error(f));
	freshet_close(f);
	return 1;
}

/* Any text that differs when the content does will do for a digest: here it is FNV-1a. */
static size_t add_to_digest(char *data, size_t size, size_t n, void *arg)
{
	uint64_t *hash = arg;

	for (size_t i = 0; i < size * n; i++)
		*hash = (*hash ^ (unsigned char)data[i]) * 1099511628211u;
	return size * n;
}

static const char *header_of(CURL *curl, const char *name)
{
	struct curl_header *h;

	return curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &h) == CURLHE_OK ? h->value : NULL;
}

static const char *cause_of(CURLcode code)
{
	switch (code) {
	case CURLE_COULDNT_RESOLVE_HOST: return "dns";
	case CURLE_COULDNT_CONNECT: return "connect";
	case CURLE_OPERATION_TIMEDOUT: return "timeout";
	default: return "other";
	}
}

/* Ask only for what is newer than the copy that Freshet knows of. */
static struct curl_slist *conditions(const struct freshet_offer *o)
{
	struct curl_slist *list = NULL;
	char line[1000];

	if (o->etag) {
		snprintf(line, sizeof line, "If-None-Match: %s", o->etag);
		list = curl_slist_append(list, line);
	}
	if (o->last_modified) {
		snprintf(line, sizeof line, "If-Modified-Since: %s", o->last_modified);
		list = curl_slist_append(list, line);
	}
	return list;
}

/* Download one page and tell what came of it. */
static int visit(struct freshet *f, CURL *curl, const struct freshet_offer *o)
{
	struct freshet_told told = { .size = sizeof told, .lease = o->lease };
	struct curl_slist *headers = conditions(o);
	uint64_t hash = 14695981039346656037u;
	char digest[17];
	long status = 0;
	CURLcode code;
	int rc;

	while (time(NULL) < o->not_before)      /* hosts are asked one request at a time */
		sleep(1);
	curl_easy_setopt(curl, CURLOPT_URL, o->url);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &hash);
	code = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (code != CURLE_OK) {
		told.outcome = FRESHET_FAILED;
		told.cause = cause_of(code);
	} else {
		snprintf(digest, sizeof digest, "%016llx", (unsigned long long)hash);
		told.status = (int32_t)status;  /* status and digest say what has happened */
		told.digest = status == 200 ? digest : NULL;
		told.etag = header_of(curl, "ETag");
		told.last_modified = header_of(curl, "Last-Modified");
	}
	rc = freshet_tell(f, &told);            /* copies what it needs */
	curl_slist_free_all(headers);
	return rc;
}

/* Ask in small batches: the policy learns from the first pages which to choose next. */
static int crawl(struct freshet *f, CURL *curl, uint32_t budget)
{
	struct freshet_cycle_options cycle = { .size = sizeof cycle, .client = CLIENT,
	                                       .budget = budget };
	struct freshet_ask_options want = { .size = sizeof want, .want = 10 };
	struct freshet_asked asked = { .size = sizeof asked };
	int rc = freshet_cycle_begin(f, &cycle);

	while (rc >= 0 && (rc = freshet_ask(f, &want, &asked)) >= 0 && !asked.done) {
		for (uint32_t i = 0; i < asked.n && rc >= 0; i++)
			rc = visit(f, curl, asked.offers[i]);
		if (!asked.n)
			sleep((unsigned)asked.wait);    /* another client has the pages */
	}
	return rc < 0 ? rc : freshet_cycle_end(f);
}

/* The cursor is kept after each change that was dealt with, so none is ever missed. */
static int print_change(void *arg, const struct freshet_change *c)
{
	static const char *const kinds[] = { "new", "changed", "gone" };
	FILE *cursor = fopen(arg, "w");

	printf("%s %s\n", kinds[c->kind], c->url);
	if (!cursor)
		return 1;
	fprintf(cursor, "%s", c->cursor);
	return fclose(cursor) != 0;
}

static int print_changes(struct freshet *f, const char *repository)
{
	char path[1000], cursor[100] = "";
	FILE *in;

	snprintf(path, sizeof path, "%s/crawler.cursor", repository);
	in = fopen(path, "r");
	if (in) {
		if (!fgets(cursor, sizeof cursor, in))
			cursor[0] = '\0';
		fclose(in);
	}
	return freshet_changes(f, cursor[0] ? cursor : NULL, print_change, path);
}

int main(int argc, char **argv)
{
	struct freshet *f;
	CURL *curl;
	int rc;

	if (argc < 3) {
		fprintf(stderr, "usage: crawler REPOSITORY BUDGET [URL...]\n");
		return 2;
	}
	if (freshet_create(&f, argv[1]) < 0)
		return fail(f, "create");
	for (int i = 3; i < argc; i++)
		if (freshet_add(f, argv[i]) < 0)
			return fail(f, "add");
	curl_global_init(CURL_GLOBAL_DEFAULT);
	curl = curl_easy_init();
	if (!curl)
		return fail(f, "libcurl");
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, add_to_digest);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "freshet-example");
	rc = crawl(f, curl, (uint32_t)strtoul(argv[2], NULL, 10));
	curl_easy_cleanup(curl);
	curl_global_cleanup();
	if (rc < 0)
		return fail(f, "crawl");
	if (print_changes(f, argv[1]) < 0)
		return fail(f, "changes");
	freshet_close(f);
	return 0;
}
