/* SPDX-License-Identifier: Apache-2.0 */
/* html_inner.h - private to the files of the tokenizer. */
#ifndef WEB_HTML_HTML_INNER_H
#define WEB_HTML_HTML_INNER_H

#include "web/html/html.h"

/* Each reads markup at t->p and moves past it.  true: t->token is filled;
 * false: the markup gave no token (a tag cut by the end, "</>"). */
bool html_read_tag(struct html *t, enum html_kind kind, const char *name);
bool html_read_comment(struct html *t, const char *data);
bool html_read_bogus_comment(struct html *t, const char *data);
bool html_read_doctype(struct html *t, const char *after_keyword);

/* Where raw text from p on ends: at its own end tag or at the end of input. */
const char *html_find_end_tag(const struct html *t, const char *p);
const char *html_find_script_end(const struct html *t, const char *p);

enum html_tag html_tag_find_key(uint64_t key, const char *name, size_t size);

/* Update content model and foreign content after each tag. */
void html_tag_feedback(struct html *t);

#endif
