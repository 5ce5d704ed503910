/* SPDX-License-Identifier: Apache-2.0 */
/* extract_region.c - element extents, hidden elements, ignore rules. */
#include "web/page/extract_region.h"

#include <strings.h>

#include "base/map.h"
#include "web/html/html_scan.h"

/* What delimits an element whose end tag may be missing. */
enum scope { SCOPE_NONE, SCOPE_P, SCOPE_LIST, SCOPE_DL, SCOPE_TABLE, SCOPE_SELECT,
             SCOPE_RUBY };

static enum scope scope_of(enum html_tag tag)
{
	switch (tag) {
	case TAG_p:
		return SCOPE_P;
	case TAG_li:
		return SCOPE_LIST;
	case TAG_dt: case TAG_dd:
		return SCOPE_DL;
	case TAG_td: case TAG_th: case TAG_tr: case TAG_tbody: case TAG_thead: case TAG_tfoot:
		return SCOPE_TABLE;
	case TAG_option: case TAG_optgroup:
		return SCOPE_SELECT;
	case TAG_rt: case TAG_rp:
		return SCOPE_RUBY;
	default:
		return SCOPE_NONE;
	}
}

static bool delimits(enum scope scope, enum html_tag tag)
{
	switch (scope) {
	case SCOPE_LIST:
		return tag == TAG_ul || tag == TAG_ol || tag == TAG_menu || tag == TAG_dir;
	case SCOPE_DL:
		return tag == TAG_dl;
	case SCOPE_TABLE:
		return tag == TAG_table;
	case SCOPE_SELECT:
		return tag == TAG_select;
	case SCOPE_RUBY:
		return tag == TAG_ruby;
	default:
		return false;
	}
}

/* The level of an element in a table, from the outside in: a tag closes open elements of
 * its own and of inner levels. */
static int table_level(enum html_tag tag)
{
	switch (tag) {
	case TAG_td: case TAG_th:
		return 1;
	case TAG_tr:
		return 2;
	case TAG_tbody: case TAG_thead: case TAG_tfoot:
		return 3;
	default:
		return 0;
	}
}

static bool closes_p(enum html_tag tag)
{
	switch (tag) {
	case TAG_br: case TAG_option: case TAG_optgroup: case TAG_select: case TAG_textarea:
	case TAG_legend: case TAG_caption: case TAG_colgroup: case TAG_html: case TAG_body:
	case TAG_head:
		return false;
	default:
		return html_tag_flags(tag) & TAG_BLOCK;
	}
}

/* Does this tag, outside every nested list or table, end the region? */
static bool implies_end(const struct region *r, enum html_tag tag, bool start)
{
	switch (scope_of(r->tag)) {
	case SCOPE_P:
		return closes_p(tag);
	case SCOPE_LIST:
		return start && tag == TAG_li;
	case SCOPE_DL:
		return start && (tag == TAG_dt || tag == TAG_dd);
	case SCOPE_TABLE:
		return start ? table_level(tag) >= table_level(r->tag)
		             : table_level(tag) > table_level(r->tag);
	case SCOPE_SELECT:
		return r->tag == TAG_option ? tag == TAG_optgroup || (start && tag == TAG_option)
		                            : start && tag == TAG_optgroup;
	case SCOPE_RUBY:
		return start && (tag == TAG_rt || tag == TAG_rp);
	default:
		return false;
	}
}

/* "/>" closes only in svg and math. */
static bool is_empty(const struct html *t)
{
	const struct html_token *k = &t->token;

	return k->self_closing && (k->tag == TAG_svg || k->tag == TAG_math ||
	                           html_in_foreign_content(t));
}

bool region_open(struct region *r, const struct html *t)
{
	const struct html_token *k = &t->token;

	if (html_tag_flags(k->tag) & TAG_VOID || is_empty(t))
		return false;
	*r = (struct region){ .open = true, .tag = k->tag, .depth = 1 };
	if (k->tag == TAG_OTHER)
		r->name = hash_bytes(k->text.data, k->text.size, 0);
	return true;
}

static bool same_element(const struct region *r, const struct html_token *k)
{
	return r->tag == k->tag && (r->tag != TAG_OTHER ||
	       r->name == hash_bytes(k->text.data, k->text.size, 0));
}

enum region_event region_step(struct region *r, const struct html *t)
{
	const struct html_token *k = &t->token;
	bool start = k->kind == HTML_START_TAG;
	enum scope scope = scope_of(r->tag);
	enum region_event event = REGION_GOES_ON;

	if (scope != SCOPE_NONE) {
		if (delimits(scope, k->tag)) {
			if (start)
				r->nest++;
			else if (r->nest)
				r->nest--;
			else
				event = REGION_ENDED_BEFORE;
		} else if (!r->nest) {
			if (!start && k->tag == r->tag)
				event = REGION_ENDS_WITH;
			else if (implies_end(r, k->tag, start))
				event = REGION_ENDED_BEFORE;
		}
	} else if (same_element(r, k)) {
		if (!start && !--r->depth)
			event = REGION_ENDS_WITH;
		else if (start && !is_empty(t))
			r->depth++;
	}
	if (event != REGION_GOES_ON)
		r->open = false;
	return event;
}

