/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small texts of strangers: the first byte says of which kind, the rest is the text.  What is
 * accepted is in its range, and written out again means the same.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/json.h"
#include "base/mem.h"
#include "base/when.h"
#include "engine/archive/ignore.h"
#include "policy/demand.h"
#include "warc/warc_digest.h"
#include "web/page/change.h"
#include "web/text/terms.h"

#define MUST(x) do { if (!(x)) abort(); } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_times(const char *s, size_t size)
{
	int64_t t, again, seconds;
	struct share share;
	double exact;
	char text[40], short_text[24];

	if (when_parse(s, size, &t)) {
		when_iso(t, text);
		MUST(when_parse(text, strlen(text), &again) && again == t);
	}
	if (when_parse_http(s, size, &t)) {
		when_http(t, text);
		MUST(when_parse_http(text, strlen(text), &again) && again == t);
	}
	if (duration_parse(s, &seconds)) {
		MUST(seconds >= 0);
		duration_format(seconds, text);         /* its two largest units */
		MUST(duration_parse(text, &again) && again <= seconds);
		duration_format(again, short_text);
		MUST(!strcmp(text, short_text));
	}
	if (duration_parse_exact(s, &exact))
		MUST(isfinite(exact) && exact >= 0);
	if (share_parse(s, &share)) {
		MUST(isfinite(share.value) && share.value >= 0);
		MUST(share_of(share, 1000) <= 1000);
	}
}

/* Members and what they hold lie in the text; unescaped they are no longer. */
static void check_json(const char *s, size_t size)
{
	const char *p = s, *end = s + size;
	char *out = malloc(size + 1);
	struct json_member m;
	size_t n = 0;

	for (; n <= size && json_next(&p, end, &m) > 0; n++) {
		MUST(m.key >= s && m.key + m.key_size <= end && p <= end);
		MUST(m.value >= s && m.value + m.value_size <= end);
		if (m.type == JSON_STRING)
			MUST(json_unescape(&m, out) <= (long)m.value_size);
		if (m.type == JSON_NESTED && *m.value == '[') {
			const char *q = m.value;
			struct json_member e;

			while (json_element(&q, m.value + m.value_size, &e) > 0)
				MUST(e.value >= m.value && e.value + e.value_size <= m.value + m.value_size);
		}
	}
	MUST(n <= size);
	free(out);
}

static void check_demand(const uint8_t *data, size_t size)
{
	uint32_t packed[DEMAND_PACKED] = { 0 }, again[DEMAND_PACKED];
	struct demand d = { .first = 3, .top = 100 };
	uint64_t sum = 0;

	memcpy(packed, data, size < sizeof packed ? size : sizeof packed);
	demand_unpack(&d, packed);
	for (size_t i = 0; i < DEMAND_PACKED; i++)
		sum += packed[i];
	MUST(demand_total(&d) == sum);
	demand_pack(&d, again);
	MUST(!memcmp(packed, again, sizeof packed));
	demand_spend(&d, 1000);
	MUST(demand_total(&d) == (sum > 997 ? sum - 997 : 0));
}

static void check_rules(const char *s, size_t size)
{
	struct detector d;
	struct ignore_list rules = { 0 };
	struct term_vector v = { 0 };
	struct err err;

	if (detector_parse(&d, s, &err) == 0)
		MUST(d.kind < N_DETECTORS && d.bits <= 64);
	if (ignore_list_add(&rules, s, &err) == 0)
		(void)ignore_list_find(&rules, "http://a/", 9);
	ignore_list_release(&rules);
	if (terms_parse(&v, s, size, &err) == 0)
		for (size_t i = 0; i < v.terms.n; i++)
			MUST(v.terms.v[i].count > 0 && (!i || v.terms.v[i - 1].id < v.terms.v[i].id));
	term_vector_release(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct warc_digest digest;
	char *text;

	if (!size)
		return 0;
	text = mem_strndup((const char *)data + 1, size - 1);
	switch (data[0]) {
	case 't': check_times(text, strlen(text)); break;
	case 'j': check_json(text, size - 1); break;
	case 'd': check_demand(data + 1, size - 1); break;
	case 'r': check_rules(text, strlen(text)); break;
	default: (void)warc_digest_parse(text, size - 1, &digest); break;
	}
	free(text);
	return 0;
}
