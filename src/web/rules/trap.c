/* SPDX-License-Identifier: Apache-2.0 */
/* trap.c - what URLs of traps look like; see trap.h. */
#include "web/rules/trap.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/when.h"
#include "web/url/url.h"

#define SEGMENTS_MAX URL_LEVELS_MAX

struct piece { const char *s; size_t size; };

const char *trap_name(enum trap t)
{
	static const char *const names[] = {
#define TRAP(code, name) name,
#include "web/rules/traps.def"
#undef TRAP
	};

	return (unsigned)t < N_TRAPS ? names[t] : "?";
}

static bool same(struct piece a, struct piece b)
{
	return a.size == b.size && !memcmp(a.s, b.s, a.size);
}

static bool is_word(struct piece p, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == p.size && !strncasecmp(*words, p.s, p.size))
			return true;
	return false;
}

static bool begins(struct piece p, const char *with)
{
	size_t n = strlen(with);

	return p.size >= n && !strncasecmp(p.s, with, n);
}

/* The next piece up to one of the separators; false at the end. */
static bool next_piece(const char **s, const char *end, const char *separators,
                       struct piece *ret)
{
	const char *p = *s;

	if (p > end)
		return false;
	while (p < end && !strchr(separators, *p))
		p++;
	*ret = (struct piece){ *s, (size_t)(p - *s) };
	*s = p + 1;
	return true;
}

static bool is_session_key(struct piece key)
{
	static const char *const words[] = {
		"sid", "sessid", "session", "sessionid", "session_id", "session-id", "phpsessid",
		"jsessionid", "cfid", "cftoken", "zenid", "oscsid", "xtcsid", "gclid", "fbclid",
		"msclkid", "mc_cid", "mc_eid", NULL
	};

	return is_word(key, words) || begins(key, "aspsessionid") || begins(key, "utm_");
}

/* "key=value" or "key": the key. */
static struct piece key_of(struct piece p)
{
	const char *eq = memchr(p.s, '=', p.size);

	return (struct piece){ p.s, eq ? (size_t)(eq - p.s) : p.size };
}

static bool has_session(const struct piece *segments, size_t n, const char *query,
                        const char *end)
{
	struct piece p;

	for (size_t i = 0; i < n; i++) {
		const char *s = segments[i].s, *stop = s + segments[i].size;

		/* ASP.NET without cookies: /(S(...))/ */
		if (begins(segments[i], "(S(") || begins(segments[i], "(A("))
			return true;
		s = memchr(s, ';', segments[i].size);
		for (s = s ? s + 1 : stop + 1; next_piece(&s, stop, ";", &p);)
			if (is_session_key(key_of(p)))
				return true;
	}
	while (next_piece(&query, end, "&;", &p))
		if (p.size && is_session_key(key_of(p)))
			return true;
	return false;
}

static bool has_repeats(const struct piece *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t times = 1;

		if (!v[i].size)
			continue;
		for (size_t k = i + 1; k < n; k++)
			times += same(v[i], v[k]);
		if (times > TRAP_REPEATS_MAX)
			return true;
		/* a/b/a/b: a link that is relative where it should not be */
		if (i + 3 < n && same(v[i], v[i + 2]) && same(v[i + 1], v[i + 3]))
			return true;
	}
	return false;
}

/* The number that a piece is, if it is nothing else and has so many digits. */
static int number_of(struct piece p, size_t least, size_t most)
{
	int v = 0;

	if (p.size < least || p.size > most)
		return -1;
	for (size_t i = 0; i < p.size; i++) {
		if (!isdigit((unsigned char)p.s[i]))
			return -1;
		v = v * 10 + (p.s[i] - '0');
	}
	return v;
}

static int64_t month_start(int year, int month)
{
	char text[40];
	int64_t t = 0;

	snprintf(text, sizeof text, "%04d%02d01000000", year, month);
	return when_parse(text, 14, &t) ? t : 0;
}

/* The month that a piece names: 2031-05, 2031-05-17, 20310517; 0: none. */
static int64_t month_in(struct piece p)
{
	struct piece y = { p.s, 4 }, m = { p.s + 5, 2 };
	int year, month, all = number_of(p, 8, 8);

	if (all >= 0 && all % 100 >= 1 && all % 100 <= 31 && all / 100 % 100 >= 1 &&
	    all / 100 % 100 <= 12 && all / 10000 >= 1000)
		return month_start(all / 10000, all / 100 % 100);
	if (p.size < 7 || p.s[4] != '-' || (p.size > 7 && p.s[7] != '-'))
		return 0;
	year = number_of(y, 4, 4);
	month = number_of(m, 2, 2);
	return year >= 1000 && month >= 1 && month <= 12 ? month_start(year, month) : 0;
}

