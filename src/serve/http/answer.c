/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - answers and problem documents (RFC 9457); see http.h. */
#include <stdio.h>

#include "base/io/json.h"
#include "serve/http/http.h"

void http_answer_header(struct http_answer *a, const char *name, const char *fmt, ...)
{
	struct buf value;
	va_list ap;

	if (a->n_headers == HTTP_ANSWER_HEADERS)
		return;
	buf_init(&value, 4096);
	va_start(ap, fmt);
	buf_vprintf(&value, fmt, ap);
	va_end(ap);
	a->headers[a->n_headers].name = name;
	a->headers[a->n_headers++].value = mem_strdup(buf_text(&value));
	buf_release(&value);
}

void http_answer_clear(struct http_answer *a)
{
	buf_release(&a->body);
	for (size_t i = 0; i < a->n_headers; i++)
		free(a->headers[i].value);
	if (a->stream)
		http_stream_release(a->stream);
	*a = (struct http_answer){ 0 };
	buf_init(&a->body, BUF_NO_LIMIT);
}

static const struct { int status; const char *text; } statuses[] = {
	{ 200, "OK" }, { 201, "Created" }, { 202, "Accepted" }, { 204, "No Content" },
	{ 304, "Not Modified" }, { 400, "Bad Request" }, { 401, "Unauthorized" },
	{ 403, "Forbidden" }, { 404, "Not Found" }, { 405, "Method Not Allowed" },
	{ 406, "Not Acceptable" }, { 409, "Conflict" }, { 410, "Gone" }, { 411, "Length Required" },
	{ 413, "Content Too Large" }, { 415, "Unsupported Media Type" },
	{ 421, "Misdirected Request" }, { 422, "Unprocessable Content" },
	{ 429, "Too Many Requests" }, { 500, "Internal Server Error" },
	{ 503, "Service Unavailable" }, { 507, "Insufficient Storage" },
};

const char *http_status_text(int status)
{
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
		if (statuses[i].status == status)
			return statuses[i].text;
	return "Error";
}

void http_problem(struct http_answer *a, int status, const char *fmt, ...)
{
	char detail[1024];
	struct json j;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof detail, fmt, ap);
	va_end(ap);
	buf_clear(&a->body);
	a->status = status;
	a->type = "application/problem+json";
	json_to_buf(&j, &a->body);
	json_object(&j);
	json_kstr(&j, "type", "about:blank");
	json_kstr(&j, "title", http_status_text(status));
	json_kint(&j, "status", status);
	json_kstr(&j, "detail", detail);
	json_end_object(&j);
	json_newline(&j);
}
