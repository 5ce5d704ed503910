/* SPDX-License-Identifier: Apache-2.0 */
/* login_file.c - a file of credentials; see login_file.h. */
#include "fetch/asking/login_file.h"

#include <stdio.h>

#include "fetch/asking/own_header.h"
#include "fetch/asking/secret_file.h"
#include "web/url/url.h"

struct reading {
	const char *at, *end, *path;
	unsigned line;
	struct buf word, user, password, bearer, origin;
	struct buf headers;             /* each with a NUL behind it */
	bool any;                       /* an entry is open */
};

static int bad(const struct reading *r, struct err *err, const char *what)
{
	return err_set(err, E_PARSE, "%s, line %u: %s", r->path, r->line, what);
}

static void skip_blanks(struct reading *r)
{
	while (r->at < r->end && strchr(" \t\r\n", *r->at))
		r->line += *r->at++ == '\n';
}

/* The next word into r->word: 1, or 0 at the end.  keyword: a comment may stand here. */
static int next_word(struct reading *r, bool keyword, struct err *err)
{
	bool quoted;

	buf_clear(&r->word);
	for (skip_blanks(r); keyword && r->at < r->end && *r->at == '#'; skip_blanks(r))
		while (r->at < r->end && *r->at != '\n')
			r->at++;
	if (r->at == r->end)
		return 0;
	quoted = *r->at == '"';
	for (r->at += quoted; r->at < r->end; r->at++) {
		unsigned char c = (unsigned char)*r->at;

		if (quoted ? c == '"' : strchr(" \t\r\n", c) != NULL)
			break;
		if (quoted && c == '\\' && r->at + 1 < r->end && strchr("\"\\", r->at[1]))
			c = (unsigned char)*++r->at;
		if (c < ' ' || c == 0x7f)
			return bad(r, err, quoted && c == '\n' ? "a word in quotes that does not end" :
			           "a control byte");
		buf_byte(&r->word, c);
	}
	if (quoted && (r->at == r->end || *r->at++ != '"'))
		return bad(r, err, "a word in quotes that does not end");
	if (r->word.full)
		return bad(r, err, "a word that is too long");
	return 1;
}

static bool is_word(const struct reading *r, const char *word)
{
	return !strcmp(buf_text(&r->word), word);
}

static void base64(struct buf *out, const char *s, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		unsigned v = (unsigned char)s[i];

		v = v << 8 | (i + 1 < size ? (unsigned char)s[i + 1] : 0u);
		v = v << 8 | (i + 2 < size ? (unsigned char)s[i + 2] : 0u);
		buf_byte(out, digits[v >> 18]);
		buf_byte(out, digits[v >> 12 & 63]);
		buf_byte(out, i + 1 < size ? digits[v >> 6 & 63] : '=');
		buf_byte(out, i + 2 < size ? digits[v & 63] : '=');
	}
}

static void add_text(struct buf *to, const char *s, size_t size)
{
	buf_add(to, s, size);
	buf_byte(to, '\0');
}

/* "Authorization: Basic ..." of user and password, both of which are secrets, and so is
 * what they become. */
static void add_basic(struct login *l, const struct reading *r)
{
	struct buf pair, code;

	buf_init(&pair, BUF_NO_LIMIT);
	buf_init(&code, BUF_NO_LIMIT);
	buf_add(&pair, r->user.data, r->user.size);
	buf_byte(&pair, ':');
	if (r->password.size)
		buf_add(&pair, r->password.data, r->password.size);
	base64(&code, pair.data, pair.size);
	buf_str(&l->lines, "Authorization: Basic ");
	add_text(&l->lines, code.data, code.size);
	add_text(&l->hidden, code.data, code.size);
	if (r->password.size)
		add_text(&l->hidden, r->password.data, r->password.size);
	secret_release(&pair);
	secret_release(&code);
}

static void add_headers(struct login *l, const struct reading *r)
{
	const char *at = buf_text(&r->headers), *end = at + r->headers.size;

	for (; at < end; at += strlen(at) + 1) {
		size_t value = own_header_value(at, strlen(at));

		add_text(&l->lines, at, strlen(at));
		add_text(&l->hidden, at + value, strlen(at) - value);
	}
}

/* The entry is over: keep it.  The first entry of an origin holds, as in .netrc. */
static int end_entry(struct reading *r, struct login_list *l, struct err *err)
{
	struct login entry;
	bool is_new;

	if (!r->any)
		return 0;
	r->any = false;
	if (r->bearer.size && r->user.size)
		return bad(r, err, "an entry has a bearer token or a login, not both");
	if (!r->bearer.size && !r->user.size && !r->headers.size)
		return bad(r, err, "the entry before has no login, bearer or header");
	if (l->v.n >= LOGINS_MAX)
		return bad(r, err, "too many entries");
	strtab_intern(&l->origins, r->origin.data, r->origin.size, &is_new);
	if (!is_new)
		return 0;
	buf_init(&entry.lines, BUF_NO_LIMIT);
	buf_init(&entry.hidden, BUF_NO_LIMIT);
	if (r->user.size)
		add_basic(&entry, r);
	if (r->bearer.size) {
		buf_str(&entry.lines, "Authorization: Bearer ");
		add_text(&entry.lines, r->bearer.data, r->bearer.size);
		add_text(&entry.hidden, r->bearer.data, r->bearer.size);
	}
	add_headers(&entry, r);
	vec_push(&l->v, entry);
	return 0;
}

