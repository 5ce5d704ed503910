/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - fills the page of a report; see report.h.
 *
 * page.html names its parts as {{part}}.  Text is escaped for HTML.  The documents are
 * data in a script element, which would end at the first `</script`.  So every `<`, `>`
 * and `&` is written as \u003c and so on.  They occur only in strings, so the JSON means
 * the same.
 *
 * The page's Content-Security-Policy names the hashes of its scripts and its
 * style, so nothing else would run even if something got past the escaping.
 */
#include "cli/report/report.h"

#include <openssl/evp.h>
#include <stdlib.h>

#include "base/io/output.h"
#include "base/when.h"

#define HASH_TEXT 45                    /* base64 of SHA-256, with its end */

static const char *const script_parts[] = { "tools", "charts", "replay", "views",
                                             "start" };
#define N_SCRIPT_PARTS (sizeof script_parts / sizeof *script_parts)

void report_init(struct report *r)
{
	*r = (struct report){ 0 };
	buf_init(&r->documents, REPORT_DOCUMENTS_MAX);
	buf_init(&r->verdict, REPORT_VERDICT_MAX);
	json_to_buf(&r->json, &r->documents);
}

void report_release(struct report *r)
{
	buf_release(&r->documents);
	buf_release(&r->verdict);
}

struct json *report_json(struct report *r)
{
	return &r->json;
}

void report_say(struct report *r, const char *fmt, ...)
{
	va_list ap;

	if (r->verdict.size)
		buf_byte(&r->verdict, ' ');
	va_start(ap, fmt);
	buf_vprintf(&r->verdict, fmt, ap);
	va_end(ap);
}

const char *report_count(uint64_t n, char out[32])
{
	char digits[24];
	int size = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), at = 0;

	for (int i = 0; i < size; i++) {
		if (i && (size - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
	return out;
}

int report_check(const char *path, struct err *err)
{
	int rc = output_check(path, err);

	return rc < 0 ? err_prefix(err, "report") : 0;
}

static void put_escaped(FILE *out, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '&': fputs("&amp;", out); break;
		case '"': fputs("&quot;", out); break;
		default: fputc(*s, out);
		}
	}
}

/* Keeps "80 %" on one line. */
static void put_verdict(FILE *out, const char *s)
{
	const char *at;

	for (; (at = strstr(s, " %")); s = at + 1) {
		char *part = mem_strndup(s, (size_t)(at - s));

		put_escaped(out, part);
		fputs("&nbsp;", out);
		free(part);
	}
	put_escaped(out, s);
}

static void put_documents(FILE *out, const struct buf *b)
{
	const char *s = buf_text(b);

	for (size_t i = 0; i < b->size; i++) {
		if (s[i] == '<' || s[i] == '>' || s[i] == '&')
			fprintf(out, "\\u%04x", (unsigned)s[i]);
		else
			fputc(s[i], out);
	}
}

static void put_hash(FILE *out, const char *const *parts, size_t n)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	unsigned char hash[EVP_MAX_MD_SIZE], text[HASH_TEXT + 1];
	unsigned size = 0;

	if (!ctx || !EVP_DigestInit_ex(ctx, EVP_sha256(), NULL))
		err_no_memory();
	for (size_t i = 0; i < n; i++) {
		struct report_asset a = report_asset(parts[i]);

		EVP_DigestUpdate(ctx, a.data, a.size);
	}
	EVP_DigestFinal_ex(ctx, hash, &size);
	EVP_MD_CTX_free(ctx);
	EVP_EncodeBlock(text, hash, (int)size);
	fprintf(out, "'sha256-%s'", (const char *)text);
}

static void put_made(FILE *out, int64_t when)
{
	char t[21];

	if (!when)
		return;
	when_iso(when, t);
	fprintf(out, ", %s", t);
}

/* One {{part}} of the page; false if there is none of that name. */
static bool put_part(FILE *out, const char *name, size_t size, const struct report *r,
                     const struct report_head *head)
{
	static const char *const chart[] = { "chart" }, *const style[] = { "style" };
	char part[32];
	struct report_asset a;

	snprintf(part, sizeof part, "%.*s", (int)size, name);
	if (!strcmp(part, "title")) {
		put_escaped(out, head->title);
	} else if (!strcmp(part, "verdict")) {
		put_verdict(out, buf_text(&r->verdict));
	} else if (!strcmp(part, "command")) {
		put_escaped(out, head->command);
	} else if (!strcmp(part, "version")) {
		put_escaped(out, FRESHET_VERSION);
	} else if (!strcmp(part, "made")) {
		put_made(out, head->made);
	} else if (!strcmp(part, "documents")) {
		put_documents(out, &r->documents);
	} else if (!strcmp(part, "script-hashes")) {
		put_hash(out, chart, 1);
		fputc(' ', out);
		put_hash(out, script_parts, N_SCRIPT_PARTS);
	} else if (!strcmp(part, "style-hash")) {
		put_hash(out, style, 1);
	} else if (!strcmp(part, "script")) {
		for (size_t i = 0; i < N_SCRIPT_PARTS; i++) {
			a = report_asset(script_parts[i]);
			fwrite(a.data, 1, a.size, out);
		}
	} else {
		a = report_asset(part);
		if (!a.data)
			return false;
		fwrite(a.data, 1, a.size, out);
	}
	return true;
}

static void put_page(FILE *out, const struct report *r, const struct report_head *head)
{
	struct report_asset page = report_asset("page");
	const char *s = page.data, *end = page.data + page.size, *open, *close;

	while ((open = memmem(s, (size_t)(end - s), "{{", 2)) &&
	       (close = memmem(open, (size_t)(end - open), "}}", 2))) {
		fwrite(s, 1, (size_t)(open - s), out);
		if (!put_part(out, open + 2, (size_t)(close - open - 2), r, head))
			abort();                /* a bug in our own page.html */
		s = close + 2;
	}
	fwrite(s, 1, (size_t)(end - s), out);
}

int report_write(const struct report *r, const char *path, const struct report_head *head,
                 struct err *err)
{
	struct output *o;
	int rc;

	if (r->documents.full)
		return err_set(err, E_USAGE, "report: more than %zu MB of results: choose fewer "
		               "policies, or longer cycles", REPORT_DOCUMENTS_MAX >> 20);
	rc = output_open(&o, path, err);
	if (rc == 0) {
		put_page(output_file(o), r, head);
		rc = output_close(o, err);
	}
	return rc < 0 ? err_prefix(err, "report") : 0;
}
