/* SPDX-License-Identifier: Apache-2.0 */
/* life_list.c - what a run found alive, each URL once; see life.h. */
#include "base/map.h"
#include "base/mem.h"
#include "engine/crawl/life.h"
#include "policy/policy.h"

struct listing {
	struct store *store;
	int (*each)(void *arg, const struct life_found *f, struct err *err);
	void *arg;
	struct strtab seen;
	VEC(struct store_visit) visits; /* read first: no other read may come during a scan */
};

static int note(void *arg, const struct store_visit *v, struct err *err)
{
	struct listing *l = arg;

	(void)err;
	if (v->outcome == OUTCOME_SAME)
		vec_push(&l->visits, *v);
	return 0;
}

static int list_one(struct listing *l, const struct store_visit *v, struct err *err)
{
	struct life_found f = { .status = v->status, .time = v->time };
	struct store_capture way;
	struct store_page p;
	char *page, *target = NULL;
	bool fresh;
	int rc = store_page_get(l->store, v->page, &p, err);

	if (rc <= 0)
		return rc < 0 ? rc : err_set(err, E_STORE, "no page %u", v->page);
	page = mem_strndup(p.url.s, p.url.size);
	if (v->capture && (rc = store_capture_get(l->store, v->capture, &way, err)) > 0 &&
	    way.links.s)
		target = mem_strndup(way.links.s, way.links.size);
	f.page = page;
	f.url = target ? target : page;
	strtab_intern(&l->seen, f.url, strlen(f.url), &fresh);
	if (rc >= 0)
		rc = fresh ? l->each(l->arg, &f, err) : 0;
	free(page);
	free(target);
	return rc;
}

int life_list(struct store *s, uint32_t cycle,
              int (*each)(void *arg, const struct life_found *f, struct err *err), void *arg,
              struct err *err)
{
	struct listing l = { .store = s, .each = each, .arg = arg };
	int rc = store_visits(s, cycle, cycle + 1, note, &l, err);

	for (size_t i = 0; i < l.visits.n && rc == 0; i++)
		rc = list_one(&l, &l.visits.v[i], err);
	strtab_release(&l.seen);
	vec_release(&l.visits);
	return rc;
}