static void clear_entry(struct reading *r)
{
	buf_clear(&r->user);
	buf_clear(&r->password);
	buf_clear(&r->bearer);
	buf_clear(&r->origin);
	buf_clear(&r->headers);
}

/* The word is a host, host:port or origin: begin its entry. */
static int begin_entry(struct reading *r, struct err *err)
{
	struct buf url;
	struct url_parts p;
	int rc;

	clear_entry(r);
	r->any = true;
	buf_init(&url, URL_SIZE_MAX);
	if (!strstr(buf_text(&r->word), "://"))
		buf_str(&url, "https://");
	buf_str(&url, buf_text(&r->word));
	rc = url.full ? E_LIMIT : url_canonical(buf_text(&url), url.size, &r->origin, NULL);
	buf_release(&url);
	if (rc < 0)
		return bad(r, err, "no machine such as example.org, example.org:8443 or "
		           "http://example.org");
	url_split(r->origin.data, r->origin.size, &p);
	if (p.end - p.path > 1)
		return bad(r, err, "a machine has no path");
	r->origin.size = p.path;
	return 0;
}

static int read_value(struct reading *r, struct buf *to, struct err *err)
{
	int rc = next_word(r, false, err);

	if (rc <= 0)
		return rc < 0 ? rc : bad(r, err, "the value is missing");
	buf_clear(to);
	buf_add(to, r->word.data, r->word.size);
	return 0;
}

static int read_header(struct reading *r, struct err *err)
{
	struct err why;
	int rc = next_word(r, false, err);

	if (rc <= 0)
		return rc < 0 ? rc : bad(r, err, "the value is missing");
	if (own_header_check(buf_text(&r->word), r->word.size, true, &why) < 0)
		return bad(r, err, why.text);
	if (r->headers.size > (size_t)OWN_HEADERS_MAX * 256)
		return bad(r, err, "too many headers");
	add_text(&r->headers, r->word.data, r->word.size);
	return 0;
}

/* Up to an empty line. */
static void skip_macro(struct reading *r)
{
	while (r->at < r->end && !(r->at[0] == '\n' && r->at + 1 < r->end && r->at[1] == '\n'))
		r->line += *r->at++ == '\n';
}

static int read_keyword(struct reading *r, struct login_list *l, bool *in_default,
                        struct err *err)
{
	int rc;

	if (is_word(r, "machine")) {
		*in_default = false;
		if ((rc = end_entry(r, l, err)) < 0 || (rc = next_word(r, false, err)) <= 0)
			return rc < 0 ? rc : bad(r, err, "machine: which?");
		return begin_entry(r, err);
	}
	if (is_word(r, "default")) {
		*in_default = true;
		l->n_default++;
		rc = end_entry(r, l, err);
		clear_entry(r);
		return rc;
	}
	if (is_word(r, "macdef")) {
		skip_macro(r);
		return 0;
	}
	if (is_word(r, "account"))
		return read_value(r, &r->word, err);
	if (!r->any && !*in_default)
		return bad(r, err, "machine HOST comes first");
	if (is_word(r, "login"))
		return read_value(r, &r->user, err);
	if (is_word(r, "password"))
		return read_value(r, &r->password, err);
	if (is_word(r, "bearer"))
		return read_value(r, &r->bearer, err);
	if (is_word(r, "header"))
		return read_header(r, err);
	return bad(r, err, "a word that is none of machine, login, password, bearer, header; "
	           "words with blanks need quotes");
}

int login_list_parse(struct login_list *l, const char *text, size_t size, const char *path,
                     struct err *err)
{
	struct reading r = { .at = text, .end = text + size, .path = path, .line = 1 };
	struct buf *bufs[] = { &r.word, &r.user, &r.password, &r.bearer, &r.headers };
	bool in_default = false;
	int rc;

	for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
		buf_init(bufs[i], i < 4 ? LOGIN_WORD_MAX : BUF_NO_LIMIT);
	buf_init(&r.origin, URL_SIZE_MAX);
	while ((rc = next_word(&r, true, err)) > 0 &&
	       (rc = read_keyword(&r, l, &in_default, err)) == 0)
		;
	if (rc == 0)
		rc = end_entry(&r, l, err);
	for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
		secret_release(bufs[i]);
	buf_release(&r.origin);
	return rc;
}

const struct login *login_list_find(const struct login_list *l, const char *url,
                                    size_t origin_size)
{
	uint32_t at = l->v.n ? strtab_find(&l->origins, url, origin_size) : MAP_NONE;

	return at == MAP_NONE ? NULL : &l->v.v[at];
}

void login_list_release(struct login_list *l)
{
	for (size_t i = 0; i < l->v.n; i++) {
		secret_release(&l->v.v[i].lines);
		secret_release(&l->v.v[i].hidden);
	}
	vec_release(&l->v);
	strtab_release(&l->origins);
	*l = (struct login_list){ 0 };
}
