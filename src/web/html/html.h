/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html.h - an HTML tokenizer over a byte range, by the WHATWG rules.
 *
 * The whole document is in memory, so the state machine of the standard becomes straight
 * code: most states are positions in the program, and only states between tokens (data,
 * raw text, ...) are stored.  No tree is built, and nothing is allocated per token.
 * Text, names and values are ranges of the input where no correction is needed; otherwise
 * a corrected copy is in the tokenizer's arena, until the next tag.
 *
 *     struct html t;
 *     html_init(&t, data, size);
 *     while (html_next(&t) != HTML_END)
 *             use(&t.token);
 *     html_release(&t);
 *
 * Text arrives in pieces: a run of plain characters, or the characters of one
 * reference; a caller that wants whole words joins them.
 *
 * Without a tree builder the tokenizer itself switches to raw text after
 * <script>, <title> and so on (`feedback`; scripting counts as off, so noscript
 * is markup), and follows svg and math just well enough to know CDATA sections
 * and raw text inside them.  Errors are not reported: every input is read.
 *
 * Input is UTF-8 with the byte order mark gone (web/html/encoding.h).
 * Time is linear in the input whatever the input.
 */
#ifndef WEB_HTML_HTML_H
#define WEB_HTML_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

/* Further attributes of one tag are skipped. */
#define HTML_ATTRS_MAX 65536
#define HTML_FOREIGN_MAX 64             /* nested svg, math, integration points */

enum html_kind {
	HTML_END,
	HTML_TEXT,
	HTML_START_TAG,
	HTML_END_TAG,
	HTML_COMMENT,
	HTML_DOCTYPE,
};

enum html_state {
	HTML_DATA,
	HTML_RCDATA,
	HTML_RAWTEXT,
	HTML_SCRIPT,
	HTML_PLAINTEXT,
	HTML_CDATA,
};

enum html_tag {
	TAG_OTHER,
#define TAG(name, flags) TAG_##name,
#include "web/html/html_tags.def"
#undef TAG
	TAG_COUNT
};

enum html_tag_flag {
	TAG_VOID = 1,
	TAG_BLOCK = 2,
	TAG_RCDATA = 4,
	TAG_RAWTEXT = 8,
	TAG_SCRIPT = 16,
	TAG_PLAIN = 32,
	TAG_BREAK = 64,
	TAG_SKIP = 128,
	TAG_MEANS = 256,
};

/* Corrections that a range still needs to be as the standard says. */
enum html_dirt {
	HTML_CLEAN = 0,
	HTML_HAS_REF = 1,               /* character references */
	HTML_HAS_CR = 2,                /* carriage returns */
	HTML_HAS_NUL = 4,
	HTML_HAS_UPPER = 8,             /* in a name */
};

struct html_str {
	const char *data;               /* NULL: missing (DOCTYPE only) */
	size_t size;
	unsigned dirt;
};

struct html_attr {
	const char *name;               /* always clean, lower case */
	size_t name_size;
	struct html_str value;          /* html_value() before use */
	uint64_t key;                   /* last eight bytes of the name, packed */
};

struct html_token {
	enum html_kind kind;
	enum html_tag tag;              /* of a start or end tag */
	struct html_str text;           /* text (clean), comment, tag or DOCTYPE name */
	struct html_attr *attrs;        /* of a start tag, duplicates dropped */
	size_t n_attrs;
	bool self_closing;
	bool force_quirks;
	struct html_str public_id, system_id;
};

struct html {
	struct html_token token;
	bool feedback;                  /* true after html_init() */

	const char *p, *end, *start;
	enum html_state state;
	const char *raw_end;            /* end of the present raw text */
	const char *last_start;         /* name that ends raw text */
	size_t last_start_size;
	char ref_text[8];
	VEC(struct html_attr) attrs;
	uint32_t *seen;                 /* names of a tag with many attributes */
	size_t seen_cap, seen_size;
	struct arena scratch;
	unsigned n_foreign;
	uint8_t foreign[HTML_FOREIGN_MAX];      /* enum html_tag, innermost last */
};

void html_init(struct html *t, const char *data, size_t size);
/* Begin again on other input; keeps the memory. */
void html_reset(struct html *t, const char *data, size_t size);
void html_release(struct html *t);
enum html_kind html_next(struct html *t);

/* Set the state by hand, as the tests of the standard do: no feedback from then
 * on; last_start ("" for none) must outlive the tokenizer. */
void html_force_state(struct html *t, enum html_state state, const char *last_start);

/* Correct a string of the current token; references by the rules of attribute values.
 * Valid until the next tag. */
void html_clean(struct html *t, struct html_str *s);
static inline void html_value(struct html *t, struct html_attr *a)
{
	if (a->value.dirt)
		html_clean(t, &a->value);
}
/* The attribute of the current start tag, value clean, or NULL. */
struct html_attr *html_attr(struct html *t, const char *name);

/* The key of a name: its last eight bytes, packed; and the attribute of the
 * current start tag whose name, of at most eight bytes, has this key. */
uint64_t html_key(const char *name, size_t size);
#define HTML_BYTE(s, i) \
	(sizeof s - 1 > (i) ? (uint64_t)(unsigned char)s[sizeof s - 2 - (i)] << 8 * (i) : 0)
#define HTML_KEY(s) \
	(HTML_BYTE(s, 0u) | HTML_BYTE(s, 1u) | HTML_BYTE(s, 2u) | HTML_BYTE(s, 3u) | \
	 HTML_BYTE(s, 4u) | HTML_BYTE(s, 5u) | HTML_BYTE(s, 6u) | HTML_BYTE(s, 7u))
static inline bool html_name_is(const struct html_attr *a, uint64_t key, size_t size)
{
	return a->key == key && a->name_size == size;
}
static inline struct html_attr *html_attr_by_key(struct html *t, uint64_t key, size_t size)
{
	for (size_t i = 0; i < t->token.n_attrs; i++)
		if (html_name_is(&t->token.attrs[i], key, size)) {
			html_value(t, &t->token.attrs[i]);
			return &t->token.attrs[i];
		}
	return NULL;
}
#define HTML_ATTR(t, name) html_attr_by_key(t, HTML_KEY(name), sizeof name - 1)

/* Are we inside svg or math (and outside its integration points)? */
bool html_in_foreign_content(const struct html *t);

struct html_tag_row {
	char line[16];                  /* the name, a line end, NULs */
	uint16_t size, flags;           /* of the name; enum html_tag_flag */
	uint64_t key;
};
extern const struct html_tag_row html_tag_rows[TAG_COUNT];

static inline unsigned html_tag_flags(enum html_tag tag)
{
	return html_tag_rows[tag].flags;
}

/* Decode one reference at data (beginning with '&') by the rules of text or of attribute
 * values.  Returns its size in bytes (0: no reference); its characters are in out[8], as
 * UTF-8. */
size_t html_reference(const char *data, size_t size, bool in_attribute,
                      char *out, size_t *ret_out_size);

#endif
