/* SPDX-License-Identifier: Apache-2.0 */
/* asking.c - what goes with a request; see asking.h. */
#include "fetch/asking/asking.h"

#include "base/option/option.h"
#include "fetch/asking/media_types.h"
#include "fetch/asking/own_header.h"
#include "fetch/asking/secret_file.h"
#include "web/url/url.h"

static int read_file(struct asking_rules *a, const char *path, bool cookies, struct err *err)
{
	struct buf text;
	int rc;

	buf_init(&text, BUF_NO_LIMIT);
	rc = secret_file_read(path, &text, err);
	if (rc == 0)
		rc = cookies ?
			cookie_list_parse(&a->cookies, buf_text(&text), text.size, path, err) :
			login_list_parse(&a->logins, buf_text(&text), text.size, path, err);
	secret_release(&text);
	return rc;
}

int asking_read_cookies(struct asking_rules *a, const char *path, struct err *err)
{
	int rc = read_file(a, path, true, err);

	return rc < 0 ? err_prefix(err, "cookies") : 0;
}

int asking_read_logins(struct asking_rules *a, const char *path, struct err *err)
{
	int rc = read_file(a, path, false, err);

	return rc < 0 ? err_prefix(err, "credentials") : 0;
}

void asking_release(struct asking_rules *a)
{
	cookie_list_release(&a->cookies);
	login_list_release(&a->logins);
	*a = (struct asking_rules){ 0 };
}

struct asking_extra *asking_extra_new(void)
{
	struct asking_extra *e = mem_zalloc(1, sizeof *e);

	buf_init(&e->open, BUF_NO_LIMIT);
	buf_init(&e->secret, BUF_NO_LIMIT);
	buf_init(&e->hidden, BUF_NO_LIMIT);
	return e;
}

void asking_extra_free(struct asking_extra *e)
{
	if (!e)
		return;
	buf_release(&e->open);
	secret_release(&e->secret);
	secret_release(&e->hidden);
	free(e);
}

/* Lines of a setting.  They were checked when they were set, but the store may be a
 * stranger's: what may not be sent is left out. */
static void add_lines(struct buf *to, const char *text)
{
	for (unsigned n = 0; text && *text && n < OWN_HEADERS_MAX; n++) {
		size_t size = strcspn(text, "\n");

		if (own_header_check(text, size, false, NULL) == 0) {
			buf_add(to, text, size);
			buf_byte(to, '\0');
		}
		text += size + (text[size] == '\n');
	}
}

static const char *of_site(const struct asking_rules *a, const char *name, const char *url,
                           const struct url_parts *p)
{
	return a->site ? a->site(a->arg, name, url + p->host, p->path - p->host) : NULL;
}

void asking_open_for(const struct asking_rules *a, const char *url, size_t size,
                     struct asking_extra *ret)
{
	struct url_parts p;
	const char *accept;

	url_split(url, size, &p);
	buf_clear(&ret->open);
	add_lines(&ret->open, a->headers);
	add_lines(&ret->open, of_site(a, "header", url, &p));
	accept = of_site(a, "accept", url, &p);
	ret->accept = accept && media_types_check(accept, NULL) == 0 ? accept : a->accept;
}

/* Hidden texts that are too short to be told from words are forgotten. */
static void add_hidden(struct buf *to, const struct buf *from, size_t least)
{
	const char *s = buf_text(from), *end = s + from->size;

	for (; s < end; s += strlen(s) + 1)
		if (strlen(s) >= least)
			buf_add(to, s, strlen(s) + 1);
}

void asking_for(const struct asking_rules *a, const char *url, size_t size, int64_t now,
                struct asking_extra *ret)
{
	const struct login *login;
	const char *most;
	struct url_parts p;
	struct buf cookies, values;
	int64_t bytes;

	asking_open_for(a, url, size, ret);
	url_split(url, size, &p);
	buf_clear(&ret->secret);
	buf_clear(&ret->hidden);
	login = login_list_find(&a->logins, url, p.path);
	if (login) {
		buf_add(&ret->secret, login->lines.data, login->lines.size);
		add_hidden(&ret->hidden, &login->hidden, ASKING_HIDE_MIN);
	}
	if (a->cookies.v.n) {
		buf_init(&cookies, BUF_NO_LIMIT);
		buf_init(&values, BUF_NO_LIMIT);
		buf_str(&cookies, "Cookie: ");
		if (cookie_list_for(&a->cookies, url, size, now, &cookies, &values)) {
			buf_add(&ret->secret, cookies.data, cookies.size);
			buf_byte(&ret->secret, '\0');
			add_hidden(&ret->hidden, &values, ASKING_HIDE_COOKIE);
		}
		secret_release(&cookies);
		secret_release(&values);
	}
	most = of_site(a, "max-body", url, &p);
	ret->max_body = most && option_bytes(most, &bytes) && bytes > 0 ? (size_t)bytes : 0;
}

bool asking_has_secrets(const struct asking_extra *e)
{
	return e && e->secret.size > 0;
}

bool asking_shows(const struct asking_extra *e, const char *data, size_t size)
{
	const char *s = e && size ? buf_text(&e->hidden) : "";
	const char *end = s + (e && size ? e->hidden.size : 0);

	for (; s < end; s += strlen(s) + 1)
		if (memmem(data, size, s, strlen(s)))
			return true;
	return false;
}

void asking_mask(const struct asking_extra *e, char *data, size_t size)
{
	const char *s = e && size ? buf_text(&e->hidden) : "";
	const char *end = s + (e && size ? e->hidden.size : 0);

	for (; s < end; s += strlen(s) + 1) {
		size_t n = strlen(s);
		char *at = data;

		while ((at = memmem(at, size - (size_t)(at - data), s, n))) {
			memset(at, '*', n);
			at += n;
		}
	}
}
