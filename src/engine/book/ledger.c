/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.c - the open cycle of other crawlers, in the store; see ledger.h. */
#include "engine/book/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define STATE_KEY "clients"

/* ---- the state: NAME=NUMBER, with blanks between ---- */

struct field { const char *name; double value; };
enum { CYCLE, SERIAL, PAGES, WAITED, AIM, WEIGHT, EVERY, MAX_AGE, SITE, SITE_PERCENT, RETRY,
       RETRY_PERCENT_, N_FIELDS };

static const char *const names[N_FIELDS] = {
	"cycle", "serial", "pages", "waited", "aim", "weight", "every", "max-age", "site-share",
	"site-percent", "retry-share", "retry-percent"
};

static int read_state(struct store *s, double v[N_FIELDS], struct err *err)
{
	char *text = NULL, *save = NULL;
	int rc = store_state_get(s, STORE_OF_SHARD, STATE_KEY, &text, err);

	memset(v, 0, N_FIELDS * sizeof *v);
	for (char *word = text ? strtok_r(text, " ", &save) : NULL; word;
	     word = strtok_r(NULL, " ", &save))
		for (int i = 0; i < N_FIELDS; i++) {
			size_t size = strlen(names[i]);

			if (!strncmp(word, names[i], size) && word[size] == '=')
				v[i] = strtod(word + size + 1, NULL);
		}
	for (int i = 0; i < N_FIELDS; i++)
		if (!(v[i] >= 0 && v[i] < 9e15))
			v[i] = 0;               /* not written by us: ignore it */
	free(text);
	return rc < 0 ? rc : 0;
}

static int write_state(const struct ledger *l, struct err *err)
{
	const struct ledger_rules *r = &l->rules;
	const double v[N_FIELDS] = {
		l->last.row.number, (double)l->serial, l->n_pages, (double)l->waited, r->aim,
		r->weight, (double)r->every, (double)r->max_age, r->site_share.value,
		r->site_share.percent, r->retry_share.value, r->retry_share.percent
	};
	struct buf text;
	int rc;

	buf_init(&text, 4096);
	for (int i = 0; i < N_FIELDS; i++)
		buf_printf(&text, "%s%s=%.17g", i ? " " : "", names[i], v[i]);
	rc = store_state_put(l->store, STORE_OF_SHARD, STATE_KEY, buf_text(&text), err);
	buf_release(&text);
	return rc;
}

/* ---- reading ---- */

static int see_lease(void *arg, const struct store_lease *row, struct err *err)
{
	struct ledger *l = arg;
	struct store_lease lease = *row;
	uint32_t name = strtab_intern(&l->names, row->client.s, row->client.size, NULL);

	if (row->place != l->leases.n + 1)
		return err_set(err, E_STORE, "table leases, row %u of cycle %u, column place: is not "
		               "the next number", row->place, row->cycle);
	lease.client = (struct text){ 0 };      /* valid only during the callback */
	vec_push(&l->leases, lease);
	vec_push(&l->client, name);
	map_put(&l->by_page, lease.page, lease.place);
	if (lease.order > l->n_events)
		l->n_events = lease.order;
	return 0;
}

static int see_visit(void *arg, const struct store_visit *v, struct err *err)
{
	struct ledger *l = arg;

	(void)err;
	if (v->reason != REASON_LATE)
		map_put(&l->told, v->page, 1);
	if (v->order > l->n_events)
		l->n_events = v->order;
	return 0;
}

int ledger_load(struct ledger *l, struct store *s, struct err *err)
{
	double v[N_FIELDS];
	uint32_t cycle;
	int rc;

	*l = (struct ledger){ .store = s };
	if ((rc = last_cycle_read(s, &l->last, err)) < 0 || (rc = read_state(s, v, err)) < 0)
		return rc;
	cycle = l->last.row.number;
	l->last.row.policy = (struct text){ l->last.policy, strlen(l->last.policy) };
	l->serial = (uint64_t)v[SERIAL];
	l->open = l->last.any && l->last.row.open && l->last.row.clients;
	if (!l->open)
		return 0;
	if (v[CYCLE] == cycle) {
		l->n_pages = (uint32_t)v[PAGES];
		l->waited = (int64_t)v[WAITED];
		l->rules = (struct ledger_rules){
			.aim = v[AIM] <= AIM_AGE ? (enum aim)v[AIM] : AIM_FRESHNESS,
			.weight = v[WEIGHT] <= WEIGHT_GIVEN ? (enum weight_by)v[WEIGHT] : WEIGHT_NONE,
			.every = (int64_t)v[EVERY], .max_age = (int64_t)v[MAX_AGE],
			.site_share = { v[SITE], v[SITE_PERCENT] > 0 },
			.retry_share = { v[RETRY], v[RETRY_PERCENT_] > 0 },
		};
	}
	rc = store_leases(s, cycle, see_lease, l, err);
	return rc < 0 ? rc : store_visits(s, cycle, cycle + 1, see_visit, l, err);
}

void ledger_release(struct ledger *l)
{
	vec_release(&l->leases);
	vec_release(&l->client);
	strtab_release(&l->names);
	map_release(&l->by_page);
	map_release(&l->told);
	*l = (struct ledger){ .store = l->store };
}

