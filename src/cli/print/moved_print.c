/* SPDX-License-Identifier: Apache-2.0 */
/* moved_print.c - where a page has moved for good; see failing_print.h. */
#include "cli/print/failing_print.h"

#include <stdio.h>

#include "base/when.h"

int moved_page_load(struct moved_page *x, struct store *s, uint32_t page, struct err *err)
{
	struct care_rules rules = { 0 };
	int rc;

	*x = (struct moved_page){ 0 };
	rc = moved_load(&x->list, s, err);
	if (rc == 0 && (x->row = moved_find(&x->list, page)) && x->row->how == MOVED_SEEN &&
	    (rc = care_rules_load(&rules, s, err)) == 0)
		rc = moved_hindrance(&x->list, s, &rules, x->row, &x->why_not, err);
	care_rules_release(&rules);
	return rc;
}

void moved_page_release(struct moved_page *x)
{
	moved_release(&x->list);
}

void moved_page_text(const struct moved_page *x)
{
	const struct moved *m = x->row;
	char t[21];

	if (!m)
		return;
	when_iso(m->since, t);
	printf("%-13s%s (%d, seen %u time%s in a row, first %s)\n", "moved to", m->to, m->status,
	       m->times, m->times == 1 ? "" : "s", t);
	if (m->how == MOVED_FOLLOWED && m->cycle)
		printf("%-13sfollowed for good since cycle %u; `freshet moved --undo URL` ends that\n", "",
		       m->cycle);
	else if (m->how == MOVED_FOLLOWED)
		printf("%-13sfollowed for good, as you wished\n", "");
	else if (m->how == MOVED_NEVER)
		printf("%-13snot followed, as you wished\n", "");
	else
		printf("%-13snot followed%s%s\n", "", x->why_not ? ": " : " yet",
		       x->why_not ? x->why_not : "");
}

void moved_page_json(const struct moved_page *x, struct json *j)
{
	const struct moved *m = x->row;
	char t[21];

	if (!m)
		return;
	json_key(j, "moved");
	json_object(j);
	json_kstr(j, "to", m->to);
	json_kstr(j, "how", moved_how_name(m->how));
	json_kint(j, "status", m->status);
	json_kint(j, "times", m->times);
	when_iso(m->since, t);
	json_kstr(j, "since", t);
	if (m->cycle)
		json_kint(j, "cycle", m->cycle);
	if (x->why_not)
		json_kstr(j, "not_followed", x->why_not);
	json_end_object(j);
}

void moved_to_json(const struct moved_list *l, uint32_t page, struct json *j)
{
	const struct moved *m = moved_find(l, page);

	if (m && m->how == MOVED_FOLLOWED)
		json_kstr(j, "moved_to", m->to);
}

uint32_t moved_in_cycle(const struct moved_list *l, uint32_t cycle)
{
	uint32_t n = 0;

	for (size_t i = 0; i < l->v.n; i++)
		n += l->v.v[i]->to && l->v.v[i]->how == MOVED_FOLLOWED && l->v.v[i]->cycle == cycle;
	return n;
}
