/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validator.h - can a site's validators (ETag, Last-Modified) be trusted?
 *
 * A 304 is cheap and says "same".  A server that always says so would keep our copy old
 * for ever and teach the policy that the page never changes.  So one in VALIDATOR_CHECK
 * conditional requests, chosen at random, is sent without conditions, and every full
 * answer is checked: did the content change although the validator is the one we had?
 * Then the site is in doubt: all its requests are sent without conditions, until
 * validator and content agreed in VALIDATOR_DOUBT answers.  "Changed" is judged by the
 * detector of the cycle: a validator that misses what we look for is as useless as a
 * wrong one.
 *
 * A validator that is always new does no harm, since we compare the content.
 */
#ifndef WEB_RULES_VALIDATOR_H
#define WEB_RULES_VALIDATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VALIDATOR_CHECK 20      /* one of so many requests is a check */
#define VALIDATOR_DOUBT 50      /* answers that must agree until conditions are sent again */

enum validator_verdict { VALIDATOR_NOTHING, VALIDATOR_AGREES, VALIDATOR_LIES };

/* Judge a full answer; a text of size 0 is missing.  By RFC 9110 13.2.2 the date is
 * ignored if there is an entity tag. */
static inline enum validator_verdict validator_judge(const char *etag, size_t etag_size,
	const char *old_etag, size_t old_etag_size, const char *date, size_t date_size,
	const char *old_date, size_t old_date_size, bool changed)
{
	bool tagged = etag_size && old_etag_size;
	bool dated = !etag_size && !old_etag_size && date_size && old_date_size;
	bool equal = tagged ? etag_size == old_etag_size && !memcmp(etag, old_etag, etag_size) :
	             date_size == old_date_size && dated && !memcmp(date, old_date, date_size);

	if (!tagged && !dated)
		return VALIDATOR_NOTHING;
	if (equal)
		return changed ? VALIDATOR_LIES : VALIDATOR_AGREES;
	return changed ? VALIDATOR_AGREES : VALIDATOR_NOTHING;
}

static inline void validator_note(uint32_t *doubt, enum validator_verdict v)
{
	if (v == VALIDATOR_LIES)
		*doubt = VALIDATOR_DOUBT;
	else if (v == VALIDATOR_AGREES && *doubt)
		--*doubt;
}

#endif
