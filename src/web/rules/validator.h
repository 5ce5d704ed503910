/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validator.h - how far a site's validators (ETag, Last-Modified) are to be believed.
 *
 * A 304 costs nothing and says "same".  A server that says so whatever its page is would
 * keep our copy old for ever and teach the policy that the page never changes.  So one of
 * VALIDATOR_CHECK conditional requests goes out without its conditions, as chance has it,
 * and every whole answer is looked at: has the content changed, though the validator that
 * the server would have compared is the one we had?  Then the site is in doubt: it is asked
 * without conditions, which makes each answer such a check, until VALIDATOR_DOUBT answers
 * in which validator and content agreed.  What we judge by is the detector of the cycle: a
 * validator that is blind to what we look for is as useless as one that lies.
 *
 * A validator that is always new does no harm: it is the content that is judged.
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

/* Of a whole answer; texts of size 0 are not there.  By RFC 9110 13.2.2 the date is not
 * looked at where there is an entity tag. */
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
