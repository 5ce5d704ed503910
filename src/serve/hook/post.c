/* SPDX-License-Identifier: Apache-2.0 */
/* post.c - see post.h. */
#include "serve/hook/post.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "base/mem.h"
#include "fetch/gate.h"

struct sending {
	struct sending *next;
	struct post *post;
	uint64_t owner;
	CURL *easy;
	struct curl_slist *headers;
	size_t received;
	char refused[120];              /* by the gate */
	char message[CURL_ERROR_SIZE];
	CURLcode code;
};

struct post {
	CURLM *multi;
	const struct gate *gate;
	struct sending *active, *finished;
};

int post_new(struct post **ret, const struct gate *gate, struct err *err)
{
	struct post *p = mem_zalloc(1, sizeof *p);

	if (curl_global_init(CURL_GLOBAL_DEFAULT) || !(p->multi = curl_multi_init())) {
		free(p);
		return err_set(err, E_FAIL, "libcurl does not start");
	}
	p->gate = gate;
	*ret = p;
	return 0;
}

static void sending_free(struct sending *s)
{
	curl_easy_cleanup(s->easy);
	curl_slist_free_all(s->headers);
	free(s);
}

void post_free(struct post *p)
{
	if (!p)
		return;
	for (struct sending *s; (s = p->active);) {
		p->active = s->next;
		curl_multi_remove_handle(p->multi, s->easy);
		sending_free(s);
	}
	for (struct sending *s; (s = p->finished);) {
		p->finished = s->next;
		sending_free(s);
	}
	curl_multi_cleanup(p->multi);
	curl_global_cleanup();
	free(p);
}

static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
	struct sending *s = arg;
	const char *why = gate_refuses(s->post->gate, &a->addr);
	char text[GATE_TEXT];

	(void)purpose;
	if (why) {
		snprintf(s->refused, sizeof s->refused, "%s: %s; the setting allow-net opens networks of "
		         "your own", gate_text(&a->addr, text), why);
		return CURL_SOCKET_BAD;
	}
	return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

static size_t on_body(char *data, size_t one, size_t n, void *arg)
{
	struct sending *s = arg;

	(void)data;
	s->received += one * n;
	return s->received > POST_ANSWER_MAX ? 0 : one * n;
}

static void add_headers(struct sending *s, const char *lines)
{
	while (*lines) {
		size_t size = strcspn(lines, "\n");
		char line[400];

		snprintf(line, sizeof line, "%.*s", (int)size, lines);
		s->headers = curl_slist_append(s->headers, line);
		lines += size + (lines[size] == '\n');
	}
	s->headers = curl_slist_append(s->headers, "Expect:");  /* no 100-continue */
}

static void set_up(struct sending *s, const char *url, const char *body, size_t size)
{
	CURL *e = s->easy;

	curl_easy_setopt(e, CURLOPT_PRIVATE, s);
	curl_easy_setopt(e, CURLOPT_URL, url);
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(e, CURLOPT_PROXY, "");
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(e, CURLOPT_DNS_CACHE_TIMEOUT, 0L);     /* a receiver may move */
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT, (long)POST_CONNECT_SECONDS);
	curl_easy_setopt(e, CURLOPT_TIMEOUT, (long)POST_SECONDS);
	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(e, CURLOPT_HTTPHEADER, s->headers);
	curl_easy_setopt(e, CURLOPT_USERAGENT, "freshet/" FRESHET_VERSION);
	curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
	curl_easy_setopt(e, CURLOPT_COPYPOSTFIELDS, body);
	curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, on_open);
	curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, s);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, s);
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, s->message);
}

void post_start(struct post *p, uint64_t owner, const char *url, const char *headers,
                const char *body, size_t size)
{
	struct sending *s = mem_zalloc(1, sizeof *s);

	s->post = p;
	s->owner = owner;
	s->easy = curl_easy_init();
	if (!s->easy)
		err_no_memory();
	add_headers(s, headers);
	set_up(s, url, body, size);
	if (curl_multi_add_handle(p->multi, s->easy) == CURLM_OK) {
		s->next = p->active;
		p->active = s;
	} else {
		s->code = CURLE_FAILED_INIT;
		s->next = p->finished;
		p->finished = s;
	}
}

static void take_finished(struct post *p)
{
	CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(p->multi, &left))) {
		struct sending *s, **at = &p->active;

		if (m->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&s);
		s->code = m->data.result;
		while (*at != s)
			at = &(*at)->next;
		*at = s->next;
		s->next = p->finished;
		p->finished = s;
		curl_multi_remove_handle(p->multi, s->easy);
	}
}

bool post_finished(struct post *p, struct post_result *ret)
{
	struct sending *s = p->finished;
	long status = 0;

	if (!s)
		return false;
	p->finished = s->next;
	curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
	*ret = (struct post_result){ .owner = s->owner, .status = (int)status };
	if (s->refused[0])
		snprintf(ret->why, sizeof ret->why, "%s", s->refused);
	else if (s->received > POST_ANSWER_MAX)
		snprintf(ret->why, sizeof ret->why, "the answer has more than %d bytes", POST_ANSWER_MAX);
	else if (s->code != CURLE_OK)
		log_plain_line(s->message[0] ? s->message : curl_easy_strerror(s->code), ret->why,
		               sizeof ret->why);
	else if (status >= 300 && status < 400)
		snprintf(ret->why, sizeof ret->why, "status %ld: redirects are not followed", status);
	else if (status < 200 || status > 299)
		snprintf(ret->why, sizeof ret->why, "status %ld", status);
	sending_free(s);
	return true;
}

void post_wait(struct post *p, double seconds)
{
	int running;

	curl_multi_perform(p->multi, &running);
	take_finished(p);
	if (p->finished)
		return;
	curl_multi_poll(p->multi, NULL, 0, (int)(seconds * 1000) + 1, NULL);
	curl_multi_perform(p->multi, &running);
	take_finished(p);
}

void post_wake(struct post *p)
{
	curl_multi_wakeup(p->multi);
}