static bool is_far(int64_t month, int64_t now)
{
	return month > now + TRAP_FUTURE;
}

static bool has_far_date(const struct piece *v, size_t n, const char *query, const char *end,
                         int64_t now)
{
	static const char *const year_keys[] = { "year", "yr", "y", "jahr", "annee", NULL };
	struct piece p;

	for (size_t i = 0; i < n; i++) {
		int year = number_of(v[i], 4, 4);
		int month = i + 1 < n ? number_of(v[i + 1], 1, 2) : -1;

		if (is_far(month_in(v[i]), now) || (year >= 1000 && month >= 1 && month <= 12 &&
		                                    is_far(month_start(year, month), now)))
			return true;
	}
	while (next_piece(&query, end, "&;", &p)) {
		struct piece key = key_of(p), value = { p.s + key.size + 1, 0 };
		int year;

		if (p.size <= key.size)
			continue;
		value.size = p.size - key.size - 1;
		year = number_of(value, 4, 4);
		if (is_far(month_in(value), now) ||
		    (year >= 1000 && is_word(key, year_keys) && is_far(month_start(year, 1), now)))
			return true;
	}
	return false;
}

static bool is_file(struct piece name)
{
	static const char *const kinds[] = {
		"7z", "aac", "apk", "avi", "avif", "bin", "bmp", "bz2", "css", "deb", "dmg", "doc",
		"docx", "eot", "eps", "exe", "flac", "flv", "gif", "gz", "ico", "img", "iso", "jar",
		"jpeg", "jpg", "js", "json", "m4a", "m4v", "map", "mid", "mjs", "mkv", "mov", "mp3",
		"mp4", "mpeg", "mpg", "msi", "odp", "ods", "odt", "ogg", "ogv", "otf", "pkg", "png",
		"ppt", "pptx", "psd", "rar", "rpm", "svg", "swf", "tar", "tgz", "tif", "tiff", "ttf",
		"wasm", "wav", "webm", "webp", "wma", "wmv", "woff", "woff2", "xls", "xlsx", "xpi",
		"xz", "zip", "zst", NULL
	};
	const char *dot = memrchr(name.s, '.', name.size);

	if (!dot)
		return false;
	return is_word((struct piece){ dot + 1, (size_t)(name.s + name.size - dot - 1) }, kinds);
}

enum trap trap_find(const char *url, size_t size, int64_t now)
{
	struct piece v[SEGMENTS_MAX], p;
	struct url_parts parts;
	const char *s, *path_end, *query, *end = url + size;
	size_t n = 0, params = 0;

	if (size > TRAP_URL_MAX)
		return TRAP_LONG;
	url_split(url, size, &parts);
	s = url + parts.path + 1;
	path_end = url + parts.query;
	query = parts.query < parts.end ? path_end + 1 : end + 1;
	while (n < SEGMENTS_MAX && next_piece(&s, path_end, "/", &p))
		v[n++] = p;
	if (has_session(v, n, query, end))
		return TRAP_SESSION;
	if (has_repeats(v, n))
		return TRAP_REPEATED;
	if (url_depth(url, size) > TRAP_DEPTH_MAX)
		return TRAP_DEEP;
	for (s = query; next_piece(&s, end, "&;", &p);)
		params += p.size > 0;
	if (params > TRAP_PARAMS_MAX)
		return TRAP_QUERY;
	if (has_far_date(v, n, query, end, now))
		return TRAP_CALENDAR;
	return n && parts.query == parts.end && is_file(v[n - 1]) ? TRAP_FILE : TRAP_NONE;
}

void trap_shape(const char *url, size_t size, struct buf *out)
{
	size_t from, to = out->size;
	struct url_dirs dirs;
	bool in_digits = false;

	if (!url_query_dir(url, size, out)) {
		url_dirs(url, size, &dirs);
		buf_add(out, url + dirs.begin, dirs.end[dirs.n - 1] - dirs.begin);
	}
	/* digits of the host stay: only those of the directory become 0 */
	while (to < out->size && out->data[to] != '/')
		to++;
	for (from = to; from < out->size; from++) {
		bool digit = isdigit((unsigned char)out->data[from]);

		if (!digit || !in_digits)
			out->data[to++] = digit ? '0' : out->data[from];
		in_digits = digit;
	}
	out->size = to;
	if (out->data)
		out->data[to] = '\0';
}