/* "name : value" in a style attribute, as whole words. */
static bool style_says(const char *style, size_t size, const char *name, const char *value)
{
	const char *p = style, *end = style + size;
	size_t name_size = strlen(name), value_size = strlen(value);

	while (p < end) {
		const char *stop = memchr(p, ';', (size_t)(end - p)), *q;

		if (!stop)
			stop = end;
		q = scan_space(p, stop);
		if ((size_t)(stop - q) > name_size && !strncasecmp(q, name, name_size)) {
			q = scan_space(q + name_size, stop);
			if (q < stop && *q == ':') {
				q = scan_space(q + 1, stop);
				if ((size_t)(stop - q) >= value_size &&
				    !strncasecmp(q, value, value_size) &&
				    (q + value_size == stop || q[value_size] == '!' ||
				     scan_class_of(q[value_size]) & IS_SPACE))
					return true;
			}
		}
		p = stop + 1;
	}
	return false;
}

bool region_is_hidden(struct html *t)
{
	bool open = false;

	if (html_tag_flags(t->token.tag) & TAG_SKIP)
		return true;
	for (size_t i = 0; i < t->token.n_attrs; i++) {
		struct html_attr *a = &t->token.attrs[i];

		if (html_name_is(a, HTML_KEY("hidden"), 6))
			return true;
		if (html_name_is(a, HTML_KEY("open"), 4))
			open = true;
		if (!html_name_is(a, HTML_KEY("style"), 5))
			continue;
		html_value(t, a);
		if (style_says(a->value.data, a->value.size, "display", "none") ||
		    style_says(a->value.data, a->value.size, "visibility", "hidden"))
			return true;
	}
	return t->token.tag == TAG_dialog && !open;
}

/* One rule; returns its end. */
static const char *parse_rule(const char *p, struct ignore_rule *r)
{
	char *part = r->tag;
	size_t n = 0;

	memset(r, 0, sizeof *r);
	for (; *p && *p != ',' && !(scan_class_of(*p) & IS_SPACE); p++) {
		if (*p == '#' || *p == '.') {
			part = *p == '#' ? r->id : r->class;
			if (*part)
				return NULL;
			n = 0;
			if (!p[1] || strchr("#., \t\n", p[1]))
				return NULL;
			continue;
		}
		if (n + 1 >= IGNORE_NAME_MAX)
			return NULL;
		part[n++] = part == r->tag ? scan_lower(*p) : *p;
	}
	return p;
}

int ignore_parse(struct ignore *ret, const char *rules, struct err *err)
{
	VEC(struct ignore_rule) list = { 0 };
	const char *p = rules;

	while (*(p += strspn(p, ", \t\r\n\f"))) {
		struct ignore_rule r;
		const char *end = parse_rule(p, &r);

		if (!end || list.n >= IGNORE_RULES_MAX) {
			vec_release(&list);
			return err_set(err, E_USAGE, "ignore: %s at \"%.40s\": write tag, #id, "
			               ".class, tag#id or tag.class",
			               end ? "too many rules" : "not a rule", p);
		}
		vec_push(&list, r);
		p = end;
	}
	ret->rules = list.v;
	ret->n = list.n;
	return 0;
}

void ignore_release(struct ignore *g)
{
	free(g->rules);
	g->rules = NULL;
	g->n = 0;
}

static bool has_class(const char *list, size_t size, const char *class)
{
	const char *p = list, *end = list + size;
	size_t n = strlen(class);

	while ((p = scan_space(p, end)) < end) {
		const char *q = p;

		while (q < end && !(scan_class_of(*q) & IS_SPACE))
			q++;
		if ((size_t)(q - p) == n && !memcmp(p, class, n))
			return true;
		p = q;
	}
	return false;
}

bool ignore_matches(const struct ignore *g, struct html *t)
{
	const struct html_attr *id = NULL, *class = NULL;
	const struct html_str *name = &t->token.text;

	if (!g || !g->n)
		return false;
	if (t->token.n_attrs) {
		id = HTML_ATTR(t, "id");
		class = HTML_ATTR(t, "class");
	}
	for (size_t i = 0; i < g->n; i++) {
		const struct ignore_rule *r = &g->rules[i];

		if (*r->tag && (strlen(r->tag) != name->size ||
		                memcmp(r->tag, name->data, name->size)))
			continue;
		if (*r->id && (!id || strlen(r->id) != id->value.size ||
		               memcmp(r->id, id->value.data, id->value.size)))
			continue;
		if (*r->class && (!class || !has_class(class->value.data,
		                                       class->value.size, r->class)))
			continue;
		return true;
	}
	return false;
}