int ledger_is_fresh(const struct ledger *l, bool *ret, struct err *err)
{
	struct last_cycle last;
	double v[N_FIELDS];
	int rc = last_cycle_read(l->store, &last, err);

	if (rc == 0)
		rc = read_state(l->store, v, err);
	*ret = rc == 0 && l->store && last.any == l->last.any &&
		last.row.number == l->last.row.number && last.row.open == l->last.row.open &&
		(uint64_t)v[SERIAL] == l->serial;
	return rc;
}

uint32_t ledger_find(const struct ledger *l, uint32_t page)
{
	uint32_t at = map_get(&l->by_page, page);

	return at == MAP_NONE ? 0 : at;
}

/* What is not out never is again, so this only rises. */
uint32_t ledger_first(struct ledger *l)
{
	while (l->n_ended < l->leases.n && l->leases.v[l->n_ended].state != STORE_LEASE_OUT)
		l->n_ended++;
	return l->n_ended + 1;
}

uint32_t ledger_due(struct ledger *l, uint32_t after, int64_t now)
{
	uint32_t first = ledger_first(l) - 1;

	for (uint32_t i = after > first ? after : first; i < l->leases.n; i++)
		if (l->leases.v[i].state == STORE_LEASE_OUT && l->leases.v[i].until <= now)
			return i + 1;
	return 0;
}

bool ledger_is_of(const struct ledger *l, uint32_t number, const char *client)
{
	return !strcmp(strtab_get(&l->names, l->client.v[number - 1]), client);
}

/* ---- writing ---- */

int ledger_begin(struct ledger *l, const struct store_cycle *row,
                 const struct ledger_rules *rules, uint32_t n_pages, struct err *err)
{
	struct store *s = l->store;
	uint64_t serial = l->serial;
	struct store_cycle c = *row;
	char policy[sizeof l->last.policy];
	int rc;

	snprintf(policy, sizeof policy, "%.*s", (int)row->policy.size, row->policy.s);
	c.open = c.clients = true;
	ledger_release(l);
	*l = (struct ledger){ .store = s, .open = true, .rules = *rules, .n_pages = n_pages,
	                      .serial = serial, .last = { .row = c, .any = true } };
	memcpy(l->last.policy, policy, sizeof policy);
	l->last.row.policy = (struct text){ l->last.policy, strlen(l->last.policy) };
	/* leases of the cycle before stay: late answers may come */
	rc = store_leases_forget(s, c.number - 1, err);
	return rc;
}

static int put_lease(struct ledger *l, uint32_t number, struct err *err)
{
	struct store_lease row = l->leases.v[number - 1];
	uint32_t name = l->client.v[number - 1];

	row.client = (struct text){ strtab_get(&l->names, name), strtab_size(&l->names, name) };
	return store_leases_put(l->store, &row, 1, err);
}

int ledger_offer(struct ledger *l, const struct store_lease *lease, struct err *err)
{
	struct store_lease row = *lease;

	row.cycle = l->last.row.number;
	row.place = (uint32_t)l->leases.n + 1;
	row.state = STORE_LEASE_OUT;
	row.order = 0;
	row.client = (struct text){ 0 };
	vec_push(&l->leases, row);
	vec_push(&l->client, strtab_intern(&l->names, lease->client.s ? lease->client.s : "",
	                                   lease->client.size, NULL));
	map_put(&l->by_page, row.page, row.place);
	return put_lease(l, row.place, err);
}

uint32_t ledger_event(struct ledger *l)
{
	return ++l->n_events;
}

int ledger_close(struct ledger *l, uint32_t number, enum store_lease_state state,
                 struct err *err)
{
	struct store_lease *lease = &l->leases.v[number - 1];

	if (state != STORE_LEASE_TOLD)          /* if told, its visit is the event */
		lease->order = ledger_event(l);
	if (state == STORE_LEASE_LAPSED)
		l->last.row.downloads += lease->requests;
	lease->state = (uint8_t)state;
	return put_lease(l, number, err);
}

int ledger_save(struct ledger *l, struct err *err)
{
	int rc;

	l->serial++;
	rc = write_state(l, err);
	return rc < 0 ? rc : store_cycle_put(l->store, &l->last.row, err);
}

int ledger_end(struct ledger *l, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 1; rc == 0 && i <= l->leases.n; i++)
		if (ledger_lease(l, i)->state == STORE_LEASE_OUT)
			rc = ledger_close(l, i, STORE_LEASE_LAPSED, err);
	l->last.row.open = l->open = false;
	return rc < 0 ? rc : ledger_save(l, err);
}

/* ---- the name of a lease ---- */

void ledger_id(uint32_t cycle, uint32_t number, char out[LEDGER_ID_SIZE])
{
	snprintf(out, LEDGER_ID_SIZE, "%" PRIu32 "-%" PRIu32, cycle, number);
}

bool ledger_parse(struct text id, uint32_t *ret_cycle, uint32_t *ret_number)
{
	uint64_t v[2] = { 0, 0 };
	int at = 0, digits = 0;

	for (size_t i = 0; i < id.size; i++) {
		if (id.s[i] == '-' && !at && digits) {
			at = 1;
			digits = 0;
			continue;
		}
		if (id.s[i] < '0' || id.s[i] > '9' || ++digits > 10)
			return false;
		v[at] = v[at] * 10 + (uint64_t)(id.s[i] - '0');
	}
	*ret_cycle = (uint32_t)v[0];
	*ret_number = (uint32_t)v[1];
	return at && digits && v[0] && v[1] && v[0] < UINT32_MAX && v[1] < UINT32_MAX;
}
