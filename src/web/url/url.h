/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url.h - the canonical form of http and https URLs, and their parts.
 *
 * Canonical form: scheme://host[:port]/path[?query], all ASCII.
 *   - scheme and host in lower case, default port, fragment and one trailing
 *     dot of the host dropped; empty path is "/"; empty query keeps its "?";
 *   - percent-encoding as RFC 3986 section 6.2.2: unreserved bytes decoded,
 *     hex digits in upper case, everything outside pchar encoded; a "%" that
 *     begins no triplet becomes %25; then dot segments are removed, so an
 *     encoded ".." climbs too;
 *   - a host with non-ASCII letters becomes its IDNA (non-transitional) form.
 * canonical(canonical(x)) == canonical(x), and so is every resolved link.
 *
 * Refused, with a reason: bytes below 0x20 and 0x7f anywhere; a backslash, user
 * info or percent-encoding in the authority; other schemes; empty or overlong
 * labels and hosts; ports outside 1..65535; IPv6 zones; more than URL_SIZE_MAX
 * bytes in or out.  A host whose last label is a number must be four decimal
 * numbers without leading zeros: 0x7f.1, 017.0.0.1 and 2130706433 are refused
 * rather than rewritten, because parsers disagree about what they mean and
 * nothing that deserves a visit is published under such a name.
 *
 * Everything else here takes canonical URLs only (what url_canonical() and
 * url_resolve() append) and does not check again.  No function allocates beyond
 * the caller's buffer (url_surt() does for a query of more than 64 parts); all
 * are safe in any number of threads.
 */
#ifndef WEB_URL_URL_H
#define WEB_URL_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define URL_SIZE_MAX   8192     /* bytes of a URL, as given and canonical */
#define URL_HOST_MAX   253      /* RFC 1035, without the last dot */
#define URL_LABEL_MAX  63
#define URL_LEVELS_MAX 64       /* directories of a chain, the host's included */
#define URL_KEYS_MAX   32       /* query keys that name a pseudo-directory */

/* Append the canonical form of an absolute URL; blanks anywhere are refused.
 * E_PARSE with the reason, or E_LIMIT; out is then as before. */
MUST_CHECK int url_canonical(const char *s, size_t size, struct buf *out,
                             struct err *err);

/* Has it the form that url_canonical() makes, as far as the functions below rely on it?
 * For stored URLs.  Linear time; writes nothing. */
bool url_is_canonical(const char *s, size_t size);

/* Append the link `ref` resolved against the page `base` (canonical), RFC 3986 section 5.
 * Blanks around ref are ignored, as in HTML; blanks inside its path or query become %20.
 * err may be NULL: then a refused link is cheap. */
MUST_CHECK int url_resolve(const char *base, size_t base_size, const char *ref,
                           size_t ref_size, struct buf *out, struct err *err);

/* The same for many links of one page, whose URL is parsed once.  The URL must stay
 * valid. */
struct url_base {
	const char *url;
	uint32_t size, path, dir, query;        /* dir: behind the path's last slash */
};

void url_base(const char *url, size_t size, struct url_base *ret);
MUST_CHECK int url_resolve_on(const struct url_base *base, const char *ref,
                              size_t ref_size, struct buf *out, struct err *err);

/* Where the parts of a canonical URL begin; all offsets into it. */
struct url_parts {
	bool https, ip;                 /* ip: the host is an address */
	uint16_t port;                  /* the default one if none is written */
	uint32_t host, host_end;        /* with brackets if IPv6 */
	uint32_t path;                  /* also the end of host[:port] */
	uint32_t query;                 /* at the '?'; == end if there is none */
	uint32_t end;
};

void url_split(const char *url, size_t size, struct url_parts *ret);

/* Append the SURT key of pywb and CDXJ: "com,example)/path?query", everything
 * in lower case, without "www." ("www2." ...) and scheme, query sorted. */
void url_surt(const char *url, size_t size, struct buf *out);

/* Append the site: host[:port], or with by_domain the registrable domain by
 * the public suffix list (the host itself for addresses and bare suffixes). */
void url_site(const char *url, size_t size, bool by_domain, struct buf *out);
/* Append the owner of a host, without the port: its registrable domain by the public
 * suffix list with its private suffixes (two names under github.io have different
 * owners); or the host itself, if it is an address or a suffix. */
void url_domain(const char *url, size_t size, struct buf *out);

/* Number of '/' in the path: 1 for "http://a/", 2 for "http://a/b/c". */
unsigned url_depth(const char *url, size_t size);

/*
 * The directory chain, root first: directory i is the bytes from `begin` (the
 * host) up to end[i], the last of them a '/', so http and https share it and
 * each one is a prefix of the next.  What follows end[n - 1] is the leaf name,
 * query included; it may be empty.  A path of more than URL_LEVELS_MAX levels
 * stays in the last.  tokens = n + 1 is m of the directory distance.
 */
struct url_dirs {
	uint32_t n, begin;
	uint32_t end[URL_LEVELS_MAX];
};

void url_dirs(const char *url, size_t size, struct url_dirs *ret);

/* Pages of one script differ by query: append the pseudo-directory below the
 * chain, "host/dir/script?id,lang", from the sorted set of the query's keys
 * (a part without '=' is a value of the empty key; at most URL_KEYS_MAX keys).
 * False, and nothing appended, if the page has no query or the chain is full. */
bool url_query_dir(const char *url, size_t size, struct buf *out);

#endif
