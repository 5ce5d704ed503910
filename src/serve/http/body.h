/* SPDX-License-Identifier: Apache-2.0 */
/* body.h - the body of a request: one JSON object with known members.  Each function answers
 * with a problem, and returns false or NULL, if something is wrong. */
#ifndef SERVE_HTTP_BODY_H
#define SERVE_HTTP_BODY_H

#include "serve/http/http.h"

#define BODY_SMALL 65536                /* bytes */
#define BODY_LIST (1u << 20)             /* with lists of URLs */
#define BODY_TEXT_MAX 8192              /* bytes of a member */

struct body;                            /* jansson's json_t, whose names are also ours */

/* keys: the members that there may be, with blanks between.  An empty body is {}. */
struct body *body_parse(const struct http_request *r, struct http_answer *a, const char *keys);
void body_free(struct body *b);         /* b may be NULL */
bool body_int(const struct body *b, struct http_answer *a, const char *key, int64_t def,
              int64_t min, int64_t max, int64_t *ret);
/* A number as text, in `keep`; NULL if it is not there. */
bool body_number(const struct body *b, struct http_answer *a, const char *key,
                 struct arena *keep, const char **ret);
/* A number or a text, as text; NULL if it is not there. */
bool body_amount(const struct body *b, struct http_answer *a, const char *key,
                 struct arena *keep, const char **ret);
/* NULL if it is not there.  Lives as long as the body. */
bool body_text(const struct body *b, struct http_answer *a, const char *key, const char **ret);
bool body_flag(const struct body *b, struct http_answer *a, const char *key, bool *ret);
/* A list of texts, at most `most`; the array is allocated in `keep`. */
bool body_texts(const struct body *b, struct http_answer *a, const char *key, size_t most,
                struct arena *keep, const char ***ret, size_t *ret_n);

#endif
